"""Changes of the API's objects (SEMANTICS 2, ACT-01 to ACT-09).

Views are prompt: every change is followed by its event before anything else happens. Each function gives the
world after both. What is deleted stays, terminating, while a finalizer or a grace period holds it.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.gates import Object
from gangproof.impl.ghost import remember
from gangproof.impl.handlers import observe, table
from gangproof.impl.objects import Node, Pod, PodDisruptionBudget, PodGroup, PriorityClass
from gangproof.impl.objects.changes import refused_changes
from gangproof.impl.preemption.rounds import end_rounds, forsake
from gangproof.impl.queue import freed
from gangproof.impl.rules import Rules
from gangproof.impl.world import World


class ApiError(Exception):
    """A request that the API server refuses; its text is the reason."""


def kind_of(obj: Object) -> str:
    """The object's kind as scenarios write it, such as `podGroup`."""
    if isinstance(obj, PodDisruptionBudget):
        return "pdb"
    name = type(obj).__name__
    return name[0].lower() + name[1:]


def lookup(world: World, kind: str, key: str) -> Object | None:
    """The stored object of that kind and key, None if there is none."""
    return table(world, kind).get(key)


def create(rules: Rules, world: World, obj: Object) -> World:
    """The object is created (ACT-01) and seen; a second one of the same key is an ApiError."""
    kind = kind_of(obj)
    if lookup(world, kind, obj.key) is not None:
        raise ApiError(f"{kind}/{obj.key} already exists")
    refused = rules.admission(world, obj)
    if refused is not None:
        raise ApiError(refused)
    before, world = world, evolve(world, births=world.births + 1)
    if not isinstance(obj, Node | PriorityClass):
        obj = evolve(obj, uid=world.births)
    return afterwards(rules, before, observe(rules, world, kind, None, obj))


def update(rules: Rules, world: World, obj: Object) -> World:
    """The stored object of that key becomes `obj` (ACT-04, ACT-07 to ACT-09); none stored is an ApiError."""
    kind = kind_of(obj)
    old = lookup(world, kind, obj.key)
    if old is None:
        raise ApiError(f"{kind}/{obj.key} not found")
    if old == obj:
        return world
    if not isinstance(old, Node | PriorityClass) and not isinstance(obj, Node | PriorityClass):
        refused = refused_changes(old, obj)
        if refused:
            raise ApiError("; ".join(refused))
    if isinstance(old, PodGroup) and isinstance(obj, PodGroup):
        obj = rules.registry(old, obj)
    return afterwards(rules, world, observe(rules, world, kind, old, None if _let_go(obj) else obj))


def delete(rules: Rules, world: World, kind: str, key: str) -> World:
    """The object is deleted (ACT-02, ACT-03, ACT-05), at once or as soon as nothing holds it.

    Deleting a terminating pod again ends its grace period. None stored is an ApiError.
    """
    obj = lookup(world, kind, key)
    if obj is None:
        raise ApiError(f"{kind}/{key} not found")
    match obj:
        case Pod() if obj.terminating:
            after = obj if obj.finalizers else None
        case Pod() | PodGroup():
            going = evolve(obj, terminating=True)
            after = None if _let_go(going) else going
        case _:
            after = None
    return afterwards(rules, world, world if after == obj else observe(rules, world, kind, obj, after))


def finish(rules: Rules, world: World, key: str, succeeded: bool) -> World:
    """A pod ends as Succeeded or Failed (ACT-06); one that is not there, or has ended, is an ApiError."""
    pod = world.pods.get(key)
    if pod is None or pod.terminal:
        raise ApiError(f"pod/{key} is not there or has ended, so it cannot end")
    ended = evolve(pod, phase="Succeeded" if succeeded else "Failed")
    return afterwards(rules, world, observe(rules, world, "pod", pod, ended))


def afterwards(rules: Rules, before: World, after: World) -> World:
    """What follows a change at once: controllers, rounds that are over, nominations that have no ground any more."""
    after = forsake(rules, before, rules.controllers(rules, freed(rules, before, after)))
    return remember(before, rules.stale(rules, end_rounds(rules, after)))


def _let_go(obj: Object) -> bool:
    """Whether the object was told to go and nothing holds it."""
    match obj:
        case Pod():
            waits = obj.node_name is not None and obj.termination_grace_period_seconds > 0
            return obj.terminating and not obj.finalizers and not waits
        case PodGroup():
            return obj.terminating and not obj.finalizers
        case _:
            return False
