"""Validation: for each rule what it accepts and what it refuses, on an otherwise good object."""

import re
from copy import deepcopy
from typing import Any

import pytest
from attrs import evolve

from gangproof import rulebook
from gangproof.impl.objects import PodGroup, PodGroupClaim
from gangproof.impl.objects.checks import shown
from gangproof.impl.objects.validation import RULES, path_text, violations
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.judges.stored import within_limits

CLAIM = {"name": "c", "resourceClaimName": "claim"}
NAMED = {"key": "metadata.name", "operator": "In", "values": ["n"]}
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
    "PodDisruptionBudget": {
        "metadata": {"name": "b"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1},
    },
    "PriorityClass": {"metadata": {"name": "high"}, "value": 10},
    "DeviceClass": {
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]},
    },
    "ResourceClaim": {
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
        "status": {
            "allocation": {
                "devices": {"results": [{"request": "r", "driver": "d.io", "pool": "n", "device": "d0"}]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [NAMED]}]},
            },
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "1"}],
        },
    },
    "ResourceClaimTemplate": {
        "metadata": {"name": "t"},
        "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}},
    },
    "ResourceSlice": {
        "metadata": {"name": "s"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "n",
            "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d0", "attributes": {"kind": {"string": "a"}}}],
            "sharedCounters": [{"name": "whole", "counters": {"memory": {"value": "80Gi"}}}],
        },
    },
    "Job": {
        "metadata": {"name": "j"},
        "spec": {
            "completionMode": "Indexed",
            "parallelism": 2,
            "completions": 2,
            "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}},
        },
    },
}
TEMPLATE = "spec.podGroupTemplates.0"
REQUEST = "spec.devices.requests.0"
DEVICE = "spec.devices.0"
SELECTOR = "status.allocation.nodeSelector.nodeSelectorTerms"
EVERY = {"deviceClassName": "gpu", "allocationMode": "All", "count": 2}
IS = {**NAMED, "operator": "Is"}
TWICE = [{"name": "r", "exactly": {"deviceClassName": "gpu"}}] * 2
USERS = [{"resource": "pods", "name": f"p{i}", "uid": f"u{i}"} for i in range(257)]
LONG = "a" * 64
TERM = {"topologyKey": "zone"}
SPREAD = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
NODES = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED_NODES = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
PODS = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED_PODS = "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution"
TEMPLATES = [{"name": f"t{i}", "schedulingPolicy": {"basic": {}}} for i in range(9)]
CLAIMS = [{**CLAIM, "name": f"c{i}"} for i in range(5)]
PORT = [{"name": "c", "ports": [{"containerPort": 1, "hostPort": 65535}]}]
HIGH_PORT = [{"name": "c", "ports": [{"containerPort": 1, "hostPort": 65536}]}]
NEGATIVE = {"requests": {"cpu": "-1"}}
ANYWAY = {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 1}
NONSENSE = [{"name": "c", "resources": {"limits": {"memory": "1Q"}}}]
GREATER = {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}
FIELD = {"matchFields": [{"key": "spec.x", "operator": "In", "values": ["x"]}]}


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
    key: Any = int(last) if isinstance(at, list) else last
    if value is ...:
        del at[key]
    else:
        at[key] = value
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
    ("API-12", "Workload", "spec.podGroupTemplates", TEMPLATES[:8]),
    ("API-13", "Workload", f"{TEMPLATE}.name", "a" * 63),
    ("API-14", "Workload", f"{TEMPLATE}.schedulingPolicy", {"basic": {}}),
    ("API-15", "Workload", f"{TEMPLATE}.schedulingPolicy.gang.minCount", 2**31 - 1),
    ("API-16", "Workload", f"{TEMPLATE}.schedulingConstraints", {"topology": [{"key": "zone"}]}),
    ("API-17", "Workload", f"{TEMPLATE}.resourceClaims", CLAIMS[:4]),
    ("API-18", "Workload", f"{TEMPLATE}.disruptionMode", "PodGroup"),
    ("API-19", "Workload", f"{TEMPLATE}.priorityClassName", "not-resolved"),
    ("API-20", "Workload", f"{TEMPLATE}.priority", 1_000_000_000),
    ("API-20", "Workload", f"{TEMPLATE}.priority", -(2**31)),
    ("API-30", "PodGroup", "metadata.name", "a.b-1"),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef", ...),
    ("API-32", "PodGroup", "spec.schedulingPolicy", {"basic": {}}),
    ("API-33", "PodGroup", "spec.schedulingPolicy.gang.minCount", 1),
    ("API-34", "PodGroup", "spec.schedulingConstraints", {}),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", []),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": "example.com/rack"}]),
    ("API-36", "PodGroup", "spec.resourceClaims", [{"name": "a", "resourceClaimTemplateName": "t"}]),
    ("API-36", "PodGroup", "spec.resourceClaims", CLAIMS[:4]),
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
    ("FILT-07", "Pod", NODES, {"nodeSelectorTerms": [{}]}),
    ("FILT-08", "Pod", "spec.containers", PORT),
    ("FILT-11", "Pod", "spec.topologySpreadConstraints", [{**SPREAD, "minDomains": 2}]),
    ("FILT-14", "Pod", PODS, [TERM]),
    ("SCORE-10", "Pod", PREFERRED_PODS, [{"weight": 100, "podAffinityTerm": TERM}]),
    ("core", "Node", "status.allocatable", {"cpu": "0", "memory": "1Gi", "nvidia.com/gpu": 8}),
    ("core", "PriorityClass", "value", -(2**31)),
    ("PREEMPT-25", "PodDisruptionBudget", "spec.minAvailable", 0),
    ("PREEMPT-25", "PodDisruptionBudget", "spec.minAvailable", "100%"),
    ("PREEMPT-25", "PodDisruptionBudget", "spec.minAvailable", ...),
    ("PREEMPT-25", "PodDisruptionBudget", "spec.selector", {}),
    ("core", "Job", "metadata.name", "a" * 61),
    ("core", "Job", "spec.parallelism", 0),
    ("core", "Job", "spec.completions", 0),
    ("core", "Job", "spec.completionMode", "NonIndexed"),
    ("core", "Job", "spec.template.spec.restartPolicy", "OnFailure"),
    ("API-46", "Job", "spec.template.spec.schedulingGroup", {"podGroupName": "g"}),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "path", "value"), ACCEPTED)
