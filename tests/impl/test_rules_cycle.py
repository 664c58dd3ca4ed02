"""The cycle, the commit and the gang plugin of sections 4 and 5, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from racks import places, there, verdicts
from runs import AWARE, NO_GANGS, PLAIN, actions, cycle, members, queued, running, step, steps

from gangproof.impl.actions import permit_timeouts
from gangproof.impl.api import create, delete, finish, update
from gangproof.impl.commit import own_result
from gangproof.impl.cycle import DIFFERENT_NAMES, UNSCHEDULABLE
from gangproof.impl.cycle_state import Cycle, Result, Snapshot
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.memory import Members
from gangproof.impl.objects import Condition, NodeAffinity, NodeSelectorTerm, Requirement
from gangproof.impl.profiles import INTENDED, V1_36_3_PROMPT
from gangproof.impl.rules import Rules, profile
from gangproof.impl.table import Table
from gangproof.impl.world import Environment, World
from gangproof.properties.worlds.named import HOSTNAME, basic, gang, node, pod

CHANGES = {deviation.id: deviation.change for deviation in DEVIATIONS}
WAITING = profile(INTENDED, CHANGES["DEV-19"], CHANGES["DEV-52"])
"""Members are committed one by one, and who is short of the minimum waits at Permit."""


def pair(**settings: object) -> World:
    """A gang of two that fits on one node."""
    return there(
        node("n", 2), gang("g", 2), pod("p1", "g"), pod("p2", "g"), options=evolve(PLAIN, **settings)
    )


def test_every_member_goes_through_the_cycle_of_its_group() -> None:
    """CYCLE-02: a late one alone too."""
    world = there(
        node("n", 3), gang("g", 2), pod("p1", "g", node="n"), pod("p2", "g", node="n"), pod("p3", "g")
    )
    popped = step(world, "pop")
    assert (running(popped).group, members(popped)) == ("default/g", ["p3"])


def test_the_group_is_read_when_it_is_needed() -> None:
    """CYCLE-03, CYCLE-04, CYCLE-25, GANG-08: it goes while its members are tried, and Permit answers Error."""
    tried = step(pair(), "pop", "snapshot", "place default/p1")
    assert running(tried).results[0].kept
    gone = evolve(tried, groups=Table())
    ended = running(step(gone, "place default/p2"))
    assert ended.code == "Error"
    assert [result.error for result in ended.results] == ["", "podgroup default/g not found"]


def test_scheduler_names_are_compared_among_those_who_are_tried() -> None:
    """CYCLE-05: bound members are not asked."""
    settings = {"profiles": ("a", "b")}
    a1, a2 = (evolve(pod(name, "g"), scheduler_name="a") for name in ("a1", "a2"))
    b1, b2 = evolve(pod("b1", "g"), scheduler_name="b"), evolve(pod("b2", "g", node="n"), scheduler_name="b")
    options = evolve(PLAIN, **settings)
    (mixed,) = verdicts(there(node("n", 3), gang("g", 2), a1, b1, options=options))
    assert (mixed.code, mixed.message, mixed.snapshot) == ("Error", DIFFERENT_NAMES, None)
    (alike,) = verdicts(there(node("n", 3), gang("g", 2), a1, a2, b2, options=options))
    assert alike.code == "Success"


def test_the_minimum_is_judged_by_permit_alone() -> None:
    """CYCLE-06, CYCLE-07, CYCLE-26: one of two members goes after the pop, the other is tried all the same."""
    popped = step(pair(), "pop")
    dying = evolve(popped.pods["default/p2"], finalizers=("keep",))
    began = step(delete(INTENDED, popped.with_pod(dying), "pod", "default/p2"), "snapshot")
    assert (running(began).stage, members(began)) == ("placing", ["p1"])
    assert "default/p2" not in began.in_flight
    ended = running(step(began, "place"))
    assert (ended.code, ended.results[0].node) == ("Unschedulable", "n")


def test_the_snapshot_is_what_the_cycle_sees() -> None:
    """CYCLE-08, CYCLE-09, ACT-13, ACT-14: a node that comes later is not seen, and the live cache is not written."""
    world = step(pair(), "pop", "snapshot")
    later = create(INTENDED, world, node("n2", 9))
    ended = step(later, "place", "place")
    assert places(running(ended)) == {"p1": "n", "p2": "n"}
    assert ended.cache == later.cache
    assert ended.members == later.members


def test_a_member_that_others_bind_before_the_snapshot_is_there_twice_until_the_undo() -> None:
    """CYCLE-06, CYCLE-19, CYCLE-23, INV-07: it is tried all the same, and takes room once more while it is."""
    popped = step(evolve(pair(), environment=Environment(foreign_binds=1)), "pop")
    bound = step(popped, "foreign-bind default/p1")
    tried = step(bound, "snapshot", "place default/p1")
    assert members(tried) == ["p1", "p2"]
    seen = running(tried).snapshot
    assert seen is not None
    assert (seen.nodes["n"].used["cpu"], seen.nodes["n"].used["pods"]) == (2000, 2)
    ended = running(step(tried, "place default/p2"))
    assert (places(ended), ended.code) == ({"p1": "n", "p2": None}, "Unschedulable")
    assert ended.snapshot == ended.taken
    assert ended.taken is not None and list(ended.taken.nodes["n"].pods) == ["default/p1"]


def test_without_nodes_nobody_is_placed() -> None:
    """CYCLE-11: and a nomination that there was is cleared."""
    world = there(gang("g", 1), evolve(pod("p", "g"), nominated_node_name="n"))
    (ended,) = verdicts(world)
    assert (ended.code, ended.results) == ("Unschedulable", (Result("default/p"),))
    assert cycle(world).pods["default/p"].nominated_node_name is None


def only_on(*names: str) -> NodeAffinity:
    return NodeAffinity(
        required=(NodeSelectorTerm(fields=(Requirement("metadata.name", "In", names),)),),
    )


def test_prefilter_may_leave_some_nodes_or_none() -> None:
    """CYCLE-12: one plugin names the nodes, and a name that no node has leaves none."""
    nodes = [node("n1", 1), node("n2", 1)]
    named = evolve(pod("p"), node_affinity=only_on("n2"))
    assert [places(c) for c in verdicts(there(*nodes, named))] == [{"p": "n2"}]
    nowhere = evolve(pod("p"), node_affinity=only_on("n3"))
    (refused,) = verdicts(there(*nodes, nowhere))
    assert refused.results == (Result("default/p", plugins=("NodeAffinity",)),)


def test_the_nominated_node_is_tried_first_and_wins_without_a_score() -> None:
    """CYCLE-13: if it fits; otherwise all are tried."""
    scores = Table({"n1": 0, "n2": 100, "n3": 50})
    nodes = [node("n1", 1), node("n2", 1), node("n3", 1)]

    def chosen(*more: Any) -> list[dict[str, str | None]]:
        nominated = evolve(pod("p"), nominated_node_name="n1")
        world = there(*nodes, *more, nominated, options=evolve(PLAIN, node_scores=scores))
        return [places(c) for c in verdicts(world)]

    assert chosen() == [{"p": "n1"}]
    assert chosen(pod("there", node="n1")) == [{"p": "n2"}]


@pytest.mark.parametrize(("priority", "place"), [(0, "n2"), (1, "n2"), (2, "n1")])
def test_nominated_pods_count_if_they_are_as_strong(priority: int, place: str) -> None:
    """CYCLE-14: the room on n1 is another's, unless p is stronger than it."""
    held = evolve(pod("q", priority=1, gates=["wait"]), nominated_node_name="n1")
    scores = Table({"n1": 100})
    world = there(
        node("n1", 1),
        node("n2", 1),
        held,
        pod("p", priority=priority),
        options=evolve(PLAIN, node_scores=scores),
    )
    world = evolve(world, nominations=Table({"default/q": "n1"}))
    assert [places(c) for c in verdicts(world)] == [{"p": place}]


