"""Validation of objects as the API server does it, as one table: a field, what it must be, and the rule's id.

It works on an object as plain data, the way JSON has it, in which every field already has its own type; it
knows nothing of files and lines. Answers name the field by its path. What a gate that is off would drop
(API-51 to API-54) must be dropped before, by `gangproof.impl.gates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from gangproof.impl.objects.checks import (
    LARGEST_INT32,
    Check,
    Finding,
    dns_label,
    dns_subdomain,
    entries,
    entries_of,
    exactly_one,
    fields_of,
    integer,
    label_key,
    labels,
    number_or_share,
    one_of,
    optional,
    path_segment,
    present,
    quantities,
    required,
    shown,
)
from gangproof.impl.objects.claimrules import CLAIM_RULES, CLASS_RULES, SLICE_RULES, TEMPLATE_RULES
from gangproof.impl.objects.podrules import POD_RULES, selector_rules, template_rules
from gangproof.impl.objects.policy import SYSTEM_CLASSES

Path = tuple[str | int, ...]
HIGHEST_USER_PRIORITY = 1_000_000_000
PRIORITY = integer(-LARGEST_INT32 - 1, HIGHEST_USER_PRIORITY)


@frozen
class Violation:
    """A field that is not as it must be; `rule` is a rule's id, or `core` for what all objects keep."""

    path: Path
    found: str
    expected: str
    rule: str

    @property
    def field(self) -> str:
        """The path as Kubernetes writes it: `spec.podGroupTemplates[0].name`."""
        return path_text(self.path)

    def __str__(self) -> str:
        return f"{self.field}: found {self.found}, expected {self.expected} ({self.rule})"


