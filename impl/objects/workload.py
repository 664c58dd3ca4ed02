"""Workloads and their PodGroup templates (API-10 to API-22); the scheduler itself never reads them."""

from __future__ import annotations

from attrs import frozen

from gangproof.impl.objects.owner import OwnerReference
from gangproof.impl.objects.podgroup import DisruptionMode, PodGroupClaim
from gangproof.impl.table import Table


@frozen(cache_hash=True)
class ControllerRef:
    """The object that a Workload is made for (API-11)."""

    kind: str
    name: str
    api_group: str = ""


@frozen(cache_hash=True)
class PodGroupTemplate:
    """One entry of `spec.podGroupTemplates`; `disruption_mode` has no default here (API-18)."""

    name: str
    min_count: int | None = None
    topology_keys: tuple[str, ...] | None = None
    resource_claims: tuple[PodGroupClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: int | None = None


@frozen(cache_hash=True)
class Workload:
    """A Workload: the static description of which groups a controller is going to make."""

    namespace: str
    name: str
    uid: int = 0
    labels: Table[str] = Table()
    controller_ref: ControllerRef | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()
    finalizers: tuple[str, ...] = ()
    owners: tuple[OwnerReference, ...] = ()
    terminating: bool = False

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"