def test_the_search_ends_early_only_among_nodes_that_fit() -> None:
    """CYCLE-15: the last of many nodes is found if it is the only one."""
    full = [node(f"n{i:03}", 1) for i in range(130)]
    world = there(*full, node("z", 2), pod("p", cpu=2))
    assert [places(c) for c in verdicts(world)] == [{"p": "z"}]


def test_evictions_are_asked_for_only_where_no_node_fits() -> None:
    """CYCLE-17, CYCLE-18: with a tentative node and its victims; a member that cannot even so fails, others go on."""
    weak, strong = pod("v", node="n1"), pod("p", "g", priority=1, preempts=True)
    free = there(node("n1", 1), node("n2", 1), basic("g"), weak, strong)
    assert [c.results for c in verdicts(free)] == [(Result("default/p", "n2"),)]
    full = there(node("n1", 1), basic("g"), weak, pod("big", "g", cpu=9, priority=1, preempts=True), strong)
    (asked,) = verdicts(full)
    assert [(r.pod, r.node, r.victims) for r in asked.results] == [
        ("default/big", None, ()),
        ("default/p", "n1", ("default/v",)),
    ]


def test_victims_of_one_member_are_still_seen_when_shipped() -> None:
    """CYCLE-20, CYCLE-23: in *intended* they are out of the snapshot, until all is undone."""
    world = there(
        node("n", 2), pod("v", node="n", cpu=2), basic("g"),
        *(pod(name, "g", priority=1, preempts=True) for name in ("p1", "p2")),
    )  # fmt: skip

    def seen(rules: Rules) -> tuple[str, ...]:
        tried = running(step(world, "pop", "snapshot", "place", rules=rules))
        assert tried.snapshot is not None
        return tuple(tried.snapshot.nodes["n"].pods)

    assert seen(INTENDED) == ("default/p1",)
    assert set(seen(profile(INTENDED, CHANGES["DEV-15"]))) == {"default/p1", "default/v"}
    for rules in (INTENDED, V1_36_3_PROMPT):
        for ended in verdicts(world, rules):
            assert ended.snapshot == ended.taken


