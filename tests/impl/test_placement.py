"""Topology-aware placement: which domains there are, who goes where, and what is reported (SEMANTICS 6)."""

from __future__ import annotations

from itertools import product

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from racks import TAS, kept_to, places, racks, there, verdicts

from gangproof.impl.actions import cycle_steps
from gangproof.impl.api import delete
from gangproof.impl.cycle_state import Cycle, Domain, Visit
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import (
    LabelSelector,
    PodAffinity,
    PodAffinityTerm,
    Requirement,
    Taint,
)
from gangproof.impl.placement import NO_DOMAIN, NO_GROUP, NO_LABEL, NO_NODE, SEVERAL, ahead, domains, winners
from gangproof.impl.placement import most_allocated as packing
from gangproof.impl.profiles import INTENDED, V1_36_3_PROMPT
from gangproof.impl.rules import profile
from gangproof.impl.snapshot import seen
from gangproof.impl.steps import Candidates
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import basic, gang, node, pod
from gangproof.properties.worlds.named import world as empty

BIG = 1 << 20


def found(world: World, group: str = "default/g") -> Candidates:
    """What the step `domains` says in a snapshot taken now."""
    snapshot = seen(world.cache, world.members_of(group))
    (answer,) = domains(world, Cycle(group, (pod("p"),), taken=snapshot, snapshot=snapshot))
    return answer


# Candidates


def test_place_01_without_a_key_or_the_gate_every_node_is_a_candidate() -> None:
    keyless = evolve(gang("g", 1), topology_keys=())
    for group, options in ((gang("g", 1), TAS), (keyless, TAS), (kept_to(gang("g", 1)), Settings())):
        assert found(there(*racks(("a", 1), ("b", 1)), group, options=options)) == Candidates()


def test_place_02_one_domain_a_value_and_none_for_nodes_without_the_label() -> None:
    world = there(*racks(("b", 1), ("a", 1), ("b", 1), ("", 1)), node("x", 1), kept_to(gang("g", 1)))
    assert found(world).domains == (Domain("", ("n4",)), Domain("a", ("n2",)), Domain("b", ("n1", "n3")))


@pytest.mark.parametrize("rack", ["a", "b", ""])
def test_place_03_members_placed_before_decide(rack: str) -> None:
    nodes = racks(("a", 1), ("b", 1), ("", 1), (rack, 1))
    world = there(*nodes, kept_to(gang("g", 1)), pod("m", "g", node="n4"))
    assert [domain.value for domain in found(world).domains or ()] == [rack]


def test_place_08_a_member_that_is_leaving_still_decides() -> None:
    member = evolve(pod("m", "g", node="n1"), termination_grace_period_seconds=30)
    world = there(*racks(("a", 1), ("b", 1)), kept_to(gang("g", 1)), member)
    world = delete(INTENDED, world, "pod", "default/m")
    assert world.members_of("default/g").leaving == ("default/m",)
    assert [domain.value for domain in found(world).domains or ()] == ["a"]
    gone = delete(INTENDED, world, "pod", "default/m")
    assert len(found(gone).domains or ()) == 2


def test_a_member_that_succeeded_decides_nothing() -> None:
    member = evolve(pod("m", "g", node="n1"), phase="Succeeded")
    world = there(*racks(("a", 1), ("b", 1)), kept_to(gang("g", 1)), member)
    assert len(found(world).domains or ()) == 2


def test_place_04_no_single_domain_is_an_error() -> None:
    group, member, other = kept_to(gang("g", 1)), pod("m", "g", node="n1"), pod("o", "g", node="n2")
    several = there(*racks(("a", 1), ("b", 1)), group, member, other)
    assert found(several).error == SEVERAL.format("rack")
    assert found(there(node("n1", 1), group, member)).error == NO_LABEL.format("rack")
    gone = delete(INTENDED, there(*racks(("a", 1)), group, member), "node", "n1")
    assert found(gone).error == NO_NODE


def test_cycle_04_a_group_that_is_gone_is_an_error_with_the_gate_on() -> None:
    gates = evolve(TAS.gates, gang_scheduling=False)
    (cycle,) = verdicts(there(*racks(("a", 1)), pod("p1", "g"), options=Settings(gates=gates)))
    assert (cycle.code, cycle.message) == ("Error", NO_GROUP.format("default/g"))


def test_place_05_no_domain_at_all_is_unschedulable() -> None:
    (cycle,) = verdicts(there(node("n1", 4), kept_to(gang("g", 1)), pod("p1", "g")))
    assert (cycle.code, cycle.message, cycle.results) == ("Unschedulable", NO_DOMAIN, ())


