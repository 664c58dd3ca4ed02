"""Section 9: which Jobs get a Workload and a PodGroup, what is made in which order, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from racks import there
from runs import step, steps

from gangproof.impl.api import create, delete, finish, update
from gangproof.impl.controllers.job_objects import template_name
from gangproof.impl.controllers.job_pods import plan
from gangproof.impl.controllers.job_sync import again, eligible, window
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.limits import LARGE_JOB, MOST_JOB_PODS
from gangproof.impl.objects import (
    ControllerRef,
    Job,
    OwnerReference,
    Pod,
    PodGroupTemplate,
    Workload,
)
from gangproof.impl.objects.job import INDEX_LABEL, TRACKING_FINALIZER
from gangproof.impl.objects.owner import controlled_by
from gangproof.impl.profiles import INTENDED
from gangproof.impl.table import Table
from gangproof.impl.world import Environment, Settings, World
from gangproof.properties.worlds.named import gang, node, pod

GATES = evolve(SCENARIO_GATES, workload_with_job=True)
WITH_JOBS = Settings(gates=GATES)
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)
NAMING = Workload(
    "default",
    "mine",
    controller_ref=ControllerRef("Job", "j", "batch"),
    pod_group_templates=(PodGroupTemplate("t", min_count=2),),
)


def world(*objects: Any, options: Settings = WITH_JOBS, **environment: Any) -> World:
    start = there(*objects, options=options)
    return evolve(start, environment=Environment(**environment))


def synced(start: World) -> World:
    """The world after the next sync as a whole."""
    return step(start, "sync", grain="coarse")


def rested(start: World) -> World:
    """The world after the next sync, when the time is over for which the Job had to wait."""
    return synced(again(INTENDED, start, "default/j"))


def groups(start: World) -> set[str | None]:
    """The groups that the pods of the Job refer to."""
    return {p.scheduling_group for p in start.pods.values()}


def bound(start: World, *names: str) -> World:
    """The world in which somebody bound these pods to node n, and the Job controller has seen to that."""
    for name in names:
        start = update(INTENDED, start, evolve(start.pods[f"default/{name}"], node_name="n", phase="Running"))
    return start


def with_job(start: World, **changes: Any) -> World:
    return update(INTENDED, start, evolve(start.jobs["default/j"], **changes))


@pytest.mark.parametrize(
    ("changes", "shaped"),
    [
        ({}, True),
        ({"suspend": True}, True),
        ({"owners": (OwnerReference("JobSet", "s", 1, controller=True),)}, True),
        ({"parallelism": 1, "completions": 1}, False),
        ({"parallelism": 0, "completions": 0}, False),
        ({"indexed": False}, False),
        ({"completions": 3}, False),
        ({"completions": None}, False),
        ({"template": pod("", "g")}, False),
    ],
)
def test_who_is_eligible(changes: dict[str, Any], shaped: bool) -> None:
    """CTRL-01, CTRL-02, CTRL-24: by shape, whoever owns the Job; and only with the gate (API-56)."""
    job = evolve(JOB, **changes)
    assert eligible(GATES, job) is shaped
    assert not eligible(SCENARIO_GATES, job)
    made = world(job)
    made = synced(made) if made.control.due else made
    assert bool(made.workloads) is bool(made.groups) is shaped
    if not shaped:
        assert groups(made) <= {job.template.scheduling_group}


def test_what_is_made_and_to_whom_it_belongs() -> None:
    """CTRL-07, CTRL-09, CTRL-11, GC-07."""
    made = synced(world(evolve(JOB, template=evolve(pod(""), priority=7))))
    job, workload, group = made.jobs["default/j"], made.workloads["default/j"], made.groups["default/j"]
    assert workload.controller_ref == ControllerRef("Job", "j", "batch")
    assert workload.pod_group_templates == (PodGroupTemplate("j-pgt-0", min_count=2),)
    assert workload.owners == (OwnerReference("Job", "j", job.uid, controller=True),)
    assert (group.workload_name, group.pod_group_template_name, group.min_count) == ("j", "j-pgt-0", 2)
    assert group.owners == (*workload.owners, OwnerReference("Workload", "j", workload.uid))
    assert (group.priority, group.topology_keys, group.disruption_mode) == (0, None, "Pod")
    assert list(made.pods) == ["default/j-0", "default/j-1"]
    for number, member in enumerate(made.pods.values()):
        assert member.labels[INDEX_LABEL] == str(number)
        assert (member.scheduling_group, member.priority) == ("j", 7)
        assert member.owners == (*workload.owners, OwnerReference("PodGroup", "j", group.uid))
        assert member.finalizers == (TRACKING_FINALIZER,)


def test_the_order_of_calls() -> None:
    """CTRL-10, ACT-28: Workload, PodGroup, pods, status; each is a step, and what is held is what was made."""
    now, made = world(JOB), list[str]()
    now = step(now, "sync job/default/j")
    while now.control.sync is not None:
        (action, now) = next((name, after) for name in ("make", "write") for after in _maybe(now, name))
        made.append(action)
    assert made == ["make", "make", "make", "make", "write"]
    assert [obj.uid for obj in (now.workloads["default/j"], now.groups["default/j"], *now.pods.values())] == [
        2,
        3,
        4,
        5,
    ]
    assert now.jobs["default/j"].started


def _maybe(now: World, name: str) -> list[World]:
    try:
        return steps(now, name)
    except AssertionError:
        return []


@pytest.mark.parametrize("kind", ["workload", "podGroup"])
def test_a_failed_call_ends_the_sync_before_any_pod(kind: str) -> None:
    """CTRL-10, ACT-32: and the Job is tried again, as new as before (F-79)."""
    failed = synced(world(JOB, failing=(f"make/{kind}/default/j",)))
    assert not failed.pods
    assert not failed.jobs["default/j"].started
    assert (failed.control.due, failed.control.retrying) == ((), ("default/j",))
    assert step(failed, "backoff-over job/default/j").control.due == ("default/j",)
    made = rested(failed)
    assert (groups(made), len(made.pods)) == ({"j"}, 2)


def test_a_failed_pod_ends_the_batch_and_not_the_status() -> None:
    """CTRL-10: pods are sent in batches of one, two, …; after a failure there is no further one."""
    many = evolve(JOB, parallelism=5, completions=5)
    failed = synced(world(many, failing=("make/pod/default/j-1",)))
    assert list(failed.pods) == ["default/j-0", "default/j-2"]
    assert failed.control.retrying == ("default/j",)
    assert len(rested(failed).pods) == 5


@pytest.mark.parametrize(
    ("changes", "pods", "new"),
    [
        ({}, (), True),
        ({}, (pod("p"),), False),
        ({"started": True}, (), False),
        ({"succeeded": (0,)}, (), False),
        ({"failed": 1}, (), False),
        ({"suspended": True}, (), False),
        ({"suspended": False}, (), False),
        ({"suspend": True}, (), True),
    ],
)
def test_who_is_new(changes: dict[str, Any], pods: tuple[Pod, ...], new: bool) -> None:
    """CTRL-04."""
    assert window(evolve(JOB, **changes), pods) is new


def test_a_workload_is_used_only_if_the_job_controls_it() -> None:
    """CTRL-03, CTRL-05, CTRL-06, CTRL-23: else the sync goes on, and the pods have no group (OBS-11)."""
    made = synced(world(NAMING, JOB))
    assert (list(made.workloads), dict(made.groups), groups(made)) == (["default/mine"], {}, {None})


@pytest.mark.parametrize(
    "other",
    [
        {"namespace": "other"},
        {"controller_ref": ControllerRef("Job", "j", "other")},
        {"controller_ref": ControllerRef("JobSet", "j", "batch")},
        {"controller_ref": ControllerRef("Job", "k", "batch")},
        {"controller_ref": None},
    ],
)
def test_a_workload_that_means_another_does_not_count(other: dict[str, Any]) -> None:
    """CTRL-03: namespace, API group, kind and name must be the Job's."""
    made = synced(world(evolve(NAMING, **other), JOB))
    assert ("default/j" in made.workloads, groups(made)) == (True, {"j"})


