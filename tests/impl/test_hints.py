"""QUEUE-14: a plain pod that was rejected wakes for every kind of event that makes it schedulable.

Each case is a cluster in which the pod p fits nowhere, and something that happens and makes room for it.
After that, p must be bound without any flush; in v1.36.3 some changes wake nobody before it (QUEUE-31, DEV-57).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve, frozen
from clusters import HOST, node, pod, required, selector, term

from gangproof.impl.actions import successors
from gangproof.impl.api import create, delete, finish, update
from gangproof.impl.cycle_state import Event
from gangproof.impl.gates import Object
from gangproof.impl.hints import HINTS, worth_it
from gangproof.impl.objects import (
    HostPort,
    NodeAffinity,
    NodeSelectorTerm,
    Pod,
    Requirement,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from gangproof.impl.profiles import INTENDED, V1_36_3_PROMPT
from gangproof.impl.queue import notice
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World

Happening = Callable[[Rules, World], World]
X = {"app": "x"}


def run(world: World, rules: Rules = INTENDED) -> World:
    """The world when nothing can happen any more, by the first choice every time."""
    for _ in range(200):
        steps = successors(world, rules)
        if not steps:
            return world
        world = steps[0][1]
    raise AssertionError("the world does not come to rest")


def created(obj: Object) -> Happening:
    return lambda rules, world: create(rules, world, obj)


def deleted(kind: str, key: str) -> Happening:
    return lambda rules, world: delete(rules, world, kind, key)


def finished(name: str) -> Happening:
    return lambda rules, world: finish(rules, world, f"default/{name}", succeeded=True)


def pod_with(name: str, **changes: object) -> Happening:
    return lambda rules, world: update(rules, world, evolve(world.pods[f"default/{name}"], **changes))


def node_with(name: str, **changes: object) -> Happening:
    return lambda rules, world: update(rules, world, evolve(world.nodes[name], **changes))


def labelled(name: str, **labels: str) -> Happening:
    return node_with(name, labels=Table({HOST: name, **labels}))


@frozen
class Case:
    """What is there, what p asks for, what rejects it, and what then happens."""

    about: str
    there: tuple[Object, ...]
    asking: Pod
    plugins: tuple[str, ...]
    happens: Happening
    overlooked: bool = False

    def __str__(self) -> str:
        return f"{self.plugins[0]}: {self.about}"


def at(where: str, name: str = "q", **other: object) -> Pod:
    return pod(name, node_name=where, phase="Running", **other)


BIG = pod("p", cpu=4000)
TAKEN = (node("n1"), at("n1", cpu=1000))
PORT = pod("p", host_ports=(HostPort(80),))
PORT_TAKEN = (node("n1"), at("n1", host_ports=(HostPort(80),)))
SSD = pod("p", node_selector=Table({"disk": "ssd"}))
NAMED = pod(
    "p",
    node_affinity=NodeAffinity(
        required=(NodeSelectorTerm((), (Requirement("metadata.name", "In", ("n2",)),)),)
    ),
)
DEDICATED = Taint("k", "NoSchedule")

EVEN = TopologySpreadConstraint("zone", 1, "DoNotSchedule", selector(app="x"))


def even(**other: object) -> Pod:
    return pod("p", cpu=100, labels=X, topology_spread_constraints=(evolve(EVEN, **other),))


# n1 in zone a holds a match, zone b is empty and has no cpu left: 1 + 1 − 0 = 2 > 1 in a.
UNEVEN = (
    node("n1", zone="a"),
    node("n2", cpu=1000, zone="b"),
    at("n1", labels=X),
    at("n2", "full", cpu=1000),
)
SPREAD = ("NodeResourcesFit", "PodTopologySpread")

NEAR = pod("p", pod_affinity=required(term("zone", app="x")))
AWAY = pod("p", pod_anti_affinity=required(term("zone", app="x")))
HERMIT = at("n1", pod_anti_affinity=required(term("zone", app="x")))
A, B = node("n1", zone="a"), node("n2", zone="b")
POD_ONLY = ("InterPodAffinity",)

CASES = (
    Case("a pod is deleted", TAKEN, BIG, ("NodeResourcesFit",), deleted("pod", "default/q")),
    Case("a pod finishes", TAKEN, BIG, ("NodeResourcesFit",), finished("q")),
    Case("a node comes", TAKEN, BIG, ("NodeResourcesFit",), created(node("n2"))),
    Case(
        "the node grows",
        TAKEN,
        BIG,
        ("NodeResourcesFit",),
        node_with("n1", allocatable=Table({"cpu": 8000, "memory": 1 << 40, "pods": 110})),
    ),
    Case(
        "the node is uncordoned",
        (node("n1", unschedulable=True),),
        pod("p"),
        ("NodeUnschedulable",),
        node_with("n1", unschedulable=False),
    ),
    Case(
        "the taint goes",
        (node("n1", taints=[DEDICATED]),),
        pod("p"),
        ("TaintToleration",),
        node_with("n1", taints=()),
    ),
    Case(
        "the pod gets a toleration",
        (node("n1", taints=[DEDICATED]),),
        pod("p"),
        ("TaintToleration",),
        pod_with("p", tolerations=(Toleration("k", "Exists"),)),
    ),
    Case("a node is labelled", (node("n1"),), SSD, ("NodeAffinity",), labelled("n1", disk="ssd")),
    Case("a node comes", (node("n1"),), SSD, ("NodeAffinity",), created(node("n2", disk="ssd"))),
    Case("the named node comes", (node("n1"),), NAMED, ("NodeAffinity",), created(node("n2"))),
    Case("a pod is deleted", PORT_TAKEN, PORT, ("NodePorts",), deleted("pod", "default/q")),
    Case("a pod finishes", PORT_TAKEN, PORT, ("NodePorts",), finished("q")),
    Case("a node comes", PORT_TAKEN, PORT, ("NodePorts",), created(node("n2"))),
    Case(
        "a match is placed in the emptiest domain",
        UNEVEN,
        even(),
        SPREAD,
        created(at("n2", "r", labels=X)),
    ),
    Case("a match is deleted", UNEVEN, even(), SPREAD, deleted("pod", "default/q")),
    Case("a match finishes", UNEVEN, even(), SPREAD, finished("q")),
    Case("a match is relabelled", UNEVEN, even(), SPREAD, pod_with("q", labels=Table({"app": "y"}))),
    Case(
        "a pod becomes a match in the emptiest domain",
        UNEVEN,
        even(),
        SPREAD,
        pod_with("full", labels=Table(X)),
    ),
    Case("the pod itself is relabelled", UNEVEN, even(), SPREAD, pod_with("p", labels=Table({"app": "y"}))),
    Case(
        "a match begins to terminate",
        (*UNEVEN[:2], at("n1", labels=X, termination_grace_period_seconds=30), UNEVEN[3]),
        even(),
        SPREAD,
        deleted("pod", "default/q"),
        overlooked=True,
    ),
    Case("a node comes", UNEVEN, even(), SPREAD, created(node("n3", zone="b"))),
    Case("the emptiest domain goes", UNEVEN, even(), SPREAD, deleted("node", "n2")),
    Case("the emptiest domain is relabelled", UNEVEN, even(), SPREAD, labelled("n2", zone="a")),
    Case(
        "the emptiest domain is tainted and does not count any more",
        UNEVEN,
        even(node_taints_policy="Honor"),
        SPREAD,
        node_with("n2", taints=(DEDICATED,)),
    ),
    Case("a node gets the key", (node("n1"),), even(), ("PodTopologySpread",), labelled("n1", zone="a")),
    Case(
        "a node comes that makes the domains enough and holds a match",
        (A, at("n1", labels=X), at("n2", "r", labels=X), at("n2", "full", cpu=9000)),
        even(min_domains=2),
        ("PodTopologySpread",),
        created(node("n2", cpu=9000, zone="b")),
    ),
    Case("a match is placed", (A,), NEAR, POD_ONLY, created(at("n1", labels=X))),
    Case("a pod becomes a match", (A, at("n1")), NEAR, POD_ONLY, pod_with("q", labels=Table(X))),
    Case("a node with a match comes", (B, at("n1", labels=X)), NEAR, POD_ONLY, created(A)),
    Case(
        "the match's node joins the domain",
        (node("n1", pods=1), B, at("n1", labels=X)),
        NEAR,
        ("InterPodAffinity", "NodeResourcesFit"),
        labelled("n1", zone="b"),
    ),
    Case(
        "the last match goes, and the pod starts a series",
        (A, node("n2"), at("n2", labels=X)),
        pod("p", labels=X, pod_affinity=required(term(HOST, app="x"), term("zone", app="x"))),
        POD_ONLY,
        deleted("pod", "default/q"),
        overlooked=True,
    ),
    Case(
        "the last match's node goes, and the pod starts a series",
        (A, node("n2"), at("n2", labels=X)),
        pod("p", labels=X, pod_affinity=required(term(HOST, app="x"), term("zone", app="x"))),
        POD_ONLY,
        deleted("node", "n2"),
        overlooked=True,
    ),
    Case("a pod in the way is deleted", (A, at("n1", labels=X)), AWAY, POD_ONLY, deleted("pod", "default/q")),
    Case("a pod in the way finishes", (A, at("n1", labels=X)), AWAY, POD_ONLY, finished("q")),
    Case(
        "a pod in the way is relabelled",
        (A, at("n1", labels=X)),
        AWAY,
        POD_ONLY,
        pod_with("q", labels=Table({"app": "y"})),
    ),
    Case("a node comes", (A, at("n1", labels=X)), AWAY, POD_ONLY, created(B)),
    Case("a node changes its domain", (A, at("n1", labels=X)), AWAY, POD_ONLY, labelled("n1")),
    Case(
        "the node of one in the way goes",
        (A, node("n2", zone="a"), at("n1", labels=X)),
        AWAY,
        POD_ONLY,
        deleted("node", "n1"),
        overlooked=True,
    ),
    Case("who repels is deleted", (A, HERMIT), pod("p", labels=X), POD_ONLY, deleted("pod", "default/q")),
    Case(
        "the pod itself is relabelled",
        (A, HERMIT),
        pod("p", labels=X),
        POD_ONLY,
        pod_with("p", labels=Table()),
    ),
    Case(
        "who is in the way of one term of two goes",
        (A, at("n1", labels=X)),
        pod("p", pod_anti_affinity=required(term("zone", app="x"), term("zone", app="y"))),
        POD_ONLY,
        deleted("pod", "default/q"),
        overlooked=True,
    ),
    Case(
        "who repels changes its domain",
        (A, HERMIT),
        pod("p", labels=X),
        POD_ONLY,
        labelled("n1"),
        overlooked=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rejected_pod_wakes_when_it_can_be_placed(case: Case) -> None:
    after = run(case.happens(INTENDED, waiting(case, INTENDED)))
    assert after.pods["default/p"].node_name is not None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_in_the_release_some_changes_wake_nobody_before_the_flush(case: Case) -> None:
    rules = V1_36_3_PROMPT
    after = run(case.happens(rules, waiting(case, rules)), rules)
    assert (after.pods["default/p"].node_name is None) == case.overlooked
    flushed = run(notice(rules, after, Event("Flush")), rules)
    assert flushed.pods["default/p"].node_name is not None


def waiting(case: Case, rules: Rules) -> World:
    """The case's cluster, with p in the pool."""
    world = World()
    for obj in (*case.there, case.asking):
        world = create(rules, world, obj)
    world = run(world, rules)
    entry = world.entry("default/p")
    assert entry is not None and (entry.place, entry.plugins) == ("pool", case.plugins)
    return world


