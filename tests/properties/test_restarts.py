"""INV-39: where a scheduler that starts anew ends as one that goes on, and where it does not."""

from __future__ import annotations

import pytest
from attrs import evolve

from gangproof.impl.actions import Grain, successors
from gangproof.impl.api import create
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import Pod
from gangproof.impl.profiles import INTENDED, only
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.late.restarts import Restarts, restart_equivalence
from gangproof.properties.search.explore import Limits, explore, explore_graph
from gangproof.properties.search.machine import Machine
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import basic, gang, node, pod, world

LIMITS = Limits(states=10_000)
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
STRONG = evolve(gang("g", 1), priority=9)


def victim(name: str, place: str) -> Pod:
    """A running pod that takes a while to go."""
    return evolve(pod(name, node=place), termination_grace_period_seconds=30)


def strong(name: str) -> Pod:
    return evolve(pod(name, "g", preempts=True), priority=9)


WORLDS: dict[str, World] = {
    "one of two members": world(node("n", 1), gang("g", 1), pod("b", "g"), pod("a", "g")),
    "the group comes last": world(
        node("n", 2), pod("a", "g"), pod("b", "g"), pod("c", "g"), gang("g", 2)
    ),
    "too little room": world(node("n", 1), gang("g", 2), pod("a", "g"), pod("b", "g")),
    "between two binds": world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g")),
    "a bind fails": world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), failures=1),
    "a victim goes slowly": world(
        node("n", 1), victim("v", "n"), STRONG, strong("p"), settings=AWARE, kubelet=True
    ),
    "two victims": world(
        node("n", 2), victim("v", "n"), victim("w", "n"), evolve(STRONG, min_count=2), strong("p"), strong("q"),
        settings=AWARE, kubelet=True,
    ),
}  # fmt: skip
FOUND = {
    "one of two members": (44, 438),
    "the group comes last": (24, 576),
    "too little room": (17, 41),
    "between two binds": (17, 427),
    "a bind fails": (25, 836),
    "a victim goes slowly": (23, 208),
    "two victims": (182, 2605),
}
"""From how many worlds it started anew, and how many states were looked at."""


def asked(start: World, rules: Rules = INTENDED) -> Restarts:
    return restart_equivalence(start, rules, LIMITS)


@pytest.mark.parametrize("name", WORLDS)
def test_in_intended_a_restart_makes_no_difference(name: str) -> None:
    found = asked(WORLDS[name])
    assert found.verdict is Verdict.HOLDS, found.violation
    assert (found.worlds, found.states) == FOUND[name]


@pytest.mark.parametrize(
    ("name", "deviations"),
    [
        ("one of two members", ("DEV-11",)),
        ("the group comes last", ("DEV-11",)),
        ("between two binds", ("DEV-19", "DEV-52")),
        ("two victims", ("DEV-19", "DEV-52")),
    ],
)
def test_what_is_known_in_memory_alone_is_lost(name: str, deviations: tuple[str, ...]) -> None:
    """DEV-11: the order of members is that of their admission; DEV-19: a member waits at Permit for the other."""
    found = asked(WORLDS[name], only(*deviations))
    assert found.verdict is Verdict.VIOLATED
    assert found.violation is not None and found.violation.property == "INV-39"


def test_by_the_order_of_members_another_one_is_bound() -> None:
    """DEV-11, QUEUE-13: who was admitted first is first until the restart, then who is read first."""
    found = asked(WORLDS["one of two members"], only("DEV-11"))
    assert found.violation is not None and found.path is not None
    assert found.violation.message == (
        "going on ends in (('default/a', None), ('default/b', 'n')), "
        "starting anew in (('default/a', 'n'), ('default/b', None))"
    )
    assert [str(action) for action in found.path.actions] == [
        "create node/n", "create podGroup/default/g", "create pod/default/b", "create pod/default/a",
    ]  # fmt: skip


def test_a_round_that_is_not_found_again_evicts_once_more() -> None:
    """DEV-29, SEMANTICS 0.5: v is going for p; then u comes, weaker still, and who does not know of v evicts u."""
    start = world(node("n", 1), STRONG, victim("v", "n"), strong("p"), settings=AWARE, kubelet=True)
    for name in (*["create"] * 4, "cycle", "evict"):
        start = next(after for action, after in successors(start, INTENDED) if action.name == name)
    weaker = evolve(pod("u", node="m"), priority=-1)
    start = create(INTENDED, create(INTENDED, start, node("m", 1)), weaker)
    assert asked(start).verdict is Verdict.HOLDS
    assert asked(start, only("DEV-29")).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("start", "other"),
    [
        (world(node("n", 2), gang("g", 2), pod("a", "g", priority=5), pod("b", "g", priority=5), pod("x")), "x"),
        (world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), deletions=1), "b"),
    ],
    ids=["a weaker pod wants the room", "a user deletes a member"],
)  # fmt: skip
def test_a_promise_is_stored_nowhere(start: World, other: str) -> None:
    """BIND-01, ACT-30: whose bind was lost has to be placed anew, and until then others may come between."""
    found = asked(start)
    assert found.violation is not None and found.path is not None
    assert found.path.last.assumed
    assert f"default/{other}" in found.violation.message


def test_a_call_that_lands_late_may_overfill_a_node() -> None:
    """ACT-30: b was placed where a has not been seen, and then the bind of a takes effect; nobody looks again."""
    start = world(node("n", 1), pod("a"), pod("b", priority=5), restarts=1)
    found = explore_graph(Machine(INTENDED, [start]))[1]
    bound = [[pod.node_name for pod in state.pods.values()] for state in found.states]
    assert ["n", "n"] in bound
    assert explore(Machine(INTENDED, [start]), questions(), LIMITS).verdict is Verdict.HOLDS


def test_a_search_that_is_cut_short_compares_nothing() -> None:
    found = restart_equivalence(WORLDS["too little room"], INTENDED, Limits(states=20))
    assert (found.verdict, found.violation) == (Verdict.INCONCLUSIVE, None)


def test_a_restart_in_the_middle_of_a_cycle_ends_no_cycle() -> None:
    """LIVE-13, INV-14: what the cycle would have written is not known any more, and nobody owes it."""
    found = explore(
        Machine(
            INTENDED, [world(node("n", 1), gang("g", 2), pod("a", "g"), pod("b", "g"), restarts=1)], "fine"
        ),
        questions(),
        LIMITS,
    )
    assert (found.verdict, found.states) == (Verdict.HOLDS, 41)


def test_a_bind_that_lands_on_a_node_that_is_gone() -> None:
    """ACT-07, ACT-30: the next cycle of its group does not find the pod on any node, and knows of it all the same."""
    start = world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), lost_nodes=1, restarts=1)
    found = explore(Machine(INTENDED, [start]), questions(), LIMITS)
    assert (found.verdict, found.states) == (Verdict.HOLDS, 122)


@pytest.mark.parametrize(("grain", "states"), [("coarse", 100), ("fine", 737)])
def test_a_member_that_others_bound_and_that_has_ended(grain: Grain, states: int) -> None:
    """ACT-06, ACT-09: it is on no node of the snapshot, and did not come after it."""
    start = world(
        node("n", 1), basic("g"), pod("a", "g"), pod("b", "g"), foreign_binds=1, successes=1, crashes=1
    )
    found = explore(Machine(INTENDED, [start], grain), questions(), LIMITS)
    assert (found.verdict, found.states) == (Verdict.HOLDS, states)
