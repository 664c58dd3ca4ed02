"""FILT-01 to FILT-10: what one node and the pods on it decide, case by case from the rules."""

from __future__ import annotations

import pytest
from attrs import evolve
from clusters import answer_of, cluster, node, open_to, pod, reason_of

from gangproof.impl.cycle import place
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.filters import candidates, prepare
from gangproof.impl.objects import (
    HostPort,
    Node,
    NodeAffinity,
    NodeSelectorTerm,
    Pod,
    Requirement,
    Taint,
    Toleration,
)
from gangproof.impl.objects.requests import Container, pod_requests
from gangproof.impl.profiles import INTENDED
from gangproof.impl.table import Table
from gangproof.impl.world import World

CORDON = "node.kubernetes.io/unschedulable"


@pytest.mark.parametrize(
    ("toleration", "ok"),
    [
        (None, False),
        (Toleration(CORDON, "Exists", effect="NoSchedule"), True),
        (Toleration(CORDON, "Exists"), True),
        (Toleration("", "Exists"), True),
        (Toleration(CORDON, "Equal", ""), True),
        (Toleration(CORDON, "Equal", "true"), False),  # the taint's value is empty
        (Toleration(CORDON, "Exists", effect="NoExecute"), False),
        (Toleration("other", "Exists"), False),
    ],
)
def test_filt_04_cordoned(toleration: Toleration | None, ok: bool) -> None:
    seen = cluster(node("n1", unschedulable=True))
    answer = answer_of(pod("p", tolerations=(toleration,) if toleration else ()), seen, "n1")
    assert answer == (None if ok else ("NodeUnschedulable", False))


def test_filt_05_another_node_is_named() -> None:
    seen = cluster(node("n1"), node("n2"))
    assert open_to(pod("p"), seen) == "n1 n2"
    assert open_to(pod("p", node_name="n2"), seen) == "n2"
    assert answer_of(pod("p", node_name="n2"), seen, "n1") == ("NodeName", False)


@pytest.mark.parametrize(
    ("taint", "toleration", "ok"),
    [
        (Taint("k", "NoSchedule", "v"), None, False),
        (Taint("k", "NoExecute", "v"), None, False),
        (Taint("k", "PreferNoSchedule", "v"), None, True),
        (Taint("k", "NoSchedule", "v"), Toleration("k", "Equal", "v", "NoSchedule"), True),
        (Taint("k", "NoSchedule", "v"), Toleration("k", "", "v", "NoSchedule"), True),
        (Taint("k", "NoSchedule", "v"), Toleration("k", "Equal", "w", "NoSchedule"), False),
        (Taint("k", "NoSchedule", "v"), Toleration("k", "Exists", "", "NoSchedule"), True),
        (Taint("k", "NoSchedule", "v"), Toleration("k", "Exists", "", ""), True),
        (Taint("k", "NoSchedule", "v"), Toleration("k", "Exists", "", "NoExecute"), False),
        (Taint("k", "NoSchedule", "v"), Toleration("", "Exists"), True),
        (Taint("k", "NoSchedule", "v"), Toleration("other", "Exists"), False),
        (Taint("k", "NoSchedule", "5"), Toleration("k", "Gt", "3", "NoSchedule"), False),
        (Taint("k", "NoSchedule", "5"), Toleration("k", "Lt", "9", "NoSchedule"), False),
    ],
)
def test_filt_06_taints(taint: Taint, toleration: Toleration | None, ok: bool) -> None:
    seen = cluster(node("n1", taints=[taint]))
    answer = answer_of(pod("p", tolerations=(toleration,) if toleration else ()), seen, "n1")
    assert answer == (None if ok else ("TaintToleration", False))


def test_filt_06_every_taint_must_be_tolerated() -> None:
    seen = cluster(node("n1", taints=[Taint("a", "NoSchedule"), Taint("b", "NoExecute")]))
    for_a, for_b = Toleration("a", "Exists"), Toleration("b", "Exists")
    assert open_to(pod("p", tolerations=(for_a,)), seen) == ""
    assert open_to(pod("p", tolerations=(for_a, for_b)), seen) == "n1"


def term(*expressions: Requirement, fields: tuple[Requirement, ...] = ()) -> NodeSelectorTerm:
    return NodeSelectorTerm(expressions, fields)


def named(*names: str, operator: str = "In") -> Requirement:
    return Requirement("metadata.name", operator, names)  # pyright: ignore[reportArgumentType]


