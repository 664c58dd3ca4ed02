"""The cluster at one moment, as steps and log tell it, and the plain questions that a promise asks of it.

Nothing here comes from the model of a scheduler: room is what nodes have less what runs there, and whether
somebody can be placed is asked of the exact search.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from attrs import evolve, field, frozen

from gangproof.impl.gates import FeatureGates
from gangproof.impl.objects import Node, NodeSelectorTerm, Pod, PodGroup, Taint, tolerates
from gangproof.impl.table import Table
from gangproof.properties.conformance.events import Conditioned
from gangproof.properties.judges.exact import Placement, place

CORDON = Taint("node.kubernetes.io/unschedulable", "NoSchedule")
Domain = frozenset[str]
"""Names of the nodes among which members may be placed together."""


@frozen
class Cluster:
    """Every object by key. A pod's `uid` tells it from another one that bore its name before."""

    gates: FeatureGates = FeatureGates()
    profiles: tuple[str, ...] = ("default-scheduler",)
    nodes: Table[Node] = Table()
    groups: Table[PodGroup] = Table()
    pods: Table[Pod] = Table()
    conditions: Table[Conditioned] = Table()
    budgets: bool = field(default=False)

    def put(self, pod: Pod) -> Cluster:
        return evolve(self, pods=self.pods.put(pod.key, pod))


def counts(pod: Pod) -> bool:
    """Whether the pod counts as a member: it is not on its way out and has not failed (SEMANTICS 0.5)."""
    return not pod.terminating and pod.phase != "Failed"


def holds_room(pod: Pod) -> bool:
    """Whether the pod takes up room on its node, be it on its way out or not."""
    return pod.node_name is not None and not pod.terminal


def placed(pod: Pod) -> bool:
    """Whether the member has its place, or has had it and has done its work there."""
    return counts(pod) and (pod.node_name is not None or pod.phase == "Succeeded")


def pending(pod: Pod) -> bool:
    """Whether the pod waits for a place."""
    return counts(pod) and pod.node_name is None and not pod.terminal


def entity_of(pod: Pod) -> str:
    """Who is scheduled with the pod: the key of its group, or its own."""
    return pod.group or pod.key


def members(cluster: Cluster, entity: str) -> Iterator[Pod]:
    """The pods of a group, or the one pod, whatever their state."""
    return (pod for pod in cluster.pods.values() if entity_of(pod) == entity)


def minimum(cluster: Cluster, entity: str) -> int | None:
    """The gang's minCount; None for basic groups, plain pods, and where gangs are not scheduled as such."""
    group = cluster.groups.get(entity)
    return group.min_count if group is not None and cluster.gates.gang_scheduling else None


def needed(cluster: Cluster, entity: str) -> int:
    """How many of its waiting pods must be placed, or none may be: what a gang lacks, otherwise one."""
    least = minimum(cluster, entity)
    if least is None:
        return 1
    return max(1, least - sum(placed(pod) for pod in members(cluster, entity)))


def askers(cluster: Cluster, entity: str) -> tuple[Pod, ...]:
    """The waiting pods of a group, or the one pod, that may be tried now; () if they may not be.

    They may if nothing gates them, they are this scheduler's, the group exists, and a gang is complete.
    """
    mine = [pod for pod in members(cluster, entity) if counts(pod) and not foreign(cluster, pod)]
    grouped = cluster.gates.gang_scheduling and any(pod.group is not None for pod in mine)
    if grouped and (entity not in cluster.groups or len(mine) < (minimum(cluster, entity) or 0)):
        return ()
    return tuple(pod for pod in mine if pending(pod) and not pod.scheduling_gates)


def strength(cluster: Cluster, pod: Pod) -> int:
    """Whose priority counts (KEP-5710): with group preemption on, a member has that of its group."""
    group = cluster.groups.get(pod.group) if pod.group is not None else None
    if group is None or not cluster.gates.workload_aware_preemption:
        return pod.priority
    return group.priority


def strength_of(cluster: Cluster, entity: str) -> int | None:
    """The priority of a group or a pod against others; of members with different ones the least."""
    return min((strength(cluster, pod) for pod in members(cluster, entity)), default=None)


def foreign(cluster: Cluster, pod: Pod) -> bool:
    """Whether the pod waits for a scheduler of another name."""
    return pod.node_name is None and pod.scheduler_name not in cluster.profiles


def reservations(cluster: Cluster, entity: str, least: int) -> list[Pod]:
    """The waiting pods of others that are nominated somewhere and are at least so strong."""
    return [
        pod
        for pod in cluster.pods.values()
        if pending(pod)
        and pod.nominated_node_name is not None
        and entity_of(pod) != entity
        and max(pod.priority, strength(cluster, pod)) >= least
    ]