def path_text(path: Path) -> str:
    """A path as Kubernetes writes it; a key that is no plain name stands in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("-", "").replace("_", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f"[{step if step.isprintable() else shown(step)}]"
    return text


def _metadata(name_rule: str) -> tuple[tuple[str, str, Check], ...]:
    return (
        (name_rule, "metadata", present),
        (name_rule, "metadata.name", required(dns_subdomain)),
        ("core", "metadata.namespace", optional(dns_label)),
        ("core", "metadata.labels", labels),
    )


def _policy(prefix: str, union: str, count: str) -> tuple[tuple[str, str, Check], ...]:
    return (
        (union, f"{prefix}schedulingPolicy", exactly_one("basic", "gang")),
        (count, f"{prefix}schedulingPolicy.gang.minCount", required(integer(1))),
        ("API-35", f"{prefix}schedulingConstraints.topology", entries(0, 1)),
        ("API-35", f"{prefix}schedulingConstraints.topology[].key", required(label_key)),
        ("API-36", f"{prefix}resourceClaims[].name", required(dns_label)),
        (
            "API-36",
            f"{prefix}resourceClaims[]",
            exactly_one("resourceClaimName", "resourceClaimTemplateName"),
        ),
        ("API-36", f"{prefix}resourceClaims[].resourceClaimName", optional(dns_subdomain)),
        ("API-36", f"{prefix}resourceClaims[].resourceClaimTemplateName", optional(dns_subdomain)),
    )


def _claim_statuses(value: Any) -> Finding | None:
    known = {entry.get("name") for entry in entries_of(fields_of(value.get("spec")).get("resourceClaims"))}
    statuses = entries_of(fields_of(value.get("status")).get("resourceClaimStatuses"))
    for place, status in enumerate(statuses):
        if status.get("name") not in known:
            below = ("status", "resourceClaimStatuses", place, "name")
            return Finding(shown(status.get("name")), "the name of an entry of spec.resourceClaims", below)
    return None


def _class_value(value: Any) -> Finding | None:
    name = str(fields_of(value.get("metadata")).get("name") or "")
    number = value.get("value")
    low, high = -LARGEST_INT32 - 1, HIGHEST_USER_PRIORITY
    if name.startswith("system-"):
        given = (name, number, value.get("globalDefault") is True)
        if given in [(known.name, known.value, known.global_default) for known in SYSTEM_CLASSES]:
            return None
        known = " or ".join(f"{known.name} with value {known.value}" for known in SYSTEM_CLASSES)
        return Finding(
            shown(name), f"a name that does not begin with system-, or {known}", ("metadata", "name")
        )
    if isinstance(number, int) and low <= number <= high:
        return None
    return Finding(shown(number), f"an integer from {low} to {high}", ("value",))


WORKLOAD_RULES: tuple[tuple[str, str, Check], ...] = (
    *_metadata("API-10"),
    ("API-12", "spec", present),
    ("API-11", "spec.controllerRef.apiGroup", optional(dns_subdomain)),
    ("API-11", "spec.controllerRef.kind", required(path_segment)),
    ("API-11", "spec.controllerRef.name", required(path_segment)),
    ("API-12", "spec.podGroupTemplates", entries(1, 8, "name")),
    ("API-13", "spec.podGroupTemplates[].name", required(dns_label)),
    *_policy("spec.podGroupTemplates[].", "API-14", "API-15"),
    ("API-17", "spec.podGroupTemplates[].resourceClaims", entries(0, 4, "name")),
    ("API-18", "spec.podGroupTemplates[].disruptionMode", optional(one_of("Pod", "PodGroup"))),
    ("API-19", "spec.podGroupTemplates[].priorityClassName", optional(dns_subdomain)),
    ("API-20", "spec.podGroupTemplates[].priority", optional(PRIORITY)),
)
POD_GROUP_RULES: tuple[tuple[str, str, Check], ...] = (
    *_metadata("API-30"),
    ("API-32", "spec", present),
    ("API-31", "spec.podGroupTemplateRef", optional(exactly_one("workload"))),
    ("API-31", "spec.podGroupTemplateRef.workload.workloadName", required(dns_subdomain)),
    ("API-31", "spec.podGroupTemplateRef.workload.podGroupTemplateName", required(dns_label)),
    *_policy("spec.", "API-32", "API-33"),
    ("API-36", "spec.resourceClaims", entries(0, 4, "name")),
    ("API-37", "spec.disruptionMode", optional(one_of("Pod", "PodGroup"))),
    ("API-38", "spec.priorityClassName", optional(dns_subdomain)),
    ("API-39", "spec.priority", optional(PRIORITY)),
    ("API-40", "status.conditions", entries(0, None, "type")),
    ("API-40", "status.conditions[].status", required(one_of("True", "False", "Unknown"))),
    ("API-41", "status.resourceClaimStatuses", entries(0, 4, "name")),
    ("API-41", "status.resourceClaimStatuses[].resourceClaimName", optional(dns_subdomain)),
    ("API-41", "", _claim_statuses),
)
NODE_RULES: tuple[tuple[str, str, Check], ...] = (
    *_metadata("core"),
    ("core", "spec.taints[].key", required(label_key)),
    ("core", "spec.taints[].effect", required(one_of("NoSchedule", "PreferNoSchedule", "NoExecute"))),
    ("core", "status.capacity", quantities),
    ("core", "status.allocatable", quantities),
)
PRIORITY_CLASS_RULES: tuple[tuple[str, str, Check], ...] = (
    *_metadata("core"),
    ("core", "", _class_value),
    ("core", "preemptionPolicy", optional(one_of("Never", "PreemptLowerPriority"))),
)


def _one_bound(value: Any) -> Finding | None:
    if value.get("minAvailable") is None or value.get("maxUnavailable") is None:
        return None
    return Finding("minAvailable and maxUnavailable", "at most one of them", ("maxUnavailable",))


BUDGET_RULES: tuple[tuple[str, str, Check], ...] = (
    *_metadata("core"),
    ("core", "spec", optional(_one_bound)),
    ("PREEMPT-25", "spec.minAvailable", optional(number_or_share)),
    ("PREEMPT-25", "spec.maxUnavailable", optional(number_or_share)),
    *selector_rules("spec.selector"),
    ("core", "status.disruptionsAllowed", optional(integer(0))),
)
LARGEST_INDEXED_PARALLELISM = 100_000


def _job(value: Any) -> Finding | None:
    """What the fields of a Job must be together."""
    spec = fields_of(value.get("spec"))
    if spec.get("completionMode") != "Indexed":
        return None
    completions, parallelism = spec.get("completions"), spec.get("parallelism") or 1
    if completions is None:
        return Finding("nothing", "an integer, as completionMode is Indexed", ("spec", "completions"))
    if parallelism > LARGEST_INDEXED_PARALLELISM:
        expected = f"at most {LARGEST_INDEXED_PARALLELISM}, as completionMode is Indexed"
        return Finding(str(parallelism), expected, ("spec", "parallelism"))
    name = str(fields_of(value.get("metadata")).get("name") or "")
    if name and completions and dns_label(f"{name}-{completions - 1}") is not None:
        expected = f"a name that with the suffix -{completions - 1} is a DNS label, as pods are called so"
        return Finding(shown(name), expected, ("metadata", "name"))
    return None


JOB_RULES: tuple[tuple[str, str, Check], ...] = (
    *_metadata("core"),
    ("core", "spec", present),
    ("core", "spec.parallelism", optional(integer(0))),
    ("core", "spec.completions", optional(integer(0))),
    ("core", "spec.backoffLimit", optional(integer(0))),
    ("core", "spec.completionMode", optional(one_of("NonIndexed", "Indexed"))),
    ("core", "spec.podReplacementPolicy", optional(one_of("TerminatingOrFailed", "Failed"))),
    ("core", "spec.template", present),
    ("core", "spec.template.spec.restartPolicy", required(one_of("OnFailure", "Never"))),
    *template_rules("spec.template"),
    ("core", "", _job),
)
RULES: Mapping[str, tuple[tuple[str, str, Check], ...]] = {
    "DeviceClass": CLASS_RULES,
    "Job": JOB_RULES,
    "Node": NODE_RULES,
    "Pod": POD_RULES,
    "PodDisruptionBudget": BUDGET_RULES,
    "PodGroup": POD_GROUP_RULES,
    "PriorityClass": PRIORITY_CLASS_RULES,
    "ResourceClaim": CLAIM_RULES,
    "ResourceClaimTemplate": TEMPLATE_RULES,
    "ResourceSlice": SLICE_RULES,
    "Workload": WORKLOAD_RULES,
}


class _Tree:
    """The rules of one kind by path, so that a prefix is followed once and an absent part is not entered."""

    __slots__ = ("checks", "elements", "fields")

    def __init__(self) -> None:
        self.checks: list[tuple[str, Check]] = []
        self.fields: dict[str, _Tree] = {}
        self.elements: _Tree | None = None

    def at(self, path: str) -> _Tree:
        tree = self
        for step in path.split(".") if path else ():
            name, brackets, _ = step.partition("[]")
            tree = tree.fields.setdefault(name, _Tree())
            if brackets:
                tree.elements = tree.elements or _Tree()
                tree = tree.elements
        return tree

    def judge(self, value: Any, at: Path, found: list[Violation]) -> None:
        for rule, check in self.checks:
            finding = check(value)
            if finding is not None:
                found.append(Violation((*at, *finding.below), finding.found, finding.expected, rule))
        if value is None:
            return
        for name, tree in self.fields.items():
            inner = value.get(name)
            if inner is not None or tree.checks:
                tree.judge(inner, (*at, name), found)
        if self.elements is not None:
            for index, item in enumerate(value):
                self.elements.judge(item, (*at, index), found)


def _compiled(rules: tuple[tuple[str, str, Check], ...]) -> _Tree:
    tree = _Tree()
    for rule, path, check in rules:
        tree.at(path).checks.append((rule, check))
    return tree


_TREES: Mapping[str, _Tree] = {kind: _compiled(rules) for kind, rules in RULES.items()}


def violations(kind: str, data: Mapping[str, Any]) -> tuple[Violation, ...]:
    """Every rule that an object of this kind breaks, from the top down; KeyError for another kind."""
    found: list[Violation] = []
    _TREES[kind].judge(data, (), found)
    return tuple(found)
