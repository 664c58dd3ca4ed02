"""Deviations inside the cycle: what later members see of those assumed before them."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.objects import Pod
from gangproof.impl.rules import Change, Rules

SnapshotStep = Callable[[Rules, Snapshot, Pod, str], Snapshot]


def indexes_stay(old: SnapshotStep) -> SnapshotStep:
    """Assuming a member, or undoing it, leaves the indexes as they were in the snapshot taken (CYCLE-33, OBS-12)."""

    def step(rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot:
        return evolve(
            old(rules, snapshot, pod, node),
            nodes_with_affinity=snapshot.nodes_with_affinity,
            nodes_with_required_anti_affinity=snapshot.nodes_with_required_anti_affinity,
        )

    return step


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-02",
            "a member does not see that a sibling assumed before it keeps it away",
            {"assume": indexes_stay, "undo": indexes_stay},
        ),
        promise="later members are checked against earlier ones",
        intended="the indexes of the snapshot know of assumed members, and undo takes them out again",
        breaks=("INV-06",),
        rules=("CYCLE-33",),
    ),
)
