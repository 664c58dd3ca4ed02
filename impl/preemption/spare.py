"""Reprieve: which of the candidates may stay after all (PREEMPT-23, PREEMPT-26, PREEMPT-46).

All candidates are lifted out of the snapshot; then one after the other, the most important first, each is put
back if the preemptor still fits. A trial may come out in several ways (CHO-05); every way is followed, so of the
first one too, without any candidate, which may find a place and may not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.units import Unit
from gangproof.impl.snapshot import lift, put_back
from gangproof.impl.table import Table

Plan = Table[str]
"""Where the preemptor's pods would go: a node for each pod that is kept."""

Trial = Callable[[Snapshot], tuple[Plan | None, ...]]
"""Each way in which the preemptor's trial on a snapshot may come out: its plan, or None if it does not fit."""


@frozen
class Sparing:
    """The victims that are left, most important first, and the plan of the last trial that succeeded."""

    victims: tuple[Unit, ...]
    plan: Plan


def without(snapshot: Snapshot, units: Sequence[Unit]) -> Snapshot:
    """The snapshot with all the units lifted out of it."""
    for unit in units:
        for pod, node in unit.pods:
            snapshot = lift(snapshot, pod, node)
    return snapshot


def spare(snapshot: Snapshot, candidates: Sequence[Unit], trial: Trial) -> tuple[Sparing | None, ...]:
    """Every outcome of sparing the candidates, in their order; None where the first trial finds no place."""
    bare = without(snapshot, candidates)
    first = trial(bare)
    states = [(bare, Sparing((), plan)) for plan in first if plan is not None]
    for unit in candidates:
        following: dict[tuple[Snapshot, tuple[Unit, ...], Plan], None] = {}
        for seen, so_far in states:
            with_unit = _with(seen, snapshot, unit)
            for plan in trial(with_unit):
                if plan is None:
                    following[seen, (*so_far.victims, unit), so_far.plan] = None
                else:
                    following[with_unit, so_far.victims, plan] = None
        states = [(seen, Sparing(victims, plan)) for seen, victims, plan in following]
    refused = (None,) if None in first else ()
    return (*dict.fromkeys(sparing for _, sparing in states), *refused)


def _with(snapshot: Snapshot, original: Snapshot, unit: Unit) -> Snapshot:
    for pod, node in unit.pods:
        there: Pod = original.nodes[node].pods[pod]
        snapshot = put_back(snapshot, there, node)
    return snapshot
