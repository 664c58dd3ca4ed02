"""The explorer against a search written by hand, on two-phase commit with seven resource managers.

The one walks through the model as the tests do, names actions, keeps parents, judges consistency and can be
stopped at any time; the other has the model written into its loop and does nothing but count.
"""

from __future__ import annotations

from benchmarks.registry import Row, benchmark, ratio
from gangproof.properties.search.explore import explore
from gangproof.properties.search.system import Questions
from tests.properties.classics import Managers, TwoPhase, consistent

MANAGERS = 7
STATES = 296_448


def by_hand(n: int = MANAGERS) -> int:
    """The number of reachable states, by the shortest search that one would write for this alone."""
    everyone = (1 << n) - 1
    start = ("w" * n, "w", 0, 0, "")
    seen = {start}
    frontier = [start]
    while frontier:
        following: list[Managers] = []
        for rm, tm, prepared, sent, order in frontier:
            targets: list[Managers] = []
            if tm == "w":
                if prepared == everyone:
                    targets.append((rm, "c", prepared, sent, "c"))
                targets.append((rm, "a", prepared, sent, "a"))
            for i in range(n):
                bit = 1 << i
                if tm == "w" and sent & bit:
                    targets.append((rm, tm, prepared | bit, sent, order))
                if rm[i] == "w":
                    targets.append((rm[:i] + "p" + rm[i + 1 :], tm, prepared, sent | bit, order))
                    targets.append((rm[:i] + "a" + rm[i + 1 :], tm, prepared, sent, order))
                if order:
                    targets.append((rm[:i] + order + rm[i + 1 :], tm, prepared, sent, order))
            for target in targets:
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
