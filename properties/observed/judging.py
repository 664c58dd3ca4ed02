"""Judging a run: every promise asked, each kind of breaking it told once, with the first time at which it broke."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from gangproof.properties.conformance.recording import Recording
from gangproof.properties.observed.binding import BINDING
from gangproof.properties.observed.condition import CONDITION
from gangproof.properties.observed.evicting import EVICTING
from gangproof.properties.observed.history import History
from gangproof.properties.observed.promise import Case, Promise, promise
from gangproof.properties.observed.rounds import ROUNDS
from gangproof.properties.observed.waiting import WAITING
from gangproof.properties.observed.writing import history_of


@promise("alive", "KEP-4671 LIVE-03")
def alive(history: History) -> Iterator[Case]:
    """The scheduler neither crashes nor hangs."""
    yield Case(max(len(history.moments) - 1, 0), not history.error, history.error)


PROMISES: tuple[Promise, ...] = (*BINDING, *EVICTING, *ROUNDS, *WAITING, *CONDITION, alive)
"""Everything that is promised, by topic."""


@frozen
class Broken:
    """A promise that a run broke, and the first case of this kind in it."""

    promise: Promise
    case: Case

    @property
    def kind(self) -> str:
        """The promise's id, with the aspect by which it was broken."""
        return f"{self.promise.id} ({self.case.aspect})" if self.case.aspect else self.promise.id

    def __str__(self) -> str:
        return f"{self.kind}: {self.case.words}"


def judge(recording: Recording) -> tuple[Broken, ...]:
    """The promises that the run broke, each kind once. Raises UnmarkedError if it cannot be told."""
    return judge_history(history_of(recording))


def judge_history(history: History) -> tuple[Broken, ...]:
    """The promises that the history breaks, each kind once."""
    found: dict[str, Broken] = {}
    for one in PROMISES:
        for case in one.cases(history):
            if not case.kept:
                broken = Broken(one, case)
                found.setdefault(broken.kind, broken)
    return tuple(found.values())


def reached(recording: Recording) -> tuple[str, ...]:
    """The ids of the promises whose interesting case the run came to, kept or not."""
    history = history_of(recording)
    return tuple(one.id for one in PROMISES if next(one.cases(history), None) is not None)
