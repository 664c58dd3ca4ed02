"""From a violation to what a person is shown: the smallest run that breaks the property, with its story.

A run that a search finds is shortest, but the cluster around it is the user's. Objects and steps without
which the same property still breaks are taken away, what is left is made plainer; a scenario is made that
shows the same, and is believed only if following it breaks the same property again; the rest is told by
`frames`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Literal

from attrs import evolve, frozen

from gangproof.counterexamples import Action as ShownAction
from gangproof.counterexamples import Trace, shrink
from gangproof.impl.actions import Action
from gangproof.impl.api import ApiError
from gangproof.impl.gates import Object
from gangproof.impl.objects import Node, Pod
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.properties.check import Openness, find, initial_world
from gangproof.properties.judges.settled import SETTLED
from gangproof.properties.scenarios.course import Failure, Following
from gangproof.properties.scenarios.document import Create, Expect, Possible, Scenario, Settle, Step
from gangproof.properties.scenarios.replay import scenarios_of
from gangproof.properties.scenarios.run import follow
from gangproof.properties.scenarios.write import NotWritableError, dumps
from gangproof.properties.search.explore import Counterexample, Limits
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.system import Path, Questions, Violation
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.telling.frames import events, frame, numbers_that_decide, resources_of
from gangproof.properties.telling.promises import clause, involved, promise
from gangproof.properties.telling.retake import Retaken, first_violation, retake, steps_of

MOST_QUESTIONS = 300
MOST_STATES = 50_000
EXPECTATIONS = ("expect", "possible", "attempt")
"""What a scenario itself asks for, as opposed to the properties."""


@frozen
class Meta:
    """How a violation was found: profile, gates as `--feature-gates` takes them, engine, and what else to
    tell, such as a seed or a fault."""

    profile: str
    gates: str
    engine: str
    more: tuple[tuple[str, str], ...] = ()

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        gates = (("gates", self.gates),) if self.gates else ()
        return (("profile", self.profile), *gates, ("engine", self.engine), *self.more)


def only(asked: Questions[World, Action], property_id: str) -> Questions[World, Action]:
    """The questions with everything overheard but violations of one property."""
    return _filtered(asked, lambda found: found.property == property_id)


def except_for(asked: Questions[World, Action], property_id: str) -> Questions[World, Action]:
    """The questions with violations of one property overheard."""
    return _filtered(asked, lambda found: found.property != property_id)


Judge = Callable[..., Violation | None]


def _heard(judge: Judge, wanted: Callable[[Violation], bool]) -> Judge:
    def judged(*seen: object) -> Violation | None:
        found = judge(*seen)
        return found if found is not None and wanted(found) else None

    return judged


def _filtered(
    asked: Questions[World, Action], wanted: Callable[[Violation], bool]
) -> Questions[World, Action]:
    return Questions(
        invariants=[_heard(judge, wanted) for judge in asked.invariants],
        steps=[_heard(judge, wanted) for judge in asked.steps],
        terminal=[_heard(judge, wanted) for judge in asked.terminal],
    )


def violation_of(
    path: Path[World, Action], asked: Questions[World, Action], property_id: str
) -> Violation | None:
    """How the last step or the last state of a run breaks the property, None if it does not."""
    before = path.states[-2] if path.steps else path.initial
    for judge in only(asked, property_id).steps if path.steps else ():
        if (found := judge(before, path.actions[-1], path.last)) is not None:
            return found
    for judge in (*asked.invariants, *SETTLED):
        found = judge(path.last)
        if found is not None and found.property == property_id:
            return found
    return None


@frozen
class Allowance:
    """A freedom that a run was given; it is taken away like an object if the run breaks without it."""

    kind: Literal["any order", "failure", "deletion", "recreation"]


def _allowances(openness: Openness) -> Iterator[Allowance]:
    if openness.any_order:
        yield Allowance("any order")
    yield from [Allowance("failure")] * openness.failures
    yield from [Allowance("deletion")] * openness.deletions
    yield from [Allowance("recreation")] * openness.recreations


def _allowed(parts: Iterable[Object | Allowance], openness: Openness) -> Openness:
    """The openness with the allowances among the parts; lag and restarts stay as they are."""
    kinds = [part.kind for part in parts if isinstance(part, Allowance)]
    return evolve(
        openness,
        any_order="any order" in kinds,
        failures=kinds.count("failure"),
        deletions=kinds.count("deletion"),
        recreations=kinds.count("recreation"),
    )


def _deadline(seconds: float | None) -> float:
    return inf if seconds is None else time.monotonic() + seconds


def cluster_trace(
    example: Counterexample[World, Action],
    objects: Sequence[Object],
    rules: Rules,
    settings: Settings,
    openness: Openness,
    asked: Questions[World, Action],
    meta: Meta,
    *,
    seconds: float | None = None,
) -> Trace:
    """The counterexample with as few objects as still break the property; less small when time is over."""
    wanted = example.violation.property
    narrowed = only(asked, wanted)
    deadline = _deadline(seconds)
    examples = {(*objects, *_allowances(openness)): example}

    def still_fails(parts: Sequence[Object | Allowance]) -> bool:
        key = tuple(parts)
        if key in examples:
            return True
        if time.monotonic() > deadline:
            return False
        kept = [part for part in parts if not isinstance(part, Allowance)]
        try:
            world = initial_world(kept, rules, settings, _allowed(parts, openness))
        except ApiError:
            return False
        limits = Limits(MOST_STATES, seconds=_left(deadline), violations=1)
        _, found = find(Machine(rules, [world], key=Symmetry()), narrowed, limits)
        if wanted in found:
            examples[key] = found[wanted]
        return wanted in found

    parts = shrink(next(iter(examples)), still_fails, simplify=_plainer, budget=MOST_QUESTIONS)
    smallest = examples[parts]
    said = promise(wanted)
    name, title = f"breaks-{wanted.lower()}", said.name if said is not None else smallest.violation.message
    candidates = scenarios_of(smallest.path, settings, name, title)
    scenario = _replaying(candidates, rules, narrowed, wanted, deadline)
    return make_trace(smallest.violation, smallest.path, meta, scenario=scenario)


def _plainer(part: Object | Allowance) -> Iterator[Object | Allowance]:
    """The part without one of the things that most counterexamples do not need."""
    match part:
        case Pod():
            plain = Pod(part.namespace, part.name)
            for name in ("labels", "termination_grace_period_seconds", "node_selector", "tolerations"):
                if getattr(part, name) != getattr(plain, name):
                    yield evolve(part, **{name: getattr(plain, name)})
            for resource in part.requests:
                if resource != "cpu" and part.requests[resource]:
                    yield evolve(part, requests=part.requests.drop(resource))
        case Node(labels=labels):
            for label in labels:
                yield evolve(part, labels=labels.drop(label))
        case _:
            pass


def _left(deadline: float) -> float | None:
    return None if deadline == inf else max(deadline - time.monotonic(), 0.0)


def _replaying(
    candidates: Iterable[Scenario],
    rules: Rules,
    asked: Questions[World, Action],
    wanted: str,
    deadline: float,
) -> str | None:
    """The text of the first scenario that breaks the property when it is followed."""
    for candidate in candidates:
        text = _text(candidate)
        if text is not None and _broken(candidate, rules, asked, wanted, deadline) is not None:
            return text
    return None


def _text(scenario: Scenario) -> str | None:
    """The scenario as text, None if it has something that is not written."""
    try:
        return dumps(scenario)
    except NotWritableError:
        return None


def _broken(
    scenario: Scenario, rules: Rules, asked: Questions[World, Action], wanted: str, deadline: float
) -> Failure | None:
    limits = Limits(MOST_STATES, seconds=_left(deadline))
    settled = [_heard(judge, lambda found: found.property == wanted) for judge in SETTLED]
    course = follow(scenario, Following(rules, asked, limits, settled=settled))
    return next((f for f in course.failures if f.violation.property == wanted), None)


def scenario_trace(
    failure: Failure,
    scenario: Scenario,
    rules: Rules,
    asked: Questions[World, Action],
    meta: Meta,
    *,
    seconds: float | None = None,
) -> Trace:
    """The counterexample of a scenario; if a property broke, with as few objects and steps as still break it.

    What a scenario expects would mean something else in a smaller one, so such a run is left as it is.
    """
    wanted = failure.violation.property
    if wanted in EXPECTATIONS:
        text = _text(scenario)
        return make_trace(failure.violation, failure.path, meta, title=scenario.title, scenario=text)
    narrowed, deadline = only(asked, wanted), _deadline(seconds)
    whole = evolve(scenario, id=f"{scenario.id}-breaks-{wanted.lower()}", steps=tuple(_parts(scenario)))
    failures = {whole.steps: failure}

    def still_fails(parts: Sequence[Step]) -> bool:
        steps = tuple(parts)
        if steps in failures:
            return True
        if time.monotonic() > deadline:
            return False
        found = _broken(evolve(whole, steps=steps), rules, narrowed, wanted, deadline)
        if found is not None:
            failures[steps] = found
        return found is not None

    steps = shrink(whole.steps, still_fails, budget=MOST_QUESTIONS)
    small = evolve(whole, title=failure.violation.message, steps=steps)
    text = _replaying([small], rules, narrowed, wanted, deadline)
    return make_trace(failures[steps].violation, failures[steps].path, meta, scenario=text)


def run_trace(
    violation: Violation,
    path: Path[World, Action],
    rules: Rules,
    asked: Questions[World, Action],
    meta: Meta,
    *,
    seconds: float | None = None,
) -> Trace:
    """The counterexample of one run, such as a fuzzer's, with as few steps as still break the property."""
    wanted = violation.property
    narrowed, deadline = only(asked, wanted), _deadline(seconds)
    steps = steps_of(path)
    found = {steps: (violation, path)}

    def still_fails(parts: Sequence[Retaken]) -> bool:
        key = tuple(parts)
        if key in found:
            return True
        run = None if time.monotonic() > deadline else retake(path.initial, parts, rules)
        broken = None if run is None else first_violation(run, narrowed)
        if broken is not None:
            found[key] = broken
        return broken is not None

    violation, path = found[shrink(steps, still_fails, budget=MOST_QUESTIONS)]
    said = promise(wanted)
    title = said.name if said is not None else violation.message
    candidates = scenarios_of(path, path.initial.settings, f"breaks-{wanted.lower()}", title)
    scenario = _replaying(candidates, rules, narrowed, wanted, deadline)
    return make_trace(violation, path, meta, scenario=scenario)


