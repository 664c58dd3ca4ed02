"""PreBind of claims, and what becomes of them when a binding fails (SEMANTICS 8.4, CLAIM-27).

A pod with a place writes what it holds, a claim with each call: allocation and reservation in one update. In
*intended* a claim that a sibling wrote in the meantime with the same allocation is as good as written (DEV-44).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve

from gangproof.impl.claims.references import claim_name, references, reserved
from gangproof.impl.claims.store import accepts, protected, store_claim, without
from gangproof.impl.cycle_state import Event
from gangproof.impl.filters.devices import devices_in_use, reachable
from gangproof.impl.memory import Hold, InFlight
from gangproof.impl.objects import Allocation, Consumer, Pod, ResourceClaim
from gangproof.impl.queue import notice
from gangproof.impl.rules import Rules
from gangproof.impl.store import SCHEDULER, stored
from gangproof.impl.table import Table
from gangproof.impl.world import World


def in_order(pod: Pod, holds: Table[Hold]) -> Iterator[tuple[str, Hold]]:
    """What the pod holds, in the order of the entries of its spec; last what another claim has taken the name of."""
    named = dict.fromkeys(key for entry in pod.resource_claims if (key := claim_name(pod, entry)))
    yield from ((key, holds[key]) for key in dict.fromkeys((*named, *holds)) if key in holds)


def prebind(rules: Rules, world: World, pod: Pod, ok: bool) -> tuple[World, bool]:
    """The first claim that the pod has yet to write is written (CLAIM-22), unless the call fails; whether it was.

    What was written before a failure stays written.
    """
    binding = world.bindings[pod.key]
    key, held = next(in_order(pod, binding.holds), ("", None))
    if held is None:
        return world, ok
    written = rules.write(rules, world, pod, key, held) if ok else None
    if written is not None:
        left = evolve(binding, holds=binding.holds.drop(key))
        world = evolve(written, bindings=world.bindings.put(pod.key, left))
    in_flight = rules.conclude(world.claims_in_flight, held, written is not None)
    return evolve(world, claims_in_flight=in_flight), written is not None


def write(rules: Rules, world: World, pod: Pod, key: str, held: Hold) -> World | None:
    """One claim gets the allocation, if the pod brings one, and the entry; None if that is refused (CLAIM-22 to 26).

    A version conflict only means to read again, so what counts is what is stored now.
    """
    claim: ResourceClaim | None = stored(world, "claim").get(key)
    if claim is None or claim.slot != held.slot or claim.terminating:
        return None
    if held.allocation is not None and claim.allocation is None:
        claim = evolve(protected(claim), allocation=held.allocation)
    elif held.allocation is not None and claim.allocation != held.allocation:
        return None
    claim = with_entry(claim, held, claim.allocation)
    return store_claim(rules, world, claim, SCHEDULER) if accepts(claim) else None


def conclude(in_flight: Table[InFlight], held: Hold, ok: bool) -> Table[InFlight]:
    """What is in flight once PreBind is done with a claim, well or not (CLAIM-24; intended: DEV-45).

    Whoever wrote it reckons with it no longer; who failed still does, until Unreserve.
    """
    entry = in_flight.get(held.slot) if ok and held.allocation is not None else None
    if entry is None:
        return in_flight
    left = entry.sharers - 1
    return in_flight.put(held.slot, evolve(entry, sharers=left)) if left else in_flight.drop(held.slot)


def relinquish(rules: Rules, world: World, pod: Pod | None, holds: Table[Hold]) -> World:
    """Unreserve after a failed binding (CLAIM-17, CLAIM-27; intended: DEV-54).

    What the pod still holds it lets go, and its own entries in `reservedFor`; never that of its group.
    """
    left = rules.unreserve(world.claims_in_flight, holds)
    if left != world.claims_in_flight:
        world = rules.released(rules, evolve(world, claims_in_flight=left))
    for entry in pod.resource_claims if pod is not None else ():
        key = claim_name(pod, entry) if pod is not None else None
        claim = world.claims.get(key or "")
        if claim is None or pod is None:
            continue
        mine = [e for e in claim.reserved_for if e.kind == "pod" and e.uid == pod.uid]
        world = give_back(rules, world, claim, mine)
    return world


def give_back(rules: Rules, world: World, seen: ResourceClaim, entries: Iterable[Consumer]) -> World:
    """These entries of a claim are taken out of what is stored of it, however old the version that was seen.

    It is a patch that names the uid of the claim and of the entry, and no version: another claim of the name stays.
    """
    claim: ResourceClaim | None = stored(world, "claim").get(seen.key)
    if claim is None or claim.slot != seen.slot:
        return world
    return store_claim(rules, world, without(claim, entries))


def released(rules: Rules, world: World) -> World:
    """Whoever waits for devices, or for an allocation that was in flight, hears of its release (intended: DEV-57)."""
    return notice(rules, world, Event("AllocationReleased"))


def still_served(world: World, pod: Pod, node: str, holds: Table[Hold]) -> bool:
    """Whether all claims of the pod are or can still be its own, with devices that the node reaches (INV-25, INV-26).

    What happened since the snapshot, or since the last try, may have changed that (DEV-52, DEV-56).
    """
    there = world.nodes.get(node)
    workload = world.settings.shares_claims("scheduler")
    found = references(pod, world.claims, workload)
    if there is None or found.missing:
        return False
    for _, claim in found.claims:
        held = holds.get(claim.key)
        allocation = _to_be(world, claim, held)
        if allocation is None or not reachable(allocation, there):
            return False
        if held is None and not reserved(claim, pod, workload):
            return False
        if held is not None and (held.slot != claim.slot or not accepts(with_entry(claim, held, allocation))):
            return False
    return True


def with_entry(claim: ResourceClaim, held: Hold, allocation: Allocation | None) -> ResourceClaim:
    """The claim with this allocation and the entry of whoever holds it."""
    more = claim.reserved_for if held.consumer in claim.reserved_for else (*claim.reserved_for, held.consumer)
    return evolve(claim, allocation=allocation, reserved_for=more)


def _to_be(world: World, claim: ResourceClaim, held: Hold | None) -> Allocation | None:
    """The allocation that the claim has, or will have once the pod has written it; None if that is in doubt."""
    brought = held.allocation if held is not None else None
    if claim.allocation is not None:
        return claim.allocation if brought in (None, claim.allocation) else None
    in_flight = world.claims_in_flight.get(claim.slot)
    if brought is None or (in_flight is not None and in_flight.allocation != brought):
        return None
    others = devices_in_use(world.claims, world.claims_in_flight.drop(claim.slot))
    return None if others & set(brought.exclusive) else brought
