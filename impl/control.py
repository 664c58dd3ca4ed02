"""What is remembered beside the scheduler: what its controllers have yet to do, and who has yet to see what.

A world without Jobs and without lagging views has an empty `Control`.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from gangproof.impl.controllers.job_pods import Plan
from gangproof.impl.gates import Object
from gangproof.impl.objects import Job, Pod, PodGroup, Workload
from gangproof.impl.table import Table


@frozen(cache_hash=True)
class Revision:
    """A change of one stored object: without `old` it was created, without `new` it is gone.

    `by` is the component that made the change, "" if it was a user or the scheduler.
    """

    kind: str
    key: str
    old: Object | None
    new: Object | None
    by: str = ""


@frozen(cache_hash=True)
class Sync:
    """A running sync of the Job controller: the Job and its pods as it read them, and how far it has come.

    `workload` and `group` are what it holds in hand; `plan` is what it has still to do to pods, and the status that
    it is going to write. Creations are sent in batches of one, two, four, … calls: `left` of the present `batch`
    are still to be sent. If one of them `failed` there is no further batch.
    """

    job: Job
    pods: tuple[Pod, ...]
    stage: Literal["workload", "group", "pods", "status"] = "workload"
    workload: Workload | None = None
    group: PodGroup | None = None
    plan: Plan | None = None
    batch: int = 1
    left: int = 1
    failed: bool = False


@frozen(cache_hash=True)
class Sent:
    """A call of a scheduler that is no more: it may still take effect, or be lost (ACT-30)."""

    call: Literal["bind", "delete"]
    pod: str
    uid: int
    node: str = ""


@frozen(cache_hash=True)
class Control:
    """The memory of the control plane beside the scheduler.

    By key and sorted: `due` are the Jobs that wait for a sync, `retrying` those of which a sync failed, until
    it is tried again, `resting` those that get no new pod for a while since one of theirs failed; `orphans` are
    the objects, such as `pod/default/a`, whose owners are all gone. `log` keeps, by kind, the latest changes that
    somebody has not seen yet; `behind` tells how many of them, by view such as `job-controller/pod`. `sent` are
    calls of a scheduler before its restart.
    """

    due: tuple[str, ...] = ()
    retrying: tuple[str, ...] = ()
    resting: tuple[str, ...] = ()
    sync: Sync | None = None
    orphans: tuple[str, ...] = ()
    log: Table[tuple[Revision, ...]] = Table()
    behind: Table[int] = Table()
    sent: tuple[Sent, ...] = ()


NO_CONTROL = Control()