def _parts(scenario: Scenario) -> Iterator[Step]:
    """The steps, objects created one by one, without what is expected on the way."""
    for step in scenario.steps:
        if isinstance(step, Create):
            yield from (evolve(step, objects=(obj,)) for obj in step.objects)
        elif isinstance(step, Expect | Possible):
            yield Settle(line=step.line)
        else:
            yield step


def make_trace(
    violation: Violation,
    path: Path[World, Action],
    meta: Meta,
    *,
    title: str = "",
    scenario: str | None = None,
) -> Trace:
    """The run as a trace; what users set up before the scheduler first acts is its first frame."""
    path = _from_where_it_begins(path)
    resources = resources_of(path.states)
    said = promise(violation.property)
    names = involved(violation, path.last)
    groups = [name for name in names if name in path.last.groups]
    return Trace(
        title=title or (said.name if said is not None else violation.message),
        frames=tuple(frame(world, resources) for world in path.states),
        events=events(path),
        property_id=violation.property,
        claim=said.claim if said is not None else "",
        clause=clause(violation),
        citation=said.rules if said is not None else (),
        numbers=numbers_that_decide(path.last, groups[0]) if groups else (),
        involved=names,
        scenario=scenario,
        actions=tuple(ShownAction(action.name, action.args) for action in path.actions),
        meta=meta.labels,
    )


def _from_where_it_begins(path: Path[World, Action]) -> Path[World, Action]:
    """The run without what it starts with, creations and that they are seen; its last step is always kept."""
    start, steps = path.initial, path.steps
    while len(steps) > 1 and steps[0][0].name in ("create", "see"):
        start, steps = steps[0][1], steps[1:]
    return Path(start, steps)
