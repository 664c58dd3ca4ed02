"""What admission does to objects that are created now: priorities from classes, references that must hold.

Objects of a dump went through it when they were created and keep what they have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from gangproof.impl.admission import as_new, prioritised, protected
from gangproof.impl.gates import FeatureGates, Object
from gangproof.impl.objects import (
    Job,
    Node,
    Pod,
    PodGroup,
    PodGroupClaim,
    PriorityClass,
    ResourceClaim,
    Workload,
)
from gangproof.impl.objects.checks import fields_of, shown
from gangproof.impl.objects.policy import deciding_class
from gangproof.impl.objects.validation import Path, Violation
from gangproof.load.decode import is_stored
from gangproof.load.decode_claim import with_gone
from gangproof.load.report import Item, Report

TEMPLATE: Path = ("spec", "template")


@frozen(eq=False)
class Entry:
    """A modelled object on its way in: where it stands, its kind, and its value so far."""

    item: Item
    kind: str
    value: Object

    @property
    def stored(self) -> bool:
        return is_stored(self.item.data)


def admit(entries: list[Entry], gates: FeatureGates, report: Report) -> list[Object]:
    """The values as they are once admitted (ADM-10, ADM-11, ADM-14, ADM-15, GC-01); errors go to the report."""
    known: Mapping[tuple[str, str], Object] = {(e.kind, e.value.key): e.value for e in entries}
    classes = [entry.value for entry in entries if isinstance(entry.value, PriorityClass)]
    uids = {
        ("pod" if entry.kind == "Pod" else "podGroup", entry.value.key): _uid(entry)
        for entry in entries
        if entry.kind in ("Pod", "PodGroup")
    }
    admitted: list[Object] = []
    for entry in entries:
        value = entry.value if entry.stored else _created(entry, report)
        if isinstance(value, PodGroup):
            _check_template(entry, value, known, report)
            value = value if entry.stored else protected(value)
            if not entry.stored and gates.workload_aware_preemption:
                value = _with_priority(entry, value, classes, report)
        elif isinstance(value, Pod):
            _check_references(entry, value, known, report)
            if not entry.stored:
                value = _with_priority(entry, value, classes, report)
        elif isinstance(value, Job):
            _check_group(entry, value.template, known, report, TEMPLATE)
            template = _with_priority(entry, value.template, classes, report, TEMPLATE)
            value = evolve(value, template=template)
        elif isinstance(value, Node):
            _check_room(entry, value, report)
        elif isinstance(value, ResourceClaim):
            value = with_gone(value, entry.item.data, uids) if entry.stored else value
        admitted.append(value)
    return admitted


def _uid(entry: Entry) -> str:
    return fields_of(entry.item.data.get("metadata")).get("uid") or ""


def _created(entry: Entry, report: Report) -> Object:
    """The object as it is stored when it is created, with a warning if that leaves out something (ADM-01)."""
    value = as_new(entry.value)
    if value != entry.value:
        going = getattr(entry.value, "terminating", False)
        path: Path = ("metadata", "deletionTimestamp") if going else ("status",)
        hint = (
            "an object without a uid is created now, and nothing of this is kept; one of a dump has its uid"
        )
        report.warning(entry.item, path, "what only a stored object has", "none", hint, "ADM-01")
    return value


def _check_template(
    entry: Entry, group: PodGroup, known: Mapping[tuple[str, str], Object], report: Report
) -> None:
    """ADM-20 to ADM-24."""
    if group.workload_name is None or entry.stored:
        return
    path = ("spec", "podGroupTemplateRef", "workload", "workloadName")
    workload = known.get(("Workload", f"{group.namespace}/{group.workload_name}"))
    if not isinstance(workload, Workload):
        found = f"no Workload {group.namespace}/{group.workload_name}"
        report.error(entry.item, path, found, "a Workload that is there", rule="ADM-21")
    elif workload.terminating:
        report.error(entry.item, path, "a Workload that is being deleted", "one that is not", rule="ADM-22")
    elif group.pod_group_template_name not in [t.name for t in workload.pod_group_templates]:
        names = ", ".join(template.name for template in workload.pod_group_templates)
        place = (*path[:-1], "podGroupTemplateName")
        found = shown(group.pod_group_template_name)
        report.error(entry.item, place, found, f"a template of the Workload: {names}", rule="ADM-23")


def _check_references(
    entry: Entry, pod: Pod, known: Mapping[tuple[str, str], Object], report: Report
) -> None:
    _check_group(entry, pod, known, report)
    for place, entry_ in enumerate(pod.resource_claims):
        _check_claim(entry, pod, place, entry_, known, report)
    if pod.node_name is not None and ("Node", pod.node_name) not in known and not pod.terminal:
        tell = report.warning if entry.stored else report.error
        hint = "the pod takes no room on any node that is there"
        tell(entry.item, ("spec", "nodeName"), f"no Node {pod.node_name}", "one that is there", hint)


def _check_group(
    entry: Entry, pod: Pod, known: Mapping[tuple[str, str], Object], report: Report, path: Path = ()
) -> None:
    if pod.group is not None and ("PodGroup", pod.group) not in known:
        where = (*path, "spec", "schedulingGroup", "podGroupName")
        hint = "Kubernetes accepts it; with GangScheduling, on unless said otherwise, the pod waits for one"
        report.warning(entry.item, where, f"no PodGroup {pod.group}", "one that is there", hint, "API-48")


def _check_claim(
    entry: Entry,
    pod: Pod,
    place: int,
    wanted: PodGroupClaim,
    known: Mapping[tuple[str, str], Object],
    report: Report,
) -> None:
    """CLAIM-10: what a pod's claim is made from, or is, has to be there."""
    template = wanted.resource_claim_template_name
    kind = "ResourceClaimTemplate" if template else "ResourceClaim"
    name = f"{pod.namespace}/{template or wanted.resource_claim_name}"
    if (kind, name) not in known and not pod.resource_claim_statuses.get(wanted.name):
        field = "resourceClaimTemplateName" if template else "resourceClaimName"
        path = ("spec", "resourceClaims", place, field)
        hint = "Kubernetes accepts it; the pod waits until there is one"
        report.warning(entry.item, path, f"no {kind} {name}", "one that is there", hint, "CLAIM-10")


