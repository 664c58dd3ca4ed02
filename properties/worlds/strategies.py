"""Hypothesis strategies for clusters, groups, pods and whole worlds.

Small by default, up to the sizes that the arguments allow; what shrinks away first is what is special (taints,
selectors, priorities, gates), then what is many, then what is big. Names are short and in order: n1, g1, p1.

    from hypothesis import given
    from gangproof.properties.worlds.strategies import worlds

    @given(worlds())
    def test_my_scheduler(world): ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from gangproof.impl.gates import Object
from gangproof.impl.objects import Node, Pod, PodGroup, Taint, Toleration
from gangproof.impl.world import Settings, World
from gangproof.properties.worlds.named import basic, gang, node, pod, world

ZONE = "topology.kubernetes.io/zone"
DEDICATED = Taint("dedicated", "NoSchedule")
BETTER_NOT = Taint("slow", "PreferNoSchedule")
TOLERANT = Toleration("dedicated", "Exists")

NodeKind = Literal["plain", "zone a", "zone b", "dedicated", "slow", "cordoned"]
PodKind = Literal["plain", "zone a", "tolerant", "gated"]
NODE_KINDS: Sequence[NodeKind] = ("plain", "zone a", "zone b", "dedicated", "slow", "cordoned")
POD_KINDS: Sequence[PodKind] = ("plain", "zone a", "tolerant", "gated")


def node_of(kind: NodeKind, name: str, cpu: int) -> Node:
    """A node of a kind, with so many whole CPUs."""
    match kind:
        case "zone a" | "zone b":
            return node(name, cpu, labels={ZONE: kind[-1]})
        case "dedicated":
            return node(name, cpu, taints=[DEDICATED])
        case "slow":
            return node(name, cpu, taints=[BETTER_NOT])
        case "cordoned":
            return node(name, cpu, unschedulable=True)
        case "plain":
            return node(name, cpu)


def pod_of(kind: PodKind, name: str, group: str | None, cpu: int, priority: int = 0) -> Pod:
    """A pod of a kind that asks for whole CPUs."""
    match kind:
        case "zone a":
            return pod(name, group, cpu=cpu, priority=priority, selector={ZONE: "a"})
        case "tolerant":
            return pod(name, group, cpu=cpu, priority=priority, tolerations=[TOLERANT])
        case "gated":
            return pod(name, group, cpu=cpu, priority=priority, gates=["wait"])
        case "plain":
            return pod(name, group, cpu=cpu, priority=priority)


def group_of(name: str, minimum: int) -> PodGroup:
    """A gang with this minimum, a basic group if it is 0."""
    return gang(name, minimum) if minimum else basic(name)


@st.composite
def clusters(
    draw: DrawFn, max_nodes: int = 3, max_cpu: int = 4, kinds: Sequence[NodeKind] = NODE_KINDS
) -> tuple[Node, ...]:
    """One to `max_nodes` nodes (20 is a sensible end) of 1 to `max_cpu` CPUs, of these kinds."""
    numbers = range(1, draw(st.integers(1, max_nodes)) + 1)
    cpus, kind = st.integers(1, max_cpu), st.sampled_from(kinds)
    return tuple(node_of(draw(kind), f"n{number}", draw(cpus)) for number in numbers)


@st.composite
def groups(draw: DrawFn, max_groups: int = 2, max_minimum: int = 3) -> tuple[PodGroup, ...]:
    """No to `max_groups` groups, gangs of up to this minimum and basic ones."""
    numbers = range(1, draw(st.integers(0, max_groups)) + 1)
    return tuple(group_of(f"g{number}", draw(st.integers(0, max_minimum))) for number in numbers)


@st.composite
def pods(
    draw: DrawFn,
    among: Sequence[PodGroup] = (),
    max_pods: int = 4,
    max_cpu: int = 2,
    kinds: Sequence[PodKind] = POD_KINDS,
) -> tuple[Pod, ...]:
    """No to `max_pods` pending pods (60 is a sensible end), plain ones and members of these groups.

    Priorities are 0 or 1, requests 1 to `max_cpu` CPUs.
    """
    names = st.sampled_from([None, *(group.name for group in among)])
    cpus, priorities, kind = st.integers(1, max_cpu), st.integers(0, 1), st.sampled_from(kinds)
    return tuple(
        pod_of(draw(kind), f"p{number}", draw(names), draw(cpus), draw(priorities))
        for number in range(1, draw(st.integers(0, max_pods)) + 1)
    )


def arrival_orders(objects: Sequence[Object]) -> SearchStrategy[tuple[Object, ...]]:
    """The objects in any order; shrinks to the given one."""
    return st.permutations(objects).map(tuple)


@st.composite
def worlds(
    draw: DrawFn,
    max_nodes: int = 3,
    max_groups: int = 2,
    max_pods: int = 4,
    max_failures: int = 1,
    max_deletions: int = 1,
) -> World:
    """An empty world in which nodes, groups and pods are about to arrive, in an order drawn here.

    Some binds may fail and some objects be deleted; the scheduler's settings are the defaults, with or without
    backoff.
    """
    cluster = draw(clusters(max_nodes))
    among = draw(groups(max_groups))
    arrivals = draw(arrival_orders((*cluster, *among, *draw(pods(among, max_pods)))))
    return world(
        *arrivals,
        settings=Settings(backoff=draw(st.sampled_from([True, False]))),
        failures=draw(st.integers(0, max_failures)),
        deletions=draw(st.integers(0, max_deletions)),
    )
