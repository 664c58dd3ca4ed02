"""Jobs as far as their controller reads and writes them, and which of them ask for a gang (CTRL-01)."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from gangproof.impl.objects.owner import OwnerReference
from gangproof.impl.objects.pod import Pod
from gangproof.impl.table import Table

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"
"""Keeps a pod until its Job has counted it."""
INDEX_LABEL = "batch.kubernetes.io/job-completion-index"
JOB_NAME_LABELS = ("batch.kubernetes.io/job-name", "job-name")


@frozen(cache_hash=True)
class Job:
    """A Job; `template` is a pod without a name.

    `completions` None is a Job that is done as soon as one pod succeeds and none runs any more.
    `replaces_failed_only` is the pod replacement policy Failed: nobody is replaced who is still going.
    `managed_elsewhere` tells that another controller than the built-in one manages it.

    The status: `started` stands for the start time, `suspended` for the condition Suspended (None: there is
    none), `succeeded` are the completion indexes that succeeded, or as many numbers from 0 on if the Job has
    no indexes; `failed` counts pods, and `finished` is the condition Complete or Failed.
    """

    namespace: str
    name: str
    template: Pod
    uid: int = 0
    labels: Table[str] = Table()
    parallelism: int = 1
    completions: int | None = None
    indexed: bool = False
    suspend: bool = False
    backoff_limit: int = 6
    replaces_failed_only: bool = False
    managed_elsewhere: bool = False
    finalizers: tuple[str, ...] = ()
    owners: tuple[OwnerReference, ...] = ()
    terminating: bool = False
    started: bool = False
    suspended: bool | None = None
    succeeded: tuple[int, ...] = ()
    failed: int = 0
    finished: Literal["Complete", "Failed"] | None = None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def asks_for_a_gang(self) -> bool:
        """Whether Workload and PodGroup are for this Job, if WorkloadWithJob is on (CTRL-01, CTRL-24).

        Who owns the Job plays no part.
        """
        indexed = self.indexed and self.completions == self.parallelism
        return self.parallelism > 1 and indexed and self.template.scheduling_group is None


def index_of(pod: Pod) -> int | None:
    """The completion index of a Job's pod, None if it has none."""
    text = pod.labels.get(INDEX_LABEL)
    return int(text) if text is not None and text.isdecimal() else None
