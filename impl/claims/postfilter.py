"""PostFilter of DynamicResources: a claim that keeps a pod from every node may be let go (CLAIM-28, CLAIM-29).

First one that nobody uses, then the reservation of the pod's own group, if the group runs nowhere. In *intended* what
a cycle asks for is held until its verdict, and made once (DEV-50).
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.claims.binding import give_back
from gangproof.impl.claims.references import claim_name, reserved
from gangproof.impl.claims.store import cleared, store_claim
from gangproof.impl.cycle import refusal, running
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.filters import candidates, prepare
from gangproof.impl.filters.devices import allocations, unavailable
from gangproof.impl.filters.nodes import Rejection
from gangproof.impl.objects import Consumer, Pod, PodGroup, ResourceClaim
from gangproof.impl.placement import within
from gangproof.impl.rules import Rules
from gangproof.impl.store import stored
from gangproof.impl.world import World

WHOLE_GROUP = ""
"""Stands for the asker where it is the group whose reservation is to go."""


def free(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[tuple[World, bool], ...]:
    """What a pod without a place asks to be let go, and whether PostFilter ends with that (CLAIM-28).

    One answer for each claim that it may be (CHO-10); of the group's claims it is the first (CHO-13).
    """
    _, seen = running(world)
    prepared = prepare(pod, seen)
    wanted = prepared.claims
    if wanted is None or wanted.refused:
        return ((world, False),)
    blind = evolve(prepared, claims=None)
    nodes = {
        name: info.node
        for name, info in candidates(prepared, within(cycle, seen.nodes)).items()
        if info.node is not None and refusal(rules, world, blind, info) is None
    }
    nodes = {
        name: node for name, node in nodes.items() if not isinstance(allocations(wanted, node), Rejection)
    }
    idle = [claim for claim in unavailable(wanted, nodes) if unused(claim, pod)]
    if idle:
        return tuple((asked(world, claim.key, pod.key), False) for claim in idle)
    group = world.groups.get(pod.group or "")
    if not wanted.seen.workload or group is None or world.members_of(group.key).scheduled:
        return ((world, False),)
    for entry in group.resource_claims:
        claim = wanted.seen.claims.get(claim_name(group, entry) or "")
        if claim is None or claim.allocation is None or not reserved(claim, pod, workload=True):
            continue
        if _own(group, entry.resource_claim_name, claim):
            return ((asked(world, claim.key, WHOLE_GROUP), True),)
    return ((world, False),)


def _own(group: PodGroup, by_name: str | None, claim: ResourceClaim) -> bool:
    owner = claim.owner
    return by_name is not None or (owner is not None and owner.kind == "podGroup" and owner.uid == group.uid)


def unused(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether nobody has reserved the claim, or only the pod itself."""
    return not claim.reserved_for or (
        len(claim.reserved_for) == 1
        and claim.reserved_for[0].kind == "pod"
        and claim.reserved_for[0].uid == pod.uid
    )


def asked(world: World, claim: str, asker: str) -> World:
    """The world whose cycle asks for the claim to be let go, at its verdict, if it does not do so already."""
    cycle, _ = running(world)
    if any(other == claim for other, _ in cycle.freeing):
        return world
    return evolve(world, cycle=evolve(cycle, freeing=(*cycle.freeing, (claim, asker))))


def let_go(rules: Rules, world: World, cycle: Cycle) -> World:
    """The verdict is there: what the cycle asked to be let go is, as far as that still may be (CLAIM-28; DEV-50)."""
    for key, asker in cycle.freeing:
        world = let_one_go(rules, world, cycle, key, asker)
    return world


def let_one_go(rules: Rules, world: World, cycle: Cycle, key: str, asker: str) -> World:
    """An unused claim loses its allocation, if what is seen is what is stored; of a group that runs nowhere the
    reservation goes."""
    claim = world.claims.get(key)
    if claim is None or claim.allocation is None:
        return world
    if asker == WHOLE_GROUP:
        group = world.groups.get(cycle.group or "")
        if group is None or world.members_of(group.key).scheduled:
            return world
        return give_back(rules, world, claim, [Consumer("podGroup", group.name, group.uid)])
    member = next((pod for pod in cycle.members if pod.key == asker), None)
    if member is None or not unused(claim, member) or key in world.claim_cache:
        return world
    if stored(world, "claim").get(key) != claim:
        return world
    return store_claim(rules, world, cleared(claim))
