"""From the plain data of one object, whose shape and rules hold, to the value that the machinery works on.

The defaults are those of the API server, which also clears the status of a new group (ADM-01). A priority
that is to come from a class is settled later, when all classes are known. Nothing here can fail: what could
was refused before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gangproof.impl.gates import Object
from gangproof.impl.objects import (
    Bound,
    Condition,
    ControllerRef,
    Job,
    LabelSelector,
    Node,
    PodDisruptionBudget,
    PodGroup,
    PodGroupTemplate,
    PriorityClass,
    Taint,
    Workload,
)
from gangproof.impl.objects.checks import entries_of, fields_of
from gangproof.impl.objects.quantity import base_units
from gangproof.impl.table import Table
from gangproof.load.decode_claim import decode_claim, decode_slice, decode_template
from gangproof.load.decode_claim import decode_class as decode_device_class
from gangproof.load.decode_pod import (
    decode_claim_statuses,
    decode_claims,
    decode_owners,
    decode_pod,
    decode_selector,
)

Data = Mapping[str, Any]
MANAGED_HERE = "kubernetes.io/job-controller"
MOST_INDEXES = 100_000


def is_stored(data: Data) -> bool:
    """Whether the object comes from an API server, as a dump, and not from somebody's pen."""
    metadata = fields_of(data.get("metadata"))
    return bool(metadata.get("uid") or metadata.get("resourceVersion"))


def _min_count(policy: Data) -> int | None:
    gang = fields_of(policy.get("schedulingPolicy")).get("gang")
    return None if gang is None else gang["minCount"]


def _topology_keys(policy: Data) -> tuple[str, ...] | None:
    constraints = policy.get("schedulingConstraints")
    if constraints is None:
        return None
    return tuple(entry["key"] for entry in entries_of(constraints.get("topology")))


def _condition(status: Data) -> Condition | None:
    for entry in entries_of(status.get("conditions")):
        known = entry.get("status") in ("True", "False")
        if entry.get("type") == "PodGroupScheduled" and known and entry.get("reason") in _REASONS:
            return Condition(entry["status"], entry["reason"], entry.get("message") or "")
    return None


_REASONS = ("Scheduled", "Unschedulable", "SchedulerError")


def _decode_group(data: Data) -> PodGroup:
    metadata, spec, status = (fields_of(data.get(part)) for part in ("metadata", "spec", "status"))
    reference = fields_of(fields_of(spec.get("podGroupTemplateRef")).get("workload"))
    return PodGroup(
        namespace=metadata.get("namespace") or "default",
        name=metadata["name"],
        labels=Table(fields_of(metadata.get("labels"))),
        min_count=_min_count(spec),
        priority=spec.get("priority") or 0,
        priority_class_name=spec.get("priorityClassName") or "",
        disruption_mode=spec.get("disruptionMode") or "Pod",
        topology_keys=_topology_keys(spec),
        resource_claims=decode_claims(spec.get("resourceClaims")),
        workload_name=reference.get("workloadName"),
        pod_group_template_name=reference.get("podGroupTemplateName"),
        finalizers=tuple(entries_of(metadata.get("finalizers"))),
        owners=decode_owners(metadata.get("ownerReferences")),
        terminating=metadata.get("deletionTimestamp") is not None,
        condition=_condition(status),
        resource_claim_statuses=decode_claim_statuses(status.get("resourceClaimStatuses")),
    )


def _template(data: Data) -> PodGroupTemplate:
    return PodGroupTemplate(
        name=data["name"],
        min_count=_min_count(data),
        topology_keys=_topology_keys(data),
        resource_claims=decode_claims(data.get("resourceClaims")),
        disruption_mode=data.get("disruptionMode") or None,
        priority_class_name=data.get("priorityClassName") or "",
        priority=data.get("priority"),
    )


def _decode_workload(data: Data) -> Workload:
    metadata, spec = fields_of(data.get("metadata")), fields_of(data.get("spec"))
    reference = spec.get("controllerRef")
    return Workload(
        namespace=metadata.get("namespace") or "default",
        name=metadata["name"],
        labels=Table(fields_of(metadata.get("labels"))),
        controller_ref=reference
        and ControllerRef(reference["kind"], reference["name"], reference.get("apiGroup") or ""),
        pod_group_templates=tuple(map(_template, entries_of(spec.get("podGroupTemplates")))),
        finalizers=tuple(entries_of(metadata.get("finalizers"))),
        owners=decode_owners(metadata.get("ownerReferences")),
        terminating=metadata.get("deletionTimestamp") is not None,
    )


