"""Topology and preemption of sections 6 and 7, and the catalogue of section 10, rule by rule."""

from __future__ import annotations

import pytest
from attrs import evolve
from racks import TAS, kept_to, places, racks, there, verdicts
from runs import AWARE, PLAIN, actions, cycle, queued, running, step, steps

from gangproof.impl.api import create, delete, finish, update
from gangproof.impl.control import NO_CONTROL
from gangproof.impl.cycle_state import Visit
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Bound, LabelSelector, Pod, PodDisruptionBudget, Requirement
from gangproof.impl.placement import NO_DOMAIN, NO_GROUP, most_allocated, winners
from gangproof.impl.preemption.budgets import allowed
from gangproof.impl.preemption.group import TOPOLOGY, trial
from gangproof.impl.preemption.rounds import preempting
from gangproof.impl.profiles import INTENDED, V1_36_3_PROMPT, only
from gangproof.impl.rules import Rules
from gangproof.impl.snapshot import with_pod
from gangproof.impl.store import stored
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World
from gangproof.properties.worlds.named import basic, gang, node, pod

BOTH = Settings(
    gates=evolve(SCENARIO_GATES, workload_aware_preemption=True, topology_aware_workload_scheduling=True)
)


def strong(name: str, group: str | None = None, **fields: object) -> Pod:
    return evolve(pod(name, group, priority=9, preempts=True), **fields)


# Topology


def test_without_a_domain_nobody_is_tried() -> None:
    """PLACE-05."""
    (ended,) = verdicts(there(node("n", 1), kept_to(gang("g", 1)), pod("p", "g")))
    assert (ended.code, ended.message, ended.results) == ("Unschedulable", NO_DOMAIN, ())


def test_a_member_that_is_leaving_pins_the_domain() -> None:
    """PLACE-08: in either profile, until it is gone."""
    leaving = evolve(pod("b", "g", node="n1"), termination_grace_period_seconds=9)
    fuller = pod("other", node="n2", cpu=2)
    objects = [*racks(("r1", 4), ("r2", 4)), fuller, kept_to(gang("g", 1)), leaving, pod("p", "g")]
    for rules in (INTENDED, V1_36_3_PROMPT):
        world = delete(rules, there(*objects, rules=rules), "pod", "default/b")
        assert {places(c)["p"] for c in verdicts(world, rules)} == {"n1"}
        gone = delete(rules, world, "pod", "default/b")
        assert {places(c)["p"] for c in verdicts(gone, rules)} == {"n2"}


def test_every_domain_is_tried() -> None:
    """PLACE-09, PLACE-10: forty racks, of which the last one fits; no one goes outside the rack that is tried."""
    shape = [(f"r{i:02}", 1) for i in range(39)]
    world = there(*racks(*shape, ("z", 2)), kept_to(gang("g", 2)), pod("p1", "g"), pod("p2", "g"),
                  options=evolve(TAS, rank=True))  # fmt: skip
    (outcome,) = {(c.code, tuple(places(c).items())) for c in verdicts(world)}
    assert outcome == ("Success", (("p1", "n40"), ("p2", "n40")))


def test_a_nominated_node_outside_the_domain_is_ignored() -> None:
    """PLACE-10, PLACE-23: and it does not make its domain more likely."""
    objects = [*racks(("r1", 2), ("r2", 2)), kept_to(gang("g", 1))]
    plain = verdicts(there(*objects, pod("p", "g")))
    nominated = verdicts(there(*objects, evolve(pod("p", "g"), nominated_node_name="n1")))
    assert {places(c)["p"] for c in plain} == {places(c)["p"] for c in nominated} == {"n1", "n2"}


def test_an_error_in_one_domain_is_the_answer() -> None:
    """PLACE-11: the group goes while the first of two domains is tried."""
    world = there(*racks(("r1", 2), ("r2", 2)), kept_to(gang("g", 2)), pod("p1", "g"), pod("p2", "g"))
    tried = evolve(step(world, "pop", "snapshot", "place"), groups=Table())
    ended = running(step(tried, "place"))
    assert (ended.stage, ended.code, ended.visited) == ("submitting", "Error", 0)
    assert NO_GROUP.format("default/g") in ended.message


