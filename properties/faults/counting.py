"""Faults of the count that decides: who is a member, who counts, and what the minimum is."""

from __future__ import annotations

from functools import reduce

from attrs import evolve

from gangproof.impl.cycle_state import Code, Cycle
from gangproof.impl.members import QuorumStage, tell
from gangproof.impl.memory import NO_MEMBERS, Members
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.rules import Rules
from gangproof.impl.steps import (
    Answer,
    BindStep,
    ControllersStep,
    GateStep,
    MemberEvent,
    MembersStep,
    PermitStep,
    QuorumStep,
    VerdictStep,
)
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.faults.fault import Fault, fault


def _one_is_enough(old: QuorumStep) -> QuorumStep:
    def quorum(sets: Members, group: PodGroup, at: QuorumStage) -> bool:
        return old(sets, evolve(group, min_count=1), at)

    return quorum


F01 = fault(
    "F-01",
    "bind-below-minimum",
    "T1",
    "The one count that gate, verdict and permit read is content with a single member.",
    caught_by="all-or-nothing",
    wrong="p1 is bound alone and the group is reported scheduled",
    right="neither member is bound",
    seen_in="Volcano, 2022 (volcano-sh/volcano#2462)",
    quorum=_one_is_enough,
)


def _finished_leaves(old: MembersStep) -> MembersStep:
    def members(sets: Members, event: MemberEvent, pod: str) -> Members:
        return old(sets, "failed" if event == "finished" else event, pod)

    return members


F25 = fault(
    "F-25",
    "completed-member-leaves-count",
    "T2",
    "A member that succeeded is dropped like one that failed, so the rest can fall short for good.",
    caught_by="quorum counts, quiescence",
    wrong="b2 is gated for good: one member left of two",
    right="a counts on, so b2 is let through",
    seen_in="Kubernetes, September 2026 (kubernetes/kubernetes#142330); coscheduling, 2022 "
    "(kubernetes-sigs/scheduler-plugins#358)",
    members=_finished_leaves,
)


def _dying_assumed_is_forgotten(old: MembersStep) -> MembersStep:
    def members(sets: Members, event: MemberEvent, pod: str) -> Members:
        return old(sets, "forgotten" if event == "terminating" and pod in sets.assumed else event, pod)

    return members


F26 = fault(
    "F-26",
    "dying-assumed-member-comes-back",
    "T2",
    "An assumed member that is told to go is forgotten instead of removed: it is filed as pending and stays.",
    caught_by="quorum counts, queue conservation",
    wrong="the two ghosts are counted; c passes the gate and is tried",
    right="who is being deleted leaves the count at once; c waits for a second member",
    seen_in="Kubernetes, April 2026 (kubernetes/kubernetes#138422)",
    members=_dying_assumed_is_forgotten,
)


def _bound_in_two_moves(old: BindStep) -> BindStep:
    def bind(rules: Rules, world: World, pod: str, ok: bool) -> World:
        stored = world.pods.get(pod)
        group = stored.group if stored is not None else None
        if ok and group is not None and pod in world.members_of(group).assumed:
            return tell(rules, world, group, "gone", pod)
        return old(rules, world, pod, ok)

    return bind


F35 = fault(
    "F-35",
    "member-moves-in-two-steps",
    "T2",
    "A member that is bound leaves the assumed set in one step and enters the bound set in another.",
    caught_by="quorum counts",
    wrong="in between, one member is counted instead of two",
    right="each count is that of some serial order of the moves",
    seen_in="Kubernetes, March 2026 (kubernetes/kubernetes#137803)",
    bind=_bound_in_two_moves,
)


def _update_without_policy(old: QuorumStep) -> QuorumStep:
    def quorum(sets: Members, group: PodGroup, at: QuorumStage) -> bool:
        updated = group.finalizers != (PROTECTION_FINALIZER,)
        return old(sets, evolve(group, min_count=0) if updated else group, at)

    return quorum


F51 = fault(
    "F-51",
    "event-blanks-the-minimum",
    "T2",
    "An update that brings finalizers and no policy is taken for the whole object: the minimum becomes zero.",
    caught_by="all-or-nothing, quorum counts",
    wrong="a is bound alone",
    right="the minimum is that of the object; no event lowers it by saying nothing of it",
    seen_in="Volcano, 2021 (volcano-sh/volcano#1725)",
    quorum=_update_without_policy,
)


