"""Validation: for each rule what it accepts and what it refuses, on an otherwise good object."""

from copy import deepcopy
from typing import Any

import pytest

from gangproof.impl.objects.checks import shown
from gangproof.impl.objects.validation import RULES, path_text, violations

CLAIM = {"name": "c", "resourceClaimName": "claim"}
GOOD: dict[str, dict[str, Any]] = {
    "Workload": {
        "metadata": {"name": "w"},
        "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
            "podGroupTemplates": [{"name": "t", "schedulingPolicy": {"gang": {"minCount": 2}}}],
        },
    },
    "PodGroup": {
        "metadata": {"name": "g"},
        "spec": {
            "podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
            "schedulingPolicy": {"gang": {"minCount": 2}},
            "resourceClaims": [CLAIM],
        },
        "status": {},
    },
    "Pod": {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}},
    "Node": {"metadata": {"name": "n"}, "spec": {}, "status": {"allocatable": {"cpu": "1"}}},
    "PriorityClass": {"metadata": {"name": "high"}, "value": 10},
}
TEMPLATE = "spec.podGroupTemplates.0"
LONG = "a" * 64
TERM = {"topologyKey": "zone"}
AFFINITY = "spec.affinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SPREAD = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}


def changed(kind: str, path: str, value: Any) -> dict[str, Any]:
    """The good object with one field set, or taken away if the value is `...`."""
    data = deepcopy(GOOD[kind])
    at: Any = data
    *steps, last = path.split(".")
    for step in steps:
        if isinstance(at, list):
            at = at[int(step)]
        else:
            at = at.setdefault(step, {})
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return data


@pytest.mark.parametrize("kind", sorted(GOOD))
def test_the_good_object_is_accepted(kind: str) -> None:
    assert violations(kind, GOOD[kind]) == ()


def test_every_kind_has_a_good_object_here() -> None:
    assert sorted(RULES) == sorted(GOOD)


ACCEPTED: list[tuple[str, str, str, Any]] = [
    ("API-10", "Workload", "metadata.name", "a.b-1"),
    ("API-10", "Workload", "metadata.name", ".".join(["a" * 63] * 3)),
    ("API-11", "Workload", "spec.controllerRef", ...),
    ("API-11", "Workload", "spec.controllerRef.apiGroup", ""),
    ("API-11", "Workload", "spec.controllerRef.kind", "Job"),
    ("API-12", "Workload", "spec.podGroupTemplates", [{"name": f"t{i}", "schedulingPolicy": {"basic": {}}} for i in range(8)]),
    ("API-13", "Workload", f"{TEMPLATE}.name", "a" * 63),
    ("API-14", "Workload", f"{TEMPLATE}.schedulingPolicy", {"basic": {}}),
    ("API-15", "Workload", f"{TEMPLATE}.schedulingPolicy.gang.minCount", 2**31 - 1),
    ("API-16", "Workload", f"{TEMPLATE}.schedulingConstraints", {"topology": [{"key": "zone"}]}),
    ("API-17", "Workload", f"{TEMPLATE}.resourceClaims", [{**CLAIM, "name": f"c{i}"} for i in range(4)]),
    ("API-18", "Workload", f"{TEMPLATE}.disruptionMode", "PodGroup"),
    ("API-19", "Workload", f"{TEMPLATE}.priorityClassName", "not-resolved"),
    ("API-20", "Workload", f"{TEMPLATE}.priority", 1_000_000_000),
    ("API-20", "Workload", f"{TEMPLATE}.priority", -(2**31)),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef", ...),
    ("API-32", "PodGroup", "spec.schedulingPolicy", {"basic": {}}),
    ("API-33", "PodGroup", "spec.schedulingPolicy.gang.minCount", 1),
    ("API-34", "PodGroup", "spec.schedulingConstraints", {}),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", []),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": "example.com/rack"}]),
    ("API-36", "PodGroup", "spec.resourceClaims", [{"name": "a", "resourceClaimTemplateName": "t"}]),
    ("API-37", "PodGroup", "spec.disruptionMode", "Pod"),
    ("API-38", "PodGroup", "spec.priorityClassName", "high"),
    ("API-39", "PodGroup", "spec.priority", 1_000_000_000),
    ("API-40", "PodGroup", "status.conditions", [{"type": "Other", "status": "Unknown"}]),
    ("API-41", "PodGroup", "status.resourceClaimStatuses", [{"name": "c", "resourceClaimName": "x"}]),
    ("API-43", "PodGroup", "spec", {"schedulingPolicy": {"basic": {}}, "disruptionMode": "PodGroup"}),
    ("API-45", "Node", "metadata.labels", {"rack": ""}),
    ("API-46", "Pod", "spec.schedulingGroup", {"podGroupName": "anything.at-all"}),
    ("API-50", "Pod", "status.phase", "Unknown"),
    ("FILT-06", "Pod", "spec.tolerations", [{"operator": "Exists"}, {"key": "k", "value": "v"}]),
    ("FILT-07", "Pod", f"{AFFINITY}.nodeAffinity.{REQUIRED}", {"nodeSelectorTerms": [{}]}),
    ("FILT-08", "Pod", "spec.containers", [{"name": "c", "ports": [{"containerPort": 1, "hostPort": 65535}]}]),
    ("FILT-11", "Pod", "spec.topologySpreadConstraints", [{**SPREAD, "minDomains": 2}]),
    ("FILT-14", "Pod", f"{AFFINITY}.podAffinity.{REQUIRED}", [TERM]),
    ("SCORE-10", "Pod", f"{AFFINITY}.podAffinity.{PREFERRED}", [{"weight": 100, "podAffinityTerm": TERM}]),
    ("core", "Node", "status.allocatable", {"cpu": "0", "memory": "1Gi", "nvidia.com/gpu": 8}),
    ("core", "PriorityClass", "value", -(2**31)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "path", "value"), ACCEPTED)
