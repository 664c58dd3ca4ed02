"""What is promised of Jobs: in which order things are made for them, that all pods are of one group, that they get all.

INV-33 and INV-34 are judged as it is stored, since in the scheduler's view things may come in another order.
LIVE-15 is judged where a run settles, and, with the gang's places, in every fair run (see `liveness`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gangproof.impl.actions import Action
from gangproof.impl.control import Sync
from gangproof.impl.controllers.job_sync import COMPONENT
from gangproof.impl.limits import LARGE_JOB
from gangproof.impl.objects import Job, Pod, PodGroup
from gangproof.impl.objects.owner import controlled_by
from gangproof.impl.profiles import INTENDED
from gangproof.impl.store import seen, stored
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation


def made_in_order(before: World, action: Action, after: World) -> Violation | None:
    """INV-33: a grouped pod that the controller makes is of a group that was made for its Job, after its Workload.

    The group is the one that the controller has in hand, and what it has in hand it has seen or made.
    """
    if not (before.jobs or after.jobs):
        return None
    for then, now in fine_steps(before, action, after):
        held = now.control.sync
        if held is not None and held.group is not None and not _known(then, now, held.group):
            message = f"{held.job.key} goes on with {held.group.key}, which is not there"
            return Violation("INV-33", message, (held.job.key, held.group.key))
        old = stored(then, "pod")
        for key, pod in stored(now, "pod").items():
            if (key not in old or old[key].uid != pod.uid) and _grouped(pod):
                found = _out_of_order(then.control.sync, pod)
                if found:
                    return Violation("INV-33", f"{key} is made, and {found}", (key,))
    return None


def _grouped(pod: Pod) -> bool:
    """Whether the controller put the pod into a group."""
    return any(owner.kind == "PodGroup" for owner in pod.owners)


def _known(then: World, now: World, group: PodGroup) -> bool:
    """Whether the group is held already, stored, or in the controller's view."""
    sync = then.control.sync
    if sync is not None and sync.group == group:
        return True
    there = (stored(then, "podGroup"), stored(now, "podGroup"), seen(then, COMPONENT, "podGroup"))
    return any((known := table.get(group.key)) is not None and known.uid == group.uid for table in there)


def _out_of_order(sync: Sync | None, pod: Pod) -> str:
    """What is wrong with the group of a new pod, "" if nothing is."""
    if sync is None or sync.group is None or sync.group.name != pod.scheduling_group:
        return "the controller has no such group in hand"
    group, job = sync.group, sync.job
    workload = next((owner.uid for owner in group.owners if owner.kind == "Workload"), 0)
    if not controlled_by(group.owners, "Job", job.uid) or not controlled_by(pod.owners, "Job", job.uid):
        return f"{group.key} was not made for its Job"
    if not 0 < workload < group.uid < pod.uid:
        return f"{group.key} was not made before it, after its Workload"
    return ""


def uniform(world: World) -> Violation | None:
    """INV-34: all pods of an eligible Job name the same group or none does, unless somebody meddled."""
    for job in stored(world, "job").values():
        if not INTENDED.eligible(world.settings.gates, job) or job.key in world.ghost.meddled:
            continue
        groups = {pod.scheduling_group or "none" for pod in _pods(world, job)}
        if len(groups) > 1:
            return Violation(
                "INV-34", f"the pods of {job.key} are of {' and '.join(sorted(groups))}", (job.key,)
            )
    return None


def _pods(world: World, job: Job) -> list[Pod]:
    return [pod for pod in stored(world, "pod").values() if controlled_by(pod.owners, "Job", job.uid)]


def unserved(world: World) -> Violation | None:
    """LIVE-15: a Job that for good lacks pods, its Workload or its PodGroup, or its end, if nobody meddled.

    A Job that rests after a failure is promised nothing until it is synced again.
    """
    for job, lacking in without(world):
        if job.key not in world.control.resting:
            return Violation("LIVE-15", f"{job.key} has {lacking} for good", (job.key,))
    return None


def without(world: World) -> Iterator[tuple[Job, str]]:
    """The Jobs that want something now and do not have it, each with the first thing that it lacks.

    Nothing is promised while the controller sees nothing, nor is anything known where a Job is too large to model.
    """
    blind = any(name.startswith(COMPONENT) for name in world.environment.stale)
    if blind or LARGE_JOB in world.ghost.beyond:
        return
    for job in stored(world, "job").values():
        if not (job.suspend or job.finished or job.terminating or job.managed_elsewhere):
            for lacking in islice(_lacking(world, job), 1):
                yield job, lacking


def waiting_gangs(world: World) -> Iterator[tuple[Job, tuple[Pod, ...]]]:
    """The Jobs that have all that is made for them, and of whose gang some pods have no node, with those pods.

    Of a Job with whose Workload or PodGroup somebody meddled nothing is promised.
    """
    lack = {job.key for job, _ in without(world)}
    for job in stored(world, "job").values():
        meddled = job.key in world.ghost.meddled
        if job.key in lack or meddled or job.suspend or not INTENDED.eligible(world.settings.gates, job):
            continue
        living = [pod for pod in _pods(world, job) if not pod.terminal and not pod.terminating]
        pending = tuple(pod for pod in living if pod.node_name is None and pod.group is not None)
        if pending:
            yield job, pending


def _lacking(world: World, job: Job) -> Iterator[str]:
    pods = _pods(world, job)
    active = [pod for pod in pods if not pod.terminal and not pod.terminating]
    wanted = wanted_pods(job)
    if len(active) < wanted:
        yield f"{len(active)} pods of {wanted}"
    if not wanted and not active and job.completions is not None:
        yield "nothing to do, and no end,"
    if not INTENDED.eligible(world.settings.gates, job) or job.key in world.ghost.meddled:
        return
    for kind in ("workload", "podGroup"):
        if not any(controlled_by(obj.owners, "Job", job.uid) for obj in stored(world, kind).values()):
            yield f"no {kind[0].upper()}{kind[1:]}"


def wanted_pods(job: Job) -> int:
    """How many pods the Job is to have at a time."""
    if job.completions is None:
        return 0 if job.succeeded else job.parallelism
    return max(min(job.completions - len(job.succeeded), job.parallelism), 0)
