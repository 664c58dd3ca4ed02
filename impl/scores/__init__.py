"""The scores: which of the feasible nodes is best? (SEMANTICS 4.8, SCORE-01 to SCORE-14)

Ties are left to the caller: every node that may win is allowed (CYCLE-16).
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Pod
from gangproof.impl.scores.interpod import attraction, inter_pod_affinity
from gangproof.impl.scores.nodes import (
    balanced_allocation,
    least_allocated,
    node_affinity,
    preferred_nodes,
    soft_taints,
    taint_toleration,
)
from gangproof.impl.scores.spread import pod_topology_spread, spread_counts
from gangproof.impl.world import Settings


@frozen
class Best:
    """The nodes that may win, sorted; `exact` unless an early stop may also let others win (SCORE-12)."""

    nodes: tuple[str, ...]
    exact: bool = True


def best(
    pod: Pod, feasible: Sequence[tuple[str, NodeInfo]], searched: int, snapshot: Snapshot, settings: Settings
) -> Best:
    """The feasible nodes that may be chosen, out of `searched` ones (SCORE-01, SCORE-12 to SCORE-14).

    Below 100 nodes these are the ones of highest total. From there on the search may stop after K of the F
    feasible nodes, any K of them. If no total depends on which others were found, a node can win exactly if
    leaving out F − K nodes can leave out all that are strictly better: at most F − K are. If some total does
    depend on that, the nodes best among all F are given and the answer is not exact.
    """
    names = [name for name, _ in feasible]
    if len(names) <= 1:
        return Best(tuple(names))
    if settings.rank:
        return Best((min(names),))
    totals = totals_of(pod, feasible, snapshot, settings)
    left_out = max(0, len(names) - search_limit(searched))
    exact = not left_out or settings.node_scores is not None or independent(pod, feasible, snapshot)
    bar = sorted(totals, reverse=True)[left_out] if left_out and exact else max(totals)
    return Best(tuple(sorted(name for name, total in zip(names, totals, strict=True) if total >= bar)), exact)


def search_limit(nodes: int) -> int:
    """SCORE-12: after how many feasible nodes the search among so many nodes ends."""
    if nodes < 100:
        return nodes
    return max(100, nodes * max(5, 50 - nodes // 125) // 100)


def totals_of(
    pod: Pod, feasible: Sequence[tuple[str, NodeInfo]], snapshot: Snapshot, settings: Settings
) -> list[int]:
    """The total score of each feasible node, in the order given (SCORE-01, SCORE-02).

    The plugins that give every node 0 are left out (SCORE-11).
    """
    if settings.node_scores is not None:
        return [settings.node_scores.get(name, 0) for name, _ in feasible]
    infos = [info for _, info in feasible]
    totals = [
        3 * taint + least_allocated(pod, info) + balanced_allocation(pod, info)
        for taint, info in zip(taint_toleration(pod, infos), infos, strict=True)
    ]
    for scores in (
        node_affinity(pod, infos),
        pod_topology_spread(pod, infos, snapshot.nodes),
        inter_pod_affinity(pod, infos, snapshot),
    ):
        if scores is not None:
            totals = [total + 2 * score for total, score in zip(totals, scores, strict=True)]
    return totals


def independent(pod: Pod, feasible: Sequence[tuple[str, NodeInfo]], snapshot: Snapshot) -> bool:
    """Whether normalisation gives each node the same scores in every subset of the feasible ones.

    It surely does if the raw scores that are not 0 are equal (SCORE-03), if the matching pods are equally
    many near every node that is not ignored (SCORE-09), and if the attraction is the same everywhere
    (SCORE-10).
    """
    infos = [info for _, info in feasible]
    for raw in (soft_taints(pod, infos), preferred_nodes(pod, infos)):
        if len(set(raw) - {0}) > 1:
            return False
    counts = spread_counts(pod, infos, snapshot.nodes)
    if counts is not None and len(set(counts) - {None}) > 1:
        return False
    pulls = attraction(pod, infos, snapshot)
    return pulls is None or len(set(pulls)) == 1


__all__ = ["Best", "best", "independent", "search_limit", "totals_of"]