def one_by_one(values: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The answers of v1.36.3 over all orders of looking, told by hand: a value, or an error."""
    answers = set[tuple[str, ...]]()
    for order in (values, values[::-1]):
        known = ""
        for value in order:
            if known and value != known:
                answers.add(("error",))
                break
            known = value
        else:
            answers.add((known,))
    return answers


@pytest.mark.parametrize("values", list(product(["", "a", "b"], repeat=2)))
def test_dev_25_the_empty_value_may_be_overlooked(values: tuple[str, str]) -> None:
    deviation = next(d for d in DEVIATIONS if d.id == "DEV-25")
    nodes = racks(*((value, 2) for value in values), ("a", 1), ("b", 1), ("", 1))
    members = [pod(f"m{i}", "g", node=f"n{i}") for i in (1, 2)]
    world = there(*nodes, kept_to(gang("g", 1)), *members)
    snapshot = seen(world.cache, world.members_of("default/g"))
    cycle = Cycle("default/g", (pod("p"),), taken=snapshot, snapshot=snapshot)
    answers = profile(INTENDED, deviation.change).domains(world, cycle)
    told = {("error",) if a.error else tuple(d.value for d in a.domains or ()) for a in answers}
    assert told == one_by_one(values)
    intended = {("error",)} if values[0] != values[1] else {(values[0],)}
    assert {
        ("error",) if a.error else tuple(d.value for d in a.domains or ()) for a in domains(world, cycle)
    } == intended


def test_dev_25_breaks_inv_21_and_intended_does_not() -> None:
    start = empty(
        *racks(("", 2), ("r1", 2)), kept_to(gang("g", 1)), pod("a", "g", node="n1"), pod("b", "g", node="n2"),
        pod("c", "g"), settings=TAS,
    )  # fmt: skip
    deviation = next(d for d in DEVIATIONS if d.id == "DEV-25")
    broken = explore(Machine(profile(INTENDED, deviation.change), [start]), questions())
    assert "INV-21" in broken.counterexamples
    assert explore(Machine(INTENDED, [start]), questions()).verdict is Verdict.HOLDS
    shipped = explore(Machine(V1_36_3_PROMPT, [start]), questions())
    assert "INV-21" in shipped.counterexamples


# Evaluation


def test_place_10_plugins_that_list_all_nodes_see_the_whole_cluster() -> None:
    term = PodAffinityTerm("zone", LabelSelector((Requirement("app", "In", ("x",)),)), ("default",))
    nodes = [node(f"n{i}", 2, labels={"rack": f"r{i}", "zone": "z"}) for i in (1, 2)]
    stranger = evolve(pod("x", node="n2"), labels=Table({"app": "x"}))
    member = pod("p1", "g")
    group = kept_to(gang("g", 1))
    away = evolve(member, pod_anti_affinity=PodAffinity(required=(term,)))
    assert {c.code for c in verdicts(there(*nodes, stranger, group, away))} == {"Unschedulable"}
    assert {c.code for c in verdicts(there(*nodes, stranger, group, member))} == {"Success"}


def test_place_10_a_nominated_node_outside_of_the_domain_is_ignored() -> None:
    nominated = evolve(pod("p1", "g"), nominated_node_name="n2")
    world = there(
        *racks(("a", 1), ("b", 1)), kept_to(gang("g", 1)), pod("m", "g", node="n1", cpu=0), nominated
    )
    assert [places(cycle) for cycle in verdicts(world)] == [{"p1": "n1"}]


def test_place_11_an_error_ends_the_cycle_at_once() -> None:
    world = there(*racks(("a", 1), ("b", 1)), kept_to(gang("g", 1)), pod("p1", "g"))
    for _ in range(2):
        ((_, world),) = cycle_steps(world, INTENDED)
    (cycle,) = verdicts(evolve(world, groups=Table()))
    assert (cycle.code, cycle.visited) == ("Error", 0)
    assert cycle.snapshot == cycle.taken


def test_place_12_members_placed_before_count_for_a_gang_and_one_member_is_enough_for_a_basic_group() -> None:
    nodes = racks(("a", 1), ("a", 1))
    late = there(*nodes, kept_to(gang("g", 2)), pod("m", "g", node="n1"), pod("p1", "g"))
    assert [places(cycle) for cycle in verdicts(late)] == [{"p1": "n2"}]
    loose = there(*racks(("a", 1)), kept_to(basic("g")), pod("p1", "g"), pod("p2", "g"))
    assert [places(cycle) for cycle in verdicts(loose)] == [{"p1": "n1", "p2": None}]


def test_place_13_any_failing_domain_may_be_reported() -> None:
    tainted = node("n1", 4, labels={"rack": "a"}, taints=[Taint("t", "NoSchedule")])
    small = node("n2", 1, labels={"rack": "b"})
    ends = verdicts(there(tainted, small, kept_to(gang("g", 1)), pod("p1", "g", cpu=2)))
    assert {cycle.results[0].plugins for cycle in ends} == {("NodeResourcesFit",), ("TaintToleration",)}
    assert {cycle.code for cycle in ends} == {"Unschedulable"}
    message = "0/2 placements are available, first placement status: pod group is unschedulable"
    assert {cycle.message for cycle in ends} == {message}


def test_without_a_key_there_is_one_placement_to_report() -> None:
    (cycle,) = verdicts(there(node("n1", 1), gang("g", 2), pod("p1", "g"), pod("p2", "g")))
    assert cycle.message.startswith("0/1 placements are available")


def test_place_14_the_only_candidate_is_taken_whatever_it_weighs() -> None:
    world = there(
        *racks(("a", 8), ("b", 2)), pod("x", node="n2"), kept_to(gang("g", 2)), pod("p1", "g"), pod("p2", "g")
    )
    assert [places(cycle) for cycle in verdicts(world)] == [{"p1": "n1", "p2": "n1"}]


# Scores


def info(cpu: int, used: int, memory: int = 0) -> NodeInfo:
    whole = node("n", cpu)
    whole = evolve(whole, allocatable=Table({"cpu": cpu * 1000, "memory": memory}))
    return NodeInfo(whole, nonzero=Table({"cpu": used * 1000, "memory": BIG}))


def test_place_20_is_the_mean_share_of_all_room_in_the_domain() -> None:
    assert packing([info(3, 1)]) == 33
    assert packing([info(3, 1), info(3, 3)]) == 66
    assert packing([info(3, 9)]) == 100
    assert packing([info(2, 1, 4 * BIG)]) == (50 + 25) // 2
    assert packing([info(0, 1)]) == 0


def test_place_20_pods_without_requests_count_with_the_defaults() -> None:
    bare = evolve(pod("p1", "g"), requests=Table(), scoring_requests=Table({"cpu": 100, "memory": 200 << 20}))
    nodes = [
        evolve(n, allocatable=Table({"cpu": 1000, "memory": 1 << 30, "pods": 9}))
        for n in (node("n1", 1, labels={"rack": "a"}), node("n2", 1, labels={"rack": "b"}))
    ]
    crowd = evolve(bare, name="x", scheduling_group=None, node_name="n2")
    assert {places(c)["p1"] for c in verdicts(there(*nodes, crowd, kept_to(gang("g", 1)), bare))} == {"n2"}


def test_place_21_more_members_outweigh_a_tighter_fit() -> None:
    world = there(
        *racks(("a", 2), ("b", 8)), kept_to(gang("g", 2)), pod("p1", "g"), pod("p2", "g"), pod("p3", "g"),
    )  # fmt: skip
    # rack a: 2 of 3 members, 2/2 CPUs and some memory; rack b: 3 members, 3/8 CPUs: 50 + 66 against 19 + 100.
    assert {places(cycle)["p1"] for cycle in verdicts(world)} == {"n2"}


visits = st.lists(
    st.builds(
        Visit,
        domain=st.just(0),
        results=st.just(()),
        code=st.sampled_from(["Success", "Unschedulable"]),
        packing=st.integers(0, 100),
        placed=st.sampled_from([1, 2, 3, 7, 150, 151, 152, 300]),
    ),
    min_size=1,
    max_size=6,
).map(lambda some: [evolve(one, domain=number) for number, one in enumerate(some)])


@given(visits)
@settings(max_examples=300, deadline=None)
def test_place_22_the_highest_total_wins_and_any_of_equal_ones(some: list[Visit]) -> None:
    kept: set[tuple[Visit, ...]] = {()}
    for one in some:
        kept = {left for so_far in kept for left in ahead(so_far, one, False)}
    won = {winner for left in kept for winner in winners(left)}
    fitting = [one for one in some if one.code == "Success"]
    most = max((one.placed for one in fitting), default=0)
    totals = {one: one.packing + 100 * one.placed // most for one in fitting}
    best = {one for one in fitting if totals[one] == max(totals.values())}
    assert won == (best or set(some))


def test_cho_07_equal_domains_are_a_free_choice_and_rank_takes_the_first() -> None:
    objects = [*racks(("b", 1), ("a", 1)), kept_to(gang("g", 1)), pod("p1", "g")]
    assert {places(cycle)["p1"] for cycle in verdicts(there(*objects))} == {"n1", "n2"}
    ranked = there(*objects, options=evolve(TAS, rank=True))
    assert [places(cycle)["p1"] for cycle in verdicts(ranked)] == ["n2"]


def test_score_14_rank_ignores_what_a_domain_weighs() -> None:
    objects = [*racks(("a", 9), ("b", 1)), kept_to(gang("g", 1)), pod("p1", "g")]
    assert {places(cycle)["p1"] for cycle in verdicts(there(*objects))} == {"n2"}
    assert {places(c)["p1"] for c in verdicts(there(*objects, options=evolve(TAS, rank=True)))} == {"n1"}


def test_score_13_node_scores_do_not_touch_domains() -> None:
    objects = [*racks(("a", 9), ("b", 1)), kept_to(gang("g", 1)), pod("p1", "g")]
    fixed = evolve(TAS, node_scores=Table({"n1": 100}))
    assert {places(cycle)["p1"] for cycle in verdicts(there(*objects, options=fixed))} == {"n2"}
