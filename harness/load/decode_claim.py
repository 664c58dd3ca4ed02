"""From the plain data of claims, templates, classes and slices, whose shape and rules hold, to values.

Whom a claim means by name gets its number when that object is created; of a dump it is known here already who is
gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal

from attrs import evolve

from gangproof.impl.claims.cel import beyond
from gangproof.impl.objects import (
    Allocation,
    ClaimSpec,
    Consumer,
    Device,
    DeviceClass,
    DeviceRequest,
    NodeSelectorTerm,
    Reach,
    Requirement,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from gangproof.impl.objects.checks import entries_of, fields_of
from gangproof.impl.objects.claim import AllocatedDevice, DeviceToleration, MatchAttribute, Owner
from gangproof.impl.objects.device import Attribute, DeviceTaint, Version
from gangproof.impl.objects.quantity import parse_quantity
from gangproof.impl.objects.validation import Path
from gangproof.impl.table import Table

Data = Mapping[str, Any]
ENTRY = "resource.kubernetes.io/pod-claim-name"
GROUPS = "scheduling.k8s.io"
GONE = -1
"""The uid of a user that is not there any more."""


def decode_claim(data: Data) -> ResourceClaim:
    """The claim; users that it means have the uid 0."""
    metadata, status = fields_of(data.get("metadata")), fields_of(data.get("status"))
    return ResourceClaim(
        namespace=metadata.get("namespace") or "default",
        name=metadata["name"],
        spec=_spec(fields_of(data.get("spec"))),
        allocation=_allocation(status.get("allocation")),
        reserved_for=tuple(
            Consumer(kind, entry["name"], 0)
            for entry in entries_of(status.get("reservedFor"))
            if (kind := _consumer_kind(entry)) is not None
        ),
        owner=_owner(metadata),
        finalizers=tuple(entries_of(metadata.get("finalizers"))),
        terminating=metadata.get("deletionTimestamp") is not None,
    )


def _consumer_kind(entry: Data) -> Literal["pod", "podGroup"] | None:
    group, resource = entry.get("apiGroup") or "", entry.get("resource")
    if (group, resource) == ("", "pods"):
        return "pod"
    return "podGroup" if (group, resource) == (GROUPS, "podgroups") else None


def _owner(metadata: Data) -> Owner | None:
    """The pod or group that controls the claim, and the entry that it was made for."""
    entry = fields_of(metadata.get("annotations")).get(ENTRY)
    for owner in entries_of(metadata.get("ownerReferences")):
        group = str(owner.get("apiVersion") or "").rpartition("/")[0]
        kind = {("", "Pod"): "pod", (GROUPS, "PodGroup"): "podGroup"}.get((group, owner.get("kind")))
        if owner.get("controller") and kind is not None and owner.get("name"):
            return Owner("pod" if kind == "pod" else "podGroup", owner["name"], 0, entry or "")
    return None


def _spec(data: Data) -> ClaimSpec:
    devices = fields_of(data.get("devices"))
    return ClaimSpec(
        tuple(_request(entry) for entry in entries_of(devices.get("requests"))),
        tuple(
            MatchAttribute(entry["matchAttribute"], tuple(entries_of(entry.get("requests"))))
            for entry in entries_of(devices.get("constraints"))
            if entry.get("matchAttribute")
        ),
    )


def _request(data: Data) -> DeviceRequest:
    exactly = fields_of(data.get("exactly"))
    every = exactly.get("allocationMode") == "All"
    count = exactly.get("count")
    return DeviceRequest(
        name=data["name"],
        device_class=exactly.get("deviceClassName") or "",
        count=None if every else 1 if count is None else count,
        selectors=_selectors(exactly.get("selectors")),
        tolerations=tuple(
            DeviceToleration(
                t.get("key") or "", t.get("operator") or "Equal", t.get("value") or "", t.get("effect") or ""
            )
            for t in entries_of(exactly.get("tolerations"))
        ),
        admin_access=bool(exactly.get("adminAccess")),
    )


def _selectors(entries: Any) -> tuple[str, ...]:
    return tuple(fields_of(entry.get("cel")).get("expression") or "" for entry in entries_of(entries))


def _allocation(data: Data | None) -> Allocation | None:
    if data is None:
        return None
    results = entries_of(fields_of(data.get("devices")).get("results"))
    return Allocation(
        tuple(
            AllocatedDevice(r["request"], r["driver"], r["pool"], r["device"], bool(r.get("adminAccess")))
            for r in results
        ),
        _term(data.get("nodeSelector")),
    )


def _term(selector: Data | None) -> NodeSelectorTerm | None:
    for term in entries_of(fields_of(selector).get("nodeSelectorTerms")):
        return NodeSelectorTerm(
            _requirements(term.get("matchExpressions")), _requirements(term.get("matchFields"))
        )
    return None


def _requirements(entries: Any) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(entry["key"], entry["operator"], tuple(sorted(set(entries_of(entry.get("values"))))))
        for entry in entries_of(entries)
    )


def decode_template(data: Data) -> ResourceClaimTemplate:
    """The template of claims."""
    metadata = fields_of(data.get("metadata"))
    return ResourceClaimTemplate(
        namespace=metadata.get("namespace") or "default",
        name=metadata["name"],
        spec=_spec(fields_of(fields_of(data.get("spec")).get("spec"))),
    )


def decode_class(data: Data) -> DeviceClass:
    """The device class."""
    return DeviceClass(data["metadata"]["name"], _selectors(fields_of(data.get("spec")).get("selectors")))


def decode_slice(data: Data) -> ResourceSlice:
    """The slice; names without a domain get that of the driver."""
    spec = fields_of(data.get("spec"))
    pool = fields_of(spec.get("pool"))
    each = bool(spec.get("perDeviceNodeSelection"))
    return ResourceSlice(
        name=data["metadata"]["name"],
        driver=spec["driver"],
        pool=pool["name"],
        devices=tuple(_device(entry, spec["driver"], each) for entry in entries_of(spec.get("devices"))),
        reach=Reach() if each else _reach(spec),
        counters=Table(
            (f"{entry['name']}/{name}", parse_quantity(str(counter["value"])))
            for entry in entries_of(spec.get("sharedCounters"))
            for name, counter in fields_of(entry.get("counters")).items()
        ),
        generation=pool.get("generation") or 0,
        slice_count=pool["resourceSliceCount"],
    )


def _reach(data: Data) -> Reach:
    return Reach(data.get("nodeName") or None, _term(data.get("nodeSelector")), bool(data.get("allNodes")))


def _device(data: Data, driver: str, own_reach: bool) -> Device:
    return Device(
        name=data["name"],
        attributes=Table(
            (_under(name, driver), _attribute(value))
            for name, value in fields_of(data.get("attributes")).items()
        ),
        capacity=Table(
            (_under(name, driver), parse_quantity(str(value["value"])))
            for name, value in fields_of(data.get("capacity")).items()
        ),
        taints=tuple(
            DeviceTaint(taint["key"], taint["effect"], taint.get("value") or "")
            for taint in entries_of(data.get("taints"))
        ),
        draws=_draws(entries_of(data.get("consumesCounters"))),
        reach=_reach(data) if own_reach else None,
    )


def _under(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _attribute(value: Data) -> Attribute:
    if value.get("version") is not None:
        return Version(value["version"])
    return next((value[kind] for kind in ("string", "int", "bool") if value.get(kind) is not None), "")


def _draws(entries: Iterable[Data]) -> Table[Fraction]:
    return Table(
        (f"{entry['counterSet']}/{name}", parse_quantity(str(counter["value"])))
        for entry in entries
        for name, counter in fields_of(entry.get("counters")).items()
    )


def with_gone(claim: ResourceClaim, data: Data, uids: Mapping[tuple[str, str], str]) -> ResourceClaim:
    """The claim of a dump, in which whoever it means by a uid that is not there is known to be gone.

    `uids` are those of the pods and groups that are there, by kind and key.
    """
    metadata, status = fields_of(data.get("metadata")), fields_of(data.get("status"))
    entries = [entry for entry in entries_of(status.get("reservedFor")) if _consumer_kind(entry) is not None]
    consumers = tuple(
        consumer
        if _there(uids, claim, consumer.kind, consumer.name, entry.get("uid"))
        else evolve(consumer, uid=GONE)
        for consumer, entry in zip(claim.reserved_for, entries, strict=True)
    )
    owner = claim.owner
    if owner is not None:
        known = [o.get("uid") for o in entries_of(metadata.get("ownerReferences")) if o.get("controller")]
        if not any(_there(uids, claim, owner.kind, owner.name, uid) for uid in known):
            owner = evolve(owner, uid=GONE)
    return evolve(claim, reserved_for=consumers, owner=owner)


def _there(uids: Mapping[tuple[str, str], str], claim: ResourceClaim, kind: str, name: str, uid: Any) -> bool:
    return uids.get((kind, f"{claim.namespace}/{name}"), GONE) in (uid or "", "")


def beyond_cel(kind: str, data: Data) -> Iterator[tuple[Path, str]]:
    """The CEL expressions of an object that are not modelled: where each stands, and what of it is meant."""
    if kind not in ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate"):
        return
    spec = fields_of(data.get("spec"))
    base: Path = ("spec",)
    if kind == "ResourceClaimTemplate":
        spec, base = fields_of(spec.get("spec")), ("spec", "spec")
    if kind == "DeviceClass":
        yield from _beyond(spec.get("selectors"), (*base, "selectors"))
        return
    for place, request in enumerate(entries_of(fields_of(spec.get("devices")).get("requests"))):
        path: Path = (*base, "devices", "requests", place, "exactly", "selectors")
        yield from _beyond(fields_of(request.get("exactly")).get("selectors"), path)


def _beyond(entries: Any, path: Path) -> Iterator[tuple[Path, str]]:
    for place, expression in enumerate(_selectors(entries)):
        what = beyond(expression)
        if what:
            yield (*path, place, "cel", "expression"), f"CEL selectors with {what} are not modelled"