def _check_room(entry: Entry, node: Node, report: Report) -> None:
    for resource in ("cpu", "memory", "pods"):
        if resource not in node.allocatable:
            hint = "nothing that needs it fits on this node"
            found = f"no {resource}"
            report.warning(
                entry.item, ("status", "allocatable"), found, f"an amount of {resource}", hint, "FILT-10"
            )


def _with_priority(
    entry: Entry, value: Pod | PodGroup, classes: list[PriorityClass], report: Report, path: Path = ()
) -> Pod | PodGroup:
    """The value with its priority; `path` is where its spec stands, if not at the top."""
    spec: Mapping[str, Any] = entry.item.data
    for step in (*path, "spec"):
        spec = fields_of(spec.get(str(step)))
    found = prioritised(value, spec.get("priority"), classes)
    if isinstance(found, Violation):
        hint = HINTS.get(found.field, "")
        report.error(entry.item, (*path, *found.path), found.found, found.expected, hint, found.rule)
        return value
    if isinstance(found, PodGroup):
        return found
    chosen = deciding_class(value.priority_class_name, classes)
    assert chosen is not None
    policy = spec.get("preemptionPolicy") or chosen.preemption_policy
    if policy != chosen.preemption_policy:
        hint = "name a PriorityClass with this policy"
        expected = f"{chosen.preemption_policy}, as the priority class says"
        report.error(entry.item, (*path, "spec", "preemptionPolicy"), policy, expected, hint, "core")
    return evolve(found, preemption_policy=policy)


HINTS: Mapping[str, str] = {
    "spec.priorityClassName": "add it to the files",
    "spec.priority": "leave priority out and name a PriorityClass with this value",
}
