"""Which devices some claims would get on a node: the first full solution, in the order of names (CLAIM-12).

Pools are tried in the order of driver and name, their slices by name, devices as they stand there; one claim after
the other, one request after the other, and back again where it leads nowhere. So the answer is one, and depends on
nothing but what is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from functools import lru_cache

from attrs import define, field, frozen

from gangproof.impl.claims.cel import matches
from gangproof.impl.claims.cel_meaning import BeyondCelError, CelError, MalformedCelError
from gangproof.impl.objects import Node, NodeSelectorTerm, Requirement
from gangproof.impl.objects.claim import (
    AllocatedDevice,
    Allocation,
    DeviceRequest,
    ResourceClaim,
)
from gangproof.impl.objects.device import Device, DeviceClass, DeviceTaint, Reach, ResourceSlice
from gangproof.impl.objects.node import NAME_FIELD, node_term_matches
from gangproof.impl.table import Table

MOST_DEVICES = 32
"""How many devices one claim may be given."""
MOST_STEPS = 20_000

Slices = Table[ResourceSlice]


class AllocationError(Exception):
    """What makes the whole attempt fail, on whatever node it was met: the text says what."""


class BeyondAllocationError(Exception):
    """The answer needs what is not modelled; the text says what."""


@frozen
class Offered:
    """A device that a node can use: where it comes from, and its pool."""

    device: Device
    slice: ResourceSlice

    @property
    def id(self) -> str:
        return f"{self.slice.driver}/{self.slice.pool}/{self.device.name}"

    @property
    def pool(self) -> str:
        return f"{self.slice.driver}/{self.slice.pool}"


@frozen
class Offer:
    """What a node can use: devices in their order, and pools of which nobody can say what they hold."""

    devices: tuple[Offered, ...]
    unusable: tuple[str, ...]
    counters: Mapping[str, Mapping[str, Fraction]]
    draws: Mapping[str, Mapping[str, Mapping[str, Fraction]]]


@frozen
class _Index:
    local: Mapping[str, tuple[ResourceSlice, ...]]
    shared: tuple[ResourceSlice, ...]
    pools: Mapping[str, tuple[ResourceSlice, ...]]


@lru_cache(maxsize=64)
def _index(slices: Slices) -> _Index:
    local: dict[str, list[ResourceSlice]] = {}
    shared: list[ResourceSlice] = []
    pools: dict[str, list[ResourceSlice]] = {}
    for each in slices.values():
        pools.setdefault(f"{each.driver}/{each.pool}", []).append(each)
        if each.reach.node is not None and not each.counters:
            local.setdefault(each.reach.node, []).append(each)
        else:
            shared.append(each)
    return _Index(
        {name: tuple(found) for name, found in local.items()},
        tuple(shared),
        {name: tuple(found) for name, found in pools.items()},
    )


def reaches(reach: Reach, node: Node) -> bool:
    """Whether the node can use what has this reach."""
    if reach.node is not None:
        return reach.node == node.name
    return reach.everywhere or (reach.selector is not None and node_term_matches(reach.selector, node))


@lru_cache(maxsize=1 << 14)
def offer(slices: Slices, node: Node) -> Offer:
    """Everything that the slices offer to the node: of each pool its newest slices, if they are all there."""
    index = _index(slices)
    relevant: dict[str, list[ResourceSlice]] = {}
    for each in (*index.local.get(node.name, ()), *index.shared):
        if not (each.counters or reaches(each.reach, node) or _some_reach(each, node)):
            continue
        pool = relevant.setdefault(f"{each.driver}/{each.pool}", [])
        if pool and each.generation > pool[0].generation:
            pool.clear()
        if not pool or each.generation == pool[0].generation:
            pool.append(each)
    devices: list[Offered] = []
    unusable: list[str] = []
    counters: dict[str, Mapping[str, Fraction]] = {}
    draws: dict[str, Mapping[str, Mapping[str, Fraction]]] = {}
    for name, pool in sorted(relevant.items(), key=lambda item: (item[1][0].driver, item[1][0].pool)):
        newest = max(each.generation for each in index.pools[name])
        if len(pool) < pool[0].slice_count and newest > pool[0].generation:
            continue
        whole = [each for each in index.pools[name] if each.generation == pool[0].generation]
        here = [
            Offered(device, each) for each in sorted(pool, key=lambda s: s.name) for device in each.devices
        ]
        counters[name] = {key: amount for each in pool for key, amount in each.counters.items()}
        draws[name] = {
            f"{name}/{device.name}": device.draws for each in whole for device in each.devices if device.draws
        }
        if len(whole) != pool[0].slice_count or not _valid(here, whole, counters[name]):
            unusable.append(name)
            continue
        devices.extend(o for o in here if o.device.reach is None or reaches(o.device.reach, node))
    return Offer(tuple(devices), tuple(unusable), counters, draws)


def _some_reach(each: ResourceSlice, node: Node) -> bool:
    return any(device.reach is not None and reaches(device.reach, node) for device in each.devices)


def _valid(here: Sequence[Offered], whole: Sequence[ResourceSlice], counters: Mapping[str, Fraction]) -> bool:
    names = [offered.device.name for offered in here]
    known = all(key in counters for each in whole for device in each.devices for key in device.draws)
    return len(set(names)) == len(names) and known


def allocate(
    claims: Sequence[ResourceClaim],
    node: Node,
    slices: Slices,
    classes: Table[DeviceClass],
    in_use: Set[str],
) -> tuple[Allocation, ...] | None:
    """An allocation for each of the claims, whose classes exist; None if the node has not devices for all of them.

    Raises AllocationError and BeyondAllocationError.
    """
    search = _Search(claims, offer(slices, node), classes, in_use, node.name)
    try:
        return search.result() if search.claim(0) else None
    except MalformedCelError as error:
        raise AllocationError(f"CEL compile error: an expression {error}") from None
    except CelError as error:
        raise AllocationError(f"CEL runtime error: {error}") from None
    except BeyondCelError as error:
        raise BeyondAllocationError(f"CEL selectors with {error}") from None


@define
class _Search:
    """The devices chosen so far: those of each claim, what they draw, and how long it took."""

    claims: Sequence[ResourceClaim]
    offer: Offer
    classes: Table[DeviceClass]
    in_use: Set[str]
    node: str
    chosen: list[list[tuple[DeviceRequest, Offered]]] = field(
        factory=lambda: list[list[tuple[DeviceRequest, Offered]]]()
    )
    taken: set[str] = field(factory=set[str])
    steps: int = 0

    def claim(self, number: int) -> bool:
        if number == len(self.claims):
            return True
        self.chosen.append([])
        if self.request(number, 0):
            return True
        self.chosen.pop()
        return False

    def request(self, number: int, place: int) -> bool:
        requests = self.claims[number].spec.requests
        if place == len(requests):
            return self.claim(number + 1)
        asked = requests[place]
        if asked.count is not None:
            return self.some(number, place, asked.count, 0)
        if self.offer.unusable:
            pool = self.offer.unusable[0]
            raise AllocationError(
                f"request {asked.name} asks for all devices, but pool {pool} is not complete"
            )
        wanted = [offered for offered in self.offer.devices if self.selected(asked, offered)]
        if not wanted or len(self.chosen[number]) + len(wanted) > MOST_DEVICES:
            return False
        taken = 0
        for offered in wanted:
            if not self.available(number, asked, offered):
                break
            if not self.alike(number, asked, offered):
                raise AllocationError(
                    f"request {asked.name} asks for all devices, and {offered.id} is unlike"
                )
            self.take(number, asked, offered)
            taken += 1
        if taken == len(wanted) and self.request(number, place + 1):
            return True
        for _ in range(taken):
            self.put_back(number)
        return False

    def some(self, number: int, place: int, missing: int, start: int) -> bool:
        """So many more devices for the request, from the place in the offer on: each combination once."""
        asked = self.claims[number].spec.requests[place]
        if not missing:
            return self.request(number, place + 1)
        if len(self.chosen[number]) + missing > MOST_DEVICES:
            return False
        for index in range(start, len(self.offer.devices)):
            offered = self.offer.devices[index]
            if not self.free(number, asked, offered) or not self.selected(asked, offered):
                continue
            if self.available(number, asked, offered) and self.alike(number, asked, offered):
                self.take(number, asked, offered)
                if self.some(number, place, missing - 1, index + 1):
                    return True
                self.put_back(number)
        return False

    def free(self, number: int, asked: DeviceRequest, offered: Offered) -> bool:
        if asked.admin_access:
            return all(other.id != offered.id for _, other in self.chosen[number])
        return offered.id not in self.in_use and offered.id not in self.taken

    def selected(self, asked: DeviceRequest, offered: Offered) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise BeyondAllocationError("a search for devices that does not end soon")
        selectors = (*self.classes[asked.device_class].selectors, *asked.selectors)
        return all(matches(selector, offered.slice.driver, offered.device) for selector in selectors)

    def available(self, number: int, asked: DeviceRequest, offered: Offered) -> bool:
        """Whether nobody has the device, its counters suffice, and the request tolerates its taints."""
        tolerated = all(_tolerated(asked, taint) for taint in offered.device.taints)
        return tolerated and self.free(number, asked, offered) and self.counted(offered)

    def take(self, number: int, asked: DeviceRequest, offered: Offered) -> None:
        self.chosen[number].append((asked, offered))
        if not asked.admin_access:
            self.taken.add(offered.id)

    def put_back(self, number: int) -> None:
        asked, offered = self.chosen[number].pop()
        if not asked.admin_access:
            self.taken.discard(offered.id)

    def counted(self, offered: Offered) -> bool:
        """Whether the counters of the pool suffice for the device beside all that draw on them."""
        if not offered.device.draws:
            return True
        mine = [other for chosen in self.chosen for _, other in chosen if other.pool == offered.pool]
        drawn: dict[str, Fraction] = {}
        allocated = (draws for id, draws in self.offer.draws[offered.pool].items() if id in self.in_use)
        for draws in (*allocated, *(other.device.draws for other in mine), offered.device.draws):
            for counter, amount in draws.items():
                drawn[counter] = drawn.get(counter, Fraction()) + amount
        whole = self.offer.counters[offered.pool]
        return all(amount <= whole[counter] for counter, amount in drawn.items())

    def alike(self, number: int, asked: DeviceRequest, offered: Offered) -> bool:
        """Whether the device has the attributes that the claim's constraints ask to be the same."""
        for constraint in self.claims[number].spec.constraints:
            if constraint.requests and asked.name not in constraint.requests:
                continue
            value = offered.device.attributes.get(constraint.attribute)
            others = [
                other.device.attributes.get(constraint.attribute)
                for request, other in self.chosen[number]
                if not constraint.requests or request.name in constraint.requests
            ]
            if value is None or any(type(other) is not type(value) or other != value for other in others):
                return False
        return True

    def result(self) -> tuple[Allocation, ...]:
        return tuple(
            Allocation(
                tuple(
                    AllocatedDevice(
                        asked.name, o.slice.driver, o.slice.pool, o.device.name, asked.admin_access
                    )
                    for asked, o in chosen
                ),
                _nodes([offered for _, offered in chosen], self.node),
            )
            for chosen in self.chosen
        )


