"""Who is owned by whom: kept up to date with each change of the store, so that nobody has to search (GC-10)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.control import Revision
from gangproof.impl.gates import Object
from gangproof.impl.objects import Job, OwnerReference, Pod, PodGroup, Workload
from gangproof.impl.store import stored
from gangproof.impl.table import added, removed
from gangproof.impl.world import World

OWNERS = ("job", "workload", "podGroup")
OWNED = ("workload", "podGroup", "pod")


def note(world: World, revision: Revision) -> World:
    """The world in which whoever lost its last owner by this change, or never had a living one, is an orphan."""
    orphans, name = world.control.orphans, f"{revision.kind}/{revision.key}"
    if revision.new is None:
        orphans = removed(orphans, name)
        if revision.kind in OWNERS and revision.old is not None:
            for orphan in _left_behind(world, revision.old):
                orphans = added(orphans, orphan)
    elif revision.old is None and owners_of(revision.new) and _orphaned(world, revision.new):
        orphans = added(orphans, name)
    return (
        world
        if orphans is world.control.orphans
        else evolve(world, control=evolve(world.control, orphans=orphans))
    )


def owners_of(obj: Object) -> tuple[OwnerReference, ...]:
    """The owner references of the object."""
    return obj.owners if isinstance(obj, Job | Pod | PodGroup | Workload) else ()


def resolved(world: World, obj: Object) -> Object:
    """The object with owners that are known by name alone (uid 0) settled: whoever is called so, or nobody."""
    if not isinstance(obj, Job | Pod | PodGroup | Workload) or all(owner.uid for owner in obj.owners):
        return obj
    found = tuple(_settled(world, obj.namespace, owner) for owner in obj.owners)
    return evolve(obj, owners=tuple(owner for owner in found if owner is not None))


def _settled(world: World, namespace: str, owner: OwnerReference) -> OwnerReference | None:
    if owner.uid:
        return owner
    there = stored(world, _kind(owner)).get(f"{namespace}/{owner.name}")
    return None if there is None else evolve(owner, uid=there.uid)


def _kind(owner: OwnerReference) -> str:
    return owner.kind[0].lower() + owner.kind[1:]


def _left_behind(world: World, gone: Object) -> Iterator[str]:
    kind, uid = type(gone).__name__, getattr(gone, "uid", 0)
    for owned in OWNED:
        for key, obj in stored(world, owned).items():
            owners = owners_of(obj)
            if owners and any((o.kind, o.uid) == (kind, uid) for o in owners) and _orphaned(world, obj):
                yield f"{owned}/{key}"


def _orphaned(world: World, obj: Object) -> bool:
    """Whether none of its owners is there; another object of an owner's name is not the owner.

    An owner of a kind that is not modelled is taken to be there.
    """
    namespace = getattr(obj, "namespace", "")
    return not any(_lives(world, namespace, owner) for owner in owners_of(obj))


def _lives(world: World, namespace: str, owner: OwnerReference) -> bool:
    if _kind(owner) not in OWNERS:
        return True
    there = stored(world, _kind(owner)).get(f"{namespace}/{owner.name}")
    return there is not None and there.uid == owner.uid