def test_accepted(rule: str, kind: str, path: str, value: Any) -> None:
    assert violations(kind, changed(kind, path, value)) == ()


REFUSED: list[tuple[str, str, str, Any, str]] = [
    ("API-10", "Workload", "metadata.name", "Upper", ""),
    ("API-10", "Workload", "metadata.name", "a" * 254, ""),
    ("API-10", "Workload", "metadata.name", "a..b", ""),
    ("API-10", "Workload", "metadata", ..., ""),
    ("API-11", "Workload", "spec.controllerRef.apiGroup", "Batch", ""),
    ("API-11", "Workload", "spec.controllerRef.kind", "a/b", ""),
    ("API-11", "Workload", "spec.controllerRef.kind", ..., ""),
    ("API-11", "Workload", "spec.controllerRef.name", "..", ""),
    ("API-12", "Workload", "spec.podGroupTemplates", [], ""),
    ("API-12", "Workload", "spec", ..., ""),
    ("API-12", "Workload", "spec.podGroupTemplates", TEMPLATES, ""),
    ("API-12", "Workload", "spec.podGroupTemplates", TEMPLATES[:1] * 2, "[1].name"),
    ("API-13", "Workload", f"{TEMPLATE}.name", LONG, ""),
    ("API-13", "Workload", f"{TEMPLATE}.name", "a.b", ""),
    ("API-13", "Workload", f"{TEMPLATE}.name", ..., ""),
    ("API-14", "Workload", f"{TEMPLATE}.schedulingPolicy", {}, ""),
    ("API-14", "Workload", f"{TEMPLATE}.schedulingPolicy", ..., ""),
    ("API-14", "Workload", f"{TEMPLATE}.schedulingPolicy", {"basic": {}, "gang": {"minCount": 1}}, ""),
    ("API-15", "Workload", f"{TEMPLATE}.schedulingPolicy.gang.minCount", 0, ""),
    ("API-17", "Workload", f"{TEMPLATE}.resourceClaims", CLAIMS, ""),
    ("API-11", "Workload", "spec.controllerRef.name", ..., ""),
    ("API-17", "Workload", f"{TEMPLATE}.resourceClaims", [CLAIM, CLAIM], "[1].name"),
    ("API-18", "Workload", f"{TEMPLATE}.disruptionMode", "All", ""),
    ("API-19", "Workload", f"{TEMPLATE}.priorityClassName", "A", ""),
    ("API-20", "Workload", f"{TEMPLATE}.priority", 1_000_000_001, ""),
    ("API-30", "PodGroup", "metadata.name", "-a", ""),
    ("API-30", "PodGroup", "metadata.name", ..., ""),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef", {}, ""),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef.workload.workloadName", "", ""),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef.workload.podGroupTemplateName", "a.b", ""),
    ("API-31", "PodGroup", "spec.podGroupTemplateRef.workload.podGroupTemplateName", ..., ""),
    ("API-32", "PodGroup", "spec.schedulingPolicy", ..., ""),
    ("API-32", "PodGroup", "spec", ..., ""),
    ("API-32", "PodGroup", "spec.schedulingPolicy", {"basic": {}, "gang": {"minCount": 1}}, ""),
    ("API-33", "PodGroup", "spec.schedulingPolicy.gang", {}, ".minCount"),
    ("API-33", "PodGroup", "spec.schedulingPolicy.gang.minCount", -1, ""),
    ("API-33", "PodGroup", "spec.schedulingPolicy.gang.minCount", 2**31, ""),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": "a"}, {"key": "b"}], ""),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{}], "[0].key"),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": ""}], "[0].key"),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": "a b"}], "[0].key"),
    ("API-35", "PodGroup", "spec.schedulingConstraints.topology", [{"key": "A/b/c"}], "[0].key"),
    ("API-35", "Workload", f"{TEMPLATE}.schedulingConstraints.topology", [{"key": ""}], "[0].key"),
    ("API-36", "PodGroup", "spec.resourceClaims", CLAIMS, ""),
    ("API-36", "Workload", f"{TEMPLATE}.resourceClaims", [{"name": "c"}], "[0]"),
    ("API-36", "PodGroup", "spec.resourceClaims", [CLAIM, CLAIM], "[1].name"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{"name": "c"}], "[0]"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{**CLAIM, "resourceClaimTemplateName": "t"}], "[0]"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{"resourceClaimName": "x"}], "[0].name"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{**CLAIM, "name": "a.b"}], "[0].name"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{"name": "c", "resourceClaimName": "X"}], "[0].resourceClaimName"),
    ("API-36", "PodGroup", "spec.resourceClaims", [{"name": "c", "resourceClaimTemplateName": "X"}],
     "[0].resourceClaimTemplateName"),
    ("API-37", "PodGroup", "spec.disruptionMode", "pod", ""),
    ("API-38", "PodGroup", "spec.priorityClassName", "a_b", ""),
    ("API-39", "PodGroup", "spec.priority", 2_000_000_000, ""),
    ("API-39", "PodGroup", "spec.priority", -(2**31) - 1, ""),
    ("API-40", "PodGroup", "status.conditions", [{"type": "A", "status": "True"}] * 2, "[1].type"),
    ("API-40", "PodGroup", "status.conditions", [{"type": "A", "status": "yes"}], "[0].status"),
    ("API-41", "PodGroup", "status.resourceClaimStatuses", [{"name": "other"}], "[0].name"),
    ("API-41", "PodGroup", "status.resourceClaimStatuses", [{"name": "c"}, {"name": "c"}], "[1].name"),
    ("API-41", "PodGroup", "status.resourceClaimStatuses", [{"name": "c", "resourceClaimName": "X"}],
     "[0].resourceClaimName"),
    ("API-46", "Pod", "spec.schedulingGroup", {}, ".podGroupName"),
    ("API-46", "Pod", "spec.schedulingGroup", {"podGroupName": "a/b"}, ".podGroupName"),
    ("API-50", "Pod", "status.phase", "Done", ""),
    ("core", "Pod", "spec.containers", [], ""),
    ("core", "Pod", "spec", ..., ""),
    ("core", "Pod", "metadata.labels", {"a b": "c"}, ""),
    ("core", "Pod", "metadata.labels", {"a": "-"}, ".a"),
    ("core", "Pod", "spec.preemptionPolicy", "Sometimes", ""),
    ("core", "Pod", "spec.terminationGracePeriodSeconds", -1, ""),
    ("FILT-06", "Pod", "spec.tolerations", [{"key": "k", "operator": "In"}], "[0].operator"),
    ("FILT-06", "Pod", "spec.tolerations", [{"value": "v"}], "[0].operator"),
    ("FILT-06", "Pod", "spec.tolerations", [{"key": "k", "operator": "Exists", "value": "v"}], "[0].value"),
    ("FILT-07", "Pod", NODES, {"nodeSelectorTerms": []}, ".nodeSelectorTerms"),
    ("FILT-07", "Pod", NODES, {"nodeSelectorTerms": [GREATER]}, ".nodeSelectorTerms[0].matchExpressions[0].values"),
    ("FILT-07", "Pod", NODES, {"nodeSelectorTerms": [FIELD]}, ".nodeSelectorTerms[0].matchFields[0].key"),
    ("FILT-08", "Pod", "spec.containers", HIGH_PORT, "[0].ports[0].hostPort"),
    ("FILT-09", "Pod", "spec.containers", [{"name": "c", "resources": NEGATIVE}], "[0].resources.requests.cpu"),
    ("FILT-09", "Pod", "spec.containers", NONSENSE, "[0].resources.limits.memory"),
    ("FILT-11", "Pod", "spec.topologySpreadConstraints", [{**SPREAD, "maxSkew": 0}], "[0].maxSkew"),
    ("FILT-11", "Pod", "spec.topologySpreadConstraints", [ANYWAY], "[0].minDomains"),
    ("FILT-14", "Pod", PODS, [{}], "[0].topologyKey"),
    ("SCORE-05", "Pod", PREFERRED_NODES, [{"weight": 0, "preference": {}}], "[0].weight"),
    ("SCORE-10", "Pod", PREFERRED_PODS, [{"weight": 101, "podAffinityTerm": TERM}], "[0].weight"),
    ("CLAIM-01", "Pod", "spec.resourceClaims", [{"name": "c"}], "[0]"),
    ("core", "Node", "spec.taints", [{"key": "k", "effect": "Never"}], "[0].effect"),
    ("core", "Node", "status.allocatable", {"cpu": "x"}, ".cpu"),
    ("core", "PriorityClass", "value", 1_000_000_001, ""),
    ("core", "PriorityClass", "value", ..., ""),
    ("PREEMPT-25", "PodDisruptionBudget", "spec.minAvailable", -1, ""),
    ("PREEMPT-25", "PodDisruptionBudget", "spec.minAvailable", "101%", ""),
    ("PREEMPT-25", "PodDisruptionBudget", "spec.minAvailable", "1", ""),
    ("core", "PodDisruptionBudget", "spec.maxUnavailable", 1, ""),
    ("core", "PodDisruptionBudget", "status.disruptionsAllowed", -1, ""),
    ("core", "Job", "metadata.name", "a" * 62, ""),
    ("core", "Job", "spec.parallelism", -1, ""),
    ("core", "Job", "spec.parallelism", 100_001, ""),
    ("core", "Job", "spec.completions", -1, ""),
    ("core", "Job", "spec.completions", ..., ""),
    ("core", "Job", "spec.completionMode", "Random", ""),
    ("core", "Job", "spec.backoffLimit", -1, ""),
    ("core", "Job", "spec.podReplacementPolicy", "Never", ""),
    ("core", "Job", "spec.template.spec.restartPolicy", "Always", ""),
    ("core", "Job", "spec.template.spec.restartPolicy", ..., ""),
    ("API-46", "Job", "spec.template.spec.schedulingGroup", {}, ".podGroupName"),
    ("core", "DeviceClass", "metadata.name", "Gpu", ""),
    ("core", "DeviceClass", "spec.selectors", [{"cel": {"expression": ""}}], "[0].cel.expression"),
    ("core", "DeviceClass", "spec.selectors", [{"cel": {"expression": "((("}}], "[0].cel.expression"),
    ("core", "ResourceClaim", f"{REQUEST}.exactly.selectors", [{"cel": {"expression": "a b"}}], "[0].cel.expression"),
    ("core", "ResourceClaim", "spec", ..., ""),
    ("core", "ResourceClaim", f"{REQUEST}.name", "R", ""),
    ("core", "ResourceClaim", f"{REQUEST}.exactly.deviceClassName", ..., ""),
    ("core", "ResourceClaim", f"{REQUEST}.exactly.allocationMode", "Some", ""),
    ("core", "ResourceClaim", f"{REQUEST}.exactly.count", 0, ""),
    ("core", "ResourceClaim", f"{REQUEST}.exactly", EVERY, ".count"),
    ("core", "ResourceClaim", f"{REQUEST}.exactly.tolerations", [{"operator": "Equal"}], "[0].operator"),
    ("core", "ResourceClaim", "spec.devices.constraints", [{"matchAttribute": "kind"}], "[0].matchAttribute"),
    ("core", "ResourceClaim", "spec.devices.requests", TWICE, "[1].name"),
    ("core", "ResourceClaim", "status.allocation.devices.results.0.driver", "", ""),
    ("core", "ResourceClaim", SELECTOR, [], ""),
    ("core", "ResourceClaim", SELECTOR, [{"matchFields": [IS]}], "[0].matchFields[0].operator"),
    ("CLAIM-26", "ResourceClaim", "status.reservedFor", USERS, ""),
    ("CLAIM-26", "ResourceClaim", "status.reservedFor", [USERS[0], USERS[0]], "[1].uid"),
    ("core", "ResourceClaimTemplate", "spec.spec", ..., ""),
    ("core", "ResourceClaimTemplate", f"spec.{REQUEST}.exactly.count", -1, ""),
    ("core", "ResourceSlice", "spec.driver", "A", ""),
    ("core", "ResourceSlice", "spec.pool", ..., ""),
    ("core", "ResourceSlice", "spec.pool.resourceSliceCount", 0, ""),
    ("core", "ResourceSlice", "spec.pool.generation", -1, ""),
    ("core", "ResourceSlice", f"{DEVICE}.name", "a/b", ""),
    ("core", "ResourceSlice", f"{DEVICE}.attributes", {"kind": {"string": "a", "int": 1}}, ".kind"),
    ("core", "ResourceSlice", f"{DEVICE}.attributes", {"a.b/c/d": {"int": 1}}, "[a.b/c/d]"),
    ("core", "ResourceSlice", f"{DEVICE}.capacity", {"memory": {"value": "-1"}}, ".memory"),
    ("core", "ResourceSlice", f"{DEVICE}.taints", [{"key": "k", "effect": "Never"}], "[0].effect"),
    ("core", "ResourceSlice", f"{DEVICE}.consumesCounters", [{"counterSet": "X"}], "[0].counterSet"),
    ("core", "ResourceSlice", "spec.sharedCounters.0.counters", {"memory": {"value": "x"}}, ".memory"),
    ("core", "ResourceSlice", "spec.devices", [{"name": f"d{i}"} for i in range(129)], ""),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "path", "value", "below"), REFUSED)
