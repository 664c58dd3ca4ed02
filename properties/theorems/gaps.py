"""How far the victims that are chosen are from the best ones, by an exact search for all that would do.

Whom to evict is chosen greedily: all weaker ones out, then the most important ones back as long as the preemptor
still fits. Here every set of weaker units is tried, and whether the preemptor fits without it is answered by the exact
placement search, which shares nothing with the scheduler's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from attrs import frozen

from gangproof.impl.actions import Action
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.preemption.units import Unit
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import World
from gangproof.properties.judges.exact import place
from gangproof.properties.search.system import Path
from gangproof.properties.theorems.crowds import (
    AWARE,
    BY_MEMBERS,
    against,
    alone,
    clusters,
    hosts,
    with_unit,
)
from gangproof.properties.theorems.theorem import Answer, Case, Refutation, Theorem, decisions, first, verdict

Chosen = frozenset[Unit]
GREATEST = 2
"""The CPUs of the largest nodes of the theorems about victims; the table of gaps goes one further."""


@frozen
class Gap:
    """A smallest world in which the choice is not the best in one way: what was chosen, and what would do."""

    case: Case
    path: Path[World, Action]
    chosen: tuple[Unit, ...]
    better: tuple[Unit, ...]


@frozen
class Kind:
    """A way in which a choice may fall short: `better` of all sets that would do gives one that shows it."""

    name: str
    better: Callable[[Chosen, Sequence[Chosen]], Chosen | None]


def _first(found: Iterable[Chosen]) -> Chosen | None:
    return next(iter(found), None)


def nobody(chosen: Chosen, enough: Sequence[Chosen]) -> Chosen | None:
    return None if chosen else _first(enough)


def one_too_many(chosen: Chosen, enough: Sequence[Chosen]) -> Chosen | None:
    return _first(other for other in enough if other < chosen)


def _minimal(chosen: Chosen, enough: Sequence[Chosen]) -> bool:
    return bool(chosen) and one_too_many(chosen, enough) is None


def more_units(chosen: Chosen, enough: Sequence[Chosen]) -> Chosen | None:
    return _first(o for o in enough if len(o) < len(chosen)) if _minimal(chosen, enough) else None


def more_pods(chosen: Chosen, enough: Sequence[Chosen]) -> Chosen | None:
    return _first(o for o in enough if _pods(o) < _pods(chosen)) if _minimal(chosen, enough) else None


def stronger(chosen: Chosen, enough: Sequence[Chosen]) -> Chosen | None:
    return _first(o for o in enough if _highest(o) < _highest(chosen)) if _minimal(chosen, enough) else None


def _pods(units: Chosen) -> int:
    return sum(len(unit.pods) for unit in units)


def _highest(units: Chosen) -> int:
    return max(unit.priority for unit in units)


KINDS = (
    Kind("nobody is evicted, though some would do", nobody),
    Kind("one goes who could stay beside the others", one_too_many),
    Kind("more units go than would do", more_units),
    Kind("more pods go than would do", more_pods),
    Kind("a stronger one goes than has to", stronger),
)


@frozen
class Chooser:
    """Who chooses victims, and the worlds in which it is looked at."""

    name: str
    scope: str
    cases: Callable[[], Iterator[Case]]


def _crowds(sizes: Sequence[tuple[int, ...]], greatest: int = GREATEST + 1) -> Iterator[Case]:
    for cluster in clusters(2, hosts(2, range(1, greatest + 1), (1, 2))):
        for variant in (cluster, with_unit(cluster)):
            if variant is not None:
                yield from (against(variant, each, AWARE) for each in sizes)


def equal_cases() -> Iterator[Case]:
    return _crowds(((1,), (2,), (1, 1), (2, 2)))


def unequal_cases() -> Iterator[Case]:
    return _crowds(((1, 2), (2, 1)))


def by_member_cases() -> Iterator[Case]:
    for cluster in clusters(2, hosts(2, (1, 2, 3), (1, 2))):
        for sizes in product((1, 2), repeat=2):
            yield against(cluster, sizes, BY_MEMBERS)


def plain_cases() -> Iterator[Case]:
    for cluster in clusters(2, hosts(3, (1, 2, 3), (1, 2))):
        yield from (alone(cluster, cpu, BY_MEMBERS) for cpu in (1, 2, 3))


CROWD = "up to two nodes of 1 to 3 CPUs, up to two weaker pods of 1 or 2 CPUs and two priorities on each"
CHOOSERS = (
    Chooser(
        "a group of equal members, as a whole",
        f"{CROWD}, alone or two as a unit; gangs of one or two members of 1 or 2 CPUs",
        equal_cases,
    ),
    Chooser(
        "a group of unequal members, as a whole",
        f"{CROWD}, alone or two as a unit; gangs of two members, one of 1 and one of 2 CPUs, in either order",
        unequal_cases,
    ),
    Chooser(
        "members of a group, one by one",
        f"{CROWD}; gangs of two members of 1 or 2 CPUs, WorkloadAwarePreemption off",
        by_member_cases,
    ),
    Chooser(
        "a plain pod",
        "up to two nodes of 1 to 3 CPUs, up to three weaker pods of 1 or 2 CPUs and two priorities on each; a pod of "
        "1 to 3 CPUs",
        plain_cases,
    ),
)


@frozen
class Gaps:
    """What was found for one chooser: the first gap of each kind by the kind's name, and how many worlds there are."""

    found: Mapping[str, Gap]
    cases: int


