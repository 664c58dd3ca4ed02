"""Garbage collection, protection, lost nodes, lagging views and restarts: sections 2.4, 2.5 and 10, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from racks import there
from runs import AWARE, PLAIN, actions, cycle, queued, step

from gangproof.impl.api import create, delete, finish, update
from gangproof.impl.control import NO_CONTROL, Sent
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import Job, OwnerReference, PodGroup
from gangproof.impl.profiles import INTENDED
from gangproof.impl.restart import restart
from gangproof.impl.rules import Rules, profile
from gangproof.impl.store import as_stored, seen, stored
from gangproof.impl.table import Table
from gangproof.impl.world import Environment, Settings, World
from gangproof.properties.worlds.named import gang, node, pod

CHANGES = {deviation.id: deviation.change for deviation in DEVIATIONS}
WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)


def world(*objects: Any, options: Settings = PLAIN, **environment: Any) -> World:
    return evolve(there(*objects, options=options), environment=Environment(**environment))


def names(start: World) -> set[str]:
    return {str(action) for action in actions(start)}


def going(start: World, group: str = "g") -> World:
    return delete(INTENDED, start, "podGroup", f"default/{group}")


def placed(name: str, group: str | None = "g", **changes: Any) -> Any:
    return evolve(pod(name, group, node="n"), **changes)


# Protection and ownership


@pytest.mark.parametrize(
    "event",
    [
        lambda w: finish(INTENDED, w, "default/p", succeeded=True),
        lambda w: finish(INTENDED, w, "default/p", succeeded=False),
        lambda w: delete(INTENDED, w, "pod", "default/p"),
        lambda w: create(INTENDED, delete(INTENDED, w, "pod", "default/p"), pod("p")),
    ],
    ids=["succeeds", "fails", "is deleted", "is replaced by another of its name"],
)
def test_what_may_let_a_group_go(event: Any) -> None:
    """GC-03: each of these makes the controller look again."""
    start = going(world(node("n", 1), gang("g", 1), placed("p")))
    assert start.groups["default/g"].terminating
    assert not event(start).groups


def test_deleting_a_job_takes_along_what_it_made() -> None:
    """GC-10, ACT-29: the Workload, then the PodGroup, and when that is gone the pods, which it owns too."""
    gone = delete(INTENDED, job_with(("Succeeded", "Succeeded")), "job", "default/j")
    assert gone.control.orphans == ("workload/default/j",)
    collected = step(gone, "collect workload/default/j", "collect podGroup/default/j")
    assert not collected.groups
    released = step(collected, "sync job/default/j")
    empty = step(released, "collect pod/default/j-0", "collect pod/default/j-1")
    assert (dict(empty.pods), empty.control) == ({}, NO_CONTROL)


def test_pods_that_run_and_their_group_keep_each_other() -> None:
    """GC-10: after the Job is gone, until the pods end by themselves."""
    gone = delete(INTENDED, job_with(("Running", "Running")), "job", "default/j")
    left = step(gone, "collect workload/default/j", "collect podGroup/default/j", "sync job/default/j")
    assert left.groups["default/j"].terminating
    assert not any(name.startswith("collect") for name in names(left))
    ended = finish(INTENDED, finish(INTENDED, left, "default/j-0", True), "default/j-1", True)
    assert not ended.groups
    assert {name for name in names(ended) if name.startswith("collect")} == {
        "collect pod/default/j-0",
        "collect pod/default/j-1",
    }


def job_with(phases: tuple[str, ...]) -> World:
    """The Job with its objects, and its pods in these phases."""
    now = step(world(node("n", 2), JOB, options=WITH_JOBS), "sync", grain="coarse")
    for key in now.pods:
        now = update(INTENDED, now, evolve(now.pods[key], node_name="n", phase="Running"))
    for key, phase in zip(now.pods, phases, strict=True):
        now = finish(INTENDED, now, key, succeeded=True) if phase == "Succeeded" else now
    return now


def test_deleting_a_workload_leaves_the_group_to_its_job() -> None:
    """GC-10: an object goes when all its owners are gone."""
    made = step(world(JOB, options=WITH_JOBS), "sync", grain="coarse")
    left = delete(INTENDED, made, "workload", "default/j")
    assert not left.control.orphans
    assert not left.groups["default/j"].terminating


def test_an_owner_is_an_identity() -> None:
    """GC-10: another object of the owner's name is not the owner."""
    made = step(world(JOB, options=WITH_JOBS), "sync", grain="coarse")
    again = create(INTENDED, delete(INTENDED, made, "job", "default/j"), JOB)
    assert "workload/default/j" in again.control.orphans