def test_a_workload_with_two_templates_is_not_used() -> None:
    """CTRL-03, CTRL-06: also if the Job controls it."""
    begun = world(JOB)
    owner = OwnerReference("Job", "j", begun.jobs["default/j"].uid, controller=True)
    two = (*NAMING.pod_group_templates, PodGroupTemplate("u", min_count=2))
    made = synced(create(INTENDED, begun, evolve(NAMING, owners=(owner,), pod_group_templates=two)))
    assert (list(made.workloads), dict(made.groups), groups(made)) == (["default/mine"], {}, {None})


def test_a_group_of_another_namespace_does_not_count() -> None:
    """CTRL-05."""
    theirs = evolve(
        gang("theirs", 2), namespace="other", workload_name="j", pod_group_template_name="j-pgt-0"
    )
    elsewhere = Workload("other", "j", pod_group_templates=(PodGroupTemplate("j-pgt-0", min_count=2),))
    made = synced(world(elsewhere, theirs, JOB))
    assert groups(made) == {"j"}


def test_two_workloads_are_none() -> None:
    """CTRL-03: also if the Job controls one of them."""
    begun = step(world(JOB, failing=("make/podGroup/default/j",)), "sync", grain="coarse")
    assert list(begun.workloads) == ["default/j"]
    made = rested(create(INTENDED, begun, NAMING))
    assert (dict(made.groups), groups(made)) == ({}, {None})


