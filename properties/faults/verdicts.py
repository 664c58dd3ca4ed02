"""Faults after the search: the verdict's way to the queue and to the condition, and the clean-up of others."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.api import delete
from gangproof.impl.cycle_state import Code, Cycle
from gangproof.impl.deviations.condition import by_the_copy, unseen_at_first
from gangproof.impl.gates import Object
from gangproof.impl.objects import Condition, PodGroup
from gangproof.impl.rules import Rules
from gangproof.impl.steps import ConditionStep, ControllersStep, RegistryStep, SubmitStep
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.faults.fault import Fault, fault


def _all_present(old: ConditionStep) -> ConditionStep:
    def condition(world: World, group: PodGroup, code: Code, message: str) -> Condition | None:
        sets = world.members_of(group.key)
        if code == "Success" and sets.unsched:
            return old(world, group, "Unschedulable", "some members are not bound")
        return old(world, group, code, message)

    return condition


F03 = fault(
    "F-03",
    "condition-compares-with-present",
    "T1",
    "The condition compares the placed members with those that happen to exist, not with the minimum.",
    caught_by="condition",
    wrong="the group stays False because a third member exists and is unbound",
    right="True as soon as the minimum is placed",
    seen_in="Kueue, May 2026 (kubernetes-sigs/kueue#11654)",
    condition=_all_present,
)


def _no_report_before_the_algorithm(old: SubmitStep) -> SubmitStep:
    def submit(rules: Rules, world: World, cycle: Cycle) -> World:
        after = old(rules, world, cycle)
        return after if cycle.taken is not None else evolve(after, cycle=None)

    return submit


F22 = fault(
    "F-22",
    "early-exit-without-condition",
    "T1",
    "A cycle that ends before the algorithm gives its members back and never writes the condition.",
    caught_by="condition, queue conservation",
    wrong="no condition at all: the group looks as if it had never been tried",
    right="each verdict writes the condition, an error too",
    seen_in="Kubernetes, May 2026 (kubernetes/kubernetes#139293)",
    submit=_no_report_before_the_algorithm,
)


def _latest_result(old: ConditionStep) -> ConditionStep:
    def condition(world: World, group: PodGroup, code: Code, message: str) -> Condition | None:
        unreported = evolve(group, condition=None)
        return old(evolve(world, groups=world.groups.put(group.key, unreported)), unreported, code, message)

    return condition


F23 = fault(
    "F-23",
    "condition-flips-back",
    "T1",
    "The condition is the result of the latest cycle, also when the group was reported scheduled before.",
    caught_by="condition",
    wrong="the failed cycle for p3 turns the condition False",
    right="True stays True",
    seen_in="Kubernetes, March to September 2026 (kubernetes/kubernetes#139743, "
    "kubernetes/kubernetes#137611)",
    condition=_latest_result,
)


def _stops_at_bare_member(old: SubmitStep) -> SubmitStep:
    def submit(rules: Rules, world: World, cycle: Cycle) -> World:
        for place, result in enumerate(cycle.results, 1):
            if (cycle.code != "Success" or not result.kept) and result.pod not in world.nominations:
                cycle = evolve(cycle, members=cycle.members[:place], results=cycle.results[:place])
                break
        return old(rules, world, cycle)

    return submit


F24 = fault(
    "F-24",
    "submit-stops-at-bare-member",
    "T1",
    "Carrying out a verdict ends at the first failed member without a nomination; those after it are lost.",
    caught_by="queue conservation, quiescence",
    wrong="p2 is in no place of the queue; the new node changes nothing",
    right="all members are closed and queued again, with a nomination or without",
    seen_in="Kubernetes, February 2026 (kubernetes/kubernetes#137188)",
    submit=_stops_at_bare_member,
)


def _places_kept_as_nominations(old: SubmitStep) -> SubmitStep:
    def submit(rules: Rules, world: World, cycle: Cycle) -> World:
        after = old(rules, world, cycle)
        if cycle.group is None or cycle.code == "Success":
            return after
        nominations = after.nominations
        for result in cycle.results:
            if result.node is not None and after.entry(result.pod) is not None:
                nominations = nominations.put(result.pod, result.node)
        return evolve(after, nominations=nominations)

    return submit


F46 = fault(
    "F-46",
    "nomination-outlives-failed-group",
    "T2",
    "The places found for some members of a failed cycle are kept as nominations, though there is no plan.",
    caught_by="nominations, quiescence",
    wrong="n1 stays reserved for a, which can never use it",
    right="a group that fails for good has no nominations; x is bound",
    seen_in="coscheduling, 2021 (kubernetes-sigs/scheduler-plugins#293)",
    submit=_places_kept_as_nominations,
)


def _as_many_as_run(old: ControllersStep) -> ControllersStep:
    def controllers(rules: Rules, world: World) -> World:
        world = old(rules, world)
        groups = world.groups
        for group in groups.values():
            scheduled = group.condition is not None and group.condition.status == "True"
            running = len(world.members_of(group.key).assigned)
            if scheduled and running < (group.min_count or 0):
                fallen = Condition("False", "Unschedulable", "too few members run")
                groups = groups.put(group.key, evolve(group, condition=fallen))
        return evolve(world, groups=groups)

    return controllers


F50 = fault(
    "F-50",
    "condition-follows-running-count",
    "T2",
    "The condition is computed anew from the members that run at the moment.",
    caught_by="condition",
    wrong="False after the first or the second deletion",
    right="True is final",
    seen_in="Volcano, 2019 and 2026 (volcano-sh/volcano#457, volcano-sh/volcano#5796, "
    "volcano-sh/volcano#5996)",
    controllers=_as_many_as_run,
)


def _broken_gangs_are_cleared(old: ControllersStep) -> ControllersStep:
    def controllers(rules: Rules, world: World) -> World:
        world = old(rules, world)
        for group in world.groups.values():
            sets = world.members_of(group.key)
            if sets.done and sets.assigned and len(sets.assigned) < (group.min_count or 0):
                return delete(rules, world, "pod", sets.assigned[0])
        return world

    return controllers


F53 = fault(
    "F-53",
    "completion-evicts-siblings",
    "T2",
    "When a member finishes and fewer than the minimum run on, the others are cleared away as a broken gang.",
    caught_by="no eviction of bound members",
    wrong="b is evicted",
    right="b runs on",
    seen_in="KAI-Scheduler, July 2026 (kai-scheduler/KAI-Scheduler#1968)",
    controllers=_broken_gangs_are_cleared,
)


F76 = fault(
    "F-76",
    "condition-judged-by-stale-copy",
    "T5",
    "Whether the group was reported scheduled is looked up in a copy that may be older than the last write.",
    caught_by="condition",
    wrong="the retry of the third member turns the condition False, for good",
    right="the write compares with what it replaces: True stays True",
    seen_in="Kubernetes, 2026 (kubernetes/kubernetes#136334); koordinator, May 2024 "
    "(koordinator-sh/koordinator#2030)",
    condition=by_the_copy,
    store=unseen_at_first,
)


def _as_the_writer_knew_it(old: RegistryStep) -> RegistryStep:
    def registry(stored: Object, written: Object) -> Object:
        kept = old(stored, written)
        return evolve(kept, condition=None) if isinstance(kept, PodGroup) else kept

    return registry


F81 = fault(
    "F-81",
    "main-write-touches-status",
    "T5",
    "Who writes the group object itself writes its status too, as it was when the manifest was made: none.",
    caught_by="condition, validation",
    wrong="the condition is gone, though the group was decided for",
    right="a write of the main resource leaves the status as it was",
    seen_in="Kubernetes, July 2026 (kubernetes/kubernetes#140654)",
    registry=_as_the_writer_knew_it,
)


def _sees_no_pods(old: ControllersStep) -> ControllersStep:
    def controllers(rules: Rules, world: World) -> World:
        return evolve(old(rules, evolve(world, pods=Table())), pods=world.pods)

    return controllers


F82 = fault(
    "F-82",
    "group-goes-before-its-members",
    "T5",
    "A deleted group loses its protection at once, whoever refers to it.",
    caught_by="ownership and GC",
    wrong="g vanishes under a, and its policy with it",
    right="g goes exactly when no unfinished pod refers to it",
    seen_in="Kubernetes, March 2026 (kubernetes/kubernetes#137641)",
    controllers=_sees_no_pods,
)


def _sees_no_ends(old: ControllersStep) -> ControllersStep:
    def controllers(rules: Rules, world: World) -> World:
        running = Table({key: evolve(pod, phase="Running") for key, pod in world.pods.items()})
        return evolve(old(rules, evolve(world, pods=running)), pods=world.pods)

    return controllers


F83 = fault(
    "F-83",
    "finished-member-keeps-group",
    "T5",
    "Only the deletion of a pod lets its group go, not its end.",
    caught_by="ownership and GC, quiescence",
    wrong="g is terminating for good",
    right="the last end of a member lets g go",
    seen_in="Kubernetes, March 2026 (kubernetes/kubernetes#137641)",
    controllers=_sees_no_ends,
)

FAULTS: tuple[Fault, ...] = (F03, F22, F23, F24, F46, F50, F53, F76, F81, F82, F83)
