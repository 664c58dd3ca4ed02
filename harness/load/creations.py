"""The objects that a scenario creates and changes: from shorthand or manifests to values and records.

An object that the API server would refuse is an error of the scenario, unless the scenario says that it is
rejected; then it is a `Refused` with the message. What a gate that is off drops is dropped (API-51 to
API-54).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from attrs import define, evolve, field

from gangproof.impl.admission import as_new, prioritised, protected
from gangproof.impl.gates import FeatureGates, Object, keep_enabled, served
from gangproof.impl.objects import (
    Job,
    LabelSelector,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
)
from gangproof.impl.objects.checks import fields_of, number_or_share, shown
from gangproof.impl.objects.policy import deciding_class
from gangproof.impl.objects.validation import Path, Violation, violations
from gangproof.load import shorthand
from gangproof.load.decode import DECODERS, decode_bound, is_stored
from gangproof.load.decode_pod import decode_selector
from gangproof.load.fields import SHAPES, VERSIONS
from gangproof.load.names import UnreadableError, expand
from gangproof.load.scenario_fields import KIND_OF
from gangproof.load.schema import Misfit, walk
from gangproof.properties.scenarios import devices
from gangproof.properties.scenarios.records import Created, Ref, Refused

Data = Mapping[str, Any]
MOST_DEVICES, MOST_ALLOCATED = 128, 32
"""How many devices a slice may have, and how many a claim may be given."""
WRITTEN_OUT: Mapping[str, str] = {
    "jobs": "Job",
    "nodes": "Node",
    "podGroups": "PodGroup",
    "pods": "Pod",
    "priorityClasses": "PriorityClass",
    "workloads": "Workload",
}
"""The kinds of which the shorthand is written out as a manifest."""
MANIFEST_KINDS: Mapping[str, str] = {
    **WRITTEN_OUT,
    "claims": "ResourceClaim",
    "claimTemplates": "ResourceClaimTemplate",
    "deviceClasses": "DeviceClass",
    "slices": "ResourceSlice",
}


@define
class Creations:
    """Creates the objects of one document; knows the gates, the refusals to come, and classes and claims so far."""

    gates: FeatureGates
    rejected: Set[Ref]
    classes: dict[str, PriorityClass] = field(factory=dict[str, PriorityClass])
    claims: list[ResourceClaim] = field(factory=list[ResourceClaim])

    def created(self, plural: str, data: Data, path: Path) -> Iterator[Created]:
        """The objects that one entry of `create` stands for, a pattern for several; UnreadableError."""
        if data.get("manifest") is not None:
            yield self._from_manifest(plural, data, path)
            return
        if data.get("name") is None:
            raise UnreadableError(path, "an object without a name", "a name")
        for name in expand(data["name"], (*path, "name")):
            if plural not in WRITTEN_OUT:
                yield from self._recorded(plural, data, name, path)
                continue
            kind = WRITTEN_OUT[plural]
            written = shorthand.manifest(kind, data, name, path)
            value = self._value(plural, written, path, data)
            if isinstance(value, Pod) and data.get("started") is not None:
                value = evolve(value, start_time=data["started"])
            yield value

    def _from_manifest(self, plural: str, data: Data, path: Path) -> Created:
        if len(data) > 1:
            other = next(key for key in data if key != "manifest")
            raise UnreadableError((*path, other), f"{other} beside manifest", "a manifest alone")
        if plural not in MANIFEST_KINDS:
            raise UnreadableError((*path, "manifest"), "a manifest", "the shorthand, for this kind")
        kind, written = MANIFEST_KINDS[plural], data["manifest"]
        expected = {"kind": kind, "apiVersion": VERSIONS[kind]}
        for name, value in expected.items():
            if written.get(name) != value:
                raise UnreadableError((*path, "manifest", name), shown(written.get(name)), value)
        misfits: list[Misfit] = []
        walk(SHAPES[kind], written, misfits.append)
        for misfit in misfits:
            wanted = misfit.expected or "what is modelled"
            raise UnreadableError((*path, "manifest", *misfit.path), misfit.found, wanted, misfit.hint)
        value = self._value(plural, written, path, {})
        if isinstance(value, (Job, PodGroup, ResourceClaim)) and not is_stored(written):
            value = as_new(value)
        return protected(value) if isinstance(value, PodGroup) else value

    def _recorded(self, plural: str, data: Data, name: str, path: Path) -> Iterator[Created]:
        """What needs no manifest: claims, their templates, classes with their devices, budgets."""
        namespace = data.get("namespace") or "default"
        match plural:
            case "claims" | "claimTemplates":
                count = 1 if data.get("count") is None else data["count"]
                if not 1 <= count <= MOST_ALLOCATED:
                    expected = f"an integer from 1 to {MOST_ALLOCATED}"
                    raise UnreadableError((*path, "count"), shown(count), expected)
                spec = devices.claim_spec(_need(data, "deviceClass", path), count)
                if plural == "claimTemplates":
                    yield ResourceClaimTemplate(namespace, name, spec=spec)
                    return
                claim = ResourceClaim(namespace, name, spec=spec)
                if data.get("allocated") is not None:
                    claim = devices.allocated(claim, data["allocated"], self.claims)
                self.claims.append(claim)
                yield claim
            case "deviceClasses":
                counts = _need(data, "devices", path)
                for node, count in counts.items():
                    if not 0 <= count <= MOST_DEVICES:
                        expected = f"an integer from 0 to {MOST_DEVICES}"
                        raise UnreadableError((*path, "devices", node), shown(count), expected)
                yield from devices.device_class(name, counts)
            case "slices":
                raise UnreadableError(path, "a slice", "manifest: a whole ResourceSlice")
            case _:
                yield _budget(data, name, path)

    def _value(self, plural: str, written: Data, path: Path, data: Data) -> Object | Refused:
        kind = MANIFEST_KINDS[plural]
        for violation in violations(kind, written):
            at = shorthand.origin(violation.field, data) if data else ("manifest", *violation.path)
            name = fields_of(written.get("metadata")).get("name")
            ref = _ref(plural, fields_of(written.get("metadata")).get("namespace"), name or "")
            if ref not in self.rejected:
                expected = f"{violation.expected} ({violation.rule})"
                hint = f"to expect the refusal, say rejected: {{{ref}: …}}"
                raise UnreadableError((*path, *at), violation.found, expected, hint)
            return Refused(ref, str(violation))
        value = keep_enabled(DECODERS[kind](written), self.gates)
        ref = Ref(_kind(plural), value.key)
        reason = None if served(value, self.gates) else f"the server does not serve {kind} (API-51)"
        if reason is None:
            value, reason = self._with_priority(value, fields_of(written.get("spec")))
        if reason is not None:
            if ref not in self.rejected:
                hint = f"to expect the refusal, say rejected: {{{ref}: …}}"
                raise UnreadableError(path, reason, "an object that is accepted", hint)
            return Refused(ref, reason)
        if isinstance(value, PriorityClass):
            self.classes[value.name] = value
        return value

    def _with_priority(self, value: Object, spec: Data) -> tuple[Object, str | None]:
        """The priority that a class gives (ADM-10); one that is stated stands for a class that gives it."""
        if isinstance(value, Job):
            template, reason = self._with_priority(
                value.template, fields_of(fields_of(spec.get("template")).get("spec"))
            )
            return (evolve(value, template=template) if isinstance(template, Pod) else value), reason
        group = isinstance(value, PodGroup) and self.gates.workload_aware_preemption
        if not (group or isinstance(value, Pod)) or not isinstance(value, (Pod, PodGroup)):
            return value, None
        if spec.get("priority") is not None and not value.priority_class_name:
            return value, None
        classes = list(self.classes.values())
        found = prioritised(value, spec.get("priority"), classes)
        if isinstance(found, Violation):
            return value, str(found)
        chosen = deciding_class(value.priority_class_name, classes)
        if isinstance(found, Pod) and spec.get("preemptionPolicy") is None and chosen and chosen.name:
            found = evolve(found, preemption_policy=_policy(chosen))
        return found, None


def _policy(chosen: PriorityClass) -> Any:
    return chosen.preemption_policy


def _kind(plural: str) -> Any:
    return KIND_OF[plural]


def _ref(plural: str, namespace: str | None, name: str) -> Ref:
    cluster = plural in ("nodes", "priorityClasses", "deviceClasses", "slices")
    return Ref(_kind(plural), name if cluster else f"{namespace or 'default'}/{name}")


def _need(data: Data, key: str, path: Path) -> Any:
    if data.get(key) is None:
        raise UnreadableError(path, "nothing", f"{key}")
    return data[key]


def _budget(data: Data, name: str, path: Path) -> PodDisruptionBudget:
    if (data.get("minAvailable") is None) == (data.get("maxUnavailable") is None):
        raise UnreadableError(path, "a budget", "exactly one of minAvailable, maxUnavailable")
    for key in ("minAvailable", "maxUnavailable"):
        finding = number_or_share(data[key]) if data.get(key) is not None else None
        if finding is not None:
            raise UnreadableError((*path, key), finding.found, finding.expected)
    return PodDisruptionBudget(
        data.get("namespace") or "default",
        name,
        selector=decode_selector({"matchLabels": _need(data, "selector", path)}) or LabelSelector(),
        min_available=decode_bound(data.get("minAvailable")),
        max_unavailable=decode_bound(data.get("maxUnavailable")),
    )


def reference(item: Created) -> Ref:
    """What a created object is called."""
    if isinstance(item, Refused):
        return item.ref
    return Ref(_KINDS[type(item).__name__], item.key)


_KINDS: Mapping[str, Any] = {
    "Node": "node",
    "Pod": "pod",
    "PodGroup": "podGroup",
    "PriorityClass": "priorityClass",
    "Workload": "workload",
    "Job": "job",
    "ResourceClaim": "claim",
    "ResourceClaimTemplate": "claimTemplate",
    "DeviceClass": "deviceClass",
    "ResourceSlice": "slice",
    "PodDisruptionBudget": "pdb",
}