def _true_is_enough(old: QuorumStep) -> QuorumStep:
    def quorum(sets: Members, group: PodGroup, at: QuorumStage) -> bool:
        satisfied = group.condition is not None and group.condition.status == "True"
        return satisfied or old(sets, group, at)

    return quorum


F52 = fault(
    "F-52",
    "once-satisfied-always-satisfied",
    "T2",
    "After the first success nobody asks for the group's minimum again.",
    caught_by="all-or-nothing, quorum counts",
    wrong="c is bound alone",
    right="the minimum counts the members that exist, each time; c waits",
    seen_in="koordinator, November 2024 (koordinator-sh/koordinator#2244)",
    quorum=_true_is_enough,
)


def _dying_pending_stays(old: MembersStep) -> MembersStep:
    def members(sets: Members, event: MemberEvent, pod: str) -> Members:
        return sets if event == "terminating" and pod in sets.unsched else old(sets, event, pod)

    return members


F55 = fault(
    "F-55",
    "dying-pending-member-counts",
    "T2",
    "A member that was never placed and is being deleted is still counted.",
    caught_by="quorum counts",
    wrong="a passes the gate and is tried without a partner",
    right="who is going and holds no place counts for nothing",
    seen_in="Kueue, 2024 and 2025 (kubernetes-sigs/kueue#2208)",
    members=_dying_pending_stays,
)


def _keeps_the_first(old: ControllersStep) -> ControllersStep:
    def controllers(rules: Rules, world: World) -> World:
        world = old(rules, world)
        first = {key: group.min_count for key, group in world.groups.items() if group.min_count is not None}
        return evolve(world, memory=Table({**first, **world.memory}))

    return controllers


def _as_remembered(world: World) -> World:
    """The world in which every gang has the minimum that was read first under its name."""
    groups = world.groups
    for key, minimum in world.memory.items():
        group = groups.get(key)
        if group is not None:
            groups = groups.put(key, evolve(group, min_count=minimum))
    return evolve(world, groups=groups)


def _gate_remembers(old: GateStep) -> GateStep:
    def gate(rules: Rules, world: World, pod: Pod) -> tuple[str, ...]:
        return old(rules, _as_remembered(world), pod)

    return gate


def _verdict_remembers(old: VerdictStep) -> VerdictStep:
    def verdict(rules: Rules, world: World, cycle: Cycle) -> Code:
        return old(rules, _as_remembered(world), cycle)

    return verdict


def _permit_remembers(old: PermitStep) -> PermitStep:
    def permit(rules: Rules, world: World, sets: Members, pod: Pod) -> tuple[World, Answer]:
        return world, old(rules, _as_remembered(world), sets, pod)[1]

    return permit


F71 = fault(
    "F-71",
    "minimum-cached-by-name",
    "T4",
    "The minimum is read once for each group's name, and not again when a new group takes the name.",
    caught_by="all-or-nothing, quorum counts",
    wrong="a is bound alone under the old minimum",
    right="the minimum is that of the object that exists now",
    seen_in="coscheduling, 2020 (kubernetes-sigs/scheduler-plugins#49); KubeRay, August 2026 "
    "(ray-project/kuberay#5205)",
    controllers=_keeps_the_first,
    gate=_gate_remembers,
    verdict=_verdict_remembers,
    permit=_permit_remembers,
)


def _union(one: Members, other: Members) -> Members:
    names = ("unsched", "assumed", "assigned", "done", "leaving")
    return Members(**{n: tuple(sorted({*getattr(one, n), *getattr(other, n)})) for n in names})


def _gate_by_bare_name(old: GateStep) -> GateStep:
    def gate(rules: Rules, world: World, pod: Pod) -> tuple[str, ...]:
        if pod.group is None:
            return old(rules, world, pod)
        namesakes = [
            sets for group, sets in world.members.items() if group.partition("/")[2] == pod.scheduling_group
        ]
        sets = reduce(_union, namesakes, NO_MEMBERS)
        return old(rules, evolve(world, members=world.members.put(pod.group, sets)), pod)

    return gate


F88 = fault(
    "F-88",
    "membership-by-bare-name",
    "T5",
    "Members are matched to their group by its name alone, without the namespace.",
    caught_by="ownership and GC, quorum counts",
    clauses=("enough members of the gang exist",),
    wrong="b of another namespace completes the quorum of g",
    right="a group is a name in a namespace",
    seen_in="Kueue, August 2026 (kubernetes-sigs/kueue#14617)",
    gate=_gate_by_bare_name,
)

FAULTS: tuple[Fault, ...] = (F01, F25, F26, F35, F51, F52, F55, F71, F88)