KEPT, FAILED = Result("default/k", "n"), Result("default/f", plugins=("NodePorts",))
ASKING, BROKEN = Result("default/a", "n", victims=("default/v",)), Result("default/b", error="why")


@pytest.mark.parametrize(
    ("group", "before", "results", "code"),
    [
        (gang("g", 1), 0, (KEPT, BROKEN), "Error"),
        (gang("g", 1), 0, (FAILED,), "Unschedulable"),
        (gang("g", 1), 5, (FAILED,), "Unschedulable"),
        (gang("g", 3), 1, (KEPT, FAILED), "Unschedulable"),
        (gang("g", 3), 1, (ASKING, FAILED), "Unschedulable"),
        (gang("g", 3), 2, (KEPT, FAILED), "Success"),
        (gang("g", 3), 1, (KEPT, ASKING), "Waiting"),
        (basic("g"), 0, (FAILED,), "Unschedulable"),
        (basic("g"), 0, (KEPT, FAILED), "Success"),
        (basic("g"), 0, (KEPT, ASKING), "Waiting"),
    ],
)
def test_the_verdict(group: Any, before: int, results: tuple[Result, ...], code: str) -> None:
    """CYCLE-22, CYCLE-25, CYCLE-26, CYCLE-27, CYCLE-28, CYCLE-29."""
    kept = tuple(result.pod for result in results if result.kept)
    seen = Snapshot(Table(), Members(assumed=kept, assigned=tuple(f"s{i}" for i in range(before))))
    world = there(group)
    tried = Cycle("default/g", tuple(pod(r.pod[8:], "g") for r in results), snapshot=seen, results=results)
    assert INTENDED.verdict(INTENDED, world, tried) == code


def test_bound_members_only_count() -> None:
    """CYCLE-30, GANG-14: they are not tried, not moved, and a late one is placed alone."""
    world = there(node("n", 2), node("m", 2), gang("g", 2), pod("b", "g", node="n"), pod("p", "g"))
    popped = step(world, "pop")
    assert members(popped) == ["p"]
    for ended in verdicts(world):
        assert ended.code == "Success"
    for after in steps(world, "cycle", grain="coarse"):
        assert after.pods["default/b"].node_name == "n"


def test_who_goes_must_be_replaced_together() -> None:
    """GANG-14: bound members vanish, and their replacements wait for each other again."""
    world = there(node("n", 2), gang("g", 2), pod("b1", "g", node="n"), pod("b2", "g", node="n"))
    for name in ("b1", "b2"):
        world = delete(INTENDED, world, "pod", f"default/{name}")
    world = create(INTENDED, world, pod("p1", "g"))
    assert queued(world) == {"p1": "gated"}
    assert queued(create(INTENDED, world, pod("p2", "g"))) == {"p1": "active", "p2": "active"}


def test_every_member_that_fits_is_committed() -> None:
    """CYCLE-31, CYCLE-43: also beyond the minimum."""
    world = there(node("n", 3), gang("g", 2), *(pod(f"p{i}", "g") for i in (1, 2, 3)))
    assert dict(cycle(world).assumed) == {"default/p1": "n", "default/p2": "n", "default/p3": "n"}


def test_all_are_tried_though_the_minimum_is_out_of_reach() -> None:
    """CYCLE-32: two of three are too big for a gang of three."""
    world = there(node("n", 1), gang("g", 3), pod("p1", "g", cpu=9), pod("p2", "g", cpu=9), pod("p3", "g"))
    (ended,) = verdicts(world)
    assert places(ended) == {"p1": None, "p2": None, "p3": "n"}