def test_the_first_refusal_is_reported_whichever_that_was() -> None:
    """PLACE-13, CHO-06."""
    members = [pod("p1", "g"), pod("p2", "g")]
    world = there(*racks(("r1", 1), ("r2", 0)), kept_to(gang("g", 2)), *members)
    ends = verdicts(world)
    assert {c.message for c in ends} == {
        "0/2 placements are available, first placement status: pod group is unschedulable"
    }
    assert {tuple(places(c).values()) for c in ends} == {("n1", None), (None, None)}


def test_the_domain_is_not_looked_at_again() -> None:
    """PLACE-16: the label changes between verdict and commit."""
    world = there(*racks(("r1", 2)), kept_to(gang("g", 2)), pod("p1", "g"), pod("p2", "g"))
    decided = step(world, "pop", "snapshot", "place", "place", "weigh")
    moved = evolve(decided.nodes["n1"], labels=Table({"rack": "other"}))
    assert dict(step(update(INTENDED, decided, moved), "submit").assumed) == {
        "default/p1": "n1",
        "default/p2": "n1",
    }


def test_the_score_of_a_placement() -> None:
    """PLACE-20: percent asked for, rounded down for each resource and for the mean, over all its nodes."""
    half = with_pod(NodeInfo(node("a", 4)), pod("x", cpu=2))
    memory = 200 * (1 << 20) * 100 // (64 << 30)
    assert memory == 0
    assert most_allocated([half]) == (50 + memory) // 2
    assert most_allocated([half, NodeInfo(node("b", 4))]) == 25 // 2
    assert most_allocated([NodeInfo(node("c", 0))]) == 0


@pytest.mark.parametrize(
    ("visits", "won"),
    [
        (((10, 2), (20, 2)), {1}),
        (((10, 2), (10, 2)), {0, 1}),
        (((60, 1), (10, 2)), {0, 1}),
        (((61, 1), (10, 2)), {0}),
        (((67, 2), (33, 3)), {0, 1}),
    ],
)
def test_the_highest_total_wins(visits: tuple[tuple[int, int], ...], won: set[int]) -> None:
    """PLACE-21, PLACE-22, CHO-07: packing and the share of the most members, 66 of 100 for two of three."""
    candidates = tuple(Visit(i, (), "Success", packing, placed) for i, (packing, placed) in enumerate(visits))
    assert {visit.domain for visit in winners(candidates)} == won


def test_the_first_members_fix_the_domain_for_all() -> None:
    """PLACE-30, PLACE-34: whoever bound them there."""
    world = there(*racks(("r1", 1), ("r2", 2)), kept_to(basic("g")), pod("b", "g", node="n1"), pod("p", "g"))
    (ended,) = verdicts(world)
    assert (ended.code, places(ended)) == ("Unschedulable", {"p": None})


# Preemption


@pytest.mark.parametrize(
    ("options", "keys", "by_member", "by_group"),
    [
        (PLAIN, None, True, False),
        (TAS, (), False, False),
        (TAS, ("rack",), False, False),
        (AWARE, None, False, True),
        (BOTH, ("rack",), False, False),
        (BOTH, (), False, True),
    ],
)
def test_which_preemption_there_is(
    options: Settings, keys: tuple[str, ...] | None, by_member: bool, by_group: bool
) -> None:
    """PREEMPT-01, PREEMPT-02, PREEMPT-03, PREEMPT-04, PREEMPT-05, PLACE-31, PLACE-32, PLACE-33, CYCLE-40."""
    group = evolve(gang("g", 1), priority=9, topology_keys=keys)
    world = there(*racks(("r1", 1)), pod("v", node="n1"), group, strong("p", "g"), options=options)
    (ended,) = verdicts(world)
    assert any(result.victims for result in ended.results) is by_member
    assert (ended.code == "Waiting") is (by_member or by_group)
    assert bool(cycle(world).rounds) is (by_member or by_group)
    assert (TOPOLOGY in ended.message) is (options == BOTH and bool(keys))


