"""The ways in which a scheduler is let run, so that what a scenario leaves open goes more than one way.

A scenario denotes a set of runs. A real scheduler makes one at a time, so a document is run in many: with the
order of members pinned and with its own, one cycle after all effects of the one before and in turns with them,
with and without start times of pods. All these are repeatable; as free as in a cluster is so only on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen


@frozen
class Mode:
    """How one run is made; each attribute is an option of the setup.

    `order` is `arrival` if the members of a group are tried in the order of their creation, `real` if as the
    scheduler has it. If `interleave`, cycles, calls and watch events take turns as the seed decides; if `eager`, they
    run side by side and nothing decides. `watch_delay` and `call_delay` are the most milliseconds by which a view
    lags and a call takes. `kubelet` gives bound pods a start time.
    """

    order: str = "real"
    seed: int = 0
    interleave: bool = False
    eager: bool = False
    kubelet: bool = True
    watch_delay: int = 0
    call_delay: int = 0

    @property
    def stepwise(self) -> bool:
        """Whether each cycle begins only after all effects of the one before."""
        return not (self.interleave or self.eager)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the setup, without those that are as they are anyway."""
        given: dict[str, Any] = {
            "order": self.order,
            "seed": self.seed,
            "interleave": self.interleave,
            "eager": self.eager,
            "noKubelet": not self.kubelet,
            "watchDelay": self.watch_delay,
            "callDelay": self.call_delay,
        }
        return {name: value for name, value in given.items() if value}

    def __str__(self) -> str:
        if self.order != "real":
            return "pinned" if self.order else "as it is"
        parts = [f"seed {self.seed}"]
        parts += ["interleaved"] if self.interleave else []
        parts += ["eager"] if self.eager else []
        parts += [] if self.kubelet else ["no kubelet"]
        parts += [f"views {self.watch_delay} ms late"] if self.watch_delay else []
        parts += [f"calls {self.call_delay} ms slow"] if self.call_delay else []
        return " ".join(parts)


MODES: tuple[Mode, ...] = (
    Mode(order="arrival"),
    *(Mode(seed=seed) for seed in range(1, 6)),
    *(Mode(seed=seed, kubelet=False) for seed in (6, 7)),
    *(Mode(seed=seed, interleave=True) for seed in range(8, 18)),
    *(Mode(seed=seed, interleave=True, kubelet=False) for seed in (18, 19)),
)
"""The runs of every document."""
MOST_MORE = 1000
"""How many more runs are made for what must be possible and was not met."""


def more(*, freely: bool) -> Iterator[Mode]:
    """Runs for what is rare; if the cycles may, in turns and as free as in a cluster, in several ways by turns.

    Some choices that a free scheduler makes anew each time are settled for the whole of a repeatable run.
    """
    for seed in range(100, 100 + MOST_MORE):
        kubelet, way = not seed % 2, seed % 6 // 2
        if not freely:
            yield Mode(seed=seed, kubelet=kubelet)
        elif way < 2:
            yield Mode(seed=seed, interleave=bool(way), eager=not way, kubelet=kubelet)
        else:
            yield Mode(seed=seed, eager=True, kubelet=kubelet, call_delay=3)


def eager(number: int) -> Iterator[Mode]:
    """So many runs as free as in a cluster, in four ways one after the other."""
    ways = ((True, 0, 0), (False, 0, 0), (True, 3, 0), (True, 2, 10))
    for seed in range(1000, 1000 + number):
        kubelet, watch_delay, call_delay = ways[seed % len(ways)]
        yield Mode("real", seed, False, True, kubelet, watch_delay, call_delay)
