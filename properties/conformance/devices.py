"""What there is to share in a random world: device classes, slices of devices, claims, and who uses which claim.

Devices are few, so that claims meet over them; most claims ask for one, and most members of a group have the claim that
their group has: one that is called by its name, or one that is made from a template.
"""

from __future__ import annotations

from random import Random
from typing import Any

from gangproof.impl.objects.claim import CLAIM_FINALIZER as FINALIZER

Object = dict[str, Any]

DRIVER = "d.example.com"
ANY, FAST = "any", "fast"
MOST_CLAIMS = 4
ENTRY = "c"
"""The name by which pods and groups call the claim that they share."""
TEMPLATES = ("t1", "t2")


def classes() -> list[Object]:
    """One class for all devices, and one for fast ones."""
    return [
        _class(ANY, f"device.driver == '{DRIVER}'"),
        _class(FAST, f"device.attributes['{DRIVER}'].fast"),
    ]


def _class(name: str, expression: str) -> Object:
    selectors = [{"cel": {"expression": expression}}]
    return {"kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": selectors}}


REACH = ("nodeName", "nodeSelector", "allNodes")


def resource_slice(random: Random, node: str, before: Object | None = None) -> Object:
    """The devices of a node; now and then those around can reach them too.

    What was said of that before stays so, since an API server does not let a slice change its nodeName.
    """
    generation = before["spec"]["pool"]["generation"] + 1 if before else 1
    number = random.choice((0, 1, 1, 1, 2, 2, 3))
    devices = [
        {"name": f"d{n}", "attributes": {"fast": {"bool": random.random() < 0.4}}} for n in range(number)
    ]
    spec: Object = {
        "driver": DRIVER,
        "pool": {"name": node, "generation": generation, "resourceSliceCount": 1},
        "devices": devices,
    }
    match random.choices(("node", "zone", "all"), (8, 1, 1))[0]:
        case "node":
            spec["nodeName"] = node
        case "zone":
            zone = {"key": "zone", "operator": "In", "values": [random.choice(("a", "b"))]}
            spec["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}
        case _:
            spec["allNodes"] = True
    if before:
        kept = {name: before["spec"][name] for name in REACH if name in before["spec"]}
        spec = {**{name: value for name, value in spec.items() if name not in REACH}, **kept}
    return {"kind": "ResourceSlice", "metadata": {"name": f"slice-{node}"}, "spec": spec}


def claim(random: Random, name: str) -> Object:
    """A claim, as it is before anybody uses it."""
    return {"kind": "ResourceClaim", "metadata": {"name": name}, "spec": _asked(random)}


def allocated(claim: Object, node: str) -> Object:
    """The claim with a device of the node, whether there is such a device or not."""
    device = {"request": "r", "driver": DRIVER, "pool": node, "device": "d0"}
    here = {"key": "metadata.name", "operator": "In", "values": [node]}
    allocation = {
        "allocationTimestamp": "2000-01-01T00:00:00Z",
        "devices": {"results": [device]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [here]}]},
    }
    metadata = {**claim["metadata"], "finalizers": [FINALIZER]}
    return {**claim, "metadata": metadata, "status": {"allocation": allocation}}


def template(random: Random, name: str) -> Object:
    """A template of claims."""
    return {"kind": "ResourceClaimTemplate", "metadata": {"name": name}, "spec": {"spec": _asked(random)}}


def _asked(random: Random) -> Object:
    request: Object = {"deviceClassName": random.choice((ANY, ANY, ANY, FAST))}
    match random.choices(("one", "two", "all"), (8, 2, 1))[0]:
        case "all":
            request["allocationMode"] = "All"
        case number:
            request |= {"allocationMode": "ExactCount", "count": 1 if number == "one" else 2}
    return {"devices": {"requests": [{"name": "r", "exactly": request}]}}


def uses(name: str, entry: str = ENTRY) -> Object:
    """The entry by which a pod or a group names a claim."""
    return {"name": entry, "resourceClaimName": name}


def generated(template: str, entry: str = ENTRY) -> Object:
    """The entry by which a pod or a group wants a claim that is made from a template."""
    return {"name": entry, "resourceClaimTemplateName": template}


def uses_of_pod(
    random: Random, of_group: Object | None, claims: list[str], often: float, templates: float
) -> list[Object]:
    """The claims of a pod, of whose group `of_group` is the entry: mostly that, now and then another, or one more."""
    found: list[Object] = []
    if of_group is not None and random.random() < 0.85:
        found.append(of_group)
    elif templates and random.random() < often * templates:
        found.append(generated(random.choice(TEMPLATES), random.choice((ENTRY, ENTRY, "own"))))
    elif claims and random.random() < often:
        found.append(uses(random.choice(claims), random.choice((ENTRY, ENTRY, "own"))))
    others = [name for name in claims if all(name != use.get("resourceClaimName") for use in found)]
    if found and others and random.random() < 0.12:
        more = uses(random.choice(others), "more")
        found = [more, *found] if random.random() < 0.5 else [*found, more]
    return found
