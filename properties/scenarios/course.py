"""The runs of a scenario as values: where each one is, how it came there, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set

from attrs import evolve, field, frozen

from gangproof.impl.actions import Action
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.scenarios.records import Ref
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.machine import itself
from gangproof.properties.search.system import Path, Questions, Violation

Refusal = tuple[Ref, str]
"""What the API refused to create, change or delete, and its words."""


@frozen
class Run:
    """One run up to now: the world it is in, and the way to it from the run that it continues."""

    world: World
    before: Run | None = None
    way: Callable[[], tuple[tuple[Action, World], ...]] = field(default=tuple, eq=False, repr=False)

    @property
    def path(self) -> Path[World, Action]:
        """Everything that happened, from the empty cluster."""
        parts: list[tuple[tuple[Action, World], ...]] = []
        run = self
        while run.before is not None:
            parts.append(run.way())
            run = run.before
        return Path(run.world, tuple(step for part in reversed(parts) for step in part))

    def then(self, action: Action, world: World) -> Run:
        return Run(world, self, lambda: ((action, world),))


@frozen
class Failure:
    """Something that does not hold: which property or line of the file, and a run that shows it."""

    violation: Violation
    path: Path[World, Action]
    line: int = 0


@frozen
class Course:
    """All runs of a scenario so far, what was found on the way, and how much was looked at."""

    runs: tuple[Run, ...]
    refusals: tuple[Refusal, ...] = ()
    failures: tuple[Failure, ...] = ()
    states: int = 0
    transitions: int = 0
    stop: str = "exhausted"
    beyond: tuple[str, ...] = ()
    reached: frozenset[str] = frozenset()

    def refused(self, refusals: Iterable[Refusal]) -> Course:
        """The course in which the API refused these besides."""
        return evolve(self, refusals=tuple(dict.fromkeys((*self.refusals, *refusals))))

    def failed(self, failures: Iterable[Failure]) -> Course:
        """The course with these failures besides, of each property the first."""
        found: dict[str, Failure] = {}
        for failure in failures:
            found.setdefault(failure.violation.property, failure)
        return evolve(self, failures=(*self.failures, *found.values()))


@frozen
class Following:
    """What stays the same while a scenario is followed: rules, what is judged, how states are told apart.

    `settled` are judges of the worlds in which runs settle.
    """

    rules: Rules
    questions: Questions[World, Action]
    limits: Limits
    key: Callable[[World], Hashable] = itself
    settled: Sequence[Callable[[World], Violation | None]] = ()


def judged(following: Following, run: Run, action: Action, after: World) -> Iterator[Failure]:
    """What is wrong with a step that a run may take, and with the world it leads to."""
    found = [judge(run.world, action, after) for judge in following.questions.steps]
    found += [judge(after) for judge in following.questions.invariants]
    for violation in found:
        if violation is not None:
            yield Failure(violation, run.then(action, after).path)


def judged_since(following: Following, run: Run, starts: Set[int]) -> Iterator[Failure]:
    """What is wrong with the steps that lead to a run from that of the starts, by identity, that it continues."""
    if id(run) in starts or run.before is None:
        return
    yield from judged_since(following, run.before, starts)
    for action, world in run.way():
        yield from judged(following, run.before, action, world)
