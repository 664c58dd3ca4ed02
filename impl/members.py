"""The member sets of a group, and the one count that decides: is the minimum met?

Membership is by name and namespace, so a group object takes over the members of its namesake (GC-09). The
scheduler keeps the sets by the events it sees; the gate, the verdict and the commit all read them through
`quorum`.
"""

from __future__ import annotations

from typing import Literal

from attrs import evolve

from gangproof.impl.memory import NO_MEMBERS, Members
from gangproof.impl.objects import PodGroup
from gangproof.impl.rules import Rules
from gangproof.impl.steps import MemberEvent
from gangproof.impl.table import added, removed
from gangproof.impl.world import World

QuorumStage = Literal["gate", "placed"]


def members(sets: Members, event: MemberEvent, pod: str) -> Members:
    """The member sets after the scheduler saw the event (QUEUE-01 to QUEUE-06; intended: DEV-10, 20, 23).

    Assuming and forgetting move only who is in the set before, and nothing leads back from Assigned (QUEUE-06a,
    QUEUE-06b, QUEUE-06d). An event moves a member in one step, so the sets are disjoint at every instant (INV-10).
    """
    if event == "assumed":
        if pod not in sets.unsched:
            return sets
        return evolve(sets, unsched=removed(sets.unsched, pod), assumed=added(sets.assumed, pod))
    if event == "forgotten":
        if pod not in sets.assumed:
            return sets
        return evolve(sets, assumed=removed(sets.assumed, pod), unsched=added(sets.unsched, pod))
    out = Members(
        unsched=removed(sets.unsched, pod),
        assumed=removed(sets.assumed, pod),
        assigned=removed(sets.assigned, pod),
        done=removed(sets.done, pod),
        leaving=removed(sets.leaving, pod),
    )
    match event:
        case "added":
            return evolve(out, unsched=added(out.unsched, pod))
        case "bound":
            return evolve(out, assigned=added(out.assigned, pod))
        case "finished":
            return evolve(out, done=added(out.done, pod))
        case "terminating" if pod in sets.assigned:
            return evolve(out, leaving=added(out.leaving, pod))
        case _:
            return out


def count(sets: Members, at: QuorumStage) -> int:
    """count(g): members that count, at the gate all known ones, later those with a place (SEMANTICS 0.5)."""
    return len(sets.all if at == "gate" else sets.scheduled) + len(sets.done)


def quorum(sets: Members, group: PodGroup, at: QuorumStage) -> bool:
    """Whether the group's minimum is met; a basic group has none (GANG-02, 03, 07, 09, 13, 14)."""
    return group.min_count is None or count(sets, at) >= group.min_count


def tell(rules: Rules, world: World, group: str | None, event: MemberEvent, pod: str) -> World:
    """The world after the member sets of the pod's group took in an event; an empty group is forgotten."""
    if group is None:
        return world
    sets = rules.members(world.members_of(group), event, pod)
    if sets == NO_MEMBERS:
        return evolve(world, members=world.members.drop(group)) if group in world.members else world
    return evolve(world, members=world.members.put(group, sets))