IN_A = Requirement("zone", "In", ("a",))
THREE = (node("n1", zone="a", cores="8"), node("n2", zone="b", cores="16"), node("n3", cores="many"))


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([term(IN_A)], "n1"),
        ([term(Requirement("zone", "In", ("a", "b")))], "n1 n2"),
        ([term(Requirement("zone", "NotIn", ("a",)))], "n2 n3"),  # n3 has no zone
        ([term(Requirement("zone", "Exists"))], "n1 n2"),
        ([term(Requirement("zone", "DoesNotExist"))], "n3"),
        ([term(Requirement("cores", "Gt", ("8",)))], "n2"),  # "many" is no integer
        ([term(Requirement("cores", "Lt", ("16",)))], "n1"),
        ([term(IN_A, Requirement("cores", "Gt", ("8",)))], ""),  # a conjunction
        ([term(IN_A), term(Requirement("cores", "Gt", ("8",)))], "n1 n2"),  # one term is enough
        ([term()], ""),  # an empty term matches nothing
        ([term(), term(IN_A)], "n1"),
        ([], ""),  # and so does an empty list
        ([term(fields=(named("n2"),))], "n2"),
        ([term(fields=(named("n2", operator="NotIn"),))], "n1 n3"),
        ([term(IN_A, fields=(named("n2"),))], ""),
        ([term(fields=(named("n1"),)), term(fields=(named("n3"),))], "n1 n3"),
        ([term(fields=(named("n1"), named("n2")))], ""),
    ],
)
def test_filt_07_required_terms(terms: list[NodeSelectorTerm], expected: str) -> None:
    wanting = pod("p", node_affinity=NodeAffinity(required=tuple(terms)))
    seen = cluster(*THREE)
    assert open_to(wanting, seen) == expected
    for name in set(seen.nodes) - set(expected.split()):
        assert answer_of(wanting, seen, name) == ("NodeAffinity", False)


def test_filt_07_the_selector_and_the_terms_must_both_match() -> None:
    seen = cluster(*THREE)
    assert open_to(pod("p", node_selector=Table({"zone": "a"})), seen) == "n1"
    assert open_to(pod("p", node_selector=Table({"zone": "a", "cores": "16"})), seen) == ""
    both = pod(
        "p",
        node_selector=Table({"zone": "b"}),
        node_affinity=NodeAffinity(required=(term(Requirement("cores", "Exists")),)),
    )
    assert open_to(both, seen) == "n2"


@pytest.mark.parametrize(
    ("terms", "left"),
    [
        ([term(fields=(named("n2"),))], "n2"),
        ([term(fields=(named("n1"),)), term(IN_A, fields=(named("n2"),))], "n1 n2"),
        ([term(fields=(named("n9"),))], ""),
        ([term(fields=(named("n1"),)), term(IN_A)], "n1 n2 n3"),  # one term names no node
        ([term(fields=(named("n1", operator="NotIn"),))], "n1 n2 n3"),  # NotIn does not restrict
        ([term(fields=(named("n1"), named("n2")))], ""),  # they contradict each other
        ([term(fields=(named("n1"), named("n2"))), term(fields=(named("n3"),))], "n3"),
        ([], "n1 n2 n3"),
    ],
)
def test_filt_07_prefilter_restricts_to_the_named_nodes(terms: list[NodeSelectorTerm], left: str) -> None:
    seen = cluster(*THREE)
    prepared = prepare(pod("p", node_affinity=NodeAffinity(required=tuple(terms))), seen)
    assert " ".join(candidates(prepared, seen.nodes)) == left


@pytest.mark.parametrize(
    ("mine", "used", "ok"),
    [
        (HostPort(80), HostPort(80), False),
        (HostPort(80), HostPort(81), True),
        (HostPort(80, "TCP"), HostPort(80, "UDP"), True),
        (HostPort(80, ip="10.0.0.1"), HostPort(80, ip="10.0.0.2"), True),
        (HostPort(80, ip="10.0.0.1"), HostPort(80, ip="10.0.0.1"), False),
        (HostPort(80, ip="10.0.0.1"), HostPort(80), False),
        (HostPort(80), HostPort(80, ip="10.0.0.1"), False),
    ],
)
def test_filt_08_ports(mine: HostPort, used: HostPort, ok: bool) -> None:
    seen = cluster(node("n1"), n1=[pod("q", host_ports=(HostPort(7), used))])
    answer = answer_of(pod("p", host_ports=(mine,)), seen, "n1")
    assert answer == (None if ok else ("NodePorts", True))


def test_filt_08_ports_of_terminating_pods_are_taken() -> None:
    seen = cluster(node("n1"), n1=[pod("q", host_ports=(HostPort(80),), terminating=True)])
    assert open_to(pod("p", host_ports=(HostPort(80),)), seen) == ""
    assert open_to(pod("p"), seen) == "n1"


@pytest.mark.parametrize(
    ("containers", "initial", "overhead", "cpu"),
    [
        ([100, 200], [], 0, 300),
        ([100, 200], [(500, False)], 0, 500),  # the largest use while initialising
        ([100, 200], [(250, False)], 10, 310),
        ([100], [(50, True)], 0, 150),  # a restartable one keeps running
        ([100], [(50, True), (200, False)], 0, 250),  # and runs beside those after it
        ([100], [(200, False), (50, True)], 0, 200),  # not beside those before it
        ([100], [(300, False), (50, True)], 7, 307),
    ],
)
def test_filt_09_requests(
    containers: list[int], initial: list[tuple[int, bool]], overhead: int, cpu: int
) -> None:
    total = pod_requests(
        [Container({"cpu": amount}) for amount in containers],
        [Container({"cpu": amount}, restartable) for amount, restartable in initial],
        {"cpu": overhead} if overhead else {},
    )
    assert total.get("cpu") == cpu


