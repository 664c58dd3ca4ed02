"""Admission and registry: what the API server refuses although it is well formed, and what it stores (SEMANTICS 2)."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.gates import Object
from gangproof.impl.objects import PodGroup
from gangproof.impl.world import World


def admission(world: World, obj: Object) -> str | None:
    """Why the object is refused, None if it is not: `PodGroupWorkloadExists` (ADM-20 to ADM-24)."""
    if not isinstance(obj, PodGroup) or obj.workload_name is None:
        return None
    name = f"{obj.namespace}/{obj.workload_name}"
    workload = world.workloads.get(name)
    if workload is None:
        return f"workload {name} not found"
    if workload.terminating:
        return f"workload {name} is being deleted"
    if all(template.name != obj.pod_group_template_name for template in workload.pod_group_templates):
        return f"podGroupTemplate {obj.pod_group_template_name} not found in workload {name}"
    return None


def registry(stored: PodGroup, written: PodGroup) -> PodGroup:
    """What is stored when the main resource is written: the old status, whatever it carries (ADM-01)."""
    return evolve(
        written,
        condition=stored.condition,
        resource_claim_statuses=stored.resource_claim_statuses,
    )
