"""What can be evicted: single pods, and groups that go as a whole (PREEMPT-20, 21, 24, 48).

In *intended* every grouped pod has its group's strength, and the preemptor's own members are never
candidates (DEV-30, DEV-31).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice, permutations, product

from attrs import frozen

from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Pod
from gangproof.impl.strength import strength
from gangproof.impl.table import Table
from gangproof.impl.world import World

MOST_ORDERS = 24
"""How many orders of equally important units are told apart at most: those of four."""


@frozen(cache_hash=True)
class Unit:
    """Pods that are evicted together or not at all, each with its node; sorted by name."""

    pods: tuple[tuple[str, str], ...]
    priority: int
    group: str | None
    started: float

    @property
    def grouped(self) -> bool:
        """Whether it counts as a group in the order of importance (PREEMPT-24)."""
        return self.group is not None

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(pod for pod, _ in self.pods)


def weaker_units(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
    """The units strictly weaker than the preemptor, its own group's members left out (PREEMPT-20, PREEMPT-21)."""
    units = units_on(world, nodes, lambda pod: strength(world, pod), lambda pod: goes_whole(world, pod))
    mine, own = strength(world, preemptor), preemptor.group
    return [unit for unit in units if unit.priority < mine and (own is None or unit.group != own)]


def goes_whole(world: World, pod: Pod) -> bool:
    """Whether the pod's group is disrupted as a whole (API-37); without the gate nobody's is (API-53)."""
    group = world.groups.get(pod.group) if pod.group is not None else None
    aware = world.settings.gates.workload_aware_preemption
    return aware and group is not None and group.disruption_mode == "PodGroup"


def units_on(
    world: World, nodes: Table[NodeInfo], judged: Callable[[Pod], int], whole: Callable[[Pod], bool]
) -> list[Unit]:
    """All pods on the nodes as units, each with the priority by which it is judged; sorted."""
    groups: dict[str, list[tuple[Pod, str]]] = {}
    units: list[Unit] = []
    for name, info in nodes.items():
        for pod in info.pods.values():
            if pod.group is not None and whole(pod):
                groups.setdefault(pod.group, []).append((pod, name))
            else:
                units.append(_unit([(pod, name)], judged))
    units.extend(_unit(members, judged) for members in groups.values())
    return sorted(units, key=lambda unit: unit.pods)


def _unit(members: Sequence[tuple[Pod, str]], judged: Callable[[Pod], int]) -> Unit:
    return Unit(
        pods=tuple(sorted((pod.key, node) for pod, node in members)),
        priority=judged(members[0][0]),
        group=members[0][0].group,
        started=min(start(pod) for pod, _ in members),
    )


def start(pod: Pod) -> float:
    """When the pod started; one that has not started counts as *now*, later than all (PREEMPT-24)."""
    return float("inf") if pod.start_time is None else float(pod.start_time)


Rank = Callable[[Unit], tuple[float, ...]]


def importance(unit: Unit) -> tuple[float, ...]:
    """The rank of a unit for the group step, most important first (PREEMPT-24)."""
    size = -len(unit.pods) if unit.grouped else 0
    return (-unit.priority, not unit.grouped, size, unit.started)


def by_priority_and_start(unit: Unit) -> tuple[float, ...]:
    """The rank of a unit for the step of a single pod, most important first (PREEMPT-46)."""
    return (-unit.priority, unit.started)


def orders(units: Iterable[Unit], rank: Rank) -> Iterator[tuple[Unit, ...]]:
    """The units by rank, most important first, in every order of those that rank the same (CHO-08).

    Of more than MOST_ORDERS orders some are given.
    """
    ordered = sorted(units, key=lambda unit: (rank(unit), unit.pods))
    ties = (islice(_arrangements(tuple(same)), MOST_ORDERS) for _, same in groupby(ordered, key=rank))
    ways = product(*ties)
    for way in islice(ways, MOST_ORDERS):
        yield tuple(unit for tie in way for unit in tie)


def all_told(units: Iterable[Unit], rank: Rank) -> bool:
    """Whether `orders` gives every order of these units."""
    ways = 1
    for _, same in groupby(sorted(units, key=rank), key=rank):
        for place, _ in enumerate(same, 1):
            ways *= place
            if ways > MOST_ORDERS:
                return False
    return True


def _arrangements(same: tuple[Unit, ...]) -> Iterator[tuple[Unit, ...]]:
    """All orders of few units; of many, those that give every place to every unit, in turn and in reverse."""
    if next(islice(permutations(same), MOST_ORDERS, None), None) is None:
        yield from permutations(same)
        return
    for way in (same, same[::-1]):
        for start in range(len(way)):
            yield way[start:] + way[:start]
