"""What is stored, and who has seen what of it (SEMANTICS 10.2a).

The tables of a world are what the scheduler sees. Where nobody lags that is what is stored, and every change is seen
in the step that makes it. Where a view may lag, a change is written to a log, of which each view has yet to see
the last so many entries: changes of one kind in the order in which they were made, changes of two kinds in any
order. What is stored is then the scheduler's table with the changes that it has not seen; what another component
sees is what is stored without the changes that it has not seen.
"""

from __future__ import annotations

from typing import Any

from attrs import evolve

from gangproof.impl.control import Revision
from gangproof.impl.gates import Object
from gangproof.impl.objects import PodDisruptionBudget, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from gangproof.impl.table import Table
from gangproof.impl.world import World

KINDS: dict[str, str] = {
    "node": "nodes",
    "pod": "pods",
    "podGroup": "groups",
    "workload": "workloads",
    "job": "jobs",
    "priorityClass": "priority_classes",
    "pdb": "budgets",
    "claim": "claims",
    "claimTemplate": "claim_templates",
    "deviceClass": "device_classes",
    "slice": "slices",
}
"""The table of a world in which the objects of a kind stand."""
OF_CLAIMS = ("claim", "claimTemplate", "deviceClass", "slice")
"""The kinds of claims and devices."""
WATCHES: dict[str, tuple[str, ...]] = {
    "scheduler": tuple(KINDS),
    "admission": ("workload", "podGroup"),
    "job-controller": ("job", "pod", "workload", "podGroup"),
    "protection-controller": ("pod", "podGroup"),
    "claim-controller": ("pod", "podGroup", "claim", "claimTemplate"),
}
"""The kinds that each component keeps a view of."""
SCHEDULER = "scheduler"


def kind_of(obj: Object) -> str:
    """The object's kind as scenarios write it, such as `podGroup`."""
    name = type(obj).__name__
    return SHORT_NAMES.get(type(obj)) or name[0].lower() + name[1:]


SHORT_NAMES: dict[type, str] = {
    PodDisruptionBudget: "pdb",
    ResourceClaim: "claim",
    ResourceClaimTemplate: "claimTemplate",
    ResourceSlice: "slice",
}


def view(component: str, kind: str) -> str:
    """The name of a component's view of a kind."""
    return f"{component}/{kind}"


def table(world: World, kind: str) -> Table[Any]:
    """The objects of a kind by key, as the scheduler sees them."""
    return getattr(world, KINDS[kind])


def put(world: World, kind: str, key: str, value: Object | None) -> World:
    """The world in which the scheduler's table has this object, or none, under the key."""
    return evolve(world, **{KINDS[kind]: _put(table(world, kind), key, value)})


def _put(objects: Table[Any], key: str, value: Object | None) -> Table[Any]:
    return objects.drop(key) if value is None else objects.put(key, value)


def stored(world: World, kind: str) -> Table[Any]:
    """The objects of a kind as they are stored, by key."""
    objects = table(world, kind)
    for revision in unseen(world, view(SCHEDULER, kind)):
        objects = _put(objects, revision.key, revision.new)
    return objects


def seen(world: World, component: str, kind: str) -> Table[Any]:
    """The objects of a kind as the component sees them, by key."""
    if component == SCHEDULER:
        return table(world, kind)
    objects = stored(world, kind)
    for revision in reversed(unseen(world, view(component, kind))):
        objects = _put(objects, revision.key, revision.old)
    return objects


def as_stored(world: World) -> World:
    """The world in which the scheduler's tables are what is stored; its memory is as it is."""
    if not any(name.startswith(SCHEDULER) for name in world.control.behind):
        return world
    return evolve(world, **{field: stored(world, kind) for kind, field in KINDS.items()})


def unseen(world: World, name: str) -> tuple[Revision, ...]:
    """The changes that the view has yet to see, the first one first."""
    number = world.control.behind.get(name) if world.control.behind else None
    return world.control.log[name.partition("/")[2]][-number:] if number else ()


def late(world: World, name: str) -> bool:
    """Whether changes reach the view later than they are made."""
    return name in world.environment.lag or name in world.environment.stale


def lags(world: World) -> bool:
    """Whether some view is behind, or may be."""
    return bool(world.control.behind or world.environment.lag or world.environment.stale)


def record(world: World, revision: Revision) -> tuple[World, tuple[str, ...]]:
    """The world with the change in its log, for those whose view is late; and those whose view is prompt.

    Nobody sees a change at once who has not seen what came before it. What the scheduler has `by` its own name it got
    back from the API server, so it is behind with it only where it is behind already (CLAIM-17).
    """
    behind = world.control.behind
    prompt: list[str] = []
    for component, kinds in WATCHES.items():
        if revision.kind in kinds:
            name = view(component, revision.kind)
            number, own = behind.get(name, 0), component == SCHEDULER == revision.by
            if number or (late(world, name) and not own):
                behind = behind.put(name, number + 1)
            else:
                prompt.append(component)
    if behind is not world.control.behind:
        log = (*world.control.log.get(revision.kind, ()), revision)
        control = evolve(world.control, log=world.control.log.put(revision.kind, log), behind=behind)
        world = evolve(world, control=control)
    return world, tuple(prompt)


def patch(world: World, kind: str, key: str, **fields: object) -> World:
    """The store with some fields of an object written; nothing happens if there is no such object.

    So the scheduler writes a status. Where it sees that at once, nothing follows from it.
    """
    if not lags(world):
        return put(world, kind, key, evolve(table(world, kind)[key], **fields))
    old = stored(world, kind).get(key)
    if old is None:
        return world
    new = evolve(old, **fields)
    if new == old:
        return world
    world, prompt = record(world, Revision(kind, key, old, new))
    return put(world, kind, key, new) if SCHEDULER in prompt else world
