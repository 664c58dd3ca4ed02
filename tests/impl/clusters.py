"""Nodes with pods on them, in few words, for the tests of filters, scores and hints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters import Rejection, prepare, rejection
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import (
    LabelSelector,
    Node,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PreferredPods,
    Requirement,
    Taint,
)
from gangproof.impl.snapshot import seen, with_pod
from gangproof.impl.table import Table

HOST = "kubernetes.io/hostname"
MIB = 1 << 20


def node(
    name: str,
    cpu: int = 4000,
    memory: int = 8192 * MIB,
    pods: int = 110,
    taints: Iterable[Taint] = (),
    unschedulable: bool = False,
    extended: Mapping[str, int] | None = None,
    **labels: str,
) -> Node:
    """A node; its hostname is a label, as everywhere."""
    return Node(
        name,
        Table({"cpu": cpu, "memory": memory, "pods": pods, **(extended or {})}),
        labels=Table({HOST: name, **labels}),
        taints=tuple(taints),
        unschedulable=unschedulable,
    )


def pod(name: str, cpu: int = 0, memory: int = 0, namespace: str = "default", **other: object) -> Pod:
    """A pod; `labels` may be a plain dict. What it requests counts for the scores as it is."""
    requests = Table({r: amount for r, amount in (("cpu", cpu), ("memory", memory)) if amount})
    labels = Table(other.pop("labels", {}))  # pyright: ignore[reportArgumentType, reportCallIssue]
    return Pod(
        namespace, name, labels=labels, **{"requests": requests, "scoring_requests": requests, **other}
    )  # pyright: ignore[reportArgumentType]


def cluster(*nodes: Node, **placed: Iterable[Pod]) -> Snapshot:
    """The snapshot of these nodes with the pods placed on them, by the node's name."""
    infos: dict[str, NodeInfo] = {}
    for each in nodes:
        info = NodeInfo(each)
        for there in placed.get(each.name, ()):
            info = with_pod(info, there)
        infos[each.name] = info
    return seen(Table(infos))


def refused(pod: Pod, snapshot: Snapshot, name: str) -> Rejection | None:
    """Why the pod may not go to that node of the snapshot, None if it may."""
    return rejection(prepare(pod, snapshot), snapshot.nodes[name])


def answer_of(pod: Pod, snapshot: Snapshot, name: str) -> tuple[str, bool] | None:
    """The plugin that refuses the node, and whether evictions there could help; None if none does."""
    answer = refused(pod, snapshot, name)
    return None if answer is None else (answer.plugin, answer.resolvable)


def reason_of(pod: Pod, snapshot: Snapshot, name: str) -> str | None:
    """The reason for which the node is refused, None if it is not."""
    answer = refused(pod, snapshot, name)
    return None if answer is None else answer.reason


def open_to(pod: Pod, snapshot: Snapshot) -> str:
    """The names of the nodes where the pod may go, with a blank between them."""
    return " ".join(name for name in snapshot.nodes if refused(pod, snapshot, name) is None)


def selector(**labels: str) -> LabelSelector:
    """The selector of pods with these labels; without any, it matches all."""
    return LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items())))


def term(key: str, namespaces: tuple[str, ...] | None = ("default",), **labels: str) -> PodAffinityTerm:
    """The pods with these labels, by domains of that key."""
    return PodAffinityTerm(key, selector(**labels), namespaces)


def required(*terms: PodAffinityTerm) -> PodAffinity:
    return PodAffinity(required=terms)


def preferred(*terms: tuple[int, PodAffinityTerm]) -> PodAffinity:
    return PodAffinity(preferred=tuple(PreferredPods(weight, term) for weight, term in terms))
