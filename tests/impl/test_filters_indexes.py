"""CYCLE-19, CYCLE-23, CYCLE-33: assumed members are seen by later ones, and undo takes them out again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from clusters import HOST, cluster, node, open_to, pod, preferred, required, term
from hypothesis import given
from hypothesis import strategies as st

from gangproof.impl.actions import successors
from gangproof.impl.api import create
from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.gates import Object
from gangproof.impl.objects import LabelSelector, Pod, PodAffinity, PodGroup, TopologySpreadConstraint
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.snapshot import assume, seen, undo
from gangproof.impl.world import World

X, Y = {"app": "x"}, {"app": "y"}
KINDS: tuple[dict[str, PodAffinity], ...] = (
    {},
    {"pod_affinity": required(term(HOST, app="x"))},
    {"pod_affinity": preferred((1, term(HOST, app="x")))},
    {"pod_anti_affinity": required(term(HOST, app="x"))},
    {"pod_anti_affinity": preferred((1, term(HOST, app="x")))},
)


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(["n1", "n2"]), st.booleans()), max_size=6))
def test_undo_is_the_inverse_of_assume(steps: list[tuple[dict[str, PodAffinity], str, bool]]) -> None:
    # Some pods run before; the others are assumed one by one, and undone in reverse order (INV-07).
    placed: dict[str, list[Pod]] = {}
    members: list[tuple[Pod, str]] = []
    for number, (kind, name, runs) in enumerate(steps):
        each = pod(f"p{number}", cpu=100, **kind)
        if runs:
            placed.setdefault(name, []).append(each)
        else:
            members.append((each, name))
    states: list[Snapshot] = [cluster(node("n1"), node("n2"), **placed)]
    for each, name in members:
        states.append(assume(INTENDED, states[-1], each, name))
        assert states[-1] == seen(states[-1].nodes, states[-1].members)  # the indexes are as made anew
    now = states[-1]
    for (each, name), before in zip(reversed(members), reversed(states[:-1]), strict=True):
        now = undo(INTENDED, now, each, name)
        assert now == before


def test_cycle_33_the_indexes_name_the_nodes() -> None:
    found = cluster(
        node("n1"),
        node("n2"),
        node("n3"),
        n1=[pod("q", pod_anti_affinity=required(term(HOST, app="x")))],
        n2=[pod("r", pod_affinity=preferred((1, term(HOST, app="x"))))],
        n3=[pod("s")],
    )
    assert found.nodes_with_affinity == ("n1", "n2")
    assert found.nodes_with_required_anti_affinity == ("n1",)


def test_dev_02_an_assumed_sibling_repels_a_later_one() -> None:
    hermit = pod("p1", labels=X, pod_anti_affinity=required(term(HOST, app="y")))
    after = assume(INTENDED, cluster(node("n1"), node("n2")), hermit, "n1")
    assert open_to(pod("p2", labels=Y), after) == "n2"
    assert open_to(pod("p2", labels=X), after) == "n1 n2"


def test_dev_02_an_assumed_sibling_is_near_and_counts_in_its_domain() -> None:
    after = assume(INTENDED, cluster(node("n1"), node("n2")), pod("p1", labels=X), "n1")
    near = pod("p2", pod_affinity=required(term(HOST, app="x")))
    assert open_to(near, after) == "n1"
    x_only = LabelSelector(term(HOST, app="x").selector.requirements)  # pyright: ignore[reportOptionalMemberAccess]
    even = TopologySpreadConstraint(HOST, 1, "DoNotSchedule", x_only)
    assert open_to(pod("p2", labels=X, topology_spread_constraints=(even,)), after) == "n2"


def bound(rules: Rules, *objects: Object) -> set[tuple[str, ...]]:
    """Which pods are bound where in the worlds where nothing but retries can happen any more."""
    world = World()
    for each in objects:
        world = create(rules, world, each)
    found: set[tuple[str, ...]] = set()
    met, todo = {world}, [world]
    for now in todo:
        for _, after in successors(now, rules):
            if after not in met:
                met.add(after)
                todo.append(after)
        if not now.bindings and now.cycle is None and not any(e.place == "active" for e in now.queue):
            found.add(tuple(f"{p.name}→{p.node_name}" for p in now.pods.values() if p.node_name))
    return found


GANG = (
    PodGroup("default", "g", min_count=2),
    pod("p1", scheduling_group="g", labels=X, pod_anti_affinity=required(term(HOST, app="y"))),
    pod("p2", scheduling_group="g", labels=Y),
)


def test_inv_06_a_gang_that_cannot_stand_together_waits() -> None:
    assert bound(INTENDED, node("n1"), *GANG) == {()}
    assert bound(INTENDED, node("n1"), node("n2"), *GANG) == {
        ("p1→n1", "p2→n2"),
        ("p1→n2", "p2→n1"),
    }


def stale(old: Callable[..., Snapshot]) -> Callable[..., Snapshot]:
    """Assume or undo as v1.36.3 does it: the indexes stay as they were at the snapshot (CYCLE-33)."""

    def step(rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot:
        return evolve(
            old(rules, snapshot, pod, node),
            nodes_with_affinity=snapshot.nodes_with_affinity,
            nodes_with_required_anti_affinity=snapshot.nodes_with_required_anti_affinity,
        )

    return step


STALE = profile(INTENDED, Change("DEV-02", "indexes stay stale", {"assume": stale, "undo": stale}))


def test_dev_02_stale_indexes_bind_a_gang_that_repels_itself() -> None:
    assert bound(STALE, node("n1"), *GANG) == {("p1→n1", "p2→n1")}
    # not if somebody on the node was in the index before (CYCLE-33)
    before = pod("q", node_name="n1", pod_anti_affinity=required(term(HOST, app="nobody")))
    assert bound(STALE, node("n1"), before, *GANG) == {("q→n1",)}


@pytest.mark.parametrize("rules", [INTENDED, STALE], ids=["intended", "stale"])
def test_cycle_33_own_terms_see_assumed_siblings_either_way(rules: Rules) -> None:
    reverse = (GANG[0], evolve(GANG[2], name="a"), evolve(GANG[1], name="b"))
    assert bound(rules, node("n1"), *reverse) == {()}