def _tolerated(asked: DeviceRequest, taint: DeviceTaint) -> bool:
    return taint.effect == "None" or any(
        t.effect in ("", taint.effect)
        and t.key in ("", taint.key)
        and (t.operator == "Exists" or t.value == taint.value)
        for t in asked.tolerations
    )


def _nodes(chosen: Sequence[Offered], node: str) -> NodeSelectorTerm | None:
    """From where all these devices can be reached: the node alone as soon as one is local to it."""
    reaches = [o.device.reach or o.slice.reach for o in chosen]
    if any(reach.node is not None for reach in reaches):
        return named(node)
    terms = [reach.selector for reach in reaches if reach.selector is not None]
    expressions = tuple(dict.fromkeys(wanted for term in terms for wanted in term.expressions))
    fields = tuple(dict.fromkeys(wanted for term in terms for wanted in term.fields))
    return NodeSelectorTerm(expressions, fields) if expressions or fields else None


def named(node: str) -> NodeSelectorTerm:
    """What selects just this node."""
    return NodeSelectorTerm(fields=(Requirement(NAME_FIELD, "In", (node,)),))


def overdrawn(slices: Slices, in_use: Set[str]) -> Iterator[str]:
    """The counters of which the allocated devices draw more than there is, as `driver/pool/set/counter` (INV-25)."""
    for pool, parts in _index(slices).pools.items():
        newest = max(each.generation for each in parts)
        drawn: dict[str, Fraction] = {}
        whole: dict[str, Fraction] = {}
        for each in parts:
            if each.generation == newest:
                whole.update(each.counters)
                for device in each.devices:
                    if f"{pool}/{device.name}" in in_use:
                        for counter, amount in device.draws.items():
                            drawn[counter] = drawn.get(counter, Fraction()) + amount
        yield from (
            f"{pool}/{counter}"
            for counter, amount in sorted(drawn.items())
            if amount > whole.get(counter, amount)
        )
