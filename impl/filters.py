"""The filters: may this pod run on this node beside what is there? (SEMANTICS 4.8, FILT-01 to FILT-10)

Each is a plain function of the pod and the node with its pods; `None` means yes. They are asked in the
order of `FILTERS`, and the first rejection gives the node its status.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from gangproof.impl.objects import Pod, Taint, tolerates
from gangproof.impl.world import NodeInfo

UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", "NoSchedule")


@frozen
class Rejection:
    """Why a node was refused, by which plugin; `resolvable` if evicting pods there could help (FILT-03)."""

    plugin: str
    reason: str
    resolvable: bool = False


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
    if info.node:
        for taint in info.node.taints:
            if taint.effect in ("NoSchedule", "NoExecute") and not tolerates(pod.tolerations, taint):
                return Rejection(
                    "TaintToleration", f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
                )
    return None


def node_affinity(pod: Pod, info: NodeInfo) -> Rejection | None:
    """FILT-07, the selector: every pair must be among the node's labels."""
    if pod.node_selector and info.node:
        labels = info.node.labels
        if any(labels.get(key) != value for key, value in pod.node_selector.items()):
            return Rejection("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
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


FILTERS: tuple[Callable[[Pod, NodeInfo], Rejection | None], ...] = (
    node_unschedulable,
    node_name,
    taint_toleration,
    node_affinity,
    node_resources_fit,
)


def rejection(pod: Pod, info: NodeInfo) -> Rejection | None:
    """The first filter that refuses the node, or None (FILT-01)."""
    for check in FILTERS:
        refused = check(pod, info)
        if refused is not None:
            return refused
    return None