def gaps(chooser: Chooser, kinds: Sequence[Kind] = KINDS) -> Gaps:
    """The smallest world with each kind of gap, of those in which the cycle comes to the point."""
    found: dict[str, Gap] = {}
    number = 0
    for case in sorted(
        chooser.cases(), key=lambda case: (case.size.objects, case.size.room, case.size.asked)
    ):
        number += 1
        for path in decisions(case.world()):
            cycle = verdict(path)
            if cycle.code not in ("Waiting", "Unschedulable"):
                continue
            units = _candidates(path.last, cycle)
            chosen = frozenset(u for u in units if set(u.keys) & {victim for victim, _ in cycle.victims})
            enough = sufficient(case, units)
            for kind in kinds:
                better = kind.better(chosen, enough) if kind.name not in found else None
                if better is not None:
                    found[kind.name] = Gap(case, path, _sorted(chosen), _sorted(better))
    return Gaps(found, number)


def without_gap(kind: Kind, sizes: Sequence[tuple[int, ...]]) -> Answer:
    """THM-13, THM-14: whether the victims of some gang with members of these sizes have a gap of this kind."""

    def refutes(case: Case) -> Refutation | None:
        found = gaps(Chooser("", "", lambda: iter([case])), [kind]).found.get(kind.name)
        return (
            None
            if found is None
            else (
                found.path,
                f"{_told(found.chosen)} go, and {_told(found.better)} alone would do",
            )
        )

    return first(_crowds(sizes, GREATEST), refutes)


def _told(units: Sequence[Unit]) -> str:
    return ", ".join(key.partition("/")[2] for unit in units for key in unit.keys)


def _sorted(units: Chosen) -> tuple[Unit, ...]:
    return tuple(sorted(units, key=lambda unit: unit.pods))


def _candidates(world: World, cycle: Cycle) -> list[Unit]:
    """Whom the preemptor may evict at all (PREEMPT-20, PREEMPT-46)."""
    assert cycle.taken is not None
    return INTENDED.victims(world, cycle.taken.nodes, cycle.members[0])


def sufficient(case: Case, units: Sequence[Unit]) -> list[Chosen]:
    """Every set of units without which an exact search places all pending pods, the smallest first."""
    found: list[Chosen] = []
    for number in range(1, len(units) + 1):
        found += [frozenset(some) for some in combinations(units, number) if _fit(case, some)]
    return found


def _fit(case: Case, gone: Sequence[Unit]) -> bool:
    keys = {key for unit in gone for key in unit.keys}
    free = {each.name: dict(each.allocatable) for each in case.nodes}
    for pod in case.pods:
        if pod.node_name is not None and pod.key not in keys:
            free[pod.node_name]["cpu"] -= pod.requests["cpu"]
    pending = {p.key: dict(p.requests) for p in case.pods if p.node_name is None}
    return place(free, pending).at_least(len(pending)) == "yes"


EQUAL, UNEQUAL = ((1,), (2,), (1, 1), (2, 2)), ((1, 2), (2, 1))
NODES = "up to two nodes of 1 or 2 CPUs, up to two weaker pods of 1 or 2 CPUs and two priorities on each"
THEOREMS = (
    Theorem(
        "THM-13",
        "no victim of a group could stay beside the others, if its members are equal",
        "The same for members that are equal.",
        f"{NODES}, alone or two as a unit; gangs of one or two equal members of 1 or 2 CPUs, all needed, every tie",
        "shown",
        lambda: without_gap(KINDS[1], EQUAL),
    ),
    Theorem(
        "THM-13",
        "no victim of a group could stay beside the others",
        "Of the victims that the step of a group chooses none could stay: no proper part of them would do.",
        f"{NODES}, alone or two as a unit; gangs of a member of 1 and one of 2 CPUs, in either order, every tie",
        "refuted",
        lambda: without_gap(KINDS[1], UNEQUAL),
    ),
    Theorem(
        "THM-14",
        "a group evicts as few units as would do",
        "No smaller number of units would do than the step of a group chooses.",
        f"{NODES}, alone or two as a unit; gangs of one or two equal members of 1 or 2 CPUs, all needed, every tie",
        "refuted",
        lambda: without_gap(KINDS[2], EQUAL),
    ),
)
