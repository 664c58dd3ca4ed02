"""Which pods a Job is to have, and what becomes of its status: the pure part of a sync of the Job controller.

It knows nothing of groups: what is said here holds of every Job.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from gangproof.impl.objects import Job, Pod
from gangproof.impl.objects.job import TRACKING_FINALIZER, index_of


@frozen(cache_hash=True)
class Plan:
    """What a sync is to do: pods to `create` by number, else pods to `delete` by key; then the status in `job`.

    Deleted pods that are `forgiven` are not counted as failures. `counted` pods lose the finalizer that kept them
    until now. While the Job `rests` after a failure it gets no new pods.
    """

    job: Job
    create: tuple[int, ...] = ()
    delete: tuple[str, ...] = ()
    forgiven: bool = True
    counted: tuple[str, ...] = ()
    rests: bool = False


def plan(job: Job, pods: Sequence[Pod], resting: bool) -> Plan:
    """What the Job's pods come to (CTRL-15, CTRL-16, CTRL-18, CTRL-21).

    A pod that failed, or that somebody deleted, is replaced, and the failures are counted; more than the limit
    fail the Job. Deleted on behalf of a suspended Job, or because there are too many, it is not counted.
    """
    active = [pod for pod in pods if not pod.terminal and not pod.terminating]
    going = [pod for pod in pods if pod.terminating and not pod.terminal]
    tracked = [pod for pod in pods if TRACKING_FINALIZER in pod.finalizers and _in_range(job, pod)]
    won = [pod for pod in tracked if pod.phase == "Succeeded"]
    lost = [pod for pod in tracked if pod.phase == "Failed"]
    if not job.replaces_failed_only:
        lost += [pod for pod in tracked if pod.terminating and not pod.terminal]
    after = evolve(
        job,
        succeeded=_succeeded(job, won),
        failed=job.failed + len(lost),
        started=job.started or not job.suspend,
    )
    rests = bool(lost) or (resting and not won)
    counted = tuple(pod.key for pod in (*won, *lost))
    if after.failed > job.backoff_limit:
        if active or going:
            return Plan(after, delete=_keys(active), forgiven=False, counted=counted, rests=rests)
        return Plan(evolve(after, finished="Failed"), counted=_keys(tracked))
    create, delete = ((), ()) if job.terminating else _wanted(after, active, going, rests)
    left = len(active) - len(delete) + len(create)
    if _complete(after) and not left:
        ended = not going and not delete
        finished = evolve(after, finished="Complete") if ended else after
        return Plan(finished, delete=delete, counted=_keys(tracked) if ended else counted, rests=rests)
    if not job.terminating:
        after = _suspended(after)
    return Plan(after, create=create, delete=delete, counted=counted, rests=rests)


def _in_range(job: Job, pod: Pod) -> bool:
    index = index_of(pod)
    return not job.indexed or (index is not None and index < (job.completions or 0))


def _keys(pods: Sequence[Pod]) -> tuple[str, ...]:
    return tuple(pod.key for pod in pods)


def _succeeded(job: Job, won: Sequence[Pod]) -> tuple[int, ...]:
    if not job.indexed:
        return tuple(range(len(job.succeeded) + len(won)))
    indexes = {*job.succeeded, *(index for pod in won if (index := index_of(pod)) is not None)}
    return tuple(sorted(index for index in indexes if index < (job.completions or 0)))


def _complete(job: Job) -> bool:
    done = len(job.succeeded)
    return done > 0 if job.completions is None else done >= job.completions


def _suspended(job: Job) -> Job:
    """The condition Suspended: set when the Job is, and only taken back if it was set (CTRL-04)."""
    if job.suspend:
        return evolve(job, suspended=True, started=False)
    return evolve(job, suspended=False, started=True) if job.suspended else job


def _wanted(
    job: Job, active: Sequence[Pod], going: Sequence[Pod], rests: bool
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The numbers of the pods to be created, or the pods to be deleted; never both at once."""
    if job.suspend:
        return (), _keys(sorted(active, key=_removed_first))
    done = len(job.succeeded)
    if job.completions is None:
        wanted = len(active) if done else job.parallelism
    else:
        wanted = max(min(job.completions - done, job.parallelism), 0)
    delete = _surplus(job, active, max(len(active) - wanted, 0))
    if delete or rests:
        return (), delete
    missing = wanted - len(active) - (len(going) if job.replaces_failed_only else 0)
    if missing <= 0:
        return (), ()
    if not job.indexed:
        return tuple(range(missing)), ()
    taken = {index_of(pod) for pod in (*active, *(going if job.replaces_failed_only else ()))}
    free = [n for n in range(job.completions or 0) if n not in taken and n not in job.succeeded]
    return tuple(free[:missing]), ()


def _surplus(job: Job, active: Sequence[Pod], number: int) -> tuple[str, ...]:
    """The pods to be deleted: of those with one index all but one, and then so many that too many are left."""
    order = sorted(active, key=_removed_first)
    kept: dict[object, Pod] = {}
    removed: list[Pod] = []
    for pod in reversed(order):
        repeated = job.indexed and (not _in_range(job, pod) or index_of(pod) in kept)
        if repeated:
            removed.append(pod)
        else:
            kept[index_of(pod) if job.indexed else pod.key] = pod
    rest = [pod for pod in order if pod in kept.values()]
    return _keys((*removed, *rest[: max(number - len(removed), 0)]))


def _removed_first(pod: Pod) -> tuple[bool, bool, int]:
    """Pods without a node go first, then those that do not run, then the youngest."""
    return pod.node_name is not None, pod.phase == "Running", -pod.uid
