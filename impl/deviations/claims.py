"""Deviations in claims: what their plugin and their controller do otherwise, mostly where members share one."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from gangproof.impl.claims.references import consumer, made_for
from gangproof.impl.controllers.claims import reserved_for_bound
from gangproof.impl.cycle_state import Cycle, Event, Snapshot
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.filters.devices import Wanted, allocations, devices_in_use, seen_claims
from gangproof.impl.filters.nodes import Rejection
from gangproof.impl.memory import CachedClaim, Entry, Hold, InFlight
from gangproof.impl.objects import Node, Pod, PodGroup, ResourceClaim
from gangproof.impl.queue import notice
from gangproof.impl.rules import Change, Rules
from gangproof.impl.steps import (
    ConcludeStep,
    FreeStep,
    HoldStep,
    Placement,
    PlaceStep,
    PodClaimsStep,
    ReadyStep,
    RecordStep,
    RelinquishStep,
    TallyStep,
    WriteStep,
)
from gangproof.impl.store import stored
from gangproof.impl.table import Table
from gangproof.impl.world import World

NOTHING: Table[InFlight] = Table()


def of_this_pass_only(_: RecordStep) -> RecordStep:
    """The status is applied with what was found or made in this pass; other entries fall out of it (CLAIM-04)."""

    def record_claims(kept: dict[str, str], found: dict[str, str]) -> dict[str, str]:
        return found

    return record_claims


def crashing(old: ReadyStep) -> ReadyStep:
    """While a plain pod names a generated claim of somebody else, the scheduler crashes at every start (CLAIM-11)."""

    def ready(world: World) -> Entry | None:
        return None if any(names_a_foreign_claim(world, pod) for pod in world.pods.values()) else old(world)

    return ready


def names_a_foreign_claim(world: World, pod: Pod) -> bool:
    """Whether the gate of the pod fails over a claim that was made for somebody else, and cannot say for whom."""
    if pod.group is not None or pod.node_name is not None or not world.settings.shares_claims("scheduler"):
        return False
    named = (
        pod.resource_claim_statuses.get(entry.name)
        for entry in pod.resource_claims
        if entry.resource_claim_template_name is not None
    )
    claims = (world.claims.get(f"{pod.namespace}/{name}") for name in named if name)
    return any(claim is not None and not made_for(claim, pod, workload=True) for claim in claims)


def wherever_there_is_room(old: PlaceStep) -> PlaceStep:
    """Who reuses an allocation of its cycle is not asked whether its node reaches the devices (CLAIM-14)."""

    def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
        if cycle.snapshot is None or not pod.resource_claims:
            return old(rules, world, cycle, pod)
        seen = cycle.snapshot.claims
        chosen_here = {
            slot: evolve(entry, allocation=evolve(entry.allocation, nodes=None))
            for slot, entry in seen.in_flight.items()
            if slot not in seen.before
        }
        blind = evolve(seen, in_flight=Table({**seen.in_flight, **chosen_here}))
        return old(rules, world, evolve(cycle, snapshot=evolve(cycle.snapshot, claims=blind)), pod)

    return place


def exchanged(old: HoldStep) -> HoldStep:
    """New allocations stand before reused ones, and are handed out in the order of the claims (CLAIM-19)."""

    def hold(wanted: Wanted, pod: Pod, node: Node, group: PodGroup | None) -> Table[Hold]:
        holds = old(wanted, pod, node, group)
        if not wanted.unmet or not wanted.reused:
            return holds
        new = allocations(wanted, node)
        if isinstance(new, Rejection):
            return holds
        in_order = dict.fromkeys(claim.key for _, claim in wanted.claims if claim.allocation is None)
        reused = (wanted.reused[key] for key in in_order if key in wanted.reused)
        for key, allocation in zip(in_order, (*new, *reused), strict=False):
            if key in holds:
                holds = holds.put(key, evolve(holds[key], allocation=allocation))
        return holds

    return hold


def shifted(old: HoldStep) -> HoldStep:
    """The n-th claim is reserved for whom the n-th entry says, though some entries have no claim (CLAIM-20)."""

    def hold(wanted: Wanted, pod: Pod, node: Node, group: PodGroup | None) -> Table[Hold]:
        holds = old(wanted, pod, node, group)
        if not wanted.seen.workload:
            return holds
        for (_, claim), entry in zip(wanted.claims, pod.resource_claims, strict=False):
            if claim.key in holds:
                holds = holds.put(claim.key, evolve(holds[claim.key], consumer=consumer(pod, group, entry)))
        return holds

    return hold


def whoever_was_faster(old: WriteStep) -> WriteStep:
    """A claim that has an allocation or the entry by now is somebody else's, or a sibling's (CLAIM-23, CLAIM-25)."""

    def write(rules: Rules, world: World, pod: Pod, key: str, held: Hold) -> World | None:
        claim: ResourceClaim | None = stored(world, "claim").get(key)
        if claim is not None and (
            (held.allocation is not None and claim.allocation is not None)
            or held.consumer in claim.reserved_for
        ):
            return None
        return old(rules, world, pod, key, held)

    return write


def counted_off_again(_: ConcludeStep) -> ConcludeStep:
    """What was written is in flight no more, whoever reckons with it; who failed is counted off here too (CLAIM-24)."""

    def conclude(in_flight: Table[InFlight], held: Hold, ok: bool) -> Table[InFlight]:
        entry = in_flight.get(held.slot) if held.allocation is not None else None
        if entry is None:
            return in_flight
        left = 0 if ok else entry.sharers - 1
        return in_flight.put(held.slot, evolve(entry, sharers=left)) if left else in_flight.drop(held.slot)

    return conclude


def at_once(old: FreeStep) -> FreeStep:
    """What a member without a place asks to be let go is let go before the verdict, for each anew (CYCLE-24).

    The members after it may see that, or not yet.
    """

    def free(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[tuple[World, bool], ...]:
        return tuple(
            (after, ends) for asked, ends in old(rules, world, cycle, pod) for after in _let_go(rules, asked)
        )

    return free


def _let_go(rules: Rules, asked: World) -> tuple[World, ...]:
    if asked.cycle is None or not asked.cycle.freeing:
        return (asked,)
    after = rules.let_go(rules, asked, asked.cycle)
    cycle = evolve(after.cycle or asked.cycle, freeing=())
    unseen = evolve(after, cycle=cycle)
    if after.claims == asked.claims:
        return (unseen,)
    claims = {key: after.claims[key] for key, _ in asked.cycle.freeing if key in after.claims}
    seen = evolve(cycle, taken=_seeing(cycle.taken, claims), snapshot=_seeing(cycle.snapshot, claims))
    return (unseen, evolve(after, cycle=seen))


def _seeing(snapshot: Snapshot | None, claims: Mapping[str, ResourceClaim]) -> Snapshot | None:
    """The snapshot with these versions of claims: a cycle looks at claims as they are, not as they were."""
    if snapshot is None:
        return None
    seen = evolve(snapshot.claims, claims=Table({**snapshot.claims.claims, **claims}))
    return evolve(snapshot, claims=seen)


def assumed_first(old: WriteStep) -> WriteStep:
    """What PreBind wrote is put into the cache, which then takes the informer's copy of it for old (CLAIM-17)."""

    def write(rules: Rules, world: World, pod: Pod, key: str, held: Hold) -> World | None:
        written = old(rules, world, pod, key, held)
        if written is None or key not in world.claims or key not in written.claims:
            return written
        cached = world.claim_cache.get(key)
        accepted = cached.accepted if cached is not None else world.claims[key]
        cache = written.claim_cache.put(key, CachedClaim(written.claims[key], accepted))
        return evolve(written, claim_cache=cache)

    return write


