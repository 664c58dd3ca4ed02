"""Where a cycle turns to preemption: for a member without a place, and for a group that falls short."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.cycle import group_object, running
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.group import preempt_group
from gangproof.impl.preemption.single import may_preempt, preempt_for
from gangproof.impl.rules import Rules, Wish
from gangproof.impl.world import Cycle, World


def ask(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[Wish, ...]:
    """Each node that a pod without a place may ask for, with the victims that have to go (CYCLE-17, CYCLE-18).

    A grouped pod asks for itself only while WorkloadAwarePreemption is off (API-06) and its group has no scheduling
    constraints (PREEMPT-01 to PREEMPT-05, PLACE-31); nobody asks while a round of its own runs.
    """
    group = group_object(world, cycle)
    if cycle.group is not None and world.settings.gates.workload_aware_preemption:
        return ()
    if group is not None and group.topology_keys is not None:
        return ()
    if not may_preempt(world, pod, cycle.preemptor):
        return ()
    _, seen = running(world)
    found = preempt_for(rules, world, seen, pod)
    return tuple(Wish(choice.node, choice.pods, choice.beyond) for choice in found)


def ask_as_group(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
    """The cycle of a group that falls short, after each outcome of the group step (API-06, CYCLE-40)."""
    group = group_object(world, cycle)
    if group is None or not world.settings.gates.workload_aware_preemption:
        return (cycle,)
    return tuple(_outcomes(rules, world, cycle))


def _outcomes(rules: Rules, world: World, cycle: Cycle) -> Iterator[Cycle]:
    group = group_object(world, cycle)
    assert group is not None
    for found in preempt_group(rules, world, cycle, group):
        if found.sparing is None:
            refused = f", {found.refused}" if found.refused else ""
            yield evolve(cycle, message=f"{cycle.message}{refused}", beyond=found.beyond)
            continue
        plan = found.sparing.plan
        asker = next(pod.key for pod in cycle.members if pod.key in plan)
        yield evolve(
            cycle,
            code="Waiting",
            victims=tuple((key, asker) for unit in found.sparing.victims for key in unit.keys),
            plan=plan,
            beyond=found.beyond,
        )
