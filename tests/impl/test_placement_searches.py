"""Theorems of topology-aware placement, and small worlds of it searched in full."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from racks import TAS, kept_to, racks, there, verdicts

from gangproof.impl.actions import Action, Grain, successors
from gangproof.impl.gates import Object
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import Limits, explore, explore_graph
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.quotient import compare
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import basic, gang, node, pod


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=4),
    st.integers(1, 4),
    st.integers(1, 4),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_thm_02_homogeneous_gangs_are_placed_iff_some_domain_holds_enough(
    shape: list[tuple[str, int]], minimum: int, size: int, pinned: bool
) -> None:
    nodes = [*racks(*shape), node("n0", 1, labels={"rack": "a"})]
    before = [pod("m", "g", node="n0")] if pinned else []
    members = [pod(f"p{i}", "g") for i in range(size)]
    world = there(*nodes, kept_to(gang("g", minimum)), *before, *members)
    if size + len(before) < minimum:
        assert all(entry.place == "gated" for entry in world.queue)
        return
    room = {rack: sum(cpu for r, cpu in shape if r == rack) + (rack == "a" and not pinned) for rack in "abc"}
    holds = [
        min(size, room[rack]) for rack in ("a" if pinned else "abc") if rack == "a" or rack in dict(shape)
    ]
    fits = any(k >= 1 and k + len(before) >= minimum for k in holds)
    for cycle in verdicts(world):
        assert cycle.code == ("Success" if fits else "Unschedulable")
        if fits:
            assert sum(result.kept for result in cycle.results) in holds


PLAIN = pod("low", node="n1", priority=0)


@pytest.mark.parametrize("keys", [("rack",), ()])
@pytest.mark.parametrize("aware", [True, False])
def test_place_31_to_33_a_group_with_a_key_never_evicts(keys: tuple[str, ...], aware: bool) -> None:
    gates = evolve(TAS.gates, workload_aware_preemption=aware)
    group = evolve(gang("g", 1), topology_keys=keys, priority=100)
    strong = evolve(pod("p1", "g", priority=100), preemption_policy="PreemptLowerPriority")
    (cycle,) = verdicts(there(*racks(("a", 1)), PLAIN, group, strong, options=Settings(gates=gates)))
    assert bool(cycle.victims) == (aware and not keys)
    if aware and keys:
        refused = "workload aware preemption is not supported for pod groups with scheduling constraints"
        assert cycle.message.endswith(refused)


def coming(nodes: list[Object], *objects: Object, **environment: object) -> World:
    """The nodes are there, the objects are about to arrive."""
    world = there(*nodes)
    return evolve(world, environment=evolve(world.environment, arrivals=objects, **environment))


GANG = (kept_to(gang("g", 2)), pod("p1", "g"), pod("p2", "g"))
HOSTS = (kept_to(gang("g", 2), "kubernetes.io/hostname"), pod("p1", "g"), pod("p2", "g"))
LOOSE = (kept_to(basic("g")), pod("p1", "g"), pod("x"), pod("p2", "g"))
THREE = racks(("a", 1), ("b", 1), ("b", 1))
LATE = coming(racks(("a", 1), ("a", 1), ("b", 1), ("b", 2)), *GANG, pod("p3", "g"))
WORLDS: dict[str, World] = {
    "a late member": LATE,
    "any order": coming(THREE, *GANG, any_order=True),
    "a bind fails and a pod is deleted": coming(THREE, *GANG, failures=1, deletions=1),
    "basic, beside a plain pod": coming(racks(("a", 1), ("b", 2)), *LOOSE),
    "a domain a node": coming([node("n1", 2), node("n2", 2)], *HOSTS, failures=1),
}
GRAINS: tuple[Grain, ...] = ("coarse", "fine")


@pytest.mark.parametrize("grain", GRAINS)
@pytest.mark.parametrize("name", list(WORLDS))
def test_the_contract_allows_every_step(name: str, grain: Grain) -> None:
    asked = evolve(
        questions(), witnesses={"a domain is chosen": lambda w: bool(w.cycle is None and w.assumed)}
    )
    searched = explore(Machine(INTENDED, [WORLDS[name]], grain), asked, Limits(states=20_000))
    assert searched.verdict is Verdict.HOLDS, str(searched)


@pytest.mark.parametrize("grain", GRAINS)
@pytest.mark.parametrize("name", list(WORLDS))
def test_names_of_nodes_and_domains_do_not_change_what_is_found(name: str, grain: Grain) -> None:
    comparison = compare(Machine(INTENDED, [WORLDS[name]], grain), Symmetry())
    assert comparison.differences == ()
    assert comparison.reduced.states <= comparison.full.states


def test_thm_19_late_members_obey_the_domain() -> None:
    rack = {"n1": "a", "n2": "a", "n3": "b", "n4": "b"}
    met = set[str]()
    for end in explore_graph(Machine(INTENDED, [LATE]), None, Limits(states=20_000))[1].states:
        used = {rack[p.node_name] for p in end.pods.values() if p.node_name}
        assert len(used) <= 1
        met |= used if len(end.pods) == 3 else set()
    assert met == {"a", "b"}


def test_the_coarse_cycle_is_among_the_fine_ones_and_tells_where_the_members_went() -> None:
    world = there(*racks(("a", 2), ("b", 2)), kept_to(gang("g", 2)), pod("p1", "g"), pod("p2", "g"))
    coarse = [(action, after) for action, after in successors(world, INTENDED) if action.name == "cycle"]
    assert {action for action, _ in coarse} == {
        Action("cycle", ("default/g", "Success", f"default/p1→{n}", f"default/p2→{n}")) for n in ("n1", "n2")
    }
    for action, after in coarse:
        now = world
        for step in action.via:
            assert step in successors(now, INTENDED, "fine")
            now = step[1]
        assert now == after
