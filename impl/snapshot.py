"""Nodes with the pods on them: the live cache, the snapshot of a cycle, and putting a pod on and off.

The real scheduler undoes by hand what a simulation assumed; so do we, because faults live there. `undo` is
the exact inverse of `assume` (CYCLE-23), and INV-07 compares.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from gangproof.impl.cycle_state import NO_CLAIMS, Cycle, SeenClaims, Snapshot
from gangproof.impl.filters.devices import seen_claims
from gangproof.impl.memory import NO_MEMBERS, Members, NodeInfo, has_affinity
from gangproof.impl.objects import Pod
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table, added, removed
from gangproof.impl.world import World


def _sum(totals: Table[int], amounts: Mapping[str, int], sign: int, pods: int) -> Table[int]:
    changed = dict(totals)
    for resource, amount in amounts.items():
        changed[resource] = changed.get(resource, 0) + sign * amount
    if pods:
        changed["pods"] = changed.get("pods", 0) + pods
    return Table({resource: amount for resource, amount in changed.items() if amount})


def _again(pod: str) -> str:
    """Where a node keeps a pod that is assumed on it though it is there: no pod has this key."""
    return f"{pod}/again"


def with_pod(info: NodeInfo, pod: Pod) -> NodeInfo:
    """The node with one more pod on it, charged for every resource and for a pod slot.

    A pod that is there already is there twice then, as is a member that others bound before the snapshot (CYCLE-23).
    """
    return evolve(
        info,
        pods=info.pods.put(_again(pod.key) if pod.key in info.pods else pod.key, pod),
        used=_sum(info.used, pod.requests, 1, 1),
        nonzero=_sum(info.nonzero, pod.scoring_requests, 1, 0),
    )


def without_pod(info: NodeInfo, pod: str) -> NodeInfo:
    """The node without the pod, or once less with it; the same node if the pod is not on it."""
    key = _again(pod) if _again(pod) in info.pods else pod
    there = info.pods.get(key)
    if there is None:
        return info
    return evolve(
        info,
        pods=info.pods.drop(key),
        used=_sum(info.used, there.requests, -1, -1),
        nonzero=_sum(info.nonzero, there.scoring_requests, -1, 0),
    )


def assume(rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot:
    """The snapshot with the member assumed on the node (CYCLE-19), in the indexes too (intended: DEV-02)."""
    affine, repelling = snapshot.nodes_with_affinity, snapshot.nodes_with_required_anti_affinity
    if has_affinity(pod):
        affine = added(affine, node)
        if pod.pod_anti_affinity.required:
            repelling = added(repelling, node)
    return Snapshot(
        nodes=snapshot.nodes.put(node, with_pod(snapshot.nodes[node], pod)),
        members=rules.members(snapshot.members, "assumed", pod.key),
        nodes_with_affinity=affine,
        nodes_with_required_anti_affinity=repelling,
        claims=snapshot.claims,
    )


def undo(rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot:
    """The snapshot without the assumed member (CYCLE-23): the inverse of `assume`."""
    info = without_pod(snapshot.nodes[node], pod.key)
    affine, repelling = snapshot.nodes_with_affinity, snapshot.nodes_with_required_anti_affinity
    if has_affinity(pod):
        if not info.pods_with_affinity:
            affine = removed(affine, node)
        if not info.pods_with_required_anti_affinity:
            repelling = removed(repelling, node)
    return Snapshot(
        nodes=snapshot.nodes.put(node, info),
        members=rules.members(snapshot.members, "forgotten", pod.key),
        nodes_with_affinity=affine,
        nodes_with_required_anti_affinity=repelling,
        claims=snapshot.claims,
    )


def lift(snapshot: Snapshot, pod: str, node: str) -> Snapshot:
    """The snapshot without a pod that is on the node: a victim in a trial (PREEMPT-23, PREEMPT-46)."""
    return _with_node(snapshot, node, without_pod(snapshot.nodes[node], pod))


def put_back(snapshot: Snapshot, pod: Pod, node: str) -> Snapshot:
    """The snapshot with a lifted pod on its node again: the inverse of `lift` (PREEMPT-26)."""
    return _with_node(snapshot, node, with_pod(snapshot.nodes[node], pod))


def _with_node(snapshot: Snapshot, node: str, info: NodeInfo) -> Snapshot:
    affine, repelling = snapshot.nodes_with_affinity, snapshot.nodes_with_required_anti_affinity
    return evolve(
        snapshot,
        nodes=snapshot.nodes.put(node, info),
        nodes_with_affinity=(added if info.pods_with_affinity else removed)(affine, node),
        nodes_with_required_anti_affinity=(added if info.pods_with_required_anti_affinity else removed)(
            repelling, node
        ),
    )


def snapshot(world: World, cycle: Cycle) -> Snapshot:
    """What the cycle sees from now on (CYCLE-08): existing nodes, the member sets of its group, claims and devices."""
    members = world.members_of(cycle.group) if cycle.group else NO_MEMBERS
    asks = any(pod.resource_claims for pod in cycle.members)
    return seen(world.cache, members, seen_claims(world) if asks else NO_CLAIMS)


def seen(nodes: Table[NodeInfo], members: Members = NO_MEMBERS, claims: SeenClaims = NO_CLAIMS) -> Snapshot:
    """The snapshot of these nodes, without those that are gone, with its indexes made anew."""
    if any(info.node is None for info in nodes.values()):
        nodes = Table({name: info for name, info in nodes.items() if info.node is not None})
    affine = tuple(name for name, info in nodes.items() if info.pods_with_affinity)
    return Snapshot(
        nodes,
        members,
        nodes_with_affinity=affine,
        nodes_with_required_anti_affinity=tuple(
            name for name in affine if nodes[name].pods_with_required_anti_affinity
        ),
        claims=claims,
    )


def put_on(world: World, pod: Pod, node: str) -> World:
    """The world with the pod on the node in the live cache, replacing an older version of it."""
    info = world.cache.get(node) or NodeInfo(None)
    return evolve(world, cache=world.cache.put(node, with_pod(without_pod(info, pod.key), pod)))


def take_off(world: World, pod: str, node: str) -> World:
    """The world with the pod off the node in the live cache; a node that is gone and empty is dropped."""
    info = world.cache.get(node)
    if info is None:
        return world
    left = without_pod(info, pod)
    if left.node is None and not left.pods:
        return evolve(world, cache=world.cache.drop(node))
    return evolve(world, cache=world.cache.put(node, left))
