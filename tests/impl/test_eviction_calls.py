"""Eviction calls in their course: made in the background or in the cycle, well or badly, and for whom they are."""

from __future__ import annotations

import pytest
from attrs import evolve
from racks import there
from runs import actions, cycle, queued, running, step, steps

from gangproof.impl.api import create, delete
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.limits import FAILED_IN_CYCLE, HELD_IN_CYCLE, TIES
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.rounds import preempting, running_for
from gangproof.impl.preemption.single import may_preempt
from gangproof.impl.profiles import INTENDED, V1_36_3_PROMPT
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.worlds.named import gang, node, pod

SYNC = evolve(SCENARIO_GATES, scheduler_async_preemption=False)
IN_CYCLE = Settings(gates=SYNC)
IN_CYCLE_AS_GROUP = Settings(gates=evolve(SYNC, workload_aware_preemption=True))
PLAIN = Settings()
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
GROUP = evolve(gang("g", 1), priority=9)


def strong(name: str, group: str | None = None, cpu: int = 1) -> Pod:
    return pod(name, group, cpu=cpu, priority=9, preempts=True)


def graceful(name: str, on: str = "n", **fields: object) -> Pod:
    return evolve(pod(name, node=on), termination_grace_period_seconds=9, **fields)


# made in the cycle


@pytest.mark.parametrize("options", [IN_CYCLE, IN_CYCLE_AS_GROUP], ids=["by members", "as a group"])
def test_without_async_preemption_the_cycle_waits_for_the_calls(options: Settings) -> None:
    """PREEMPT-32: nothing else of the scheduler's is possible until they have ended; then the members are told."""
    weak = [evolve(pod(f"v{i}", node="n"), start_time=i) for i in (1, 2)]
    world = there(node("n", 2), *weak, GROUP, strong("p", "g", cpu=2), options=options)
    called = step(world, "pop", "snapshot", "place", "preempt")
    assert running(called).code == "Waiting"
    assert [action.name for action in actions(called)] == ["evict"]
    told = step(called, "evict", "evict", "submit")
    assert "default/v1" not in told.pods
    assert "default/v2" not in told.pods
    assert told.nominations == Table({"default/p": "n"})
    over = step(told, "report")
    assert (dict(over.rounds), queued(over)) == ({}, {"p": "active"})


def test_nobody_is_held_back_for_calls_that_are_over() -> None:
    """PREEMPT-33, PREEMPT-42: the gate is open; the member is tried again after backoff, and waits for its victim."""
    world = cycle(there(node("n", 1), graceful("v"), GROUP, strong("p", "g"), options=IN_CYCLE))
    assert world.pods["default/v"].terminating
    assert queued(world) == {"p": "backoff"}
    again = cycle(step(world, "backoff-over"))
    assert list(again.rounds) == ["default/g"]
    assert again.nominations == Table({"default/p": "n"})
    gone = delete(INTENDED, again, "pod", "default/v")
    assert queued(gone) == {"p": "active"}


def test_a_call_that_fails_in_the_cycle_is_an_error_of_the_group() -> None:
    """PREEMPT-32, CYCLE-40, CYCLE-41: the condition tells of it, and nobody is nominated."""
    world = there(node("n", 1), pod("v", node="n"), GROUP, strong("p", "g"), options=IN_CYCLE_AS_GROUP)
    told_to_fail = evolve(world, environment=evolve(world.environment, failing=("delete/default/v",)))
    after = cycle(told_to_fail)
    condition = after.groups["default/g"].condition
    assert condition is not None
    assert (condition.reason, condition.message) == ("SchedulerError", "the eviction of default/v failed")
    assert (dict(after.nominations), dict(after.rounds)) == ({}, {})
    assert after.pods["default/p"].unscheduled_reason == "SchedulerError"


def test_a_call_that_fails_in_the_cycle_leaves_a_pod_rejected() -> None:
    """PREEMPT-32, CYCLE-17: that is only logged; the pod has no place, and waits for an event."""
    world = there(node("n", 1), pod("v", node="n"), strong("p"), options=IN_CYCLE)
    after = cycle(evolve(world, environment=evolve(world.environment, failing=("delete/default/v",))))
    assert after.pods["default/p"].unscheduled_reason == "Unschedulable"
    assert (queued(after), dict(after.nominations)) == ({"p": "pool"}, {})


def test_what_is_not_modelled_of_calls_in_the_cycle_is_noticed() -> None:
    """No verdict rests on a call that is held in the middle of a cycle, or that fails between two members."""
    world = there(node("n", 1), pod("v", node="n"), GROUP, strong("p", "g"), options=IN_CYCLE)
    for field, missing in (("held", HELD_IN_CYCLE), ("failing", FAILED_IN_CYCLE)):
        told = evolve(world, environment=evolve(world.environment, **{field: ("delete/default/v",)}))
        assert cycle(told).ghost.beyond == (missing,)


