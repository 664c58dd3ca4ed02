"""Groups whose members do not come together: the domain is chosen for those who are there, and then it is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.api import create
from gangproof.impl.bulk import world_of
from gangproof.impl.objects import Pod
from gangproof.impl.outside import name_of
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import World
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.machine import Machine, settle
from gangproof.properties.search.system import Path, Questions
from gangproof.properties.theorems.completeness import AWARE_OF_RACKS
from gangproof.properties.theorems.theorem import Answer, Case, Refutation, Theorem, first
from gangproof.properties.worlds.named import basic, node, pod

Run = Path[World, Action]


def rack_cases() -> Iterator[Case]:
    """Two racks, up to three nodes of 1 or 2 CPUs; a basic group of two or three equal members of 1 CPU."""
    for sizes in (c for number in (2, 3) for c in product((1, 2), repeat=number)):
        for racks in (("a", *others) for others in product("ab", repeat=len(sizes) - 1)):
            for count in (2, 3):
                hosts = (
                    node(f"n{place}", cpu, labels={"rack": rack})
                    for place, (cpu, rack) in enumerate(zip(sizes, racks, strict=True), 1)
                )
                group = evolve(basic("g1"), topology_keys=("rack",))
                yield Case(
                    (*hosts, group, *(pod(f"p{i}", "g1") for i in range(1, count + 1))), AWARE_OF_RACKS
                )


def ends(case: Case, batches: Sequence[Sequence[Pod]]) -> list[Run]:
    """Where the runs settle in which these pods come, batch by batch, and everybody is tried before the next."""
    there = [obj for obj in case.objects if not isinstance(obj, Pod)]
    runs: list[Run] = [Path(world_of(INTENDED, there, case.settings))]
    for batch in batches:
        after: dict[World, Run] = {}
        for run in runs:
            for member in batch:
                step = (Action("create", (name_of(member),)), create(INTENDED, run.last, member))
                run = Path(run.initial, (*run.steps, step))
            found = settle(Machine(INTENDED, [run.last]), Questions(), Limits())
            for where in (*found.settled, *found.restless):
                more = found.graph.path(where).steps
                after.setdefault(found.graph.states[where], Path(run.initial, (*run.steps, *more)))
        runs = list(after.values())
    return runs


def placed(world: World) -> int:
    return sum(pod.node_name is not None for pod in world.pods.values())


def independent_of_arrival() -> Answer:
    """THM-16: a run in which members come one by one, and fewer have a place in the end than if all come at once."""

    def refutes(case: Case) -> Refutation | None:
        together = min(placed(run.last) for run in ends(case, [case.pods]))
        for run in ends(case, [[member] for member in case.pods]):
            number = placed(run.last)
            if number < together:
                return (
                    run,
                    f"{number} of {len(case.pods)} have a place; had all come at once, {together} would",
                )
        return None

    return first(rack_cases(), refutes)


THEOREMS = (
    Theorem(
        "THM-16",
        "a basic group in one domain ends the same however its members arrive",
        "Of a basic group with a topology key as many members have a place in the end if they come one by one as "
        "if all come at once.",
        "up to three nodes of 1 or 2 CPUs in two racks, basic groups of two or three equal members, every tie",
        "refuted",
        independent_of_arrival,
    ),
)
