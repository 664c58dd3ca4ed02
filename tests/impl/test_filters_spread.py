"""FILT-11 to FILT-13: the spread of matching pods, worked cases, and a second statement."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from clusters import HOST, answer_of, cluster, node, open_to, pod, selector
from hypothesis import given
from hypothesis import strategies as st

from gangproof.impl.cycle import refusal
from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters import prepare, recount, rejection
from gangproof.impl.filters.spread import Spread
from gangproof.impl.memory import Entry
from gangproof.impl.objects import (
    NodeAffinity,
    NodeSelectorTerm,
    Pod,
    Requirement,
    Taint,
    TopologySpreadConstraint,
)
from gangproof.impl.profiles import INTENDED
from gangproof.impl.snapshot import seen as view
from gangproof.impl.snapshot import with_pod
from gangproof.impl.table import Table
from gangproof.impl.world import World

X = {"app": "x"}
ZONES = (node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"))


def evenly(key: str = "zone", skew: int = 1, **other: Any) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(key, skew, "DoNotSchedule", **{"selector": selector(app="x"), **other})


def x(name: str, **other: Any) -> Pod:
    return pod(name, labels=X, **other)


def spreading(*constraints: TopologySpreadConstraint, **other: Any) -> Pod:
    return pod("p", **{"labels": X, "topology_spread_constraints": constraints, **other})


@pytest.mark.parametrize(
    ("skew", "on_a", "on_b", "expected"),
    [
        (1, 0, 0, "n1 n2 n3"),  # 0 + 1 − 0 = 1 in both zones
        (1, 1, 0, "n3"),  # a: 1 + 1 − 0 = 2 > 1
        (1, 1, 1, "n1 n2 n3"),  # 1 + 1 − 1 = 1
        (1, 3, 2, "n3"),  # a: 3 + 1 − 2 = 2 > 1
        (2, 3, 2, "n1 n2 n3"),  # a: 2
        (2, 4, 2, "n3"),  # a: 3 > 2
    ],
)
def test_filt_11_skew(skew: int, on_a: int, on_b: int, expected: str) -> None:
    seen = cluster(*ZONES, n1=[x(f"a{i}") for i in range(on_a)], n3=[x(f"b{i}") for i in range(on_b)])
    asking = spreading(evenly(skew=skew))
    assert open_to(asking, seen) == expected
    for name in set(seen.nodes) - set(expected.split()):
        assert answer_of(asking, seen, name) == ("PodTopologySpread", True)


def test_filt_11_who_counts() -> None:
    asking = spreading(evenly())
    for stranger in (
        pod("q", labels={"app": "y"}),
        x("q", namespace="other"),
        x("q", terminating=True),
    ):
        assert open_to(asking, cluster(*ZONES, n1=[stranger])) == "n1 n2 n3"
    assert open_to(asking, cluster(*ZONES, n1=[x("q")])) == "n3"


def test_filt_11_a_pod_that_does_not_match_itself_adds_nothing() -> None:
    # a: 1 + 0 − 0 = 1
    assert open_to(spreading(evenly(), labels={}), cluster(*ZONES, n1=[x("q")])) == "n1 n2 n3"
    assert open_to(spreading(evenly(), labels={}), cluster(*ZONES, n1=[x("q"), x("r")])) == "n3"


def test_filt_11_a_node_without_the_key_is_refused_for_good() -> None:
    seen = cluster(*ZONES, node("n4"), n4=[x("q")])
    assert answer_of(spreading(evenly()), seen, "n4") == ("PodTopologySpread", False)
    # and the pod there does not count anywhere, not even for another constraint's key
    both = spreading(evenly(), evenly(HOST))
    assert open_to(both, seen) == "n1 n2 n3"


def test_filt_11_the_first_constraint_that_refuses_answers() -> None:
    seen = cluster(node("n1", zone="a"), node("n2", zone="b", rack="r"), n1=[x("q")])
    assert answer_of(spreading(evenly(HOST), evenly("rack")), seen, "n1") == (
        "PodTopologySpread",
        False,
    )  # q is on no eligible node
    two = cluster(
        node("n1", zone="a", rack="r"), node("n2", zone="b", rack="r"), node("n3", zone="a"), n1=[x("q")]
    )
    assert answer_of(spreading(evenly("zone"), evenly("rack")), two, "n3") == ("PodTopologySpread", True)


@pytest.mark.parametrize(
    ("domains", "expected"),
    [
        (1, "n1 n2 n3"),  # m = 1: a: 1 + 1 − 1 = 1
        (2, "n1 n2 n3"),
        (3, ""),  # two domains are fewer than 3: m = 0, 1 + 1 − 0 = 2 > 1 everywhere
    ],
)
def test_filt_11_min_domains(domains: int, expected: str) -> None:
    seen = cluster(*ZONES, n1=[x("q")], n3=[x("r")])
    assert open_to(spreading(evenly(min_domains=domains)), seen) == expected


def only_a(policy: str) -> Pod:
    here = NodeSelectorTerm((Requirement("zone", "In", ("a",)),))
    return spreading(evenly(HOST, node_affinity_policy=policy), node_affinity=NodeAffinity(required=(here,)))


def test_filt_11_the_node_affinity_policy() -> None:
    # Honor: n3 is not eligible, so m = 1 of n1, n2; Ignore: n3 is empty, m = 0.
    seen = cluster(*ZONES, n1=[x("q")], n2=[x("r")])
    assert open_to(only_a("Honor"), seen) == "n1 n2"
    assert open_to(only_a("Ignore"), seen) == ""


def test_filt_11_the_node_taints_policy() -> None:
    # Ignore: the tainted n3 is eligible and empty, m = 0; Honor: m = 1.
    seen = cluster(node("n1", zone="a"), node("n3", zone="b", taints=[Taint("k", "NoSchedule")]), n1=[x("q")])
    assert open_to(spreading(evenly(node_taints_policy="Ignore")), seen) == ""
    assert open_to(spreading(evenly(node_taints_policy="Honor")), seen) == "n1"


def test_filt_11_soft_constraints_refuse_nobody() -> None:
    soft = evolve(evenly(), when_unsatisfiable="ScheduleAnyway")
    seen = cluster(*ZONES, node("n4"), n1=[x("q"), x("r")])
    assert open_to(spreading(soft), seen) == "n1 n2 n3 n4"
    assert prepare(spreading(soft), seen).spread is None


def test_filt_12_selectors() -> None:
    seen = cluster(*ZONES, n1=[x("q"), x("r")])
    # Absent: nothing matches, not even the pod. Empty: nobody counts, but the pod does: 0 + 1 − 0 = 1.
    for chosen in (None, selector()):
        assert open_to(spreading(evenly(selector=chosen)), seen) == "n1 n2 n3"
    # A maxSkew of 0, which the API would refuse, tells the two apart.
    assert open_to(spreading(evenly(skew=0, selector=None)), seen) == "n1 n2 n3"
    assert open_to(spreading(evenly(skew=0, selector=selector())), seen) == ""


def test_filt_12_match_label_keys() -> None:
    old, new = {"app": "x", "hash": "1"}, {"app": "x", "hash": "2"}
    seen = cluster(*ZONES, n1=[pod("q", labels=old)])
    keyed = evenly(match_label_keys=("hash", "absent"))
    assert open_to(spreading(keyed, labels=old), seen) == "n3"
    assert open_to(spreading(keyed, labels=new), seen) == "n1 n2 n3"
    assert open_to(spreading(evenly(match_label_keys=("absent",)), labels=new), seen) == "n3"
    # with an empty selector the listed keys alone decide
    assert (
        open_to(spreading(evenly(selector=selector(), match_label_keys=("hash",)), labels=old), seen) == "n3"
    )


def counts(spread: Spread | None) -> dict[str, int]:
    assert spread is not None
    return dict(spread.domains[0].matching)


def test_filt_13_a_pod_added_or_taken_off_moves_the_count() -> None:
    seen = cluster(*ZONES, node("n4"), n1=[x("q")])
    prepared = prepare(spreading(evenly()), seen)
    n1, n4 = ZONES[0], node("n4")
    assert counts(prepared.spread) == {"a": 1, "b": 0}
    assert counts(recount(prepared, x("r"), n1, 1).spread) == {"a": 2, "b": 0}
    assert counts(recount(prepared, x("q"), n1, -1).spread) == {"a": 0, "b": 0}
    # a terminating pod was never counted, and is counted and subtracted all the same
    assert counts(recount(prepared, x("r", terminating=True), n1, 1).spread) == {"a": 2, "b": 0}
    assert counts(recount(prepared, x("r", terminating=True), ZONES[2], -1).spread) == {"a": 1, "b": -1}
    # an empty selector counted nobody, and every pod added moves the count
    every = prepare(spreading(evenly(selector=selector())), seen)
    assert counts(every.spread) == {"a": 0, "b": 0}
    assert counts(recount(every, pod("r"), n1, 1).spread) == {"a": 1, "b": 0}
    # nothing moves for others, or on a node that is not eligible
    for other, at in ((pod("r"), n1), (x("r", namespace="o"), n1), (x("r"), n4)):
        assert counts(recount(prepared, other, at, 1).spread) == {"a": 1, "b": 0}


def test_cycle_14_nominated_pods_count_where_they_are_nominated() -> None:
    # Both zones are empty; with the nominated pod a would come to 1 + 1 − 0 = 2.
    seen = cluster(*ZONES)
    prepared = prepare(spreading(evenly()), seen)
    waiting = x("r", priority=5)
    queue = (Entry(waiting.key, "pool"),)
    world = World(pods=Table({waiting.key: waiting}), queue=queue, nominations=Table({waiting.key: "n1"}))
    open_nodes = [n for n, info in seen.nodes.items() if refusal(INTENDED, world, prepared, info) is None]
    assert open_nodes == ["n2", "n3"]  # each node is judged with its own nominations only
    dropped = evolve(world, queue=())
    assert all(refusal(INTENDED, dropped, prepared, info) is None for info in seen.nodes.values())
    weaker = evolve(world, pods=Table({waiting.key: evolve(waiting, priority=-1)}))
    assert all(refusal(INTENDED, weaker, prepared, info) is None for info in seen.nodes.values())


# A second statement of FILT-11 and FILT-12, word by word, for a comparison on random clusters.


def stated(asking: Pod, seen: Snapshot, at: str) -> str:
    """ "ok", "plain" or "unresolvable", by the words of FILT-11."""
    mine = [c for c in asking.topology_spread_constraints if c.when_unsatisfiable == "DoNotSchedule"]
    keys = [c.topology_key for c in mine]
    for c in mine:
        wanted = None if c.selector is None else {r.key: r.values[0] for r in c.selector.requirements}
        if wanted is not None:
            wanted |= {k: asking.labels[k] for k in c.match_label_keys if k in asking.labels}

        def matches(other: Pod, wanted: dict[str, str] | None = wanted) -> bool:
            return wanted is not None and all(other.labels.get(k) == v for k, v in wanted.items())

        number: dict[str, int] = {}
        for info in seen.nodes.values():
            assert info.node is not None
            there = info.node
            if not all(k in there.labels for k in keys):
                continue
            zone = asking.node_selector.get("zone")
            if c.node_affinity_policy == "Honor" and zone not in (None, there.labels.get("zone")):
                continue
            if c.node_taints_policy == "Honor" and there.taints:
                continue
            number.setdefault(there.labels[c.topology_key], 0)
            for other in info.pods.values():
                if wanted and matches(other) and not other.terminating and other.namespace == "default":
                    number[there.labels[c.topology_key]] += 1
        node_there = seen.nodes[at].node
        assert node_there is not None
        if c.topology_key not in node_there.labels:
            return "unresolvable"
        least = min(number.values()) if len(number) >= c.min_domains else 0
        if number.get(node_there.labels[c.topology_key], 0) + matches(asking) - least > c.max_skew:
            return "plain"
    return "ok"


LABELS = st.fixed_dictionaries({}, optional={"app": st.sampled_from("xy"), "hash": st.sampled_from("12")})
CONSTRAINTS = st.builds(
    TopologySpreadConstraint,
    topology_key=st.sampled_from(["zone", "rack", HOST]),
    max_skew=st.integers(1, 2),
    when_unsatisfiable=st.sampled_from(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
    selector=st.sampled_from([None, selector(), selector(app="x"), selector(app="x")]),
    min_domains=st.integers(1, 3),
    node_affinity_policy=st.sampled_from(["Honor", "Ignore"]),
    node_taints_policy=st.sampled_from(["Honor", "Ignore"]),
    match_label_keys=st.sampled_from([(), ("hash",)]),
)


@st.composite
def clusters(draw: st.DrawFn) -> Snapshot:
    keys = st.fixed_dictionaries({}, optional={"zone": st.sampled_from("ab"), "rack": st.sampled_from("rs")})
    nodes = [
        node(
            f"n{i}",
            taints=[Taint("k", "NoSchedule")] if draw(st.booleans()) else [],
            **draw(keys),
        )
        for i in range(draw(st.integers(1, 4)))
    ]
    placed: dict[str, list[Pod]] = {}
    for i in range(draw(st.integers(0, 6))):
        other = pod(
            f"q{i}",
            namespace=draw(st.sampled_from(["default", "default", "other"])),
            labels=draw(LABELS),
            terminating=draw(st.integers(0, 3)) == 0,
        )
        placed.setdefault(draw(st.sampled_from(nodes)).name, []).append(other)
    return cluster(*nodes, **placed)


@st.composite
def askers(draw: st.DrawFn) -> Pod:
    return pod(
        "p",
        labels=draw(LABELS),
        node_selector=Table({"zone": "a"} if draw(st.integers(0, 3)) == 0 else {}),
        topology_spread_constraints=tuple(draw(st.lists(CONSTRAINTS, min_size=1, max_size=2))),
    )


def outcome(asking: Pod, seen: Snapshot, at: str) -> str:
    prepared = evolve(prepare(asking, seen), neighbours=None)
    answer = rejection(prepared, seen.nodes[at])
    if answer is None:
        return "ok"
    if answer.plugin != "PodTopologySpread":
        return "other"
    return "plain" if answer.resolvable else "unresolvable"


@given(askers(), clusters())
def test_filt_11_as_the_rule_says(asking: Pod, seen: Snapshot) -> None:
    for name in seen.nodes:
        found = outcome(asking, seen, name)
        assert found in ("other", stated(asking, seen, name))


@given(askers(), clusters(), LABELS, st.data())
def test_filt_13_adding_is_like_counting_afresh(
    asking: Pod, seen: Snapshot, labels: dict[str, str], data: st.DataObject
) -> None:
    # For a living pod, and selectors that are not empty, the counts are those of a fresh PreFilter.
    asking = evolve(
        asking,
        topology_spread_constraints=tuple(
            c for c in asking.topology_spread_constraints if c.selector is None or c.selector.requirements
        ),
    )
    other = pod("new", labels=labels)
    name = data.draw(st.sampled_from(list(seen.nodes)))
    info = seen.nodes[name]
    assert info.node is not None
    after = view(seen.nodes.put(name, with_pod(info, other)))
    before, fresh = prepare(asking, seen), prepare(asking, after)
    assert recount(before, other, info.node, 1) == fresh
    assert recount(fresh, other, info.node, -1) == before
