"""Changes of a world as people make them: more members, a lower minimum, a node changed or added.

Each gives the world after it, as the scheduler would see it; what a cycle makes of it is asked elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve

from gangproof.impl.api import create, update
from gangproof.impl.cycle_state import Event
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Node, Pod, PodGroup, Taint, Toleration, tolerates
from gangproof.impl.queue import notice
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World

HOSTNAME = "kubernetes.io/hostname"


def with_nodes(world: World, nodes: Iterable[Node]) -> World:
    """The world in which these nodes are so, the new ones among them empty."""
    stored = dict(world.nodes.items())
    cache = dict(world.cache.items())
    for node in nodes:
        stored[node.name] = node
        cache[node.name] = evolve(cache.get(node.name, NodeInfo(None)), node=node)
    return evolve(world, nodes=Table(stored), cache=Table(cache))


def with_group(rules: Rules, world: World, group: PodGroup) -> World:
    """The world with this PodGroup, made anew if its specification differs; its members are let in if it lets them."""
    after = evolve(world, groups=world.groups.put(group.key, group))
    return notice(rules, after, Event("PodGroupAdded", group=group.key))


def with_copies(rules: Rules, world: World, pod: Pod, number: int) -> World:
    """The world with so many more pending pods like this one."""
    plain = evolve(
        pod,
        uid=0,
        node_name=None,
        nominated_node_name=None,
        unscheduled_reason=None,
        phase="Pending",
        start_time=None,
        terminating=False,
        scheduling_gates=(),
    )
    made = 0
    while number:
        made += 1
        copy = evolve(plain, name=f"{pod.name}-more-{made}")
        if copy.key not in world.pods:
            world = create(rules, world, copy)
            number -= 1
    return world


def without_gates(rules: Rules, world: World, pods: Sequence[Pod]) -> World:
    """The world in which these pods have no scheduling gates."""
    for pod in pods:
        world = update(rules, world, evolve(pod, scheduling_gates=()))
    return world


def tolerant(world: World, pods: Sequence[Pod], taint: Taint) -> World:
    """The world in which these pods tolerate the taint."""
    more = Toleration(taint.key, "Equal" if taint.value else "Exists", taint.value, taint.effect)
    changed = {pod.key: evolve(pod, tolerations=(*pod.tolerations, more)) for pod in pods}
    return evolve(world, pods=Table({**world.pods, **changed}))


def repelling(pod: Pod, node: Node) -> tuple[Taint, ...]:
    """The taints of the node that keep the pod off it (FILT-06)."""
    return tuple(
        taint
        for taint in node.taints
        if taint.effect in ("NoSchedule", "NoExecute") and not tolerates(pod.tolerations, taint)
    )


def without_taint(node: Node, taint: Taint) -> Node:
    return evolve(node, taints=tuple(t for t in node.taints if t != taint))


def labels_missing(pod: Pod, node: Node) -> Table[str]:
    """The labels that the pod's selector wants and the node has not at all (FILT-07)."""
    return Table({key: value for key, value in pod.node_selector.items() if key not in node.labels})


def labelled(node: Node, labels: Mapping[str, str]) -> Node:
    return evolve(node, labels=Table({**node.labels, **labels}))


def roomier(node: Node, extra: Mapping[str, int]) -> Node:
    """The node with more room: what it is for the scheduler if so much of what is used there is freed."""
    return evolve(
        node,
        allocatable=Table(
            {**node.allocatable, **{r: node.allocatable.get(r, 0) + amount for r, amount in extra.items()}}
        ),
    )


def another(node: Node, name: str) -> Node:
    """An empty node like this one."""
    labels = {**node.labels, HOSTNAME: name} if HOSTNAME in node.labels else node.labels
    return evolve(node, name=name, labels=Table(labels))