def test_who_comes_too_late_for_its_owner_is_an_orphan() -> None:
    """GC-10."""
    owned = evolve(pod("p"), owners=(OwnerReference("Job", "gone", 77, controller=True),))
    late = world(owned)
    assert late.control.orphans == ("pod/default/p",)
    assert not step(late, "collect pod/default/p").pods


def test_a_namesake_of_the_owner_does_not_own() -> None:
    """GC-10: what is created late belongs to the uid that it names, not to whoever bears the name now."""
    there = world(JOB, options=WITH_JOBS)
    of_another = OwnerReference("Job", "j", there.jobs["default/j"].uid + 70, controller=True)
    left = create(INTENDED, there, evolve(pod("p"), owners=(of_another,)))
    assert "pod/default/p" in left.control.orphans


def test_an_owner_that_is_not_modelled_is_taken_to_be_there() -> None:
    """GC-10: nobody can tell whether it is gone."""
    owned = evolve(pod("p"), owners=(OwnerReference("ReplicaSet", "r", 5, controller=True),))
    assert world(owned).control.orphans == ()


def test_pods_of_a_lost_node() -> None:
    """ACT-07, ACT-05: they stay until somebody deletes them; pod garbage collection does, whatever grace they have."""
    start = world(node("n", 1), gang("g", 1), placed("p", termination_grace_period_seconds=30), lost_nodes=1)
    lost = step(start, "lose node/n")
    assert lost.pods["default/p"].node_name == "n"
    swept = evolve(lost, environment=evolve(lost.environment, pod_gc=True))
    assert not step(swept, "collect pod/default/p").pods
    kept = evolve(
        swept, pods=Table({"default/p": evolve(swept.pods["default/p"], finalizers=("x.io/keep",))})
    )
    held = step(kept, "collect pod/default/p").pods["default/p"]
    assert (held.phase, held.terminating) == ("Failed", True)
    assert not any(name.startswith("collect") for name in names(step(kept, "collect pod/default/p")))
    ended = evolve(kept, pods=Table({"default/p": evolve(kept.pods["default/p"], phase="Succeeded")}))
    assert step(ended, "collect pod/default/p").pods["default/p"].phase == "Succeeded"


def test_another_scheduler_binds_where_there_is_room() -> None:
    """ACT-09."""
    start = world(node("n", 1), node("m", 2), placed("v", None), pod("p", cpu=2), foreign_binds=1)
    foreign = [name for name in names(start) if name.startswith("foreign-bind")]
    assert foreign == ["foreign-bind default/p m"]
    bound = step(start, foreign[0])
    assert (bound.pods["default/p"].node_name, bound.queue) == ("m", ())


@pytest.mark.parametrize(
    "unfit",
    [{"scheduling_gates": ("x.io/wait",)}, {"requests": Table({"x.io/gpu": 1})}],
    ids=["gated", "no such thing"],
)
def test_another_scheduler_does_not_bind_what_cannot_run(unfit: dict[str, Any]) -> None:
    """ACT-09."""
    start = world(node("n", 4), evolve(pod("p"), **unfit), foreign_binds=1)
    assert not any(name.startswith("foreign-bind") for name in names(start))


def test_what_a_kubelet_ends() -> None:
    """ACT-05, ACT-06: pods that are told to go, unless a finalizer holds them; nor do these end by themselves."""
    slow = placed("p", None, termination_grace_period_seconds=30)
    for finalizers, ends in (((), {"end pod/default/p"}), (("x.io/keep",), set[str]())):
        start = world(node("n", 1), evolve(slow, finalizers=finalizers), kubelet=True, crashes=1, successes=1)
        assert {name.split()[0] for name in names(start)} == {"crash", "finish"}
        assert names(delete(INTENDED, start, "pod", "default/p")) == ends


# Lagging views


def lagging(*views: str, most: int = 9) -> dict[str, Any]:
    return {"lag": Table(dict.fromkeys(views, most))}


def test_what_is_not_delivered_is_not_seen() -> None:
    """ACT-10: stored it is; and a change of another kind may be seen before."""
    start = world(node("n", 2), **lagging("scheduler/pod", "scheduler/podGroup"))
    later = create(INTENDED, create(INTENDED, start, gang("g", 2)), pod("a", "g"))
    assert (dict(later.pods), dict(later.groups), later.queue) == ({}, {}, ())
    assert list(stored(later, "pod")) == ["default/a"]
    assert {n for n in names(later) if n.startswith("see")} == {
        "see scheduler pod/default/a",
        "see scheduler podGroup/default/g",
    }
    assert queued(step(later, "see scheduler pod/default/a")) == {"a": "gated"}


