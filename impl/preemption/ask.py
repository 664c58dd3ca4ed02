"""Where a cycle turns to preemption: for a member without a place, and for a group that falls short."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.cycle import group_object, running
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.filters.devices import group_missing
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.preemption.group import preempt_group
from gangproof.impl.preemption.single import may_preempt, preempt_for
from gangproof.impl.preemption.units import Unit
from gangproof.impl.rules import Rules
from gangproof.impl.steps import Wish
from gangproof.impl.world import World

NO_GROUP = "failed to get pod group object"


def ask(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[Wish, ...]:
    """Each node that a pod without a place may ask for, with the victims that have to go (CYCLE-17, CYCLE-18).

    A grouped pod asks for itself only while WorkloadAwarePreemption is off (API-06) and its group has no scheduling
    constraints (PREEMPT-01 to PREEMPT-05, PLACE-31); nobody asks while a round of its own runs, nor
    who is refused since its group is not there (CLAIM-37).
    """
    group = group_object(world, cycle)
    if cycle.group is not None and world.settings.gates.workload_aware_preemption:
        return ()
    if group is not None and group.topology_keys is not None:
        return ()
    if group_missing(world, pod) or not may_preempt(world, pod, cycle.preemptor):
        return ()
    _, seen = running(world)
    found = preempt_for(rules, world, seen, pod)
    return tuple(Wish(choice.node, choice.pods, choice.beyond) for choice in found)


def ask_as_group(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
    """The cycle of a group that falls short, after each outcome of the group step (API-06, CYCLE-40).

    Without the group's object the step is an Error (PREEMPT-11).
    """
    if not world.settings.gates.workload_aware_preemption:
        return (cycle,)
    group = group_object(world, cycle)
    if group is None:
        return (evolve(cycle, code="Error", message=NO_GROUP),)
    return tuple(_outcomes(rules, world, cycle, group))


def _outcomes(rules: Rules, world: World, cycle: Cycle, group: PodGroup) -> Iterator[Cycle]:
    for found in preempt_group(rules, world, cycle, group):
        if found.sparing is None:
            refused = f", {found.refused}" if found.refused else ""
            yield evolve(cycle, message=f"{cycle.message}{refused}", beyond=found.beyond)
            continue
        plan = found.sparing.plan
        asker = next(pod.key for pod in cycle.members if pod.key in plan)
        for victims in _called(found.sparing.victims):
            asked = tuple((key, asker) for key in victims)
            yield evolve(cycle, code="Waiting", victims=asked, plan=plan, beyond=found.beyond)


def _called(victims: tuple[Unit, ...]) -> Iterator[tuple[str, ...]]:
    """The pods of the units in the order of their calls; any pod of the last unit may be the last (CHO-12)."""
    if not victims:
        yield ()
        return
    *before, last = victims
    first = tuple(key for unit in before for key in unit.keys)
    for key in reversed(last.keys):
        yield (*first, *(other for other in last.keys if other != key), key)
