"""Claims in a picture: which devices each has, for whom it is reserved, who holds it and who would (see `frames`)."""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.counterexamples.trace import ClaimView
from gangproof.impl.claims.references import claim_name, reserved
from gangproof.impl.filters.devices import reachable
from gangproof.impl.objects import Allocation, Pod, ResourceClaim
from gangproof.impl.world import World


def claim_views(world: World) -> Iterator[ClaimView]:
    """Each claim as it is stored; one whose allocation is chosen and not written yet says so."""
    users = _users(world)
    for key, claim in world.claims.items():
        flying = world.claims_in_flight.get(claim.slot)
        allocation, note = claim.allocation, ""
        if allocation is None and flying is not None:
            allocation, note = flying.allocation, f"counted for {flying.sharers}"
        holders = tuple(pod.key for pod in users.get(key, ()) if _holds(world, pod, claim))
        yield ClaimView(
            key=key,
            allocation=_devices(allocation) if allocation is not None else None,
            written=allocation is None or allocation is claim.allocation,
            reach=tuple(_reach(world, allocation)) if allocation is not None else (),
            reserved_for=_entries(claim, "pod"),
            reserved_for_groups=_entries(claim, "podGroup"),
            holders=holders,
            wanted_by=tuple(
                pod.key for pod in users.get(key, ()) if pod.key not in holders and not pod.terminal
            ),
            note="terminating" if claim.terminating else note,
        )


def _users(world: World) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in world.pods.values():
        for entry in pod.resource_claims:
            if key := claim_name(pod, entry):
                found.setdefault(key, []).append(pod)
    return found


def _devices(allocation: Allocation) -> str:
    """The devices by pool, such as `n1/d0`; a pool is most often called as its node."""
    return ", ".join(f"{device.pool}/{device.device}" for device in allocation.devices)


def _reach(world: World, allocation: Allocation) -> Iterator[str]:
    """The nodes from which the devices can be reached; none if from all."""
    if allocation.nodes is not None:
        yield from (name for name, node in world.nodes.items() if reachable(allocation, node))


def _entries(claim: ResourceClaim, kind: str) -> tuple[str, ...]:
    return tuple(f"{claim.namespace}/{entry.name}" for entry in claim.reserved_for if entry.kind == kind)


def _holds(world: World, pod: Pod, claim: ResourceClaim) -> bool:
    """Whether the pod is on a node with the claim, or is about to be and reckons with it."""
    binding = world.bindings.get(pod.key)
    if binding is not None and any(held.slot == claim.slot for held in binding.holds.values()):
        return True
    placed = (pod.node_name is not None and not pod.terminal) or pod.key in world.assumed
    return placed and reserved(claim, pod, world.settings.shares_claims("scheduler"))
