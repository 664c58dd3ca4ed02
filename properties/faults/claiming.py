"""Faults of claims: who may share an allocation, how sharers are counted, what is undone, what the controller makes."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from gangproof.impl.cycle_state import Cycle, SeenClaims
from gangproof.impl.deviations.claims import wherever_there_is_room, whoever_was_faster
from gangproof.impl.deviations.commit import whatever_came_meanwhile, without_a_second_try
from gangproof.impl.filters.devices import Wanted
from gangproof.impl.memory import CachedClaim, Hold, InFlight
from gangproof.impl.objects import Node, Pod, PodGroup
from gangproof.impl.rules import Rules
from gangproof.impl.steps import (
    GroupClaimsStep,
    HoldStep,
    Placement,
    PlaceStep,
    PodClaimsStep,
    RelinquishStep,
    ReserveStep,
)
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.faults.fault import Fault, fault


def _seeing(view: Callable[[SeenClaims], SeenClaims], old: PlaceStep) -> PlaceStep:
    """Places are looked for with another view of claims and devices."""

    def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
        if cycle.snapshot is None:
            return old(rules, world, cycle, pod)
        other = evolve(cycle.snapshot, claims=view(cycle.snapshot.claims))
        return old(rules, world, evolve(cycle, snapshot=other), pod)

    return place


def _pending_is_foreign(seen: SeenClaims) -> SeenClaims:
    return evolve(seen, before=seen.in_flight)


def _blocked_by_siblings(old: PlaceStep) -> PlaceStep:
    return _seeing(_pending_is_foreign, old)


F58 = fault(
    "F-58",
    "sibling-blocked-by-pending-claim",
    "T3",
    "An allocation that is chosen and not written is being made by somebody else, also for the group that chose it.",
    caught_by="quiescence, reservedFor sharing",
    wrong="b is refused, the group misses its minimum, everything is undone and starts over",
    right="b uses the allocation that its group has pending",
    seen_in="Kubernetes, issue of March 2026 (kubernetes/kubernetes#137617)",
    place=_blocked_by_siblings,
)


def _one_entry(_: ReserveStep) -> ReserveStep:
    def reserve(in_flight: Table[InFlight], holds: Table[Hold]) -> Table[InFlight]:
        for held in holds.values():
            if held.allocation is not None:
                in_flight = in_flight.put(held.slot, InFlight(held.allocation))
        return in_flight

    return reserve


F59 = fault(
    "F-59",
    "pending-entry-has-no-sharers",
    "T3",
    "The table of pending allocations has one entry without a count; the first member that leaves removes it for all.",
    caught_by="reservedFor sharing, no early unreserve, exact undo",
    wrong="the entry of c vanishes when a is undone; x is given the device that b is about to use",
    right="the entry lives as long as one member holds it, and no longer",
    seen_in="Kubernetes, change of March 2026 (kubernetes/kubernetes#137897)",
    reserve=_one_entry,
)

F60 = fault(
    "F-60",
    "sibling-allocation-looks-foreign",
    "T3",
    "Who re-reads its claim and finds it allocated gives up, although a sibling wrote that very allocation.",
    caught_by="quiescence, all-or-nothing, reservedFor sharing",
    wrong="a is bound, b is thrown back, and x may take its room: one member of two",
    right="the same allocation is there: the reservation is added, and the bind goes on",
    seen_in="Kubernetes, issue of June 2026 (kubernetes/kubernetes#140053)",
    write=whoever_was_faster,
    bind=without_a_second_try,
)


def _remembered_copy(old: RelinquishStep) -> RelinquishStep:
    def relinquish(rules: Rules, world: World, pod: Pod | None, holds: Table[Hold]) -> World:
        world = old(rules, world, pod, holds)
        for key, held in holds.items():
            claim = world.claims.get(key)
            if held.allocation is not None and claim is not None and claim.allocation is not None:
                before = evolve(claim, allocation=None, reserved_for=())
                cache = world.claim_cache.put(key, CachedClaim(before, before))
                world = evolve(world, claim_cache=cache)
        return world

    return relinquish


F61 = fault(
    "F-61",
    "undo-restores-an-older-claim",
    "T3",
    "Undoing a member with a pending note puts the remembered, unallocated copy of its claim back into the cache.",
    caught_by="version monotone, quiescence, exact undo",
    wrong="the cache says 'not allocated', the API says 'allocated': every further attempt ends in a conflict",
    right="no pending note for an allocated claim; the cached version never goes back",
    seen_in="Kubernetes, issue of July 2026 (kubernetes/kubernetes#140263)",
    relinquish=_remembered_copy,
)

F62 = fault(
    "F-62",
    "pending-reach-ignored",
    "T3",
    "A member that uses a pending allocation is not limited to the nodes from which the device can be reached.",
    caught_by="placement rules, capacity",
    wrong="a on n1, b on n2, where the device is not",
    right="b is limited to n1, which is full; nothing is bound",
    seen_in="Kubernetes, issue of June 2026 (kubernetes/kubernetes#140087)",
    place=wherever_there_is_room,
    room=whatever_came_meanwhile,
)


def _pending_draws_nothing(seen: SeenClaims) -> SeenClaims:
    pending = {
        id
        for slot, entry in seen.in_flight.items()
        if slot not in seen.before
        for id in entry.allocation.exclusive
    }
    slices = (
        evolve(
            part,
            devices=tuple(
                evolve(device, draws=Table())
                if f"{part.driver}/{part.pool}/{device.name}" in pending
                else device
                for device in part.devices
            ),
        )
        for part in seen.slices.values()
    )
    return evolve(seen, slices=Table((part.key, part) for part in slices))


def _uncounted(old: PlaceStep) -> PlaceStep:
    return _seeing(_pending_draws_nothing, old)


def _hold_uncounted(old: HoldStep) -> HoldStep:
    def hold(wanted: Wanted, pod: Pod, node: Node, group: PodGroup | None) -> Table[Hold]:
        return old(evolve(wanted, seen=_pending_draws_nothing(wanted.seen)), pod, node, group)

    return hold


F64 = fault(
    "F-64",
    "shared-counter-charged-once",
    "T3",
    "Parts of one device draw on a common counter; a part that a sibling took in the same cycle is not charged.",
    caught_by="capacity",
    wrong="both parts are handed out: 3 of 2",
    right="b finds no part; the group is unschedulable",
    seen_in="Kubernetes, mid 2026 (kubernetes/kubernetes#139040)",
    place=_uncounted,
    hold=_hold_uncounted,
)


def _kept(_: ReserveStep) -> ReserveStep:
    def unreserve(in_flight: Table[InFlight], holds: Table[Hold]) -> Table[InFlight]:
        return in_flight

    return unreserve


F67 = fault(
    "F-67",
    "simulated-device-survives-undo",
    "T3",
    "Undo returns CPU, but not the device that a member of a failed group had been given.",
    caught_by="exact undo, quiescence",
    wrong="the device stays with a; x is refused",
    right="trial and undo leave claims and devices as they were",
    seen_in="KAI-Scheduler, fixed in February and March 2026 (kai-scheduler/KAI-Scheduler#1168, "
    "kai-scheduler/KAI-Scheduler#982)",
    unreserve=_kept,
)


def _taken_and_unknown(seen: SeenClaims) -> SeenClaims:
    """The devices in flight are taken, and nobody knows that the own claim has them."""
    return evolve(seen, in_flight=Table({f"{slot}?": entry for slot, entry in seen.in_flight.items()}))


def _charged_again(old: PlaceStep) -> PlaceStep:
    return _seeing(_taken_and_unknown, old)


F69 = fault(
    "F-69",
    "shared-claim-charged-per-member",
    "T3",
    "The device of a shared claim is charged once for each member.",
    caught_by="capacity, reservedFor sharing, quiescence",
    wrong="free devices drop below zero and p2 is refused",
    right="one claim, one charge, one entry in reservedFor",
    seen_in="KAI-Scheduler, fixed in July 2026 (kai-scheduler/KAI-Scheduler#1930)",
    place=_charged_again,
)


def _for_each_member(old: PodClaimsStep) -> PodClaimsStep:
    def claims_of_pod(rules: Rules, world: World, pod: Pod) -> World:
        settings = world.settings
        unaware = evolve(settings, skewed=("claim-controller", *settings.skewed))
        after = old(rules, evolve(world, settings=unaware), pod)
        return evolve(after, settings=settings)

    return claims_of_pod


F77 = fault(
    "F-77",
    "claim-made-per-member",
    "T5",
    "The claim controller does not know claims of groups, and makes one from the template for each member.",
    caught_by="reservedFor sharing, ownership and GC",
    wrong="two claims, owned by a and b, two devices",
    right="one claim, owned by the group; none at all while the controller cannot know",
    seen_in="Kubernetes, April 2026 (kubernetes/kubernetes#138363)",
    claims_of_pod=_for_each_member,
)


def _ended_by_the_first(old: GroupClaimsStep) -> GroupClaimsStep:
    def claims_of_group(rules: Rules, world: World, group: PodGroup) -> World:
        first = next((e for e in group.resource_claims if e.resource_claim_template_name), None)
        named = group.resource_claim_statuses.get(first.name) if first is not None else None
        return world if f"{group.namespace}/{named}" in world.claims else old(rules, world, group)

    return claims_of_group


F78 = fault(
    "F-78",
    "first-entry-ends-the-loop",
    "T5",
    "That there is nothing to do for the first claim entry of a group ends the work for the group.",
    caught_by="ownership and GC, quiescence",
    wrong="no claim for the second entry; the group waits for good",
    right="each entry is looked at",
    seen_in="Kubernetes, review of April 2026 (kubernetes/kubernetes#138363)",
    claims_of_group=_ended_by_the_first,
)

FAULTS: tuple[Fault, ...] = (F58, F59, F60, F61, F62, F64, F67, F69, F77, F78)