def test_success_never_evicts() -> None:
    """PREEMPT-10: a surplus member that fails waits for a cycle of its own."""
    group = evolve(gang("g", 1), priority=9)
    world = there(
        node("n", 2), pod("v", node="n"), group, strong("p1", "g"), strong("p2", "g"), options=AWARE
    )
    first = cycle(world)
    assert (dict(first.assumed), dict(first.rounds)) == ({"default/p1": "n"}, {})
    later = step(first, "bind", "backoff-over", grain="coarse")
    assert cycle(later).rounds["default/g"].victims[0][0] == "default/v"


def test_a_trial_is_the_whole_algorithm_without_evictions() -> None:
    """PREEMPT-14, PREEMPT-28: only Success counts, and the cycle's own snapshot stays as it was."""
    world = there(node("n", 1), pod("v", node="n"), gang("g", 2), strong("p1", "g"), strong("p2", "g"))
    taken = step(world, "pop", "snapshot")
    now = running(taken)
    assert now.taken is not None
    assert trial(INTENDED, taken, now, now.taken) == (None,)
    single = step(there(node("n", 1), basic("g"), strong("p1", "g"), strong("p2", "g")), "pop", "snapshot")
    seen = running(single).taken
    assert seen is not None
    assert trial(INTENDED, single, running(single), seen) == (Table({"default/p1": "n"}),)
    aware = there(
        node("n", 1), pod("v", node="n"), evolve(gang("g", 1), priority=9), pod("p", "g"), options=AWARE
    )
    for ended in verdicts(aware):
        assert ended.snapshot == ended.taken


def test_victims_are_looked_for_in_the_whole_cluster() -> None:
    """PREEMPT-15, PREEMPT-26, CHO-08: a victim on each node is needed, and all but those are spared."""
    nodes = [node(f"n{i}", 1) for i in (1, 2, 3)]
    weak = [pod(f"v{i}", node=f"n{i}", priority=i) for i in (1, 2, 3)]
    group = evolve(gang("g", 2), priority=9)
    world = there(*nodes, *weak, group, strong("p1", "g"), strong("p2", "g"), options=AWARE)
    assert {tuple(dict(c.victims)) for c in verdicts(world)} == {("default/v2", "default/v1")}


@pytest.mark.parametrize(("call", "rules"), [("prebind", INTENDED), ("permit", only("DEV-19", "DEV-52"))])
def test_a_victim_that_only_waits_is_sent_back(call: str, rules: Rules) -> None:
    """PREEMPT-30, ACT-22: no API delete."""
    if call == "prebind":
        world = there(node("n", 1), pod("v"), options=PLAIN)
        held = evolve(world.environment, held=("prebind/default/v",))
        world = cycle(evolve(world, environment=held))
    else:
        world = there(node("n", 1), gang("h", 2), pod("v", "h"), pod("w", "h", cpu=9), rules=rules)
        world = evolve(world, groups=world.groups.put("default/h", gang("h", 1)))
        world = cycle(world, rules)
        world = evolve(
            world, bindings=world.bindings.put("default/v", evolve(world.bindings["default/v"], call=call))
        )
    assert world.bindings["default/v"].call == call
    after = rules.preempt(rules, world, "default/v")
    assert "default/v" not in after.assumed
    assert not after.pods["default/v"].terminating
    assert after.ghost.sent_back == ("default/v",)
    assert queued(after)["v"] == "backoff"


def test_a_bound_victim_is_deleted_with_its_own_grace() -> None:
    """PREEMPT-30, ACT-22, ACT-05: one that is being bound goes as well; one that is gone counts as done."""
    graceful = evolve(pod("v", node="n"), termination_grace_period_seconds=9)
    world = cycle(there(node("n", 1), graceful, strong("p"), options=PLAIN))
    evicted = step(world, "evict")
    assert evicted.pods["default/v"].terminating
    assert evicted.rounds["=default/p"].calls == ()
    gone = step(delete(INTENDED, delete(INTENDED, world, "pod", "default/v"), "pod", "default/v"), "evict")
    assert (dict(gone.rounds), gone.ghost.evicted) == ({}, ())


