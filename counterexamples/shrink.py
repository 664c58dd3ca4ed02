"""Making a failing run small: nothing that is left can be left out, and no value can be made simpler.

The minimiser knows nothing of pods or events. It is given parts and a question, "does it still fail with
these alone?", and asks as seldom as it can: delta debugging takes large pieces away first, then single
parts to a fixed point, so the answer is *1-minimal*: without any one part the failure is gone. The same
parts and the same answers give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from attrs import define, field, frozen

P = TypeVar("P")

Simplify = Callable[[P], Iterable[P]]
"""Simpler forms of a part, the simplest first; following them must come to an end."""

Progress = Callable[[int, int], None]
"""Called after each question with the number of questions so far and the number of parts just tried."""


@frozen
class Shrunk(Generic[P]):
    """What is left, how many questions it took, and whether it is minimal (False: the budget ran out)."""

    parts: tuple[P, ...]
    calls: int
    minimal: bool


def shrink(
    parts: Sequence[P],
    still_fails: Callable[[Sequence[P]], bool],
    *,
    simplify: Simplify[P] | None = None,
    budget: int | None = None,
    progress: Progress | None = None,
) -> tuple[P, ...]:
    """The parts that `minimise` leaves."""
    return minimise(parts, still_fails, simplify=simplify, budget=budget, progress=progress).parts


def minimise(
    parts: Sequence[P],
    still_fails: Callable[[Sequence[P]], bool],
    *,
    simplify: Simplify[P] | None = None,
    budget: int | None = None,
    progress: Progress | None = None,
) -> Shrunk[P]:
    """A subsequence of the parts that still fails, 1-minimal, each part as simple as can be.

    At most `budget` questions are asked; the best result by then is returned with `minimal` False.
    Raises `ValueError` if the parts do not fail as they are.
    """
    search = _Search(still_fails, budget, progress)
    try:
        if not search.accepts([_Part(i, part) for i, part in enumerate(parts)]):
            raise ValueError("what is to be shrunk does not fail")
        _remove(search)
        while simplify is not None and _simplify_once(search, simplify):
            _remove(search)
    except _OutOfBudgetError:
        return Shrunk(tuple(part.value for part in search.best), search.calls, minimal=False)
    return Shrunk(tuple(part.value for part in search.best), search.calls, minimal=True)


def smaller(number: int) -> tuple[int, ...]:
    """Integers nearer to zero, the nearest first: 0, then halves, then one less; for use in a `Simplify`."""
    size, sign = abs(number), -1 if number < 0 else 1
    steps = [0]
    gap = size // 2
    while gap:
        steps.append(size - gap)
        gap //= 2
    return tuple(sign * step for step in steps if step < size)


class _OutOfBudgetError(Exception):
    """No further question may be asked."""


@frozen
class _Part(Generic[P]):
    """A part with a serial number: parts need not be hashable, and equal ones are still two."""

    serial: int
    value: P


@define
class _Search(Generic[P]):
    """The smallest failing parts so far, and the answers, so that nothing is asked twice."""

    still_fails: Callable[[Sequence[P]], bool]
    budget: int | None
    progress: Progress | None
    best: list[_Part[P]] = field(factory=list["_Part[P]"])
    answers: dict[tuple[int, ...], bool] = field(factory=dict[tuple[int, ...], bool])
    serials: int = 0

    @property
    def calls(self) -> int:
        return len(self.answers)

    def accepts(self, candidate: list[_Part[P]]) -> bool:
        """Whether the candidate fails too; if so it is the best from now on."""
        key = tuple(part.serial for part in candidate)
        if key not in self.answers:
            if not self.best:
                self.best, self.serials = candidate, len(candidate)
            if self.budget is not None and self.calls >= self.budget:
                raise _OutOfBudgetError
            self.answers[key] = self.still_fails(tuple(part.value for part in candidate))
            if self.progress is not None:
                self.progress(self.calls, len(candidate))
        if self.answers[key]:
            self.best = candidate
        return self.answers[key]

    def fresh(self, value: P) -> _Part[P]:
        self.serials += 1
        return _Part(self.serials, value)


def _remove(search: _Search[P]) -> None:
    size = len(search.best)
    while size:
        start, removed = 0, False
        while start < len(search.best):
            if search.accepts(search.best[:start] + search.best[start + size :]):
                removed = True
            else:
                start += size
        if size > 1 or not removed:
            size //= 2


def _simplify_once(search: _Search[P], simplify: Simplify[P]) -> bool:
    changed = False
    for place in range(len(search.best)):
        settled = False
        while not settled:
            settled = True
            for simpler in simplify(search.best[place].value):
                part = search.fresh(simpler)
                if search.accepts([*search.best[:place], part, *search.best[place + 1 :]]):
                    changed, settled = True, False
                    break
    return changed
