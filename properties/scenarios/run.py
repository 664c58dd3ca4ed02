"""Following a scenario: the set of all its runs, step by step (SCENARIOS: what a scenario denotes).

A scenario denotes a set of runs. Between steps nothing happens; where a step lets something happen, every
possibility is followed, every state on the way is judged, and each run remembers how it came about.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial

from attrs import evolve

from gangproof.impl.actions import Action, permit_timeouts
from gangproof.impl.api import afterwards
from gangproof.impl.controllers.collect import of_lost_nodes
from gangproof.impl.cycle_state import Event
from gangproof.impl.queue import notice
from gangproof.impl.restart import restarts
from gangproof.impl.rules import Rules
from gangproof.impl.store import SCHEDULER, unseen
from gangproof.impl.views import deliver
from gangproof.impl.world import Settings, World
from gangproof.properties.scenarios.attempt import attempt
from gangproof.properties.scenarios.course import Course, Failure, Following, Run, judged, judged_since
from gangproof.properties.scenarios.document import (
    Advance,
    Attempt,
    CatchUp,
    Create,
    Delete,
    Expect,
    Fail,
    Finish,
    Flush,
    Hold,
    Lag,
    Possible,
    Release,
    Restart,
    Scenario,
    Settle,
    Step,
    Update,
)
from gangproof.properties.scenarios.expectations import Expectation
from gangproof.properties.scenarios.judge import unmet
from gangproof.properties.scenarios.requests import put
from gangproof.properties.search.explore import Graph
from gangproof.properties.search.machine import Machine, settle
from gangproof.properties.search.system import Path, Violation

PERMIT_WAIT = 300_000
"""Milliseconds for which a member waits at Permit at most (GANG-09)."""
POD_GC = 60_000
"""Milliseconds after which a pod whose node is gone has certainly been collected."""
FLUSH_AFTER = 330_000
"""Milliseconds after which an entry of the pool has certainly met the flush (QUEUE-26)."""


def settings_of(scenario: Scenario) -> Settings:
    """The scheduler's settings that a scenario asks for."""
    options = scenario.scheduler
    return Settings(
        gates=scenario.gates,
        profiles=options.profiles,
        node_scores=options.node_scores,
        rank=options.rank,
        backoff=options.backoff_max > 0,
    )


def follow(scenario: Scenario, following: Following) -> Course:
    """Follow all runs to the end, or to the first expectation that fails, or until a limit is hit."""
    course = Course((Run(World(settings=settings_of(scenario))),))
    for step in scenario.steps:
        course = _step(step, course, following)
        beyond = {name for run in course.runs for name in run.world.ghost.beyond}
        course = evolve(course, beyond=tuple(sorted({*course.beyond, *beyond})))
        if course.stop != "exhausted" or course.failures or not course.runs:
            break
    return course


def _step(step: Step, course: Course, following: Following) -> Course:
    rules = following.rules
    match step:
        case Create() | Delete() | Update() | Finish():
            return _outside(step, course, following)
        case Settle():
            return _settle(course, following)
        case Expect() | Possible():
            return _expect(step, _settle(course, following))
        case Attempt():
            return attempt(step, course, following)
        case Hold(calls=calls):
            return _marked(course, "held", lambda marked: marked | set(map(_call, calls)))
        case Release(calls=calls):
            return _marked(course, "held", lambda marked: marked - set(map(_call, calls)))
        case Fail(calls=calls):
            return _marked(course, "failing", lambda marked: marked | set(map(_call, calls)))
        case Lag(views=views):
            return _marked(course, "stale", lambda marked: marked | set(map(str, views)))
        case CatchUp(views=views):
            course = _marked(course, "stale", lambda marked: marked - set(map(str, views)))
            return _caught_up(course, tuple(map(str, views)), following)
        case Restart():
            return _restarted(course, following)
        case Flush():
            return _everywhere(course, Action("flush"), lambda world: notice(rules, world, Event("Flush")))
        case Advance(milliseconds=passed):
            course = _settle(course, following)
            if passed >= POD_GC:
                course = _settle(_each(course, following, partial(_swept, rules)), following)
            if passed >= PERMIT_WAIT:
                timed_out = tuple(_nobody_waits(run, rules) for run in course.runs)
                course = _settle(evolve(course, runs=timed_out), following)
            if passed < FLUSH_AFTER:
                return course
            flushed = _everywhere(course, Action("flush"), lambda world: notice(rules, world, Event("Flush")))
            return _settle(flushed, following)


def _swept(rules: Rules, world: World) -> Iterator[tuple[Action, World]]:
    """Pods whose node is gone are ended and deleted, one after the other."""
    while (move := next(of_lost_nodes(rules, world), None)) is not None:
        name, args, world = move
        yield Action(name, args), world


def _caught_up(course: Course, views: Sequence[str], following: Following) -> Course:
    """Every run after the views have seen everything, one after the other, each in order (ACT-10)."""

    def sights(world: World) -> Iterator[tuple[Action, World]]:
        for name in views:
            while pending := unseen(world, name):
                seen = Action("see", (name.partition("/")[0], f"{pending[0].kind}/{pending[0].key}"))
                world = afterwards(following.rules, world, deliver(following.rules, world, name))
                yield seen, world

    return _each(course, following, sights)


