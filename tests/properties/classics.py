"""Models whose reachable states are known: what the explorer is tested and measured on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from gangproof.properties.search.system import Violation, itself

Managers = tuple[str, str, int, int, str]
"""A state of two-phase commit: a letter for each resource manager and one for the transaction manager, namely
working (w), prepared (p), committed (c) or aborted (a); the managers that the transaction manager knows to be
prepared and those that have sent Prepared, as bits; c or a once Commit or Abort is sent."""


class TwoPhase:
    """Two-phase commit with n resource managers, as in TLA+'s TwoPhase; actions have its names.

    Published numbers of reachable states: 288 for 3 managers, 8,832 for 5, 296,448 for 7.
    """

    key = staticmethod(itself)

    def __init__(self, n: int) -> None:
        self.n = n
        self.everyone = (1 << n) - 1

    def initial(self) -> Iterable[Managers]:
        return [("w" * self.n, "w", 0, 0, "")]

    def successors(self, state: Managers) -> Iterable[tuple[tuple[str, int], Managers]]:
        rm, tm, prepared, sent, order = state
        found: list[tuple[tuple[str, int], Managers]] = []
        if tm == "w":
            if prepared == self.everyone:
                found.append((("TMCommit", -1), (rm, "c", prepared, sent, "c")))
            found.append((("TMAbort", -1), (rm, "a", prepared, sent, "a")))
        for i in range(self.n):
            bit = 1 << i
            if tm == "w" and sent & bit:
                found.append((("TMRcvPrepared", i), (rm, tm, prepared | bit, sent, order)))
            if rm[i] == "w":
                before, after = rm[:i], rm[i + 1 :]
                found.append((("RMPrepare", i), (before + "p" + after, tm, prepared, sent | bit, order)))
                found.append((("RMChooseToAbort", i), (before + "a" + after, tm, prepared, sent, order)))
            if order:
                found.append((("RMRcv", i), (rm[:i] + order + rm[i + 1 :], tm, prepared, sent, order)))
        return found


def interchangeable(state: Managers) -> Hashable:
    """A key of two-phase commit for which the resource managers are interchangeable."""
    rms, tm, prepared, sent, order = state
    each = ((rm, prepared >> i & 1, sent >> i & 1) for i, rm in enumerate(rms))
    return (tuple(sorted(each)), tm, order)


def consistent(state: Managers) -> Violation | None:
    """TCConsistent: no manager has committed while another has aborted."""
    rms = state[0]
    if "c" in rms and "a" in rms:
        return Violation("TCConsistent", f"one has committed, another has aborted: {rms}")
    return None


class Philosophers:
    """n philosophers at a round table, each of whom thinks (t), holds the left fork (l), or eats (e).

    One who eats holds both forks, so the next one holds none; every arrangement without such a clash can be
    reached. They are counted by the trace of the n-th power of ((1,1,1),(1,1,1),(1,0,0)), whose eigenvalues
    are 0 and 1 ± √2: the Pell-Lucas numbers 6, 14, 34, 82, 198, … In exactly one, all hold a left fork.
    """

    def __init__(self, n: int) -> None:
        self.n = n

    def initial(self) -> Iterable[str]:
        return ["t" * self.n]

    def enabled(self, state: str) -> Sequence[int]:
        return [
            i
            for i in range(self.n)
            if state[i] == "e"
            or (state[i] == "t" and state[i - 1] != "e")
            or (state[i] == "l" and state[(i + 1) % self.n] == "t")
        ]

    def step(self, state: str, i: int) -> str:
        following = {"t": "l", "l": "e", "e": "t"}[state[i]]
        return state[:i] + following + state[i + 1 :]

    def key(self, state: str) -> Hashable:
        return state


class Peterson:
    """Peterson's mutual exclusion: a process is idle (0), has its flag up (1), waits (2), or is in (3).

    It yields the turn on the way from 1 to 2. Of 4·4·2 states 20 can be reached: 8 with both in {0,1}; 8 with
    one in {2,3} and the other in {0,1}, since the turn is the other's then; 2 where both wait; 2 where one
    waits and the other is in, which has the turn. `careless` yields the turn before it raises the flag.
    """

    def __init__(self, *, careless: bool = False) -> None:
        self.raises_at = 1 if careless else 0

    def initial(self) -> Iterable[tuple[int, int, int]]:
        return [(0, 0, 0)]

    def enabled(self, state: tuple[int, int, int]) -> Sequence[int]:
        return [i for i in (0, 1) if state[i] != 2 or state[1 - i] <= self.raises_at or state[2] == i]

    def step(self, state: tuple[int, int, int], i: int) -> tuple[int, int, int]:
        yields_at = 1 - self.raises_at
        at = [state[0], state[1]]
        turn = 1 - i if at[i] == yields_at else state[2]
        at[i] = (at[i] + 1) % 4
        return at[0], at[1], turn

    def key(self, state: tuple[int, int, int]) -> Hashable:
        return state
