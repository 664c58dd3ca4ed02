"""The ways in which a scheduler is let run, so that what a scenario leaves open goes more than one way.

A scenario denotes a set of runs. A real scheduler makes one at a time, so a document is run in many: with the
order of members pinned and with its own, one cycle after all effects of the one before and side by side with
them, with and without start times of pods, with late views and slow calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen


@frozen
class Mode:
    """How one run is made; each attribute is an option of the setup.

    `order` is `arrival` if the members of a group are tried in the order of their creation, `real` if as the
    scheduler has it. `eager` cycles run while calls of earlier ones are open. `watch_delay` and `call_delay`
    are the most milliseconds by which a view lags and a call takes. `kubelet` gives bound pods a start time.
    """

    order: str = "real"
    seed: int = 0
    eager: bool = False
    kubelet: bool = True
    watch_delay: int = 0
    call_delay: int = 0

    @property
    def options(self) -> dict[str, Any]:
        """The options of the setup, without those that are as they are anyway."""
        given: dict[str, Any] = {
            "order": self.order,
            "seed": self.seed,
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
        parts += ["eager"] if self.eager else []
        parts += [] if self.kubelet else ["no kubelet"]
        parts += [f"views {self.watch_delay} ms late"] if self.watch_delay else []
        parts += [f"calls {self.call_delay} ms slow"] if self.call_delay else []
        return " ".join(parts)


PINNED = Mode(order="arrival")
MODES: tuple[Mode, ...] = (
    PINNED,
    *(Mode(seed=seed) for seed in range(1, 6)),
    *(Mode(seed=seed, eager=True) for seed in range(6, 12)),
    *(Mode(seed=seed, kubelet=False) for seed in (12, 13)),
    *(Mode(seed=seed, kubelet=False, eager=True) for seed in (14, 15)),
    *(Mode(seed=seed, eager=True, watch_delay=3) for seed in (16, 17)),
    *(Mode(seed=seed, eager=True, watch_delay=2, call_delay=10) for seed in (18, 19)),
)
"""The runs of every document."""
MOST_MORE = 300
"""How many more runs are made for what must be possible and was not met."""


def more(eager: bool) -> Iterator[Mode]:
    """Runs for what is rare: cycles side by side if they may, in turns as they are, without kubelet, with delays."""
    ways = (
        ((True, 0, 0), (False, 0, 0), (True, 3, 0), (True, 2, 10)) if eager else ((True, 0, 0), (False, 0, 0))
    )
    for number in range(MOST_MORE):
        kubelet, watch_delay, call_delay = ways[number % len(ways)]
        yield Mode("real", 100 + number, eager, kubelet, watch_delay, call_delay)