def _restarted(course: Course, following: Following) -> Course:
    """Every run after the scheduler has started anew, and so has seen everything (ACT-30)."""
    behind = sorted({name for run in course.runs for name in run.world.control.behind})
    course = _caught_up(course, [name for name in behind if name.startswith(SCHEDULER)], following)
    runs: list[Run] = []
    failures: list[Failure] = []
    for run in course.runs:
        for name, args, after in restarts(following.rules, run.world):
            action = Action(name, args)
            failures.extend(judged(following, run, action, after))
            runs.append(run.then(action, after))
    return evolve(course, runs=tuple(runs), failures=(*course.failures, *failures[:1]))


def _each(
    course: Course, following: Following, steps: Callable[[World], Iterator[tuple[Action, World]]]
) -> Course:
    """Every run with these steps taken one after the other, each of them judged."""
    runs: list[Run] = []
    failures: list[Failure] = []
    for run in course.runs:
        for action, after in steps(run.world):
            failures.extend(judged(following, run, action, after))
            run = run.then(action, after)
        runs.append(run)
    return evolve(course, runs=tuple(runs), failures=(*course.failures, *failures[:1]))


def _nobody_waits(run: Run, rules: Rules) -> Run:
    """The run after the wait at Permit has ended for everybody who waited, one after the other."""
    while (step := next(permit_timeouts(run.world, rules), None)) is not None:
        run = run.then(*step)
    return run


def _call(call: object) -> str:
    kind, pod = getattr(call, "kind", ""), getattr(call, "pod", "")
    return f"{kind}/{pod}"


def _marked(course: Course, what: str, change: Callable[[set[str]], set[str]]) -> Course:
    def marked(run: Run) -> Run:
        environment = run.world.environment
        calls = tuple(sorted(change(set(getattr(environment, what)))))
        world = evolve(run.world, environment=evolve(environment, **{what: calls}))
        return Run(world, run)

    return evolve(course, runs=tuple(map(marked, course.runs)))


def _everywhere(course: Course, action: Action, change: Callable[[World], World]) -> Course:
    return evolve(course, runs=tuple(run.then(action, change(run.world)) for run in course.runs))


def _outside(step: Create | Delete | Update | Finish, course: Course, following: Following) -> Course:
    """What users do, in every run."""
    runs: list[Run] = []
    failures: list[Failure] = []
    for run in course.runs:
        after, refusals = put(step, run, following.rules)
        course = course.refused(refusals)
        failures.extend(judged_since(following, after, {id(run)}))
        runs.append(after)
    return evolve(course, runs=tuple(runs), states=course.states + len(runs)).failed(failures)


def _settle(course: Course, following: Following) -> Course:
    """Run everything that needs no outside event; the runs are then those in which it has settled."""
    distinct: dict[Hashable, Run] = {}
    for run in course.runs:
        distinct.setdefault(following.key(run.world), run)
    starts = tuple(distinct.values())
    machine = Machine(following.rules, [run.world for run in starts], key=following.key)
    left = following.limits.states - course.states if following.limits.states is not None else None
    found = settle(machine, following.questions, evolve(following.limits, states=left))
    exploration, graph = found.exploration, found.graph
    runs = tuple(_settled_run(graph, place, starts) for place in (*found.settled, *found.restless))
    failures = [
        Failure(example.violation, _joined(starts, example.path))
        for example in exploration.counterexamples.values()
    ]
    failures.extend(_unsettled(runs, following))
    return evolve(
        course,
        runs=runs,
        failures=(*course.failures, *failures),
        states=course.states + exploration.states,
        transitions=course.transitions + exploration.transitions,
        stop=exploration.stop,
        beyond=tuple(sorted({*course.beyond, *(b for world in graph.states for b in world.ghost.beyond)})),
        reached=course.reached | exploration.witnesses.keys(),
    )


def _unsettled(runs: Sequence[Run], following: Following) -> Iterator[Failure]:
    """The first run in which a property of settled worlds does not hold, for each such judge."""
    for judge in following.settled:
        for run in runs:
            found = judge(run.world)
            if found is not None:
                yield Failure(found, run.path)
                break


def _joined(starts: Sequence[Run], path: Path[World, Action]) -> Path[World, Action]:
    start = next(run for run in starts if run.world == path.initial)
    return Path(start.path.initial, (*start.path.steps, *path.steps))


def _settled_run(graph: Graph[World, Action], place: int, starts: Sequence[Run]) -> Run:
    """The run that settles at the place, as a run that goes on from the start that it began in."""
    way = graph.way(place)
    return Run(graph.states[place], starts[way[0][0] if way else place], lambda: graph.path(place).steps)


def _expect(step: Expect | Possible, course: Course) -> Course:
    if course.stop != "exhausted":
        return course
    if isinstance(step, Expect):
        failures = tuple(_broken(step.expectations, course))
    else:
        failures = tuple(_impossible(step, course))
    return evolve(course, failures=(*course.failures, *failures))


def _broken(expectations: Sequence[Expectation], course: Course) -> Iterator[Failure]:
    """The first run in which an expectation does not hold, for each expectation."""
    for expectation in expectations:
        for run in course.runs:
            found = unmet(run.world, expectation, course.refusals)
            if found is not None:
                message = f"expected {expectation}, but {found}"
                yield Failure(Violation("expect", message, expectation), run.path, expectation.line)
                break


def _impossible(step: Possible, course: Course) -> Iterator[Failure]:
    for run in course.runs:
        if all(unmet(run.world, e, course.refusals) is None for e in step.expectations):
            return
    wanted = "; ".join(map(str, step.expectations))
    if course.runs:
        run = course.runs[0]
        message = f"in none of {len(course.runs)} settled runs: {wanted}"
        yield Failure(Violation("possible", message), run.path, step.line)
