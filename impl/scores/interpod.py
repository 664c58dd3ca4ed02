"""The score InterPodAffinity: near pods that are wanted, or that want this one, is better (SCORE-10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters.interpod import Pair, pod_term_matches
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Node, Pod, PodAffinityTerm

REQUIRED_WEIGHT = 1


def attraction(pod: Pod, infos: Sequence[NodeInfo], snapshot: Snapshot) -> list[int] | None:
    """SCORE-10, raw: what pulls the pod to each node less what pushes it away; None, and so skip, if nothing.

    A pod without preferred terms is only drawn by the terms of others, on the nodes of index (a) (CYCLE-33).
    """
    pulls: dict[Pair, int] = {}
    for other, node in _others(pod, snapshot):
        for term, weight in _terms(pod, other):
            value = node.labels.get(term.topology_key)
            if value is not None:
                pair = (term.topology_key, value)
                pulls[pair] = pulls.get(pair, 0) + weight
    if not pulls:
        return None
    return [
        sum(pulls.get(pair, 0) for pair in info.node.labels.items()) if info.node else 0 for info in infos
    ]


def _others(pod: Pod, snapshot: Snapshot) -> Iterator[tuple[Pod, Node]]:
    """The pods whose terms, or the own preferred terms about whom, count; with their nodes."""
    nodes = snapshot.nodes
    if pod.pod_affinity.preferred or pod.pod_anti_affinity.preferred:
        for info in nodes.values():
            if info.node is not None:
                yield from ((other, info.node) for other in info.pods.values())
        return
    for name in snapshot.nodes_with_affinity:
        info = nodes.get(name)
        if info is not None and info.node is not None:
            yield from ((other, info.node) for other in info.pods_with_affinity)


def _terms(pod: Pod, other: Pod) -> Iterable[tuple[PodAffinityTerm, int]]:
    """The terms of either pod that match the other one, each with what it adds to the nodes in its domain."""
    for owner, target in ((pod, other), (other, pod)):
        for preferred in owner.pod_affinity.preferred:
            if pod_term_matches(preferred.term, target):
                yield preferred.term, preferred.weight
        for preferred in owner.pod_anti_affinity.preferred:
            if pod_term_matches(preferred.term, target):
                yield preferred.term, -preferred.weight
    for term in other.pod_affinity.required:
        if pod_term_matches(term, pod):
            yield term, REQUIRED_WEIGHT


def inter_pod_affinity(pod: Pod, infos: Sequence[NodeInfo], snapshot: Snapshot) -> list[int] | None:
    """SCORE-10: the attraction, stretched so that the least is 0 and the most 100; None to skip."""
    raw = attraction(pod, infos, snapshot)
    if raw is None:
        return None
    least, most = min(raw), max(raw)
    if least == most:
        return [0] * len(raw)
    return [int(100.0 * ((score - least) / (most - least))) for score in raw]