def in_a_set(_: TallyStep) -> TallyStep:
    """Allocated devices are kept in a set: whoever lets one go takes it out for all that have it (CLAIM-12)."""

    def tally(world: World, old: ResourceClaim | None, new: ResourceClaim | None) -> World:
        before, after = (
            set(c.allocation.exclusive) if c and c.allocation else set[str]() for c in (old, new)
        )
        gone, come = (before if not after else set[str]()), (after if not before else set[str]())
        had = devices_in_use(seen_claims(world).claims, NOTHING)
        uncounted = {*world.uncounted, *gone} - come
        return evolve(world, uncounted=tuple(sorted(uncounted & had)))

    return tally


def restored(old: RelinquishStep) -> RelinquishStep:
    """With the last sharer the cache goes back to the version that it took over last, however old (CLAIM-17)."""

    def relinquish(rules: Rules, world: World, pod: Pod | None, holds: Table[Hold]) -> World:
        left = rules.unreserve(world.claims_in_flight, holds)
        over = [
            key for key, held in holds.items() if held.slot in world.claims_in_flight.keys() - left.keys()
        ]
        world = old(rules, world, pod, holds)
        for key in over:
            cached = world.claim_cache.get(key)
            if cached is None or cached.latest == cached.accepted:
                continue
            back = CachedClaim(cached.accepted, cached.accepted)
            world = evolve(world, claim_cache=world.claim_cache.put(key, back))
            world = rules.tally(world, cached.latest, cached.accepted)
            world = notice(rules, world, Event("ClaimFreed", claim=key))
        return world

    return relinquish