def test_in_sync_mode_a_retry_may_choose_anew_when_shipped() -> None:
    """PREEMPT-43, DEV-29: before v is gone a weaker pod is bound on n2, and goes too."""
    group, p = evolve(gang("g", 1), priority=9), strong("p", "g")
    objects = (node("n1", 1), node("n2", 1, unschedulable=True), graceful("v", "n1"), group, p)
    begun = cycle(there(*objects, options=IN_CYCLE_AS_GROUP, rules=V1_36_3_PROMPT), V1_36_3_PROMPT)
    weaker = evolve(pod("w", node="n1"), priority=-1)
    shrunk = create(V1_36_3_PROMPT, begun, evolve(weaker, node_name="n2"))
    open_again = evolve(shrunk, nodes=shrunk.nodes.put("n2", node("n2", 1)))
    open_again = evolve(
        open_again, cache=open_again.cache.put("n2", evolve(open_again.cache["n2"], node=node("n2", 1)))
    )
    victims = {
        victim
        for after in steps(open_again, "cycle", rules=V1_36_3_PROMPT, grain="coarse")
        for victim, _ in after.rounds["default/g"].victims
    }
    assert "default/w" in victims


@pytest.mark.parametrize("options", [IN_CYCLE, IN_CYCLE_AS_GROUP], ids=["by members", "as a group"])
def test_every_promise_is_kept_with_calls_in_the_cycle(options: Settings) -> None:
    """The whole of a small world, whatever comes in between, judged by everything that is asked."""
    start = World(
        settings=options,
        environment=evolve(
            World().environment,
            arrivals=(
                node("n", 2), graceful("v1"), pod("v2", node="n"), evolve(gang("g", 2), priority=9),
                strong("p1", "g"), strong("p2", "g"),
            ),
            deletions=1,
            kubelet=True,
        ),
    )  # fmt: skip
    found = explore(Machine(INTENDED, [start], "fine"), questions())
    assert found.stop == "exhausted"
    assert {name: str(one.violation) for name, one in found.counterexamples.items()} == {}


# well or badly


def test_after_a_failed_call_the_last_is_not_made_and_who_waited_is_tried_again() -> None:
    """PREEMPT-31: v1's eviction fails, v2's does not; v3, the last, is spared, and p is activated."""
    weak = [evolve(pod(f"v{i}", node="n"), start_time=i) for i in (1, 2, 3)]
    world = cycle(there(node("n", 3), *weak, GROUP, strong("p", "g", cpu=3), options=AWARE))
    first, second, last = (victim for victim, _ in world.rounds["default/g"].calls)
    failing = evolve(world, environment=evolve(world.environment, failing=(f"delete/{first}",)))
    one = step(failing, f"evict-fails {first}")
    assert queued(one) == {"p": "gated"}
    two = step(one, f"evict {second}")
    assert (dict(two.rounds), last in two.pods, queued(two)) == ({}, True, {"p": "active"})


def test_who_was_evicted_for_another_stays_a_victim_when_a_call_fails() -> None:
    """PREEMPT-31: two members ask for v; the call for a ends well, that for b does not, and a goes on waiting for v."""
    shipped, v = V1_36_3_PROMPT, evolve(graceful("v"), requests=Table({"cpu": 2000}))
    objects = (node("n", 2), v, evolve(gang("g", 2), priority=9), strong("a", "g"), strong("b", "g"))
    called = cycle(there(*objects, rules=shipped, options=PLAIN), shipped)
    assert sorted(called.rounds["default/g"].calls) == [
        ("default/v", "default/a"),
        ("default/v", "default/b"),
    ]
    one = step(called, "evict default/v default/g default/a", rules=shipped)
    failing = evolve(one, environment=evolve(one.environment, failing=("delete/default/v",)))
    two = step(failing, "evict-fails default/v default/g default/b", rules=shipped)
    v1 = two.pods["default/v"]
    assert (two.rounds["default/g"].victims, two.rounds["default/g"].failed) == ((("default/v", v1.uid),), ())
    assert (v1.terminating, queued(two)) == (True, {"b": "active", "a": "gated"})
    gone = delete(shipped, two, "pod", "default/v")
    assert (dict(gone.rounds), queued(gone)) == ({}, {"b": "active", "a": "active"})


def test_when_shipped_a_failed_call_activates_too() -> None:
    """PREEMPT-31: the end of the round wakes nobody (DEV-55), but a failed call does."""
    world = there(node("n", 1), pod("v", node="n"), GROUP, strong("p", "g"), options=AWARE)
    shipped = V1_36_3_PROMPT
    failing = evolve(
        cycle(world, shipped), environment=evolve(world.environment, failing=("delete/default/v",))
    )
    assert queued(step(failing, "evict-fails", rules=shipped)) == {"p": "active"}


# for whom


