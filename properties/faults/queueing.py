"""Faults of the queue and of binding: who is popped, who is woken, who comes back, who keeps a place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import takewhile

from attrs import evolve

from gangproof.impl.commit import assume, forget, open_call
from gangproof.impl.cycle_state import Cycle, Event, Result
from gangproof.impl.memory import Entry
from gangproof.impl.objects import Pod
from gangproof.impl.rules import Rules
from gangproof.impl.steps import (
    BindStep,
    CheckStep,
    ExpireStep,
    FailStep,
    PopStep,
    ReadyStep,
    SubmitStep,
    WakeStep,
)
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.faults.fault import Fault, fault
from gangproof.properties.refinement.abstraction import group_name
from gangproof.properties.worlds.named import gang, node, pod, world


def _pop_among(old: PopStep, rules: Rules, world: World, visible: Callable[[Entry], bool]) -> World:
    """The old pop, which sees the visible entries only; the others stay where they are."""
    popped = old(rules, evolve(world, queue=tuple(e for e in world.queue if visible(e))))
    taken = {pod.key for pod in popped.cycle.members} if popped.cycle else set[str]()
    return evolve(popped, queue=tuple(e for e in world.queue if e.pod not in taken))


def _entity(world: World, entry: Entry) -> str:
    return group_name(world, world.pods[entry.pod])


def _by_first_arrival(old: ReadyStep) -> ReadyStep:
    def weight(world: World, entry: Entry) -> int:
        pod = world.pods[entry.pod]
        siblings = [world.pods[key] for key in world.members_of(pod.group or "").unsched]
        return min([pod, *siblings], key=lambda one: one.uid).priority

    def ready(world: World) -> Entry | None:
        active = [entry for entry in world.queue if entry.place == "active"]
        return max(active, key=lambda entry: weight(world, entry)) if active else old(world)

    return ready


F29 = fault(
    "F-29",
    "stronger-member-does-not-lift-group",
    "T2",
    "A group's place in the queue is that of its first member, also after a stronger one joined.",
    caught_by="queue order, determinism",
    wrong="x is popped before the group that holds the strongest pod",
    right="the strongest ready entity is popped first after every change",
    seen_in="Kubernetes, May 2026 (kubernetes/kubernetes#138567)",
    ready=_by_first_arrival,
)


def _no_second_try(old: BindStep) -> BindStep:
    def bind(rules: Rules, world: World, pod: str, ok: bool) -> World:
        stored = world.pods.get(pod)
        if ok or stored is None or pod not in world.assumed:
            return old(rules, world, pod, ok)
        world = forget(rules, evolve(world, bindings=world.bindings.drop(pod)), stored)
        return rules.fail(rules, world, stored, Result(pod, error="binding rejected"))

    return bind


F36 = fault(
    "F-36",
    "failed-bind-gives-slot-away",
    "T2",
    "A passing failure of a member's bind ends its attempt, and its room is offered to everybody.",
    caught_by="all-or-nothing, quiescence",
    wrong="x takes the room of b, and g runs with one member of two",
    right="the bind is tried again on the same node while the member fits there",
    seen_in="Kubernetes, May 2026 (kubernetes/kubernetes#138255); HAMi, June 2026 (Project-HAMi/HAMi#1832)",
    bind=_no_second_try,
)


def _siblings_come_back_at_once(old: FailStep) -> FailStep:
    def fail(rules: Rules, world: World, pod: Pod, result: Result) -> World:
        after = old(rules, world, pod, result)
        entry = after.entry(pod.key)
        if pod.group is None or entry is None or entry.place != "backoff":
            return after
        return evolve(after, queue=(*after.queue[:-1], evolve(entry, place="active", cooling=False)))

    return fail


F45 = fault(
    "F-45",
    "siblings-wake-each-other",
    "T2",
    "The members of a group that failed put one another back into the active queue, without any event.",
    caught_by="quiescence",
    wrong="g is tried again and again; x never gets its turn",
    right="one failed attempt, then backoff; x has its turn meanwhile",
    seen_in="coscheduling, 2022 and 2023 (kubernetes-sigs/scheduler-plugins#429, "
    "kubernetes-sigs/scheduler-plugins#682)",
    fail=_siblings_come_back_at_once,
)


def _one_by_one(old: PopStep) -> PopStep:
    def pop(rules: Rules, world: World) -> World:
        head = rules.ready(world)
        return _pop_among(old, rules, world, lambda entry: entry is head)

    return pop


def _held_until_all_are_there(old: SubmitStep) -> SubmitStep:
    def submit(rules: Rules, world: World, cycle: Cycle) -> World:
        if cycle.code == "Unschedulable" and all(result.kept for result in cycle.results):
            for pod, result in zip(cycle.members, cycle.results, strict=True):
                world = assume(rules, world, pod, result.node or "")
            return evolve(world, cycle=evolve(cycle, stage="reporting", snapshot=None, taken=None))
        world = old(rules, world, cycle)
        for key in world.assumed if cycle.code == "Success" else ():
            if key not in world.bindings and world.pods[key].group == cycle.group:
                world = open_call(world, key)
        return world

    return submit


F47 = fault(
    "F-47",
    "pod-by-pod-with-held-room",
    "T2",
    "Each member has a cycle of its own and waits for the others with its room held.",
    caught_by="quiescence, all-or-nothing",
    wrong="g1 and h1 hold one slot each and wait for ever",
    right="one group runs, the other holds nothing",
    seen_in="coscheduling, 2020 (kubernetes-sigs/scheduler-plugins#117); koordinator, 2022 "
    "(koordinator-sh/koordinator#872)",
    pop=_one_by_one,
    submit=_held_until_all_are_there,
)


def _arrivals_wake_nobody(old: WakeStep) -> WakeStep:
    def wake(rules: Rules, world: World, event: Event) -> World:
        return world if event.kind == "PodAdded" else old(rules, world, event)

    return wake


F48 = fault(
    "F-48",
    "arrival-wakes-only-the-newcomer",
    "T2",
    "When the member that completes the quorum arrives, only its own gate is examined.",
    caught_by="quiescence, quorum counts",
    wrong="p1 stays gated although two members of two exist",
    right="the arrival opens the gate of all members; p1 is tried",
    seen_in="coscheduling, 2020 (kubernetes-sigs/scheduler-plugins#125)",
    wake=_arrivals_wake_nobody,
)


def _last_one_wakes(old: WakeStep) -> WakeStep:
    def wake(rules: Rules, world: World, event: Event) -> World:
        after = old(rules, world, event)
        pairs = list(zip(world.queue, after.queue, strict=True))
        moved = [_entity(world, now) for then, now in pairs if then.place != now.place]
        if not moved:
            return after
        queue = [now if _entity(world, now) == moved[-1] else then for then, now in pairs]
        return evolve(after, queue=tuple(queue))

    return wake


F49 = fault(
    "F-49",
    "wake-list-overwritten",
    "T2",
    "Whom an event wakes is assigned instead of added to the list, so only the last one visited wakes.",
    caught_by="determinism, quiescence",
    wrong="only one of a and b wakes",
    right="both are bound, in either order of visit",
    seen_in="Volcano, March and April 2026 (volcano-sh/volcano#5141)",
    wake=_last_one_wakes,
)


def _skipped_stay_in_flight(old: CheckStep) -> CheckStep:
    def check(world: World, cycle: Cycle) -> World:
        return evolve(old(world, cycle), in_flight=world.in_flight)

    return check


HELD = world(
    node("n1", 2),
    gang("g1", 2),
    *(evolve(pod(f"p{n}", "g1"), finalizers=("example.com/keep",)) for n in (1, 2, 3)),
    deletions=1,
)
"""A gang of two with a spare member; somebody deletes one object at any time, and deleted pods stay a while."""

F28 = fault(
    "F-28",
    "skipped-member-is-not-closed",
    "T2",
    "Members that are gone, or have a place, when their cycle begins are left out of it and not closed.",
    caught_by="queue conservation, quiescence",
    world=HELD,
    wrong="the member stays in flight, and is not popped again if it comes back",
    right="each pop is matched by one close",
    seen_in="Kubernetes, July 2026 (kubernetes/kubernetes#140478)",
    check=_skipped_stay_in_flight,
)


def _gives_up_half_way(old: PopStep) -> PopStep:
    def pop(rules: Rules, world: World) -> World:
        popped = old(rules, world)
        if popped.cycle is None:
            return popped
        members = popped.cycle.members
        tried = {entry.pod for entry in world.queue if entry.tried}
        lost = list(takewhile(lambda pod: pod is members[0] or pod.key not in tried, members))
        if len(lost) == len(members):
            return popped
        dropped = {pod.key: pod.uid for pod in lost}
        return evolve(
            popped,
            queue=tuple(entry for entry in world.queue if entry.pod not in dropped),
            in_flight=Table({**world.in_flight, **dropped}),
            cycle=evolve(popped.cycle, members=()),
        )

    return pop


F30 = fault(
    "F-30",
    "half-registered-pop",
    "T2",
    "A pop registers its members one by one, and gives up at one that an earlier cycle has registered.",
    caught_by="queue conservation",
    wrong="p1 is in no queue and in no cycle",
    right="registration is all or nothing: a popped member is in the cycle or back in the queue",
    seen_in="Kubernetes, May 2026 (kubernetes/kubernetes#138567)",
    pop=_gives_up_half_way,
)


def _active_ones_only(old: PopStep) -> PopStep:
    def pop(rules: Rules, world: World) -> World:
        return _pop_among(old, rules, world, lambda entry: entry.place == "active")

    return pop


def _one_at_a_time(old: ExpireStep) -> ExpireStep:
    def expire(rules: Rules, world: World, entity: str) -> World:
        pairs = list(zip(world.queue, old(rules, world, entity).queue, strict=True))
        first = next((now.pod for then, now in pairs if then != now), None)
        return evolve(world, queue=tuple(now if then.pod == first else then for then, now in pairs))

    return expire


F44 = fault(
    "F-44",
    "pop-pulls-only-active-siblings",
    "T2",
    "A pop takes along only the siblings that are active, and each member has a backoff of its own.",
    caught_by="quiescence, all-or-nothing",
    wrong="each member misses the minimum alone, in turns, and they never meet",
    right="popping one member takes all pending members of its group",
    seen_in="Kubernetes enhancements, 2020 (kubernetes/enhancements#1647)",
    pop=_active_ones_only,
    expire=_one_at_a_time,
)


def _waits_for_room(known: Callable[[World, Cycle], int], old: FailStep) -> FailStep:
    """Members that are `known` to be enough and found too few places wait in the pool until there is room."""

    def fail(rules: Rules, world: World, pod: Pod, result: Result) -> World:
        cycle, after = world.cycle, old(rules, world, pod, result)
        entry = after.entry(pod.key)
        group = world.groups.get(pod.group or "")
        if cycle is None or cycle.code != "Unschedulable" or entry is None or group is None:
            return after
        kept = sum(result.kept for result in cycle.results)
        placed = kept + len(world.members_of(group.key).scheduled)
        if not placed < (group.min_count or 0) <= known(world, cycle):
            return after
        pooled = evolve(entry, place="pool", plugins=("NodeResourcesFit",), cooling=False)
        return evolve(after, queue=tuple(pooled if one is entry else one for one in after.queue))

    return fail


def members_now(world: World, cycle: Cycle) -> int:
    """How many members there are when the cycle ends."""
    return len(world.members_of(cycle.group or "").all)


def members_tried(world: World, cycle: Cycle) -> int:
    """How many members the cycle had, those with a place from before included."""
    return len(cycle.members) + len(world.members_of(cycle.group or "").scheduled)


def _pop_but_who_waits_for_room(old: PopStep) -> PopStep:
    def pop(rules: Rules, world: World) -> World:
        return _pop_among(old, rules, world, lambda entry: entry.place != "pool")

    return pop


REPLACED = world(node("n1", 4), gang("g", 3), *(pod(name, "g") for name in ("a", "b", "c", "d")), deletions=1)
"""Room for a gang of three and a spare member, who comes at any time; somebody deletes one object."""


def counting(known: Callable[[World, Cycle], int]) -> Fault:
    """F-27, if both numbers are not `known` from one instant."""
    return fault(
        "F-27",
        "count-and-members-from-two-instants",
        "T2",
        "Whether a cycle can reach the minimum is read off the living total, which is younger than its members.",
        caught_by="quorum counts, quiescence",
        world=REPLACED,
        wrong="a and b fell short as c went, d came instead, and the three never meet",
        right="the numbers of a cycle are of one instant; who came meanwhile is tried with the others in the next",
        seen_in="Kubernetes, review of June 2026 (kubernetes/kubernetes#139882)",
        fail=partial(_waits_for_room, known),
        pop=_pop_but_who_waits_for_room,
    )


F27 = counting(members_now)

FAULTS: tuple[Fault, ...] = (F27, F28, F29, F30, F36, F44, F45, F47, F48, F49)