def for_whoever_has_ended(old: PodClaimsStep) -> PodClaimsStep:
    """A bound pod that has ended is taken for one whose claims nobody has reserved yet (CLAIM-33)."""

    def claims_of_pod(rules: Rules, world: World, pod: Pod) -> World:
        if pod.terminal and not pod.terminating and pod.node_name is not None:
            return reserved_for_bound(rules, world, pod)
        return old(rules, world, pod)

    return claims_of_pod


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-39",
            "a pass of the claim controller names only the claims that it found or made itself, and drops the others",
            {"record_claims": of_this_pass_only},
        ),
        promise="the status lists all generated claims",
        intended="every pass names all entries whose claims exist",
        breaks=("INV-22", "LIVE-10"),
        rules=("CLAIM-04",),
        scenario="DEV-39-shipped",
    ),
    Deviation(
        Change(
            "DEV-40",
            "a plain pod that names a generated claim of somebody else brings the scheduler down",
            {"ready": crashing},
        ),
        promise="a claim of somebody else is an error of the pod",
        intended="the pod is gated with the message, and nothing crashes",
        breaks=("LIVE-03", "LIVE-08"),
        rules=("CLAIM-11",),
    ),
    Deviation(
        Change(
            "DEV-41",
            "a member that reuses an allocation of its cycle may go where the devices cannot be reached",
            {"place": wherever_there_is_room},
        ),
        promise="the node of a pod reaches its devices",
        intended="who reuses an allocation goes where its devices can be reached",
        breaks=("INV-06", "INV-26"),
        rules=("CLAIM-13", "CLAIM-14"),
        scenario="DEV-41-shipped",
    ),
    Deviation(
        Change(
            "DEV-42",
            "a reused and a new allocation of one member are written into each other's claims",
            {"hold": exchanged},
        ),
        promise="an allocation belongs to its claim",
        intended="each claim is written with the devices that were chosen for it",
        breaks=("INV-23", "INV-25"),
        rules=("CLAIM-19",),
        scenario="DEV-42-shipped",
    ),
    Deviation(
        Change(
            "DEV-43",
            "after an entry that needs no claim, claims are reserved for whom the entry before them says",
            {"hold": shifted},
        ),
        promise="a claim of the group is reserved for the group",
        intended="each claim is reserved for whom its own entry says",
        breaks=("INV-27",),
        rules=("CLAIM-20", "CLAIM-22"),
    ),
    Deviation(
        Change(
            "DEV-44",
            "who finds its claim written by a sibling fails and is tried again in a later cycle",
            {"write": whoever_was_faster},
        ),
        promise="sharers of a claim are bound together",
        intended="a claim with the same allocation, or reserved for the group, is as good as written",
        breaks=("INV-03",),
        rules=("CLAIM-23", "CLAIM-25"),
        scenario="DEV-44-shipped",
    ),
    Deviation(
        Change(
            "DEV-45",
            "a sharer whose PreBind fails is counted off twice, and one that writes takes the entry away for all",
            {"conclude": counted_off_again},
        ),
        promise="one pod is counted off for each that reserved",
        intended="an entry in flight lives until its last sharer has finished",
        breaks=("INV-23", "INV-25"),
        rules=("CLAIM-24",),
        scenario="DEV-45-shipped",
    ),
    Deviation(
        Change(
            "DEV-50",
            "claims are let go by each member that finds no place, before the verdict is there",
            {"free": at_once},
        ),
        promise="a cycle that decides nothing changes nothing",
        intended="what members ask to be let go waits for the verdict, and is let go once",
        breaks=("INV-07", "INV-27"),
        rules=("CLAIM-27", "CLAIM-28", "CYCLE-24"),
    ),
    Deviation(
        Change(
            "DEV-54",
            "the last of the sharers that come late puts an old version of their claim back into the cache",
            {"write": assumed_first, "relinquish": restored},
        ),
        promise="sharers of a claim are bound in later cycles",
        intended="the cache never goes back to a version older than the newest one that it has seen",
        breaks=("INV-24", "LIVE-04", "LIVE-14"),
        rules=("CLAIM-17", "CLAIM-23"),
        race=True,
        scenario="DEV-54-shipped",
    ),
    Deviation(
        Change(
            "DEV-60",
            "of two claims that have one device the first to let it go makes it count as free",
            {"tally": in_a_set},
        ),
        promise="an allocated device is given to nobody else",
        intended="a device counts as taken as long as some claim has it",
        breaks=("INV-25",),
        rules=("CLAIM-12",),
        scenario="DEV-60-shipped",
    ),
    Deviation(
        Change(
            "DEV-61",
            "the claim controller reserves for a pod that has ended what others still use, and takes it back, for ever",
            {"claims_of_pod": for_whoever_has_ended},
        ),
        promise="a pod that has ended uses no claim",
        intended="only for a bound pod that has not ended the controller enters what the scheduler did not",
        breaks=("LIVE-14",),
        rules=("CLAIM-30", "CLAIM-33"),
        scenario="DEV-61-shipped",
    ),
)
