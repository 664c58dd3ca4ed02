"""The condition `PodGroupScheduled`: written once a cycle, and True is final (CYCLE-50 to 57)."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.cycle_state import Code
from gangproof.impl.objects import Condition, PodGroup
from gangproof.impl.rules import Rules
from gangproof.impl.store import patch, stored
from gangproof.impl.world import World


def condition(world: World, group: PodGroup, code: Code, message: str) -> Condition | None:
    """What is written for a verdict, None if nothing is (CYCLE-50, CYCLE-52; intended: DEV-22).

    The write compares with the group as it is stored, so a failed retry never replaces True.
    """
    if code == "Success":
        return Condition("True", "Scheduled")
    if group.condition is not None and group.condition.status == "True":
        return None
    return Condition("False", "SchedulerError" if code == "Error" else "Unschedulable", message)


def report(rules: Rules, world: World) -> World:
    """End the running cycle by writing its group's condition, if the group still exists (CYCLE-51).

    Before its first cycle a group has no condition (COND-05, OBS-04).
    """
    cycle = world.cycle
    if cycle is None or cycle.code is None:
        raise ValueError("no cycle with a verdict is running")
    known = cycle.group is not None and cycle.group in world.groups
    group: PodGroup | None = stored(world, "podGroup").get(cycle.group or "") if known else None
    if group is not None:
        written = rules.condition(world, group, cycle.code, cycle.message)
        if written is not None and not written.repeats(group.condition):
            world = rules.store(world, evolve(group, condition=written))
    return evolve(world, cycle=None)


def store(world: World, group: PodGroup) -> World:
    """The status of the group is written (CYCLE-57).

    The transition time is that of the write only if the status changes (CYCLE-53).
    """
    was, written = stored(world, "podGroup")[group.key].condition, group.condition
    if written is not None:
        renewed = was is None or was.status != written.status
        written = evolve(written, renewed=renewed)
    return patch(world, "podGroup", group.key, condition=written)
