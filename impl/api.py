"""The API server: what is asked of it, what it refuses, and what it stores (SEMANTICS 2, ACT-01 to ACT-09).

Each function gives the world after the change and everything that follows at once: whoever has a prompt view
has seen it, and whatever is automatic has happened. What is deleted stays, terminating, while a finalizer or a
grace period holds it.

A request may rest on a version that was read before (`read`): the version is the object itself, since an object has
a new resourceVersion exactly when it changes, and another uid when it is another of the same name.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.admission import prepared
from gangproof.impl.claims.store import known_users
from gangproof.impl.control import Revision
from gangproof.impl.controllers.protection import prompt
from gangproof.impl.gates import CLUSTER_WIDE, Object
from gangproof.impl.ghost import remember
from gangproof.impl.objects import Job, Pod, PodGroup, ResourceClaim, Workload
from gangproof.impl.objects.changes import refused_changes
from gangproof.impl.owners import resolved
from gangproof.impl.preemption.rounds import end_rounds, forsake
from gangproof.impl.queue import freed
from gangproof.impl.rules import Rules
from gangproof.impl.sent import without_moot
from gangproof.impl.store import kind_of, stored
from gangproof.impl.views import write
from gangproof.impl.world import World

CONFLICT = "the object has been modified; please apply your changes to the latest version and try again"


class ApiError(Exception):
    """A request that the API server refuses; its text is the reason."""


def lookup(world: World, kind: str, key: str) -> Object | None:
    """The stored object of that kind and key, None if there is none."""
    return stored(world, kind).get(key)


def create(rules: Rules, world: World, obj: Object, by: str = "") -> World:
    """The object is created (ACT-01) by a user or a component; a second one of the same key is an ApiError.

    One that a dump has brings the status along with which it was found; whoever makes a new one gives it none (ADM-01).
    """
    kind = kind_of(obj)
    if lookup(world, kind, obj.key) is not None:
        raise ApiError(f"{kind}/{obj.key} already exists")
    obj = prepared(world, obj)
    refused = rules.admission(world, obj, None)
    if refused is not None:
        raise ApiError(refused)
    before, world = world, evolve(world, births=world.births + 1)
    if not isinstance(obj, CLUSTER_WIDE):
        obj = resolved(world, evolve(obj, uid=world.births))
    if isinstance(obj, ResourceClaim):
        obj = known_users(world, obj)
    return afterwards(rules, before, write(rules, world, Revision(kind, obj.key, None, obj, by)))


def update(rules: Rules, world: World, obj: Object, read: Object | None = None, by: str = "") -> World:
    """The stored object of that key becomes `obj`, but for its status (ACT-04, ACT-07 to ACT-09, ADM-01).

    Without `read` it is unconditional (ADM-04). An ApiError if none is stored: an update creates nothing.
    """
    old = _stored(world, kind_of(obj), obj.key, read)
    if refused := refused_changes(old, obj):
        raise ApiError("; ".join(refused))
    forbidden = rules.admission(world, obj, old)
    if forbidden is not None:
        raise ApiError(forbidden)
    return _replace(rules, world, old, rules.registry(old, obj), by)


def write_status(rules: Rules, world: World, obj: Object, read: Object | None = None, by: str = "") -> World:
    """The stored object takes over the status of `obj` and nothing else (ADM-01, ADM-05).

    What it says is up to the writer: nobody checks that True stays True. An ApiError if none is stored.
    """
    old = _stored(world, kind_of(obj), obj.key, read)
    return _replace(rules, world, old, rules.registry(obj, old), by)


def delete(rules: Rules, world: World, kind: str, key: str, uid: int | None = None, by: str = "") -> World:
    """The object is deleted (ACT-02, ACT-03, ACT-05), at once or as soon as nothing holds it.

    Deleting a terminating pod again ends its grace period, and one that has ended has none. An ApiError if none is
    stored, or none of that uid.
    """
    obj = _stored(world, kind, key, None)
    if uid is not None and getattr(obj, "uid", None) != uid:
        raise ApiError(f"{kind}/{key}: the uid in the precondition is not that of the stored object")
    match obj:
        case Pod() if obj.terminating:
            after = obj if obj.finalizers else None
        case Pod() if obj.terminal:
            after = evolve(obj, terminating=True) if obj.finalizers else None
        case Pod() | PodGroup() | ResourceClaim() | Workload() | Job():
            going = evolve(obj, terminating=True)
            after = None if _let_go(going) else going
        case _:
            after = None
    return _replace(rules, world, obj, after, by)


def evict(rules: Rules, world: World, key: str) -> World:
    """The pod is deleted on behalf of a preemption, and its condition says so (PREEMPT-30); ApiError if it is gone."""
    pod = _stored(world, "pod", key, None)
    return _replace(rules, world, pod, evolve(pod, terminating=True, disruption_target=True), "")


def bind(rules: Rules, world: World, key: str, node: str) -> World:
    """The pod is bound through its subresource `binding`, and starts (ACT-09); ApiError if it is bound or not there."""
    pod = _stored(world, "pod", key, None)
    if not isinstance(pod, Pod) or pod.node_name is not None:
        raise ApiError(f"pod/{key} is already assigned to a node")
    started = evolve(pod, node_name=node, phase="Running", unscheduled_reason=None, nominated_node_name=None)
    return _replace(rules, world, pod, started, "")


def finish(rules: Rules, world: World, key: str, succeeded: bool) -> World:
    """A pod ends as Succeeded or Failed (ACT-06); one that is not there, or has ended, is an ApiError."""
    pod = stored(world, "pod").get(key)
    if pod is None or pod.terminal:
        raise ApiError(f"pod/{key} is not there or has ended, so it cannot end")
    return _replace(rules, world, pod, evolve(pod, phase="Succeeded" if succeeded else "Failed"), "")


def _stored(world: World, kind: str, key: str, read: Object | None) -> Object:
    old = lookup(world, kind, key)
    if old is None:
        raise ApiError(f"{kind}/{key} not found")
    if read is not None and read != old:
        raise ApiError(f"{kind}/{key}: {CONFLICT}")
    return old


def _replace(rules: Rules, world: World, old: Object, new: Object | None, by: str) -> World:
    if new == old:
        return world
    if new is not None and _let_go(new):
        new = None
    return afterwards(rules, world, write(rules, world, Revision(kind_of(old), old.key, old, new, by)))


def afterwards(rules: Rules, before: World, after: World) -> World:
    """What follows a change at once: controllers, rounds that are over, nominations that have no ground any more."""
    after = freed(rules, before, after)
    if prompt(after):
        after = rules.controllers(rules, after)
    after = forsake(rules, before, after)
    if after.control.due:
        after = rules.idle(rules, after)
    after = without_moot(rules, after)
    return remember(before, rules.stale(rules, end_rounds(rules, after)))


def _let_go(obj: Object) -> bool:
    """Whether the object was told to go and nothing holds it."""
    match obj:
        case Pod():
            waits = obj.node_name is not None and obj.termination_grace_period_seconds > 0
            return obj.terminating and not obj.finalizers and not waits
        case PodGroup() | ResourceClaim() | Workload() | Job():
            return obj.terminating and not obj.finalizers
        case _:
            return False
