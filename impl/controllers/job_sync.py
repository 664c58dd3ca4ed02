"""The Job controller: a sync reads, finds or makes Workload and PodGroup, sees to the pods, writes the status.

Each call to the API server is a step of its own, in the order Workload, PodGroup, pods, status (CTRL-10), and
each may fail: then the sync ends, and the Job is tried again later. What is read at the beginning is held until the
end. A Job waits for a sync when it or one of its pods changed; a sync that would call nobody is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import evolve

from gangproof.impl.api import ApiError, create, delete, update, write_status
from gangproof.impl.control import Control, Sync
from gangproof.impl.controllers.job_objects import group_of, pod_of, workload_of
from gangproof.impl.controllers.job_pods import Plan
from gangproof.impl.gates import FeatureGates, Object
from gangproof.impl.limits import LARGE_JOB, MOST_JOB_PODS, note
from gangproof.impl.objects import Job, Pod, PodGroup, Workload
from gangproof.impl.objects.job import TRACKING_FINALIZER
from gangproof.impl.objects.owner import controlled_by
from gangproof.impl.rules import Rules
from gangproof.impl.store import kind_of, seen, stored, unseen, view
from gangproof.impl.table import added, removed
from gangproof.impl.world import Move, World

COMPONENT = "job-controller"


def eligible(gates: FeatureGates, job: Job) -> bool:
    """Whether Workload and PodGroup are looked for or made: asked anew in every sync (CTRL-01, CTRL-02, API-56)."""
    return gates.workload_with_job and job.asks_for_a_gang


def window(job: Job, pods: tuple[Pod, ...]) -> bool:
    """Whether the Job is new, so that its Workload may be made; once it has begun it never is (CTRL-04, CTRL-14)."""
    untouched = not (pods or job.started or job.succeeded or job.failed)
    return untouched and job.suspended is None


def find(world: World, kind: str, wanted: Callable[[Any], bool]) -> tuple[Any, ...]:
    """The wanted objects in the controller's view; if it sees none, as they are stored (intended: DEV-48)."""
    return in_view(world, kind, wanted) or tuple(filter(wanted, stored(world, kind).values()))


def concerns(workload: Workload, job: Job) -> bool:
    """Whether the Workload counts for the Job: it names it, and no earlier Job of its name left it (DEV-58)."""
    left_over = any(o.controller and o.kind == "Job" and o.uid != job.uid for o in workload.owners)
    return names(workload, job) and not left_over


def names(workload: Workload, job: Job) -> bool:
    """Whether the Workload names the Job (CTRL-03)."""
    ref = workload.controller_ref
    if ref is None or workload.namespace != job.namespace:
        return False
    return (ref.api_group, ref.kind, ref.name) == ("batch", "Job", job.name)


def in_view(world: World, kind: str, wanted: Callable[[Any], bool]) -> tuple[Any, ...]:
    """The wanted objects that the controller sees (CTRL-22)."""
    return tuple(filter(wanted, seen(world, COMPONENT, kind).values()))


def syncs(rules: Rules, world: World) -> Iterator[Move]:
    """The syncs that may begin now: one at a time, and none before the controller has seen its own writes."""
    if world.control.sync is None:
        for key in world.control.due:
            if not _blind(world, key):
                yield "sync", (f"job/{key}",), begin(rules, world, key)


def _blind(world: World, key: str) -> bool:
    """Whether the controller has yet to see what itself did to the Job or its pods."""
    mine = (r for kind in ("job", "pod") for r in unseen(world, view(COMPONENT, kind)) if r.by == COMPONENT)
    return any(r.key == key or _job_of(r.new or r.old) == key for r in mine)


def _job_of(obj: Object | None) -> str | None:
    if not isinstance(obj, Pod):
        return None
    return next((f"{obj.namespace}/{o.name}" for o in obj.owners if o.controller and o.kind == "Job"), None)


