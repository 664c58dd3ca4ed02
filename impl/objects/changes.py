"""Which changes of a stored object the API server refuses."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from gangproof.impl.objects.budget import PodDisruptionBudget
from gangproof.impl.objects.claim import ResourceClaim, ResourceClaimTemplate
from gangproof.impl.objects.device import DeviceClass, ResourceSlice
from gangproof.impl.objects.job import Job
from gangproof.impl.objects.node import Node
from gangproof.impl.objects.pod import Pod
from gangproof.impl.objects.podgroup import PodGroup
from gangproof.impl.objects.policy import PriorityClass
from gangproof.impl.objects.workload import Workload

IMMUTABLE: Mapping[type, Mapping[str, tuple[str, str]]] = {
    PodGroup: {
        "min_count": ("spec.schedulingPolicy", "API-33"),
        "topology_keys": ("spec.schedulingConstraints", "API-34"),
        "resource_claims": ("spec.resourceClaims", "API-36"),
        "disruption_mode": ("spec.disruptionMode", "API-37"),
        "priority_class_name": ("spec.priorityClassName", "API-38"),
        "priority": ("spec.priority", "API-39"),
        "workload_name": ("spec.podGroupTemplateRef", "API-31"),
        "pod_group_template_name": ("spec.podGroupTemplateRef", "API-31"),
    },
    DeviceClass: {},
    Node: {},
    PodDisruptionBudget: {},
    PriorityClass: {"value": ("value", "core"), "preemption_policy": ("preemptionPolicy", "core")},
    ResourceSlice: {"pool": ("spec.pool.name", "core"), "driver": ("spec.driver", "core")},
    Job: {"indexed": ("spec.completionMode", "core"), "managed_elsewhere": ("spec.managedBy", "core")},
    ResourceClaim: {"spec": ("spec", "core"), "owner": ("metadata.ownerReferences", "core")},
    ResourceClaimTemplate: {"spec": ("spec", "core")},
    Workload: {
        "controller_ref": ("spec.controllerRef", "API-11"),
        "pod_group_templates": ("spec.podGroupTemplates", "API-12"),
    },
    Pod: {
        "scheduling_group": ("spec.schedulingGroup", "API-47"),
        "scheduler_name": ("spec.schedulerName", "core"),
        "priority": ("spec.priority", "core"),
        "priority_class_name": ("spec.priorityClassName", "core"),
        "preemption_policy": ("spec.preemptionPolicy", "core"),
        "requests": ("spec.containers", "core"),
        "host_ports": ("spec.containers", "core"),
        "pod_affinity": ("spec.affinity.podAffinity", "core"),
        "pod_anti_affinity": ("spec.affinity.podAntiAffinity", "core"),
        "topology_spread_constraints": ("spec.topologySpreadConstraints", "core"),
        "resource_claims": ("spec.resourceClaims", "core"),
    },
}
IDENTITY = ("namespace", "name")


Changed = (
    DeviceClass
    | Job
    | Node
    | Pod
    | PodDisruptionBudget
    | PodGroup
    | PriorityClass
    | ResourceClaim
    | ResourceClaimTemplate
    | ResourceSlice
    | Workload
)


def refused_changes(old: Changed, new: Changed) -> tuple[str, ...]:
    """Why an update from old to new is refused, () if it is not: ADM-02, ADM-03, API-47 and, for pods, core.

    So what a gate dropped when an object was created cannot be set later (API-57).
    TypeError if the two are not of one kind. Of a pod's other fields: scheduling gates can only be removed,
    tolerations only added, and the node selector only be narrowed while the pod is gated.
    """
    if type(old) is not type(new):
        raise TypeError(f"a {type(old).__name__} cannot become a {type(new).__name__}")
    fields = {**{name: (f"metadata.{name}", "core") for name in IDENTITY}, **IMMUTABLE[type(old)]}
    messages = {
        f"{field}: field is immutable ({rule})": None
        for name, (field, rule) in fields.items()
        if getattr(old, name, None) != getattr(new, name, None)
    }
    if isinstance(old, ResourceSlice) and isinstance(new, ResourceSlice) and old.reach.node != new.reach.node:
        messages["spec.nodeName: field is immutable (core)"] = None
    if isinstance(old, Pod) and isinstance(new, Pod):
        messages.update(dict.fromkeys(_pod_changes(old, new)))
    if isinstance(old, Job) and isinstance(new, Job):
        messages.update(dict.fromkeys(_job_changes(old, new)))
    return tuple(messages)


def _job_changes(old: Job, new: Job) -> list[str]:
    """The template is fixed but for where pods may go, and that only while the Job rests; so are completions.

    Those of an Indexed Job may change together with the parallelism.
    """
    messages: list[str] = []
    rests = old.suspend and (not old.started or old.suspended)
    placing = ("labels", "node_selector", "node_affinity", "tolerations", "scheduling_gates") if rests else ()
    kept = {name: getattr(new.template, name) for name in placing}
    if evolve(old.template, **kept) != new.template:
        messages.append("spec.template: field is immutable (core)")
    if old.completions != new.completions and not new.indexed:
        messages.append("spec.completions: field is immutable (core)")
    elif old.completions != new.completions != new.parallelism:
        messages.append("spec.completions: can only be modified in tandem with spec.parallelism (core)")
    return messages


def _pod_changes(old: Pod, new: Pod) -> list[str]:
    messages: list[str] = []
    if not set(new.scheduling_gates) <= set(old.scheduling_gates):
        messages.append("spec.schedulingGates: gates can only be removed (core)")
    if not set(old.tolerations) <= set(new.tolerations):
        messages.append("spec.tolerations: tolerations can only be added (core)")
    narrowed = old.node_selector.items() <= new.node_selector.items()
    gated = bool(old.scheduling_gates)
    if old.node_selector != new.node_selector and not (gated and narrowed):
        messages.append("spec.nodeSelector: can only be narrowed, and only while the pod is gated (core)")
    if old.node_affinity != new.node_affinity and not gated:
        messages.append("spec.affinity.nodeAffinity: can only change while the pod is gated (core)")
    return messages