def test_what_members_report() -> None:
    """CYCLE-41, CYCLE-42, CYCLE-44, CYCLE-45, CYCLE-46, CYCLE-47, CYCLE-48."""
    asking = evolve(ASKING, plugins=("NodeResourcesFit",))

    def told(code: Any, result: Result) -> Result:
        tried = Cycle("default/g", (), code=code, message="the group's", results=(result,))
        return own_result(tried, result.pod)

    assert told("Error", BROKEN).error == "why"
    for result in (KEPT, FAILED, asking):
        assert told("Error", result) == Result(result.pod, error="the group's")
    for code in ("Success", "Waiting", "Unschedulable"):
        assert told(code, FAILED) == FAILED
    assert told("Waiting", asking) == Result(asking.pod, plugins=("NodeResourcesFit",))
    assert told("Waiting", KEPT) == told("Unschedulable", KEPT) == Result(KEPT.pod)
    assert told("Unschedulable", asking) == Result(asking.pod)


def test_nothing_is_bound_while_the_group_waits() -> None:
    """PREEMPT-40, CYCLE-45, CYCLE-46: the member that fits is kept back with the other."""
    members_ = [pod(f"p{i}", "g", selector={HOSTNAME: f"n{i}"}, preempts=True) for i in (1, 2)]
    group = evolve(gang("g", 2), priority=1)
    world = there(node("n1", 1), node("n2", 1), pod("v", node="n2"), group, *members_, options=AWARE)
    after = cycle(world)
    assert (dict(after.assumed), dict(after.bindings)) == ({}, {})
    condition = after.groups["default/g"].condition
    assert condition is not None
    assert (condition.status, condition.reason) == ("False", "Unschedulable")


def short_of_one(rules: Rules = WAITING) -> World:
    """A gang of three whose third member is deleted before the commit."""
    world = there(node("n", 3), gang("g", 3), *(pod(f"p{i}", "g") for i in (1, 2, 3)), rules=rules)
    decided = step(world, "pop", "snapshot", "place", "place", "place", rules=rules)
    late = delete(rules, decided, "pod", "default/p3")
    submitted = step(late, "submit", rules=rules)
    while running(submitted).stage == "submitting":
        submitted = step(submitted, "submit", rules=rules)
    return step(submitted, "report", rules=rules)


def test_a_commit_that_falls_short_waits_when_shipped() -> None:
    """BIND-02, BIND-03, BIND-09, CYCLE-50, GANG-09, OBS-02, OBS-03: with its room, and under a true condition."""
    world = short_of_one()
    assert {key: binding.call for key, binding in world.bindings.items()} == {
        "default/p1": "permit",
        "default/p2": "permit",
    }
    assert dict(world.assumed) == {"default/p1": "n", "default/p2": "n"}
    assert {p.nominated_node_name for p in world.pods.values()} == {"n"}
    assert not world.in_flight
    assert world.groups["default/g"].condition == Condition("True", "Scheduled")
    undone = short_of_one(INTENDED)
    assert (dict(undone.assumed), dict(undone.bindings)) == ({}, {})


def test_a_later_member_releases_those_who_wait() -> None:
    """BIND-04, GANG-10, ACT-18."""
    completed = cycle(create(WAITING, short_of_one(), pod("p4", "g")), WAITING)
    assert {binding.call for binding in completed.bindings.values()} == {"bind"}
    assert len(completed.bindings) == 3


def test_nobody_waits_longer_than_five_minutes() -> None:
    """ACT-19, LIVE-05: each waiting member is rejected alone."""
    world = short_of_one()
    ends = [(str(action), after) for action, after in permit_timeouts(world, WAITING)]
    assert [name for name, _ in ends] == ["permit-timeout default/p1", "permit-timeout default/p2"]
    assert list(ends[0][1].bindings) == ["default/p2"]
    assert ends[0][1].members["default/g"] == Members(unsched=("default/p1",), assumed=("default/p2",))


def test_who_is_rejected_at_permit_is_rejected_alone() -> None:
    """GANG-12, BIND-07, BIND-10: one of two that wait is deleted."""
    world = delete(WAITING, short_of_one(), "pod", "default/p1")
    if "default/p1" in world.bindings:
        world = step(world, "permit-fails default/p1", rules=WAITING)
    assert {key: binding.call for key, binding in world.bindings.items()} == {"default/p2": "permit"}
    assert "default/p2" in world.assumed


def test_a_simulation_releases_when_shipped() -> None:
    """GANG-11, CYCLE-24: the next member is only tried, and those who wait are let go."""
    loose = profile(WAITING, CHANGES["DEV-24"])
    world = create(loose, short_of_one(), pod("p4", "g"))
    tried = step(world, "pop", "snapshot", "place", rules=loose)
    assert running(tried).stage == "submitting"
    assert {binding.call for binding in tried.bindings.values()} == {"bind"}
    held = step(world, "pop", "snapshot", "place", rules=WAITING)
    assert {binding.call for binding in held.bindings.values()} == {"permit"}


