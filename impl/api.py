"""Changes of the API's objects, and what the scheduler does when it sees them (SEMANTICS 2, 3.1, 4.6).

Views are prompt: every change is followed by its event before anything else happens. Each function gives the
world after both. What is deleted stays, terminating, while a finalizer or a grace period holds it.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.commit import forget
from gangproof.impl.gates import Object
from gangproof.impl.ghost import remember
from gangproof.impl.members import tell
from gangproof.impl.objects import Node, Pod, PodDisruptionBudget, PodGroup, PriorityClass
from gangproof.impl.objects.changes import refused_changes
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.preemption.rounds import end_rounds
from gangproof.impl.queue import add, freed, leave, notice
from gangproof.impl.rules import Rules
from gangproof.impl.snapshot import put_on, take_off
from gangproof.impl.table import Table
from gangproof.impl.world import Event, NodeInfo, World

KINDS: dict[str, str] = {
    "node": "nodes",
    "pod": "pods",
    "podGroup": "groups",
    "workload": "workloads",
    "priorityClass": "priority_classes",
    "pdb": "budgets",
}


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
    table: Table[Object] = getattr(world, KINDS[kind])
    return table.get(key)


def _store(world: World, obj: Object) -> World:
    field = KINDS[kind_of(obj)]
    return evolve(world, **{field: getattr(world, field).put(obj.key, obj)})


def _drop(world: World, kind: str, key: str) -> World:
    field = KINDS[kind]
    return evolve(world, **{field: getattr(world, field).drop(key)})


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
    world = _store(world, obj)
    match obj:
        case Pod():
            world = _pod_added(rules, world, obj)
        case Node():
            world = _node_changed(rules, world, obj, Event("NodeAdded", node=obj))
        case PodGroup():
            world = notice(rules, world, Event("PodGroupAdded", group=obj.key))
        case _:
            pass
    return afterwards(rules, before, world)


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
    before, world = world, _store(world, obj)
    match obj:
        case Pod() if obj.terminating and not _held(obj):
            world = _pod_gone(rules, world, obj)
        case Pod() if isinstance(old, Pod):
            world = _pod_updated(rules, world, old, obj)
        case Node():
            world = _node_changed(rules, world, obj, Event("NodeUpdated", node=obj))
        case PodGroup() if obj.terminating and not obj.finalizers:
            world = _drop(world, kind, obj.key)
        case _:
            pass
    return afterwards(rules, before, world)


def delete(rules: Rules, world: World, kind: str, key: str) -> World:
    """The object is deleted (ACT-02, ACT-03, ACT-05), at once or as soon as nothing holds it.

    Deleting a terminating pod again ends its grace period. None stored is an ApiError.
    """
    obj = lookup(world, kind, key)
    if obj is None:
        raise ApiError(f"{kind}/{key} not found")
    before = world
    match obj:
        case Pod() if obj.terminating and not obj.finalizers:
            world = _pod_gone(rules, world, obj)
        case Pod() if obj.terminating:
            pass
        case Pod():
            obj = evolve(obj, terminating=True)
            world = _store(world, obj)
            world = rules.terminate(rules, world, obj) if _held(obj) else _pod_gone(rules, world, obj)
        case PodGroup() if obj.finalizers:
            world = _store(world, evolve(obj, terminating=True))
        case Node():
            world = _node_gone(rules, world, obj)
        case _:
            world = _drop(world, kind, key)
    return afterwards(rules, before, world)


def finish(rules: Rules, world: World, key: str, succeeded: bool) -> World:
    """A bound pod ends as Succeeded or Failed (ACT-06); a pod that is not running is an ApiError.

    One that was told to go counts no longer, however it ends (SEMANTICS 0.5, Done).
    """
    pod = world.pods.get(key)
    if pod is None or pod.node_name is None or pod.terminal:
        raise ApiError(f"pod/{key} does not run, so it cannot end")
    ended = evolve(pod, phase="Succeeded" if succeeded else "Failed")
    counts_on = succeeded and not pod.terminating
    done = tell(rules, world.with_pod(ended), pod.group, "finished" if counts_on else "failed", key)
    done = take_off(done, key, pod.node_name)
    done = notice(rules, done, Event("AssignedPodDeleted", pod=ended, group=pod.group))
    return afterwards(rules, world, done)


def afterwards(rules: Rules, before: World, after: World) -> World:
    """What follows a change at once: controllers, rounds that are over, nominations that have no ground any more."""
    after = rules.stale(rules, end_rounds(rules, rules.controllers(rules, freed(rules, before, after))))
    return remember(before, after)


def controllers(rules: Rules, world: World) -> World:
    """A terminating PodGroup loses its protection when no unfinished pod refers to it (GC-02, GC-05, ACT-27).

    Until then it is terminating with living members (OBS-10).
    """
    for group in world.groups.values():
        if group.terminating and PROTECTION_FINALIZER in group.finalizers:
            if any(pod.group == group.key and not pod.terminal for pod in world.pods.values()):
                continue
            left = tuple(f for f in group.finalizers if f != PROTECTION_FINALIZER)
            world = (
                _store(world, evolve(group, finalizers=left)) if left else _drop(world, "podGroup", group.key)
            )
    return world


def _held(pod: Pod) -> bool:
    return bool(pod.finalizers) or (pod.node_name is not None and pod.termination_grace_period_seconds > 0)


def _pod_added(rules: Rules, world: World, pod: Pod) -> World:
    """A new pod is seen (QUEUE-01, QUEUE-02); one of a foreign scheduler only once it is bound (QUEUE-06c)."""
    if pod.terminal:
        counts_on = pod.phase == "Succeeded" and not pod.terminating
        return tell(rules, world, pod.group, "finished", pod.key) if counts_on else world
    if pod.node_name is not None:
        return _pod_bound(rules, world, pod)
    if pod.terminating or pod.scheduler_name not in world.settings.profiles:
        return world
    return add(rules, tell(rules, world, pod.group, "added", pod.key), pod)


def _pod_bound(rules: Rules, world: World, pod: Pod) -> World:
    """The pod is seen on a node (QUEUE-02, QUEUE-05)."""
    world = put_on(world, pod, pod.node_name or "")
    world = leave(tell(rules, world, pod.group, "bound", pod.key), pod.key)
    if pod.terminating:
        world = tell(rules, world, pod.group, "terminating", pod.key)
    return notice(rules, world, Event("AssignedPodAdded", pod=pod, group=pod.group))


def _pod_updated(rules: Rules, world: World, old: Pod, pod: Pod) -> World:
    """QUEUE-03, QUEUE-05, QUEUE-27: the queue holds keys, so only a new node or an own hint matters."""
    if pod.node_name is not None and old.node_name is None:
        return _pod_bound(rules, forget(rules, world, old), pod)
    node = pod.node_name or world.assumed.get(pod.key)
    if node is not None and not pod.terminal:
        world = put_on(world, pod, node)
    return notice(rules, world, Event("PodUpdated", pod=pod, group=pod.group))


def terminate(rules: Rules, world: World, pod: Pod) -> World:
    """A pod is seen to be going: in *intended* it leaves queue and sets at once (BIND-10, DEV-20)."""
    world = leave(tell(rules, world, pod.group, "terminating", pod.key), pod.key)
    if pod.terminal:
        return world
    if pod.node_name is not None:
        world = put_on(world, pod, pod.node_name)
        return notice(rules, world, Event("PodUpdated", pod=pod, group=pod.group))
    return forget(rules, world, pod)


def _pod_gone(rules: Rules, world: World, pod: Pod) -> World:
    """The pod is no more (QUEUE-06, QUEUE-28)."""
    world = leave(tell(rules, _drop(world, "pod", pod.key), pod.group, "gone", pod.key), pod.key)
    if pod.node_name is not None and not pod.terminal:
        world = take_off(world, pod.key, pod.node_name)
        return notice(rules, world, Event("AssignedPodDeleted", pod=pod, group=pod.group))
    return forget(rules, world, pod)


def _node_changed(rules: Rules, world: World, node: Node, event: Event) -> World:
    info = world.cache.get(node.name) or NodeInfo(None)
    world = evolve(world, cache=world.cache.put(node.name, evolve(info, node=node)))
    return notice(rules, world, event)


def _node_gone(rules: Rules, world: World, node: Node) -> World:
    """The node is no more; the pods on it stay until somebody deletes them (ACT-07)."""
    world = _drop(world, "node", node.name)
    info = world.cache[node.name]
    if not info.pods:
        world = evolve(world, cache=world.cache.drop(node.name))
    else:
        world = evolve(world, cache=world.cache.put(node.name, evolve(info, node=None)))
    return notice(rules, world, Event("NodeDeleted", node=node))
