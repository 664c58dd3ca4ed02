"""Faults of preemption in whom it takes: who is a candidate, who goes together, who is spared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from attrs import evolve

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.deviations.preemption import single_for_plain_pods
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.spare import Plan, Sparing, Trial, without
from gangproof.impl.preemption.units import Unit, goes_whole, units_on
from gangproof.impl.snapshot import put_back, with_pod, without_pod
from gangproof.impl.steps import SpareStep, VictimsStep
from gangproof.impl.strength import strength
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.faults.fault import Fault, fault


def _only_on_the_first_plan(old: SpareStep) -> SpareStep:
    def spare(snapshot: Snapshot, candidates: Sequence[Unit], trial: Trial) -> tuple[Sparing | None, ...]:
        found: dict[Sparing | None, None] = {}
        for plan in trial(without(snapshot, candidates)):
            if plan is not None:
                found.update(dict.fromkeys(old(snapshot, candidates, _kept_to(plan, trial))))
        return tuple(found)

    return spare


def _kept_to(plan: Plan, trial: Trial) -> Trial:
    """The trial in which nobody may go to a node that the plan does not use."""
    used = set(plan.values())

    def kept(seen: Snapshot) -> tuple[Plan | None, ...]:
        nodes = Table({name: info for name, info in seen.nodes.items() if name in used})
        return (plan if any(found is not None for found in trial(evolve(seen, nodes=nodes))) else None,)

    return kept


F10 = fault(
    "F-10",
    "spare-on-frozen-placement",
    "T1",
    "A victim is spared only if it fits beside the placement that was found with every candidate gone.",
    caught_by="victim minimality",
    wrong="p1 is kept to n1, so the stronger v1 is evicted",
    right="v1 is tried first for sparing, p1 moves to n2, and only v2 goes",
    seen_in="Kubernetes, July 2026 (kubernetes/kubernetes#139980, kubernetes/kubernetes#140494)",
    spare=_only_on_the_first_plan,
)

F12 = fault(
    "F-12",
    "stray-pod-splits-a-gang",
    "T1",
    "A plain pod takes single pods by their own priority and knows nothing of the groups they are in.",
    caught_by="disruptionMode atomicity, victim strength",
    wrong="one of a and b is evicted, and the other runs on as half a gang",
    right="a group with mode PodGroup goes as a whole, at the group's priority",
    seen_in="Kubernetes, March 2026 (kubernetes/kubernetes#137981)",
    victims=single_for_plain_pods,
)


def _joined(old: VictimsStep) -> VictimsStep:
    def victims(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
        units: dict[str, Unit] = {}
        for unit in old(world, nodes, preemptor):
            name = unit.group or unit.keys[0]
            so_far = units.get(name)
            pods = (*so_far.pods, *unit.pods) if so_far is not None else unit.pods
            units[name] = evolve(so_far or unit, pods=tuple(sorted(pods)))
        return list(units.values())

    return victims


F13 = fault(
    "F-13",
    "every-grouped-pod-is-atomic",
    "T1",
    "All members of a group are one unit, whatever its disruptionMode.",
    caught_by="disruptionMode atomicity, victim minimality",
    wrong="a and b are evicted",
    right="with mode Pod exactly one of them",
    seen_in="Kubernetes, first draft of a change of March 2026 (kubernetes/kubernetes#137981)",
    victims=_joined,
)


def _until_the_first_protected(old: VictimsStep) -> VictimsStep:
    def victims(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
        weaker = old(world, nodes, preemptor)
        everyone = units_on(
            world, nodes, lambda pod: strength(world, pod), lambda pod: goes_whole(world, pod)
        )
        return list(takewhile(lambda unit: unit in weaker, everyone))

    return victims


F16 = fault(
    "F-16",
    "protected-candidate-ends-search",
    "T1",
    "The list of candidates ends at the first pod that may not be evicted.",
    caught_by="quiescence, victim strength",
    wrong="p1 stays pending",
    right="u is passed over, v is evicted",
    seen_in="KAI-Scheduler, June 2026 (kai-scheduler/KAI-Scheduler#1750)",
    victims=_until_the_first_protected,
)


def _never_below_a_minimum(old: VictimsStep) -> VictimsStep:
    def victims(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
        def spares(unit: Unit) -> bool:
            group = world.groups.get(unit.group or "")
            left = len(world.members_of(unit.group or "").assigned) - len(unit.pods)
            return group is None or left >= (group.min_count or 0)

        return [unit for unit in old(world, nodes, preemptor) if spares(unit)]

    return victims


F17 = fault(
    "F-17",
    "gang-at-its-minimum-is-untouchable",
    "T1",
    "Nobody is a candidate whose eviction leaves its group below the minimum, not even the whole group.",
    caught_by="quiescence, disruptionMode atomicity",
    wrong="the stronger group waits for good",
    right="w is evicted as a whole",
    seen_in="Volcano, 2024 and August 2026 (volcano-sh/volcano#3332, volcano-sh/volcano#5925)",
    victims=_never_below_a_minimum,
)


def _pod_by_pod(old: VictimsStep) -> VictimsStep:
    def victims(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
        units = old(world, nodes, preemptor)
        return [evolve(unit, pods=(place,)) for unit in units for place in unit.pods]

    return victims


def _node_by_node(old: SpareStep) -> SpareStep:
    def spare(snapshot: Snapshot, candidates: Sequence[Unit], trial: Trial) -> tuple[Sparing | None, ...]:
        return old(snapshot, sorted(candidates, key=lambda unit: unit.pods[0][::-1]), trial)

    return spare


F18 = fault(
    "F-18",
    "one-member-from-each-gang",
    "T1",
    "Victims are collected pod by pod and node by node; who belongs together is not looked at.",
    caught_by="disruptionMode atomicity, victim minimality",
    wrong="one member of w and one of x are evicted, and both gangs stand broken",
    right="exactly one gang goes, whole: the weaker one",
    seen_in="Volcano, September 2025 (volcano-sh/volcano#4607)",
    victims=_pod_by_pod,
    spare=_node_by_node,
)


def _bound_only(old: VictimsStep) -> VictimsStep:
    def victims(world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]:
        def bound(unit: Unit) -> bool:
            return not any(key in world.assumed for key in unit.keys)

        return [unit for unit in old(world, nodes, preemptor) if bound(unit)]

    return victims


F43 = fault(
    "F-43",
    "waiting-victim-is-untouchable",
    "T2",
    "Only bound pods are candidates: room held by weaker pods that wait to be bound cannot be won.",
    caught_by="victim strength, quiescence",
    wrong="h waits as long as v waits",
    right="who waits to be bound yields like one that is bound",
    seen_in="koordinator, December 2023 (koordinator-sh/koordinator#1799)",
    victims=_bound_only,
)


def _exchanged(snapshot: Snapshot, candidates: Sequence[Unit], keep: tuple[str, ...]) -> Snapshot:
    """The snapshot in which the candidates ask for these resources only."""
    nodes = snapshot.nodes
    for pod, node in (place for unit in candidates for place in unit.pods):
        there = nodes[node].pods[pod]
        asked = Table({name: amount for name, amount in there.requests.items() if name in keep})
        nodes = nodes.put(node, with_pod(without_pod(nodes[node], pod), evolve(there, requests=asked)))
    return evolve(snapshot, nodes=nodes)


def _by_cpu_alone(old: SpareStep) -> SpareStep:
    def spare(snapshot: Snapshot, candidates: Sequence[Unit], trial: Trial) -> tuple[Sparing | None, ...]:
        return old(_exchanged(snapshot, candidates, ("cpu",)), candidates, trial)

    return spare


F66 = fault(
    "F-66",
    "spared-although-device-is-taken",
    "T1",
    "Sparing looks at cpu alone: a victim is given back although the preemptor now has its device.",
    caught_by="quiescence, victim minimality",
    wrong="there are no victims left, and the group waits for ever for a preemption",
    right="v is not spared",
    seen_in="derived from the same question for claims (kubernetes/enhancements#6113)",
    spare=_by_cpu_alone,
)


def _still_counted(old: SpareStep) -> SpareStep:
    def spare(snapshot: Snapshot, candidates: Sequence[Unit], trial: Trial) -> tuple[Sparing | None, ...]:
        def counted(seen: Snapshot) -> tuple[Plan | None, ...]:
            for pod, node in (place for unit in candidates for place in unit.pods):
                if pod not in seen.nodes[node].pods:
                    shadow = evolve(
                        snapshot.nodes[node].pods[pod], requests=Table(), scoring_requests=Table()
                    )
                    seen = put_back(seen, shadow, node)
            return trial(seen)

        return old(snapshot, candidates, counted)

    return spare


F73 = fault(
    "F-73",
    "victim-leaves-node-not-index",
    "T4",
    "The trial without a victim gives its room back, while whoever counts neighbours still counts it.",
    caught_by="quiescence, placement rules, exact undo",
    wrong="v still counts, the trial fails, and p1 waits for good",
    right="what is counted follows each trial removal and each put-back",
    seen_in="YuniKorn, September 2026 (apache/yunikorn-k8shim#1098)",
    spare=_still_counted,
)

FAULTS: tuple[Fault, ...] = (F10, F12, F13, F16, F17, F18, F43, F66, F73)
