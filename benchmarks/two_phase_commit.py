"""Two-phase commit, as in the TLA+ specification TwoPhase: the model by which the explorer is measured.

A transaction manager and n resource managers agree to commit or to abort. A resource manager is working (w),
prepared (p), committed (c) or aborted (a); so is the transaction manager, which is never prepared. Messages
are never taken back, so the set of those sent is enough: Prepared by each manager, Commit, Abort.

The numbers of reachable states are well known: 288 for 3 resource managers, 8,832 for 5, 296,448 for 7.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from gangproof.properties.system import Violation


class State(NamedTuple):
    """`rm` is a letter for each resource manager, `tm` the transaction manager's; `prepared` are the managers
    that it knows to be prepared, `sent` those that have sent Prepared, both as bits; `orders` are c and a, as
    far as Commit and Abort have been sent."""

    rm: str
    tm: str
    prepared: int
    sent: int
    orders: str


class TwoPhase:
    """The system with n resource managers; actions are named as in TLA+."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.all = (1 << n) - 1

    def initial(self) -> Iterable[State]:
        return [State("w" * self.n, "w", 0, 0, "")]

    def successors(self, state: State) -> Iterable[tuple[tuple[str, int], State]]:
        rm, tm, prepared, sent, orders = state
        found: list[tuple[tuple[str, int], State]] = []
        if tm == "w":
            if prepared == self.all:
                found.append((("TMCommit", -1), State(rm, "c", prepared, sent, "c")))
            found.append((("TMAbort", -1), State(rm, "a", prepared, sent, "a")))
        for i in range(self.n):
            bit = 1 << i
            if tm == "w" and sent & bit:
                found.append((("TMRcvPrepared", i), State(rm, tm, prepared | bit, sent, orders)))
            if rm[i] == "w":
                found.append(
                    (("RMPrepare", i), State(rm[:i] + "p" + rm[i + 1 :], tm, prepared, sent | bit, orders))
                )
                found.append(
                    (("RMChooseToAbort", i), State(rm[:i] + "a" + rm[i + 1 :], tm, prepared, sent, orders))
                )
            if orders:
                found.append(
                    (("RMRcv" + orders, i), State(rm[:i] + orders + rm[i + 1 :], tm, prepared, sent, orders))
                )
        return found

    def key(self, state: State) -> Hashable:
        return state


def consistent(state: State) -> Violation | None:
    """TCConsistent: no manager has committed while another has aborted."""
    if "c" in state.rm and "a" in state.rm:
        return Violation("TCConsistent", f"one has committed, another aborted: {state.rm}")
    return None


def by_hand(n: int) -> int:
    """The number of reachable states, by the shortest search that one would write without an explorer."""
    model = TwoPhase(n)
    successors = model.successors
    frontier = list(model.initial())
    seen = set(frontier)
    while frontier:
        following: list[State] = []
        for state in frontier:
            for _, target in successors(state):
                if target not in seen:
                    seen.add(target)
                    following.append(target)
        frontier = following
    return len(seen)