@pytest.mark.parametrize(
    ("asked", "used", "why", "resolvable"),
    [
        ({"cpu": 1000}, {"cpu": 3000}, None, None),  # filled to the last unit
        ({"cpu": 1001}, {"cpu": 3000}, "Insufficient cpu", True),
        ({"cpu": 4001}, {}, "Insufficient cpu", False),  # more than the whole node
        ({"cpu": 4000}, {"cpu": 1}, "Insufficient cpu", True),
        ({"memory": 1}, {"memory": 8192 << 20}, "Insufficient memory", True),
        ({"memory": 1}, {"cpu": 9000}, None, None),  # what is not requested is not checked
        ({}, {"cpu": 9000}, None, None),
    ],
)
def test_filt_10_resources(
    asked: dict[str, int], used: dict[str, int], why: str | None, resolvable: bool | None
) -> None:
    seen = cluster(node("n1"), n1=[pod("q", **used)])
    assert reason_of(pod("p", **asked), seen, "n1") == why
    assert answer_of(pod("p", **asked), seen, "n1") == (why and ("NodeResourcesFit", resolvable))


def test_filt_10_pods_and_extended_resources() -> None:
    full = cluster(node("n1", pods=1), n1=[pod("q")])
    assert reason_of(pod("p"), full, "n1") == "Too many pods"
    assert answer_of(pod("p"), full, "n1") == ("NodeResourcesFit", True)
    gpu = pod("p", requests=Table({"gpu": 2}))
    seen = cluster(node("n1", extended={"gpu": 2}), node("n2", extended={"gpu": 1}), node("n3"))
    assert open_to(gpu, seen) == "n1"
    assert reason_of(gpu, seen, "n3") == "Insufficient gpu"
    assert answer_of(gpu, seen, "n3") == ("NodeResourcesFit", False)
    assert open_to(pod("p", requests=Table({"gpu": 0})), seen) == "n1 n2 n3"


def test_filt_01_the_first_filter_in_order_answers() -> None:
    # The node refuses for six reasons; each remedy takes away the one that answers.
    at = node("n1", cpu=1000, taints=[Taint("k", "NoSchedule")], unschedulable=True, zone="a")
    seen = cluster(at, n1=[pod("q", cpu=1000, host_ports=(HostPort(80),))])
    asking = pod("p", cpu=500, node_name="n2", node_selector=Table({"zone": "b"}), host_ports=(HostPort(80),))
    remedies: list[dict[str, object]] = [
        {"tolerations": (Toleration(CORDON, "Exists"),)},
        {"node_name": None},
        {"tolerations": (Toleration("", "Exists"),)},
        {"node_selector": Table[str]()},
        {"host_ports": ()},
        {"requests": Table[int]()},
    ]
    plugins: list[str | None] = []
    for remedy in remedies:
        answer = answer_of(asking, seen, "n1")
        plugins.append(answer and answer[0])
        asking = evolve(asking, **remedy)
    assert plugins == [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
    ]
    assert answer_of(asking, seen, "n1") is None


def placement(asking: Pod, *nodes: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    seen = cluster(*nodes)
    found = place(INTENDED, World(), Cycle(None, (asking,), snapshot=seen, taken=seen), asking)
    return found.nodes, found.plugins


def test_filt_02_a_restriction_counts_as_a_rejection_of_the_others() -> None:
    wanting = pod("p", cpu=5000, node_affinity=NodeAffinity(required=(term(fields=(named("n1"),)),)))
    assert placement(wanting, node("n1"), node("n2", cpu=9000)) == ((), ("NodeAffinity", "NodeResourcesFit"))
    assert placement(wanting, node("n1", cpu=9000), node("n2", cpu=9000)) == (("n1",), ())
    assert placement(wanting, node("n2", cpu=9000)) == ((), ("NodeAffinity",))


def test_filt_02_contradicting_terms_reject_everywhere() -> None:
    wanting = pod("p", node_affinity=NodeAffinity(required=(term(fields=(named("n1"), named("n2"))),)))
    assert placement(wanting, node("n1"), node("n2")) == ((), ("NodeAffinity",))
    assert reason_of(wanting, cluster(node("n1")), "n1") == "pod affinity terms conflict"
    assert answer_of(wanting, cluster(node("n1")), "n1") == ("NodeAffinity", False)


def test_cycle_11_without_nodes_no_plugin_is_asked() -> None:
    assert placement(pod("p", node_affinity=NodeAffinity(required=()))) == ((), ())
