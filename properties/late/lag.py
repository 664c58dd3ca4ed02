"""What holds where views lag, and what holds only where they do not (SEMANTICS 10.2a).

A promise of the contract speaks of what the scheduler sees; that is asked of every run, and it holds however old
that is. The same promise about what is stored is another one. Here it is asked too: of the worlds as they are
stored, in which nobody lags. What breaks then holds only where views are prompt, and a shortest run shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.control import NO_CONTROL
from gangproof.impl.objects import Job, PodGroup, Workload
from gangproof.impl.store import OF_CLAIMS, WATCHES, as_stored, kind_of, table, view
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.judges.everything import StepJudge
from gangproof.properties.judges.remembered import latest
from gangproof.properties.refinement.abstraction import abstract
from gangproof.properties.refinement.steps import departures, fine_steps
from gangproof.properties.search.system import Path, Questions, Violation
from gangproof.spec.catalogue import CONTRACT
from gangproof.spec.judging import Broken, judge_step, stages
from gangproof.spec.structure import Structure

ACTS: dict[str, tuple[str, ...]] = {
    "scheduler": ("cycle", "pop", "snapshot", "place", "submit"),
    "job-controller": ("sync",),
    "protection-controller": ("let-go",),
    "admission": ("create",),
    "claim-controller": ("claim-controller",),
}
"""By component the actions in which it decides by what it sees."""
ASKED = ("INV-01", "INV-02", "INV-05", "INV-13", "INV-16", "INV-17", "INV-24", "INV-26", "INV-28", "INV-29")
"""Promises of which it makes a difference; the others speak of what the scheduler remembers of what it sees."""
OF_OBJECTS = evolve(CONTRACT, invariants=tuple(one for one in CONTRACT.invariants if one.id in ASKED))


def views(world: World) -> tuple[str, ...]:
    """The views that matter in the world: of kinds that there are or that come, and of components that use them."""
    coming = world.environment.arrivals
    jobs = bool(world.jobs) or any(isinstance(obj, Job) for obj in coming)
    groups = jobs or bool(world.groups) or any(isinstance(obj, PodGroup) for obj in coming)
    workloads = jobs or bool(world.workloads) or any(isinstance(obj, Workload) for obj in coming)
    devices = {
        kind: bool(table(world, kind)) or any(kind_of(obj) == kind for obj in coming) for kind in OF_CLAIMS
    }
    claims = devices["claim"] = devices["claim"] or devices["claimTemplate"]
    used = {"pod": True, "node": True, "podGroup": groups, "workload": workloads, "job": jobs, **devices}
    components = {
        "scheduler": ("node", "pod", "podGroup", "claim", "deviceClass", "slice"),
        "admission": ("workload",) if workloads else (),
        "job-controller": WATCHES["job-controller"] if jobs else (),
        "protection-controller": WATCHES["protection-controller"] if groups else (),
        "claim-controller": WATCHES["claim-controller"] if claims else (),
    }
    return tuple(view(who, kind) for who, kinds in components.items() for kind in kinds if used[kind])


def lagging(world: World, most: int, names: Iterable[str] | None = None) -> World:
    """The world in which these views, or all that matter, may be behind by so many changes each."""
    wanted = views(world) if names is None else names
    lag = Table(dict.fromkeys(wanted, most)) if most else Table[int]()
    return evolve(world, environment=evolve(world.environment, lag=lag))


def as_if_prompt(world: World) -> World:
    """The world as it is stored, in which nobody is behind; the scheduler remembers only who is there."""
    prompt = evolve(world.environment, lag=Table(), stale=())
    now = evolve(as_stored(world), control=NO_CONTROL, environment=prompt)
    there = {key for key, pod in now.pods.items() if key in world.pods and world.pods[key].uid == pod.uid}
    return evolve(now, assumed=Table((key, node) for key, node in now.assumed.items() if key in there))


def of_the_store() -> Questions[World, Action]:
    """What the contract promises of steps, asked of what is stored, under the same ids."""
    return Questions(steps=[_asked(id) for id in ASKED])


def _asked(id: str) -> StepJudge:
    def ask(before: World, action: Action, after: World) -> Violation | None:
        found = next((one for one in _broken(before, action, after) if one.invariant.id == id), None)
        return None if found is None else Violation(id, str(found), found)

    return ask


@latest
def _broken(before: World, action: Action, after: World) -> tuple[Broken, ...]:
    passed = fine_steps(before, action, after)
    steps = [(abstract(as_if_prompt(then)), abstract(as_if_prompt(now))) for then, now in passed]
    return tuple(broken for step in steps for broken in _broken_step(*step))


def _broken_step(pre: Structure, post: Structure) -> Iterator[Broken]:
    passed = (pre, *stages(pre, tuple(departures(pre, post)), post, OF_OBJECTS))
    for then, now in pairwise(passed):
        yield from judge_step(then, now, OF_OBJECTS)


def stale_reads(path: Path[World, Action]) -> int:
    """How often in the run somebody decided by a view that was behind."""
    return sum(_behind(before, action) for before, action in zip(path.states, path.actions, strict=False))


def _behind(world: World, action: Action) -> bool:
    acting = [who for who, names in ACTS.items() if action.name in names]
    return any(name.partition("/")[0] in acting for name in world.control.behind)