def test_all_calls_but_the_last_are_open_at_once() -> None:
    """PREEMPT-31, CHO-12, ACT-23: in any order; when the last has ended and its victim is gone the round is over."""
    weak = [evolve(pod(f"v{i}", node="n"), start_time=i) for i in (1, 2, 3)]
    group = evolve(gang("g", 1), priority=9)
    world = cycle(there(node("n", 3), *weak, group, evolve(strong("p", "g"), requests=Table({"cpu": 3000})),
                        options=AWARE))  # fmt: skip
    calls = [victim for victim, _ in world.rounds["default/g"].calls]
    open_first = [a.args[0] for a in actions(world) if a.name == "evict"]
    assert open_first == calls[:2]
    one = step(world, f"evict {calls[1]}")
    assert [a.args[0] for a in actions(one) if a.name == "evict"] == [calls[0]]
    two = step(one, f"evict {calls[0]}")
    assert [a.args[0] for a in actions(two) if a.name == "evict"] == [calls[2]]
    assert not step(two, f"evict {calls[2]}").rounds


def test_the_preemptor_is_held_back_while_calls_are_open() -> None:
    """PREEMPT-33, PREEMPT-42: the last call holds it only until its victim has a deletion timestamp."""
    graceful = [
        evolve(pod(f"v{i}", node="n"), termination_grace_period_seconds=9, start_time=i) for i in (1, 2)
    ]
    group = evolve(gang("g", 1), priority=9)
    big = evolve(strong("p", "g"), requests=Table({"cpu": 2000}))
    world = cycle(there(node("n", 2), *graceful, group, big, options=AWARE))
    p = world.pods["default/p"]
    assert queued(world) == {"p": "gated"}
    calls = [victim for victim, _ in world.rounds["default/g"].calls]
    one = step(world, f"evict {calls[0]}")
    assert preempting(one, p)
    assert not preempting(delete(INTENDED, one, "pod", calls[1]), p)
    assert not preempting(evolve(one, groups=Table()), p)
    two = step(one, f"evict {calls[1]}")
    assert not preempting(two, p)
    for victim in calls:
        two = delete(INTENDED, two, "pod", victim)
    assert queued(two)["p"] in ("active", "backoff")


def test_who_may_evict_at_all() -> None:
    """PREEMPT-13, PREEMPT-45: not with policy Never, of one member in a group that evicts as a whole."""
    plain = there(node("n", 1), pod("v", node="n"), pod("p", priority=9), options=PLAIN)
    assert [c.code for c in verdicts(plain)] == ["Unschedulable"]
    group = evolve(gang("g", 1), priority=9)
    meek = pod("p2", "g", priority=9)
    aware = there(node("n", 1), pod("v", node="n"), group, strong("p1", "g"), meek, options=AWARE)
    assert [c.code for c in verdicts(aware)] == ["Unschedulable"]


def test_a_pod_waits_for_its_victim_on_the_nominated_node() -> None:
    """PREEMPT-45: when shipped, a lower victim of a preemption that is going there; elsewhere it chooses anew."""
    shipped = only("DEV-29")
    graceful = evolve(pod("v", node="n1"), termination_grace_period_seconds=9)
    world = there(node("n1", 1), graceful, strong("p"), options=PLAIN, rules=shipped)
    evicted = step(cycle(world, shipped), "evict", rules=shipped)
    assert evicted.pods["default/p"].nominated_node_name == "n1"
    more = create(shipped, create(shipped, evicted, node("n2", 1)), pod("w", node="n2"))
    p = more.pods["default/p"]
    assert {c.victims for c in verdicts(_active(more), shipped)} == {()}
    astray = more.with_pod(evolve(p, nominated_node_name="n2"))
    assert {bool(c.victims) for c in verdicts(_active(astray), shipped)} == {True}