def test_changes_of_one_kind_are_seen_in_their_order() -> None:
    """ACT-10."""
    start = world(node("n", 2), **lagging("scheduler/pod"))
    later = create(INTENDED, create(INTENDED, start, pod("b")), pod("a"))
    assert [n for n in names(later) if n.startswith("see")] == ["see scheduler pod/default/b"]
    both = step(later, "see scheduler pod/default/b", "see scheduler pod/default/a")
    assert list(queued(both)) == ["b", "a"]
    assert both.control == NO_CONTROL


def test_each_component_sees_for_itself() -> None:
    """ACT-10: the same changes, each at its own time."""
    views = ("scheduler/podGroup", "protection-controller/podGroup")
    later = create(INTENDED, world(**lagging(*views)), gang("g", 1))
    first = step(later, "see protection-controller podGroup/default/g")
    assert (dict(first.groups), list(seen(first, "protection-controller", "podGroup"))) == ({}, ["default/g"])
    assert step(first, "see scheduler podGroup/default/g").control == NO_CONTROL


def test_a_stopped_view_sees_nothing() -> None:
    later = create(INTENDED, world(stale=("scheduler/pod",)), pod("a"))
    assert not any(name.startswith("see") for name in names(later))
    assert not later.pods


def test_the_scheduler_acts_on_what_it_has_seen() -> None:
    """QUEUE-04, BIND-06: a bound pod stays assumed until that is seen, and then is assigned in one step."""
    start = world(node("n", 1), gang("g", 1), pod("p", "g"), **lagging("scheduler/pod"))
    bound = step(cycle(start), "bind default/p")
    assert stored(bound, "pod")["default/p"].node_name == "n"
    assert bound.pods["default/p"].node_name is None
    assert (dict(bound.assumed), bound.members_of("default/g").assumed) == (
        {"default/p": "n"},
        ("default/p",),
    )
    told = step(bound, "see scheduler pod/default/p")
    assert (dict(told.assumed), told.members_of("default/g").assigned) == ({}, ("default/p",))
    assert told.pods == as_stored(bound).pods


def test_a_bind_of_a_pod_that_is_gone_fails() -> None:
    """BIND-07: the API server knows, the scheduler does not yet."""
    start = cycle(world(node("n", 1), gang("g", 1), pod("p", "g"), **lagging("scheduler/pod")))
    gone = delete(INTENDED, start, "pod", "default/p")
    assert "default/p" in gone.pods
    assert {n for n in names(gone) if n.startswith("bind")} == {"bind-fails default/p"}


def test_a_bind_is_not_for_a_namesake() -> None:
    """GC-09: another pod of the same name is another pod."""
    start = cycle(world(node("n", 1), gang("g", 1), pod("p", "g"), **lagging("scheduler/pod")))
    again = create(INTENDED, delete(INTENDED, start, "pod", "default/p"), pod("p", "g"))
    assert {n for n in names(again) if n.startswith("bind")} == {"bind-fails default/p"}


def test_protection_is_decided_on_the_controllers_view() -> None:
    """GC-02: a member that it has not seen does not keep the group."""
    views = ("protection-controller/pod", "protection-controller/podGroup")
    start = create(INTENDED, world(gang("g", 1), **lagging(*views)), pod("p", "g"))
    asked = going(start)
    assert not any(name.startswith("let-go") for name in names(asked))
    told = step(asked, "see protection-controller podGroup/default/g")
    assert not stored(step(told, "let-go podGroup/default/g"), "podGroup")
    in_time = step(told, "see protection-controller pod/default/p")
    assert not any(name.startswith("let-go") for name in names(in_time))


def test_a_stale_view_does_not_overwrite() -> None:
    """ADM-04, ACT-32: the finalizer comes off only the version that the controller saw."""
    view = "protection-controller/podGroup"
    told = step(going(world(gang("g", 1), **lagging(view))), "see protection-controller podGroup/default/g")
    labelled = evolve(stored(told, "podGroup")["default/g"], labels=Table({"a": "b"}))
    changed = update(INTENDED, told, labelled)
    assert not any(name.startswith("let-go") for name in names(changed))


# Restart


def test_a_restart_forgets_memory_and_reads_everything() -> None:
    """ACT-30: queue, member sets and room are those of what is stored; the order is that of names."""
    start = world(node("n", 2), gang("g", 2), placed("v", None), pod("b", "g"), pod("a", "g"))
    failed = cycle(start)
    assert queued(failed) == {"b": "backoff", "a": "backoff"}
    again = restart(INTENDED, failed)
    assert list(queued(again).items()) == [("a", "active"), ("b", "active")]
    assert again.members_of("default/g").unsched == ("default/a", "default/b")
    assert again.cache == failed.cache
    assert again.groups == failed.groups


