"""From a run of the machinery to scenarios that may show the same, the plainest first.

A scenario denotes a set of runs, so the less it says the better it reads: at first only what users did, then
also where they waited, at last each cycle and which binds had ended by then. Which of these still shows what
the run showed is for the caller to find out.
"""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.impl.actions import Action
from gangproof.impl.api import lookup
from gangproof.impl.objects import Pod, PodDisruptionBudget, PodGroup, Workload
from gangproof.impl.world import Settings, World
from gangproof.properties.scenarios.document import (
    Attempt,
    Call,
    Create,
    Delete,
    Fail,
    Finish,
    Hold,
    Release,
    Result,
    Scenario,
    SchedulerOptions,
    Settle,
    Step,
    Update,
)
from gangproof.properties.scenarios.records import Kind, Ref
from gangproof.properties.search.system import Path

KINDS: dict[str, Kind] = {
    kind: kind for kind in ("node", "pod", "podGroup", "workload", "job", "priorityClass", "pdb")
}
RESULTS: dict[str, Result] = {"Success": "scheduled", "Error": "error"}


def scenarios_of(path: Path[World, Action], settings: Settings, name: str, title: str) -> Iterator[Scenario]:
    """Candidates for a scenario, of that id and title, of which the run is one; the plainest first."""
    options = SchedulerOptions(
        node_scores=settings.node_scores,
        rank=settings.rank,
        backoff_initial=1000 if settings.backoff else 0,
        backoff_max=10000 if settings.backoff else 0,
        profiles=settings.profiles,
    )
    for steps in (_outside(path, waits=False), _outside(path, waits=True), _in_full(path)):
        yield Scenario(name, title, _merged(steps), settings.gates, options)


def _existing(world: World) -> Iterator[Step]:
    """What is there before the run begins: nodes, then everything else in the order of creation."""
    yield from (Create((obj,)) for obj in (*world.priority_classes.values(), *world.nodes.values()))
    aged = [
        *world.workloads.values(), *world.groups.values(), *world.pods.values(), *world.budgets.values()
    ]  # fmt: skip
    yield from (Create((obj,)) for obj in sorted(aged, key=_age))


def _age(obj: Workload | PodGroup | Pod | PodDisruptionBudget) -> int:
    return obj.uid


def _ref(name: str) -> Ref:
    kind, _, key = name.partition("/")
    return Ref(KINDS[kind], key)


def _request(action: Action, before: World, after: World) -> Step | None:
    """What users did in the step, or what failed of its own accord; None for the scheduler's own steps."""
    match action.name:
        case "create":
            ref = _ref(action.args[0])
            obj = lookup(after, ref.kind, ref.key)
            return Create((obj,)) if obj is not None else None
        case "delete":
            return Delete((_ref(action.args[0]),))
        case "finish" | "crash":
            phase = "Succeeded" if action.name == "finish" else "Failed"
            return Finish((_ref(action.args[0]).key,), phase)
        case "bind-fails" | "prebind-fails":
            chosen = before.environment.failures > after.environment.failures
            kind = "bind" if action.name == "bind-fails" else "prebind"
            return Fail((Call(kind, action.args[0]),)) if chosen else None
        case _:
            return None


def _outside(path: Path[World, Action], *, waits: bool) -> Iterator[Step]:
    """What users did, with a `settle` where the scheduler acted before they went on, or only at the end."""
    yield from _existing(path.initial)
    before, acted = path.initial, False
    marks: list[Step] = []
    requests: list[Step] = []
    for action, after in path.steps:
        request = _request(action, before, after)
        before = after
        if isinstance(request, Fail):
            marks.append(request)
        if request is None or isinstance(request, Fail):
            acted = True
            continue
        if acted and (waits or not isinstance(request, Create)):
            yield from (*requests, *marks, Settle())
            requests, marks = [], []
        requests.append(request)
        acted = False
    yield from (*requests, *marks, Settle())


def _in_full(path: Path[World, Action]) -> Iterator[Step]:
    """Every cycle as an `attempt`, and each bind held until the run lets it end."""
    yield from _existing(path.initial)
    yield from (Hold((Call("bind", pod),)) for pod in sorted({p for w in path.states for p in w.pods}))
    before = path.initial
    meanwhile: list[Create | Delete | Update] | None = None
    for action, after in path.steps:
        request = _request(action, before, after)
        if meanwhile is not None and isinstance(request, Create | Delete):
            meanwhile.append(request)
        elif request is not None:
            yield request
        match action.name:
            case "pop":
                meanwhile = []
            case "cycle" | "submit":
                kind: Kind = "podGroup" if action.args[0] in before.groups else "pod"
                result = RESULTS.get(action.args[1], "unschedulable")
                yield Attempt(Ref(kind, action.args[0]), result, tuple(meanwhile or ()))
                meanwhile = None
            case "bind" | "bind-fails":
                yield Release((Call("bind", action.args[0]),))
            case _:
                pass
        before = after
    yield Settle()


def _merged(steps: Iterator[Step]) -> tuple[Step, ...]:
    """The steps with neighbours of one kind as one."""
    merged: list[Step] = []
    for step in steps:
        match merged[-1] if merged else None, step:
            case Create(objects=first), Create(objects=second):
                merged[-1] = Create((*first, *second))
            case Fail(calls=first), Fail(calls=second):
                merged[-1] = Fail((*first, *second))
            case Hold(calls=first), Hold(calls=second):
                merged[-1] = Hold((*first, *second))
            case _:
                merged.append(step)
    return tuple(merged)
