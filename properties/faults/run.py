"""Switching a fault on and looking whether it is caught; switching it off and looking whether anything is.

Both follow the fault's smallest case through every run, or search the fault's world in the fine grain. With
the fault on only the properties that must catch it are asked, breadth first and to the first violation, so the
run that is found is a shortest one. With the fault off everything is asked that is ever asked, and what the
case expects too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import evolve, field, frozen

from gangproof.impl.actions import Action
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import profile
from gangproof.impl.world import World
from gangproof.properties.faults.fault import Fault
from gangproof.properties.judges.everything import questions
from gangproof.properties.judges.settled import SETTLED
from gangproof.properties.refinement.steps import REFINEMENT
from gangproof.properties.scenarios.course import Course, Following
from gangproof.properties.scenarios.document import Expect, Possible, Scenario, Settle, Step
from gangproof.properties.scenarios.run import follow
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.machine import Machine, Settled, settle
from gangproof.properties.search.system import Path, Questions, Violation
from gangproof.properties.verdict import Verdict

Judge = Callable[..., Violation | None]

LIMITS = Limits(states=20_000)
EXPLORER = "explorer"
FINE = "explorer, fine grain"


@frozen
class FaultResult:
    """What became of one fault: which property caught it, by which engine, after how many steps.

    `depth` is the length of `path`, a run from the empty cluster, and `states` is how many were looked at. If nothing
    caught it, `depth` is 0, `killed_by` and `path` are None, and `unfinished` tells why not everything was looked
    at; if everything was, the fault survived. `seconds` is wall time and takes no part in equality.
    """

    id: str
    name: str
    killed_by: str | None
    engine: str
    depth: int
    states: int
    message: str = ""
    path: Path[World, Action] | None = field(default=None, eq=False, repr=False)
    unfinished: tuple[str, ...] = ()
    seconds: float = field(default=0.0, eq=False)

    @property
    def verdict(self) -> Verdict:
        """Holds if the fault is caught, violated if it survived, inconclusive if not everything was looked at."""
        if self.killed_by is not None:
            return Verdict.HOLDS
        return Verdict.INCONCLUSIVE if self.unfinished else Verdict.VIOLATED

    @property
    def fate(self) -> str:
        """The property that caught the fault, or a word for why none did."""
        return self.killed_by or ("inconclusive" if self.unfinished else "SURVIVED")

    def __str__(self) -> str:
        head = f"{self.id} {self.name}"
        if self.unfinished:
            return f"{head}: inconclusive after {self.states:,} states: {'; '.join(self.unfinished)}"
        if self.killed_by is None:
            return f"{head}: survived {self.states:,} states"
        return f"{head}: caught by {self.killed_by} ({self.engine}, depth {self.depth}): {self.message}"


@frozen
class Unfaulted:
    """What became of a fault's case without the fault: alarms, rightly none, and why not everything was looked at."""

    alarms: tuple[Violation, ...] = ()
    unfinished: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        if self.alarms:
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if self.unfinished else Verdict.HOLDS


def run_fault(fault: Fault, case: Scenario, limits: Limits = LIMITS) -> FaultResult:
    """Follow the case, or search the fault's world, with the fault on, asking only what must catch it."""
    began = time.perf_counter()
    rules = profile(INTENDED, fault.change)
    asked = questions()
    asked = Questions(
        invariants=[_only(fault, judge) for judge in asked.invariants],
        steps=[_only(fault, judge) for judge in asked.steps],
    )
    limits = evolve(limits, violations=1)
    settled = [_only(fault, judge) for judge in SETTLED]
    if fault.world is not None:
        found = settle(Machine(rules, [fault.world], "fine"), asked, limits)
        caught = list(_searched(found, settled))
        engine, states = FINE, found.exploration.states
        unfinished = tuple(_cut_short(found.exploration.stop))
    else:
        course = follow(
            evolve(case, steps=tuple(map(_unexpecting, case.steps))),
            Following(rules, asked, limits, settled=settled),
        )
        caught = [(failure.violation, failure.path) for failure in course.failures]
        engine, states = EXPLORER, course.states
        unfinished = tuple(_unfinished(course))
    for violation, path in caught:
        if fault.catches(violation):
            return FaultResult(
                fault.id,
                fault.name,
                violation.property,
                engine,
                depth=len(path),
                states=states,
                message=violation.message,
                path=path,
                seconds=time.perf_counter() - began,
            )
    return FaultResult(
        fault.id,
        fault.name,
        None,
        engine,
        depth=0,
        states=states,
        unfinished=unfinished,
        seconds=time.perf_counter() - began,
    )


def without_fault(fault: Fault, case: Scenario, limits: Limits = LIMITS) -> Unfaulted:
    """What is found with the fault off, by every question and by the case's own expectations; rightly nothing."""
    course = follow(case, Following(INTENDED, questions(), limits, settled=SETTLED))
    alarms = [failure.violation for failure in course.failures]
    unfinished = list(_unfinished(course))
    if fault.world is not None:
        found = settle(Machine(INTENDED, [fault.world], "fine"), questions(), limits)
        alarms += [violation for violation, _ in _searched(found, SETTLED)]
        unfinished += _cut_short(found.exploration.stop)
    return Unfaulted(tuple(alarms), tuple(dict.fromkeys(unfinished)))


def _searched(found: Settled, judges: Sequence[Judge]) -> Iterator[tuple[Violation, Path[World, Action]]]:
    """What a search found on its way, and what is wrong where its runs settle."""
    for example in found.exploration.counterexamples.values():
        yield example.violation, example.path
    for place in (*found.settled, *found.restless):
        for judge in judges:
            if (wrong := judge(found.graph.states[place])) is not None:
                yield wrong, found.graph.path(place)


def _cut_short(stop: str) -> Iterator[str]:
    if stop not in ("exhausted", "violation"):
        yield f"the search stopped: {stop}"


def _unfinished(course: Course) -> Iterator[str]:
    yield from _cut_short(course.stop)
    for missing in course.beyond:
        yield f"some run needs what is not modelled: {missing}"


def _only(fault: Fault, judge: Judge) -> Judge:
    """The judge, deaf to what need not catch the fault."""

    def ask(*seen: Any) -> Violation | None:
        found = judge(*seen)
        return found if found is not None and fault.catches(found) else None

    return ask


def _unexpecting(step: Step) -> Step:
    """The step without its expectation: a fault must be caught by a property, not by its own case."""
    return Settle(step.line) if isinstance(step, Expect | Possible) else step


__all__ = [
    "EXPLORER",
    "FINE",
    "LIMITS",
    "REFINEMENT",
    "FaultResult",
    "Unfaulted",
    "run_fault",
    "without_fault",
]