def test_refused(rule: str, kind: str, path: str, value: Any, below: str) -> None:
    found = violations(kind, changed(kind, path, value))
    field = re.sub(r"\.(\d)", r"[\1]", path) + below
    assert [(violation.rule, violation.field) for violation in found] == [(rule, field)]
    assert found[0].found
    assert found[0].expected


AS_ANOTHER = {"API-16": "API-35", "API-45": "API-35"}
"""Rules that a refusal tells under another id: a template's constraints are like a group's, a key is not empty."""
NOTHING_TO_VALIDATE = {
    "API-21": "a Workload has no status", "API-22": "follows from API-11 and API-12",
    "API-34": "what it holds is API-35; that it stays is refused to updates", "API-42": "there are no such fields",
    "API-43": "nothing is compared with anything", "API-44": "is refused to updates",
    "API-47": "is refused to updates", "API-48": "nobody looks whether the group is there",
    "API-49": "members are not compared",
}  # fmt: skip


def test_every_rule_of_the_fields_has_a_case_of_each_kind() -> None:
    """Sections 1.2, 1.3 and 1.5; what is refused to updates has its cases where changes are tested."""
    sections = ("1.2", "1.3", "1.5")
    rules = {rule.id for rule in rulebook.rules().values() if rule.section.startswith(sections)}
    accepted, refused = {case[0] for case in ACCEPTED}, {case[0] for case in REFUSED}
    assert rules - accepted - set(NOTHING_TO_VALIDATE) == set()
    assert {AS_ANOTHER.get(rule, rule) for rule in rules} - refused - set(NOTHING_TO_VALIDATE) == set()
    assert refused & {*NOTHING_TO_VALIDATE, *AS_ANOTHER} == set()


