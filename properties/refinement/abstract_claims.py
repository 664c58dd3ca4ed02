"""The part of the abstraction map that is about claims (see `abstraction`).

Entries and owners are known by uid. One whose name has been taken by somebody else says nothing any more; one whose
object is gone still stands under its old name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gangproof.impl.claims.references import claim_name, shared
from gangproof.impl.filters.devices import reachable
from gangproof.impl.objects import Allocation, Consumer, Pod, PodGroup, ResourceClaim
from gangproof.impl.store import SCHEDULER, unseen, view
from gangproof.impl.table import Table
from gangproof.impl.world import World

GROUPS = view(SCHEDULER, "podGroup")


def claims(world: World) -> dict[str, Any]:
    """What each symbol of the contract that speaks of claims is in the world."""
    chosen = {
        key: entry for key, claim in world.claims.items() if (entry := world.claims_in_flight.get(claim.slot))
    }
    allocations = {
        key: claim.allocation for key, claim in world.claims.items() if claim.allocation is not None
    }
    either = {key: [entry.allocation] for key, entry in chosen.items()}
    for key, allocation in allocations.items():
        either.setdefault(key, []).append(allocation)
    return {
        "claim_exists": set(world.claims),
        "allocated": set(allocations),
        "seen_allocated": {
            key
            for key, claim in world.claims.items()
            if (cached.latest if (cached := world.claim_cache.get(key)) else claim).allocation is not None
        },
        "uses": {(pod.key, key) for pod in world.pods.values() for key in used(pod)},
        "reserved_pod": set(_entries(world, "pod", world.pods)),
        "reserved_group": set(_entries(world, "podGroup", world.groups)),
        "generated": set(_generated(world)),
        "named": set(_named(world)),
        "pod_named": set(_named_by_pods(world)),
        "device": {(key, id) for key, found in either.items() for one in found for id in one.exclusive},
        "reach": set(_reach(world, either)),
        "chosen": set(chosen),
        "sharers": {key: entry.sharers for key, entry in chosen.items()},
        "holding": {
            (pod, key)
            for pod, binding in world.bindings.items()
            for key, held in binding.holds.items()
            if held.allocation is not None and key in world.claims and world.claims[key].slot == held.slot
        },
    }


def used(pod: Pod) -> Iterator[str]:
    """The claims that the pod refers to, as far as it is known which."""
    yield from (key for entry in pod.resource_claims if (key := claim_name(pod, entry)))


def _entries(world: World, kind: str, there: Table[Pod] | Table[PodGroup]) -> Iterator[tuple[str, str]]:
    for key, claim in world.claims.items():
        for entry in claim.reserved_for:
            if entry.kind == kind and (name := _living(claim, entry, there)):
                yield key, name


def _living(claim: ResourceClaim, entry: Consumer, there: Table[Pod] | Table[PodGroup]) -> str:
    name = f"{claim.namespace}/{entry.name}"
    user = there.get(name)
    return name if user is None or not entry.uid or user.uid == entry.uid else ""


def _owner(world: World, claim: ResourceClaim) -> PodGroup | None:
    """The living PodGroup that the claim was generated for; it may be that the scheduler is yet to see it come."""
    owner = claim.owner
    if owner is None or owner.kind != "podGroup":
        return None
    key = f"{claim.namespace}/{owner.name}"
    group = world.groups.get(key)
    if group is None and world.control.behind:
        coming = (change.new for change in unseen(world, GROUPS) if change.key == key)
        group = next((new for new in coming if isinstance(new, PodGroup) and new.uid == owner.uid), None)
    return group if group is not None and owner.uid in (0, group.uid) else None


def _generated(world: World) -> Iterator[tuple[str, str, str]]:
    for key, claim in world.claims.items():
        group = _owner(world, claim)
        if group is not None and claim.owner is not None:
            yield key, group.key, claim.owner.entry


def _named(world: World) -> Iterator[tuple[str, str, str]]:
    for key, group in world.groups.items():
        for entry, name in group.resource_claim_statuses.items():
            claim = world.claims.get(f"{group.namespace}/{name}")
            if claim is not None and _owner(world, claim) is not None:
                yield key, entry, claim.key


def _named_by_pods(world: World) -> Iterator[tuple[str, str, str]]:
    """What the status of members names for entries of their group; where the gate is off the claim may be their own."""
    grouped = world.settings.shares_claims("claim-controller")
    for key, pod in world.pods.items():
        group = world.groups.get(pod.group or "")
        for entry in pod.resource_claims if group is not None else ():
            if entry.resource_claim_template_name is None or not shared(group, entry):
                continue
            claim = world.claims.get(claim_name(pod, entry) or "")
            if claim is None:
                continue
            its_own = claim.owner is not None and claim.owner.kind == "pod"
            if _owner(world, claim) is not None or (its_own and grouped):
                yield key, entry.name, claim.key


def _reach(world: World, either: dict[str, list[Allocation]]) -> Iterator[tuple[str, str]]:
    for key, allocations in either.items():
        for name, node in world.nodes.items():
            if all(reachable(allocation, node) for allocation in allocations):
                yield name, key
