"""The explorer on gangproof's own model: every named world in the fine grain, bare, reduced, and judged."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Hashable

from benchmarks.registry import Row, benchmark
from gangproof.impl.actions import Action
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import World
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.system import Questions, itself
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.worlds.named import NAMED

STEPS = "explorer on gangproof's own model, fine grain, named worlds"


def steps(asked: Questions[World, Action], key: Callable[[World], Hashable]) -> int:
    """The steps taken in all named worlds."""
    machines = [Machine(INTENDED, [named.world], "fine", key) for named in NAMED.values()]
    return sum(explore(machine, asked).transitions for machine in machines)


def cpu_seconds(function: Callable[[], object]) -> float:
    """The time that one call takes of one core, garbage of what came before collected first."""
    gc.collect()
    began = time.process_time()
    function()
    return time.process_time() - began


def per_second(asked: Questions[World, Action], key: Callable[[World], Hashable]) -> float:
    """Steps a second and core, of one search: judges remember worlds, so a second one would be another one."""
    taken: list[int] = []
    spent = cpu_seconds(lambda: taken.append(steps(asked, key)))
    return taken[0] / spent


@benchmark("own-model")
def rows() -> list[Row]:
    bare, reduced = per_second(Questions(), itself), per_second(Questions(), Symmetry())
    judged = per_second(questions(), itself)
    return [
        Row(f"{STEPS}: bare", "at least", must=5_000, aim=10_000, measured=bare, unit="steps/s"),
        Row(
            f"{STEPS}: with a key that forgets names", "at least",
            must=2_500, aim=5_000, measured=reduced, unit="steps/s",
        ),
        Row(
            f"{STEPS}: with refinement and every invariant", "at least",
            must=2_000, aim=5_000, measured=judged, unit="steps/s",
        ),
    ]  # fmt: skip
