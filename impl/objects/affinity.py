"""What a pod asks of its neighbourhood: nodes by label, other pods near or far, an even spread.

The values keep what FILT-07, FILT-11 to FILT-16, SCORE-05, SCORE-09 and SCORE-10 read. What the API server
settles when a pod is created is settled already: `matchLabelKeys` of a term are requirements of its selector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


@frozen(cache_hash=True)
class Requirement:
    """One condition on a label (or on `metadata.name`); values are sorted, `Gt` and `Lt` have one integer."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels meet the condition; `NotIn` also holds when the label is absent (FILT-07)."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                number = _integer(value)
                bound = _integer(self.values[0])
                if number is None or bound is None:
                    return False
                return number > bound if self.operator == "Gt" else number < bound


def _integer(text: str | None) -> int | None:
    """The 64-bit integer that a label value spells, or None."""
    if text is None or not text.isascii() or not text.removeprefix("-").removeprefix("+").isdigit():
        return None
    number = int(text[:20])
    return number if len(text) <= 20 and -(2**63) <= number < 2**63 else None


@frozen(cache_hash=True)
class LabelSelector:
    """A conjunction of conditions on labels; without one it matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)


@frozen(cache_hash=True)
class NodeSelectorTerm:
    """A conjunction of conditions on a node's labels and name; an empty term matches nothing (FILT-07)."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@frozen(cache_hash=True)
class PreferredNodes:
    """A node selector term with the weight, 1 to 100, that a match adds (SCORE-05)."""

    weight: int
    term: NodeSelectorTerm


@frozen(cache_hash=True)
class NodeAffinity:
    """One of the `required` terms must match, so () matches nothing; None if nothing is required."""

    required: tuple[NodeSelectorTerm, ...] | None = None
    preferred: tuple[PreferredNodes, ...] = ()


@frozen(cache_hash=True)
class PodAffinityTerm:
    """Pods near which, by the nodes' label `topology_key`, a pod wants or does not want to be (FILT-14).

    `selector` None matches no pod. `namespaces` are sorted; None means every namespace.
    """

    topology_key: str
    selector: LabelSelector | None
    namespaces: tuple[str, ...] | None


@frozen(cache_hash=True)
class PreferredPods:
    """A pod affinity term with the weight, 1 to 100, that a match adds or takes (SCORE-10)."""

    weight: int
    term: PodAffinityTerm


@frozen(cache_hash=True)
class PodAffinity:
    """The terms of a pod's affinity, or of its anti-affinity: FILT-15, FILT-16, SCORE-10."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[PreferredPods, ...] = ()


@frozen(cache_hash=True)
class TopologySpreadConstraint:
    """How unevenly matching pods may be spread over the values of a label (FILT-11, SCORE-09).

    `selector` None matches nothing. `match_label_keys` take their value from the pod itself (FILT-12).
    """

    topology_key: str
    max_skew: int
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"]
    selector: LabelSelector | None = None
    min_domains: int = 1
    node_affinity_policy: Literal["Honor", "Ignore"] = "Honor"
    node_taints_policy: Literal["Honor", "Ignore"] = "Ignore"
    match_label_keys: tuple[str, ...] = ()


@frozen(cache_hash=True)
class HostPort:
    """A port of the node that a container takes (FILT-08)."""

    port: int
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    ip: str = "0.0.0.0"

    def conflicts(self, other: HostPort) -> bool:
        """Whether both cannot be taken on one node (FILT-08)."""
        same = self.port == other.port and self.protocol == other.protocol
        return same and (self.ip == other.ip or "0.0.0.0" in (self.ip, other.ip))
