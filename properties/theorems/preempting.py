"""What groups do when there is no room: who waits for whom, and who never evicts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attrs import evolve

from gangproof.impl.actions import Action, successors
from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.objects import Pod
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import Settings, World
from gangproof.properties.search.system import Path
from gangproof.properties.theorems.theorem import (
    Answer,
    Case,
    Refutation,
    Theorem,
    decisions,
    first,
    verdict,
)
from gangproof.properties.worlds.named import HOSTNAME, basic, gang, node, pod

EVERYTHING = Settings(
    gates=evolve(SCENARIO_GATES, topology_aware_workload_scheduling=True, workload_aware_preemption=True)
)


def _hosts(nodes: tuple[int, ...], weak: tuple[int, ...]) -> Iterator[Object]:
    yield from (node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1))
    yield from (pod(f"w{i}", node=f"n{i}", cpu=size) for i, size in enumerate(weak, 1) if size)


def basic_cases() -> Iterator[Case]:
    """Up to two nodes of 1 or 2 CPUs, on each at most one weak pod; a basic group of up to two members of 1 or 2."""
    for number in (1, 2):
        for nodes, weak in product(product((1, 2), repeat=number), product((0, 1, 2), repeat=number)):
            if any(size > cpu for size, cpu in zip(weak, nodes, strict=True)):
                continue
            for sizes in (c for count in (1, 2) for c in product((1, 2), repeat=count)):
                members = (
                    pod(f"p{i}", "g1", cpu=size, priority=5, preempts=True) for i, size in enumerate(sizes, 1)
                )
                yield Case((*_hosts(nodes, weak), basic("g1"), *members))


def independent() -> Answer:
    """THM-15: whether who is placed at first, before anybody is evicted, is the same for a basic group as for
    the same pods without one."""

    def refutes(case: Case) -> Refutation | None:
        alone = Case(tuple(_plain(obj) for obj in case.objects if obj.key != "default/g1"))
        placed = {frozenset(path.last.assumed): path for path in tried_once(alone.world())}
        for path in tried_once(case.world()):
            mine = frozenset(path.last.assumed)
            if mine not in placed:
                others = " or ".join(_names(kept) for kept in sorted(placed, key=sorted))
                return path, f"placed at first: {_names(mine)}; without a group: {others}"
        return None

    return first(basic_cases(), refutes)


def _plain(obj: Object) -> Object:
    return evolve(obj, scheduling_group=None) if isinstance(obj, Pod) else obj


def _names(keys: frozenset[str]) -> str:
    return " and ".join(sorted(key.partition("/")[2] for key in keys)) or "nobody"


def tried_once(start: World) -> Iterator[Path[World, Action]]:
    """Every way in which everybody who is ready now may be tried once, with nothing in between."""
    stack = [Path[World, Action](start)]
    while stack:
        path = stack.pop()
        now = path.last
        steps = [step for step in successors(now, INTENDED) if step[0].name == "cycle"]
        if not steps or not any(entry.place == "active" for entry in now.queue):
            yield path
            continue
        stack.extend(Path(start, (*path.steps, step)) for step in reversed(steps))


def kept_cases() -> Iterator[Case]:
    """Up to two nodes of 1 or 2 CPUs, each a domain, on each at most one weak pod; a gang with a topology key of
    up to two members of 1 or 2 CPUs, all needed."""
    for case in basic_cases():
        members = [p.name for p in case.pods if p.group == "default/g1"]
        group = evolve(gang("g1", len(members)), priority=5, topology_keys=(HOSTNAME,))
        yield Case(tuple(group if obj.key == group.key else obj for obj in case.objects), EVERYTHING)


def nobody_goes() -> Answer:
    """THM-11: whether some cycle of a group with a topology key names a victim."""

    def refutes(case: Case) -> Refutation | None:
        for path in decisions(case.world()):
            if verdict(path).victims or any(result.victims for result in verdict(path).results):
                return path, "the group evicts"
        return None

    return first(kept_cases(), refutes)


THEOREMS = (
    Theorem(
        "THM-11",
        "a group with a topology key evicts nobody",
        "No cycle of a group with a topology key names a victim.",
        "up to two nodes of 1 or 2 CPUs, each a domain, with at most one weaker pod on each; gangs of up to two "
        "members of 1 or 2 CPUs, all needed, with and without room, every tie",
        "shown",
        nobody_goes,
    ),
    Theorem(
        "THM-15",
        "basic groups behave like independent pods",
        "When everybody has been tried once the members of a basic group that have a place are those that would "
        "have one without the group.",
        "up to two nodes of 1 or 2 CPUs, with at most one weaker pod on each; basic groups of up to two members of 1 "
        "or 2 CPUs that may preempt, WorkloadAwarePreemption off, every tie",
        "refuted",
        independent,
    ),
)
