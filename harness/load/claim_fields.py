"""The fields of claims, their templates, device classes and slices in Kubernetes v1.36 (resource.k8s.io/v1)."""

from __future__ import annotations

from collections.abc import Mapping

from gangproof.load import metadata_fields
from gangproof.load.metadata_fields import METADATA
from gangproof.load.schema import (
    BOOLEAN,
    IGNORED,
    INTEGER,
    QUANTITY,
    STRING,
    STRINGS,
    TEXT_MAP,
    Fields,
    ListOf,
    MapOf,
    Shape,
    Unmodelled,
)

_CAPACITY = Unmodelled("capacity that several claims share is not modelled")
_BINDING = Unmodelled("conditions that a device must meet before binding are not modelled")

TYPE: dict[str, Shape] = {
    **metadata_fields.TYPE,
    "metadata": Fields({**METADATA.shapes, "annotations": TEXT_MAP}),
}
SELECTORS = ListOf(Fields({"cel": Fields({"expression": STRING})}))
TOLERATION = Fields(
    {"key": STRING, "operator": STRING, "value": STRING, "effect": STRING, "tolerationSeconds": IGNORED}
)
REQUEST = Fields(
    {
        "name": STRING,
        "exactly": Fields(
            {
                "deviceClassName": STRING,
                "selectors": SELECTORS,
                "allocationMode": STRING,
                "count": INTEGER,
                "adminAccess": BOOLEAN,
                "tolerations": ListOf(TOLERATION),
                "capacity": _CAPACITY,
            }
        ),
        "firstAvailable": Unmodelled("requests with alternatives are not modelled"),
    },
    {
        "deviceClassName": "it stands below exactly since v1",
        "selectors": "they stand below exactly since v1",
        "count": "it stands below exactly since v1",
        "allocationMode": "it stands below exactly since v1",
    },
)
CLAIM_SPEC = Fields(
    {
        "devices": Fields(
            {
                "requests": ListOf(REQUEST),
                "constraints": ListOf(
                    Fields(
                        {
                            "requests": STRINGS,
                            "matchAttribute": STRING,
                            "distinctAttribute": Unmodelled(
                                "constraints that keep devices apart are not modelled"
                            ),
                        }
                    )
                ),
                "config": IGNORED,
            }
        )
    }
)
REQUIREMENT = Fields({"key": STRING, "operator": STRING, "values": STRINGS})
NODE_TERM = Fields({"matchExpressions": ListOf(REQUIREMENT), "matchFields": ListOf(REQUIREMENT)})
NODE_SELECTOR = Fields({"nodeSelectorTerms": ListOf(NODE_TERM)})
RESULT = Fields(
    {
        "request": STRING,
        "driver": STRING,
        "pool": STRING,
        "device": STRING,
        "adminAccess": BOOLEAN,
        "tolerations": IGNORED,
        "bindingConditions": _BINDING,
        "bindingFailureConditions": IGNORED,
        "shareID": _CAPACITY,
        "consumedCapacity": _CAPACITY,
    }
)
RESOURCE_CLAIM = Fields(
    {
        **TYPE,
        "spec": CLAIM_SPEC,
        "status": Fields(
            {
                "allocation": Fields(
                    {
                        "devices": Fields({"results": ListOf(RESULT), "config": IGNORED}),
                        "nodeSelector": NODE_SELECTOR,
                        "allocationTimestamp": IGNORED,
                    }
                ),
                "reservedFor": ListOf(
                    Fields({"apiGroup": STRING, "resource": STRING, "name": STRING, "uid": STRING})
                ),
                "devices": IGNORED,
            }
        ),
    }
)
RESOURCE_CLAIM_TEMPLATE = Fields(
    {
        **TYPE,
        "spec": Fields({"metadata": IGNORED, "spec": CLAIM_SPEC}, {"devices": "it stands below spec.spec"}),
    }
)
DEVICE_CLASS = Fields(
    {
        **TYPE,
        "spec": Fields(
            {
                "selectors": SELECTORS,
                "config": IGNORED,
                "extendedResourceName": Unmodelled(
                    "extended resources that devices stand for are not modelled"
                ),
            }
        ),
    }
)
COUNTERS = MapOf(Fields({"value": QUANTITY}))
REACH: dict[str, Shape] = {"nodeName": STRING, "nodeSelector": NODE_SELECTOR, "allNodes": BOOLEAN}
DEVICE = Fields(
    {
        "name": STRING,
        "attributes": MapOf(
            Fields(
                {
                    "int": INTEGER,
                    "bool": BOOLEAN,
                    "string": STRING,
                    "version": STRING,
                    **dict.fromkeys(
                        ("ints", "bools", "strings", "versions"),
                        Unmodelled("attributes that are lists are not modelled"),
                    ),
                }
            )
        ),
        "capacity": MapOf(Fields({"value": QUANTITY, "requestPolicy": _CAPACITY})),
        "consumesCounters": ListOf(Fields({"counterSet": STRING, "counters": COUNTERS})),
        "taints": ListOf(Fields({"key": STRING, "value": STRING, "effect": STRING, "timeAdded": IGNORED})),
        **REACH,
        "bindsToNode": _BINDING,
        "bindingConditions": _BINDING,
        "bindingFailureConditions": IGNORED,
        "allowMultipleAllocations": _CAPACITY,
        "nodeAllocatableResourceMappings": Unmodelled(
            "devices that take a node's own resources are not modelled"
        ),
    },
    {"basic": "what stood below basic stands beside name since v1"},
)
RESOURCE_SLICE = Fields(
    {
        **TYPE,
        "spec": Fields(
            {
                "driver": STRING,
                "pool": Fields({"name": STRING, "generation": INTEGER, "resourceSliceCount": INTEGER}),
                **REACH,
                "perDeviceNodeSelection": BOOLEAN,
                "devices": ListOf(DEVICE),
                "sharedCounters": ListOf(Fields({"name": STRING, "counters": COUNTERS})),
            }
        ),
    }
)
SHAPES: Mapping[str, Fields] = {
    "DeviceClass": DEVICE_CLASS,
    "ResourceClaim": RESOURCE_CLAIM,
    "ResourceClaimTemplate": RESOURCE_CLAIM_TEMPLATE,
    "ResourceSlice": RESOURCE_SLICE,
}
VERSIONS: Mapping[str, str] = dict.fromkeys(SHAPES, "resource.k8s.io/v1")
VERSION_HINTS: Mapping[tuple[str, str], str] = {
    (kind, f"resource.k8s.io/{version}"): hint
    for kind in SHAPES
    for version, hint in (
        ("v1beta2", "v1 has the same fields"),
        ("v1beta1", "in v1 a request's fields stand below exactly, a device's beside its name"),
        ("v1alpha3", "in v1 a request's fields stand below exactly, a device's beside its name"),
    )
}
