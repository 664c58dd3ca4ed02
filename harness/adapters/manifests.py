"""Objects as manifests again, for a cluster that takes whole Kubernetes objects.

The reverse of `gangproof.load.decode`: what is written here, read again, is the same value. That is checked on
each object, so nothing that the values do not keep can get lost on the way to a scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from gangproof.adapters import claim_manifests
from gangproof.adapters.claim_manifests import node_term, requirements, said
from gangproof.impl.gates import FeatureGates, Object, keep_enabled
from gangproof.impl.objects import (
    Bound,
    LabelSelector,
    Node,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodDisruptionBudget,
    PodGroup,
    PodGroupClaim,
    PodGroupTemplate,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    TopologySpreadConstraint,
    Workload,
)
from gangproof.load.decode import DECODERS
from gangproof.load.decode_pod import PREFERRED, REQUIRED
from gangproof.load.fields import VERSIONS

Manifest = dict[str, Any]


class NotWrittenError(Exception):
    """That an object has something which no manifest made here would have; the text says which object."""


def manifest(obj: Object, gates: FeatureGates) -> Manifest:
    """The object as a manifest without the fields whose gates are off. Raises NotWrittenError."""
    kind = type(obj).__name__
    written = {"apiVersion": VERSIONS[kind], "kind": kind, **_WRITERS[kind](obj, gates)}
    again = keep_enabled(DECODERS[kind](written), gates)
    if again != _as_created(obj):
        raise NotWrittenError(f"{kind} {obj.key} has more than is written of one")
    return written


def _as_created(obj: Object) -> Object:
    """The object without what creating it does not say: its number, and the class of its priority."""
    match obj:
        case Pod():
            return evolve(obj, uid=0, priority_class_name="")
        case PodGroup():
            return evolve(obj, uid=0, priority_class_name="")
        case PodDisruptionBudget() | Workload() | ResourceClaim() | ResourceClaimTemplate():
            return evolve(obj, uid=0)
        case _:
            return obj


def _metadata(obj: Any) -> dict[str, Any]:
    return said(
        name=obj.name,
        namespace=getattr(obj, "namespace", None),
        labels=dict(getattr(obj, "labels", {})),
        finalizers=list(getattr(obj, "finalizers", ())),
    )


def _quantity(resource: str, amount: int) -> str:
    return (
        f"{amount}m"
        if resource == "cpu" and amount % 1000
        else str(amount // 1000 if resource == "cpu" else amount)
    )


def _quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    return {resource: _quantity(resource, amount) for resource, amount in amounts.items()}


def _node(node: Node, gates: FeatureGates) -> Manifest:
    taints = [said(key=taint.key, value=taint.value, effect=taint.effect) for taint in node.taints]
    amounts = _quantities(node.allocatable)
    return {
        "metadata": _metadata(node),
        "spec": said(taints=taints, unschedulable=node.unschedulable),
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def _policy(policy: PodGroup | PodGroupTemplate) -> dict[str, Any]:
    count = policy.min_count
    written: dict[str, Any] = {
        "schedulingPolicy": {"basic": {}} if count is None else {"gang": {"minCount": count}},
        **said(resourceClaims=_claims(policy.resource_claims)),
    }
    if policy.topology_keys is not None:
        written["schedulingConstraints"] = {"topology": [{"key": key} for key in policy.topology_keys]}
    return written


def _group(group: PodGroup, gates: FeatureGates) -> Manifest:
    spec = _policy(group)
    if gates.workload_aware_preemption:
        spec |= {"priority": group.priority, "disruptionMode": group.disruption_mode}
    if group.workload_name is not None:
        reference = {
            "workloadName": group.workload_name,
            "podGroupTemplateName": group.pod_group_template_name,
        }
        spec["podGroupTemplateRef"] = {"workload": reference}
    return {"metadata": _metadata(group), "spec": spec}


def _workload(workload: Workload, gates: FeatureGates) -> Manifest:
    spec: dict[str, Any] = {"podGroupTemplates": [_template(t) for t in workload.pod_group_templates]}
    owner = workload.controller_ref
    if owner is not None:
        spec["controllerRef"] = said(kind=owner.kind, name=owner.name, apiGroup=owner.api_group)
    return {"metadata": _metadata(workload), "spec": spec}


def _template(template: PodGroupTemplate) -> dict[str, Any]:
    return {
        "name": template.name,
        **_policy(template),
        **said(disruptionMode=template.disruption_mode, priorityClassName=template.priority_class_name),
        **({} if template.priority is None else {"priority": template.priority}),
    }


def _pod(pod: Pod, gates: FeatureGates) -> Manifest:
    container: dict[str, Any] = {"name": "c", "image": "image"}
    container["resources"] = {"requests": _quantities(pod.requests)}
    ports = [
        {
            "containerPort": port.port,
            "hostPort": port.port,
            "protocol": port.protocol,
            **said(hostIP="" if port.ip == "0.0.0.0" else port.ip),
        }
        for port in pod.host_ports
    ]
    scheduler = pod.scheduler_name
    spec: dict[str, Any] = {
        "containers": [{**container, **said(ports=ports)}],
        "priority": pod.priority,
        "terminationGracePeriodSeconds": pod.termination_grace_period_seconds,
        **said(
            nodeName=pod.node_name,
            nodeSelector=dict(pod.node_selector),
            tolerations=[_toleration(t) for t in pod.tolerations],
            affinity=_affinity(pod),
            topologySpreadConstraints=[_spread(c) for c in pod.topology_spread_constraints],
            preemptionPolicy=pod.preemption_policy if pod.preemption_policy == "Never" else None,
            schedulerName=scheduler if scheduler != "default-scheduler" else None,
            schedulingGates=[{"name": gate} for gate in pod.scheduling_gates],
            resourceClaims=_claims(pod.resource_claims),
        ),
    }
    if pod.scheduling_group is not None:
        spec["schedulingGroup"] = {"podGroupName": pod.scheduling_group}
    status = said(
        phase=pod.phase if pod.phase != "Pending" else None,
        startTime=None if pod.start_time is None else _time(pod.start_time),
    )
    return {"metadata": _metadata(pod), "spec": spec, **said(status=status)}


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _toleration(toleration: Any) -> dict[str, Any]:
    return said(
        key=toleration.key,
        operator=toleration.operator,
        value=toleration.value,
        effect=toleration.effect,
    )


def _claims(claims: Iterable[PodGroupClaim]) -> list[dict[str, Any]]:
    return [
        said(
            name=claim.name,
            resourceClaimName=claim.resource_claim_name,
            resourceClaimTemplateName=claim.resource_claim_template_name,
        )
        for claim in claims
    ]


def _selector(selector: LabelSelector) -> dict[str, Any]:
    return said(matchExpressions=requirements(selector.requirements))


def _pod_term(term: PodAffinityTerm) -> dict[str, Any]:
    written: dict[str, Any] = {"topologyKey": term.topology_key}
    if term.selector is not None:
        written["labelSelector"] = _selector(term.selector)
    if term.namespaces is None:
        written["namespaceSelector"] = {}
    else:
        written["namespaces"] = list(term.namespaces)
    return written


def _pod_affinity(affinity: PodAffinity) -> dict[str, Any]:
    preferred = [{"weight": p.weight, "podAffinityTerm": _pod_term(p.term)} for p in affinity.preferred]
    return said(**{REQUIRED: [_pod_term(term) for term in affinity.required], PREFERRED: preferred})


def _affinity(pod: Pod) -> dict[str, Any]:
    wanted = pod.node_affinity
    nodes: dict[str, Any] = said(
        **{PREFERRED: [{"weight": p.weight, "preference": node_term(p.term)} for p in wanted.preferred]}
    )
    if wanted.required is not None:
        nodes[REQUIRED] = {"nodeSelectorTerms": [node_term(term) for term in wanted.required]}
    return said(
        nodeAffinity=nodes,
        podAffinity=_pod_affinity(pod.pod_affinity),
        podAntiAffinity=_pod_affinity(pod.pod_anti_affinity),
    )


def _spread(constraint: TopologySpreadConstraint) -> dict[str, Any]:
    selector = {} if constraint.selector is None else {"labelSelector": _selector(constraint.selector)}
    return {
        "topologyKey": constraint.topology_key,
        "maxSkew": constraint.max_skew,
        "whenUnsatisfiable": constraint.when_unsatisfiable,
        **selector,
        **said(
            minDomains=constraint.min_domains if constraint.min_domains != 1 else None,
            nodeAffinityPolicy=constraint.node_affinity_policy,
            nodeTaintsPolicy=constraint.node_taints_policy,
            matchLabelKeys=list(constraint.match_label_keys),
        ),
    }


def _class(priority_class: PriorityClass, gates: FeatureGates) -> Manifest:
    return {
        "metadata": {"name": priority_class.name},
        "value": priority_class.value,
        "globalDefault": priority_class.global_default,
        "preemptionPolicy": priority_class.preemption_policy,
    }


def _budget(budget: PodDisruptionBudget, gates: FeatureGates) -> Manifest:
    bounds = {"minAvailable": budget.min_available, "maxUnavailable": budget.max_unavailable}
    spec = {name: _bound(bound) for name, bound in bounds.items() if bound is not None}
    return {"metadata": _metadata(budget), "spec": {**spec, "selector": _selector(budget.selector)}}


def _bound(bound: Bound) -> int | str:
    return str(bound) if bound.percent else bound.number


_WRITERS: Mapping[str, Callable[[Any, FeatureGates], Manifest]] = {
    "DeviceClass": claim_manifests.device_class,
    "Node": _node,
    "Pod": _pod,
    "PodDisruptionBudget": _budget,
    "PodGroup": _group,
    "PriorityClass": _class,
    "ResourceClaim": claim_manifests.claim,
    "ResourceClaimTemplate": claim_manifests.template,
    "ResourceSlice": claim_manifests.resource_slice,
    "Workload": _workload,
}