def test_accepted(rule: str, kind: str, path: str, value: Any) -> None:
    assert violations(kind, changed(kind, path, value)) == ()


REFUSED: list[tuple[str, str, str, Any, str]] = [
    ("API-10", "Workload", "metadata.name", "Upper", "metadata.name"),
    ("API-10", "Workload", "metadata.name", "a" * 254, "metadata.name"),
    ("API-10", "Workload", "metadata.name", "a..b", "metadata.name"),
    ("API-10", "Workload", "metadata", ..., "metadata"),
    ("API-11", "Workload", "spec.controllerRef.apiGroup", "Batch", "spec.controllerRef.apiGroup"),
    ("API-11", "Workload", "spec.controllerRef.kind", "a/b", "spec.controllerRef.kind"),
    ("API-11", "Workload", "spec.controllerRef.kind", ..., "spec.controllerRef.kind"),
    ("API-11", "Workload", "spec.controllerRef.name", "..", "spec.controllerRef.name"),
    ("API-12", "Workload", "spec.podGroupTemplates", [], "spec.podGroupTemplates"),
    ("API-12", "Workload", "spec", ..., "spec"),
    ("API-12", "Workload", "spec.podGroupTemplates", [{"name": f"t{i}", "schedulingPolicy": {"basic": {}}} for i in range(9)], "spec.podGroupTemplates"),
    ("API-12", "Workload", "spec.podGroupTemplates", [{"name": "t", "schedulingPolicy": {"basic": {}}}] * 2, "spec.podGroupTemplates[1].name"),
    ("API-13", "Workload", f"{TEMPLATE}.name", LONG, "spec.podGroupTemplates[0].name"),
    ("API-13", "Workload", f"{TEMPLATE}.name", "a.b", "spec.podGroupTemplates[0].name"),
    ("API-13", "Workload", f"{TEMPLATE}.name", ..., "spec.podGroupTemplates[0].name"),
    ("API-14", "Workload", f"{TEMPLATE}.schedulingPolicy", {}, "spec.podGroupTemplates[0].schedulingPolicy"),
    ("API-14", "Workload", f"{TEMPLATE}.schedulingPolicy", ..., "spec.podGroupTemplates[0].schedulingPolicy"),
    ("API-14", "Workload", f"{TEMPLATE}.schedulingPolicy.basic", {}, "spec.podGroupTemplates[0].schedulingPolicy"),
    ("API-15", "Workload", f"{TEMPLATE}.schedulingPolicy.gang.minCount", 0, "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount"),
    ("API-17", "Workload", f"{TEMPLATE}.resourceClaims", [{**CLAIM, "name": f"c{i}"} for i in range(5)], "spec.podGroupTemplates[0].resourceClaims"),
    ("API-18", "Workload", f"{TEMPLATE}.disruptionMode", "All", "spec.podGroupTemplates[0].disruptionMode"),
    ("API-19", "Workload", f"{TEMPLATE}.priorityClassName", "A", "spec.podGroupTemplates[0].priorityClassName"),
    ("API-20", "Workload", f"{TEMPLATE}.priority", 1_000_000_001, "spec.podGroupTemplates[0].priority"),
    ("API-30", "PodGroup", "metadata.name", "-a", "metadata.name"),
    ("API-30", "PodGroup", "metadata.name", ..., "metadata.name"),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef", {}, "spec.podGroupTemplateRef"),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef.workload.workloadName", "", "spec.podGroupTemplateRef.workload.workloadName"),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef.workload.podGroupTemplateName", "a.b", "spec.podGroupTemplateRef.workload.podGroupTemplateName"),
    ("API-32", "PodGroup", "spec.schedulingPolicy", ..., "spec.schedulingPolicy"),
    ("API-32", "PodGroup", "spec", ..., "spec"),
    ("API-32", "PodGroup", "spec.schedulingPolicy", {"basic": {}, "gang": {"minCount": 1}}, "spec.schedulingPolicy"),
    ("API-33", "PodGroup", "spec.schedulingPolicy.gang", {}, "spec.schedulingPolicy.gang.minCount"),
    ("API-33", "PodGroup", "spec.schedulingPolicy.gang.minCount", -1, "spec.schedulingPolicy.gang.minCount"),
    ("API-33", "PodGroup", "spec.schedulingPolicy.gang.minCount", 2**31, "spec.schedulingPolicy.gang.minCount"),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": "a"}, {"key": "b"}], "spec.schedulingConstraints.topology"),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{}], "spec.schedulingConstraints.topology[0].key"),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": ""}], "spec.schedulingConstraints.topology[0].key"),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": "a b"}], "spec.schedulingConstraints.topology[0].key"),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": "A/b/c"}], "spec.schedulingConstraints.topology[0].key"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{**CLAIM, "name": f"c{i}"} for i in range(5)], "spec.resourceClaims"),
    ("API-36", "PodGroup", "spec.resourceClaims", [CLAIM, CLAIM], "spec.resourceClaims[1].name"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{"name": "c"}], "spec.resourceClaims[0]"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{**CLAIM, "resourceClaimTemplateName": "t"}], "spec.resourceClaims[0]"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{"resourceClaimName": "x"}], "spec.resourceClaims[0].name"),
    ("API-37", "PodGroup", "spec.disruptionMode", "pod", "spec.disruptionMode"),
    ("API-38", "PodGroup", "spec.priorityClassName", "a_b", "spec.priorityClassName"),
    ("API-39", "PodGroup", "spec.priority", 2_000_000_000, "spec.priority"),
    ("API-39", "PodGroup", "spec.priority", -(2**31) - 1, "spec.priority"),
    ("API-40", "PodGroup", "status.conditions", [{"type": "A", "status": "True"}] * 2, "status.conditions[1].type"),
    ("API-40", "PodGroup", "status.conditions", [{"type": "A", "status": "yes"}], "status.conditions[0].status"),
    ("API-41", "PodGroup", "status.resourceClaimStatuses", [{"name": "other"}], "status.resourceClaimStatuses[0].name"),
    ("API-46", "Pod", "spec.schedulingGroup", {}, "spec.schedulingGroup.podGroupName"),
    ("API-46", "Pod", "spec.schedulingGroup", {"podGroupName": "a/b"}, "spec.schedulingGroup.podGroupName"),
    ("API-50", "Pod", "status.phase", "Done", "status.phase"),
    ("core", "Pod", "spec.containers", [], "spec.containers"),
    ("core", "Pod", "spec", ..., "spec"),
    ("core", "Pod", "metadata.labels", {"a b": "c"}, "metadata.labels"),
    ("core", "Pod", "metadata.labels", {"a": "-"}, "metadata.labels.a"),
    ("core", "Pod", "spec.preemptionPolicy", "Sometimes", "spec.preemptionPolicy"),
    ("core", "Pod", "spec.terminationGracePeriodSeconds", -1, "spec.terminationGracePeriodSeconds"),
    ("FILT-06", "Pod", "spec.tolerations", [{"key": "k", "operator": "In"}], "spec.tolerations[0].operator"),
    ("FILT-06", "Pod", "spec.tolerations", [{"value": "v"}], "spec.tolerations[0].operator"),
    ("FILT-06", "Pod", "spec.tolerations", [{"key": "k", "operator": "Exists", "value": "v"}], "spec.tolerations[0].value"),
    ("FILT-07", "Pod", f"{AFFINITY}.nodeAffinity.{REQUIRED}", {"nodeSelectorTerms": []}, f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms"),
    ("FILT-07", "Pod", f"{AFFINITY}.nodeAffinity.{REQUIRED}", {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}]}, f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values"),
    ("FILT-07", "Pod", f"{AFFINITY}.nodeAffinity.{REQUIRED}", {"nodeSelectorTerms": [{"matchFields": [{"key": "spec.x", "operator": "In", "values": ["x"]}]}]}, f"{AFFINITY}.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchFields[0].key"),
    ("FILT-08", "Pod", "spec.containers", [{"name": "c", "ports": [{"containerPort": 1, "hostPort": 65536}]}], "spec.containers[0].ports[0].hostPort"),
    ("FILT-09", "Pod", "spec.containers", [{"name": "c", "resources": {"requests": {"cpu": "-1"}}}], "spec.containers[0].resources.requests.cpu"),
    ("FILT-09", "Pod", "spec.containers", [{"name": "c", "resources": {"limits": {"memory": "1Q"}}}], "spec.containers[0].resources.limits.memory"),
    ("FILT-11", "Pod", "spec.topologySpreadConstraints", [{**SPREAD, "maxSkew": 0}], "spec.topologySpreadConstraints[0].maxSkew"),
    ("FILT-11", "Pod", "spec.topologySpreadConstraints", [{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 1}], "spec.topologySpreadConstraints[0].minDomains"),
    ("FILT-14", "Pod", f"{AFFINITY}.podAffinity.{REQUIRED}", [{}], f"{AFFINITY}.podAffinity.{REQUIRED}[0].topologyKey"),
    ("SCORE-05", "Pod", f"{AFFINITY}.nodeAffinity.{PREFERRED}", [{"weight": 0, "preference": {}}], f"{AFFINITY}.nodeAffinity.{PREFERRED}[0].weight"),
    ("SCORE-10", "Pod", f"{AFFINITY}.podAffinity.{PREFERRED}", [{"weight": 101, "podAffinityTerm": TERM}], f"{AFFINITY}.podAffinity.{PREFERRED}[0].weight"),
    ("CLAIM-01", "Pod", "spec.resourceClaims", [{"name": "c"}], "spec.resourceClaims[0]"),
    ("core", "Node", "spec.taints", [{"key": "k", "effect": "Never"}], "spec.taints[0].effect"),
    ("core", "Node", "status.allocatable", {"cpu": "x"}, "status.allocatable.cpu"),
    ("core", "PriorityClass", "value", 1_000_000_001, "value"),
    ("core", "PriorityClass", "value", ..., "value"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "path", "value", "field"), REFUSED)
