"""The filter PodTopologySpread: matching pods stay evenly spread over the values of a label (FILT-11 to 13).

Its PreFilter counts matching pods in each domain once for a pod; then a node is judged by its own domain and
the emptiest one. The score of the same name counts in the same way (SCORE-09).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from attrs import evolve, frozen

from gangproof.impl.filters.nodes import Rejection, selects, untolerated
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import LabelSelector, Node, Pod, Requirement, TopologySpreadConstraint
from gangproof.impl.table import Table

NOT_SPREAD = "node(s) didn't match pod topology spread constraints"


def selector_of(pod: Pod, constraint: TopologySpreadConstraint) -> LabelSelector | None:
    """FILT-12: whom the constraint means: its selector, with the pod's own value of each listed key.

    None matches nothing.
    """
    if constraint.selector is None:
        return None
    own = tuple(
        Requirement(key, "In", (pod.labels[key],)) for key in constraint.match_label_keys if key in pod.labels
    )
    return LabelSelector((*constraint.selector.requirements, *own))


@frozen
class Wanted:
    """A constraint of a pod, its selector complete."""

    constraint: TopologySpreadConstraint
    selector: LabelSelector | None

    @property
    def key(self) -> str:
        return self.constraint.topology_key

    def matches(self, pod: Pod) -> bool:
        """Whether the selector matches the pod's labels; an empty one matches every pod."""
        return self.selector is not None and self.selector.matches(pod.labels)

    def count(self, owner: Pod, info: NodeInfo) -> int:
        """The pods on a node that count: of the owner's namespace, matching, not terminating (FILT-11).

        An empty selector counts nobody (FILT-12).
        """
        if self.selector is None or not self.selector.requirements:
            return 0
        return sum(
            pod.namespace == owner.namespace and not pod.terminating and self.selector.matches(pod.labels)
            for pod in info.pods.values()
        )

    def includes(self, owner: Pod, node: Node) -> bool:
        """Whether the node satisfies the constraint's inclusion policies (FILT-11)."""
        policy = self.constraint
        if policy.node_affinity_policy == "Honor" and not selects(owner, node):
            return False
        return policy.node_taints_policy == "Ignore" or untolerated(owner, node) is None


def wanted(pod: Pod, when: Literal["DoNotSchedule", "ScheduleAnyway"]) -> tuple[Wanted, ...]:
    """The pod's constraints of one kind."""
    return tuple(
        Wanted(constraint, selector_of(pod, constraint))
        for constraint in pod.topology_spread_constraints
        if constraint.when_unsatisfiable == when
    )


@frozen
class Domains:
    """The domains of one constraint: M(d) for each value d that occurs on an eligible node (FILT-11)."""

    wanted: Wanted
    matching: Mapping[str, int]

    @cached_property
    def least(self) -> int:
        """m, the least M(d); 0 if there are fewer than `minDomains` domains."""
        if len(self.matching) < self.wanted.constraint.min_domains:
            return 0
        return min(self.matching.values(), default=0)


@frozen
class Spread:
    """What PreFilter found for a pod with constraints that bind."""

    pod: Pod
    domains: tuple[Domains, ...]

    def eligible(self, wanted: Wanted, node: Node) -> bool:
        """Whether pods on the node count for the constraint (FILT-11)."""
        labels = node.labels
        return all(d.wanted.key in labels for d in self.domains) and wanted.includes(self.pod, node)


def prepare_spread(pod: Pod, nodes: Table[NodeInfo]) -> Spread | None:
    """PreFilter of FILT-11: the counts for every constraint; None, and so skip, if none binds."""
    if not pod.topology_spread_constraints:
        return None
    constraints = wanted(pod, "DoNotSchedule")
    if not constraints:
        return None
    empty = Spread(pod, tuple(Domains(constraint, {}) for constraint in constraints))
    return evolve(empty, domains=tuple(Domains(c, _count(empty, c, nodes)) for c in constraints))


def _count(spread: Spread, wanted: Wanted, nodes: Table[NodeInfo]) -> dict[str, int]:
    matching: dict[str, int] = {}
    for info in nodes.values():
        if info.node is not None and spread.eligible(wanted, info.node):
            value = info.node.labels[wanted.key]
            matching[value] = matching.get(value, 0) + wanted.count(spread.pod, info)
    return matching


def recount_spread(spread: Spread, other: Pod, node: Node, by: Literal[1, -1]) -> Spread:
    """FILT-13: the counts after another pod was added to the node, or taken off it.

    Every matching pod of the namespace moves the count, a terminating one too, although it never counted;
    an empty selector matches them all here.
    """
    if other.namespace != spread.pod.namespace:
        return spread
    return evolve(spread, domains=tuple(_moved(spread, d, other, node, by) for d in spread.domains))


def _moved(spread: Spread, domains: Domains, other: Pod, node: Node, by: int) -> Domains:
    if not domains.wanted.matches(other) or not spread.eligible(domains.wanted, node):
        return domains
    value = node.labels[domains.wanted.key]
    return Domains(domains.wanted, {**domains.matching, value: domains.matching.get(value, 0) + by})


def pod_topology_spread(spread: Spread, info: NodeInfo) -> Rejection | None:
    """FILT-11: the node has each key, and with the pod no domain of it is too far above the emptiest one."""
    if info.node is None:
        return None
    for domains in spread.domains:
        value = info.node.labels.get(domains.wanted.key)
        if value is None:
            return Rejection("PodTopologySpread", f"{NOT_SPREAD} (missing required label)")
        own = domains.wanted.matches(spread.pod)
        skew = domains.matching.get(value, 0) + own - domains.least
        if skew > domains.wanted.constraint.max_skew:
            return Rejection("PodTopologySpread", NOT_SPREAD, resolvable=True)
    return None