def test_a_group_of_somebody_else_that_names_the_workload() -> None:
    """CTRL-05, CTRL-23."""
    begun = synced(world(JOB, failing=("make/podGroup/default/j",)))
    theirs = evolve(gang("theirs", 2), workload_name="j", pod_group_template_name="j-pgt-0")
    made = rested(create(INTENDED, begun, theirs))
    assert (list(made.groups), groups(made)) == (["default/theirs"], {None})


@pytest.mark.parametrize("length", [1, 57, 58, 61])
def test_the_template_has_a_legal_name_for_every_job(length: int) -> None:
    """CTRL-08; intended: DEV-46."""
    job = evolve(JOB, name="a" * length)
    assert len(template_name(job)) == min(length + 6, 63)
    assert len(synced(world(job)).pods) == 2


def test_a_name_with_dots_gives_a_label_too() -> None:
    """CTRL-08: the name of a Job is a subdomain, that of a template a label."""
    assert template_name(evolve(JOB, name="a.b")) == "a-b-pgt-0"


def test_created_suspended() -> None:
    """CTRL-13: Workload and PodGroup at once, pods when it is resumed, and these join the group."""
    rests = synced(world(evolve(JOB, suspend=True)))
    assert (list(rests.workloads), list(rests.groups), list(rests.pods)) == (["default/j"], ["default/j"], [])
    assert rests.jobs["default/j"].suspended
    resumed = synced(with_job(rests, suspend=False))
    assert groups(resumed) == {"j"}
    assert len(resumed.pods) == 2


def test_the_gate_came_too_late() -> None:
    """CTRL-14: a Job that began before never gets a Workload."""
    begun = synced(world(JOB, options=Settings()))
    assert groups(begun) == {None}
    late = delete(INTENDED, evolve(begun, settings=WITH_JOBS), "pod", "default/j-0")
    ended = synced(synced(late) if not late.control.resting else late)
    assert not ended.workloads


def test_suspend_and_resume() -> None:
    """CTRL-15, CTRL-16: the pods go, the objects stay; the new pods join the same group. No failure is counted."""
    made = synced(world(node("n", 2), JOB))
    group = made.groups["default/j"]
    rests = synced(with_job(made, suspend=True))
    assert (list(rests.pods), rests.groups["default/j"]) == ([], group)
    assert (rests.jobs["default/j"].failed, rests.jobs["default/j"].suspended) == (0, True)
    resumed = synced(with_job(rests, suspend=False))
    assert (len(resumed.pods), groups(resumed), resumed.groups["default/j"].uid) == (2, {"j"}, group.uid)
    assert (resumed.jobs["default/j"].suspended, resumed.jobs["default/j"].started) == (False, True)