def test_bindings_run_beside_the_cycles() -> None:
    """BIND-03, BIND-05, BIND-06, ACT-20, ACT-21: each member alone and in any order; PreBind first if it is seen."""
    world = pair()
    failing = evolve(world, environment=evolve(world.environment, failing=("prebind/default/p1",)))
    assert not cycle(failing).in_flight
    begun = cycle(failing)
    assert [str(action) for action in actions(begun)] == ["prebind-fails default/p1", "bind default/p2"]
    two = cycle(world)
    assert [str(action) for action in actions(two)] == ["bind default/p1", "bind default/p2"]
    ended = step(two, "bind default/p2")
    assert [p.node_name for p in ended.pods.values()] == [None, "n"]


def test_a_gang_may_be_bound_in_part_when_shipped() -> None:
    """BIND-08, OBS-01, OBS-03: one bind fails, the other does not, and the condition stays true."""
    world = pair()
    allowed = evolve(world, environment=evolve(world.environment, failures=1))
    decided = cycle(allowed, WAITING)
    after = step(decided, "bind default/p2", "bind-fails default/p1", rules=WAITING)
    assert after.members["default/g"] == Members(unsched=("default/p1",), assigned=("default/p2",))
    assert after.groups["default/g"].condition == Condition("True", "Scheduled")


def test_the_condition_is_written_at_once_and_only_for_a_group_that_exists() -> None:
    """CYCLE-51, CYCLE-57, ACT-17."""
    submitted = step(pair(), "pop", "snapshot", "place", "place", "submit")
    assert submitted.groups["default/g"].condition is None
    assert step(submitted, "report").groups["default/g"].condition == Condition("True", "Scheduled")
    gone = evolve(submitted, groups=Table())
    assert not step(gone, "report").groups
    skipped = step(evolve(pair(), assumed=Table({"default/p1": "n", "default/p2": "n"})), "pop", "snapshot")
    assert (skipped.cycle, skipped.groups["default/g"].condition) == (None, None)


def test_no_fate_of_a_member_touches_the_condition() -> None:
    """CYCLE-56, THM-10."""
    world = cycle(pair())
    for name in ("p1", "p2"):
        world = step(world, f"bind default/{name}")
    after = finish(INTENDED, world, "default/p1", False)
    after = delete(INTENDED, after, "pod", "default/p2")
    assert after.groups["default/g"].condition == Condition("True", "Scheduled")


def test_a_basic_group_has_no_gate() -> None:
    """GANG-02."""
    assert queued(there(basic("g"), pod("p", "g"))) == {"p": "active"}


@pytest.mark.parametrize(
    ("group", "placed", "answer"),
    [
        (None, 0, "Error"),
        (basic("g"), 0, "Success"),
        (gang("g", 2), 1, "Wait"),
        (gang("g", 2), 2, "Success"),
        (gang("g", 2), 3, "Success"),
    ],
)
def test_permit(group: Any, placed: int, answer: str) -> None:
    """GANG-06, GANG-07, GANG-08, GANG-09, GANG-10, GANG-13, CYCLE-21."""
    world = there(*([group] if group else []))
    counted = Members(assumed=tuple(f"default/x{i}" for i in range(placed)))
    assert INTENDED.permit(INTENDED, world, counted, pod("p", "g")) == (world, answer)
    assert INTENDED.permit(INTENDED, world, counted, pod("p")) == (world, "Success")
    without = there(options=NO_GANGS)
    assert INTENDED.permit(INTENDED, without, counted, pod("p", "g")) == (without, "Success")


def test_a_node_that_changes_after_the_snapshot_is_not_asked_again() -> None:
    """BIND-01: a taint or label that comes meanwhile does not matter to the commit."""
    decided = step(pair(), "pop", "snapshot", "place", "place")
    cordoned = update(INTENDED, decided, evolve(decided.nodes["n"], unschedulable=True))
    assert dict(step(cordoned, "submit").assumed) == {"default/p1": "n", "default/p2": "n"}


def test_the_message_of_a_refusal() -> None:
    """CYCLE-50: the group's reason, whatever its members say."""
    world = cycle(there(node("n", 1), gang("g", 2), pod("p1", "g"), pod("p2", "g"), options=PLAIN))
    condition = world.groups["default/g"].condition
    assert condition is not None
    assert condition.message == UNSCHEDULABLE