def begin(rules: Rules, world: World, key: str) -> World:
    """A sync begins, and comes to its first call; without one it is over (ACT-28).

    A Job that is gone or finished has no claim on pods any more. One that wants too many pods is left alone, with a
    note.
    """
    control = world.control
    world = _with(world, due=removed(control.due, key), retrying=removed(control.retrying, key))
    job: Job | None = seen(world, COMPONENT, "job").get(key)
    pods: tuple[Pod, ...] = tuple(seen(world, COMPONENT, "pod").values())
    if job is None or job.finished:
        return _released(rules, world, [pod for pod in pods if _job_of(pod) == key])
    if job.managed_elsewhere:
        return world
    if job.parallelism > MOST_JOB_PODS and not job.suspend:
        return note(world, LARGE_JOB)
    mine = tuple(pod for pod in pods if controlled_by(pod.owners, "Job", job.uid))
    stage = "workload" if rules.eligible(world.settings.gates, job) else "pods"
    return _advance(rules, world, Sync(job, mine, stage))


def _released(rules: Rules, world: World, pods: list[Pod]) -> World:
    for pod in pods:
        there: Pod | None = stored(world, "pod").get(pod.key)
        if there is not None and there.uid == pod.uid and TRACKING_FINALIZER in there.finalizers:
            world = _untracked(rules, world, there)
    return world


def _untracked(rules: Rules, world: World, pod: Pod) -> World:
    left = tuple(f for f in pod.finalizers if f != TRACKING_FINALIZER)
    return update(rules, world, evolve(pod, finalizers=left), by=COMPONENT)


def _with(world: World, **changes: object) -> World:
    control: Control = evolve(world.control, **changes)
    return world if control == world.control else evolve(world, control=control)


def _advance(rules: Rules, world: World, sync: Sync) -> World:
    """The sync up to its next call; without one it ends.

    A new Job that is suspended gets its Workload and PodGroup all the same (CTRL-13). A group that is going is found
    like any other, and one that is gone is made anew (CTRL-19); without its Workload a Job that has begun goes on
    without a group (CTRL-20).
    """
    job = sync.job
    if sync.stage == "workload":
        found = rules.find(world, "workload", lambda w: rules.concerns(w, job))
        if not found and rules.window(job, sync.pods):
            return _with(world, sync=sync)
        workload = _own(found, job)
        usable = workload is not None and len(workload.pod_group_templates) == 1
        sync = evolve(sync, workload=workload, stage="group") if usable else evolve(sync, stage="pods")
    if sync.stage == "group":
        found = rules.find(world, "podGroup", lambda g: _refers(g, sync.workload))
        if not found:
            return _with(world, sync=sync)
        sync = evolve(sync, group=_own(found, job), stage="pods")
    if sync.plan is None:
        plan = rules.manage(job, sync.pods, job.key in world.control.resting)
        sync = evolve(sync, plan=plan)
    plan = sync.plan
    assert plan is not None
    if sync.stage == "pods" and (plan.create or plan.delete):
        return _with(world, sync=sync)
    if plan.job != job or plan.counted:
        return _with(world, sync=evolve(sync, stage="status"))
    return _ended(world, sync)


def _refers(group: PodGroup, workload: Workload | None) -> bool:
    """Whether the PodGroup refers to the Workload, by name (CTRL-05)."""
    if workload is None:
        return False
    return (group.namespace, group.workload_name) == (workload.namespace, workload.name)


def _own(found: tuple[Any, ...], job: Job) -> Any:
    """The only object found, if the Job controls it; else the sync goes on without (CTRL-03, CTRL-06, CTRL-23)."""
    return found[0] if len(found) == 1 and controlled_by(found[0].owners, "Job", job.uid) else None


def _ended(world: World, sync: Sync) -> World:
    control, key = world.control, sync.job.key
    rests = sync.plan is not None and sync.plan.rests
    return _with(
        world,
        sync=None,
        resting=(added if rests else removed)(control.resting, key),
        retrying=added(control.retrying, key) if sync.failed else control.retrying,
    )


def sync_calls(rules: Rules, world: World) -> Iterator[Move]:
    """What may become of the next call of the running sync: it ends well, is refused, or fails (ACT-32)."""
    sync = world.control.sync
    if sync is None:
        return
    name, about = _next_call(rules, world, sync)
    environment = world.environment
    call = f"{name}/{about}"
    if call in environment.failing:
        told = evolve(world, environment=evolve(environment, failing=removed(environment.failing, call)))
        yield f"{name}-fails", (about,), _failed(rules, told, sync)
        return
    try:
        yield name, (about,), _made(rules, world, sync)
    except ApiError as refused:
        yield f"{name}-fails", (about, str(refused)), _failed(rules, world, sync)
        return
    if environment.refusals:
        spent = evolve(world, environment=evolve(environment, refusals=environment.refusals - 1))
        yield f"{name}-fails", (about,), _failed(rules, spent, sync)


