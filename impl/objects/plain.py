"""PodGroups and Workloads as plain data again, so that what a controller makes is validated like what a user writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from gangproof.impl.objects.podgroup import PodGroup, PodGroupClaim
from gangproof.impl.objects.validation import Violation, violations
from gangproof.impl.objects.workload import PodGroupTemplate, Workload


@lru_cache(maxsize=1 << 10)
def breaches(obj: PodGroup | Workload) -> tuple[Violation, ...]:
    """Every rule of validation that the object breaks."""
    return violations(type(obj).__name__, plain(obj))


def plain(obj: PodGroup | Workload) -> dict[str, Any]:
    """The fields that validation looks at, as JSON has them; without the status."""
    metadata = {"namespace": obj.namespace, "name": obj.name, "labels": dict(obj.labels)}
    if isinstance(obj, PodGroup):
        reference = {
            "workloadName": obj.workload_name,
            "podGroupTemplateName": obj.pod_group_template_name,
        }
        spec: dict[str, Any] = _spec(obj)
        if obj.workload_name is not None:
            spec["podGroupTemplateRef"] = {"workload": reference}
        return {"metadata": metadata, "spec": spec}
    spec = {"podGroupTemplates": [{"name": t.name, **_spec(t)} for t in obj.pod_group_templates]}
    if obj.controller_ref is not None:
        ref = obj.controller_ref
        spec["controllerRef"] = {"apiGroup": ref.api_group, "kind": ref.kind, "name": ref.name}
    return {"metadata": metadata, "spec": spec}


def _spec(policy: PodGroup | PodGroupTemplate) -> dict[str, Any]:
    count = policy.min_count
    spec: dict[str, Any] = {
        "schedulingPolicy": {"basic": {}} if count is None else {"gang": {"minCount": count}},
        "disruptionMode": policy.disruption_mode,
        "priorityClassName": policy.priority_class_name,
        "priority": policy.priority,
        "resourceClaims": list(_claims(policy.resource_claims)),
    }
    if policy.topology_keys is not None:
        spec["schedulingConstraints"] = {"topology": [{"key": key} for key in policy.topology_keys]}
    return spec


def _claims(entries: Iterable[PodGroupClaim]) -> Iterable[Mapping[str, Any]]:
    for entry in entries:
        named = {
            "resourceClaimName": entry.resource_claim_name,
            "resourceClaimTemplateName": entry.resource_claim_template_name,
        }
        yield {"name": entry.name, **{field: value for field, value in named.items() if value is not None}}