def test_refused(rule: str, kind: str, path: str, value: Any, field: str) -> None:
    found = violations(kind, changed(kind, path, value))
    assert [(violation.rule, violation.field) for violation in found] == [(rule, field)]
    assert found[0].found
    assert found[0].expected


def test_all_violations_are_told_at_once() -> None:
    data = changed("PodGroup", "spec.schedulingPolicy.gang.minCount", 0)
    data["metadata"]["name"] = "X"
    data["spec"]["disruptionMode"] = "none"
    assert {violation.rule for violation in violations("PodGroup", data)} == {"API-30", "API-33", "API-37"}


def test_system_classes_may_exceed_the_limit_of_users() -> None:
    data = {"metadata": {"name": "system-x"}, "value": 2_000_000_000}
    assert violations("PriorityClass", data) == ()


def test_a_gated_pod_cannot_be_bound() -> None:
    data = changed("Pod", "spec.schedulingGates", [{"name": "example.com/wait"}])
    data["spec"]["nodeName"] = "n"
    assert [violation.field for violation in violations("Pod", data)] == ["spec.nodeName"]


def test_a_path_reads_as_in_kubernetes() -> None:
    assert path_text(("spec", "containers", 0, "name")) == "spec.containers[0].name"
    assert path_text(("metadata", "labels", "example.com/a")) == "metadata.labels[example.com/a]"


def test_a_shown_value_is_short_and_printable() -> None:
    assert shown("a\x00\x1b\n") == r'"a\x00\x1b\n"'
    assert shown("x" * 10**6).endswith("(1000000 characters)")
    assert len(shown("x" * 10**6)) < 100
    assert shown("\ud800") == r'"\ud800"'
    assert shown(10**5000).startswith("an integer of")
