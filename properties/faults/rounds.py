"""Faults of preemption in its course: when it begins, when it evicts, what it reserves, whom it wakes."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.cycle_state import Code, Cycle
from gangproof.impl.deviations.preemption import (
    before_the_verdict,
    calls_begin_later,
    group_again_while_a_round_runs,
    nobody_wakes,
)
from gangproof.impl.deviations.queue import passing_over_gated
from gangproof.impl.preemption.group import refuse
from gangproof.impl.preemption.nominate import cleared
from gangproof.impl.preemption.spare import without
from gangproof.impl.preemption.units import Unit
from gangproof.impl.rules import Rules
from gangproof.impl.steps import AskAsGroupStep, BindStep, NominateStep, PreemptStep, VerdictStep
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.faults.fault import Fault, fault


def _unless_all_have_a_place(old: VerdictStep) -> VerdictStep:
    def verdict(rules: Rules, world: World, cycle: Cycle) -> Code:
        code = old(rules, world, cycle)
        aware = world.settings.gates.workload_aware_preemption and cycle.group is not None
        incomplete = any(not result.kept for result in cycle.results)
        return "Unschedulable" if code == "Success" and aware and incomplete and not cycle.trial else code

    return verdict


def _for_the_rest(old: AskAsGroupStep) -> AskAsGroupStep:
    def ask_as_group(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
        places = {result.pod: result.node for result in cycle.results if result.node is not None}
        rest, taken = tuple(pod for pod in cycle.members if pod.key not in places), cycle.taken
        if not rest or taken is None:
            return old(rules, world, cycle)
        for pod in cycle.members:
            if pod.key in places:
                taken = rules.assume(rules, taken, pod, places[pod.key])
        asked = old(rules, world, evolve(cycle, members=rest, taken=taken, snapshot=taken))
        whole = {"members": cycle.members, "taken": cycle.taken, "snapshot": cycle.snapshot}
        return tuple(evolve(out, plan=Table({**places, **out.plan}), **whole) for out in asked)

    return ask_as_group


F02 = fault(
    "F-02",
    "preempt-despite-success",
    "T1",
    "Preemption begins whenever a member has no place, and takes those placed in this cycle for settled ones.",
    caught_by="victim minimality, queue order",
    wrong="the first attempt evicts v and binds nobody",
    right="the first attempt binds p1 and p2 and evicts nobody; only a later one, for p3, may evict v",
    seen_in="Kubernetes, 2026 (kubernetes/kubernetes#139464, kubernetes/kubernetes#140496)",
    verdict=_unless_all_have_a_place,
    ask_as_group=_for_the_rest,
)


def _collected(rules: Rules, world: World, cycle: Cycle) -> list[Unit]:
    """The candidates that the group step looked at, none if it was refused before."""
    group = world.groups.get(cycle.group or "")
    if group is None or cycle.taken is None or refuse(world, cycle, group):
        return []
    return rules.victims(world, cycle.taken.nodes, cycle.members[0])


def _as_soon_as_collected(old: AskAsGroupStep) -> AskAsGroupStep:
    def ask_as_group(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
        asker = cycle.members[0].key
        units = _collected(rules, world, cycle)
        victims = tuple((key, asker) for unit in units for key in unit.keys)
        outcomes = old(rules, world, cycle)
        return tuple(out if out.code == "Waiting" else evolve(out, victims=victims) for out in outcomes)

    return ask_as_group


F07 = fault(
    "F-07",
    "evict-before-verdict",
    "T1",
    "Victims are handed to eviction when they are collected, before the trial without them is judged.",
    caught_by="victim minimality, no eviction of bound members",
    wrong="v is evicted although one freed slot cannot hold two members",
    right="no eviction unless the group is placed afterwards",
    seen_in="Volcano, February 2026 (volcano-sh/volcano#5010, volcano-sh/volcano#5011)",
    ask_as_group=_as_soon_as_collected,
)

F08 = fault(
    "F-08",
    "member-evicts-on-its-own",
    "T1",
    "Each member evicts for itself in the cycle of its group, and the group's failure takes nothing back.",
    caught_by="victim minimality, all-or-nothing",
    wrong="p1 evicts v, p2 finds nothing, the group fails, and v is gone for nothing",
    right="what members ask for is held until the verdict of their group",
    seen_in="koordinator, March 2023 (koordinator-sh/koordinator#1160)",
    evict=before_the_verdict,
)


def _failed_probe_stays(old: AskAsGroupStep) -> AskAsGroupStep:
    def ask_as_group(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
        outcomes, taken = old(rules, world, cycle), cycle.taken
        if taken is None:
            return outcomes
        bare = without(taken, _collected(rules, world, cycle))
        return tuple(out if out.code == "Waiting" else evolve(out, snapshot=bare) for out in outcomes)

    return ask_as_group


F15 = fault(
    "F-15",
    "failed-probe-keeps-room-free",
    "T1",
    "Victims that were removed for a trial are put back only if the trial succeeds.",
    caught_by="exact undo, capacity",
    wrong="after the failed probe the snapshot lacks v, who still runs",
    right="the snapshot after the probe is the one before it",
    seen_in="KAI-Scheduler, July 2026 (kai-scheduler/KAI-Scheduler#1719)",
    ask_as_group=_failed_probe_stays,
)


def _kept_under_no_node(old: NominateStep) -> NominateStep:
    def nominate(world: World, cycle: Cycle) -> World:
        after = old(world, cycle)
        nominations = after.nominations
        for pod in cycle.members:
            if pod.key not in nominations and after.entry(pod.key) is not None:
                nominations = nominations.put(pod.key, "")
        return evolve(after, nominations=nominations)

    return nominate


F32 = fault(
    "F-32",
    "cleared-nomination-kept-under-no-node",
    "T2",
    "Clearing a nomination files the pod under the empty node name instead of removing it.",
    caught_by="nominations, exact undo",
    wrong="there is an entry for no node, and it grows with every pod that fails",
    right="no entry: a pod occurs at most once, and never without a node",
    seen_in="Kubernetes, April 2026 (kubernetes/kubernetes#138267)",
    nominate=_kept_under_no_node,
)

F33 = fault(
    "F-33",
    "flush-passes-over-gated-preemptor",
    "T2",
    "Neither the end of its preemption nor the flush looks again at a pod that is gated for it.",
    caught_by="quiescence",
    wrong="h is gated for good beside an empty node",
    right="the end of a preemption wakes its preemptor, and the flush asks at every gate",
    seen_in="Kubernetes, May 2026 (kubernetes/kubernetes#139162)",
    resume=nobody_wakes,
    evict=calls_begin_later,
    wake=passing_over_gated,
)

F34 = fault(
    "F-34",
    "second-empty-preemption-sleeps",
    "T2",
    "A round with nothing left to delete wakes nobody, and its victims' own events came too early.",
    caught_by="quiescence, victim minimality",
    wrong="h is gated beside an empty node",
    right="the end of a round always wakes its preemptor",
    seen_in="Kubernetes, August 2026 (kubernetes/kubernetes#141694)",
    resume=nobody_wakes,
    evict=calls_begin_later,
)

F37 = fault(
    "F-37",
    "second-preemption-while-first-runs",
    "T2",
    "A group that is tried again while its victims are going chooses victims anew.",
    caught_by="victim minimality",
    wrong="the end of u wakes p1, and v2, weaker than v1, is evicted too",
    right="nothing is chosen while room made for this group is still on its way",
    seen_in="Kubernetes, March and April 2026 (kubernetes/kubernetes#137606, kubernetes/kubernetes#138710)",
    ask_as_group=group_again_while_a_round_runs,
)


def _wiped_while_waiting(old: NominateStep) -> NominateStep:
    def nominate(world: World, cycle: Cycle) -> World:
        if cycle.code != "Unschedulable":
            return old(world, cycle)
        return cleared(world, (pod.key for pod in cycle.members))

    return nominate


F39 = fault(
    "F-39",
    "waiting-wipes-nominations",
    "T2",
    "That a preemption is running counts as a plain failure, and a failure clears all nominations.",
    caught_by="nominations, victim minimality",
    wrong="the try that waits for v2 leaves n1 to x, who has to be evicted then",
    right="nominations last until success or definite failure",
    seen_in="Kubernetes, July 2026 (kubernetes/kubernetes#140641)",
    nominate=_wiped_while_waiting,
)


def _nobody_is_nominated(old: NominateStep) -> NominateStep:
    def nominate(world: World, cycle: Cycle) -> World:
        return (
            old(world, cycle) if cycle.group is None else cleared(world, (pod.key for pod in cycle.members))
        )

    return nominate


F40 = fault(
    "F-40",
    "group-evicts-without-nominating",
    "T2",
    "A group evicts and nominates nobody, so the room belongs to whoever comes first.",
    caught_by="nominations, victim minimality, victim strength",
    wrong="x takes a freed node before g is tried again, and is evicted next, and so on for ever",
    right="room that is made for a group is kept from weaker pods",
    seen_in="Kubernetes, May 2026 (kubernetes/kubernetes#138967); Kueue, August 2026 "
    "(kubernetes-sigs/kueue#14683)",
    nominate=_nobody_is_nominated,
)


def _deleted_whatever_it_does(old: PreemptStep) -> PreemptStep:
    def preempt(rules: Rules, world: World, pod: str) -> World:
        return old(rules, evolve(world, bindings=world.bindings.drop(pod)), pod)

    return preempt


F42 = fault(
    "F-42",
    "waiting-victim-is-deleted",
    "T2",
    "A victim that holds room and is not bound yet is deleted instead of being sent back.",
    caught_by="no eviction of bound members, queue conservation",
    wrong="the pod object of v is gone",
    right="v loses its room, not its life",
    seen_in="Kubernetes, 2021 (kubernetes/kubernetes#100235)",
    preempt=_deleted_whatever_it_does,
)


def _accepted_late(old: BindStep) -> BindStep:
    def bind(rules: Rules, world: World, pod: str, ok: bool) -> World:
        stored = world.pods.get(pod)
        evicted = stored is not None and stored.terminating and stored.node_name is None
        return old(rules, world, pod, ok or evicted)

    return bind


F54 = fault(
    "F-54",
    "late-bind-revives-victim",
    "T2",
    "A bind that was under way when its pod was evicted is accepted; its room was given away meanwhile.",
    caught_by="capacity, version monotone",
    wrong="v and h are both bound to n1",
    right="the late write is refused",
    seen_in="Kueue, May 2026 (kubernetes-sigs/kueue#11480)",
    bind=_accepted_late,
)

FAULTS: tuple[Fault, ...] = (F02, F07, F08, F15, F32, F33, F34, F37, F39, F40, F42, F54)
