"""The explorer against a search written by hand, on two-phase commit with seven resource managers.

The one keeps parents, judges consistency and could be stopped at any time; the other does nothing but count.
Both walk through the same model.
"""

from __future__ import annotations

from benchmarks.registry import Row, benchmark, ratio
from gangproof.properties.explore import explore
from gangproof.properties.system import Questions
from tests.properties.classics import Managers, TwoPhase, consistent

MANAGERS = 7
STATES = 296_448


def by_hand(n: int = MANAGERS) -> int:
    """The number of reachable states, by the shortest search that one would write."""
    model = TwoPhase(n)
    successors = model.successors
    frontier = list(model.initial())
    seen = set(frontier)
    while frontier:
        following: list[Managers] = []
        for state in frontier:
            for _, target in successors(state):
                if target not in seen:
                    seen.add(target)
                    following.append(target)
        frontier = following
    return len(seen)


def by_explorer(n: int = MANAGERS) -> int:
    """The same number, by the explorer."""
    return explore(TwoPhase(n), Questions(invariants=[consistent])).states


@benchmark("two-phase-commit")
def rows() -> list[Row]:
    if not by_hand() == by_explorer() == STATES:
        raise AssertionError(
            f"{by_hand():,} states by hand, {by_explorer():,} by the explorer, not {STATES:,}"
        )
    times = ratio(by_explorer, by_hand)
    what = f"explorer on two-phase commit with {MANAGERS} managers ({STATES:,} states), by hand = 1"
    return [Row(what, "at most", must=1.5, aim=1.2, measured=times, unit="×")]