def _active(world: World) -> World:
    return evolve(world, queue=tuple(evolve(e, place="active", cooling=False) for e in world.queue))


def test_a_sibling_may_be_evicted_when_shipped() -> None:
    """PREEMPT-48, PREEMPT-21: pod by pod, by the pods' own priorities."""
    world = there(node("n", 1), basic("g"), pod("b", "g", node="n"), strong("p", "g"), options=PLAIN)
    assert [c.code for c in verdicts(world)] == ["Unschedulable"]
    assert [c.results[0].victims for c in verdicts(world, only("DEV-31"))] == [("default/b",)]


def test_lone_pods_know_no_groups_when_shipped() -> None:
    """PREEMPT-06, OBS-06: one of two members of a group that is to go as a whole goes."""
    group = evolve(gang("h", 1), priority=1, disruption_mode="PodGroup")
    members = [pod("v1", "h", node="n1"), pod("v2", "h", node="n2")]
    world = there(node("n1", 1), node("n2", 1), group, *members, strong("p"), options=AWARE)
    for ended in verdicts(world):
        assert sorted(dict(ended.victims)) == ["default/v1", "default/v2"]
    parts = [
        step(w, "evict", rules=only("DEV-28"))
        for w in steps(world, "cycle", rules=only("DEV-28"), grain="coarse")
    ]
    assert {len(part.members["default/h"].assigned) for part in parts} == {1}


def test_nominations_when_shipped_are_those_of_the_failed_attempt() -> None:
    """PREEMPT-41, OBS-05, OBS-07: the room that a victim leaves is nobody's; in *intended* it is the member's."""
    group = evolve(gang("g", 2), priority=9)
    objects = [node("n1", 1), node("n2", 1), pod("v", node="n2"), group, strong("p1", "g"), strong("p2", "g")]
    world = there(*objects, options=AWARE)
    plans = {tuple(w.nominations.items()) for w in steps(world, "cycle", grain="coarse")}
    assert plans == {
        (("default/p1", "n1"), ("default/p2", "n2")),
        (("default/p1", "n2"), ("default/p2", "n1")),
    }
    shipped = steps(world, "cycle", rules=only("DEV-37"), grain="coarse")
    assert {tuple(w.nominations.items()) for w in shipped} == {(("default/p1", "n1"),)}


# The catalogue


def test_equal_scores_leave_the_choice_open() -> None:
    """CHO-05, CYCLE-16: one world for each node."""
    world = there(node("n1", 1), node("n2", 1), node("n3", 1), pod("p"))
    assert {places(c)["p"] for c in verdicts(world)} == {"n1", "n2", "n3"}


def test_equal_candidates_leave_the_choice_open() -> None:
    """CHO-09, PREEMPT-46, PREEMPT-47."""
    weak = [evolve(pod(f"v{i}", node=f"n{i}"), start_time=1) for i in (1, 2)]
    world = there(node("n1", 1), node("n2", 1), *weak, strong("p"), options=PLAIN)
    assert {tuple(dict(c.victims)) for c in verdicts(world)} == {("default/v1",), ("default/v2",)}


def test_among_equal_candidates_that_with_the_later_earliest_start_is_chosen() -> None:
    """PREEMPT-47: on n1 the victims started at 2 and 3, on n2 at 1 and 9."""
    starts = {"n1": (2, 3), "n2": (1, 9)}
    weak = [
        evolve(pod(f"{node}-{start}", node=node), start_time=start)
        for node, both in starts.items()
        for start in both
    ]
    big = evolve(strong("p"), requests=Table({"cpu": 2000}))
    world = there(node("n1", 2), node("n2", 2), *weak, big, options=PLAIN)
    assert {places(c)["p"] for c in verdicts(world)} == {"n1"}


