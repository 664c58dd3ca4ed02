"""Preemption by a group as a whole (SEMANTICS 7.1, 7.2): all weaker units out, a trial, then sparing.

A trial is the whole algorithm of the cycle on a changed snapshot, without any preemption in it. Nobody is
evicted unless the group is placed in the last successful trial, and its plan is what is nominated (DEV-37).
"""

from __future__ import annotations

from attrs import evolve, frozen

from gangproof.impl.cycle import explain, try_member
from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.impl.limits import TIES
from gangproof.impl.objects import PodGroup
from gangproof.impl.preemption.budgets import reprieve
from gangproof.impl.preemption.spare import Plan, Sparing
from gangproof.impl.preemption.units import all_told, importance, orders
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World

NO_VICTIMS = "No preemption victims found for incoming preemptor"
NEVER = "not eligible due to preemptionPolicy=Never."
TOPOLOGY = "workload aware preemption is not supported for pod groups with scheduling constraints"
RUNNING = "a preemption of the group is running"


@frozen
class GroupPreemption:
    """What the step came to: victims and the plan that they make room for, or why it was refused.

    `beyond` is what the answer needed and the model does not have.
    """

    sparing: Sparing | None = None
    refused: str = ""
    beyond: tuple[str, ...] = ()


def refuse(world: World, cycle: Cycle, group: PodGroup) -> str:
    """Why the step is refused before any candidate is looked at, "" if it is not (PREEMPT-11 to PREEMPT-13).

    A group with a topology key never evicts (PLACE-32, PLACE-33).
    """
    if group.topology_keys:
        return TOPOLOGY
    if any(pod.preemption_policy == "Never" for pod in cycle.members):
        return NEVER
    if group.key in world.rounds:
        return RUNNING
    return ""


def preempt_group(rules: Rules, world: World, cycle: Cycle, group: PodGroup) -> tuple[GroupPreemption, ...]:
    """Every outcome of the group step for the running cycle (PREEMPT-20 to PREEMPT-28).

    Victims may be anywhere in the cluster (PREEMPT-15).
    """
    snapshot = cycle.taken
    refused = refuse(world, cycle, group)
    if refused or snapshot is None:
        return (GroupPreemption(refused=refused),)
    candidates = rules.victims(world, snapshot.nodes, cycle.members[0])
    if not candidates:
        return (GroupPreemption(refused=NO_VICTIMS),)
    found: dict[Sparing | None, None] = {}
    for order in orders(candidates, importance):
        found.update(
            dict.fromkeys(
                reprieve(rules, world, snapshot, order, lambda seen: trial(rules, world, cycle, seen))
            )
        )
    beyond = () if all_told(candidates, importance) else (TIES,)
    useless = GroupPreemption(refused=explain(world, cycle, "Unschedulable"), beyond=beyond)
    return tuple(GroupPreemption(sparing, beyond=beyond) if sparing else useless for sparing in found)


def trial(rules: Rules, world: World, cycle: Cycle, seen: Snapshot) -> tuple[Plan | None, ...]:
    """Each way in which the algorithm may come out on the snapshot, post filters off (PREEMPT-14)."""
    begun = evolve(cycle, stage="placing", trial=True, taken=seen, snapshot=seen, results=(), code=None)
    outcomes: dict[Plan | None, None] = {}
    stack = [evolve(world, cycle=begun)]
    while stack:
        now = stack.pop()
        tried = now.cycle
        assert tried is not None
        if tried.stage == "placing":
            stack.extend(reversed(try_member(rules, now)))
            continue
        plan = Table({r.pod: r.node for r in tried.results if r.node is not None})
        outcomes[plan if tried.code == "Success" else None] = None
    return tuple(outcomes)
