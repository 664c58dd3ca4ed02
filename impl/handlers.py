"""What the scheduler does when it sees that an object came, changed or went (SEMANTICS 3.1, 4.6).

A change of the API's objects is one thing, and that the scheduler sees it another: here is only the second. The
tables of a world are what the scheduler sees, so seeing begins with the new version taking its place there.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.claims.store import claim_gone, name_users, see_claim
from gangproof.impl.commit import confirm, forget
from gangproof.impl.cycle_state import Event
from gangproof.impl.gates import Object
from gangproof.impl.limits import SAME_NAME, note
from gangproof.impl.members import tell
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import DeviceClass, Node, Pod, PodGroup, ResourceClaim, ResourceSlice
from gangproof.impl.queue import add, leave, notice
from gangproof.impl.rules import Rules
from gangproof.impl.snapshot import put_on, take_off
from gangproof.impl.store import put
from gangproof.impl.world import World


def observe(rules: Rules, world: World, kind: str, old: Object | None, new: Object | None) -> World:
    """The scheduler sees the object come (no `old`), change, or go (no `new`)."""
    match old, new:
        case (Pod(), None):
            return _pod_gone(rules, world, old)
        case (Node(), None):
            return _node_gone(rules, world, old)
        case (None, None):
            return world
        case (ResourceClaim(), None):
            return claim_gone(rules, world, old)
        case (_, None):
            return put(world, kind, old.key, None)
        case (_, ResourceClaim()):
            return see_claim(rules, world, new)
        case _:
            world = put(world, kind, new.key, new)
    if old is None and world.claims:
        world = name_users(world, new)
    match new:
        case Pod():
            return _pod_changed(rules, world, old, new)
        case Node():
            was = old if isinstance(old, Node) else None
            event = Event("NodeAdded" if was is None else "NodeUpdated", node=new, old_node=was)
            return _node_changed(rules, world, new, event)
        case PodGroup() if old is None:
            return notice(rules, world, Event("PodGroupAdded", group=new.key))
        case DeviceClass():
            return notice(rules, world, Event("DeviceClassChanged"))
        case ResourceSlice():
            return notice(rules, world, Event("SliceChanged"))
        case _:
            return world


def _pod_changed(rules: Rules, world: World, old: Object | None, pod: Pod) -> World:
    if not isinstance(old, Pod):
        return _pod_added(rules, world, pod)
    if pod.terminal and not old.terminal:
        return _pod_ended(rules, world, pod)
    if pod.terminating and not old.terminating:
        return rules.terminate(rules, world, pod)
    if _written_by_the_scheduler(old, pod):
        return world
    return _pod_updated(rules, world, old, pod)


def _written_by_the_scheduler(old: Pod, pod: Pod) -> bool:
    """Whether only the status differs that the scheduler itself writes: from that nothing follows (QUEUE-27)."""
    told = evolve(old, unscheduled_reason=pod.unscheduled_reason, nominated_node_name=pod.nominated_node_name)
    return told == pod


def _pod_added(rules: Rules, world: World, pod: Pod) -> World:
    """A new pod is seen (QUEUE-01, QUEUE-02); one of a foreign scheduler only once it is bound (QUEUE-06c)."""
    if pod.terminal:
        counts_on = pod.phase == "Succeeded" and not pod.terminating
        return tell(rules, world, pod.group, "finished", pod.key) if counts_on else world
    if pod.node_name is not None:
        return _pod_bound(rules, world, pod)
    return rules.appear(rules, world, pod) if pod.scheduler_name in world.settings.profiles else world


def appear(rules: Rules, world: World, pod: Pod) -> World:
    """A pending pod is seen for the first time; in *intended* one that is going is not taken in (QUEUE-07, DEV-20)."""
    if pod.terminating:
        return world
    if pod.key in world.assumed:
        world = note(world, SAME_NAME)
    return add(rules, tell(rules, world, pod.group, "added", pod.key), pod)


def _pod_bound(rules: Rules, world: World, pod: Pod) -> World:
    """The pod is seen on a node (QUEUE-02, QUEUE-05)."""
    world = put_on(world, pod, pod.node_name or "")
    world = leave(tell(rules, world, pod.group, "bound", pod.key), pod.key)
    if pod.terminating:
        world = tell(rules, world, pod.group, "terminating", pod.key)
    return notice(rules, world, Event("AssignedPodAdded", pod=pod, group=pod.group))


def _pod_ended(rules: Rules, world: World, pod: Pod) -> World:
    """The pod is seen to have ended; one that was told to go counts no longer, however it ends (SEMANTICS 0.5)."""
    counts_on = pod.phase == "Succeeded" and not pod.terminating
    world = tell(rules, world, pod.group, "finished" if counts_on else "failed", pod.key)
    if pod.node_name is None:
        return forget(rules, leave(world, pod.key), pod)
    world = take_off(world, pod.key, pod.node_name)
    return notice(rules, world, Event("AssignedPodDeleted", pod=pod, group=pod.group))


def _pod_updated(rules: Rules, world: World, old: Pod, pod: Pod) -> World:
    """QUEUE-03 to QUEUE-05, QUEUE-27: the queue holds keys, so only a new node or an own hint matters.

    Of an assumed pod nothing but its end is looked at before it is bound.
    """
    if pod.node_name is not None and old.node_name is None:
        if world.assumed.get(pod.key) == pod.node_name and pod.key not in world.bindings:
            return confirm(rules, world, pod)
        return _pod_bound(rules, forget(rules, world, old), pod)
    if pod.node_name is None:
        if pod.key in world.assumed:
            return world
        return notice(rules, world, Event("PodUpdated", pod=pod, group=pod.group, old_pod=old))
    if not pod.terminal:
        world = put_on(world, pod, pod.node_name)
    return notice(rules, world, Event("AssignedPodUpdated", pod=pod, group=pod.group, old_pod=old))


def terminate(rules: Rules, world: World, pod: Pod) -> World:
    """A pod is seen to be going: in *intended* it leaves queue and sets at once (BIND-10, DEV-20)."""
    world = leave(tell(rules, world, pod.group, "terminating", pod.key), pod.key)
    if pod.terminal:
        return world
    if pod.node_name is not None:
        world = put_on(world, pod, pod.node_name)
        before = evolve(pod, terminating=False)
        return notice(rules, world, Event("AssignedPodUpdated", pod=pod, group=pod.group, old_pod=before))
    return forget(rules, world, pod)


def _pod_gone(rules: Rules, world: World, pod: Pod) -> World:
    """The pod is no more (QUEUE-06, QUEUE-28)."""
    world = leave(tell(rules, put(world, "pod", pod.key, None), pod.group, "gone", pod.key), pod.key)
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
    world = put(world, "node", node.name, None)
    info = world.cache[node.name]
    if not info.pods:
        world = evolve(world, cache=world.cache.drop(node.name))
    else:
        world = evolve(world, cache=world.cache.put(node.name, evolve(info, node=None)))
    return notice(rules, world, Event("NodeDeleted", node=node))
