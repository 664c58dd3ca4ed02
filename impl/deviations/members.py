"""Deviations in the member sets: who is counted, and for how long."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.commit import forget, give_up
from gangproof.impl.cycle_state import Result
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.members import tell
from gangproof.impl.memory import Members
from gangproof.impl.objects import Pod
from gangproof.impl.queue import add, requeue
from gangproof.impl.rules import Change, Rules
from gangproof.impl.steps import AppearStep, FailStep, MemberEvent, MembersStep, TerminateStep
from gangproof.impl.table import added, removed
from gangproof.impl.world import World


def overlapping(old: MembersStep) -> MembersStep:
    """A member that another scheduler binds stays in Unsched as well (QUEUE-05)."""

    def members(sets: Members, event: MemberEvent, pod: str) -> Members:
        new = old(sets, event, pod)
        if event == "bound" and pod in sets.unsched:
            return evolve(new, unsched=added(new.unsched, pod))
        return new

    return members


def dying_stay(old: MembersStep) -> MembersStep:
    """A terminating member keeps its set; an assumed one goes back to Unsched (BIND-10, QUEUE-06b, OBS-08)."""

    def members(sets: Members, event: MemberEvent, pod: str) -> Members:
        if event == "terminating" and pod not in sets.assigned:
            return old(sets, "forgotten", pod)
        return old(sets, event, pod)

    return members


def dying_appear(old: AppearStep) -> AppearStep:
    """A pending pod that is going is taken in like any other when it is first seen, as after a restart (QUEUE-07)."""

    def appear(rules: Rules, world: World, pod: Pod) -> World:
        return add(rules, tell(rules, world, pod.group, "added", pod.key), pod)

    return appear


def dying_are_queued(old: TerminateStep) -> TerminateStep:
    """A pending pod that is going keeps its place in the queue; an assumed one is forgotten (BIND-10)."""

    def terminate(rules: Rules, world: World, pod: Pod) -> World:
        if pod.node_name is not None:
            return old(rules, world, pod)
        binding = world.bindings.get(pod.key)
        if binding is not None and binding.call == "permit":
            return give_up(rules, world, pod.key, Result(pod.key, plugins=("GangScheduling",)))
        return forget(rules, world, pod)

    return terminate


def dying_come_back(old: FailStep) -> FailStep:
    """A terminating pod whose binding fails is queued again, though it will never be tried (QUEUE-20)."""

    def fail(rules: Rules, world: World, pod: Pod, result: Result) -> World:
        stored = world.pods.get(pod.key)
        if stored is not None and stored.terminating and stored.uid == pod.uid and not stored.node_name:
            return requeue(rules, world, stored, result)
        return old(rules, world, pod, result)

    return fail


def ended_leave(old: MembersStep) -> MembersStep:
    """A bound member that is going still counts, one that succeeded does not (GANG-03, QUEUE-06)."""

    def members(sets: Members, event: MemberEvent, pod: str) -> Members:
        if event == "terminating" and pod in sets.assigned:
            return sets
        new = old(sets, event, pod)
        return evolve(new, done=removed(new.done, pod)) if event == "finished" else new

    return members


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-10",
            "a member that another scheduler binds is in Unsched and in Assigned at once",
            {"members": overlapping},
        ),
        promise="member sets are disjoint",
        intended="the event that shows a member bound takes it out of every other set in the same step",
        breaks=("INV-10",),
        rules=("QUEUE-05",),
    ),
    Deviation(
        Change(
            "DEV-20",
            "a terminating member that had no node yet stays counted as unscheduled, and queued",
            {
                "appear": dying_appear,
                "members": dying_stay,
                "terminate": dying_are_queued,
                "fail": dying_come_back,
            },
        ),
        promise="dying pods leave the counts",
        intended="a member that gets a deletion timestamp leaves every set and the queue with that event",
        breaks=("INV-02", "INV-03", "INV-08", "INV-11", "INV-28"),
        rules=("BIND-10", "QUEUE-06b"),
        scenario="DEV-20-shipped",
    ),
    Deviation(
        Change(
            "DEV-23",
            "gated and terminating members count for the minimum, members that completed do not",
            {"members": ended_leave},
        ),
        promise="minCount pods are available",
        intended="terminating and Failed members do not count, Succeeded ones do",
        breaks=("LIVE-02", "INV-02", "INV-11"),
        rules=("GANG-03", "GANG-09", "QUEUE-06b"),
        scenario="DEV-23-shipped",
    ),
)