def _next_call(rules: Rules, world: World, sync: Sync) -> tuple[str, str]:
    if sync.stage == "status":
        return "write", f"job/{sync.job.key}"
    if sync.stage == "pods" and sync.plan is not None and sync.plan.delete:
        return "remove", f"pod/{sync.plan.delete[0]}"
    made = _to_make(rules, world, sync)
    return "make", f"{kind_of(made)}/{made.key}"


def _to_make(rules: Rules, world: World, sync: Sync) -> Workload | PodGroup | Pod:
    if sync.stage == "workload":
        return workload_of(world, sync.job, rules.template(sync.job))
    if sync.stage == "group":
        assert sync.workload is not None
        return group_of(world, sync.job, sync.workload)
    assert sync.plan is not None
    number = sync.plan.create[0] if sync.job.indexed else None
    return pod_of(world, sync.job, number, sync.group)


def _made(rules: Rules, world: World, sync: Sync) -> World:
    """The next call ends well, and the sync goes on with what it has in hand. ApiError if it is refused."""
    plan = sync.plan
    if sync.stage == "status":
        assert plan is not None
        world = write_status(rules, world, plan.job, read=sync.job, by=COMPONENT)
        counted = [pod for pod in sync.pods if pod.key in plan.counted]
        return _ended(_released(rules, world, counted), sync)
    if sync.stage == "pods" and plan is not None and plan.delete:
        return _advance(rules, _deleted(rules, world, sync, plan), _less(sync, plan))
    made = _to_make(rules, world, sync)
    world = create(rules, world, made, by=COMPONENT)
    there = stored(world, kind_of(made))[made.key]
    match made:
        case Workload():
            sync = evolve(sync, workload=there, stage="group")
        case PodGroup():
            sync = evolve(sync, group=there, stage="pods")
        case Pod():
            assert plan is not None
            sync = _less(sync, plan)
    return _advance(rules, world, sync)


def _deleted(rules: Rules, world: World, sync: Sync, plan: Plan) -> World:
    key = plan.delete[0]
    pod = next(pod for pod in sync.pods if pod.key == key)
    if plan.forgiven:
        world = _released(rules, world, [pod])
    there: Pod | None = stored(world, "pod").get(key)
    if there is None or there.uid != pod.uid:
        return world
    return delete(rules, world, "pod", key, uid=pod.uid, by=COMPONENT)


def _less(sync: Sync, plan: Plan) -> Sync:
    """The sync after one more call for a pod; a batch of creations with a failure among them is the last."""
    if plan.delete:
        return evolve(sync, plan=evolve(plan, delete=plan.delete[1:]))
    left, batch = sync.left - 1, sync.batch
    create = plan.create[1:]
    if not left:
        batch, create = 2 * batch, () if sync.failed else create
        left = batch
    return evolve(sync, plan=evolve(plan, create=create), batch=batch, left=left)


def _failed(rules: Rules, world: World, sync: Sync) -> World:
    """The call failed: for Workload, PodGroup or status the sync breaks off; for pods the rest of the batch is sent."""
    sync = evolve(sync, failed=True)
    if sync.stage != "pods" or sync.plan is None:
        return rules.break_off(rules, world, sync)
    return _advance(rules, world, _less(sync, sync.plan))


def break_off(rules: Rules, world: World, sync: Sync) -> World:
    """A sync whose call for Workload, PodGroup or status failed ends there, before any pod is made (CTRL-10)."""
    return _ended(world, sync)


def again(rules: Rules, world: World, key: str) -> World:
    """The time is over for which the Job had to wait after a failure: it may be synced."""
    control = world.control
    waits = _with(
        world,
        retrying=removed(control.retrying, key),
        resting=removed(control.resting, key),
        due=added(control.due, key),
    )
    return only_with_work(rules, waits)


def only_with_work(rules: Rules, world: World) -> World:
    """The Jobs of which a sync would call nobody do not wait for one."""
    for key in world.control.due:
        running = world.control.sync
        if (running is not None and running.job.key == key) or _blind(world, key):
            continue
        idle = _with(world, due=removed(world.control.due, key))
        if begin(rules, world, key) == _with(idle, retrying=removed(idle.control.retrying, key)):
            world = idle
    return world
