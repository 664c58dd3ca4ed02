"""Whom a group evicts, and what of that is promised: never in vain, whole units, none of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from attrs import evolve

from gangproof.impl.actions import Action, successors
from gangproof.impl.gates import Object
from gangproof.impl.objects import Pod
from gangproof.impl.profiles import INTENDED, V1_36_3_PROMPT
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.judges.exact import place
from gangproof.properties.search.system import Path
from gangproof.properties.theorems.crowds import (
    AWARE,
    BY_MEMBERS,
    GROUP,
    STRONG,
    UNIT,
    against,
    alone,
    clusters,
    hosts,
    members,
)
from gangproof.properties.theorems.theorem import (
    Answer,
    Case,
    Refutation,
    Theorem,
    decisions,
    first,
    kept,
    verdict,
)
from gangproof.properties.worlds.named import gang, node, pod


def planned(case: Case, path: Path[World, Action], victims: tuple[str, ...]) -> bool:
    """Whether the places that the cycle means its members to have are there with these gone, by an exact search."""
    passed = [world.cycle for _, world in path.actions[0].via if world.cycle is not None and world.cycle.plan]
    plan = dict(passed[-1].plan.items()) if passed else {}
    free = {each.name: dict(each.allocatable) for each in case.nodes}
    for running in case.pods:
        if running.node_name is not None and running.key not in victims:
            free[running.node_name]["cpu"] -= running.requests["cpu"]
    requests = {p.key: p.requests for p in case.pods if p.key in plan}
    needed = sum(p.node_name is None for p in case.pods)
    return place(free, requests, {key: [name] for key, name in plan.items()}).at_least(needed) == "yes"


def first_evictions(case: Case, rules: Rules) -> Iterator[tuple[Path[World, Action], tuple[str, ...]]]:
    """Each way in which the first cycle may end, and whom it evicts."""
    start = case.world(rules)
    for step in successors(start, rules):
        if step[0].name == "cycle":
            victims = [pod for running in step[1].rounds.values() for pod, _ in running.victims]
            yield Path(start, (step,)), tuple(dict.fromkeys(victims))


def _names(keys: tuple[str, ...] | list[str]) -> str:
    return ", ".join(key.partition("/")[2] for key in keys)


# THM-12


def crowded_cases() -> Iterator[Case]:
    """Up to two nodes of 1 or 2 CPUs with up to two weaker pods; gangs of one or two, all needed; either preemption."""
    for cluster in clusters(2, hosts(2, (1, 2), (1,))):
        for sizes in ((1,), (2,), (1, 1), (1, 2), (2, 1), (2, 2)):
            for settings in (BY_MEMBERS, AWARE):
                yield against(cluster, sizes, settings)


def in_vain(rules: Rules) -> Answer:
    """THM-12: a cycle that evicts somebody, and with these gone its group has not the places that it was to have."""

    def refutes(case: Case) -> Refutation | None:
        for path, victims in first_evictions(case, rules):
            if victims and not planned(case, path, victims):
                return path, f"{_names(victims)} is evicted, and the group has no place all the same"
        return None

    return first(crowded_cases(), refutes)


# THM-17


def own_cases() -> Iterator[Case]:
    """A gang of which one member of lower priority runs, on up to two nodes, and another one comes."""
    for sizes in (c for number in (1, 2) for c in product((1, 2), repeat=number)):
        for cpu, mode, settings in product((1, 2), ("Pod", "PodGroup"), (BY_MEMBERS, AWARE)):
            own = pod("p0", GROUP, node="n1", priority=1)
            group = evolve(gang(GROUP, 1), priority=STRONG, disruption_mode=mode)
            nodes = (node(f"n{place}", size) for place, size in enumerate(sizes, 1))
            yield Case((*nodes, group, own, *members((cpu,))), settings)


def undone(rules: Rules) -> Answer:
    """THM-17: a group that evicts a member of its own."""

    def refutes(case: Case) -> Refutation | None:
        for path, victims in first_evictions(case, rules):
            if "default/p0" in victims:
                return path, "p0 runs, and its own group evicts it"
        return None

    return first(own_cases(), refutes)


# THM-18


def whole_cases() -> Iterator[Case]:
    """A group that goes as a whole runs on up to two nodes; a stronger gang or plain pod comes."""
    for sizes in (c for number in (1, 2) for c in product((1, 2), repeat=number)):
        for on in product(range(1, len(sizes) + 1), repeat=2):
            if any(on.count(place) > size for place, size in enumerate(sizes, 1)):
                continue
            cluster: list[Object] = [node(f"n{place}", size) for place, size in enumerate(sizes, 1)]
            cluster.append(evolve(gang(UNIT, 1), priority=1, disruption_mode="PodGroup"))
            cluster += [pod(f"v{i}", UNIT, node=f"n{place}", priority=1) for i, place in enumerate(on, 1)]
            for cpu in (1, 2):
                yield against(cluster, (cpu,), AWARE)
                yield alone(cluster, cpu, AWARE)


def torn(rules: Rules) -> Answer:
    """THM-18: an eviction of a part of a group that goes as a whole."""

    def refutes(case: Case) -> Refutation | None:
        for path, victims in first_evictions(case, rules):
            unit = [p.key for p in case.pods if p.group == f"default/{UNIT}"]
            left = [key for key in unit if key not in victims]
            if victims and left and len(left) < len(unit):
                return path, f"{_names(victims)} is evicted, and {_names(left)} runs on"
        return None

    return first(whole_cases(), refutes)


# THM-20


def surplus_cases() -> Iterator[Case]:
    """A gang whose minimum runs, and one or two equal members more; nodes with and without room, and weaker pods."""
    for size, cpu, more in product((1, 2), (1, 2), (1, 2)):
        for cluster in clusters(2, hosts(2, (1, 2), (1, 9))):
            placed = [node("n0", size), pod("p0", GROUP, node="n0", priority=STRONG)]
            yield against([*cluster, *placed], (cpu,) * more, AWARE, minimum=1)


def slots(case: Case, gone: Callable[[Pod], bool]) -> int:
    """How many of the pending members have room, each node counted by itself, with those pods gone."""
    cpu = next(p for p in case.pods if p.node_name is None).requests["cpu"]
    there = [p for p in case.pods if not gone(p)]
    return sum(
        (each.allocatable["cpu"] - sum(p.requests["cpu"] for p in there if p.node_name == each.name)) // cpu
        for each in case.nodes
    )


def surplus() -> Answer:
    """THM-20: a cycle of surplus members that places fewer than fit, or evicts for what fits or for nothing."""

    def refutes(case: Case) -> Refutation | None:
        pending = sum(p.node_name is None for p in case.pods)
        fit = min(pending, slots(case, lambda _: False))
        helps = slots(case, lambda p: p.group is None and p.priority < STRONG) > 0
        for path in decisions(case.world()):
            cycle = verdict(path)
            if fit:
                good = cycle.code == "Success" and not cycle.victims and len(kept(cycle)) == fit
            else:
                good = (cycle.code == "Waiting" and bool(cycle.victims)) == helps
            if not good:
                return path, f"{fit} fit, evictions {'help' if helps else 'do not help'}: {cycle.code}"
        return None

    return first(surplus_cases(), refutes)


def _theorem(
    id: str, name: str, statement: str, scope: str, shown: bool, search: Callable[[], Answer], profile: str
) -> Theorem:
    return Theorem(id, name, statement, scope, "shown" if shown else "refuted", search, profile)


IN_VAIN = (
    "Whoever is evicted by the cycle of a group, with these gone the group has the places that the cycle means it to "
    "have.",
    "up to two nodes of 1 or 2 CPUs with up to two weaker pods each, gangs of one or two members of 1 or 2 CPUs, all "
    "needed, WorkloadAwarePreemption on and off, every tie",
)
OWN = (
    "No cycle of a group evicts a member of the group.",
    "up to two nodes of 1 or 2 CPUs; a gang with minimum 1 of which one weaker member runs and one of 1 or 2 CPUs "
    "comes, either disruptionMode, WorkloadAwarePreemption on and off, every tie",
)
WHOLE = (
    "If one member of a group with disruptionMode PodGroup is evicted, all are.",
    "up to two nodes of 1 or 2 CPUs, a group of two that runs there, a stronger gang of one or a stronger plain pod, "
    "of 1 or 2 CPUs, WorkloadAwarePreemption on, every tie",
)
SHIPPED, PROMISED = "v1.36.3", "intended"

THEOREMS = (
    _theorem("THM-12", "a group evicts for a place that it has then", *IN_VAIN, False,
             lambda: in_vain(V1_36_3_PROMPT), SHIPPED),
    _theorem("THM-12", "a group evicts for a place that it has then, as intended", IN_VAIN[0], "the same worlds",
             True, lambda: in_vain(INTENDED), PROMISED),
    _theorem("THM-17", "bound members are not undone by their own group", *OWN, False,
             lambda: undone(V1_36_3_PROMPT), SHIPPED),
    _theorem("THM-17", "bound members are not undone by their own group, as intended", OWN[0], "the same worlds",
             True, lambda: undone(INTENDED), PROMISED),
    _theorem("THM-18", "a group with disruptionMode PodGroup goes as a whole", *WHOLE, False,
             lambda: torn(V1_36_3_PROMPT), SHIPPED),
    _theorem("THM-18", "a group with disruptionMode PodGroup goes as a whole, as intended", WHOLE[0],
             "the same worlds", True, lambda: torn(INTENDED), PROMISED),
    _theorem("THM-20", "surplus members come when they can, and may evict when none can",
             "A cycle of the members beyond the minimum places as many as fit and evicts nobody; if none fits, it "
             "evicts if and only if a weaker pod is in the way.",
             "a gang with minimum 1 that runs, one or two equal members of 1 or 2 CPUs more; beside its node up to "
             "two of 1 or 2 CPUs with up to two weaker or stronger pods each, WorkloadAwarePreemption on, every tie",
             True, surplus, PROMISED),
)  # fmt: skip
