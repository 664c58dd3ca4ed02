"""Admission and registry: what the API server adds to an object, what it refuses, and what it stores (SEMANTICS 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, fields_dict

from gangproof.impl.gates import Object, keep_enabled, served
from gangproof.impl.objects import Job, Pod, PodGroup, PriorityClass, ResourceClaim, Workload
from gangproof.impl.objects.owner import controlled_by
from gangproof.impl.objects.plain import breaches
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.objects.policy import deciding_class
from gangproof.impl.objects.validation import HIGHEST_USER_PRIORITY, Violation
from gangproof.impl.store import seen, stored
from gangproof.impl.table import Table
from gangproof.impl.world import World

STATUS: Mapping[type, tuple[str, ...]] = {
    Pod: (
        "phase", "nominated_node_name", "unscheduled_reason", "start_time", "disruption_target",
        "resource_claim_statuses",
    ),
    PodGroup: ("condition", "resource_claim_statuses"),
    Job: ("started", "suspended", "succeeded", "failed", "finished"),
    ResourceClaim: ("allocation", "reserved_for"),
}  # fmt: skip
"""By kind the fields of an object that its status consists of; it is written apart."""


def as_new(obj: Object) -> Object:
    """The object as it is when it is created, whatever was sent: without a status, and not being deleted (ADM-01)."""
    known = fields_dict(type(obj))
    unset = [name for name in (*STATUS.get(type(obj), ()), "terminating") if name in known]
    return evolve(obj, **{name: known[name].default for name in unset})


def protected(group: PodGroup) -> PodGroup:
    """The group with the finalizer that every new one gets; nothing else gets one (GC-01, GC-06)."""
    if PROTECTION_FINALIZER in group.finalizers:
        return group
    return evolve(group, finalizers=(*group.finalizers, PROTECTION_FINALIZER))


def prioritised(
    value: Pod | PodGroup, supplied: int | None, classes: Iterable[PriorityClass]
) -> Pod | PodGroup | Violation:
    """The value with the priority that its class gives it, or why it is refused (ADM-10, ADM-11, ADM-14, ADM-15).

    `supplied` is the priority that it states. Nothing ties the priority of a pod to that of its group, the
    preemption policy of a class says nothing about groups (ADM-12), and the templates of Workloads are left
    as they are (ADM-13).
    """
    chosen = deciding_class(value.priority_class_name, classes)
    if chosen is None:
        rule = "ADM-10" if isinstance(value, PodGroup) else "ADM-15"
        found = f"no PriorityClass with name {value.priority_class_name}"
        return Violation(("spec", "priorityClassName"), found, "one that is there", rule)
    if supplied is not None and supplied != chosen.value:
        source = f"PriorityClass {chosen.name}" if chosen.name else "no PriorityClass"
        expected = f"{chosen.value}, which {source} gives"
        return Violation(("spec", "priority"), str(supplied), expected, "ADM-11")
    if isinstance(value, PodGroup) and chosen.value > HIGHEST_USER_PRIORITY:
        found = f"the priority {chosen.value} of PriorityClass {chosen.name}"
        expected = f"at most {HIGHEST_USER_PRIORITY} for a group"
        return Violation(("spec", "priorityClassName"), found, expected, "ADM-14")
    return evolve(value, priority=chosen.value, priority_class_name=chosen.name)


def prepared(world: World, obj: Object) -> Object:
    """The object as it is stored when it is created: without what a gate that is off drops, a group protected.

    Of pods and Jobs too: without GenericWorkload they lose their group (API-51).
    """
    kept = keep_enabled(obj, world.settings.gates)
    return protected(kept) if isinstance(kept, PodGroup) and world.settings.protection else kept


def admission(world: World, obj: Object, old: Object | None) -> str | None:
    """Why the object is refused when it is created, or (with `old`) updated; None if it is not."""
    if old is not None:
        if isinstance(obj, Job) and isinstance(old, Job):
            return _parallelism_frozen(world, obj, old)
        return None
    if not served(obj, world.settings.gates):
        return f"the server does not serve {type(obj).__name__} (API-51)"
    if not isinstance(obj, PodGroup | Workload):
        return None
    broken = breaches(evolve(obj, uid=0))
    if broken:
        return f"{type(obj).__name__} {obj.name} is invalid: {'; '.join(map(str, broken))}"
    return _workload_exists(world, obj) if isinstance(obj, PodGroup) else None


def _workload_exists(world: World, group: PodGroup) -> str | None:
    """`PodGroupWorkloadExists` (ADM-20 to ADM-25).

    What the plugin sees is trusted, be it old (DEV-08); only if it sees nothing the stored object decides. What the
    group says is not compared with the template.
    """
    if group.workload_name is None:
        return None
    name = f"{group.namespace}/{group.workload_name}"
    workload: Workload | None = seen(world, "admission", "workload").get(name)
    if workload is None:
        workload = stored(world, "workload").get(name)
    if workload is None:
        return f"workload {name} not found"
    if workload.terminating:
        return f"workload {name} is being deleted"
    if all(template.name != group.pod_group_template_name for template in workload.pod_group_templates):
        return f"podGroupTemplate {group.pod_group_template_name} not found in workload {name}"
    return None


def _parallelism_frozen(world: World, job: Job, old: Job) -> str | None:
    """`JobValidation`: the parallelism of a Job with a gang does not change (CTRL-17, CTRL-24, API-08).

    The gang is the one that the template names, or any that the Job controls, as the plugin sees them; where
    it sees none the change is allowed.
    """
    if job.parallelism == old.parallelism or not world.settings.gates.generic_workload:
        return None
    groups: Table[PodGroup] = seen(world, "admission", "podGroup")
    named = old.template.scheduling_group
    if named is not None:
        owned = [group for key, group in groups.items() if key == f"{old.namespace}/{named}"]
    else:
        owned = [group for group in groups.values() if controlled_by(group.owners, "Job", old.uid)]
    for group in owned:
        if group.gang:
            return f"cannot change parallelism for a Job referencing gang-scheduled PodGroup {group.name}"
    return None


def registry(stored: Object, written: Object) -> Object:
    """What is stored when the main resource is written: the old status, whatever it carries (ADM-01)."""
    status = {name: getattr(stored, name) for name in STATUS.get(type(stored), ())}
    return evolve(written, **status) if status else written
