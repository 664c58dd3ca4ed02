"""From the plain data of a pod, whose shape and rules hold, to a `Pod`.

Defaults are those of the API server: limits stand for requests that are absent, on the host's network every
port is a host port, and the label keys that an affinity term matches on become requirements of its
selector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from gangproof.impl.objects import (
    HostPort,
    LabelSelector,
    NodeAffinity,
    NodeSelectorTerm,
    OwnerReference,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodGroupClaim,
    PreferredNodes,
    PreferredPods,
    Requirement,
    Toleration,
    TopologySpreadConstraint,
)
from gangproof.impl.objects.checks import entries_of, fields_of
from gangproof.impl.objects.quantity import base_units
from gangproof.impl.objects.requests import Container, pod_requests, scoring_requests
from gangproof.impl.table import Table

Data = Mapping[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
DEFAULT_GRACE = 30
OWNERS = ("Job", "PodGroup", "Workload")
NO_NODES, NO_PODS, EMPTY = NodeAffinity(), PodAffinity(), Table[str]()


def seconds(text: object) -> int | None:
    """Whole seconds since 1970 of an RFC 3339 time, None if it is none."""
    if not isinstance(text, str) or not text[:4].isdigit() or "T" not in text:
        return None
    try:
        time = datetime.fromisoformat(text[:64])
    except ValueError:
        return None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


def decode_claims(entries: Any) -> tuple[PodGroupClaim, ...]:
    """The entries of `resourceClaims` of a group or a pod (API-36, CLAIM-01)."""
    return tuple(
        PodGroupClaim(
            entry["name"],
            entry.get("resourceClaimName") or None,
            entry.get("resourceClaimTemplateName") or None,
        )
        for entry in entries_of(entries)
    )


def decode_claim_statuses(entries: Any) -> Table[str]:
    """The claims that were made from templates, by the name of their entry (API-41, CLAIM-08)."""
    made = {
        entry["name"]: entry.get("resourceClaimName") for entry in entries_of(entries) if entry.get("name")
    }
    return Table({name: claim for name, claim in made.items() if claim}) if made else EMPTY


def _requirements(entries: Any) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(entry["key"], entry["operator"], tuple(sorted(set(entries_of(entry.get("values"))))))
        for entry in entries_of(entries)
    )


def decode_selector(data: Data | None, more: tuple[Requirement, ...] = ()) -> LabelSelector | None:
    """A label selector, with more conditions if any are given; None if there is none."""
    if data is None:
        return None
    labels = fields_of(data.get("matchLabels"))
    pairs = tuple(Requirement(key, "In", (labels[key],)) for key in sorted(labels))
    return LabelSelector((*pairs, *_requirements(data.get("matchExpressions")), *more))


def decode_node_term(data: Data) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        _requirements(data.get("matchExpressions")), _requirements(data.get("matchFields"))
    )


def _node_affinity(data: Data | None) -> NodeAffinity:
    if not data:
        return NO_NODES
    needed = data.get(REQUIRED)
    return NodeAffinity(
        None if needed is None else tuple(map(decode_node_term, entries_of(needed.get("nodeSelectorTerms")))),
        tuple(
            PreferredNodes(entry["weight"], decode_node_term(entry["preference"]))
            for entry in entries_of(data.get(PREFERRED))
        ),
    )


def _pod_term(data: Data, namespace: str, labels: Data) -> PodAffinityTerm:
    operators: tuple[tuple[Any, Any], ...] = (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
    more = tuple(
        Requirement(key, operator, (labels[key],))
        for field, operator in operators
        for key in entries_of(data.get(field))
        if key in labels
    )
    names = sorted(set(entries_of(data.get("namespaces"))))
    everywhere = data.get("namespaceSelector") is not None
    return PodAffinityTerm(
        topology_key=data["topologyKey"],
        selector=decode_selector(data.get("labelSelector"), more),
        namespaces=None if everywhere else tuple(names or [namespace]),
    )


def _pod_affinity(data: Data | None, namespace: str, labels: Data) -> PodAffinity:
    if not data:
        return NO_PODS
    return PodAffinity(
        tuple(_pod_term(term, namespace, labels) for term in entries_of(data.get(REQUIRED))),
        tuple(
            PreferredPods(entry["weight"], _pod_term(entry["podAffinityTerm"], namespace, labels))
            for entry in entries_of(data.get(PREFERRED))
        ),
    )


def _spread(data: Data) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(
        topology_key=data["topologyKey"],
        max_skew=data["maxSkew"],
        when_unsatisfiable=data["whenUnsatisfiable"],
        selector=decode_selector(data.get("labelSelector")),
        min_domains=data.get("minDomains") or 1,
        node_affinity_policy=data.get("nodeAffinityPolicy") or "Honor",
        node_taints_policy=data.get("nodeTaintsPolicy") or "Ignore",
        match_label_keys=tuple(entries_of(data.get("matchLabelKeys"))),
    )


def _container(data: Data) -> Container:
    resources = fields_of(data.get("resources"))
    amounts = {**fields_of(resources.get("limits")), **fields_of(resources.get("requests"))}
    return Container(
        {name: base_units(name, str(text)) for name, text in amounts.items()},
        data.get("restartPolicy") == "Always",
    )


def _host_ports(containers: Iterable[Data], host_network: bool) -> tuple[HostPort, ...]:
    found: list[HostPort] = []
    for port in (port for container in containers for port in entries_of(container.get("ports"))):
        number = port.get("hostPort") or (port["containerPort"] if host_network else 0)
        if number:
            found.append(HostPort(number, port.get("protocol") or "TCP", port.get("hostIP") or "0.0.0.0"))
    return tuple(found)


def _toleration(data: Data) -> Toleration:
    return Toleration(
        data.get("key") or "",
        data.get("operator") or "Equal",
        data.get("value") or "",
        data.get("effect") or "",
    )


def _unscheduled_reason(status: Data) -> Any:
    for entry in entries_of(status.get("conditions")):
        if entry.get("type") == "PodScheduled" and entry.get("status") == "False":
            reason = entry.get("reason")
            return reason if reason in ("Unschedulable", "SchedulerError") else None
    return None


def decode_pod(data: Data) -> Pod:
    """The pod; its `uid` is 0, and a priority that is to come from a class is 0."""
    metadata, spec, status = (fields_of(data.get(part)) for part in ("metadata", "spec", "status"))
    namespace = metadata.get("namespace") or "default"
    labels = fields_of(metadata.get("labels"))
    affinity = fields_of(spec.get("affinity"))
    containers = entries_of(spec.get("containers"))
    init_containers = entries_of(spec.get("initContainers"))
    staying = [c for c in init_containers if c.get("restartPolicy") == "Always"]
    running, first = [_container(c) for c in containers], [_container(c) for c in init_containers]
    overhead = {name: base_units(name, str(text)) for name, text in fields_of(spec.get("overhead")).items()}
    grace = spec.get("terminationGracePeriodSeconds")
    phase = status.get("phase") or "Pending"
    return Pod(
        namespace=namespace,
        name=metadata["name"],
        labels=Table(labels),
        scheduler_name=spec.get("schedulerName") or "default-scheduler",
        scheduling_group=fields_of(spec.get("schedulingGroup")).get("podGroupName"),
        priority=spec.get("priority") or 0,
        priority_class_name=spec.get("priorityClassName") or "",
        preemption_policy=spec.get("preemptionPolicy") or "PreemptLowerPriority",
        requests=pod_requests(running, first, overhead),
        scoring_requests=scoring_requests(running, first, overhead),
        node_selector=Table(fields_of(spec.get("nodeSelector"))),
        tolerations=tuple(map(_toleration, entries_of(spec.get("tolerations")))),
        node_affinity=_node_affinity(affinity.get("nodeAffinity")),
        pod_affinity=_pod_affinity(affinity.get("podAffinity"), namespace, labels),
        pod_anti_affinity=_pod_affinity(affinity.get("podAntiAffinity"), namespace, labels),
        topology_spread_constraints=tuple(map(_spread, entries_of(spec.get("topologySpreadConstraints")))),
        host_ports=_host_ports([*containers, *staying], bool(spec.get("hostNetwork"))),
        resource_claims=decode_claims(spec.get("resourceClaims")),
        scheduling_gates=tuple(entry["name"] for entry in entries_of(spec.get("schedulingGates"))),
        finalizers=tuple(entries_of(metadata.get("finalizers"))),
        termination_grace_period_seconds=DEFAULT_GRACE if grace is None else grace,
        node_name=spec.get("nodeName") or None,
        terminating=metadata.get("deletionTimestamp") is not None,
        phase="Running" if phase == "Unknown" else phase,
        nominated_node_name=status.get("nominatedNodeName") or None,
        unscheduled_reason=_unscheduled_reason(status),
        start_time=seconds(status.get("startTime")),
        resource_claim_statuses=decode_claim_statuses(status.get("resourceClaimStatuses")),
        owners=decode_owners(metadata.get("ownerReferences")),
        disruption_target=_disruption_target(status),
    )


def decode_owners(entries: Any) -> tuple[OwnerReference, ...]:
    """The owners of kinds that are modelled; who exactly is meant is settled when the object comes (uid 0)."""
    return tuple(
        OwnerReference(entry["kind"], entry["name"], 0, bool(entry.get("controller")))
        for entry in entries_of(entries)
        if entry.get("kind") in OWNERS and entry.get("name")
    )


def _disruption_target(status: Data) -> bool:
    return any(
        (entry.get("type"), entry.get("status"), entry.get("reason"))
        == ("DisruptionTarget", "True", "PreemptionByScheduler")
        for entry in entries_of(status.get("conditions"))
    )