def test_the_order_in_which_members_are_seen_may_decide() -> None:
    """CHO-14, PLACE-06: when shipped, one in the domain of the empty value is overlooked or in conflict."""
    members = [pod("a", "g", node="n1"), pod("b", "g", node="n2")]
    world = there(*racks(("", 2), ("r1", 2)), kept_to(gang("g", 1)), *members, pod("p", "g"))
    assert {c.code for c in verdicts(world)} == {"Error"}
    assert {(c.code, places(c).get("p")) for c in verdicts(world, only("DEV-25"))} == {
        ("Error", None),
        ("Success", "n2"),
    }


def test_the_steps_of_a_cycle() -> None:
    """ACT-11, ACT-12, ACT-13, ACT-14, ACT-15, ACT-16, ACT-17: one after the other, each an action of its own."""
    world = there(node("n", 1), gang("g", 2), pod("p1", "g"), pod("p2", "g"), options=AWARE)
    seen: list[str] = []
    while not seen or world.cycle is not None:
        (action,) = actions(world)
        seen.append(action.name)
        world = step(world, str(action))
    assert seen == ["pop", "snapshot", "place", "place", "submit", "report"]


def test_what_users_and_kubelets_do() -> None:
    """ACT-01, ACT-02, ACT-03, ACT-05, ACT-06, ACT-09, ACT-27, OBS-10: to a group with a member, and to the member."""
    world = there(node("n", 1), gang("g", 1), evolve(pod("p", "g"), termination_grace_period_seconds=9))
    world = delete(INTENDED, world, "podGroup", "default/g")
    assert world.groups["default/g"].terminating
    world = update(INTENDED, world, evolve(world.pods["default/p"], node_name="n", phase="Running"))
    assert world.members["default/g"].assigned == ("default/p",)
    ended = finish(INTENDED, world, "default/p", True)
    assert (ended.pods["default/p"].phase, dict(ended.groups)) == ("Succeeded", {})
    going = delete(INTENDED, world, "pod", "default/p")
    assert (going.pods["default/p"].terminating, "default/g" in going.groups) == (True, True)
    gone = delete(INTENDED, going, "pod", "default/p")
    assert (dict(gone.pods), dict(gone.groups)) == ({}, {})


def test_what_happens_to_nodes() -> None:
    """ACT-07: a pod on a node that goes stays until somebody deletes it, and holds no room elsewhere."""
    world = there(node("n", 1), pod("p", node="n"))
    gone = delete(INTENDED, world, "node", "n")
    assert gone.pods["default/p"].node_name == "n"
    assert [c.code for c in verdicts(create(INTENDED, gone, pod("q")))] == ["Unschedulable"]
    grown = update(INTENDED, world, node("n", 2))
    assert [places(c) for c in verdicts(create(INTENDED, grown, pod("q")))] == [{"q": "n"}]


def test_budgets_change_from_outside() -> None:
    """ACT-08: what the API says is what preemption reads."""
    app = LabelSelector((Requirement("app", "In", ("a",)),))
    budget = PodDisruptionBudget("default", "b", selector=app, min_available=Bound(1))
    covered = [evolve(pod(f"v{i}", node="n"), labels=Table({"app": "a"})) for i in (1, 2)]
    world = there(node("n", 2), *covered, budget)
    assert allowed(world, world.budgets["default/b"]) == 1
    stored = evolve(world.budgets["default/b"], disruptions_allowed=0)
    refreshed = update(INTENDED, world, stored)
    assert allowed(refreshed, refreshed.budgets["default/b"]) == 0


def test_a_view_may_lag() -> None:
    """ACT-10, CYCLE-55: when shipped, the group as the scheduler sees it is the one before its own write."""
    lagging = only("DEV-22")
    world = cycle(there(node("n", 1), gang("g", 1), pod("p", "g")), lagging)
    assert world.groups["default/g"].condition is None
    assert stored(world, "podGroup")["default/g"].condition is not None
    caught_up = step(world, "see scheduler podGroup/default/g", rules=lagging)
    assert caught_up.control == NO_CONTROL
    assert caught_up.groups == stored(world, "podGroup")
    prompt = cycle(there(node("n", 1), gang("g", 1), pod("p", "g")))
    assert prompt.groups == caught_up.groups
