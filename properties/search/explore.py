"""Exhaustive breadth-first search: every state that a system can reach, each looked at once.

Breadth first, because the first counterexample is then a shortest one, which is what a person wants to read.
The search asks a system its `Questions`, stays within its `Limits`, and answers with an `Exploration` that
never claims more than was looked at: a search that was cut short says so, and keeps what it had found.

A state is remembered by its key alone. A path to it is found again by replaying which successor led where, so
the memory a search needs is that of the keys, and a path is made of the system's own states even if the keys
stand for whole classes of states.
"""

from __future__ import annotations

import signal
import threading
import time
from array import array
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from math import inf
from typing import Generic, Literal, TypeVar

from attrs import frozen

from gangproof.properties.search.system import Path, Questions, System, Violation, itself
from gangproof.properties.verdict import Verdict

S = TypeVar("S")
A = TypeVar("A")
T = TypeVar("T")

StopReason = Literal["exhausted", "violation", "states budget", "depth budget", "time budget", "interrupted"]


@frozen
class Limits:
    """Where to stop: at so many states, at this depth (in steps), after so many seconds of wall time, once so
    many properties are violated. None is no limit."""

    states: int | None = None
    depth: int | None = None
    seconds: float | None = None
    violations: int | None = None


@frozen
class Progress:
    """How far a running search has come: states met, steps taken, the depth now expanded, states that wait to
    be expanded, and seconds since the start."""

    states: int
    transitions: int
    depth: int
    waiting: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.states:,} states, {self.transitions:,} steps, depth {self.depth}, "
            f"{self.waiting:,} waiting, {self.seconds:.0f} s"
        )


@frozen
class Counterexample(Generic[S, A]):
    """A violation and a shortest run to it; the violating state, or step, is the run's last."""

    violation: Violation
    path: Path[S, A]


@frozen
class Exploration(Generic[S, A]):
    """What a search found.

    `states` counts distinct keys, `transitions` the steps taken (also to known states), `depth` the length of
    the longest shortest path met. `counterexamples` and `witnesses` are shortest paths by property id and by
    name, in the order in which they were found; `missed` are the witnesses that were not reached. `terminal`
    are the states without a step, in the order in which they were expanded.
    """

    states: int
    transitions: int
    depth: int
    stop: StopReason
    counterexamples: Mapping[str, Counterexample[S, A]]
    witnesses: Mapping[str, Path[S, A]]
    missed: tuple[str, ...]
    terminal: tuple[S, ...]

    @property
    def verdict(self) -> Verdict:
        """Violated if anything is; else inconclusive unless exhausted; vacuous if a witness was missed."""
        if self.counterexamples:
            return Verdict.VIOLATED
        if self.stop != "exhausted":
            return Verdict.INCONCLUSIVE
        if self.states == 0:
            return Verdict.NOTHING_CHECKED
        return Verdict.VACUOUS if self.missed else Verdict.HOLDS

    def __str__(self) -> str:
        lines = [
            f"{self.verdict}: {self.states:,} states, {self.transitions:,} steps, depth {self.depth}, "
            f"{len(self.terminal):,} terminal ({self.stop})"
        ]
        lines.extend(
            f"  violated after {len(found.path)} steps: {found.violation}"
            for found in self.counterexamples.values()
        )
        lines.extend(f"  reached after {len(path)} steps: {name}" for name, path in self.witnesses.items())
        lines.extend(f"  never reached: {name}" for name in self.missed)
        return "\n".join(lines)


@frozen
class Graph(Generic[S, A]):
    """The states met, in the order in which they were met, and every step between them by their places.

    The first `roots` states are those in which runs begin.
    """

    states: tuple[S, ...]
    edges: tuple[tuple[int, A, int], ...]
    roots: int

    @cached_property
    def first(self) -> Mapping[int, tuple[int, A, int]]:
        """The step that first met a state, for each state in which no run begins."""
        return {edge[2]: edge for edge in reversed(self.edges) if edge[2] >= self.roots}

    def way(self, place: int) -> list[tuple[int, A, int]]:
        """A shortest way to the state at this place, from where runs begin."""
        steps: list[tuple[int, A, int]] = []
        while place >= self.roots:
            steps.append(self.first[place])
            place = steps[-1][0]
        return steps[::-1]

    def path(self, place: int) -> Path[S, A]:
        """A shortest run to the state at this place."""
        way = self.way(place)
        steps = tuple((action, self.states[target]) for _, action, target in way)
        return Path(self.states[way[0][0] if way else place], steps)


class NotReplayableError(Exception):
    """The system answered differently when the same state was put to it again."""


