"""The filter DynamicResources: on which nodes can the claims of a pod be met? (CLAIM-10 to CLAIM-16)

What PreFilter finds for a pod is `Wanted`; each node is then asked by `rejection`.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import lru_cache

from attrs import frozen

from gangproof.impl.claims.allocator import (
    AllocationError,
    BeyondAllocationError,
    allocate,
)
from gangproof.impl.claims.references import references, reserved
from gangproof.impl.cycle_state import SeenClaims
from gangproof.impl.filters.nodes import Rejection
from gangproof.impl.memory import InFlight
from gangproof.impl.objects import Allocation, Node, Pod, PodGroupClaim, ResourceClaim
from gangproof.impl.objects.claim import MOST_CONSUMERS
from gangproof.impl.objects.node import node_term_matches
from gangproof.impl.table import Table
from gangproof.impl.world import World

PLUGIN = "DynamicResources"
UNREACHABLE = "resourceclaim not available on the node"
NO_DEVICES = "cannot allocate all claims"
BEING_ALLOCATED = "resource claim {} is in the process of being allocated"
NO_CLASS = "device class {} does not exist"
IN_USE = "resourceclaim in use"


@frozen
class Wanted:
    """What PreFilter found: the pod's claims by entry, those of which its cycle has the allocation in hand already, by
    key, and those that need devices. `refused` says why no node will do."""

    seen: SeenClaims
    claims: tuple[tuple[PodGroupClaim, ResourceClaim], ...] = ()
    reused: Table[Allocation] = Table()
    unmet: tuple[ResourceClaim, ...] = ()
    refused: str = ""


def seen_claims(world: World) -> SeenClaims:
    """What the scheduler sees of claims and devices now: its cache, and what is in flight (CLAIM-17)."""
    claims = world.claims
    for key, cached in world.claim_cache.items():
        claims = claims.put(key, cached.latest)
    return SeenClaims(
        claims=claims,
        classes=world.device_classes,
        slices=world.slices,
        in_flight=world.claims_in_flight,
        before=world.claims_in_flight,
        uncounted=world.uncounted,
        workload=world.settings.shares_claims("scheduler"),
    )


def group_missing(world: World, pod: Pod) -> bool:
    """Whether PreFilter refuses the pod since its PodGroup is not there: with or without claims (CLAIM-37)."""
    return (
        pod.group is not None and world.settings.shares_claims("scheduler") and pod.group not in world.groups
    )


def prefilter(pod: Pod, seen: SeenClaims) -> Wanted | None:
    """What the pod's claims come to before any node is looked at, None if it has none (CLAIM-13, CLAIM-15, CLAIM-16).

    Whose allocation was chosen by another cycle and is not written yet has to be waited for, and so has one for which
    no more users can be entered (CLAIM-38).
    """
    if not pod.resource_claims:
        return None
    found = references(pod, seen.claims, seen.workload)
    if found.missing:
        return Wanted(seen, refused=found.missing)
    reused: dict[str, Allocation] = {}
    unmet: list[ResourceClaim] = []
    for _, claim in found.claims:
        full = len(claim.reserved_for) >= MOST_CONSUMERS and not reserved(claim, pod, seen.workload)
        if claim.allocation is not None and full:
            return Wanted(seen, found.claims, refused=IN_USE)
        if claim.allocation is not None or claim in unmet:
            continue
        in_flight = seen.in_flight.get(claim.slot)
        if in_flight is not None and claim.slot not in seen.before:
            reused[claim.key] = in_flight.allocation
        elif in_flight is not None:
            return Wanted(seen, found.claims, refused=BEING_ALLOCATED.format(claim.key))
        else:
            unmet.append(claim)
        for request in claim.spec.requests:
            if in_flight is None and request.device_class not in seen.classes:
                return Wanted(seen, found.claims, refused=NO_CLASS.format(request.device_class))
    return Wanted(seen, found.claims, Table(reused), tuple(unmet))


def rejection(wanted: Wanted, node: Node) -> Rejection | None:
    """Why the node cannot serve the pod's claims, None if it can (CLAIM-12, CLAIM-16; intended: DEV-41).

    Whether an allocated claim is out of reach is asked last: only then PostFilter may let it go (CLAIM-28).
    """
    if wanted.refused:
        return Rejection(PLUGIN, wanted.refused)
    found = allocations(wanted, node)
    if isinstance(found, Rejection):
        return found
    for _, claim in wanted.claims:
        allocation = claim.allocation or wanted.reused.get(claim.key)
        if allocation is not None and not reachable(allocation, node):
            return Rejection(PLUGIN, UNREACHABLE)
    return None


def reachable(allocation: Allocation, node: Node) -> bool:
    """Whether all devices of the allocation can be reached from the node (CLAIM-16, INV-26)."""
    return allocation.nodes is None or node_term_matches(allocation.nodes, node)


def allocations(wanted: Wanted, node: Node) -> tuple[Allocation, ...] | Rejection:
    """What the claims without an allocation would get on the node, in their order, or why they get nothing."""
    if not wanted.unmet:
        return ()
    seen = wanted.seen
    in_use = devices_in_use(seen.claims, seen.in_flight, seen.uncounted)
    try:
        found = allocate(wanted.unmet, node, seen.slices, seen.classes, in_use)
    except AllocationError as error:
        return Rejection(PLUGIN, str(error), error=True)
    except BeyondAllocationError as beyond:
        return Rejection(PLUGIN, NO_DEVICES, beyond=str(beyond))
    return Rejection(PLUGIN, NO_DEVICES) if found is None else found


@lru_cache(maxsize=256)
def devices_in_use(
    claims: Table[ResourceClaim], in_flight: Table[InFlight], uncounted: tuple[str, ...] = ()
) -> Set[str]:
    """Every device that somebody has for himself, in flight or, if it is not `uncounted`, stored."""
    stored = (claim.allocation for claim in claims.values() if claim.allocation is not None)
    chosen = (entry.allocation for entry in in_flight.values())
    counted = frozenset(id for allocation in stored for id in allocation.exclusive).difference(uncounted)
    return counted.union(id for allocation in chosen for id in allocation.exclusive)


def unavailable(wanted: Wanted, nodes: Mapping[str, Node]) -> tuple[ResourceClaim, ...]:
    """The allocated claims that some of the nodes cannot reach, which PostFilter may let go (CLAIM-28)."""
    return tuple(
        claim
        for _, claim in wanted.claims
        if claim.allocation is not None
        and any(not reachable(claim.allocation, node) for node in nodes.values())
    )
