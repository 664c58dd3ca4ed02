"""Small crowded clusters: nodes on which weaker pods run, alone or as a unit, for those who would rather run there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, groupby

from attrs import evolve

from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.objects import Pod
from gangproof.impl.world import Settings
from gangproof.properties.theorems.theorem import Case
from gangproof.properties.worlds.named import gang, node, pod

AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
BY_MEMBERS = Settings()
GROUP, UNIT = "g1", "w"
STRONG = 5

Weak = tuple[int, int]
"""CPUs and priority of a weaker pod."""
Host = tuple[int, tuple[Weak, ...]]
"""A node: its CPUs and who runs there."""


def hosts(most: int, sizes: Iterable[int], priorities: Iterable[int]) -> list[Host]:
    """Every node of these sizes with up to `most` weaker pods of 1 or 2 CPUs on it, as far as they fit."""
    kinds = [(cpu, priority) for cpu in (1, 2) for priority in priorities]
    return [
        (size, weak)
        for size in sizes
        for number in range(most + 1)
        for weak in combinations_with_replacement(kinds, number)
        if sum(cpu for cpu, _ in weak) <= size
    ]


def clusters(most: int, kinds: list[Host]) -> Iterator[list[Object]]:
    """Every cluster of up to so many of these nodes, with at least one weaker pod."""
    for number in range(1, most + 1):
        for chosen in combinations_with_replacement(kinds, number):
            if any(weak for _, weak in chosen):
                yield list(_built(chosen))


def _built(chosen: tuple[Host, ...]) -> Iterator[Object]:
    running = 0
    for place, (size, weak) in enumerate(chosen, 1):
        yield node(f"n{place}", size)
        for cpu, priority in weak:
            running += 1
            yield pod(f"v{running}", node=f"n{place}", cpu=cpu, priority=priority)


def with_unit(cluster: list[Object]) -> list[Object] | None:
    """The cluster with the first two weaker pods of one priority as a group that goes as a whole; None without two."""
    weak = sorted((obj for obj in cluster if isinstance(obj, Pod)), key=lambda one: one.priority)
    for priority, alike in groupby(weak, key=lambda one: one.priority):
        two = list(alike)[:2]
        if len(two) == 2:
            unit = evolve(gang(UNIT, 1), disruption_mode="PodGroup", priority=priority)
            return [unit, *(evolve(obj, scheduling_group=UNIT) if obj in two else obj for obj in cluster)]
    return None


def members(sizes: Iterable[int], group: str | None = GROUP) -> Iterator[Pod]:
    """Pending pods of these sizes that may evict the weaker ones."""
    for place, cpu in enumerate(sizes, 1):
        yield pod(f"p{place}", group, cpu=cpu, priority=STRONG, preempts=True)


def against(
    cluster: list[Object], sizes: tuple[int, ...], settings: Settings, minimum: int | None = None
) -> Case:
    """A gang of members of these sizes, all needed unless a minimum is given, that comes to the cluster."""
    group = evolve(gang(GROUP, minimum or len(sizes)), priority=STRONG)
    return Case((*cluster, group, *members(sizes)), settings)


def alone(cluster: list[Object], cpu: int, settings: Settings) -> Case:
    """A plain pod that comes to the cluster."""
    return Case((*cluster, *members((cpu,), None)), settings)
