"""What an `update` step changes: from the keys of the shorthand to attributes of the stored value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gangproof.impl.objects.checks import fields_of
from gangproof.impl.objects.validation import Path, violations
from gangproof.impl.table import Table
from gangproof.load import shorthand
from gangproof.load.decode import DECODERS
from gangproof.load.names import UnreadableError
from gangproof.load.scenario_fields import OBJECTS
from gangproof.load.schema import Fields, Misfit, walk
from gangproof.properties.scenarios.document import Change
from gangproof.properties.scenarios.records import Ref

Data = Mapping[str, Any]
FIXED = ("name", "namespace", "spec")
_KINDS: Mapping[str, tuple[str, str]] = {
    "job": ("jobs", "Job"),
    "node": ("nodes", "Node"),
    "pod": ("pods", "Pod"),
    "podGroup": ("podGroups", "PodGroup"),
    "priorityClass": ("priorityClasses", "PriorityClass"),
    "workload": ("workloads", "Workload"),
}
# The attributes that each key of the shorthand decides; a resource stands for itself.
_ATTRIBUTES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "job": {
        "parallelism": ("parallelism",),
        "completions": ("completions",),
        "indexed": ("indexed",),
        "suspend": ("suspend",),
        "template": ("template",),
    },
    "node": {"labels": ("labels",), "taints": ("taints",), "unschedulable": ("unschedulable",)},
    "pod": {
        "group": ("scheduling_group",),
        "priority": ("priority",),
        "priorityClass": ("priority_class_name",),
        "node": ("node_name",),
        "labels": ("labels",),
        "nodeSelector": ("node_selector",),
        "tolerations": ("tolerations",),
        "hostPort": ("host_ports",),
        "gates": ("scheduling_gates",),
        "preemptionPolicy": ("preemption_policy",),
        "claims": ("resource_claims",),
        "grace": ("termination_grace_period_seconds",),
        "finalizers": ("finalizers",),
        "schedulerName": ("scheduler_name",),
    },
    "podGroup": {
        "gang": ("min_count",),
        "basic": ("min_count",),
        "priority": ("priority",),
        "priorityClass": ("priority_class_name",),
        "disruptionMode": ("disruption_mode",),
        "topology": ("topology_keys",),
        "claims": ("resource_claims",),
        "template": ("workload_name", "pod_group_template_name"),
        "finalizers": ("finalizers",),
        "labels": ("labels",),
    },
    "priorityClass": {"value": ("value",), "globalDefault": ("global_default",)},
    "workload": {"templates": ("pod_group_templates",), "controller": ("controller_ref",)},
}
_FILLERS: Mapping[str, Data] = {
    "podGroup": {"basic": True},
    "priorityClass": {"value": 0},
    "workload": {"templates": [{"name": "filler", "basic": True}]},
}


def change(ref: Ref, data: Any, path: Path) -> Change:
    """The change of one object; UnreadableError if a key is unknown, cannot change, or has no such value."""
    if ref.kind not in _KINDS:
        names = ", ".join(_KINDS)
        raise UnreadableError(path, f"an update of a {ref.kind}", f"an update of one of {names}")
    plural, kind = _KINDS[ref.kind]
    shapes = {
        key: shape for key, shape in OBJECTS[plural].items() if key not in ("name", "namespace", "spec")
    }
    misfits: list[Misfit] = []
    walk(Fields(shapes), data, misfits.append, path)
    for misfit in misfits:
        raise UnreadableError(misfit.path, misfit.found, misfit.expected, misfit.hint)
    filler: Data = {} if "gang" in data else fields_of(_FILLERS.get(ref.kind))
    whole = {**filler, **data}
    name = ref.key.rpartition("/")[2]
    written = shorthand.manifest(kind, whole, name, path)
    for violation in violations(kind, written):
        at = (*path, *shorthand.origin(violation.field, data))
        raise UnreadableError(at, violation.found, f"{violation.expected} ({violation.rule})")
    value = DECODERS[kind](written)
    values: dict[str, object] = {}
    for key in data:
        if key == "started":
            values["start_time"] = data[key]
        for attribute in _ATTRIBUTES[ref.kind].get(key, ()):
            values[attribute] = getattr(value, attribute)
    resources = [key for key in ("cpu", "memory", "pods") if key in data]
    resources += list(data.get("extended") or {})
    if resources:
        for attribute in ("allocatable",) if ref.kind == "node" else ("requests", "scoring_requests"):
            amounts: Table[int] = getattr(value, attribute)
            values[attribute] = Table({resource: amounts[resource] for resource in resources})
    return Change(ref, Table(values))