def explore(
    system: System[S, A],
    questions: Questions[S, A] | None = None,
    limits: Limits | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    progress_every: float = 0.5,
) -> Exploration[S, A]:
    """Search breadth first until nothing is new, or a limit or Ctrl-C comes first.

    `progress` is called at most once every `progress_every` seconds. A first Ctrl-C lets one step
    end and gives what was found so far; a second one does not wait for it. Raises NotReplayableError
    if the system is not a function of the state.
    """
    search = _Search(system, questions, limits)
    search.run(progress, progress_every)
    return search.exploration()


def explore_graph(
    system: System[S, A], questions: Questions[S, A] | None = None, limits: Limits | None = None
) -> tuple[Exploration[S, A], Graph[S, A]]:
    """As `explore`, and the graph that was searched; it holds every state, so it is for small systems."""
    states: list[S] = []
    edges: list[tuple[int, A, int]] = []
    search = _Search(system, questions, limits, (states, edges))
    search.run(None, inf)
    roots = search.parents.count(_ROOT)
    return search.exploration(), Graph(tuple(states), tuple(edges), roots)


_ROOT = -1
_Place = tuple[int, int | None]


class _Search(Generic[S, A]):
    """One search under way.

    States are numbered in the order in which they are met; `parents` and `choices` say which successor of
    which state each one was. A place is a state's number and, for a step, the choice taken there, counted
    from 1. Whatever exception comes between two lines, what was written before can be reported.
    """

    def __init__(
        self,
        system: System[S, A],
        questions: Questions[S, A] | None,
        limits: Limits | None,
        graph: tuple[list[S], list[tuple[int, A, int]]] | None = None,
    ) -> None:
        self.system, self.graph = system, graph
        self.questions: Questions[S, A] = questions or Questions()
        self.limits = limits or Limits()
        self.numbers: dict[Hashable, int] = {}
        self.parents = array("q")
        self.choices = array("q")
        self.violations: dict[str, tuple[Violation, _Place]] = {}
        self.reached: dict[str, _Place] = {}
        self.pending = dict(self.questions.witnesses)
        self.pending_steps = dict(self.questions.step_witnesses)
        self.terminal: list[S] = []
        self.transitions = 0
        self.stop: StopReason = "interrupted"

    def run(self, progress: Callable[[Progress], None] | None, every: float) -> None:
        try:
            with deferred_interrupts() as interrupts:
                stop = self.search(interrupts, progress, every)
            self.stop = "interrupted" if interrupts else stop
        except KeyboardInterrupt:
            self.stop = "interrupted"

    def search(
        self, interrupts: list[int], progress: Callable[[Progress], None] | None, every: float
    ) -> StopReason:
        successors, key = self.system.successors, self.system.key
        numbers, parents, choices = self.numbers, self.parents, self.choices
        states, edges = self.graph or (None, None)
        invariants, step_judges = self.questions.invariants, self.questions.steps
        witnesses, step_witnesses = self.pending, self.pending_steps
        told_apart = key is itself
        watches_steps = bool(step_judges or step_witnesses or edges is not None)
        max_states = inf if self.limits.states is None else self.limits.states
        max_depth = inf if self.limits.depth is None else self.limits.depth
        watched = progress is not None or self.limits.seconds is not None
        began = time.monotonic()
        deadline = inf if self.limits.seconds is None else began + self.limits.seconds
        report_at = began + every
        frontier: list[S] = []
        met, taken, depth, source = 0, 0, 0, -1
        try:
            for choice, state in enumerate(self.system.initial(), 1):
                if numbers.setdefault(key(state), met) == met:
                    if met >= max_states:
                        return "states budget"
                    choices.append(choice)
                    parents.append(_ROOT)
                    frontier.append(state)
                    met += 1
                    if states is not None:
                        states.append(state)
                    if witnesses:
                        self.reach(witnesses, (met - 1, None), state)
                    for judge in invariants:
                        if (wrong := judge(state)) is not None and self.keep(wrong, (met - 1, None)):
                            return "violation"
            while frontier:
                if depth >= max_depth:
                    return "depth budget"
                following: list[S] = []
                for state in frontier:
                    if interrupts:
                        return "interrupted"
                    if watched:
                        now = time.monotonic()
                        if now >= deadline:
                            return "time budget"
                        if progress is not None and now >= report_at:
                            progress(Progress(met, taken, depth, met - source - 1, now - began))
                            report_at = time.monotonic() + every
                    source += 1
                    before = taken
                    for action, target in successors(state):
                        taken += 1
                        mark: Hashable = target if told_apart else key(target)
                        if mark not in numbers:
                            if met >= max_states:
                                return "states budget"
                            numbers[mark] = met
                            choices.append(taken - before)
                            parents.append(source)
                            following.append(target)
                            met += 1
                            if states is not None:
                                states.append(target)
                            if witnesses:
                                self.reach(witnesses, (met - 1, None), target)
                            for judge in invariants:
                                if (wrong := judge(target)) is not None and self.keep(wrong, (met - 1, None)):
                                    return "violation"
                        if watches_steps:
                            place = (source, taken - before)
                            if edges is not None:
                                edges.append((source, action, numbers[mark]))
                            if step_witnesses:
                                self.reach(step_witnesses, place, state, action, target)
                            for judge in step_judges:
                                if (wrong := judge(state, action, target)) is not None and self.keep(
                                    wrong, place
                                ):
                                    return "violation"
                        if interrupts or (deadline < inf and time.monotonic() >= deadline):
                            return "interrupted" if interrupts else "time budget"
                    if taken == before:
                        self.terminal.append(state)
                        for judge in self.questions.terminal:
                            if (wrong := judge(state)) is not None and self.keep(wrong, (source, None)):
                                return "violation"
                frontier = following
                depth += 1
            return "exhausted"
        finally:
            self.transitions = taken

    def keep(self, violation: Violation, place: _Place) -> bool:
        """Keep the first violation of each property; whether enough properties are violated."""
        self.violations.setdefault(violation.property, (violation, place))
        return self.limits.violations is not None and len(self.violations) >= self.limits.violations

    def reach(self, pending: dict[str, Callable[..., bool]], place: _Place, *seen: S | A) -> None:
        """Take from the pending witnesses those that are reached here."""
        for name in [name for name, reached in pending.items() if reached(*seen)]:
            self.reached.setdefault(name, place)
            del pending[name]

    def exploration(self) -> Exploration[S, A]:
        met = len(self.parents)
        asked = dict.fromkeys([*self.questions.witnesses, *self.questions.step_witnesses])
        return Exploration(
            states=met,
            transitions=self.transitions,
            depth=len(self.route(met - 1)) - 1 if met else 0,
            stop=self.stop,
            counterexamples={
                name: Counterexample(violation, self.path(place))
                for name, (violation, place) in self.violations.items()
            },
            witnesses={name: self.path(place) for name, place in self.reached.items()},
            missed=tuple(name for name in asked if name not in self.reached),
            terminal=tuple(self.terminal),
        )

    def route(self, number: int) -> list[int]:
        """The numbers of the states on the way to the numbered state, which is the last."""
        route: list[int] = []
        while number != _ROOT:
            route.append(number)
            number = self.parents[number]
        return route[::-1]

    def path(self, place: _Place) -> Path[S, A]:
        """The shortest path to a place, replayed."""
        number, step = place
        start, *rest = self.route(number)
        state = initial = self.again(self.system.initial(), self.choices[start])
        self.expect(start, initial)
        steps: list[tuple[A, S]] = []
        for following in rest:
            action, state = self.again(self.system.successors(state), self.choices[following])
            self.expect(following, state)
            steps.append((action, state))
        if step is not None:
            steps.append(self.again(self.system.successors(state), step))
        return Path(initial, tuple(steps))

    def again(self, answers: Iterable[T], choice: int) -> T:
        for answer in islice(answers, choice - 1, choice):
            return answer
        raise NotReplayableError(f"the system gave at least {choice} answers before, and fewer now")

    def expect(self, number: int, state: S) -> None:
        if self.numbers.get(self.system.key(state)) != number:
            raise NotReplayableError(f"the system led to another state before than to {state!r}")


@contextmanager
def deferred_interrupts() -> Generator[list[int]]:
    """Collects a first SIGINT instead of raising KeyboardInterrupt; a second one raises as ever.

    One within another shares what is collected, so that whoever makes several searches learns that one of them was
    interrupted, and each later one ends at once. Only where Python's own handler is in place: in other threads, and
    under another handler, nothing changes.
    """
    before = signal.getsignal(signal.SIGINT)
    if isinstance(before, _Collector):
        yield before.interrupts
        return
    collector = _Collector()
    ours = threading.current_thread() is threading.main_thread() and before is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, collector)
    try:
        yield collector.interrupts
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class _Collector:
    """A handler of SIGINT that notes the first one and raises KeyboardInterrupt from then on."""

    def __init__(self) -> None:
        self.interrupts: list[int] = []

    def __call__(self, number: int, _frame: object) -> None:
        if self.interrupts:
            raise KeyboardInterrupt
        self.interrupts.append(number)
