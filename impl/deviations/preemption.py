"""Deviations in preemption: whom it takes, when it evicts, whom it wakes."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.cycle import running
from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.memory import NodeInfo, Round
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.rounds import outranked, preemptors
from gangproof.impl.preemption.single import waits_for_its_victims
from gangproof.impl.preemption.units import Unit, goes_whole, units_on
from gangproof.impl.queue import activate
from gangproof.impl.rules import Change, Rules
from gangproof.impl.steps import (
    AskAsGroupStep,
    AskStep,
    DisplaceStep,
    EvictStep,
    HeedStep,
    NominateStep,
    RecoverStep,
    ResumeStep,
    VictimsStep,
    Wish,
)
from gangproof.impl.strength import strength
from gangproof.impl.table import Table
from gangproof.impl.world import World


def _own_priority(pod: Pod) -> int:
    return pod.priority


def single_for_plain_pods(old: VictimsStep) -> VictimsStep:
    """A plain pod takes single pods by their own priority and knows nothing of groups (PREEMPT-06, OBS-06)."""

    def victims(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
        if preemptor.group is not None:
            return old(world, nodes, preemptor)
        units = units_on(world, nodes, _own_priority, lambda pod: False)
        return [unit for unit in units if unit.priority < preemptor.priority]

    return victims


def by_own_priority(old: VictimsStep) -> VictimsStep:
    """Only a group that goes whole has its group's priority; every other pod its own (PREEMPT-20)."""

    def victims(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
        if preemptor.group is None or not world.settings.gates.workload_aware_preemption:
            return old(world, nodes, preemptor)

        def judged(pod: Pod) -> int:
            return strength(world, pod) if goes_whole(world, pod) else pod.priority

        mine = strength(world, preemptor)
        units = units_on(world, nodes, judged, lambda pod: goes_whole(world, pod))
        return [unit for unit in units if unit.priority < mine and unit.group != preemptor.group]

    return victims


def own_members_too(old: VictimsStep) -> VictimsStep:
    """Members of the preemptor's own group are candidates by their own priority (PREEMPT-21, PREEMPT-48)."""

    def victims(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
        others = old(world, nodes, preemptor)
        own = [
            unit
            for unit in units_on(world, nodes, _own_priority, lambda pod: False)
            if preemptor.group is not None
            and unit.group == preemptor.group
            and unit.priority < strength(world, preemptor)
            and not any(goes_whole(world, world.pods[key]) for key in unit.keys if key in world.pods)
        ]
        return sorted((*others, *own), key=lambda unit: unit.pods)

    return victims


def again_while_a_round_runs(old: AskStep) -> AskStep:
    """A member may choose victims anew unless one that it evicted is still going on its nominated node (PREEMPT-45)."""

    def ask(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[Wish, ...]:
        _, seen = running(world)
        waits = waits_for_its_victims(world, seen, world.pods.get(pod.key) or pod)
        return () if waits else old(rules, _without_round(world, cycle), cycle, pod)

    return ask


def group_again_while_a_round_runs(old: AskAsGroupStep) -> AskAsGroupStep:
    """A group may choose victims anew while others are still going (PREEMPT-13, PREEMPT-43)."""

    def ask_as_group(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
        return old(rules, _without_round(world, cycle), cycle)

    return ask_as_group


def cleared_while_a_round_runs(old: NominateStep) -> NominateStep:
    """A group that is refused loses its nominations although its round still runs (CYCLE-47)."""

    def nominate(world: World, cycle: Cycle) -> World:
        if cycle.code == "Waiting":
            return old(world, cycle)
        return evolve(old(_without_round(world, cycle), cycle), rounds=world.rounds)

    return nominate


def _without_round(world: World, cycle: Cycle) -> World:
    return evolve(world, rounds=world.rounds.drop(cycle.preemptor))


def victims_stay(_: DisplaceStep) -> DisplaceStep:
    """Victims of one member stay in the snapshot for the members after it (CYCLE-20)."""

    def displace(snapshot: Snapshot, victims: tuple[str, ...]) -> Snapshot:
        return snapshot

    return displace


def before_the_verdict(old: EvictStep) -> EvictStep:
    """What members asked for is evicted whatever becomes of their group (PREEMPT-44)."""

    def evict(rules: Rules, world: World, cycle: Cycle) -> World:
        asked = tuple((victim, result.pod) for result in cycle.results for victim in result.victims)
        return old(rules, world, evolve(cycle, victims=asked) if asked else cycle)

    return evict


def cleared_before_the_verdict(old: HeedStep) -> HeedStep:
    """With calls in the cycle a member's evictions clear weaker nominations before the next is tried (PREEMPT-35)."""

    def heed(world: World, pod: Pod, nominated: Pod) -> bool:
        results = world.cycle.results if world.cycle is not None else ()
        asynchronous = world.settings.gates.scheduler_async_preemption
        return old(world, pod, nominated) and (asynchronous or not outranked(world, results, nominated))

    return heed


def only_with_a_plugin_to_wake(_: ResumeStep) -> ResumeStep:
    """Only members that a filter rejected are woken when a round is over; others depend on them (PREEMPT-34)."""

    def resume(rules: Rules, world: World, over: Round) -> World:
        concerned = preemptors(world, over)
        rejected = tuple(
            entry.pod
            for entry in world.queue
            if entry.pod in concerned and set(entry.plugins) - {"DefaultPreemption", "GangScheduling"}
        )
        return activate(rules, world, rejected)

    return resume


def nobody_wakes(_: ResumeStep) -> ResumeStep:
    """The end of a round wakes nobody (PREEMPT-31, PREEMPT-42)."""

    def resume(rules: Rules, world: World, over: Round) -> World:
        return world

    return resume


def calls_begin_later(old: EvictStep) -> EvictStep:
    """The guard holds until the last call begins, whatever became of its victim by then (PREEMPT-33)."""

    def evict(rules: Rules, world: World, cycle: Cycle) -> World:
        after = old(rules, world, cycle)
        running = after.rounds.get(cycle.preemptor)
        if running is None or after.rounds is world.rounds:
            return after
        callers = running.askers if running.group is None else ("",)
        return evolve(after, rounds=after.rounds.put(cycle.preemptor, evolve(running, unbegun=callers)))

    return evict


def no_round_is_found_again(old: RecoverStep) -> RecoverStep:
    """What runs is known in memory alone, so after a restart nobody waits for victims that are going (ACT-30)."""

    def recover(rules: Rules, world: World) -> World:
        return world

    return recover


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-15",
            "the victims of one member stay in the snapshot for later ones",
            {"displace": victims_stay},
        ),
        promise="later members see victims as already removed",
        intended="the victims chosen for one member are out of the snapshot for the members after it",
        breaks=("INV-18", "INV-37"),
        rules=("CYCLE-20", "PREEMPT-49"),
        scenario="DEV-15-shipped",
    ),
    Deviation(
        Change(
            "DEV-28",
            "preemption by a plain pod ignores the groups of its victims",
            {"victims": single_for_plain_pods},
        ),
        promise="a group with disruptionMode PodGroup is disrupted as a whole",
        intended="with the gate on, a plain pod takes such groups whole and judges members by their group",
        breaks=("INV-16", "INV-17"),
        rules=("PREEMPT-06",),
        scenario="DEV-28-shipped",
    ),
    Deviation(
        Change(
            "DEV-29",
            "a new round may begin while victims of the one before are terminating",
            {
                "ask": again_while_a_round_runs,
                "ask_as_group": group_again_while_a_round_runs,
                "nominate": cleared_while_a_round_runs,
                "recover": no_round_is_found_again,
            },
        ),
        promise="wait for the preemption that runs",
        intended="while its round runs neither the group nor a member chooses victims",
        breaks=("INV-20", "INV-37", "INV-39"),
        rules=("PREEMPT-13", "PREEMPT-43"),
        scenario="DEV-29-shipped",
    ),
    Deviation(
        Change(
            "DEV-30",
            "the group's priority counts only for the preemptor and for groups that go whole",
            {"victims": by_own_priority},
        ),
        promise="the group's priority overrides that of its pods",
        intended="with the gate on every grouped pod is judged by its group",
        breaks=("INV-16",),
        rules=("PREEMPT-20",),
        scenario="DEV-30-shipped",
    ),
    Deviation(
        Change("DEV-31", "a group may evict its own bound members", {"victims": own_members_too}),
        promise="bound members are never evicted by their own group",
        intended="the preemptor's own members are never candidates",
        breaks=("INV-04", "INV-16"),
        rules=("PREEMPT-21", "PREEMPT-48"),
        scenario="DEV-31-shipped",
    ),
    Deviation(
        Change(
            "DEV-35",
            "members without a plugin of their own to wake them depend on a sibling",
            {"resume": only_with_a_plugin_to_wake},
        ),
        promise="members are retried after the evictions",
        intended="the end of the round wakes all members of the group",
        breaks=("LIVE-06",),
        rules=("PREEMPT-34",),
    ),
    Deviation(
        Change(
            "DEV-38",
            "without group preemption members evict before the verdict of their group",
            {"evict": before_the_verdict, "heed": cleared_before_the_verdict},
        ),
        promise="premature preemption is avoided",
        intended="evictions asked for by members are held until the verdict",
        breaks=("INV-07", "INV-18"),
        rules=("PREEMPT-44",),
        scenario="SOP-12-shipped",
    ),
    Deviation(
        Change(
            "DEV-55",
            "an eviction that finds its victim gone wakes nobody, and no later event does",
            {"resume": nobody_wakes, "evict": calls_begin_later},
        ),
        promise="the preemptor is tried again after its victims are gone",
        intended="the end of a round always wakes its preemptor",
        breaks=("LIVE-06",),
        rules=("PREEMPT-31", "PREEMPT-42"),
        race=True,
        scenario="ASY-12-shipped",
    ),
)
