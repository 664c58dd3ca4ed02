"""The scores that look at one node and the pods on it (SCORE-03 to SCORE-08).

Integers throughout, except where the rule itself says floating point and in which order.
"""

from __future__ import annotations

from collections.abc import Sequence

from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Pod, tolerates
from gangproof.impl.objects.node import node_term_matches

SCORED = ("cpu", "memory")


def normalised(raw: Sequence[int]) -> list[int]:
    """SCORE-03, plain: the largest raw score becomes 100; all are 0 if there is nothing but zeros."""
    largest = max(raw)
    return [100 * score // largest if largest else 0 for score in raw]


def reversed_normalised(raw: Sequence[int]) -> list[int]:
    """SCORE-03, reversed: the largest raw score becomes 0, none becomes 100."""
    largest = max(raw)
    return [100 - 100 * score // largest if largest else 100 for score in raw]


def soft_taints(pod: Pod, infos: Sequence[NodeInfo]) -> list[int]:
    """SCORE-04, raw: how many PreferNoSchedule taints of the node the pod does not tolerate."""
    soft = [t for t in pod.tolerations if t.effect in ("", "PreferNoSchedule")]
    return [
        sum(taint.effect == "PreferNoSchedule" and not tolerates(soft, taint) for taint in info.node.taints)
        if info.node
        else 0
        for info in infos
    ]


def taint_toleration(pod: Pod, infos: Sequence[NodeInfo]) -> list[int]:
    """SCORE-04: fewer intolerable PreferNoSchedule taints are better."""
    return reversed_normalised(soft_taints(pod, infos))


def preferred_nodes(pod: Pod, infos: Sequence[NodeInfo]) -> list[int]:
    """SCORE-05, raw: the weights of the preferred node terms that match."""
    return [
        sum(
            preferred.weight
            for preferred in pod.node_affinity.preferred
            if info.node and node_term_matches(preferred.term, info.node)
        )
        for info in infos
    ]


def node_affinity(pod: Pod, infos: Sequence[NodeInfo]) -> list[int] | None:
    """SCORE-05: nodes that the pod prefers are better; None, and so skip, if it prefers none."""
    return normalised(preferred_nodes(pod, infos)) if pod.node_affinity.preferred else None


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
    """SCORE-08: does the pod even out the use of cpu and memory? 75 is neutral; 0 if it requests neither."""
    if not any(pod.requests.get(resource, 0) for resource in SCORED):
        return 0
    gain = _balance(info, pod) - _balance(info, None)
    return 50 + (50 + gain) // 2


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
