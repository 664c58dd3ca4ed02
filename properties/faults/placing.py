"""Faults of the search for places: who is tried, on what view of the cluster, and what is charged.

Where the search itself is wrong about room, the commit does not look again, or nothing would come of it.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.cycle import kept_and_minimum
from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.impl.deviations.commit import whatever_came_meanwhile
from gangproof.impl.objects import Pod
from gangproof.impl.placement import by_value, scheduled_values, topology
from gangproof.impl.rules import Rules
from gangproof.impl.snapshot import seen, without_pod
from gangproof.impl.steps import (
    AssumeStep,
    Candidates,
    DomainsStep,
    Placement,
    PlaceStep,
    PopStep,
    SnapshotStep,
    UndoStep,
)
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.faults.fault import Fault, fault

NOT_TRIED = Placement(plugins=("GangScheduling",))


def _first_minimum(old: PlaceStep) -> PlaceStep:
    def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
        before, _, minimum = kept_and_minimum(world, cycle)
        return (
            NOT_TRIED if minimum and len(cycle.results) >= minimum - before else old(rules, world, cycle, pod)
        )

    return place


F04 = fault(
    "F-04",
    "only-first-minimum-tried",
    "T1",
    "A cycle tries as many members as the minimum asks for, always the first ones, and leaves the rest out.",
    caught_by="quiescence, all-or-nothing",
    wrong="only p1 is ever tried; p2 stays pending beside an empty node",
    right="every pending member takes part in every cycle; p2 is bound",
    seen_in="KAI-Scheduler, September 2026 (kai-scheduler/KAI-Scheduler#2120); YuniKorn, 2021 and 2022 "
    "(apache/yunikorn-core#417, apache/yunikorn-core#265)",
    place=_first_minimum,
)


def _misfit_ends_the_walk(old: PlaceStep) -> PlaceStep:
    def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
        if any(not result.kept for result in cycle.results):
            return NOT_TRIED
        return old(rules, world, cycle, pod)

    return place


F06 = fault(
    "F-06",
    "misfit-ends-the-walk",
    "T1",
    "A cycle stops at the first member that fits nowhere, although those after it would reach the minimum.",
    caught_by="quiescence, all-or-nothing",
    wrong="nothing is bound",
    right="a rejected member is passed over; p2 and p3 are bound",
    seen_in="derived from a documented limit (kubernetes/enhancements#5730)",
    place=_misfit_ends_the_walk,
)


def _empty_is_unseen(old: DomainsStep) -> DomainsStep:
    def domains(world: World, cycle: Cycle) -> tuple[Candidates, ...]:
        found = topology(world, cycle)
        if isinstance(found, Candidates):
            return (found,)
        key, snapshot = found
        named = [value for value in scheduled_values(snapshot, key) if value]
        return (Candidates(by_value(snapshot, key, named)),) if len(set(named)) == 1 else old(world, cycle)

    return domains


F14 = fault(
    "F-14",
    "empty-label-hides-second-domain",
    "T1",
    "While the members' domain is looked for, the empty label value means that none was seen yet.",
    caught_by="topology domain, condition",
    wrong="the group is kept to one of its two racks, and c is placed there",
    right="members in two racks are an error, and c is not placed",
    seen_in="Kubernetes, July 2026 (kubernetes/kubernetes#140308)",
    domains=_empty_is_unseen,
)


def _without_the_assumed(old: SnapshotStep) -> SnapshotStep:
    def snapshot(world: World, cycle: Cycle) -> Snapshot:
        taken = old(world, cycle)
        nodes = taken.nodes
        for pod, node in world.assumed.items():
            if node in nodes:
                nodes = nodes.put(node, without_pod(nodes[node], pod))
        return seen(nodes, taken.members, taken.claims)

    return snapshot


F19 = fault(
    "F-19",
    "second-group-plans-on-old-snapshot",
    "T1",
    "The snapshot of a cycle lacks the pods that earlier cycles assumed and that are not bound yet.",
    caught_by="capacity, exact undo",
    wrong="both groups are placed on n1",
    right="the snapshot of a cycle contains all that earlier cycles assumed",
    seen_in="Kueue, June 2026 (kubernetes-sigs/kueue#12419)",
    snapshot=_without_the_assumed,
    room=whatever_came_meanwhile,
)


def _with_slots(snapshot: Snapshot, node: str, more: int) -> Snapshot:
    info = snapshot.nodes[node]
    slots = (info.used.get("pods") or 0) + more
    used = Table({**info.used, "pods": slots}) if slots else info.used.drop("pods")
    return evolve(snapshot, nodes=snapshot.nodes.put(node, evolve(info, used=used)))


def _slot_not_charged(old: AssumeStep) -> AssumeStep:
    def assume(rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot:
        return _with_slots(old(rules, snapshot, pod, node), node, -1)

    return assume


def _slot_not_returned(old: UndoStep) -> UndoStep:
    def undo(rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot:
        return old(rules, _with_slots(snapshot, node, 1), pod, node)

    return undo


F20 = fault(
    "F-20",
    "pod-slots-not-charged",
    "T1",
    "A member that is assumed is charged for cpu and memory but not for its pod slot.",
    caught_by="capacity",
    wrong="three pods are bound to a node that takes two",
    right="the third member has no slot; nothing is bound",
    seen_in="Kueue, May and June 2026 (kubernetes-sigs/kueue#11331)",
    assume=_slot_not_charged,
    undo=_slot_not_returned,
    room=whatever_came_meanwhile,
)


def _as_the_first(old: PlaceStep) -> PlaceStep:
    def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
        return old(rules, world, cycle, evolve(cycle.members[0], name=pod.name, uid=pod.uid))

    return place


F21 = fault(
    "F-21",
    "first-member-stands-for-all",
    "T1",
    "Every member is placed by the requests and selectors of the first one.",
    caught_by="capacity, quiescence",
    wrong="both are bound: 3 cpu on a node of 2",
    right="each member is placed by its own requests; nothing is bound",
    seen_in="Kueue, July 2026 (kubernetes-sigs/kueue#13498)",
    place=_as_the_first,
    room=whatever_came_meanwhile,
)


def _as_at_the_start(old: PlaceStep) -> PlaceStep:
    def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
        return old(rules, world, evolve(cycle, snapshot=cycle.taken), pod)

    return place


F70 = fault(
    "F-70",
    "ranking-cached-across-members",
    "T4",
    "The ranking of nodes is that of the start of the cycle, whatever was assumed since.",
    caught_by="determinism, capacity",
    wrong="both members are placed on n1",
    right="with a cache and without one the same nodes are chosen",
    seen_in="Kubernetes, May 2026 (kubernetes/kubernetes#138754)",
    place=_as_at_the_start,
    room=whatever_came_meanwhile,
)


def _remembers_new_nodes(old: PopStep) -> PopStep:
    def pop(rules: Rules, world: World) -> World:
        known = {name: int(bool(info.pods_with_required_anti_affinity)) for name, info in world.cache.items()}
        return evolve(old(rules, world), memory=Table({**known, **world.memory}))

    return pop


def _index_of_new_nodes(old: SnapshotStep) -> SnapshotStep:
    def snapshot(world: World, cycle: Cycle) -> Snapshot:
        taken = old(world, cycle)
        kept = tuple(name for name in taken.nodes if world.memory.get(name))
        return evolve(taken, nodes_with_required_anti_affinity=kept)

    return snapshot


F72 = fault(
    "F-72",
    "replaced-node-keeps-old-index",
    "T4",
    "The list of nodes with repelling pods is kept up when a node is new, not when it changes.",
    caught_by="placement rules, exact undo",
    wrong="p1 and p2 are bound beside s",
    right="the list is the one that the nodes give; nothing is bound on n1",
    seen_in="Volcano, July 2026 (volcano-sh/volcano#5637)",
    pop=_remembers_new_nodes,
    snapshot=_index_of_new_nodes,
)

FAULTS: tuple[Fault, ...] = (F04, F06, F14, F19, F20, F21, F70, F72)
