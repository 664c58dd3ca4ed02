"""The filters: may this pod run on this node beside what is there? (SEMANTICS 4.8, FILT-01 to FILT-17)

`prepare` is what all PreFilter plugins find for one pod in one snapshot; `rejection` then asks the filters of
one node, in their order. `recount` tells what PreFilter would have found with one pod more or less.
"""

from __future__ import annotations

from typing import Literal

from attrs import evolve, frozen

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters import devices
from gangproof.impl.filters.devices import Wanted, prefilter
from gangproof.impl.filters.interpod import (
    Neighbours,
    inter_pod_affinity,
    prepare_neighbours,
    recount_neighbours,
)
from gangproof.impl.filters.nodes import NODE_FILTERS, Rejection, named_nodes
from gangproof.impl.filters.spread import Spread, pod_topology_spread, prepare_spread, recount_spread
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Node, Pod
from gangproof.impl.table import Table


@frozen
class Prepared:
    """What the PreFilter plugins found for a pod (FILT-02).

    `named` are the only nodes that it may go to, None for all; `spread`, `neighbours` and `claims` are None if that
    plugin skips, and then it is not asked again, whatever is added later.
    """

    pod: Pod
    named: frozenset[str] | None = None
    spread: Spread | None = None
    neighbours: Neighbours | None = None
    claims: Wanted | None = None

    @property
    def restricted_by(self) -> tuple[str, ...]:
        """The plugins that restricted the set of nodes."""
        return () if self.named is None else ("NodeAffinity",)


def prepare(pod: Pod, snapshot: Snapshot) -> Prepared:
    """Run every PreFilter for the pod, once, on all nodes of the snapshot (FILT-02)."""
    return Prepared(
        pod,
        named_nodes(pod),
        prepare_spread(pod, snapshot.nodes),
        prepare_neighbours(pod, snapshot),
        prefilter(pod, snapshot.claims),
    )


def recount(prepared: Prepared, other: Pod, node: Node, by: Literal[1, -1]) -> Prepared:
    """What PreFilter would say with another pod on the node, or without it (FILT-02, FILT-13, FILT-17)."""
    spread, neighbours = prepared.spread, prepared.neighbours
    if spread is None and neighbours is None:
        return prepared
    return evolve(
        prepared,
        spread=spread and recount_spread(spread, other, node, by),
        neighbours=neighbours and recount_neighbours(neighbours, other, node, by),
    )


def candidates(prepared: Prepared, nodes: Table[NodeInfo]) -> Table[NodeInfo]:
    """The nodes that PreFilter left: all, or those of the named ones that exist (FILT-02)."""
    if prepared.named is None:
        return nodes
    return Table({name: nodes[name] for name in prepared.named if name in nodes})


def rejection(prepared: Prepared, info: NodeInfo) -> Rejection | None:
    """The first filter that refuses the node, or None (FILT-01).

    A node that PreFilter left out is refused, too, and nothing helps there (FILT-02).
    """
    pod = prepared.pod
    if prepared.named is not None and info.node is not None and info.node.name not in prepared.named:
        if prepared.named:
            return Rejection("NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]")
        return Rejection("NodeAffinity", "pod affinity terms conflict")
    claims = prepared.claims
    if claims is not None and claims.refused:
        return Rejection(devices.PLUGIN, claims.refused)
    for check in NODE_FILTERS:
        refused = check(pod, info)
        if refused is not None:
            return refused
    if prepared.spread is not None:
        refused = pod_topology_spread(prepared.spread, info)
        if refused is not None:
            return refused
    if prepared.neighbours is not None:
        refused = inter_pod_affinity(prepared.neighbours, info)
        if refused is not None:
            return refused
    if claims is not None and info.node is not None:
        return devices.rejection(claims, info.node)
    return None


__all__ = ["Prepared", "Rejection", "candidates", "prepare", "recount", "rejection"]
