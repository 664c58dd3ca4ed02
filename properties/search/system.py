"""What can be explored, and what can be asked of it.

A system is anything with initial states, steps, and a key that tells its states apart; nothing here knows of
Kubernetes. `Questions` are what a search, or any other engine that walks through a system, judges on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from attrs import field, frozen

S = TypeVar("S")
A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)


class System(Protocol[S, A_co]):
    """What the explorer reads. All three answer the same for the same state, in the same order."""

    def initial(self) -> Iterable[S]:
        """The states in which a run may begin."""
        ...

    def successors(self, state: S, /) -> Iterable[tuple[A_co, S]]:
        """Every step out of the state: the action and the state it leads to; none if it is terminal."""
        ...

    def key(self, state: S, /) -> Hashable:
        """What tells states apart; states with equal keys count as one, and the first one met is kept."""
        ...


def itself(state: S) -> S:
    """The `key` of a system that tells all its states apart; the explorer knows it and saves the call."""
    return state


class Model(Protocol[S, A]):
    """A system whose actions are found first and taken one by one; `stepwise` makes a `System` of it."""

    def initial(self) -> Iterable[S]: ...

    def enabled(self, state: S, /) -> Sequence[A]: ...

    def step(self, state: S, action: A, /) -> S: ...

    def key(self, state: S, /) -> Hashable: ...


@frozen
class Transitions(Generic[S, A]):
    """A `System` put together from functions."""

    initial: Callable[[], Iterable[S]]
    successors: Callable[[S], Iterable[tuple[A, S]]]
    key: Callable[[S], Hashable]


def stepwise(model: Model[S, A]) -> Transitions[S, A]:
    """The system of a model that gives `enabled` and `step` instead of `successors`."""
    enabled, step = model.enabled, model.step

    def successors(state: S) -> list[tuple[A, S]]:
        return [(action, step(state, action)) for action in enabled(state)]

    return Transitions(model.initial, successors, model.key)


@frozen
class Path(Generic[S, A]):
    """A run from an initial state: the actions taken and the state after each."""

    initial: S
    steps: tuple[tuple[A, S], ...] = ()

    @property
    def actions(self) -> tuple[A, ...]:
        return tuple(action for action, _ in self.steps)

    @property
    def states(self) -> tuple[S, ...]:
        return (self.initial, *(state for _, state in self.steps))

    @property
    def last(self) -> S:
        return self.steps[-1][1] if self.steps else self.initial

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.steps)

    def __str__(self) -> str:
        return "\n".join([str(self.initial), *(f"  {action}\n{state}" for action, state in self.steps)])


@frozen
class Violation:
    """That a property does not hold: its id, what is wrong in one sentence, and whatever else tells why."""

    property: str
    message: str
    evidence: object = None

    def __str__(self) -> str:
        return f"{self.property}: {self.message}"


@frozen
class Questions(Generic[S, A]):
    """What to ask along the way.

    `invariants` judge each state, `steps` each step (state, action, next state), `terminal` each state
    without a step; each answers None or what is violated. Judges are asked to the end, and each property id's
    first violation is kept. `witnesses` and `step_witnesses` are the interesting cases by name: a search that
    has not reached them all is vacuous. A judge must not tell apart states with the same key.
    """

    invariants: Sequence[Callable[[S], Violation | None]] = ()
    steps: Sequence[Callable[[S, A, S], Violation | None]] = ()
    terminal: Sequence[Callable[[S], Violation | None]] = ()
    witnesses: Mapping[str, Callable[[S], bool]] = field(factory=dict[str, Callable[[S], bool]])
    step_witnesses: Mapping[str, Callable[[S, A, S], bool]] = field(
        factory=dict[str, Callable[[S, A, S], bool]]
    )
