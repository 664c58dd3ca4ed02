"""What every node says to a pod without a place, with the amounts that are missing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from gangproof.impl.cycle import refusal
from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters import Rejection, prepare
from gangproof.impl.filters.devices import IN_USE, UNREACHABLE
from gangproof.impl.memory import NodeInfo, has_affinity
from gangproof.impl.objects import Pod
from gangproof.impl.placement import within
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.properties.explanation.attempts import Attempt
from gangproof.properties.explanation.model import NodeReason, Reason, Refused, Shortage
from gangproof.properties.explanation.ways import alike

MOST_NODES = 12
NAMED_NODES = 3
MOST_KINDS = 4
FILTER_RULES = {
    "NodeUnschedulable": "FILT-04",
    "NodeName": "FILT-05",
    "TaintToleration": "FILT-06",
    "NodeAffinity": "FILT-07",
    "NodePorts": "FILT-08",
    "NodeResourcesFit": "FILT-10",
    "PodTopologySpread": "FILT-11",
    "InterPodAffinity": "FILT-15",
    "DynamicResources": "CLAIM-12",
}
ANTI_AFFINITY = "FILT-16"
CLAIM_RULES = {UNREACHABLE: "CLAIM-16", IN_USE: "CLAIM-38"}


def refusals(attempt: Attempt, rules: Rules, first: str | None = None) -> tuple[Refused, ...]:
    """Of the pods without a place one of each kind, at most four, that of `first` before the others."""
    failed = without_place(attempt)
    chosen = sorted(failed, key=lambda pod: pod.key != first)
    kinds: dict[Hashable, list[Pod]] = {}
    for pod in chosen:
        kinds.setdefault(_kind(pod, attempt), []).append(pod)
    return tuple(_refused(attempt, rules, pods) for pods in list(kinds.values())[:MOST_KINDS])


def without_place(attempt: Attempt) -> list[Pod]:
    """The members for which the cycle found no node, in the order in which they were tried."""
    members = {pod.key: pod for pod in attempt.cycle.members}
    return [members[result.pod] for result in attempt.cycle.results if result.node is None]


def seen_by(attempt: Attempt, rules: Rules, pod: str | None) -> Snapshot:
    """What the pod saw when its turn came: the members before it in their places; for None, all of them."""
    seen = attempt.cycle.taken
    assert seen is not None
    members = {member.key: member for member in attempt.cycle.members}
    for result in attempt.cycle.results:
        if result.pod == pod:
            break
        if result.node is not None:
            seen = rules.assume(rules, rules.displace(seen, result.victims), members[result.pod], result.node)
    return seen


def _kind(pod: Pod, attempt: Attempt) -> Hashable:
    """Equal for pods to which every node says the same; labels count where some pod keeps others away."""
    taken = attempt.cycle.taken
    others = bool(pod.topology_spread_constraints) or has_affinity(pod)
    if not others and (taken is None or not taken.nodes_with_required_anti_affinity):
        return alike(pod)
    constraints = (pod.topology_spread_constraints, pod.pod_affinity, pod.pod_anti_affinity)
    return (alike(pod), pod.labels, constraints)


def _refused(attempt: Attempt, rules: Rules, pods: Sequence[Pod]) -> Refused:
    pod = pods[0]
    seen = seen_by(attempt, rules, pod.key)
    found = list(node_reasons(attempt, rules, seen, pod))
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for one in found:
        grouped.setdefault((one.reason, one.plugin, one.rule), []).append(one.node)
    reasons = [
        Reason(*what, count=len(nodes), nodes=tuple(nodes[:NAMED_NODES])) for what, nodes in grouped.items()
    ]
    close = found if len(found) <= MOST_NODES else sorted(found, key=_distance)[:MOST_NODES]
    return Refused(
        pods=tuple(one.key for one in pods),
        requests=tuple(pod.requests.items()),
        nodes=len(within(attempt.cycle, seen.nodes)),
        reasons=tuple(sorted(reasons, key=lambda r: (-r.count, r.reason))),
        closest=tuple(close),
    )


def node_reasons(attempt: Attempt, rules: Rules, seen: Snapshot, pod: Pod) -> Iterator[NodeReason]:
    """Each node that refuses the pod, and why, in the order of names."""
    prepared = prepare(pod, seen)
    for name, info in within(attempt.cycle, seen.nodes).items():
        refused = refusal(rules, attempt.world, prepared, info)
        if refused is not None:
            yield NodeReason(
                node=name,
                plugin=refused.plugin,
                rule=_rule(refused),
                reason=refused.reason,
                evictions_help=refused.resolvable,
                short=tuple(shortages(pod.requests, info)) if refused.plugin == "NodeResourcesFit" else (),
            )


def _rule(refused: Rejection) -> str:
    if "anti-affinity" in refused.reason:
        return ANTI_AFFINITY
    if "in the process of being allocated" in refused.reason:
        return "CLAIM-15"
    if refused.reason in CLAIM_RULES:
        return CLAIM_RULES[refused.reason]
    return FILTER_RULES.get(refused.plugin, "")


def shortages(requests: Table[int], info: NodeInfo, pods: int = 1) -> Iterator[Shortage]:
    """Each resource of which the node has too little for so many such pods, their slots among them (FILT-10)."""
    whole = info.node.allocatable if info.node is not None else Table[int]()
    for resource, amount in (*requests.items(), ("pods", 1)):
        has = whole.get(resource, 0)
        free = has - info.used.get(resource, 0)
        if amount and amount * pods > free:
            yield Shortage(resource, amount * pods, free, has)


def share(short: Sequence[Shortage]) -> float:
    """How much is missing, as shares of what is asked for, added up: the measure of "close" and "small"."""
    return sum(one.missing / one.asked for one in short)


def _distance(one: NodeReason) -> tuple[bool, float, str]:
    return (not one.short, share(one.short), one.node)
