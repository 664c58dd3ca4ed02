"""The filters that look at one node and the pods on it (FILT-04 to FILT-10).

Each is a plain function of the pod and the node; `None` means yes. A node whose object is gone is refused by
none of them: it is in no snapshot, and what hints ask about a node always has the object.
"""

from __future__ import annotations

from attrs import frozen

from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Node, Pod, Taint, tolerates
from gangproof.impl.objects.node import NAME_FIELD, node_term_matches

UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", "NoSchedule")


@frozen
class Rejection:
    """Why a node was refused, by which plugin; `resolvable` if evicting pods there could help (FILT-03).

    With `error` the reason is one that ends the attempt; `beyond` names what the answer needed and the model has not.
    """

    plugin: str
    reason: str
    resolvable: bool = False
    error: bool = False
    beyond: str = ""


def node_unschedulable(pod: Pod, info: NodeInfo) -> Rejection | None:
    """FILT-04: a cordoned node takes only pods that tolerate it."""
    if info.node and info.node.unschedulable and not tolerates(pod.tolerations, UNSCHEDULABLE_TAINT):
        return Rejection("NodeUnschedulable", "node(s) were unschedulable")
    return None


def node_name(pod: Pod, info: NodeInfo) -> Rejection | None:
    """FILT-05: a pod that names a node goes nowhere else."""
    if info.node and pod.node_name not in (None, info.node.name):
        return Rejection("NodeName", "node(s) didn't match the requested node name")
    return None


def taint_toleration(pod: Pod, info: NodeInfo) -> Rejection | None:
    """FILT-06: every NoSchedule and NoExecute taint must be tolerated."""
    taint = untolerated(pod, info.node) if info.node and info.node.taints else None
    if taint is None:
        return None
    return Rejection("TaintToleration", f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}")


def untolerated(pod: Pod, node: Node) -> Taint | None:
    """The first taint that keeps the pod off the node, None if there is none (FILT-06)."""
    for taint in node.taints:
        if taint.effect in ("NoSchedule", "NoExecute") and not tolerates(pod.tolerations, taint):
            return taint
    return None


def node_affinity(pod: Pod, info: NodeInfo) -> Rejection | None:
    """FILT-07: the selector and one of the required terms must match."""
    if info.node is None or selects(pod, info.node):
        return None
    return Rejection("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")


def selects(pod: Pod, node: Node) -> bool:
    """Whether the node has every label of the selector and matches a required term, if any are required."""
    if pod.node_selector:
        labels = node.labels
        if any(labels.get(key) != value for key, value in pod.node_selector.items()):
            return False
    required = pod.node_affinity.required
    return required is None or any(node_term_matches(term, node) for term in required)


def named_nodes(pod: Pod) -> frozenset[str] | None:
    """PreFilter of FILT-07: the nodes that the required terms name, None if some term names none.

    An empty set says that the terms contradict each other: no node will do.
    """
    required = pod.node_affinity.required
    if not required:
        return None
    named: set[str] = set()
    for term in required:
        wanted = [set(f.values) for f in term.fields if f.key == NAME_FIELD and f.operator == "In"]
        if not wanted:
            return None
        named |= set.intersection(*wanted)
    return frozenset(named)


def node_ports(pod: Pod, info: NodeInfo) -> Rejection | None:
    """FILT-08: no host port that the pod takes is in use on the node."""
    if pod.host_ports:
        for other in info.pods.values():
            if any(mine.conflicts(used) for used in other.host_ports for mine in pod.host_ports):
                reason = "node(s) didn't have free ports for the requested pod ports"
                return Rejection("NodePorts", reason, resolvable=True)
    return None


def node_resources_fit(pod: Pod, info: NodeInfo) -> Rejection | None:
    """FILT-10: one more pod slot, and room for each resource that the pod requests."""
    if info.node is None:
        return None
    allocatable, used = info.node.allocatable, info.used
    if used.get("pods", 0) + 1 > allocatable.get("pods", 0):
        return Rejection("NodeResourcesFit", "Too many pods", resolvable=True)
    for resource, request in pod.requests.items():
        if request > 0:
            whole = allocatable.get(resource, 0)
            if request > whole - used.get(resource, 0):
                return Rejection("NodeResourcesFit", f"Insufficient {resource}", resolvable=request <= whole)
    return None


NODE_FILTERS = (
    node_unschedulable,
    node_name,
    taint_toleration,
    node_affinity,
    node_ports,
    node_resources_fit,
)
"""In the order of FILT-01; those that look at the whole snapshot come after them."""
