"""Small worlds with names: what the searches are tested and measured on, and what the documents speak of.

Each is one question about the machinery in its smallest form. Everything that happens in it comes from its
environment: the objects arrive, some binds may fail, a user may delete something. The numbers of states that
they have are in the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from gangproof.impl.gates import Object
from gangproof.impl.objects import Node, Pod, PodGroup, Taint, Toleration
from gangproof.impl.table import Table
from gangproof.impl.world import Environment, Settings, World

HOSTNAME = "kubernetes.io/hostname"
GIB = 1 << 30
UNSTATED_MEMORY = 200 << 20


def node(
    name: str,
    cpu: int,
    *,
    pods: int = 110,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[Taint] = (),
    unschedulable: bool = False,
) -> Node:
    """A node with so many whole CPUs, plenty of memory, and its hostname as a label."""
    return Node(
        name,
        Table({"cpu": cpu * 1000, "memory": 64 * GIB, "pods": pods}),
        labels=Table({HOSTNAME: name, **(labels or {})}),
        taints=tuple(taints),
        unschedulable=unschedulable,
    )


def pod(
    name: str,
    group: str | None = None,
    *,
    cpu: int = 1,
    priority: int = 0,
    selector: Mapping[str, str] | None = None,
    tolerations: Iterable[Toleration] = (),
    gates: Iterable[str] = (),
    node: str | None = None,
    preempts: bool = False,
) -> Pod:
    """A pod in namespace default that asks for whole CPUs; with `node` it runs there.

    It never preempts, unless it is said to.
    """
    return Pod(
        "default",
        name,
        scheduling_group=group,
        priority=priority,
        preemption_policy="PreemptLowerPriority" if preempts else "Never",
        requests=Table({"cpu": cpu * 1000}),
        scoring_requests=Table({"cpu": cpu * 1000, "memory": UNSTATED_MEMORY}),
        node_selector=Table(selector or {}),
        tolerations=tuple(tolerations),
        scheduling_gates=tuple(gates),
        node_name=node,
        phase="Pending" if node is None else "Running",
    )


def gang(name: str, minimum: int) -> PodGroup:
    """A PodGroup of which at least `minimum` members must be placed together."""
    return PodGroup("default", name, min_count=minimum)


def basic(name: str) -> PodGroup:
    """A PodGroup without a minimum."""
    return PodGroup("default", name)


def world(*objects: Object, settings: Settings | None = None, **environment: object) -> World:
    """An empty world in which the objects are about to arrive; the rest describes the `Environment`."""
    return World(
        settings=settings or Settings(),
        environment=evolve(Environment(arrivals=objects), **environment),
    )


@frozen
class Named:
    """A small world, a name for it, and in a sentence what it is about."""

    name: str
    title: str
    world: World


GPU = Taint("gpu", "NoSchedule")
SLOW = Taint("slow", "PreferNoSchedule")
FOR_GPU = Toleration("gpu", "Exists")

_ALL = (
    Named(
        "fits",
        "a gang of two on a node with room for two",
        world(node("n1", 2), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1")),
    ),
    Named(
        "short",
        "a gang of two on a node with room for one is tried again and again",
        world(node("n1", 1), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1")),
    ),
    Named(
        "failing-bind",
        "a gang of three on two nodes beside a plain pod, and one bind fails",
        world(
            node("n1", 2), node("n2", 2), gang("g1", 3),
            pod("p1", "g1"), pod("p2", "g1"), pod("p3", "g1"), pod("p4"),
            failures=1,
        ),
    ),
    Named(
        "two-gangs",
        "two gangs of two, room for three, and one bind fails",
        world(
            node("n1", 2), node("n2", 1), gang("g1", 2), gang("g2", 2),
            pod("p1", "g1"), pod("p2", "g2"), pod("p3", "g1"), pod("p4", "g2"),
            failures=1,
        ),
    ),
    Named(
        "any-order",
        "two nodes, a gang of two and its group arrive in any order, and one bind fails",
        world(node("n1", 1), node("n2", 1), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1"),
              any_order=True, failures=1),
    ),
    Named(
        "lost-member",
        "a gang of two with a spare member, and a user deletes any pod or the group at any time",
        world(node("n1", 2), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1"), pod("p3", "g1"), deletions=1),
    ),
    Named(
        "basic",
        "a basic group of two and a plain pod share room for two; a user deletes one pod",
        world(node("n1", 1), node("n2", 1), basic("g1"), pod("p1", "g1"), pod("p2", "g1"), pod("p3"),
              deletions=1),
    ),
    Named(
        "taints",
        "a gang that tolerates a taint, a plain pod that does not, and a node that is better avoided",
        world(
            node("n1", 1, taints=[GPU]), node("n2", 1, taints=[GPU]), node("n3", 1, taints=[SLOW]),
            gang("g1", 2), pod("p1", "g1", tolerations=[FOR_GPU]), pod("p2", "g1", tolerations=[FOR_GPU]),
            pod("p3"), pod("p4"),
        ),
    ),
    Named(
        "selector",
        "three nodes alike, but a plain pod may run on one of them only",
        world(
            node("n1", 1), node("n2", 1), node("n3", 1), gang("g1", 2),
            pod("p1", "g1"), pod("p2", "g1"), pod("p3", selector={HOSTNAME: "n2"}),
            failures=1,
        ),
    ),
    Named(
        "cordoned",
        "a running pod, a cordoned node, and two plain pods that wait until somebody is deleted",
        world(node("n1", 1), node("n2", 1, unschedulable=True), pod("p1", node="n1"), pod("p2"), pod("p3"),
              deletions=2),
    ),
    Named(
        "mixed",
        "a small member may take the only node that a big one fits on (THM-03)",
        world(node("n1", 2), node("n2", 1), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1", cpu=2)),
    ),
    Named(
        "held-back",
        "one of three members of a gang has a scheduling gate that nobody lifts",
        world(node("n1", 3), gang("g1", 2),
              pod("p1", "g1", gates=["wait"]), pod("p2", "g1"), pod("p3", "g1")),
    ),
    Named(
        "late-node",
        "two nodes, a pod, and a bigger and stronger one come in any order",
        world(node("n1", 1), node("n2", 2), pod("p1"), pod("p2", cpu=2, priority=5), any_order=True),
    ),
    Named(
        "preemption",
        "a stronger pod evicts one of two weaker ones that run on two nodes alike",
        world(
            node("n1", 1), node("n2", 1), pod("p1", node="n1"), pod("p2", node="n2"),
            pod("p3", priority=5, preempts=True), pod("p4"),
        ),
    ),
    Named(
        "four",
        "a gang of four on four nodes alike, and two binds fail",
        world(
            *(node(f"n{i}", 1) for i in range(1, 5)), gang("g1", 4),
            *(pod(f"p{i}", "g1") for i in range(1, 5)),
            failures=2,
        ),
    ),
    Named(
        "held-call",
        "the bind of one of two members alike stays open, that of a third pod fails",
        world(
            node("n1", 2), node("n2", 2), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1"), pod("p3"),
            held=("bind/default/p1",), failing=("bind/default/p3",),
        ),
    ),
    Named(
        "no-backoff",
        "without backoff a gang of two on a node with room for one is tried without a pause",
        world(node("n1", 1), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1"),
              settings=Settings(backoff=False)),
    ),
)  # fmt: skip

NAMED: Mapping[str, Named] = {named.name: named for named in _ALL}
"""The named worlds by name."""
