"""What the Job controller makes, how that is called, and to whom it belongs (SEMANTICS 9.2).

The real names end in hashes or random text, so that what two Jobs make never meets. Here an object is called like
its Job, or, if something else is called so already, like its Job and a number.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from attrs import evolve

from gangproof.impl.objects import (
    ControllerRef,
    Job,
    OwnerReference,
    Pod,
    PodGroup,
    PodGroupTemplate,
    Workload,
)
from gangproof.impl.objects.job import INDEX_LABEL, JOB_NAME_LABELS, TRACKING_FINALIZER
from gangproof.impl.objects.owner import controlled_by
from gangproof.impl.store import stored
from gangproof.impl.world import World

BATCH = "batch"


def template_name(job: Job) -> str:
    """The name of the only template of the Job's Workload, a DNS label whatever the Job is called (CTRL-07, DEV-46)."""
    suffix = "-pgt-0"
    return f"{job.name[: 63 - len(suffix)].rstrip('-.').replace('.', '-')}{suffix}"


def workload_of(world: World, job: Job, template: str) -> Workload:
    """The Workload for the Job: one template, with the gang policy and the Job's parallelism (CTRL-07, GC-07).

    Nothing else is taken over: no priority class, no disruption mode, no topology, no claims (CTRL-09).
    """
    return Workload(
        job.namespace,
        _free(job.name, lambda name: _not_others(world, "workload", job, name)),
        controller_ref=ControllerRef("Job", job.name, BATCH),
        pod_group_templates=(PodGroupTemplate(template, min_count=job.parallelism),),
        owners=(_controller(job),),
    )


def group_of(world: World, job: Job, workload: Workload) -> PodGroup:
    """The PodGroup for the Job, with the policy of the Workload's first template (CTRL-07).

    Its controller is the Job, and the Workload is another owner of it (GC-07).
    """
    template = workload.pod_group_templates[0]
    return PodGroup(
        job.namespace,
        _free(job.name, lambda name: _not_others(world, "podGroup", job, name)),
        min_count=template.min_count,
        workload_name=workload.name,
        pod_group_template_name=template.name,
        owners=(_controller(job), OwnerReference("Workload", workload.name, workload.uid)),
    )


def pod_of(world: World, job: Job, number: int | None, group: PodGroup | None) -> Pod:
    """A pod of the Job, the one of a completion index if it is `number`; with a group in hand its member (CTRL-11).

    Pods that there are stay as they are, so a Job may have some with a group and some without (CTRL-12, OBS-11).
    """
    labels = job.template.labels
    for label in JOB_NAME_LABELS:
        labels = labels.put(label, job.name)
    if number is not None:
        labels = labels.put(INDEX_LABEL, str(number))
    owners: tuple[OwnerReference, ...] = (_controller(job),)
    if group is not None:
        owners = (*owners, OwnerReference("PodGroup", group.name, group.uid))
    return evolve(
        job.template,
        namespace=job.namespace,
        name=_pod_name(world, job, number),
        labels=labels,
        scheduling_group=job.template.scheduling_group if group is None else group.name,
        finalizers=(*job.template.finalizers, TRACKING_FINALIZER),
        owners=owners,
    )


def _controller(job: Job) -> OwnerReference:
    return OwnerReference("Job", job.name, job.uid, controller=True)


def _free(name: str, free: Callable[[str], bool]) -> str:
    """The name, or the first of name-2, name-3, … that is free."""
    tried = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(one for one in tried if free(one))


def _not_others(world: World, kind: str, job: Job, name: str) -> bool:
    """Whether nothing of that kind that is not the Job's own is called so, or spoken of by that name."""
    there = stored(world, kind).get(f"{job.namespace}/{name}")
    speaking = (
        [group for group in stored(world, "podGroup").values() if group.workload_name == name]
        if kind == "workload"
        else [pod for pod in stored(world, "pod").values() if pod.scheduling_group == name]
    )
    known = [*([] if there is None else [there]), *(o for o in speaking if o.namespace == job.namespace)]
    return all(controlled_by(obj.owners, "Job", job.uid) for obj in known)


def _pod_name(world: World, job: Job, number: int | None) -> str:
    """The Job's name and the number, and more if somebody still knows a pod of that name."""

    def free(name: str) -> bool:
        return not _remembered(world, f"{job.namespace}/{name}")

    if number is not None:
        return _free(f"{job.name}-{number}", free)
    return next(f"{job.name}-{number}" for number in count() if free(f"{job.name}-{number}"))


def _remembered(world: World, pod: str) -> bool:
    """Whether there is a pod of that key, or the memory of one."""
    known = (world.pods, stored(world, "pod"), world.assumed, world.bindings, world.nominations)
    if any(pod in table for table in known) or any(r.key == pod for r in world.control.log.get("pod", ())):
        return True
    if world.cycle is not None and any(member.key == pod for member in world.cycle.members):
        return True
    called = (victim for running in world.rounds.values() for victim, _ in running.victims)
    return pod in called or any(sent.pod == pod for sent in world.control.sent)
