"""What admission does to objects that are created now: priorities from classes, references that must hold.

Objects of a dump went through it when they were created and keep what they have.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from gangproof.impl.gates import FeatureGates, Object
from gangproof.impl.objects import Node, Pod, PodGroup, PriorityClass, Workload
from gangproof.impl.objects.checks import fields_of, shown
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.objects.policy import deciding_class
from gangproof.impl.objects.validation import HIGHEST_USER_PRIORITY
from gangproof.load.decode import is_stored
from gangproof.load.report import Item, Report


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
    admitted: list[Object] = []
    for entry in entries:
        value = entry.value
        if isinstance(value, PodGroup):
            _check_template(entry, value, known, report)
            value = value if entry.stored else protected(value)
            if not entry.stored and gates.workload_aware_preemption:
                value = _with_priority(entry, value, classes, report)
        elif isinstance(value, Pod):
            _check_references(entry, value, known, report)
            if not entry.stored:
                value = _with_priority(entry, value, classes, report)
        elif isinstance(value, Node):
            _check_room(entry, value, report)
        admitted.append(value)
    return admitted


def protected(group: PodGroup) -> PodGroup:
    """The group with the finalizer that every new one gets (GC-01)."""
    if PROTECTION_FINALIZER in group.finalizers:
        return group
    return evolve(group, finalizers=(*group.finalizers, PROTECTION_FINALIZER))


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
    if pod.group is not None and ("PodGroup", pod.group) not in known:
        path = ("spec", "schedulingGroup", "podGroupName")
        hint = "Kubernetes accepts it; with GangScheduling on the pod waits until there is one"
        report.warning(entry.item, path, f"no PodGroup {pod.group}", "one that is there", hint, "API-48")
    if pod.node_name is not None and ("Node", pod.node_name) not in known and not pod.terminal:
        tell = report.warning if entry.stored else report.error
        hint = "the pod takes no room on any node that is there"
        tell(entry.item, ("spec", "nodeName"), f"no Node {pod.node_name}", "one that is there", hint)


def _check_room(entry: Entry, node: Node, report: Report) -> None:
    for resource in ("cpu", "memory", "pods"):
        if resource not in node.allocatable:
            hint = "nothing that needs it fits on this node"
            found = f"no {resource}"
            report.warning(
                entry.item, ("status", "allocatable"), found, f"an amount of {resource}", hint, "FILT-10"
            )


def _with_priority(
    entry: Entry, value: Pod | PodGroup, classes: list[PriorityClass], report: Report
) -> Object:
    spec = fields_of(entry.item.data.get("spec"))
    rule = "ADM-10" if isinstance(value, PodGroup) else "ADM-15"
    chosen = deciding_class(value.priority_class_name, classes)
    if chosen is None:
        found = f"no PriorityClass {value.priority_class_name}"
        report.error(
            entry.item, ("spec", "priorityClassName"), found, "one that is there", "add it to the files", rule
        )
        return value
    supplied = spec.get("priority")
    if supplied is not None and supplied != chosen.value:
        source = f"PriorityClass {chosen.name}" if chosen.name else "no PriorityClass"
        hint = "leave priority out and name a PriorityClass with this value"
        expected = f"{chosen.value}, which {source} gives"
        report.error(entry.item, ("spec", "priority"), str(supplied), expected, hint, "ADM-11")
        return value
    if isinstance(value, PodGroup):
        if chosen.value > HIGHEST_USER_PRIORITY:
            found = f"the priority {chosen.value} of PriorityClass {chosen.name}"
            expected = f"at most {HIGHEST_USER_PRIORITY} for a group"
            report.error(entry.item, ("spec", "priorityClassName"), found, expected, rule="ADM-14")
        return evolve(value, priority=chosen.value, priority_class_name=chosen.name)
    policy = spec.get("preemptionPolicy") or chosen.preemption_policy
    if policy != chosen.preemption_policy:
        hint = "name a PriorityClass with this policy"
        expected = f"{chosen.preemption_policy}, as the priority class says"
        report.error(entry.item, ("spec", "preemptionPolicy"), policy, expected, hint, "core")
    return evolve(value, priority=chosen.value, priority_class_name=chosen.name, preemption_policy=policy)