def test_a_new_member_waits_for_the_evictions_of_its_group() -> None:
    """PREEMPT-33: the guard of a group that evicts as a whole is its UID; of members, their own."""
    for options, place in ((AWARE, "gated"), (PLAIN, "active")):
        world = cycle(there(node("n", 1), pod("v", node="n"), GROUP, strong("p", "g"), options=options))
        assert queued(create(INTENDED, world, strong("q", "g")))["q"] == place


def test_a_new_member_that_waited_is_woken_with_the_others() -> None:
    """LIVE-06: the end of the round wakes every member of a group that evicted as a whole."""
    world = cycle(there(node("n", 1), pod("v", node="n"), GROUP, strong("p", "g"), options=AWARE))
    over = step(create(INTENDED, world, strong("q", "g")), "evict")
    assert queued(over) == {"p": "active", "q": "active"}


def test_a_pod_made_again_under_the_same_name_asked_for_nothing() -> None:
    """PREEMPT-33, PREEMPT-45: the guard and the round are of a UID; the call that is open goes on for nobody."""
    world = cycle(there(node("n", 1), graceful("v"), strong("p"), options=PLAIN))
    again = create(INTENDED, delete(INTENDED, world, "pod", "default/p"), strong("p"))
    p = again.pods["default/p"]
    assert not preempting(again, p)
    assert running_for(again, p) == ()
    assert may_preempt(again, p, "=default/p")
    assert queued(again) == {"p": "active"}
    (orphan,) = again.rounds
    assert orphan == f"=default/p#{world.pods['default/p'].uid}"
    assert step(again, "evict").pods["default/v"].terminating


def test_a_group_made_again_under_the_same_name_asked_for_nothing() -> None:
    """PREEMPT-33: members of the new PodGroup are not held back, nor is it refused."""
    group, unprotected = evolve(GROUP, finalizers=()), evolve(AWARE, protection=False)
    world = cycle(there(node("n", 1), graceful("v"), group, strong("p", "g"), options=unprotected))
    again = create(INTENDED, delete(INTENDED, world, "podGroup", "default/g"), group)
    assert not preempting(again, again.pods["default/p"])
    assert "default/g" not in again.rounds
    assert queued(again) == {"p": "backoff"}


def test_a_member_made_again_is_not_held_back_for_the_evictions_of_the_old_one() -> None:
    """PREEMPT-33: with WorkloadAwarePreemption off each member evicts for itself; the others' evictions stay theirs."""
    group = evolve(gang("g", 2), priority=9)
    weak = [graceful(f"v{i}", start_time=i) for i in (1, 2)]
    begun = cycle(there(node("n", 2), *weak, group, strong("p", "g"), strong("q", "g"), options=PLAIN))
    assert sorted(caller for _, caller in begun.rounds["default/g"].calls) == ["default/p", "default/q"]
    old = begun.pods["default/p"].uid
    again = create(INTENDED, delete(INTENDED, begun, "pod", "default/p"), strong("p", "g"))
    running_on = again.rounds["default/g"]
    assert running_on.askers == ("default/q",)
    assert sorted(caller for _, caller in running_on.calls) == [f"default/p#{old}", "default/q"]
    assert not preempting(again, again.pods["default/p"])
    assert preempting(again, again.pods["default/q"])


# in how many ways


def test_a_trial_that_may_fail_is_an_outcome() -> None:
    """PREEMPT-23, CHO-05: with everybody gone p1 may take the only node on which p2 fits; then nobody is evicted."""
    group = evolve(gang("g", 2), priority=9)
    tied = evolve(AWARE, node_scores=Table())
    world = there(
        node("n1", 2), node("n2", 1), pod("v1", node="n1", cpu=2), pod("v2", node="n2"),
        group, strong("p1", "g"), strong("p2", "g", cpu=2), options=tied,
    )  # fmt: skip
    ends = steps(world, "cycle", grain="coarse")
    assert {bool(end.rounds) for end in ends} == {True, False}
    refused = next(end for end in ends if not end.rounds)
    condition = refused.groups["default/g"].condition
    assert condition is not None
    assert condition.message == "pod group is unschedulable, pod group is unschedulable"


@pytest.mark.parametrize(("victims", "noticed"), [(4, ()), (5, (TIES,))])
@pytest.mark.parametrize("options", [PLAIN, AWARE], ids=["by one pod", "as a group"])
def test_more_orders_than_are_told_are_noticed(
    options: Settings, victims: int, noticed: tuple[str, ...]
) -> None:
    """CHO-08: of four equal victims all 24 orders are told, of five not all 120."""
    weak = [evolve(pod(f"v{i}", node="n"), start_time=1) for i in range(victims)]
    group, member = (GROUP, "g") if options is AWARE else (gang("other", 1), None)
    world = there(node("n", victims), *weak, group, strong("p", member), options=options)
    ends = steps(world, "cycle", grain="coarse")
    assert {end.ghost.beyond for end in ends} == {noticed}
    assert len({victim for end in ends for r in end.rounds.values() for victim, _ in r.victims}) == victims
