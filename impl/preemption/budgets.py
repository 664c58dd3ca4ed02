"""Disruption budgets in preemption: who is spared first because a budget would break (PREEMPT-25, PREEMPT-46).

A budget never forbids an eviction here; it only says whom to try to keep first.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from attrs import evolve

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.objects import PodDisruptionBudget
from gangproof.impl.preemption.spare import Sparing, Trial
from gangproof.impl.preemption.units import Unit
from gangproof.impl.rules import Rules
from gangproof.impl.world import World


def allowed(world: World, budget: PodDisruptionBudget) -> int:
    """How many more of its pods may be disrupted: what its status says, else counted from the pods.

    Owners are not modelled, so the pods that are expected are those that are covered and have not ended.
    Healthy are those of them that run and are not going.
    """
    if budget.disruptions_allowed is not None:
        return budget.disruptions_allowed
    expected = [pod for pod in world.pods.values() if budget.covers(pod) and not pod.terminal]
    healthy = sum(pod.node_name is not None and not pod.terminating for pod in expected)
    if budget.max_unavailable is not None:
        wanted = len(expected) - budget.max_unavailable.of(len(expected))
    else:
        wanted = budget.min_available.of(len(expected)) if budget.min_available is not None else 0
    return max(0, healthy - max(0, wanted))


def violating(world: World, order: Sequence[Unit]) -> tuple[Unit, ...]:
    """The units whose eviction breaks a budget, if all of them go in this order (PREEMPT-25).

    A unit that breaks one is not charged any further.
    """
    if not order or not world.budgets:
        return ()
    left = {key: allowed(world, budget) for key, budget in world.budgets.items()}
    return tuple(unit for unit in order if _breaks(world, unit, left))


def _breaks(world: World, unit: Unit, left: dict[str, int]) -> bool:
    pods = [pod for key in unit.keys if (pod := world.pods.get(key)) is not None]
    for pod in pods:
        for budget in world.budgets.values():
            if pod.name in budget.disrupted_pods or not budget.covers(pod):
                continue
            left[budget.key] -= 1
            if left[budget.key] < 0:
                return True
    return False


def reprieve(
    rules: Rules, world: World, snapshot: Snapshot, order: Sequence[Unit], trial: Trial
) -> tuple[Sparing | None, ...]:
    """Every outcome of sparing the units, first those that break a budget (PREEMPT-26, PREEMPT-46).

    `order` goes from the most to the least important unit, and so do the victims (PREEMPT-27).
    """
    first = violating(world, order)
    if not first:
        return rules.spare(snapshot, order, trial)
    later = frozenset(order).difference(first)
    found = rules.spare(snapshot, (*first, *(unit for unit in order if unit in later)), trial)
    return tuple(
        sparing and evolve(sparing, victims=_in_order(order, frozenset(sparing.victims))) for sparing in found
    )


def _in_order(order: Sequence[Unit], some: Set[Unit]) -> tuple[Unit, ...]:
    return tuple(unit for unit in order if unit in some)
