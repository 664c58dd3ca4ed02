"""What is said of claims and devices without ages: their part of the reduced key of a world (see `symmetry`).

Claims keep their names, and so does every pod and every node that a claim or a slice names, but for pods that a claim
is reserved for: of these it is said. That finds fewer worlds alike than there are, and never one too many.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from attrs import evolve

from gangproof.impl.cycle_state import NO_CLAIMS, SeenClaims
from gangproof.impl.filters.devices import seen_claims
from gangproof.impl.gates import Object
from gangproof.impl.memory import Hold, InFlight
from gangproof.impl.objects import Consumer, ResourceClaim, ResourceSlice
from gangproof.impl.objects.claim import Owner
from gangproof.impl.store import OF_CLAIMS
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.symmetry.shapes import values_of


def names_in(obj: Object) -> Iterator[str]:
    """The pods and nodes that a claim or a slice names."""
    match obj:
        case ResourceClaim():
            users = (*obj.reserved_for, *filter(None, [obj.owner]))
            yield from (f"{obj.namespace}/{user.name}" for user in users if user.kind == "pod")
            if obj.allocation is not None and obj.allocation.nodes is not None:
                yield from values_of([obj.allocation.nodes])
        case ResourceSlice():
            reaches = [obj.reach, *(device.reach for device in obj.devices if device.reach is not None)]
            yield from (reach.node for reach in reaches if reach.node is not None)
            yield from values_of([reach.selector for reach in reaches if reach.selector is not None])
        case _:
            pass


def of_claims(world: World) -> bool:
    """Whether the world has anything to do with claims or devices."""
    stored = world.claims or world.claim_templates or world.device_classes or world.slices
    unseen = any(kind in world.control.log for kind in OF_CLAIMS)
    return bool(stored or unseen or world.claims_in_flight or world.claim_cache)


class ClaimShapes:
    """Claims of one world, as they are seen without ages."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.slots = {claim.slot: claim.key for claim in world.claims.values()}

    def names(self) -> Iterator[str]:
        """The pods and nodes that keep their names: claims, slices or allocations in flight name them."""
        world = self.world
        for claim in world.claims.values():
            yield from names_in(self.without_pods(claim))
        for each in world.slices.values():
            yield from names_in(each)
        for cached in world.claim_cache.values():
            yield from names_in(cached.latest)
            yield from names_in(cached.accepted)
        for pod, key, held in self.held_by_pods():
            if held.consumer.kind == "pod" and not self.its_own(pod, key, held):
                yield f"{key.partition('/')[0]}/{held.consumer.name}"
            yield from values_of([held.allocation.nodes] if held.allocation and held.allocation.nodes else ())
        for entry in world.claims_in_flight.values():
            yield from values_of([entry.allocation.nodes] if entry.allocation.nodes else ())

    def without_pods(self, claim: ResourceClaim) -> ResourceClaim:
        """The claim without entries for pods that are there."""
        left = [entry for entry in claim.reserved_for if not self.living(claim.namespace, entry)]
        return evolve(claim, reserved_for=left)

    def living(self, namespace: str, entry: Consumer) -> bool:
        """Whether the entry is for a pod that is there."""
        pod = self.world.pods.get(f"{namespace}/{entry.name}")
        return entry.kind == "pod" and pod is not None and pod.uid == entry.uid

    def reserved(self) -> Iterator[tuple[str, str]]:
        """The pods that claims are reserved for, each with the claim."""
        for key, claim in self.world.claims.items():
            for entry in claim.reserved_for:
                if self.living(claim.namespace, entry):
                    yield f"{claim.namespace}/{entry.name}", key

    def everything(self) -> Hashable:
        """All that the world has of claims and devices."""
        world = self.world
        return (
            tuple(self.claim(self.without_pods(claim)) for claim in world.claims.values()),
            tuple(evolve(template, uid=0) for template in world.claim_templates.values()),
            (world.device_classes, world.slices),
            (self.in_flight(world.claims_in_flight), world.uncounted),
            tuple(
                (self.claim(cached.latest), self.claim(cached.accepted))
                for cached in world.claim_cache.values()
            ),
        )

    def seen(self, seen: SeenClaims) -> Hashable:
        """What a cycle sees of them, as far as it is not just what is there now."""
        if seen is NO_CLAIMS or seen == seen_claims(self.world):
            return seen is NO_CLAIMS
        flying = (self.in_flight(seen.in_flight), self.in_flight(seen.before))
        claims = tuple(
            key if claim == self.world.claims.get(key) else self.claim(claim)
            for key, claim in seen.claims.items()
        )
        return claims, seen.classes, seen.slices, flying, seen.uncounted, seen.workload

    def names_seen(self, seen: SeenClaims) -> Iterator[str]:
        """The pods and nodes that keep their names because of what a cycle sees."""
        for key, claim in seen.claims.items():
            if claim != self.world.claims.get(key):
                yield from names_in(claim)
        for entry in (*seen.in_flight.values(), *seen.before.values()):
            yield from values_of([entry.allocation.nodes] if entry.allocation.nodes else ())

    def holds(self, pod: str, holds: Table[Hold]) -> Hashable:
        """What a pod has yet to write, for itself or for somebody else."""
        return tuple((key, self.held(pod, key, held)) for key, held in holds.items())

    def held(self, pod: str, claim: str, held: Hold) -> Hashable:
        user = self.its_own(pod, claim, held) or self.user(claim.partition("/")[0], held.consumer)
        return self.slot(held.slot), user, held.allocation

    def its_own(self, pod: str, claim: str, held: Hold) -> bool:
        """Whether what the pod has yet to write is an entry for itself."""
        namespace = claim.partition("/")[0]
        return self.living(namespace, held.consumer) and f"{namespace}/{held.consumer.name}" == pod

    def held_by_pods(self) -> Iterator[tuple[str, str, Hold]]:
        """All that pods have yet to write: of bindings, and of the results of a cycle."""
        for pod, binding in self.world.bindings.items():
            yield from ((pod, key, held) for key, held in binding.holds.items())
        for result in self.world.cycle.results if self.world.cycle is not None else ():
            yield from ((result.pod, key, held) for key, held in result.holds.items())

    def claim(self, claim: ResourceClaim) -> Hashable:
        """One version of a claim: whether it is the one that is there, and for whom it is."""
        users = tuple(self.user(claim.namespace, entry) for entry in claim.reserved_for)
        owner = None if claim.owner is None else (claim.owner.entry, self.user(claim.namespace, claim.owner))
        bare = evolve(claim, uid=0, reserved_for=(), owner=None)
        return bare, self.slot(claim.slot), users, owner

    def in_flight(self, in_flight: Mapping[str, InFlight]) -> Hashable:
        return tuple((self.slot(slot), entry) for slot, entry in in_flight.items())

    def slot(self, slot: str) -> str:
        """Which claim is meant: the one of that name that is there, or by its age another one."""
        return self.slots.get(slot, slot)

    def user(self, namespace: str, user: Consumer | Owner) -> Hashable:
        """Who is meant: whoever has the name now, or by its age somebody else."""
        key = f"{namespace}/{user.name}"
        there = (self.world.pods if user.kind == "pod" else self.world.groups).get(key)
        return user.kind, user.name, True if there is not None and there.uid == user.uid else user.uid