def test_a_job_that_is_too_large_may_rest() -> None:
    """CTRL-13: its pods are beyond the model, and while it is suspended there are none."""
    large = evolve(JOB, parallelism=MOST_JOB_PODS + 1, completions=MOST_JOB_PODS + 1)
    rests = synced(world(evolve(large, suspend=True)))
    assert (list(rests.groups), rests.ghost.beyond) == (["default/j"], ())
    assert synced(world(large)).ghost.beyond == (LARGE_JOB,)


def test_a_status_is_not_written_over_a_change() -> None:
    """CTRL-10, ADM-04: the Job changed since it was read, so it is synced again."""
    made = step(world(JOB), "sync", *["make"] * 4)
    changed = with_job(made, labels=Table({"a": "b"}))
    failed = step(changed, "write-fails")
    assert failed.jobs["default/j"] == changed.jobs["default/j"]
    assert failed.control.retrying == ("default/j",)


@pytest.mark.parametrize(("failed_only", "failures"), [(False, 1), (True, 0)])
def test_when_a_deleted_pod_counts_as_failed(failed_only: bool, failures: int) -> None:
    """CTRL-18: with podReplacementPolicy Failed only when it has ended."""
    going = member("a", 0, terminating=True)
    found = plan(evolve(JOB, replaces_failed_only=failed_only), (going, member("b", 1)), resting=False)
    assert (found.job.failed, len(found.counted)) == (failures, failures)
    ended = evolve(going, phase="Failed")
    assert plan(evolve(JOB, replaces_failed_only=failed_only), (ended,), resting=False).job.failed == 1


def test_a_failed_member_is_replaced_in_the_same_group() -> None:
    """CTRL-18, CTRL-12: after a while, by a pod of the same index; its sibling is as before (F-84)."""
    made = bound(synced(world(node("n", 2), JOB)), "j-0", "j-1")
    before = made.groups["default/j"]
    counted = synced(finish(INTENDED, made, "default/j-0", succeeded=False))
    assert (counted.jobs["default/j"].failed, counted.control.resting) == (1, ("default/j",))
    assert counted.pods["default/j-0"].finalizers == ()
    replaced = rested(counted)
    new = replaced.pods["default/j-0-2"]
    assert (new.labels[INDEX_LABEL], new.scheduling_group) == ("0", "j")
    assert replaced.pods["default/j-1"] == made.pods["default/j-1"]
    assert replaced.groups["default/j"].uid == before.uid


def test_a_deleted_member_counts_as_failed_and_is_replaced() -> None:
    """CTRL-18: its finalizer keeps it until it is counted."""
    made = synced(world(JOB))
    going = delete(INTENDED, made, "pod", "default/j-0")
    assert going.pods["default/j-0"].terminating
    counted = synced(going)
    assert list(counted.pods) == ["default/j-1"]
    assert counted.jobs["default/j"].failed == 1


def test_too_many_failures_end_the_job() -> None:
    """CTRL-21: what it made stays until the Job is deleted."""
    made = bound(synced(world(node("n", 2), evolve(JOB, backoff_limit=0))), "j-0", "j-1")
    ended = finish(INTENDED, made, "default/j-0", succeeded=False)
    while ended.control.due:
        ended = synced(ended)
    assert ended.jobs["default/j"].finished == "Failed"
    assert (list(ended.workloads), list(ended.groups)) == (["default/j"], ["default/j"])
    assert not ended.control.due


def test_completion() -> None:
    """CTRL-21."""
    now = bound(synced(world(node("n", 2), JOB)), "j-0", "j-1")
    now = finish(INTENDED, finish(INTENDED, now, "default/j-0", True), "default/j-1", True)
    ended = synced(now)
    assert (ended.jobs["default/j"].finished, ended.jobs["default/j"].succeeded) == ("Complete", (0, 1))
    assert list(ended.groups) == ["default/j"]


