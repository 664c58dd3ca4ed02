"""What a pod must be like to be accepted: API-46, and the core rules on fields that the scheduler reads."""

from __future__ import annotations

import re
from typing import Any

from gangproof.impl.objects.checks import (
    LARGEST_INT32,
    Check,
    Finding,
    dns_label,
    dns_subdomain,
    entries,
    exactly_one,
    integer,
    label_key,
    labels,
    one_of,
    optional,
    present,
    quantities,
    required,
    shown,
)

Rules = tuple[tuple[str, str, Check], ...]


def _toleration(value: Any) -> Finding | None:
    operator = value.get("operator") or "Equal"
    if not value.get("key") and operator != "Exists":
        return Finding(operator, "Exists, as the key is empty", ("operator",))
    if value.get("value") and operator == "Exists":
        return Finding(shown(value["value"]), "no value, as the operator is Exists", ("value",))
    return None


def _expression(value: Any) -> Finding | None:
    values: list[str] = value.get("values") or []
    match value.get("operator"):
        case "In" | "NotIn" if not values:
            return Finding("no values", "at least one value", ("values",))
        case "Exists" | "DoesNotExist" if values:
            return Finding(f"{len(values)} values", "none, as the operator takes none", ("values",))
        case "Gt" | "Lt" if len(values) != 1 or re.fullmatch(r"[+-]?[0-9]{1,19}", values[0]) is None:
            return Finding(", ".join(map(shown, values)) or "no values", "one integer", ("values",))
        case _:
            return None


def _field_expression(value: Any) -> Finding | None:
    values: list[str] = value.get("values") or []
    return None if len(values) == 1 else Finding(f"{len(values)} values", "exactly one", ("values",))


def _spread(value: Any) -> Finding | None:
    if value.get("minDomains") is not None and value.get("whenUnsatisfiable") != "DoNotSchedule":
        return Finding(
            "minDomains", "no minDomains unless whenUnsatisfiable is DoNotSchedule", ("minDomains",)
        )
    return None


def _gated_and_bound(value: Any) -> Finding | None:
    if value.get("nodeName") and value.get("schedulingGates"):
        return Finding(shown(value["nodeName"]), "no node while there are schedulingGates", ("nodeName",))
    return None


def selector_rules(prefix: str) -> Rules:
    expression = f"{prefix}.matchExpressions[]"
    return (
        ("core", f"{prefix}.matchLabels", labels),
        ("core", f"{expression}.key", required(label_key)),
        ("core", f"{expression}.operator", required(one_of("In", "NotIn", "Exists", "DoesNotExist"))),
        ("core", expression, _expression),
    )


def _node_term(prefix: str) -> Rules:
    operators = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    return (
        ("FILT-07", f"{prefix}.matchExpressions[].key", required(label_key)),
        ("FILT-07", f"{prefix}.matchExpressions[].operator", required(one_of(*operators))),
        ("FILT-07", f"{prefix}.matchExpressions[]", _expression),
        ("FILT-07", f"{prefix}.matchFields[].key", required(one_of("metadata.name"))),
        ("FILT-07", f"{prefix}.matchFields[].operator", required(one_of("In", "NotIn"))),
        ("FILT-07", f"{prefix}.matchFields[]", _field_expression),
    )


def _pod_terms(field: str) -> Rules:
    required_terms = f"spec.affinity.{field}.requiredDuringSchedulingIgnoredDuringExecution[]"
    preferred = f"spec.affinity.{field}.preferredDuringSchedulingIgnoredDuringExecution[]"
    return (
        ("FILT-14", f"{required_terms}.topologyKey", required(label_key)),
        *selector_rules(f"{required_terms}.labelSelector"),
        ("SCORE-10", f"{preferred}.weight", required(integer(1, 100))),
        ("SCORE-10", f"{preferred}.podAffinityTerm", present),
        ("FILT-14", f"{preferred}.podAffinityTerm.topologyKey", required(label_key)),
        *selector_rules(f"{preferred}.podAffinityTerm.labelSelector"),
    )


