"""What the properties must remember and the scheduler need not: decisions, debts and losses (SEMANTICS 0.5).

The ghost is computed from what a step visibly did, never by the step itself, so a faulty step cannot falsify
it.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.control import Revision
from gangproof.impl.gates import Object
from gangproof.impl.objects import Job, Pod, PodGroup, Workload
from gangproof.impl.store import stored
from gangproof.impl.table import added, removed
from gangproof.impl.world import Ghost, World


def remember(before: World, after: World) -> World:
    """The world after a step, with the history of that step in its ghost."""
    decided = _decision(before, after)
    if decided is None and after.pods is before.pods and after.assumed is before.assumed:
        return after if after.groups is before.groups else _forget_groups(before, after)
    ghost = after.ghost
    if decided is not None:
        ghost = _decide(after, ghost, decided)
    ghost = _settle_debts(before, after, ghost)
    ghost = _count_losses(after, ghost)
    return _forget_groups(before, after if ghost is after.ghost else evolve(after, ghost=ghost))


def note_meddling(world: World, revision: Revision) -> World:
    """The history with the Jobs that this change takes out of their controller's hands (INV-34)."""
    old, new = revision.old, revision.new
    meddled = world.ghost.meddled
    match new or old:
        case Job() as job if old is None:
            named = (w for w in stored(world, "workload").values() if _workload_names(w, job.key))
            inherits = any(all(owner.kind != "Job" for owner in workload.owners) for workload in named)
            begun = job.started or job.succeeded or job.failed or job.suspended is not None
            meddled = (added if inherits or begun else removed)(meddled, job.key)
        case Workload() | PodGroup() as obj if not revision.by and _comes_or_goes(old, new):
            for key in stored(world, "job"):
                mine = any(o.kind == "Job" and f"{obj.namespace}/{o.name}" == key for o in obj.owners)
                if mine or _speaks_of(world, obj, key):
                    meddled = added(meddled, key)
        case _:
            pass
    return (
        world if meddled == world.ghost.meddled else evolve(world, ghost=evolve(world.ghost, meddled=meddled))
    )


def _comes_or_goes(old: Object | None, new: Object | None) -> bool:
    """Whether the change makes the object, removes it or tells it to go."""
    if old is None or new is None:
        return True
    return getattr(new, "terminating", False) and not getattr(old, "terminating", False)


def _speaks_of(world: World, obj: Workload | PodGroup, job: str) -> bool:
    """Whether the object names the Job, or a Workload that does."""
    if isinstance(obj, Workload):
        return _workload_names(obj, job)
    workload = stored(world, "workload").get(f"{obj.namespace}/{obj.workload_name}")
    return workload is not None and _workload_names(workload, job)


def _workload_names(workload: Workload, job: str) -> bool:
    ref = workload.controller_ref
    return ref is not None and ref.kind == "Job" and f"{workload.namespace}/{ref.name}" == job


def after_restart(before: World, after: World) -> World:
    """The history after the scheduler started anew: each pending member of a started gang is owed (SEMANTICS 0.5)."""
    after = remember(before, after)
    ghost = after.ghost
    for group in ghost.started:
        waiting = after.members_of(group).unsched
        counted = tuple(sorted({*(ghost.counted.get(group) or ()), *waiting}))
        ghost = evolve(
            ghost, owed=tuple(sorted({*ghost.owed, *waiting})), counted=ghost.counted.put(group, counted)
        )
    return evolve(after, ghost=ghost)


def counts(pod: Pod | None) -> bool:
    """counts(p) in *intended*: neither terminating nor Failed nor gone."""
    return pod is not None and not pod.terminating and pod.phase != "Failed"


def _decision(before: World, after: World) -> str | None:
    """The gang whose cycle just committed its members, if that is what happened."""
    cycle, then = after.cycle, before.cycle
    if cycle is None or then is None or cycle.code != "Success":
        return None
    if then.stage != "submitting" or cycle.stage != "reporting" or cycle.group is None:
        return None
    group = after.groups.get(cycle.group)
    gang = group is not None and group.gang and after.settings.gates.gang_scheduling
    return cycle.group if gang else None


def _decide(after: World, ghost: Ghost, group: str) -> Ghost:
    sets = after.members_of(group)
    counting = [m for m in (*sets.scheduled, *sets.done) if counts(after.pods.get(m))]
    merged = tuple(sorted({*(ghost.counted.get(group) or ()), *counting}))
    return evolve(ghost, started=added(ghost.started, group), counted=ghost.counted.put(group, merged))


def _settle_debts(before: World, after: World, ghost: Ghost) -> Ghost:
    """A started gang's member that lost its place is owed one until it has it, or no longer counts."""
    owed = ghost.owed
    for key in before.assumed:
        pod = after.pods.get(key)
        if (
            key not in after.assumed
            and pod is not None
            and pod.node_name is None
            and pod.group in ghost.started
        ):
            owed = added(owed, key)
    for key in owed:
        pod = after.pods.get(key)
        if pod is None or not counts(pod) or pod.node_name is not None or key in after.assumed:
            owed = removed(owed, key)
    placed = ghost.placed
    for key in after.assumed:
        if key not in before.assumed:
            placed = added(placed, key)
    for key in placed:
        pod = after.pods.get(key)
        elsewhere = pod is not None and pod.node_name is not None and key in after.bindings
        if pod is None or elsewhere or (pod.node_name is None and key not in after.assumed):
            placed = removed(placed, key)
    if owed == ghost.owed and placed == ghost.placed:
        return ghost
    return evolve(ghost, owed=owed, placed=placed)


def _count_losses(after: World, ghost: Ghost) -> Ghost:
    """Members that counted at a decision and no longer do."""
    for group, counted in ghost.counted.items():
        still = tuple(m for m in counted if counts(after.pods.get(m)))
        if len(still) < len(counted):
            lost = (ghost.lost.get(group) or 0) + len(counted) - len(still)
            ghost = evolve(ghost, counted=ghost.counted.put(group, still), lost=ghost.lost.put(group, lost))
    return ghost


def _forget_groups(before: World, after: World) -> World:
    """The history of a group, and of its members, ends with its object."""
    gone = [group for group in before.groups if group not in after.groups]
    if not gone:
        return after
    ghost = after.ghost
    for group in gone:
        ghost = evolve(
            ghost,
            started=removed(ghost.started, group),
            counted=ghost.counted.drop(group),
            lost=ghost.lost.drop(group),
            owed=tuple(p for p in ghost.owed if not _is_member(after, p, group)),
            placed=tuple(p for p in ghost.placed if not _is_member(after, p, group)),
        )
    return evolve(after, ghost=ghost)


def _is_member(world: World, pod: str, group: str) -> bool:
    stored = world.pods.get(pod)
    return stored is not None and stored.group == group