def test_an_event_during_the_attempt_is_not_missed() -> None:
    # The match arrives after the snapshot: the failed pod goes to the active part, not to the pool.
    world = create(INTENDED, create(INTENDED, World(), A), NEAR)
    for _ in range(2):
        world = successors(world, INTENDED, "fine")[0][1]
    world = create(INTENDED, world, at("n1", labels=X))
    assert run(world).pods["default/p"].node_name == "n1"


def test_a_bind_that_fails_wakes_who_was_in_its_way() -> None:
    # q is assumed while p is tried; when its bind fails, p may have the port.
    rival = evolve(PORT, name="q", priority=1)
    world = create(INTENDED, create(INTENDED, World(), node("n1")), rival)
    world = evolve(world, environment=evolve(world.environment, held=("bind/default/q",)))
    world = run(create(INTENDED, world, PORT))
    entry = world.entry("default/p")
    assert entry is not None and entry.place == "pool"
    world = run(delete(INTENDED, world, "pod", "default/q"))
    assert world.pods["default/p"].node_name == "n1"


OTHERS = (
    Event("NodeUpdated", node=A),
    Event("PodAdded", pod=pod("q", labels=X)),
    Event("PodGroupAdded", group="default/g"),
)


@pytest.mark.parametrize("event", OTHERS, ids=lambda event: event.kind)
def test_ports_sleep_through_what_cannot_help(event: Event) -> None:
    assert not worth_it(INTENDED, World(), PORT, ("NodePorts",), event)


@pytest.mark.parametrize("plugin", ["InterPodAffinity", "PodTopologySpread"])
def test_neighbours_sleep_through_pods_without_a_place(plugin: str) -> None:
    for event in OTHERS[1:]:
        assert not worth_it(INTENDED, World(), NEAR, (plugin,), event)
    elsewhere = Event("AssignedPodAdded", pod=at("n1", labels=X, namespace="other"))
    assert not worth_it(INTENDED, World(), NEAR, (plugin,), elsewhere)


def test_every_filter_has_a_hint() -> None:
    filters = {"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts"}
    filters |= {"NodeResourcesFit", "PodTopologySpread", "InterPodAffinity"}
    assert filters <= set(HINTS)
    assert {case.plugins[0] for case in CASES} | {"PodTopologySpread", "NodeName"} >= filters
