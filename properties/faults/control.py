"""Faults of the Job controller, of lagging views and of restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from attrs import evolve

from gangproof.impl.api import write_status
from gangproof.impl.control import Revision, Sync
from gangproof.impl.controllers.job_pods import Plan
from gangproof.impl.controllers.job_sync import COMPONENT
from gangproof.impl.deviations.members import dying_appear
from gangproof.impl.gates import SCENARIO_GATES, FeatureGates, Object
from gangproof.impl.objects import Job, Pod, PodGroup
from gangproof.impl.queue import add
from gangproof.impl.rules import Rules
from gangproof.impl.steps import (
    AdmissionStep,
    AppearStep,
    BindStep,
    BreakOffStep,
    ControllersStep,
    EligibleStep,
    FindStep,
    ManageStep,
)
from gangproof.impl.store import stored
from gangproof.impl.views import write
from gangproof.impl.world import Settings, World
from gangproof.properties.faults.fault import Fault, fault
from gangproof.properties.worlds.named import gang, node, pod, world

WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)


def _started_all_the_same(old: BreakOffStep) -> BreakOffStep:
    def break_off(rules: Rules, world: World, sync: Sync) -> World:
        return old(rules, write_status(rules, world, evolve(sync.job, started=True), by=COMPONENT), sync)

    return break_off


F79 = fault(
    "F-79",
    "window-closed-by-the-first-try",
    "T5",
    "A sync that fails to create the Workload writes the start time all the same, so no later one creates it.",
    caught_by="ownership and GC, all-or-nothing",
    wrong="two pods without a group, which may start one by one",
    right="the window stays open until the first pod exists",
    seen_in="Kubernetes, August 2026 (kubernetes/kubernetes#141380)",
    world=world(node("n", 2), JOB, settings=WITH_JOBS, failing=("make/workload/default/j",)),
    break_off=_started_all_the_same,
)


def _whatever_the_parallelism(old: EligibleStep) -> EligibleStep:
    def eligible(gates: FeatureGates, job: Job) -> bool:
        return old(gates, job) or (
            gates.workload_with_job and job.indexed and job.completions == job.parallelism
        )

    return eligible


F80 = fault(
    "F-80",
    "zero-minimum-from-parallelism",
    "T5",
    "The minimum is copied from a parallelism of zero; the API refuses it, and the controller asks for ever.",
    caught_by="ownership and GC, validation, quiescence",
    wrong="one refused creation per sync, without end, and the Job never completes",
    right="such a Job has no group and is complete at once",
    seen_in="Kubernetes, review of July 2026 (kubernetes/kubernetes#140188)",
    eligible=_whatever_the_parallelism,
)


def _a_new_group_for_each_failure(old: ControllersStep) -> ControllersStep:
    def controllers(rules: Rules, world: World) -> World:
        world = old(rules, world)
        failed = {o.uid for pod in world.pods.values() if pod.phase == "Failed" for o in pod.owners}
        for key, group in world.groups.items():
            if group.uid in failed:
                world = write(rules, world, Revision("podGroup", key, group, None, COMPONENT))
        return world

    return controllers


F84 = fault(
    "F-84",
    "member-failure-recreates-group",
    "T5",
    "The controller answers the failure of one member with the removal of the group, to make a new one.",
    caught_by="ownership and GC, no eviction of bound members",
    wrong="the running sibling belongs to no group, and the new group knows nothing of what was decided",
    right="one group for the life of the Job; the sibling is untouched",
    seen_in="Volcano, May 2026 (volcano-sh/volcano#5385)",
    controllers=_a_new_group_for_each_failure,
)


def _the_first_one_first(old: ManageStep) -> ManageStep:
    def manage(job: Job, pods: Any, resting: bool) -> Plan:
        plan = old(job, pods, resting)
        runs = any(pod.phase == "Running" for pod in pods)
        return plan if runs else evolve(plan, create=() if pods else plan.create[:1])

    return manage


F85 = fault(
    "F-85",
    "creator-waits-for-first-member",
    "T5",
    "The controller creates the second member only when the first one runs.",
    caught_by="ownership and GC, quiescence",
    wrong="one pod, gated for want of a second",
    right="at least the minimum of pods is created without waiting for any of them",
    seen_in="Volcano, November 2025 (volcano-sh/volcano#4739)",
    manage=_the_first_one_first,
)


def _after_its_group(step: AdmissionStep) -> AdmissionStep:
    def admission(world: World, obj: Object, old: Object | None) -> str | None:
        if old is None and isinstance(obj, Pod) and obj.group not in (None, *stored(world, "podGroup")):
            return f"the group {obj.scheduling_group} is not there"
        return step(world, obj, old)

    return admission


F86 = fault(
    "F-86",
    "admission-needs-a-ready-group",
    "T5",
    "Admission refuses a member while its group does not exist.",
    caught_by="validation, quiescence",
    wrong="the creation of a is refused",
    right="a is accepted and held in the queue until its group is there",
    seen_in="Volcano, an issue of 2019 (volcano-sh/volcano#621)",
    world=world(node("n1", 1), pod("b"), pod("a", "g"), gang("g", 1)),
    admission=_after_its_group,
)


F87 = fault(
    "F-87",
    "restart-admits-dying-pod",
    "T5",
    "After a restart every stored pod is a new pending member, also one that is being deleted.",
    caught_by="restart equivalence, quorum counts",
    wrong="a passes the gate thanks to b, which is going",
    right="what is read anew gives the state before the restart; b counts for nothing",
    seen_in="Kueue, August and September 2026 (kubernetes-sigs/kueue#15148)",
    appear=dying_appear,
)


def _listed_once(old: AppearStep) -> AppearStep:
    def appear(rules: Rules, world: World, pod: Pod) -> World:
        return add(rules, world, pod) if pod.group in world.groups else old(rules, world, pod)

    return appear


F89 = fault(
    "F-89",
    "member-list-older-than-group",
    "T5",
    "The members of a group are listed when it is seen; who is seen later is in no list.",
    caught_by="quiescence, queue conservation",
    wrong="b is never counted, and both stay gated",
    right="every pod that refers to the group is a member, in whatever order they are seen",
    seen_in="Grove, January 2026 (ai-dynamo/grove#316)",
    appear=_listed_once,
)


def _as_the_pods_say(old: FindStep) -> FindStep:
    def find(world: World, kind: str, wanted: Callable[[Any], bool]) -> tuple[Any, ...]:
        remembered = _remembered(world) if kind == "podGroup" else iter(())
        return old(world, kind, wanted) or tuple(islice(remembered, 1))

    return find


def _remembered(world: World) -> Iterator[PodGroup]:
    """The groups that pods name among their owners, be they there or not."""
    for member in stored(world, "pod").values():
        job = tuple(owner for owner in member.owners if owner.controller)
        for owner in member.owners:
            if owner.kind == "PodGroup":
                yield PodGroup(member.namespace, owner.name, uid=owner.uid, min_count=1, owners=job)


F90 = fault(
    "F-90",
    "recreate-for-a-dying-group",
    "T5",
    "The controller goes on creating pods for the group that it remembers, although that is gone.",
    caught_by="ownership and GC, quiescence",
    wrong="the pods are gated for good, since their group is made by nobody",
    right="the Job gets a group again, or goes on without one",
    seen_in="KubeRay, September 2026 (ray-project/kuberay#5301)",
    find=_as_the_pods_say,
)


def _by_name(old: BindStep) -> BindStep:
    def bind(rules: Rules, world: World, pod: str, ok: bool) -> World:
        node_name = world.bindings[pod].node
        after = old(rules, world, pod, ok)
        namesake = after.pods.get(pod)
        if ok or namesake is None or namesake.node_name is not None or pod in world.assumed:
            return after
        return after.with_pod(evolve(namesake, node_name=node_name, phase="Running"))

    return bind


F91 = fault(
    "F-91",
    "bind-reaches-the-namesake",
    "T5",
    "A bind goes by name: if its pod is gone, it binds the pod that has the name now.",
    caught_by="quorum counts, all-or-nothing",
    wrong="the new a is bound by a decision that was not about it",
    right="a bind carries the uid, and is refused for another pod of the name",
    seen_in="derived: names are not identities (GC-09)",
    world=world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), recreations=1),
    bind=_by_name,
)

FAULTS: tuple[Fault, ...] = (F79, F80, F84, F85, F86, F87, F89, F90, F91)
