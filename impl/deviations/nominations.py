"""Deviations in nominations: which room is kept for whom, and how long."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.cycle import group_object
from gangproof.impl.cycle_state import Cycle, Result
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.nominate import set_nomination
from gangproof.impl.preemption.single import waits_for_its_victims
from gangproof.impl.rules import Change, Rules
from gangproof.impl.steps import (
    HeedStep,
    NominateStep,
    StaleStep,
)
from gangproof.impl.world import World


def from_the_failed_attempt(old: NominateStep) -> NominateStep:
    """With group preemption the nominations are the places of the attempt that failed (CYCLE-45, PREEMPT-41).

    So the room that victims leave is reserved for nobody (OBS-05).
    """

    def nominate(world: World, cycle: Cycle) -> World:
        grouped = cycle.group is not None and world.settings.gates.workload_aware_preemption
        if cycle.code != "Waiting" or not grouped:
            return old(world, cycle)
        for result in cycle.results:
            if result.node is not None:
                world = set_nomination(world, result.pod, result.node)
        return world

    return nominate


def by_pod_priority(_: HeedStep) -> HeedStep:
    """Nominations are respected by the pods' own priorities (CYCLE-14)."""

    def heed(world: World, pod: Pod, nominated: Pod) -> bool:
        return nominated.priority >= pod.priority

    return heed


def kept_without_opinion(old: NominateStep) -> NominateStep:
    """A member that fails keeps its nomination unless preemption was found useless for it (CYCLE-48, OBS-07)."""

    def nominate(world: World, cycle: Cycle) -> World:
        after = old(world, cycle)
        if cycle.code not in ("Success", "Unschedulable", "Waiting"):
            return after
        for result in cycle.results:
            node = world.nominations.get(result.pod)
            if node and not result.kept and _no_opinion(world, cycle, result):
                after = set_nomination(after, result.pod, node)
        return after

    return nominate


def kept_under_no_node(old: NominateStep) -> NominateStep:
    """A cleared nomination of a member stays in memory under the empty node name (CYCLE-49)."""

    def nominate(world: World, cycle: Cycle) -> World:
        after = old(world, cycle)
        if cycle.group is None:
            return after
        nominations = after.nominations
        for pod in cycle.members:
            result = next((result for result in cycle.results if result.pod == pod.key), Result(pod.key))
            left_open = cycle.code != "Error" and not result.kept and _no_opinion(world, cycle, result)
            if pod.key not in nominations and after.entry(pod.key) is not None and not left_open:
                nominations = nominations.put(pod.key, "")
        return evolve(after, nominations=nominations)

    return nominate


def stale_ones_stay(_: StaleStep) -> StaleStep:
    """Nobody clears the nominations of a group that is held back at the gate or has lost its object."""

    def stale(rules: Rules, world: World) -> World:
        return world

    return stale


def _no_opinion(world: World, cycle: Cycle, result: Result) -> bool:
    pod = next(pod for pod in cycle.members if pod.key == result.pod)
    seen, group = cycle.taken, group_object(world, cycle)
    if seen is None or not seen.nodes:
        return False
    as_a_whole = cycle.group is not None and world.settings.gates.workload_aware_preemption
    kept_to_a_domain = group is not None and group.topology_keys is not None
    if as_a_whole or kept_to_a_domain or pod.preemption_policy == "Never":
        return True
    return waits_for_its_victims(world, seen, world.pods.get(pod.key) or pod)


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-18",
            "a cleared nomination is kept in memory under the empty node name",
            {"nominate": kept_under_no_node},
        ),
        promise="a cleared nomination is removed",
        intended="cleared means no entry at all",
        breaks=("INV-37",),
        rules=("CYCLE-49",),
    ),
    Deviation(
        Change(
            "DEV-37",
            "nominations come from the attempt that failed, so the room that is made is not reserved",
            {"nominate": from_the_failed_attempt, "heed": by_pod_priority},
        ),
        promise="pods are nominated to their chosen nodes while victims leave",
        intended="the members kept in the final trial are nominated to their nodes of that trial",
        breaks=("INV-37", "LIVE-07"),
        rules=("PREEMPT-41", "CYCLE-45"),
        scenario="DEV-37-shipped",
    ),
    Deviation(
        Change(
            "DEV-51",
            "failed members keep an old nomination when preemption had no opinion on it",
            {"nominate": kept_without_opinion, "stale": stale_ones_stay},
        ),
        promise="nominations are cleared when a cycle fails",
        intended="a failed member's nomination follows the nomination rule",
        breaks=("INV-37",),
        rules=("CYCLE-48",),
        scenario="DEV-51-shipped",
    ),
)
