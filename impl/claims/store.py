"""Writing a claim: what the API server stores, and what the scheduler sees of it (CLAIM-17, CLAIM-26, CLAIM-32)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from gangproof.impl.control import Revision
from gangproof.impl.cycle_state import Event
from gangproof.impl.gates import Object
from gangproof.impl.objects import Consumer, Pod, PodGroup, ResourceClaim
from gangproof.impl.objects.claim import CLAIM_FINALIZER, MOST_CONSUMERS
from gangproof.impl.queue import notice
from gangproof.impl.rules import Rules
from gangproof.impl.store import SCHEDULER, lags, record, stored
from gangproof.impl.world import World


def store_claim(rules: Rules, world: World, claim: ResourceClaim, by: str = "") -> World:
    """The claim is stored in this version; one that is told to go goes once nothing holds it.

    The scheduler sees that at once where its view is prompt, and if the version was given back to it (`by`): that it
    keeps until a newer one arrives (CLAIM-17).
    """
    if not lags(world):
        return see_claim(rules, world, claim)
    old: ResourceClaim | None = stored(world, "claim").get(claim.key)
    if old == claim:
        return world
    new = None if claim.terminating and not claim.finalizers else claim
    world, prompt = record(world, Revision("claim", claim.key, old, new, by))
    return see_claim(rules, world, claim) if SCHEDULER in (by, *prompt) else world


def see_claim(rules: Rules, world: World, claim: ResourceClaim) -> World:
    """The scheduler sees the claim in this version; one that is told to go and is held by nothing is gone."""
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
    log = world.control.log.get("claim", ())
    told = tuple(evolve(one, old=_known(world, one.old), new=_known(world, one.new)) for one in log)
    if told == log:
        return world
    return evolve(world, control=evolve(world.control, log=world.control.log.put("claim", told)))


def _known(world: World, claim: Object | None) -> Object | None:
    return known_users(world, claim) if isinstance(claim, ResourceClaim) else claim


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
    found = stored(world, kind).get(f"{namespace}/{name}")
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
