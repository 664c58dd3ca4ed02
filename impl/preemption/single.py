"""Preemption by one pod, plain or inside the cycle of its group (PREEMPT-44 to PREEMPT-49).

In *intended* a pod takes units of mode `PodGroup` whole while WorkloadAwarePreemption is on (DEV-28).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from gangproof.impl.cycle import refusal
from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters import prepare, recount, rejection
from gangproof.impl.filters.devices import group_missing
from gangproof.impl.limits import TIES
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.budgets import reprieve, violating
from gangproof.impl.preemption.spare import Plan
from gangproof.impl.preemption.units import Unit, all_told, by_priority_and_start, orders
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World


@frozen(cache_hash=True)
class Candidate:
    """A node on which the pod would fit if these units went, so many of them against a budget.

    `beyond` is what the choice of the units needed and the model does not have.
    """

    node: str
    victims: tuple[Unit, ...]
    violations: int = 0
    beyond: tuple[str, ...] = ()

    @property
    def pods(self) -> tuple[str, ...]:
        """The victims one by one."""
        return tuple(key for unit in self.victims for key in unit.keys)

    @property
    def cost(self) -> tuple[float, ...]:
        """What the choice among nodes minimises, in this order (PREEMPT-47)."""
        highest = max(unit.priority for unit in self.victims)
        pods = [unit for unit in self.victims for _ in unit.pods]
        earliest = min(unit.started for unit in self.victims if unit.priority == highest)
        return (self.violations, highest, sum(unit.priority for unit in pods), len(pods), -earliest)


def may_preempt(world: World, pod: Pod, preemptor: str) -> bool:
    """Whether the pod may evict at all: its policy, and no round of its own runs (PREEMPT-45; intended: DEV-29)."""
    return pod.preemption_policy != "Never" and preemptor not in world.rounds


def waits_for_its_victims(world: World, snapshot: Snapshot, pod: Pod) -> bool:
    """Whether the pod is nominated to a node where a weaker pod is going for a preemption (PREEMPT-45).

    A node that is gone or that no eviction could make fit does not hold it back, nor does one if its group is not there
    (CLAIM-37).
    """
    info = snapshot.nodes.get(pod.nominated_node_name or "")
    if info is None or group_missing(world, pod):
        return False
    refused = rejection(prepare(pod, snapshot), info)
    if refused is not None and not refused.resolvable:
        return False
    return any(
        other.terminating and other.priority < pod.priority and other.disruption_target
        for other in info.pods.values()
    )


def preempt_for(rules: Rules, world: World, snapshot: Snapshot, pod: Pod) -> tuple[Candidate, ...]:
    """The nodes that the pod may choose, each with its victims; several if they are equally good (CHO-09).

    On each node the victims may come out in several ways (CHO-08), so an outcome may be chosen if on every node
    there is one that is no cheaper.
    """
    weaker = rules.victims(world, snapshot.nodes, pod)
    options = [
        found
        for name in snapshot.nodes
        if (found := list(_on_node(rules, world, snapshot, pod, name, weaker)))
    ]
    bar = min((max(candidate.cost for candidate in found) for found in options), default=())
    return tuple(candidate for found in options for candidate in found if candidate.cost <= bar)


def _on_node(
    rules: Rules, world: World, snapshot: Snapshot, pod: Pod, name: str, weaker: Sequence[Unit]
) -> Iterator[Candidate]:
    prepared = prepare(pod, snapshot)
    refused = refusal(rules, world, prepared, snapshot.nodes[name])
    there = [unit for unit in weaker if any(node == name for _, node in unit.pods)]
    if refused is None or not refused.resolvable or not there:
        return

    def trial(seen: Snapshot) -> tuple[Plan | None, ...]:
        counted = prepared
        for unit in there:
            for key, node in unit.pods:
                info = snapshot.nodes[node]
                if key not in seen.nodes[node].pods and info.node is not None:
                    counted = recount(counted, info.pods[key], info.node, -1)
        fits = refusal(rules, world, counted, seen.nodes[name]) is None
        return (Table({pod.key: name}) if fits else None,)

    beyond = () if all_told(there, by_priority_and_start) else (TIES,)
    found: dict[Candidate, None] = {}
    for order in orders(there, by_priority_and_start):
        broken = violating(world, order)
        for sparing in reprieve(rules, world, snapshot, order, trial):
            if sparing is not None and sparing.victims:
                violations = sum(unit in broken for unit in sparing.victims)
                found[Candidate(name, sparing.victims, violations, beyond)] = None
    yield from found
