"""Changes of the store reach those who watch it: at once, or when they are delivered (ACT-10)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.claims.store import name_users
from gangproof.impl.control import Revision
from gangproof.impl.ghost import note_meddling
from gangproof.impl.handlers import observe
from gangproof.impl.objects import Job, Pod
from gangproof.impl.owners import OWNERS, note
from gangproof.impl.rules import Rules
from gangproof.impl.store import SCHEDULER, WATCHES, lags, late, record, view
from gangproof.impl.table import added
from gangproof.impl.world import World


def write(rules: Rules, world: World, revision: Revision) -> World:
    """The store with the change, seen by everybody whose view is prompt."""
    if revision.kind in OWNERS:
        world = note_meddling(world, revision)
    if not lags(world):
        return note(_take_note(_observe(rules, world, revision), revision), revision)
    for component in WATCHES:
        name = view(component, revision.kind)
        while name in world.control.behind and not late(world, name):
            world = deliver(rules, world, name)
    world, prompt = record(world, revision)
    if revision.old is None:
        world = name_users(world, revision.new)
    if SCHEDULER in prompt:
        world = _observe(rules, world, revision)
    return note(_take_note(world, revision) if "job-controller" in prompt else world, revision)


def deliver(rules: Rules, world: World, name: str) -> World:
    """The view sees the oldest change that it has not seen; a KeyError if it has seen all."""
    component, _, kind = name.partition("/")
    control = world.control
    number, log = control.behind[name], control.log[kind]
    revision = log[-number]
    behind = control.behind.put(name, number - 1) if number > 1 else control.behind.drop(name)
    kept = max((behind.get(view(c, kind), 0) for c in WATCHES), default=0)
    logs = control.log.put(kind, log[-kept:]) if kept else control.log.drop(kind)
    world = evolve(world, control=evolve(control, behind=behind, log=logs))
    if component == SCHEDULER:
        return world if _outdated(revision, log[-number:]) else _observe(rules, world, revision)
    return _take_note(world, revision) if component == "job-controller" else world


def _outdated(revision: Revision, to_come: tuple[Revision, ...]) -> bool:
    """Whether the scheduler has a later version, which it got back when it wrote it (CLAIM-17)."""
    return any(own.by == SCHEDULER and own.key == revision.key for own in to_come)


def deliverable(world: World) -> Iterator[str]:
    """The views that are behind and may see the next change; one that was stopped may not."""
    for name in world.control.behind:
        if name not in world.environment.stale:
            yield name


def overdue(world: World) -> tuple[str, ...]:
    """The views that are further behind than they may be; their components see something before anything else."""
    return tuple(
        name
        for name, most in world.environment.lag.items()
        if world.control.behind.get(name, 0) > most and name not in world.environment.stale
    )


def _observe(rules: Rules, world: World, revision: Revision) -> World:
    return observe(rules, world, revision.kind, revision.old, revision.new)


def _take_note(world: World, revision: Revision) -> World:
    """The Job controller sees the change: its Job, or the Job of a pod, waits for a sync (ACT-28).

    Changes of Workloads and PodGroups are not a reason (CTRL-22).
    """
    due = world.control.due
    for obj in (revision.old, revision.new):
        match obj:
            case Job():
                due = added(due, obj.key)
            case Pod() if obj.owners:
                for owner in obj.owners:
                    if owner.controller and owner.kind == "Job":
                        due = added(due, f"{obj.namespace}/{owner.name}")
            case _:
                pass
    return world if due is world.control.due else evolve(world, control=evolve(world.control, due=due))