def _containers(field: str) -> Rules:
    prefix = f"spec.{field}[]"
    return (
        ("core", f"{prefix}.name", required(dns_label)),
        ("FILT-09", f"{prefix}.resources.requests", quantities),
        ("FILT-09", f"{prefix}.resources.limits", quantities),
        ("FILT-08", f"{prefix}.ports[].containerPort", required(integer(1, 65535))),
        ("FILT-08", f"{prefix}.ports[].hostPort", optional(integer(0, 65535))),
        ("FILT-08", f"{prefix}.ports[].protocol", optional(one_of("TCP", "UDP", "SCTP"))),
    )


NODE_AFFINITY = "spec.affinity.nodeAffinity"
NODE_REQUIRED = f"{NODE_AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
NODE_PREFERRED = f"{NODE_AFFINITY}.preferredDuringSchedulingIgnoredDuringExecution[]"
SPREAD = "spec.topologySpreadConstraints[]"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

POD_RULES: Rules = (
    ("core", "metadata", present),
    ("core", "metadata.name", required(dns_subdomain)),
    ("core", "metadata.namespace", optional(dns_label)),
    ("core", "metadata.labels", labels),
    ("API-46", "spec.schedulingGroup.podGroupName", required(dns_subdomain)),
    ("core", "spec", present),
    ("core", "spec.containers", entries(1, None, "name")),
    *_containers("containers"),
    *_containers("initContainers"),
    ("core", "spec.overhead", quantities),
    ("core", "spec.nodeName", optional(dns_subdomain)),
    ("core", "spec", optional(_gated_and_bound)),
    ("core", "spec.nodeSelector", labels),
    ("core", "spec.priorityClassName", optional(dns_subdomain)),
    ("core", "spec.priority", optional(integer(-LARGEST_INT32 - 1))),
    ("core", "spec.preemptionPolicy", optional(one_of("PreemptLowerPriority", "Never"))),
    ("core", "spec.terminationGracePeriodSeconds", optional(integer(0, 2**63 - 1))),
    ("core", "spec.schedulingGates", entries(0, None, "name")),
    ("core", "spec.schedulingGates[].name", required(label_key)),
    ("FILT-06", "spec.tolerations[].key", optional(label_key)),
    ("FILT-06", "spec.tolerations[].operator", optional(one_of("Exists", "Equal", "Lt", "Gt"))),
    ("FILT-06", "spec.tolerations[].effect", optional(one_of(*EFFECTS))),
    ("FILT-06", "spec.tolerations[]", _toleration),
    ("FILT-07", NODE_REQUIRED, entries(1, None)),
    *_node_term(f"{NODE_REQUIRED}[]"),
    ("SCORE-05", f"{NODE_PREFERRED}.weight", required(integer(1, 100))),
    ("SCORE-05", f"{NODE_PREFERRED}.preference", present),
    *_node_term(f"{NODE_PREFERRED}.preference"),
    *_pod_terms("podAffinity"),
    *_pod_terms("podAntiAffinity"),
    ("FILT-11", f"{SPREAD}.topologyKey", required(label_key)),
    ("FILT-11", f"{SPREAD}.maxSkew", required(integer(1))),
    ("FILT-11", f"{SPREAD}.whenUnsatisfiable", required(one_of("DoNotSchedule", "ScheduleAnyway"))),
    ("FILT-11", f"{SPREAD}.minDomains", optional(integer(1))),
    ("FILT-11", SPREAD, _spread),
    ("FILT-11", f"{SPREAD}.nodeAffinityPolicy", optional(one_of("Honor", "Ignore"))),
    ("FILT-11", f"{SPREAD}.nodeTaintsPolicy", optional(one_of("Honor", "Ignore"))),
    *selector_rules(f"{SPREAD}.labelSelector"),
    ("CLAIM-01", "spec.resourceClaims", entries(0, None, "name")),
    ("CLAIM-01", "spec.resourceClaims[].name", required(dns_label)),
    (
        "CLAIM-01",
        "spec.resourceClaims[]",
        exactly_one("resourceClaimName", "resourceClaimTemplateName"),
    ),
    ("API-50", "status.phase", optional(one_of("Pending", "Running", "Succeeded", "Failed", "Unknown"))),
)


def template_rules(prefix: str) -> Rules:
    """The same rules for a pod template below the prefix; it has no name, no namespace and no status."""
    left_out = ("metadata", "metadata.name", "metadata.namespace", "status.phase")
    return tuple((rule, f"{prefix}.{path}", check) for rule, path, check in POD_RULES if path not in left_out)
