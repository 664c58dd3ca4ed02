"""Writing a claim: what the API server stores, and that the scheduler sees it (CLAIM-26, CLAIM-32)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from gangproof.impl.cycle_state import Event
from gangproof.impl.objects import Consumer, Pod, PodGroup, ResourceClaim
from gangproof.impl.objects.claim import CLAIM_FINALIZER, MOST_CONSUMERS
from gangproof.impl.queue import notice
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World


def store_claim(rules: Rules, world: World, claim: ResourceClaim) -> World:
    """The claim is stored in this version and seen at once; one that is told to go goes once nothing holds it."""
    old, cached = world.claims.get(claim.key), copy_of(world, claim.key)
    if old == claim:
        return world
    if claim.terminating and not claim.finalizers:
        return claim_gone(rules, world, claim)
    world = evolve(world, claims=world.claims.put(claim.key, claim))
    world = evolve(world, claim_cache=world.claim_cache.drop(claim.key))
    world = rules.tally(world, cached, claim)
    if old is None:
        return notice(rules, world, Event("ClaimAdded", claim=claim.key))
    if old.allocation is not None and claim.allocation is None:
        return notice(rules, world, Event("ClaimFreed", claim=claim.key))
    if (old.allocation, old.reserved_for) != (claim.allocation, claim.reserved_for):
        return notice(rules, world, Event("ClaimUpdated", claim=claim.key))
    return world


def copy_of(world: World, claim: str) -> ResourceClaim | None:
    """The claim of that key as the scheduler has it, None if it has none."""
    cached = world.claim_cache.get(claim)
    return cached.latest if cached is not None else world.claims.get(claim)


def tally(world: World, old: ResourceClaim | None, new: ResourceClaim | None) -> World:
    """The scheduler has another copy of a claim: a device is taken as long as some claim has it (intended: DEV-60)."""
    return world


def claim_gone(rules: Rules, world: World, claim: ResourceClaim) -> World:
    """The claim is no more, and with it the allocation that it had (OBS-09)."""
    cached = copy_of(world, claim.key)
    world = evolve(world, claims=world.claims.drop(claim.key), claim_cache=world.claim_cache.drop(claim.key))
    world = rules.tally(world, cached, None)
    return rules.released(rules, world) if claim.allocation is not None else world


def name_users(world: World, user: object) -> World:
    """The claims after a pod or group came whom some of them mean, though it was not there yet."""
    if not isinstance(user, Pod | PodGroup):
        return world
    for claim in world.claims.values():
        known = known_users(world, claim)
        if known != claim:
            world = evolve(world, claims=world.claims.put(claim.key, known))
    return world


def known_users(world: World, claim: ResourceClaim) -> ResourceClaim:
    """The claim with the uids of those it means by name alone (uid 0), as far as they are there."""
    owner = claim.owner
    if owner is not None and owner.uid == 0:
        owner = evolve(owner, uid=_uid(world, claim.namespace, owner.kind, owner.name))
    entries = tuple(
        entry if entry.uid else evolve(entry, uid=_uid(world, claim.namespace, entry.kind, entry.name))
        for entry in claim.reserved_for
    )
    return evolve(claim, owner=owner, reserved_for=entries)


def _uid(world: World, namespace: str, kind: str, name: str) -> int:
    table: Table[Pod] | Table[PodGroup] = world.pods if kind == "pod" else world.groups
    found = table.get(f"{namespace}/{name}")
    return found.uid if found is not None else 0


def accepts(claim: ResourceClaim) -> bool:
    """Whether the API server accepts this status: an entry needs an allocation, and there is a limit (CLAIM-26)."""
    uids = set(claim.reserved_for)
    few = len(claim.reserved_for) <= MOST_CONSUMERS and len(uids) == len(claim.reserved_for)
    return few and (claim.allocation is not None or not claim.reserved_for)


def protected(claim: ResourceClaim) -> ResourceClaim:
    """The claim with the finalizer that keeps it while it is allocated (CLAIM-22)."""
    if CLAIM_FINALIZER in claim.finalizers:
        return claim
    return evolve(claim, finalizers=tuple(sorted((*claim.finalizers, CLAIM_FINALIZER))))


def cleared(claim: ResourceClaim) -> ResourceClaim:
    """The claim without allocation and reservations (CLAIM-28, CLAIM-31)."""
    return evolve(claim, allocation=None, reserved_for=())


def unprotected(claim: ResourceClaim) -> ResourceClaim:
    """The claim without the finalizer (CLAIM-31, CLAIM-32)."""
    return evolve(claim, finalizers=tuple(f for f in claim.finalizers if f != CLAIM_FINALIZER))


def without(claim: ResourceClaim, entries: Iterable[Consumer]) -> ResourceClaim:
    """The claim without these entries of `reservedFor`."""
    dropped = set(entries)
    return evolve(claim, reserved_for=tuple(e for e in claim.reserved_for if e not in dropped))