def test_a_group_has_at_most_four_claims() -> None:
    """CLAIM-36: the limit is that of API-36, and holds of what is stored too (INV-31)."""
    four, five = (changed("PodGroup", "spec.resourceClaims", CLAIMS[:number]) for number in (4, 5))
    assert violations("PodGroup", four) == ()
    (found,) = violations("PodGroup", five)
    assert (found.rule, found.found, found.expected) == ("API-36", "5 entries", "at most 4")
    group = PodGroup("default", "g", resource_claims=tuple(PodGroupClaim(f"c{i}", "c") for i in range(5)))
    assert (
        within_limits(
            World(groups=Table({"default/g": evolve(group, resource_claims=group.resource_claims[:4])}))
        )
        is None
    )
    broken = within_limits(World(groups=Table({"default/g": group})))
    assert broken is not None
    assert str(broken) == "INV-31: default/g has 5 claims"


@pytest.mark.parametrize(
    ("kind", "path", "value", "field"),
    [
        ("ResourceClaim", f"{REQUEST}.firstAvailable", [{"name": "a"}], "spec.devices.requests[0]"),
        ("ResourceClaim", f"{REQUEST}.exactly", ..., "spec.devices.requests[0]"),
        ("ResourceClaim", "status.allocation", ..., "status.reservedFor"),
        ("ResourceSlice", "spec.allNodes", True, "spec"),
        ("ResourceSlice", "spec.nodeName", ..., "spec"),
        ("ResourceSlice", f"{DEVICE}", {"name": "d", "nodeName": "n", "allNodes": True}, "spec.devices[0]"),
    ],
)
def test_fields_that_do_not_go_together(kind: str, path: str, value: Any, field: str) -> None:
    assert [violation.field for violation in violations(kind, changed(kind, path, value))] == [field]


def test_all_violations_are_told_at_once() -> None:
    data = changed("PodGroup", "spec.schedulingPolicy.gang.minCount", 0)
    data["metadata"]["name"] = "X"
    data["spec"]["disruptionMode"] = "none"
    assert {violation.rule for violation in violations("PodGroup", data)} == {"API-30", "API-33", "API-37"}


@pytest.mark.parametrize(
    ("name", "value", "more", "field"),
    [
        ("system-node-critical", 2_000_001_000, {"preemptionPolicy": "Never"}, None),
        ("system-node-critical", 2_000_001_001, {}, "metadata.name"),
        ("system-cluster-critical", 2_000_000_000, {"globalDefault": True}, "metadata.name"),
        ("system-x", 5, {}, "metadata.name"),
        ("systemic", 1_000_000_000, {}, None),
        ("systemic", 1_000_000_001, {}, "value"),
    ],
)
def test_only_the_classes_of_kubernetes_begin_with_system(
    name: str, value: int, more: dict[str, Any], field: str | None
) -> None:
    found = violations("PriorityClass", {"metadata": {"name": name}, "value": value, **more})
    assert [violation.field for violation in found] == ([field] if field else [])


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
