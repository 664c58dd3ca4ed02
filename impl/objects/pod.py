"""Pods, as far as the scheduler reads and writes them (API-46 to API-50)."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from gangproof.impl.objects.affinity import HostPort, NodeAffinity, PodAffinity, TopologySpreadConstraint
from gangproof.impl.objects.node import Toleration
from gangproof.impl.objects.owner import OwnerReference
from gangproof.impl.objects.podgroup import PodGroupClaim
from gangproof.impl.table import Table

Phase = Literal["Pending", "Running", "Succeeded", "Failed"]


@frozen(cache_hash=True)
class Pod:
    """A pod; `scheduling_group` is the name of its PodGroup in the same namespace (API-46).

    `requests` are what the filters add up (FILT-09), `scoring_requests` what the resource scores add up
    (SCORE-06); both in base units. `unscheduled_reason` is the reason of the condition PodScheduled when
    that is False, else None. An entry of `resource_claims` belongs to the group iff the group has an equal
    one (CLAIM-01). `priority` came from `priority_class_name`, or is 0 and yet to come from it (ADM-15).
    `start_time` is in seconds since 1970. `resource_claim_statuses` are the claims made from templates, by
    the name of their entry (CLAIM-08). `disruption_target` says that a preemption deleted it: the condition
    DisruptionTarget with reason PreemptionByScheduler (PREEMPT-30).
    """

    namespace: str
    name: str
    uid: int = 0
    labels: Table[str] = Table()
    scheduler_name: str = "default-scheduler"
    scheduling_group: str | None = None
    priority: int = 0
    priority_class_name: str = ""
    preemption_policy: Literal["PreemptLowerPriority", "Never"] = "PreemptLowerPriority"
    requests: Table[int] = Table()
    scoring_requests: Table[int] = Table()
    node_selector: Table[str] = Table()
    tolerations: tuple[Toleration, ...] = ()
    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    resource_claims: tuple[PodGroupClaim, ...] = ()
    scheduling_gates: tuple[str, ...] = ()
    finalizers: tuple[str, ...] = ()
    owners: tuple[OwnerReference, ...] = ()
    termination_grace_period_seconds: int = 0
    node_name: str | None = None
    terminating: bool = False
    phase: Phase = "Pending"
    nominated_node_name: str | None = None
    unscheduled_reason: Literal["Unschedulable", "SchedulerError"] | None = None
    start_time: int | None = None
    disruption_target: bool = False
    resource_claim_statuses: Table[str] = Table()

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def group(self) -> str | None:
        """The key of the PodGroup that this pod is a member of."""
        return None if self.scheduling_group is None else f"{self.namespace}/{self.scheduling_group}"

    @property
    def terminal(self) -> bool:
        return self.phase in ("Succeeded", "Failed")
