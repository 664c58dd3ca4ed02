"""ACT-09 at every moment of a cycle: another scheduler binds a member, and no promise breaks or seems to break."""

from __future__ import annotations

import pytest
from attrs import evolve, frozen

from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.machine import Machine, settle
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.worlds.named import basic, gang, node, pod, world

RACKS = Settings(gates=evolve(SCENARIO_GATES, topology_aware_workload_scheduling=True))
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
STRONG = evolve(gang("g", 2), priority=9)
PREEMPTORS = tuple(evolve(pod(name, "g", preempts=True), priority=9) for name in "ab")
A, B = pod("a", "g"), pod("b", "g")


@frozen
class Case:
    """A world in which others bind, and how many states it has."""

    start: World
    states: int


CASES = {
    "before the snapshot a member is bound, and tried on top of itself": Case(
        world(node("n", 2), gang("g", 2), A, B, foreign_binds=1), 61
    ),
    "of two whom the cycle overlooked one goes": Case(
        world(node("n", 2), basic("g"), A, B, foreign_binds=2, deletions=1), 1112
    ),
    "one of three": Case(
        world(node("n", 1), node("m", 2), gang("g", 2), A, B, pod("c", "g"), foreign_binds=1), 676
    ),
    "the scheduler starts anew, and forgets whom its cycle overlooked": Case(
        world(node("n", 1), basic("g"), A, foreign_binds=1, restarts=1), 97
    ),
    "plain pods": Case(world(node("n", 2), pod("a"), pod("b"), foreign_binds=2), 289),
    "out of the domain": Case(
        world(
            *(node("n", 2, labels={"rack": "r"}), node("m", 2, labels={"rack": "s"})),
            *(evolve(gang("g", 2), topology_keys=("rack",)), A, B),
            settings=RACKS,
            foreign_binds=1,
        ),
        173,
    ),
    "a preemptor": Case(
        world(
            *(node("n", 1), node("m", 2), pod("v", node="n"), STRONG, *PREEMPTORS),
            settings=AWARE,
            foreign_binds=1,
            kubelet=True,
        ),
        65,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_promise_is_kept(name: str) -> None:
    """ACT-09, QUEUE-02, CYCLE-06, INV-07, INV-21: in the fine grain, and the contract allows each step."""
    case = CASES[name]
    machine = Machine(INTENDED, [case.start], "fine", Symmetry())
    found = settle(machine, questions(), Limits(states=5000)).exploration
    assert (found.stop, found.counterexamples, found.states) == ("exhausted", {}, case.states)