def test_a_group_that_is_going_is_used_and_made_again_when_it_is_gone() -> None:
    """CTRL-19, F-90: with each sync at most one group and as many pods as are missing."""
    made = synced(world(JOB))
    going = delete(INTENDED, made, "podGroup", "default/j")
    assert going.groups["default/j"].terminating
    counted = synced(delete(INTENDED, going, "pod", "default/j-0"))
    used = rested(counted)
    assert groups(used) == {"j"}
    assert used.groups["default/j"].uid == made.groups["default/j"].uid
    forced = update(INTENDED, used, evolve(used.groups["default/j"], finalizers=()))
    assert not forced.groups
    counted = synced(delete(INTENDED, forced, "pod", "default/j-1"))
    renewed = rested(counted)
    assert renewed.groups["default/j"].uid != made.groups["default/j"].uid
    assert len(renewed.pods) == 2


def test_without_its_workload_the_job_falls_back() -> None:
    """CTRL-20: further pods have no group, those that there are keep theirs (CTRL-12, OBS-11)."""
    made = delete(INTENDED, synced(world(JOB)), "workload", "default/j")
    counted = synced(delete(INTENDED, made, "pod", "default/j-0"))
    replaced = rested(counted)
    assert {p.name: p.scheduling_group for p in replaced.pods.values()} == {"j-0": None, "j-1": "j"}


def made_again(collected: bool) -> World:
    """A Job whose pods run is deleted and made again, before or after its objects are collected."""
    old = bound(synced(world(node("n", 2), JOB)), "j-0", "j-1")
    gone = delete(INTENDED, old, "job", "default/j")
    for name in ("workload/default/j", "podGroup/default/j") if collected else ():
        gone = step(gone, f"collect {name}")
    made = create(INTENDED, gone, JOB)
    while made.control.due:
        made = synced(made)
    return made


def mine(start: World, objects: Any) -> list[Any]:
    uid = start.jobs["default/j"].uid
    return [obj for obj in objects.values() if controlled_by(obj.owners, "Job", uid)]


def test_a_namesake_has_objects_of_its_own() -> None:
    """CTRL-07, GC-09: the old group is still there, terminating, and is not taken over."""
    made = made_again(collected=True)
    assert made.groups["default/j"].terminating
    assert [group.name for group in mine(made, made.groups)] == ["j-2"]
    assert {p.scheduling_group for p in mine(made, made.pods)} == {"j-2"}


def test_the_workload_of_an_earlier_job_does_not_count() -> None:
    """CTRL-03, DEV-58: while it is there a namesake of the Job gets its own all the same."""
    made = made_again(collected=False)
    assert made.workloads["default/j"].owners[0].uid != made.jobs["default/j"].uid
    assert [group.name for group in mine(made, made.groups)] == ["j-2"]
    assert {p.scheduling_group for p in mine(made, made.pods)} == {"j-2"}


def test_a_job_of_another_controller_is_left_alone() -> None:
    assert not world(evolve(JOB, managed_elsewhere=True)).control.due


def member(name: str, index: int, **changes: Any) -> Pod:
    plain = evolve(pod(name), labels=Table({INDEX_LABEL: str(index)}), finalizers=(TRACKING_FINALIZER,))
    return evolve(plain, **changes)


@pytest.mark.parametrize(
    ("changes", "pods", "created", "deleted"),
    [
        ({}, (), (0, 1), ()),
        ({}, (member("a", 0),), (1,), ()),
        ({}, (member("a", 1, phase="Succeeded"),), (0,), ()),
        ({}, (member("a", 0, uid=1), member("b", 0, uid=2), member("c", 1)), (), ("default/b",)),
        ({}, (member("a", 5), member("b", 0)), (), ("default/a",)),
        ({"suspend": True}, (member("a", 0, uid=1), member("b", 1, uid=2)), (), ("default/b", "default/a")),
        ({"indexed": False, "completions": 3}, (pod("a"),), (0,), ()),
        ({"indexed": False, "completions": None, "succeeded": (0,)}, (pod("a"),), (), ()),
        ({"terminating": True}, (), (), ()),
        ({"replaces_failed_only": True}, (member("a", 0, terminating=True), member("b", 1)), (), ()),
    ],
)
def test_the_pods_that_a_job_is_to_have(
    changes: dict[str, Any], pods: tuple[Pod, ...], created: tuple[int, ...], deleted: tuple[str, ...]
) -> None:
    found = plan(evolve(JOB, **changes), pods, resting=False)
    assert (found.create, found.delete) == (created, deleted)
