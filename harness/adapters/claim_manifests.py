"""Claims, templates, classes and slices as manifests again (see `manifests`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from gangproof.impl.gates import FeatureGates
from gangproof.impl.objects import (
    Allocation,
    ClaimSpec,
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
from gangproof.impl.objects.device import Attribute, Version

Manifest = dict[str, Any]
NANO = 10**9
LONG_AGO = "2000-01-01T00:00:00Z"
"""When a claim was allocated that is so from the start: without a time the scheduler cannot write to it any more."""


def said(**fields: Any) -> dict[str, Any]:
    """The fields that have a value; what is empty is what the API server takes for an absent field."""
    return {name: value for name, value in fields.items() if value not in (None, False, "", [], {})}


def requirements(found: Iterable[Requirement]) -> list[dict[str, Any]]:
    """The requirements of a selector."""
    return [said(key=r.key, operator=r.operator, values=list(r.values)) for r in found]


def node_term(term: NodeSelectorTerm) -> dict[str, Any]:
    """One term of a node selector."""
    return said(matchExpressions=requirements(term.expressions), matchFields=requirements(term.fields))


def claim(claim: ResourceClaim, gates: FeatureGates) -> Manifest:
    """A claim that nobody uses; it may be allocated."""
    metadata = said(name=claim.name, namespace=claim.namespace, finalizers=list(claim.finalizers))
    found = claim.allocation
    status = {} if found is None else {"status": {"allocation": _allocation(found)}}
    return {"metadata": metadata, "spec": _spec(claim.spec), **status}


def _allocation(found: Allocation) -> Manifest:
    results = [
        said(request=d.request, driver=d.driver, pool=d.pool, device=d.device, adminAccess=d.admin_access)
        for d in found.devices
    ]
    selector = None if found.nodes is None else {"nodeSelectorTerms": [node_term(found.nodes)]}
    return said(devices={"results": results}, nodeSelector=selector, allocationTimestamp=LONG_AGO)


def template(template: ResourceClaimTemplate, gates: FeatureGates) -> Manifest:
    """A template of claims."""
    metadata = {"name": template.name, "namespace": template.namespace}
    return {"metadata": metadata, "spec": {"spec": _spec(template.spec)}}


def device_class(found: DeviceClass, gates: FeatureGates) -> Manifest:
    """A device class."""
    return {"metadata": {"name": found.name}, "spec": said(selectors=_selectors(found.selectors))}


def resource_slice(found: ResourceSlice, gates: FeatureGates) -> Manifest:
    """A slice; where no reach is its own, its devices have theirs."""
    pool = {"name": found.pool, "generation": found.generation, "resourceSliceCount": found.slice_count}
    return {
        "metadata": {"name": found.name},
        "spec": {
            "driver": found.driver,
            "pool": pool,
            **(_reach(found.reach) or {"perDeviceNodeSelection": True}),
            **said(
                devices=[_device(device) for device in found.devices],
                sharedCounters=_sets(found.counters, "name"),
            ),
        },
    }


def _spec(spec: ClaimSpec) -> Manifest:
    constraints = [said(matchAttribute=c.attribute, requests=list(c.requests)) for c in spec.constraints]
    requests = [_request(request) for request in spec.requests]
    return said(devices=said(requests=requests, constraints=constraints))


def _request(request: DeviceRequest) -> Manifest:
    exactly = said(
        deviceClassName=request.device_class,
        allocationMode="All" if request.count is None else "ExactCount",
        count=request.count,
        selectors=_selectors(request.selectors),
        tolerations=[
            said(key=t.key, operator=t.operator, value=t.value, effect=t.effect) for t in request.tolerations
        ],
        adminAccess=request.admin_access,
    )
    return {"name": request.name, "exactly": exactly}


def _selectors(expressions: Iterable[str]) -> list[Manifest]:
    return [{"cel": {"expression": expression}} for expression in expressions]


def _reach(reach: Reach | None) -> Manifest:
    if reach is None:
        return {}
    selector = None if reach.selector is None else {"nodeSelectorTerms": [node_term(reach.selector)]}
    return said(nodeName=reach.node, nodeSelector=selector, allNodes=reach.everywhere)


def _device(device: Device) -> Manifest:
    return {
        "name": device.name,
        **_reach(device.reach),
        **said(
            attributes={name: _attribute(value) for name, value in device.attributes.items()},
            capacity={name: {"value": _quantity(value)} for name, value in device.capacity.items()},
            taints=[said(key=taint.key, value=taint.value, effect=taint.effect) for taint in device.taints],
            consumesCounters=_sets(device.draws, "counterSet"),
        ),
    }


def _attribute(value: Attribute) -> Manifest:
    if isinstance(value, Version):
        return {"version": value.text}
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string"
    return {kind: value}


def _sets(counters: Mapping[str, Fraction], named: str) -> list[Manifest]:
    sets: dict[str, Manifest] = {}
    for place, value in counters.items():
        name, _, counter = place.partition("/")
        sets.setdefault(name, {})[counter] = {"value": _quantity(value)}
    return [{named: name, "counters": found} for name, found in sets.items()]


def _quantity(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{int(value * NANO)}n"