def may_run(pod: Pod, node: Node) -> bool:
    """Whether the node's labels, taints and cordon let the pod on it (FILT-04 to FILT-07)."""
    taints = [taint for taint in node.taints if taint.effect in ("NoSchedule", "NoExecute")]
    if not all(tolerates(pod.tolerations, t) for t in (*taints, *([CORDON] if node.unschedulable else ()))):
        return False
    if any(node.labels.get(key) != value for key, value in pod.node_selector.items()):
        return False
    required = pod.node_affinity.required
    return required is None or matches(required, node)


def matches(terms: Iterable[NodeSelectorTerm], node: Node) -> bool:
    """Whether one of the terms selects the node; an empty term selects none."""
    name = {"metadata.name": node.name}
    return any(
        (term.expressions or term.fields)
        and all(wanted.matches(node.labels) for wanted in term.expressions)
        and all(wanted.matches(name) for wanted in term.fields)
        for term in terms
    )


def simple(pods: Iterable[Pod]) -> bool:
    """Whether where each pod may go depends on single nodes and their room alone, so that the search is exact."""
    return not any(
        pod.pod_affinity.required
        or pod.pod_anti_affinity.required
        or pod.host_ports
        or pod.resource_claims
        or any(c.when_unsatisfiable == "DoNotSchedule" for c in pod.topology_spread_constraints)
        for pod in pods
    )


def untroubled(cluster: Cluster, pods: Iterable[Pod]) -> bool:
    """Whether the pods are simple, and no pod that runs keeps others away."""
    others = [pod for pod in cluster.pods.values() if holds_room(pod)]
    return simple(pods) and not any(pod.pod_anti_affinity.required for pod in others)


def alike(pods: Collection[Pod]) -> bool:
    """Whether nothing that decides about their place tells the pods apart."""
    kinds = {(p.requests, p.node_selector, p.node_affinity.required, p.tolerations, p.priority) for p in pods}
    return len(kinds) <= 1


def claims_of(pod: Pod) -> tuple[str, ...]:
    """The keys of the claims that the pod uses."""
    named = (e.resource_claim_name or pod.resource_claim_statuses.get(e.name) for e in pod.resource_claims)
    return tuple(f"{pod.namespace}/{name}" for name in named if name is not None)


def free(
    cluster: Cluster, without: Collection[str] = (), reserved: Iterable[Pod] = ()
) -> dict[str, dict[str, int]]:
    """What is left on each node, in base units and pod slots, with these pods gone and these nominations kept."""
    left = {name: dict(node.allocatable) for name, node in cluster.nodes.items()}
    for pod in cluster.pods.values():
        if holds_room(pod) and pod.key not in without:
            _take(left, pod.node_name, pod)
    for pod in reserved:
        _take(left, pod.nominated_node_name, pod)
    return left


def requests_of(pod: Pod) -> dict[str, int]:
    """What the pod takes up on a node: its requests and one pod slot."""
    return {**pod.requests, "pods": 1}


def _take(left: Mapping[str, dict[str, int]], name: str | None, pod: Pod) -> None:
    node = left.get(name or "")
    if node is not None:
        for resource, amount in requests_of(pod).items():
            node[resource] = node.get(resource, 0) - amount


def domains(cluster: Cluster, entity: str) -> tuple[Domain, ...]:
    """The sets of nodes each of which may take the group's members together (KEP-5732)."""
    group, everywhere = cluster.groups.get(entity), frozenset(cluster.nodes)
    if group is None or not group.topology_keys or not cluster.gates.topology_aware_workload_scheduling:
        return (everywhere,)
    key = group.topology_keys[0]
    by_value: dict[str, set[str]] = {}
    for node in cluster.nodes.values():
        if key in node.labels:
            by_value.setdefault(node.labels[key], set()).add(node.name)
    at = {pod.node_name for pod in members(cluster, entity) if holds_room(pod)}
    return tuple(frozenset(found) for _, found in sorted(by_value.items()) if at <= found)


def best_placement(
    cluster: Cluster,
    pods: Collection[Pod],
    enough: int,
    *,
    without: Collection[str] = (),
    reserved: Iterable[Pod] = (),
    within: Domain | None = None,
) -> Placement:
    """A placement of as many of the pods as can be, or of enough, by the exact search."""
    nodes = cluster.nodes
    allowed = {
        pod.key: [n for n in nodes if (within is None or n in within) and may_run(pod, nodes[n])]
        for pod in pods
    }
    room = free(cluster, without, reserved)
    return place(room, {pod.key: requests_of(pod) for pod in pods}, allowed, enough=enough)


def can_place(
    cluster: Cluster,
    entity: str,
    pods: Collection[Pod],
    *,
    without: Collection[str] = (),
    reserved: Iterable[Pod] = (),
) -> bool:
    """Whether as many of the pods as are needed can be placed together, in one domain if the group asks for that."""
    enough, kept = needed(cluster, entity), tuple(reserved)
    return len(pods) >= enough and any(
        best_placement(cluster, pods, enough, without=without, reserved=kept, within=domain).at_least(enough)
        == "yes"
        for domain in domains(cluster, entity)
    )
