"""Who is placed when there is room: equal members always are, unequal ones may be missed, nobody is too many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, product

from attrs import evolve

from gangproof.impl.cycle_state import Cycle
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import HostPort, PodGroup
from gangproof.impl.world import Settings
from gangproof.properties.judges.exact import place
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
from gangproof.properties.worlds.named import HOSTNAME, basic, gang, node, pod

AWARE_OF_RACKS = Settings(gates=evolve(SCENARIO_GATES, topology_aware_workload_scheduling=True))
Judge = Callable[[Case, Cycle], str | None]


def _any_way(judge: Judge) -> Callable[[Case], Refutation | None]:
    """Whether some way in which the first cycle may come out is wrong."""

    def refutes(case: Case) -> Refutation | None:
        for path in decisions(case.world()):
            wrong = judge(case, verdict(path))
            if wrong is not None:
                return path, wrong
        return None

    return refutes


def _clusters(most: int, sizes: range) -> Iterator[tuple[int, ...]]:
    for number in range(most + 1):
        yield from combinations_with_replacement(sizes, number)


def _minimum(case: Case) -> int:
    """How many members must have a place at least, 0 for a basic group."""
    return next(obj.min_count or 0 for obj in case.objects if isinstance(obj, PodGroup))


def _group(minimum: int | None) -> PodGroup:
    return basic("g1") if minimum is None else gang("g1", minimum)


def alike_cases() -> Iterator[Case]:
    """Nodes of 0 to 3 CPUs, up to three; up to three equal members of 1 or 2 CPUs; at most one of them runs."""
    for nodes, size, members, running in product(_clusters(3, range(4)), (1, 2), (1, 2, 3), (False, True)):
        if running and (not nodes or nodes[-1] < size):
            continue
        for minimum in (None, *range(1, members + running + 1)):
            there = [pod("p0", "g1", cpu=size, node=f"n{len(nodes)}")] if running else []
            yield Case(
                (
                    *(node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1)),
                    _group(minimum),
                    *there,
                    *(pod(f"p{i}", "g1", cpu=size) for i in range(1, members + 1)),
                )
            )


def slots(case: Case, names: set[str]) -> int:
    """How many pods like the pending ones fit on these nodes, node by node."""
    size = next(p for p in case.pods if p.node_name is None).requests["cpu"]
    total = 0
    for each in case.nodes:
        taken = sum(p.requests["cpu"] for p in case.pods if p.node_name == each.name)
        if each.name in names:
            total += (each.allocatable["cpu"] - taken) // size
    return total


def alike(case: Case, cycle: Cycle) -> str | None:
    """THM-01: what the formula says, and as many kept as there is room for."""
    return _as_counted(case, cycle, [slots(case, {each.name for each in case.nodes})])


def _as_counted(case: Case, cycle: Cycle, choices: list[int]) -> str | None:
    """Success if and only if one of the choices has slots enough, and then as many kept as some choice allows."""
    pending = sum(p.node_name is None for p in case.pods)
    before = len(case.pods) - pending
    minimum = _minimum(case)
    good = {min(pending, c) for c in choices if c >= 1 and before + min(pending, c) >= minimum}
    number = len(kept(cycle))
    if (cycle.code == "Success") != bool(good):
        return f"the verdict is {cycle.code} with room for {max(choices, default=0)}"
    if good and number not in good:
        return f"{number} are kept where {' or '.join(map(str, sorted(good)))} fit"
    return None


def rack_cases() -> Iterator[Case]:
    """Two racks, up to three nodes of 0 to 2 CPUs, up to three equal members, of which one may run already."""
    for nodes in (combo for number in (1, 2, 3) for combo in product(range(3), repeat=number)):
        for racks in (("a", *others) for others in product("ab", repeat=len(nodes) - 1)):
            for members, running in product((1, 2, 3), (False, True)):
                if running and nodes[0] < 1:
                    continue
                for minimum in (None, *range(1, members + running + 1)):
                    there = [pod("p0", "g1", node="n1")] if running else []
                    yield Case(
                        (
                            *(
                                node(f"n{i}", cpu, labels={"rack": rack})
                                for i, (cpu, rack) in enumerate(zip(nodes, racks, strict=True), 1)
                            ),
                            evolve(_group(minimum), topology_keys=("rack",)),
                            *there,
                            *(pod(f"p{i}", "g1") for i in range(1, members + 1)),
                        ),
                        AWARE_OF_RACKS,
                    )


def by_rack(case: Case, cycle: Cycle) -> str | None:
    """THM-02 and THM-19: the formula of THM-01 for some rack, the one of those who run if any do."""
    label = {each.name: each.labels["rack"] for each in case.nodes}
    forced = {label[p.node_name] for p in case.pods if p.node_name is not None}
    racks = forced or set(label.values())
    counts = [slots(case, {name for name in label if label[name] == rack}) for rack in sorted(racks)]
    used = {label[name] for name in kept(cycle).values()} | forced
    if cycle.code == "Success" and len(used) > 1:
        return f"members are in {' and '.join(sorted(used))}"
    return _as_counted(case, cycle, counts)


def mixed_cases() -> Iterator[Case]:
    """Up to two nodes of 1 to 3 CPUs, up to three members of 1 or 2 CPUs in any order, any minimum."""
    for nodes in (combo for number in (1, 2) for combo in product((1, 2, 3), repeat=number)):
        for sizes in (combo for number in (1, 2, 3) for combo in product((1, 2), repeat=number)):
            for minimum in range(1, len(sizes) + 1):
                yield Case(
                    (
                        *(node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1)),
                        gang("g1", minimum),
                        *(pod(f"p{i}", "g1", cpu=size) for i, size in enumerate(sizes, 1)),
                    )
                )


def missed(case: Case, cycle: Cycle) -> str | None:
    """THM-03: the verdict is not Success although an exact search places the minimum."""
    found = place(
        {each.name: each.allocatable for each in case.nodes},
        {each.key: {**each.requests, "pods": 1} for each in case.pods},
    )
    minimum = _minimum(case)
    if cycle.code == "Success" or found.at_least(minimum) != "yes":
        return None
    return f"{len(kept(cycle))} of {minimum} members are placed, although {len(found.nodes)} fit together"


def bounded_cases() -> Iterator[Case]:
    """Up to two nodes of 1 to 2 CPUs; up to three members, each big or small, with a port, a selector, or neither."""
    port, home = HostPort(80), {HOSTNAME: "n1"}
    kinds = [
        pod("p", "g1"), pod("p", "g1", cpu=2), pod("p", "g1", selector=home),
        evolve(pod("p", "g1"), host_ports=(port,)),
    ]  # fmt: skip
    for nodes in (combo for number in (1, 2) for combo in product((1, 2), repeat=number)):
        for members in (combo for number in (1, 2, 3) for combo in product(kinds, repeat=number)):
            yield Case(
                (
                    *(node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1)),
                    gang("g1", 1),
                    *(evolve(member, name=f"p{i}") for i, member in enumerate(members, 1)),
                )
            )


def too_many(case: Case, cycle: Cycle) -> str | None:
    """THM-04: the kept members do not fit together, in CPUs, ports, or because one may not be on its node."""
    placed = kept(cycle)
    for each in case.nodes:
        here = [p for p in case.pods if placed.get(p.key) == each.name]
        ports = [port for p in here for port in p.host_ports]
        if sum(p.requests["cpu"] for p in here) > each.allocatable["cpu"] or len(ports) > len(set(ports)):
            return f"{', '.join(p.name for p in here)} do not fit together on {each.name}"
        if any(p.node_selector.get(HOSTNAME, each.name) != each.name for p in here):
            return f"a member may not be on {each.name}"
    return None


def _search(cases: Callable[[], Iterator[Case]], judge: Judge) -> Callable[[], Answer]:
    return lambda: first(cases(), _any_way(judge))


THEOREMS = (
    Theorem(
        "THM-01",
        "equal members are placed whenever they fit",
        "Members that are equal to every filter: the verdict is Success if and only if the slots of the nodes, each "
        "counted by itself, make up the minimum (one, for a basic group); then as many are kept as there are slots.",
        "up to three nodes of 0 to 3 CPUs, up to three pending members of 1 or 2 CPUs and up to one that runs, every "
        "minimum and the basic policy, every tie",
        "shown",
        _search(alike_cases, alike),
    ),
    Theorem(
        "THM-02",
        "equal members are placed whenever they fit into one domain",
        "The same within a domain of the topology key: some domain has slots enough, or, once members run, theirs "
        "has; late members go there (THM-19).",
        "up to three nodes of 0 to 2 CPUs in two racks, up to three pending members and up to one that runs, every "
        "minimum and the basic policy, every tie",
        "shown",
        _search(rack_cases, by_rack),
    ),
    Theorem(
        "THM-03",
        "unequal members are placed whenever they fit",
        "If there is a joint placement of the minimum of the members, the verdict is Success.",
        "up to two nodes of 1 to 3 CPUs, gangs of up to three members of 1 or 2 CPUs, every minimum, every tie",
        "refuted",
        _search(mixed_cases, missed),
    ),
    Theorem(
        "THM-04",
        "kept members fit together",
        "On Success the kept members fit together beside what runs, as far as a node by itself decides: resources, "
        "ports, selectors.",
        "up to two nodes of 1 or 2 CPUs, up to three members, each small, big, with a host port or kept to one node, "
        "every tie",
        "shown",
        _search(bounded_cases, too_many),
    ),
)