def _decode_node(data: Data) -> Node:
    metadata, spec, status = (fields_of(data.get(part)) for part in ("metadata", "spec", "status"))
    amounts = status.get("allocatable")
    amounts = fields_of(status.get("capacity")) if amounts is None else amounts
    return Node(
        name=metadata["name"],
        allocatable=Table({name: base_units(name, str(text)) for name, text in amounts.items()}),
        labels=Table(fields_of(metadata.get("labels"))),
        taints=tuple(
            Taint(taint["key"], taint["effect"], taint.get("value") or "")
            for taint in entries_of(spec.get("taints"))
        ),
        unschedulable=bool(spec.get("unschedulable")),
    )


def _decode_class(data: Data) -> PriorityClass:
    return PriorityClass(
        name=data["metadata"]["name"],
        value=data["value"],
        global_default=bool(data.get("globalDefault")),
        preemption_policy=data.get("preemptionPolicy") or "PreemptLowerPriority",
    )


def decode_bound(value: int | str | None) -> Bound | None:
    """A number of pods, or a share as `50%`."""
    if isinstance(value, str):
        return Bound(int(value.removesuffix("%")), percent=True)
    return None if value is None else Bound(value)


def _decode_budget(data: Data) -> PodDisruptionBudget:
    metadata, spec, status = (fields_of(data.get(part)) for part in ("metadata", "spec", "status"))
    stored = is_stored(data)
    return PodDisruptionBudget(
        namespace=metadata.get("namespace") or "default",
        name=metadata["name"],
        selector=decode_selector(spec.get("selector")) or LabelSelector(),
        min_available=decode_bound(spec.get("minAvailable")),
        max_unavailable=decode_bound(spec.get("maxUnavailable")),
        disruptions_allowed=status.get("disruptionsAllowed") if stored else None,
        disrupted_pods=tuple(sorted(fields_of(status.get("disruptedPods")))) if stored else (),
    )


def _decode_job(data: Data) -> Job:
    """The Job; without both numbers it is for one pod."""
    metadata, spec, status = (fields_of(data.get(part)) for part in ("metadata", "spec", "status"))
    template = fields_of(spec.get("template"))
    namespace = metadata.get("namespace") or "default"
    given = fields_of(template.get("metadata"))
    written = {"metadata": {**given, "name": "", "namespace": namespace}, "spec": template.get("spec")}
    completions, parallelism = spec.get("completions"), spec.get("parallelism")
    indexed = spec.get("completionMode") == "Indexed"
    conditions = {e.get("type"): e.get("status") == "True" for e in entries_of(status.get("conditions"))}
    return Job(
        namespace,
        metadata["name"],
        template=decode_pod(written),
        labels=Table(fields_of(metadata.get("labels"))),
        parallelism=1 if parallelism is None else parallelism,
        completions=1 if completions is None and parallelism is None else completions,
        indexed=indexed,
        suspend=bool(spec.get("suspend")),
        backoff_limit=6 if spec.get("backoffLimit") is None else spec["backoffLimit"],
        replaces_failed_only=spec.get("podReplacementPolicy") == "Failed",
        managed_elsewhere=(spec.get("managedBy") or MANAGED_HERE) != MANAGED_HERE,
        finalizers=tuple(entries_of(metadata.get("finalizers"))),
        owners=decode_owners(metadata.get("ownerReferences")),
        terminating=metadata.get("deletionTimestamp") is not None,
        started=status.get("startTime") is not None,
        suspended=conditions.get("Suspended"),
        succeeded=_indexes(status.get("completedIndexes") or "")
        if indexed
        else tuple(range(status.get("succeeded") or 0)),
        failed=status.get("failed") or 0,
        finished=next((name for name in ("Complete", "Failed") if conditions.get(name)), None),
    )


def _indexes(text: str) -> tuple[int, ...]:
    """The numbers in a text such as `1,3-5`; what is no number counts for nothing."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal() and len(part) < 2 * len(str(MOST_INDEXES)):
            found.update(range(int(first), min(int(last or first), MOST_INDEXES) + 1))
    return tuple(sorted(found))


DECODERS: Mapping[str, Callable[[Data], Object]] = {
    "DeviceClass": decode_device_class,
    "Job": _decode_job,
    "Node": _decode_node,
    "Pod": decode_pod,
    "PodDisruptionBudget": _decode_budget,
    "PodGroup": _decode_group,
    "PriorityClass": _decode_class,
    "ResourceClaim": decode_claim,
    "ResourceClaimTemplate": decode_template,
    "ResourceSlice": decode_slice,
    "Workload": _decode_workload,
}