def test_a_restart_in_a_cycle_gives_it_up() -> None:
    """ACT-30."""
    start = step(world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g")), "pop", "snapshot")
    again = restart(INTENDED, start)
    assert (again.cycle, dict(again.in_flight)) == (None, {})
    assert queued(again) == {"a": "active", "b": "active"}


def test_promised_members_are_owed_after_a_restart() -> None:
    """ACT-30, SEMANTICS 0.5: and a call that was sent takes effect or is lost."""
    start = cycle(world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), restarts=1))
    bound = step(start, "bind default/a")
    again = restart(INTENDED, bound)
    assert again.ghost.owed == ("default/b",)
    assert again.control.sent == (Sent("bind", "default/b", start.pods["default/b"].uid, "n"),)
    landed = step(again, "lands bind/default/b n")
    assert (landed.pods["default/b"].node_name, landed.ghost.owed, landed.control) == ("n", (), NO_CONTROL)
    lost = step(bound, "restart scheduler without bind/default/b")
    assert (lost.control, queued(lost)) == (NO_CONTROL, {"b": "active"})


def test_any_of_the_calls_may_be_lost() -> None:
    """ACT-30: with two binds on their way there are four ways to start anew."""
    start = cycle(world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), restarts=1))
    a, b = "without bind/default/a", "without bind/default/b"
    expected = [
        "restart scheduler",
        f"restart scheduler {a}",
        f"restart scheduler {b}",
        f"restart scheduler {a} {b}",
    ]
    assert sorted(name for name in names(start) if name.startswith("restart")) == sorted(expected)


def test_a_call_of_which_nothing_can_come_is_forgotten() -> None:
    """ACT-30: the scheduler binds the pod itself before the call of the one before it lands."""
    start = cycle(world(node("n", 1), gang("g", 1), pod("a", "g")))
    again = cycle(restart(INTENDED, start))
    assert [sent.pod for sent in again.control.sent] == ["default/a"]
    assert step(again, "bind default/a").control == NO_CONTROL


def test_a_sent_call_is_not_for_a_namesake() -> None:
    """ACT-30, GC-09."""
    start = restart(INTENDED, cycle(world(node("n", 1), gang("g", 1), pod("a", "g"))))
    again = create(INTENDED, delete(INTENDED, start, "pod", "default/a"), pod("a", "g"))
    assert not any(name.startswith("lands") for name in names(again))


def test_a_dying_pod_is_not_taken_in_again() -> None:
    """QUEUE-07; intended: DEV-20. As shipped it is queued, and counts (F-87)."""
    held = evolve(pod("b", "g"), finalizers=("example.com/keep",))
    start = delete(INTENDED, world(node("n", 2), gang("g", 2), held, pod("a", "g")), "pod", "default/b")
    assert queued(start) == {"a": "active"} or queued(start)["a"] in ("active", "gated")
    again = restart(INTENDED, start)
    assert queued(again) == {"a": "gated"}
    assert again.members_of("default/g").unsched == ("default/a",)
    shipped = restart(profile(INTENDED, CHANGES["DEV-20"]), start)
    assert queued(shipped) == {"b": "active", "a": "active"}


def evicting(rules: Rules = INTENDED) -> World:
    """A gang waits for a victim that is going."""
    strong = evolve(PodGroup("default", "g", min_count=1), priority=9)
    victim = placed("v", None, termination_grace_period_seconds=30)
    asking = evolve(pod("p", "g", preempts=True), priority=9)
    start = cycle(world(node("n", 1), strong, victim, asking, options=AWARE), rules)
    return step(start, "evict default/v", rules=rules)


def test_rounds_are_found_again_by_their_victims() -> None:
    """ACT-30, SEMANTICS 0.5: by the condition of the victim and the nomination; intended: DEV-29."""
    start = evicting()
    assert start.pods["default/v"].disruption_target
    again = restart(INTENDED, start)
    assert again.rounds == start.rounds
    assert again.nominations == start.nominations == Table({"default/p": "n"})


def test_a_victim_of_nobody_is_no_round() -> None:
    """SEMANTICS 0.5: a pod that a user deletes is going too, without the condition."""
    start = evicting()
    told = evolve(start.pods["default/v"], disruption_target=False)
    assert not restart(INTENDED, start.with_pod(told)).rounds


def test_a_scheduler_that_is_behind_does_not_start_anew() -> None:
    later = create(INTENDED, world(**lagging("scheduler/pod"), restarts=1), pod("a"))
    assert "restart scheduler" not in names(later)
    with pytest.raises(ValueError, match="seen everything"):
        restart(INTENDED, later)
