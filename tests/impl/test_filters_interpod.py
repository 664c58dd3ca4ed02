"""FILT-14 to FILT-17: affinity and anti-affinity, worked cases, and a second statement."""

from __future__ import annotations

import pytest
from attrs import evolve
from clusters import HOST, answer_of, cluster, node, open_to, pod, reason_of, required, term
from hypothesis import given
from hypothesis import strategies as st

from gangproof.impl.cycle import refusal
from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters import prepare, recount, rejection
from gangproof.impl.filters.interpod import pod_term_matches
from gangproof.impl.memory import Entry
from gangproof.impl.objects import Pod, PodAffinity, PodAffinityTerm
from gangproof.impl.profiles import INTENDED
from gangproof.impl.snapshot import seen as view
from gangproof.impl.snapshot import with_pod
from gangproof.impl.table import Table
from gangproof.impl.world import World

ZONES = (node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"), node("n4"))
DB, WEB = {"app": "db"}, {"app": "web"}


@pytest.mark.parametrize(
    ("wanted", "other", "ok"),
    [
        (term("zone", app="db"), pod("q", labels=DB), True),
        (term("zone", app="db"), pod("q", labels=WEB), False),
        (term("zone", app="db"), pod("q", labels=DB, namespace="other"), False),
        (term("zone", ("other",), app="db"), pod("q", labels=DB, namespace="other"), True),
        (term("zone", ("other",), app="db"), pod("q", labels=DB), False),
        (term("zone", None, app="db"), pod("q", labels=DB, namespace="any"), True),
        (term("zone"), pod("q"), True),  # an empty selector matches all
        (PodAffinityTerm("zone", None, None), pod("q", labels=DB), False),  # an absent one nothing
    ],
)
def test_filt_14_whom_a_term_means(wanted: PodAffinityTerm, other: Pod, ok: bool) -> None:
    assert pod_term_matches(wanted, other) == ok


def test_filt_15_in_the_domain_of_a_match() -> None:
    near_db = pod("p", pod_affinity=required(term("zone", app="db")))
    seen = cluster(*ZONES, n1=[pod("q", labels=DB)])
    assert open_to(near_db, seen) == "n1 n2"
    for name in ("n3", "n4"):
        assert answer_of(near_db, seen, name) == ("InterPodAffinity", False)
        assert reason_of(near_db, seen, name) == "node(s) didn't match pod affinity rules"
    terminating = cluster(*ZONES, n1=[pod("q", labels=DB, terminating=True)])
    assert open_to(near_db, terminating) == "n1 n2"
    assert open_to(near_db, cluster(*ZONES, n4=[pod("q", labels=DB)])) == ""  # in no domain


def test_filt_15_one_pod_must_match_all_terms_together() -> None:
    both = pod("p", pod_affinity=required(term("zone", app="db"), term(HOST, tier="1")))
    apart = cluster(*ZONES, n1=[pod("q", labels=DB), pod("r", labels={"tier": "1"})])
    assert open_to(both, apart) == ""
    together = cluster(*ZONES, n1=[pod("q", labels={"app": "db", "tier": "1"})])
    assert open_to(both, together) == "n1"


def test_filt_15_the_first_of_a_series() -> None:
    alike = pod("p", labels=DB, pod_affinity=required(term("zone", app="db")))
    assert open_to(alike, cluster(*ZONES)) == "n1 n2 n3"  # n4 lacks the key
    assert open_to(pod("p", pod_affinity=required(term("zone", app="db"))), cluster(*ZONES)) == ""
    assert open_to(alike, cluster(*ZONES, n3=[pod("q", labels=DB)])) == "n3"
    # a match on a node without any of the keys does not end the exception
    assert open_to(alike, cluster(*ZONES, n4=[pod("q", labels=DB)])) == "n1 n2 n3"
    # a match on a node with one of the keys does, although no node can then be near enough
    two = pod("p", labels=DB, pod_affinity=required(term("zone", app="db"), term("rack", app="db")))
    racks = (node("n1", zone="a", rack="r"), node("n2", zone="a"))
    assert open_to(two, cluster(*racks)) == "n1"
    assert open_to(two, cluster(*racks, n2=[pod("q", labels=DB)])) == ""
    elsewhere = pod("p", labels=DB, namespace="other", pod_affinity=required(term("zone", app="db")))
    assert open_to(elsewhere, cluster(*ZONES)) == ""  # it is not among its own term's namespaces


def test_filt_16_own_anti_affinity() -> None:
    away = pod("p", pod_anti_affinity=required(term("zone", app="db")))
    seen = cluster(*ZONES, n1=[pod("q", labels=DB, terminating=True)])
    assert open_to(away, seen) == "n3 n4"
    assert answer_of(away, seen, "n2") == ("InterPodAffinity", True)
    assert reason_of(away, seen, "n2") == "node(s) didn't match pod anti-affinity rules"
    # each term on its own, unlike affinity
    either = pod("p", pod_anti_affinity=required(term("zone", app="db"), term(HOST, tier="1")))
    placed = cluster(*ZONES, n3=[pod("q", labels={"tier": "1"})], n1=[pod("r", labels=DB)])
    assert open_to(either, placed) == "n4"
    # on a node without the key nobody is in the way
    assert open_to(away, cluster(*ZONES, n4=[pod("q", labels=DB)])) == "n1 n2 n3 n4"


def test_filt_16_the_anti_affinity_of_others() -> None:
    hermit = pod("q", pod_anti_affinity=required(term("zone", app="db")), terminating=True)
    seen = cluster(*ZONES, n1=[hermit])
    assert open_to(pod("p", labels=DB), seen) == "n3 n4"
    assert open_to(pod("p", labels=WEB), seen) == "n1 n2 n3 n4"
    assert open_to(pod("p", labels=DB, namespace="other"), seen) == "n1 n2 n3 n4"
    assert answer_of(pod("p", labels=DB), seen, "n1") == ("InterPodAffinity", True)
    assert (
        reason_of(pod("p", labels=DB), seen, "n1")
        == "node(s) didn't satisfy existing pods anti-affinity rules"
    )
    assert open_to(pod("p", labels=DB), cluster(*ZONES, n4=[hermit])) == "n1 n2 n3 n4"
    # preferred terms of others refuse nobody
    mild = evolve(hermit, pod_anti_affinity=PodAffinity())
    assert open_to(pod("p", labels=DB), cluster(*ZONES, n1=[mild])) == "n1 n2 n3 n4"


def test_filt_16_affinity_answers_first_then_own_then_that_of_others() -> None:
    hermit = pod("q", labels=DB, pod_anti_affinity=required(term(HOST, app="web")))
    seen = cluster(node("n1"), n1=[hermit])
    asking = pod(
        "p",
        labels=WEB,
        pod_affinity=required(term(HOST, app="cache")),
        pod_anti_affinity=required(term(HOST, app="db")),
    )
    reasons: list[str | None] = []
    for dropped in ("pod_affinity", "pod_anti_affinity", "labels"):
        reasons.append(reason_of(asking, seen, "n1"))
        asking = evolve(asking, **{dropped: Table() if dropped == "labels" else PodAffinity()})
    assert reasons == [
        "node(s) didn't match pod affinity rules",
        "node(s) didn't match pod anti-affinity rules",
        "node(s) didn't satisfy existing pods anti-affinity rules",
    ]
    assert answer_of(asking, seen, "n1") is None


def nominated(waiting: Pod, at: str) -> World:
    return World(
        pods=Table({waiting.key: waiting}),
        queue=(Entry(waiting.key, "pool"),),
        nominations=Table({waiting.key: at}),
    )


def test_filt_17_skip_hides_the_anti_affinity_of_a_nominated_pod() -> None:
    hermit = pod("r", priority=5, pod_anti_affinity=required(term(HOST, app="db")))
    plain = pod("p", labels=DB)
    seen = cluster(*ZONES)
    assert prepare(plain, seen).neighbours is None
    world = nominated(hermit, "n1")
    assert refusal(INTENDED, world, prepare(plain, seen), seen.nodes["n1"]) is None
    # With a required term of its own, or somebody's anti-affinity against it, it does not skip.
    own = evolve(plain, pod_anti_affinity=required(term(HOST, app="nobody")))
    answer = refusal(INTENDED, world, prepare(own, seen), seen.nodes["n1"])
    assert answer is not None and answer.plugin == "InterPodAffinity"
    other = cluster(*ZONES, n3=[pod("q", pod_anti_affinity=required(term(HOST, app="db")))])
    assert refusal(INTENDED, world, prepare(plain, other), other.nodes["n1"]) is not None
    assert refusal(INTENDED, world, prepare(plain, other), other.nodes["n2"]) is None
    # anti-affinity against somebody else does not count
    stranger = cluster(*ZONES, n3=[pod("q", pod_anti_affinity=required(term(HOST, app="web")))])
    assert prepare(plain, stranger).neighbours is None


def test_cycle_14_affinity_must_hold_without_the_nominated_pod_too() -> None:
    near_db = pod("p", pod_affinity=required(term("zone", app="db")))
    seen = cluster(*ZONES)
    world = nominated(pod("r", priority=5, labels=DB), "n1")
    assert refusal(INTENDED, world, prepare(near_db, seen), seen.nodes["n1"]) is not None


# A second statement of FILT-14 to FILT-16, word by word, for a comparison on random clusters.


def meant(wanted: PodAffinityTerm, other: Pod) -> bool:
    namespace_ok = wanted.namespaces is None or other.namespace in wanted.namespaces
    if wanted.selector is None:
        return False
    return namespace_ok and all(other.labels.get(r.key) in r.values for r in wanted.selector.requirements)


def stated(asking: Pod, seen: Snapshot, at: str) -> str:
    """ "ok", "affinity", "own" or "others": the first that refuses, by the words of FILT-15 and FILT-16."""
    here = seen.nodes[at].node
    assert here is not None
    everybody = [(q, info.node) for info in seen.nodes.values() for q in info.pods.values() if info.node]
    near = asking.pod_affinity.required
    for t in near:
        if t.topology_key not in here.labels:
            return "affinity"
    matching = [(q, n) for q, n in everybody if near and all(meant(t, q) for t in near)]
    first = all(meant(t, asking) for t in near) and not any(
        t.topology_key in n.labels for _, n in matching for t in near
    )
    for t in near:
        key = t.topology_key
        if not first and not any(n.labels.get(key) == here.labels[key] for _, n in matching):
            return "affinity"
    for t in asking.pod_anti_affinity.required:
        value = here.labels.get(t.topology_key)
        if value and any(meant(t, q) and n.labels.get(t.topology_key) == value for q, n in everybody):
            return "own"
    for q, n in everybody:
        for t in q.pod_anti_affinity.required:
            value = n.labels.get(t.topology_key)
            if value and meant(t, asking) and here.labels.get(t.topology_key) == value:
                return "others"
    return "ok"


LABELS = st.fixed_dictionaries({}, optional={"app": st.sampled_from("xy"), "tier": st.sampled_from("12")})


@st.composite
def terms(draw: st.DrawFn) -> PodAffinityTerm:
    labels = draw(LABELS)
    wanted = term(
        draw(st.sampled_from(["zone", "rack", HOST])),
        draw(st.sampled_from([("default",), ("default",), ("other",), None])),
        **labels,
    )
    return evolve(wanted, selector=None) if draw(st.integers(0, 9)) == 0 else wanted


@st.composite
def pods(draw: st.DrawFn, name: str) -> Pod:
    def some() -> PodAffinity:
        return required(*draw(st.lists(terms(), max_size=2)))

    return pod(
        name,
        namespace=draw(st.sampled_from(["default", "default", "other"])),
        labels=draw(LABELS),
        terminating=draw(st.booleans()),
        pod_affinity=some(),
        pod_anti_affinity=some(),
    )


@st.composite
def clusters(draw: st.DrawFn) -> Snapshot:
    keys = st.fixed_dictionaries({}, optional={"zone": st.sampled_from("ab"), "rack": st.sampled_from("rs")})
    nodes = [node(f"n{i}", **draw(keys)) for i in range(draw(st.integers(1, 4)))]
    placed: dict[str, list[Pod]] = {}
    for i in range(draw(st.integers(0, 4))):
        placed.setdefault(draw(st.sampled_from(nodes)).name, []).append(draw(pods(f"q{i}")))
    return cluster(*nodes, **placed)


REASONS = {
    "node(s) didn't match pod affinity rules": "affinity",
    "node(s) didn't match pod anti-affinity rules": "own",
    "node(s) didn't satisfy existing pods anti-affinity rules": "others",
}


@given(pods("p"), clusters())
def test_filt_15_and_16_as_the_rules_say(asking: Pod, seen: Snapshot) -> None:
    prepared = prepare(asking, seen)
    for name, info in seen.nodes.items():
        answer = rejection(prepared, info)
        assert (REASONS[answer.reason] if answer else "ok") == stated(asking, seen, name)


@given(pods("p"), clusters(), pods("new"), st.data())
def test_filt_02_adding_is_like_counting_afresh(
    asking: Pod, seen: Snapshot, other: Pod, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(list(seen.nodes)))
    info = seen.nodes[name]
    assert info.node is not None
    after = view(seen.nodes.put(name, with_pod(info, other)))
    before, fresh = prepare(asking, seen), prepare(asking, after)
    if before.neighbours is not None:
        assert recount(before, other, info.node, 1) == fresh
        assert recount(fresh, other, info.node, -1) == before
