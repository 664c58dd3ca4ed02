"""The one way that is followed in a large cluster is one of all ways, and what is counted is what is played."""

from __future__ import annotations

from attrs import evolve
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from gangproof.impl.bulk import world_of
from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.impl.gates import FeatureGates, Object
from gangproof.impl.objects import Node, Pod, PodGroup, Taint
from gangproof.impl.preemption.group import trial
from gangproof.impl.preemption.spare import Plan
from gangproof.impl.preemption.units import importance, orders
from gangproof.impl.profiles import INTENDED
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World
from gangproof.properties.explanation.attempts import alone, verdicts
from gangproof.properties.explanation.edits import with_nodes
from gangproof.properties.explanation.explain import explain
from gangproof.properties.explanation.ways import one_way, slots_needed, spare_by_counting

GATES = FeatureGates(generic_workload=True, gang_scheduling=True, workload_aware_preemption=True)
GROUP = "default/g"


@st.composite
def clusters(draw: DrawFn, same: bool = False, strength: int = 5) -> World:
    """A gang of this priority on up to three nodes with pods of 0 to 6; its members alike if `same`."""
    numbers = range(draw(st.integers(1, 3)))
    things: list[Object] = [
        Node(
            f"n{n}",
            Table({"cpu": draw(st.integers(1, 4)), "pods": 9}),
            taints=draw(st.sampled_from([(), (), (Taint("t", "NoSchedule"),)])),
            unschedulable=draw(st.sampled_from([False, False, True])),
        )
        for n in numbers
    ]
    free = {node.name: node.allocatable["cpu"] for node in things if isinstance(node, Node)}
    things.append(PodGroup("default", "g", min_count=draw(st.integers(1, 3)), priority=strength))
    things.append(
        PodGroup("default", "w", min_count=1, priority=draw(st.integers(0, 6)), disruption_mode="PodGroup")
    )
    for number in range(draw(st.integers(0, 6))):
        node, cpu = draw(st.sampled_from(sorted(free))), draw(st.integers(1, 2))
        if free[node] >= cpu:
            free[node] -= cpu
            things.append(
                Pod(
                    "default", f"x{number}", node_name=node, phase="Running", requests=Table({"cpu": cpu}),
                    priority=draw(st.integers(0, 6)), scheduling_group=draw(st.sampled_from([None, None, "w"])),
                )
            )  # fmt: skip
    size = st.integers(1, 2)
    cpu = draw(size)
    for number in range(draw(st.integers(1, 3))):
        asked = Table({"cpu": cpu if same else draw(size)})
        things.append(Pod("default", f"g{number}", scheduling_group="g", requests=asked, priority=strength))
    return world_of(INTENDED, things, Settings(gates=GATES))


@given(world=clusters(same=True) | clusters(strength=0))
@settings(max_examples=200, deadline=None)
def test_the_one_way_is_one_of_all_ways(world: World) -> None:
    """CYCLE-16, SCORE-12, CHO-08: verdict, places and victims of the one way are among those of all.

    Members that differ are looked at where nobody is weaker: a trial that fails by its ties alone is no outcome
    of the group step.
    """

    def told(cycle: Cycle) -> object:
        return (cycle.code, tuple((r.pod, r.node) for r in cycle.results), cycle.victims)

    every = {told(cycle) for _, cycle in verdicts(alone(world, GROUP), INTENDED)}
    one = [told(cycle) for _, cycle in verdicts(alone(world, GROUP), one_way(INTENDED))]
    assert set(one) <= every
    assert bool(one) == bool(every)


@given(world=clusters(same=True))
@settings(max_examples=150, deadline=None)
def test_counting_places_spares_whom_the_trials_spare(world: World) -> None:
    """THM-01: members that are alike fit exactly if there are places enough, so both spare the same units."""
    tried = next(verdicts(alone(world, GROUP), INTENDED), None)
    assume(tried is not None and tried[1].code in ("Unschedulable", "Waiting"))
    assert tried is not None
    at, cycle = tried
    assert cycle.taken is not None
    cycle = evolve(cycle, victims=(), code=None)
    needed = slots_needed(at, cycle, cycle.taken)
    assert needed is not None
    candidates = INTENDED.victims(at, cycle.taken.nodes, cycle.members[0])
    order = next(orders(candidates, importance))

    def play(seen: Snapshot) -> tuple[Plan | None, ...]:
        return trial(one_way(INTENDED), at, cycle, seen)

    played = INTENDED.spare(cycle.taken, order, play)
    counted = spare_by_counting(cycle.taken, order, play, cycle.members[0], needed)
    assert [one and one.victims for one in counted] == [one and one.victims for one in played][:1]


@given(world=clusters())
@settings(max_examples=100, deadline=None)
def test_a_change_that_is_told_to_help_is_told_truly(world: World) -> None:
    """Node changes are made by hand here; the changed world is then explained anew, and finds a place."""
    told = explain(world, INTENDED, "podGroup", GROUP)
    for one in told.suggestions:
        node = next((n for n in world.nodes.values() if one.text == f"uncordon node {n.name}"), None)
        if node is not None and one.outcome == "placed":
            after = explain(
                with_nodes(world, [evolve(node, unschedulable=False)]), INTENDED, "podGroup", GROUP
            )
            assert after.state in ("fits", "varies")
        if one.kind == "minimum" and one.outcome == "placed":
            least = int(one.text.split(" to ")[1].split()[0])
            group = evolve(world.groups[GROUP], min_count=least)
            after = explain(evolve(world, groups=world.groups.put(GROUP, group)), INTENDED, "podGroup", GROUP)
            assert after.state in ("fits", "varies", "gated")
            assert after.quorum is None or after.quorum.minimum == least


def test_a_large_world_is_tried_one_way() -> None:
    """Forty equal nodes and ten members: following all ties would be 40¹⁰ ways."""
    things: list[Object] = [Node(f"n{n}", Table({"cpu": 2, "pods": 9})) for n in range(40)]
    things.append(PodGroup("default", "g", min_count=10))
    things += [Pod("default", f"g{n}", scheduling_group="g", requests=Table({"cpu": 2})) for n in range(10)]
    told = explain(world_of(INTENDED, things, Settings(gates=GATES)), INTENDED, "podGroup", GROUP)
    assert told.state == "fits"
    assert len({member.node for member in told.members}) == 10
