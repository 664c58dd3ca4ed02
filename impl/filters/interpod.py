"""The filter InterPodAffinity: pods that want to be near others, or far from them (FILT-14 to FILT-17).

Its PreFilter counts, once for a pod, who is where, by pair of topology key and value; then a node is judged
by the pairs among its labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from attrs import frozen

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters.nodes import Rejection
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Node, Pod, PodAffinityTerm

Pair = tuple[str, str]


def pod_term_matches(term: PodAffinityTerm, pod: Pod) -> bool:
    """FILT-14: whether the term means the pod, by namespace and labels."""
    if term.namespaces is not None and pod.namespace not in term.namespaces:
        return False
    return term.selector is not None and term.selector.matches(pod.labels)


def all_match(terms: tuple[PodAffinityTerm, ...], pod: Pod) -> bool:
    """Whether there are terms and each of them means the pod (FILT-15)."""
    return bool(terms) and all(pod_term_matches(term, pod) for term in terms)


@frozen
class Neighbours:
    """What PreFilter found for a pod: how often each pair of key and value is touched.

    `near` by pods that match all its required affinity terms together, `far` by pods that match one of its
    required anti-affinity terms, `repelled` by required anti-affinity terms of others that match it. A pair
    without an entry is touched by nobody.
    """

    pod: Pod
    near: Mapping[Pair, int]
    far: Mapping[Pair, int]
    repelled: Mapping[Pair, int]


def prepare_neighbours(pod: Pod, snapshot: Snapshot) -> Neighbours | None:
    """PreFilter of FILT-15 and FILT-16; None, and so skip, if nothing is required either way (FILT-17).

    The terms of others are looked for on the nodes of index (b) (CYCLE-33).
    """
    own = bool(pod.pod_affinity.required or pod.pod_anti_affinity.required)
    if not own and not snapshot.nodes_with_required_anti_affinity:
        return None
    near: dict[Pair, int] = {}
    far: dict[Pair, int] = {}
    repelled: dict[Pair, int] = {}
    if own:
        for info in snapshot.nodes.values():
            if info.node is not None:
                for other in info.pods.values():
                    _add(near, _near(pod, other, info.node), 1)
                    _add(far, _far(pod, other, info.node), 1)
    for name in snapshot.nodes_with_required_anti_affinity:
        info = snapshot.nodes.get(name)
        if info is not None and info.node is not None:
            for other in info.pods_with_required_anti_affinity:
                _add(repelled, _far(other, pod, info.node), 1)
    return Neighbours(pod, near, far, repelled) if own or repelled else None


def _near(pod: Pod, other: Pod, node: Node) -> Iterable[Pair]:
    """The pairs that the other pod, on the node, gives to the pod's required affinity."""
    terms = pod.pod_affinity.required
    return _pairs(terms, node) if all_match(terms, other) else ()


def _far(pod: Pod, other: Pod, node: Node) -> Iterable[Pair]:
    """The pairs on which the pod's required anti-affinity and the other pod meet, one of them on the node."""
    return _pairs((t for t in pod.pod_anti_affinity.required if pod_term_matches(t, other)), node)


def _pairs(terms: Iterable[PodAffinityTerm], node: Node) -> Iterable[Pair]:
    labels = node.labels
    return [(term.topology_key, labels[term.topology_key]) for term in terms if term.topology_key in labels]


def _add(counts: dict[Pair, int], pairs: Iterable[Pair], by: int) -> None:
    for pair in pairs:
        count = counts.get(pair, 0) + by
        if count:
            counts[pair] = count
        else:
            del counts[pair]


def recount_neighbours(neighbours: Neighbours, other: Pod, node: Node, by: Literal[1, -1]) -> Neighbours:
    """The counts after another pod was added to the node, or taken off it (FILT-02)."""
    pod = neighbours.pod
    near, far, repelled = dict(neighbours.near), dict(neighbours.far), dict(neighbours.repelled)
    _add(near, _near(pod, other, node), by)
    _add(far, _far(pod, other, node), by)
    _add(repelled, _far(other, pod, node), by)
    return Neighbours(pod, near, far, repelled)


def inter_pod_affinity(neighbours: Neighbours, info: NodeInfo) -> Rejection | None:
    """FILT-15 and FILT-16: required affinity, then own anti-affinity, then that of others."""
    if info.node is None:
        return None
    if not _near_enough(neighbours, info.node):
        return Rejection("InterPodAffinity", "node(s) didn't match pod affinity rules")
    own = neighbours.pod.pod_anti_affinity.required
    if any(neighbours.far.get(pair, 0) > 0 for pair in _pairs(own, info.node)):
        return Rejection("InterPodAffinity", "node(s) didn't match pod anti-affinity rules", resolvable=True)
    if any(neighbours.repelled.get(pair, 0) > 0 for pair in info.node.labels.items()):
        reason = "node(s) didn't satisfy existing pods anti-affinity rules"
        return Rejection("InterPodAffinity", reason, resolvable=True)
    return None


def _near_enough(neighbours: Neighbours, node: Node) -> bool:
    """FILT-15: the node has every key, and a match in each domain, unless the pod starts a series."""
    terms = neighbours.pod.pod_affinity.required
    if any(term.topology_key not in node.labels for term in terms):
        return False
    if all(neighbours.near.get(pair, 0) > 0 for pair in _pairs(terms, node)):
        return True
    return not neighbours.near and all_match(terms, neighbours.pod)
