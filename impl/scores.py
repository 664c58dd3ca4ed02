"""The scores: which of the feasible nodes is best? (SEMANTICS 4.8, SCORE-01 to SCORE-14)

Integers throughout, except where the rule itself says floating point and in which order. Ties are left to
the caller: every node of highest total is allowed (CYCLE-16).
"""

from __future__ import annotations

from collections.abc import Sequence

from gangproof.impl.objects import Pod, tolerates
from gangproof.impl.world import NodeInfo, Settings

SCORED = ("cpu", "memory")


def best(pod: Pod, feasible: Sequence[tuple[str, NodeInfo]], settings: Settings) -> tuple[str, ...]:
    """The names of the nodes with the highest total, sorted (SCORE-01, SCORE-13, SCORE-14)."""
    names = [name for name, _ in feasible]
    if len(names) <= 1:
        return tuple(names)
    if settings.rank:
        return (min(names),)
    totals = totals_of(pod, feasible, settings)
    top = max(totals)
    return tuple(sorted(name for name, total in zip(names, totals, strict=True) if total == top))


def totals_of(pod: Pod, feasible: Sequence[tuple[str, NodeInfo]], settings: Settings) -> list[int]:
    """The total score of each feasible node, in the order given (SCORE-01, SCORE-02)."""
    if settings.node_scores is not None:
        return [settings.node_scores.get(name, 0) or 0 for name, _ in feasible]
    infos = [info for _, info in feasible]
    taints = taint_toleration(pod, infos)
    return [
        3 * taint + least_allocated(pod, info) + balanced_allocation(pod, info)
        for taint, info in zip(taints, infos, strict=True)
    ]


def reversed_normalised(raw: Sequence[int]) -> list[int]:
    """SCORE-03, reversed: the largest raw score becomes 0, none becomes 100."""
    largest = max(raw)
    return [100 - 100 * score // largest if largest else 100 for score in raw]


def taint_toleration(pod: Pod, infos: Sequence[NodeInfo]) -> list[int]:
    """SCORE-04: fewer intolerable PreferNoSchedule taints are better."""
    soft = [t for t in pod.tolerations if t.effect in ("", "PreferNoSchedule")]
    return reversed_normalised(
        [
            sum(
                taint.effect == "PreferNoSchedule" and not tolerates(soft, taint)
                for taint in info.node.taints
            )
            if info.node
            else 0
            for info in infos
        ]
    )


def least_allocated(pod: Pod, info: NodeInfo) -> int:
    """SCORE-07: the mean share of cpu and memory that stays free, 0 to 100."""
    shares: list[int] = []
    for resource in SCORED:
        whole = info.node.allocatable.get(resource, 0) if info.node else 0
        if whole:
            used = info.nonzero.get(resource, 0) + pod.scoring_requests.get(resource, 0)
            shares.append(0 if used > whole else 100 * (whole - used) // whole)
    return sum(shares) // len(shares) if shares else 0


def balanced_allocation(pod: Pod, info: NodeInfo) -> int:
    """SCORE-08: does the pod even out the use of cpu and memory? 50 is neutral; 0 if it requests neither."""
    if not any(pod.requests.get(resource, 0) for resource in SCORED):
        return 0
    gain = _balance(info, pod) - _balance(info, None)
    return 50 + int((50 + gain) / 2)


def _balance(info: NodeInfo, pod: Pod | None) -> int:
    fractions: list[float] = []
    for resource in SCORED:
        whole = info.node.allocatable.get(resource, 0) if info.node else 0
        if whole:
            used = info.used.get(resource, 0) + (pod.requests.get(resource, 0) if pod else 0)
            fractions.append(min(1.0, used / whole))
    if len(fractions) < 2:
        return 100
    return int((1 - abs(fractions[0] - fractions[1]) / 2) * 100)
