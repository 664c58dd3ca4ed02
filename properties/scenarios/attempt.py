"""The step `attempt` of a scenario: exactly one scheduling cycle runs, and it is for a certain entity."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from attrs import evolve

from gangproof.impl.actions import Action, cycle_steps, successors
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.scenarios.course import (
    Course,
    Failure,
    Following,
    Refusal,
    Run,
    judged,
    judged_since,
)
from gangproof.properties.scenarios.document import Attempt
from gangproof.properties.scenarios.judge import short
from gangproof.properties.scenarios.requests import put
from gangproof.properties.search.machine import CLOCK
from gangproof.properties.search.system import Violation


def attempt(step: Attempt, course: Course, following: Following) -> Course:
    """One cycle runs, before, between or after any calls that may end meanwhile; no time passes."""
    course, before = _while_calls_end(course, following)
    runs: list[Run] = []
    failures: list[Failure] = []
    for run in before.runs:
        cycles, refusals = _cycles(step, run, following.rules)
        course = course.refused(refusals)
        runs.extend(cycles)
        failures.extend(failure for cycle in cycles if (failure := _unlike(step, cycle)) is not None)
        if not cycles and not any(_calls(run.world, following.rules)) and step.result != "absent":
            message = f"expected a cycle of {step.entity} ({step.result}), but nothing is ready to be tried"
            failures.append(Failure(Violation("attempt", message), run.path, step.line))
    starts = {id(run) for run in before.runs}
    broken = [failure for run in runs for failure in judged_since(following, run, starts)]
    course = evolve(course, runs=tuple(runs)).failed((*failures, *broken))
    if step.result == "absent" and not runs:
        course = evolve(course, runs=before.runs)
    return _while_calls_end(course, following)[1]


def _cycles(step: Attempt, run: Run, rules: Rules) -> tuple[list[Run], list[Refusal]]:
    """The runs in which the next cycle has ended, and what the API refused while they went on."""
    if not step.during:
        cycles = [run.then(action, world) for action, world in successors(run.world, rules)]
        return [cycle for cycle in cycles if cycle.way()[0][0].name == "cycle"], []
    runs: list[Run] = []
    refusals: list[Refusal] = []
    for popped in _after(run, rules):
        for seen in _after(popped, rules):
            for outside in step.during:
                seen, refused = put(outside, seen, rules)
                refusals.extend(refused)
            runs.extend(seen.then(action, world) for action, world in successors(seen.world, rules))
    return runs, refusals


def _after(run: Run, rules: Rules) -> Iterator[Run]:
    for action, world in cycle_steps(run.world, rules):
        yield run.then(action, world)


def _unlike(step: Attempt, run: Run) -> Failure | None:
    """That the cycle which just ended was for another, or had another result."""
    action, _ = run.way()[-1]
    entity, code = action.args[0], action.args[1]
    result = {"Success": "scheduled", "Error": "error"}.get(code, "unschedulable")
    mine = entity == step.entity.key
    if step.result == "absent":
        wrong = mine
    else:
        wrong = not mine or result != step.result
    if not wrong:
        return None
    message = f"expected a cycle of {step.entity} ({step.result}), but {short(entity)} was tried: {result}"
    return Failure(Violation("attempt", message), run.path, step.line)


def _calls(world: World, rules: Rules) -> Iterator[tuple[Action, World]]:
    for action, after in successors(world, rules):
        if action.name not in (CLOCK, "cycle"):
            yield action, after


def _while_calls_end(course: Course, following: Following) -> tuple[Course, Course]:
    """Every world that is reached while open calls end, none of them or some or all."""
    runs: dict[Hashable, Run] = {}
    waiting = list(course.runs)
    failures: list[Failure] = []
    while waiting:
        run = waiting.pop()
        key = following.key(run.world)
        if key in runs:
            continue
        runs[key] = run
        for action, world in _calls(run.world, following.rules):
            failures.extend(judged(following, run, action, world))
            waiting.append(run.then(action, world))
    course = evolve(course, states=course.states + len(runs)).failed(failures)
    return course, evolve(course, runs=tuple(runs.values()))
