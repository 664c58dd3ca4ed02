"""The score PodTopologySpread: nodes where few matching pods are near are better (SCORE-09).

What counts is decided as in the filter of the same name, for the constraints that do not bind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gangproof.impl.filters.spread import Wanted, wanted
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Pod
from gangproof.impl.table import Table

HOSTNAME = "kubernetes.io/hostname"


def spread_counts(
    pod: Pod, infos: Sequence[NodeInfo], nodes: Table[NodeInfo]
) -> list[tuple[int, ...] | None] | None:
    """The matching pods near each scored node, for each constraint; None for a node that is ignored.

    None as a whole, and so skip, if the pod has no constraint of this kind.
    """
    if not pod.topology_spread_constraints:
        return None
    constraints = wanted(pod, "ScheduleAnyway")
    if not constraints:
        return None
    domains = [
        {} if constraint.key == HOSTNAME else _domains(pod, constraint, constraints, nodes)
        for constraint in constraints
    ]
    counts: list[tuple[int, ...] | None] = []
    for info in infos:
        labels = info.node.labels if info.node else Table[str]()
        if not _has_all(constraints, info):
            counts.append(None)
            continue
        counts.append(
            tuple(
                constraint.count(pod, info)
                if constraint.key == HOSTNAME
                else domain.get(labels[constraint.key], 0)
                for constraint, domain in zip(constraints, domains, strict=True)
            )
        )
    return counts


def _has_all(constraints: Sequence[Wanted], info: NodeInfo) -> bool:
    return info.node is not None and all(c.key in info.node.labels for c in constraints)


def _domains(
    pod: Pod, constraint: Wanted, constraints: Sequence[Wanted], nodes: Table[NodeInfo]
) -> dict[str, int]:
    """The matching pods for each value of the key, over all nodes that count (SCORE-09)."""
    found: dict[str, int] = {}
    for info in nodes.values():
        if info.node and _has_all(constraints, info) and constraint.includes(pod, info.node):
            value = info.node.labels[constraint.key]
            found[value] = found.get(value, 0) + constraint.count(pod, info)
    return found


def pod_topology_spread(pod: Pod, infos: Sequence[NodeInfo], nodes: Table[NodeInfo]) -> list[int] | None:
    """SCORE-09: the emptier a node's domains are the better; ignored nodes have 0. None to skip."""
    counts = spread_counts(pod, infos, nodes)
    if counts is None:
        return None
    constraints = wanted(pod, "ScheduleAnyway")
    kept = [info for info, count in zip(infos, counts, strict=True) if count is not None]
    weights = [math.log(_size(constraint, kept) + 2) for constraint in constraints]
    raw = [None if count is None else _raw(count, constraints, weights) for count in counts]
    scored = [score for score in raw if score is not None]
    most, least = max(scored, default=0), min(scored, default=0)
    return [
        0 if score is None else 100 if most == 0 else 100 * (most + least - score) // most for score in raw
    ]


def _size(constraint: Wanted, kept: Sequence[NodeInfo]) -> int:
    """How many domains the scored nodes form; each node is one of its own for its name."""
    if constraint.key == HOSTNAME:
        return len(kept)
    return len({info.node.labels[constraint.key] for info in kept if info.node})


def _raw(counts: Sequence[int], constraints: Sequence[Wanted], weights: Sequence[float]) -> int:
    total = 0.0
    for count, constraint, weight in zip(counts, constraints, weights, strict=True):
        total += count * weight + (constraint.constraint.max_skew - 1)
    whole = math.floor(total)
    return whole + 1 if total - whole >= 0.5 else whole
