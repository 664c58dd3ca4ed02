"""Whom a group or a pod would evict, unit by unit, and by which rule each is chosen or spared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import evolve

from gangproof.impl.cycle import group_object
from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.preemption.budgets import violating
from gangproof.impl.preemption.group import NEVER, NO_VICTIMS, TOPOLOGY, refuse
from gangproof.impl.preemption.units import Unit, by_priority_and_start, importance, orders
from gangproof.impl.rules import Rules
from gangproof.impl.strength import strength
from gangproof.impl.world import World
from gangproof.properties.explanation.attempts import Attempt, Trying
from gangproof.properties.explanation.model import Evictions, UnitFate

MOST_SPARED = 20
GROUP_REFUSALS = {NEVER: "PREEMPT-13", TOPOLOGY: "PREEMPT-11"}
ROUND_RUNS = "an earlier preemption of it still runs"


def evictions(attempt: Attempt, way: Trying, rules: Rules) -> Evictions | None:
    """What preemption comes to in the cycle; None if the cycle does not turn to it."""
    cycle, world, taken = attempt.cycle, attempt.world, attempt.cycle.taken
    if attempt.fits or taken is None or cycle.code == "Error":
        return None
    as_group = group_object(world, cycle) is not None and world.settings.gates.workload_aware_preemption
    weaker = [] if way.nobody_weaker else rules.victims(world, taken.nodes, cycle.members[0])
    found = Evictions(
        by="group" if as_group else "pod",
        priority=strength(world, cycle.members[0]),
        safe=_safe(world, taken, weaker, attempt),
    )
    if cycle.code == "Waiting":
        units = _fates(attempt, weaker, as_group)
        spared = [unit for unit in units if unit.fate == "spared"]
        told = {unit.pods for unit in spared[:MOST_SPARED]}
        units = tuple(unit for unit in units if unit.fate == "evicted" or unit.pods in told)
        return evolve(found, units=units, spared=len(spared))
    if way.unweighed and weaker:
        return evolve(found, unknown=way.unweighed)
    refused, rule = _refusal(attempt, weaker, as_group)
    return evolve(found, refused=refused, rule=rule)


def _fates(attempt: Attempt, weaker: Sequence[Unit], as_group: bool) -> tuple[UnitFate, ...]:
    """The candidates in the order in which they are judged; a single pod's are those on its node."""
    cycle = attempt.cycle
    victims = {victim for victim, _ in cycle.victims}
    nodes = {result.node for result in cycle.results if result.victims}
    judged = [unit for unit in weaker if as_group or any(node in nodes for _, node in unit.pods)]
    order = next(orders(judged, importance if as_group else by_priority_and_start), ())
    broken = frozenset(violating(attempt.world, order))
    rule = "PREEMPT-26" if as_group else "PREEMPT-46"
    preemptor = "the group" if as_group else "the pod"
    return tuple(
        UnitFate(
            pods=unit.keys,
            nodes=tuple(dict.fromkeys(node for _, node in unit.pods)),
            priority=unit.priority,
            group=unit.group,
            budgets=_budgets(attempt.world, unit),
            breaks=unit in broken,
            fate="evicted" if victims & set(unit.keys) else "spared",
            rule=rule,
            why=f"were {'it' if len(unit.keys) == 1 else 'they'} put back, {preemptor} would not fit"
            if victims & set(unit.keys)
            else f"put back, {preemptor} still fits",
        )
        for unit in (*(u for u in order if u in broken), *(u for u in order if u not in broken))
    )


def _budgets(world: World, unit: Unit) -> tuple[str, ...]:
    pods = [world.pods[key] for key in unit.keys if key in world.pods]
    return tuple(key for key, budget in world.budgets.items() if any(map(budget.covers, pods)))


def _safe(
    world: World, taken: Snapshot, weaker: Sequence[Unit], attempt: Attempt
) -> tuple[tuple[str, int], ...]:
    """How many pods on nodes are no candidates at all, by reason."""
    candidates = {pod for unit in weaker for pod in unit.keys}
    group = attempt.cycle.group
    mine = strength(world, attempt.cycle.members[0])
    counted: Counter[str] = Counter()
    for info in taken.nodes.values():
        for key, pod in info.pods.items():
            if key in candidates:
                continue
            own = group is not None and pod.group == group
            counted["members of the group itself" if own else f"priority {mine} or higher (PREEMPT-21)"] += 1
    return tuple(sorted(counted.items()))


def _refusal(attempt: Attempt, weaker: Sequence[Unit], as_group: bool) -> tuple[str, str]:
    """Why nobody is evicted, and the rule."""
    cycle, world = attempt.cycle, attempt.world
    group = group_object(world, cycle)
    if cycle.preemptor in world.rounds:
        return ROUND_RUNS, "PREEMPT-43"
    if as_group and group is not None:
        refused = refuse(world, cycle, group)
        if refused:
            return refused.rstrip("."), GROUP_REFUSALS.get(refused, "PREEMPT-11")
        if not weaker:
            return NO_VICTIMS, "PREEMPT-22"
        return f"without all {_units(weaker)} it would not fit either", "PREEMPT-23"
    if group is not None and group.topology_keys is not None:
        return "members of a group with scheduling constraints evict nobody", "PLACE-31"
    if all(pod.preemption_policy == "Never" for pod in cycle.members):
        return "preemptionPolicy is Never", "PREEMPT-45"
    if not weaker:
        return "nobody on a node is weaker", "PREEMPT-46"
    if any(result.victims for result in cycle.results):
        return "some members would ask for evictions, but too few have a place", "CYCLE-26"
    return f"on no node would it help to evict the weaker pods there ({_units(weaker)} in all)", "PREEMPT-46"


def _units(weaker: Sequence[Unit]) -> str:
    number = sum(len(unit.pods) for unit in weaker)
    return "1 weaker pod" if number == 1 else f"{number} weaker pods"
