"""PodGroups (API-30 to API-45) and the one condition that the scheduler writes on them."""

from __future__ import annotations

from typing import Literal

from attrs import evolve, frozen

from gangproof.impl.objects.owner import OwnerReference
from gangproof.impl.table import Table

DisruptionMode = Literal["Pod", "PodGroup"]
PROTECTION_FINALIZER = "scheduling.k8s.io/podgroup-protection"


@frozen(cache_hash=True)
class Condition:
    """`PodGroupScheduled`, its status and reason (COND-01 to COND-03).

    `renewed` tells of the write that made it whether it set the transition time anew (CYCLE-53): there are no
    times here.
    """

    status: Literal["True", "False"]
    reason: Literal["Scheduled", "Unschedulable", "SchedulerError"]
    message: str = ""
    renewed: bool = True

    def repeats(self, other: Condition | None) -> bool:
        """Whether it says what the other one says, so that there is nothing to write."""
        return other is not None and evolve(self, renewed=other.renewed) == other

    def __str__(self) -> str:
        return f"{self.status}/{self.reason}"


@frozen(cache_hash=True)
class PodGroupClaim:
    """An entry of `spec.resourceClaims`: a claim by name or one to be made from a template (API-36)."""

    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


@frozen(cache_hash=True)
class PodGroup:
    """A PodGroup; `min_count` is the gang policy's minCount, None for the basic policy (API-32, API-33).

    `topology_keys` is None if `schedulingConstraints` is absent and empty if it is there without a key,
    which matters for preemption only (API-35, PREEMPT-05). `resource_claim_statuses` are the claims made from
    templates, by the name of their entry (API-41).
    """

    namespace: str
    name: str
    uid: int = 0
    labels: Table[str] = Table()
    min_count: int | None = None
    priority: int = 0
    priority_class_name: str = ""
    disruption_mode: DisruptionMode = "Pod"
    topology_keys: tuple[str, ...] | None = None
    resource_claims: tuple[PodGroupClaim, ...] = ()
    workload_name: str | None = None
    pod_group_template_name: str | None = None
    finalizers: tuple[str, ...] = (PROTECTION_FINALIZER,)
    owners: tuple[OwnerReference, ...] = ()
    terminating: bool = False
    condition: Condition | None = None
    resource_claim_statuses: Table[str] = Table()

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def gang(self) -> bool:
        return self.min_count is not None
