"""Device classes as scenarios say them: a class and how many of its devices each node has.

A class stands for a driver of its own, each node for a pool of that driver, and a pool for one slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count, islice

from gangproof.impl.claims.allocator import named
from gangproof.impl.objects import (
    Allocation,
    ClaimSpec,
    Device,
    DeviceClass,
    DeviceRequest,
    Reach,
    ResourceClaim,
    ResourceSlice,
)
from gangproof.impl.objects.claim import CLAIM_FINALIZER, AllocatedDevice

REQUEST = "r"


def driver_of(device_class: str) -> str:
    """The driver of a class."""
    return f"{device_class}.example.com"


def device_class(name: str, devices: Mapping[str, int]) -> tuple[DeviceClass | ResourceSlice, ...]:
    """The class, and a slice for each node that is named."""
    driver = driver_of(name)
    return (
        DeviceClass(name, (f"device.driver == '{driver}'",)),
        *(
            ResourceSlice(
                f"{name}-{node}",
                driver,
                node,
                tuple(Device(f"d{each}") for each in range(number)),
                Reach(node=node),
            )
            for node, number in devices.items()
        ),
    )


def claim_spec(device_class: str, number: int) -> ClaimSpec:
    """A claim for so many devices of the class."""
    return ClaimSpec((DeviceRequest(REQUEST, device_class, number),))


def allocated(claim: ResourceClaim, node: str, before: Iterable[ResourceClaim]) -> ResourceClaim:
    """The claim with the first devices of its class on the node that no claim before has."""
    taken = {id for other in before if other.allocation for id in other.allocation.exclusive}
    (request,) = claim.spec.requests
    driver = driver_of(request.device_class)
    devices = (AllocatedDevice(REQUEST, driver, node, f"d{number}") for number in count())
    chosen = islice((device for device in devices if device.id not in taken), request.count)
    return ResourceClaim(
        claim.namespace,
        claim.name,
        spec=claim.spec,
        allocation=Allocation(tuple(chosen), named(node)),
        finalizers=(CLAIM_FINALIZER,),
    )


def plain_devices(found: DeviceClass, slices: Iterable[ResourceSlice]) -> dict[str, int] | None:
    """How many devices each node has, if the class and its slices are such as scenarios say; else None."""
    devices = {each.pool: len(each.devices) for each in slices}
    return devices if (found, *slices) == device_class(found.name, devices) else None


def plain_claim(claim: ResourceClaim) -> dict[str, object] | None:
    """What a scenario says of the claim before anybody uses it, None if it cannot say it."""
    spec = claim.spec
    request = spec.requests[0] if len(spec.requests) == 1 else None
    if request is None or request.count is None or spec != claim_spec(request.device_class, request.count):
        return None
    if claim.reserved_for or claim.owner is not None or claim.terminating:
        return None
    written: dict[str, object] = {"name": claim.name, "deviceClass": request.device_class}
    if claim.namespace != "default":
        written["namespace"] = claim.namespace
    if request.count != 1:
        written["count"] = request.count
    if claim.allocation is not None:
        written["allocated"] = claim.allocation.devices[0].pool if claim.allocation.devices else ""
    return written
