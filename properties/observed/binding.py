"""Promises about binds: a gang whole or not at all, room and rules of nodes kept, one domain, devices in reach."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from gangproof.impl.objects import Node, Pod, PodAffinityTerm
from gangproof.properties.conformance.events import Bound, short
from gangproof.properties.conformance.recording import Calls, Look
from gangproof.properties.observed.cluster import (
    claims_of,
    counts,
    free,
    holds_room,
    matches,
    may_run,
    members,
    minimum,
    placed,
    requests_of,
)
from gangproof.properties.observed.history import History, Moment, Rest
from gangproof.properties.observed.promise import Case, promise


@frozen
class Tally:
    """The members of a gang at a rest: with a place, taken away since the decision, failed to be bound."""

    have: int
    lost: int
    owed: int
    least: int

    @property
    def enough(self) -> bool:
        return not self.have or self.have + self.lost + self.owed >= self.least


def tally(history: History, group: str, decision: Moment, rest: Rest) -> Tally | None:
    """The members of a gang at the rest, of which something came of a decision at that moment.

    Lost are those that had a place after the decision began and count no more, and those that users took away
    in the very step of the decision.
    """
    least = minimum(rest.cluster, group)
    if least is None:
        return None
    since = history.decided(decision)
    have = {pod.uid for pod in members(rest.cluster, group) if placed(pod)}
    still = {pod.uid for pod in members(rest.cluster, group) if counts(pod)}
    had = {
        pod.uid
        for moment in history.moments[since : rest.at]
        for pod in members(moment.before, group)
        if placed(pod) or (counts(pod) and moment.step == decision.step)
    }
    waiting = {pod.key for pod in members(rest.cluster, group) if counts(pod) and not placed(pod)}
    owed = {pod for pod in _failed(history, rest.at) if pod in waiting}
    return Tally(len(have), len(had - still), len(owed), least)


def _failed(history: History, until: int) -> set[str]:
    """The pods one of whose binding calls was made to fail."""
    told = [m.what for m in history.moments[:until] if isinstance(m.what, Calls) and m.what.what == "fail"]
    names = {call.partition("/") for step in told for call in step.calls}
    return {
        name if "/" in name else f"default/{name}"
        for kind, _, name in names
        if kind in ("bind", "prebind", "permit", "patch", "claim")
    }


@promise("whole-gang", "KEP-4671 INV-01 INV-02 INV-03")
def whole_gang(history: History) -> Iterator[Case]:
    """Whoever binds a member of a gang binds the gang: at rest at least minCount members have a place.

    Members that were taken away after the decision count as if they were there, and so do those whose binding
    call was made to fail. Members that are on their way out, or have failed, do not count.
    """
    for rest in history.rests:
        judged: set[str] = set()
        for moment, pod in reversed([*history.binds(rest.since, rest.at)]):
            group = pod.group
            if group is None or group in judged or group not in rest.cluster.groups:
                continue
            judged.add(group)
            found = tally(history, group, moment, rest)
            if found is not None:
                leaving = sum(not counts(p) for p in members(moment.before, group) if p.node_name)
                aspect = "beside members on their way out" if leaving else ""
                words = f"{short(group)} has {found.have} of at least {found.least} members bound at rest"
                numbers = (("bound", found.have), ("minimum", found.least))
                yield Case(rest.at, found.enough, words, (group, pod.key), aspect, numbers)


@promise("room", "INV-05 FILT-10")
def room(history: History) -> Iterator[Case]:
    """No pod is bound to a node that has not room for all it runs and the pod."""
    for moment, pod in history.binds():
        assert isinstance(moment.what, Bound)
        name = moment.what.node
        known = [
            m.before.nodes.get(name) for m in history.moments[history.decided(moment) : moment.index + 1]
        ]
        nodes = [node for node in known if node is not None]
        if not nodes:
            yield Case(
                moment.index, False, f"{short(pod.key)} is bound to {name}, which is not there", (pod.key,)
            )
            continue
        left = free(moment.after)[name] if name in moment.after.nodes else {}
        for resource, amount in sorted(requests_of(pod).items()):
            now = moment.after.nodes.get(name, nodes[-1]).allocatable.get(resource, 0)
            most = max(node.allocatable.get(resource, 0) for node in nodes)
            over = -(left.get(resource, 0) + most - now) if amount else 0
            if over > 0:
                words = f"{name} has {resource} for {most} and runs pods that ask for {most + over}"
                numbers = ((f"{resource} used", most + over), (f"{resource} there", most))
                yield Case(moment.index, False, words, (pod.key, name), resource, numbers)
                break
        else:
            yield Case(moment.index, True)


@promise("allowed-node", "INV-06 FILT-04 FILT-06 FILT-07")
def allowed_node(history: History) -> Iterator[Case]:
    """A pod is bound only where its selector and affinity lead and its tolerations let it."""
    for moment, pod in history.binds():
        assert isinstance(moment.what, Bound)
        name = moment.what.node
        picky = pod.node_selector or pod.node_affinity.required is not None
        seen = [m.before for m in history.moments[history.decided(moment) : moment.index + 1]]
        nodes = [cluster.nodes[name] for cluster in seen if name in cluster.nodes]
        if nodes and (picky or any(node.taints or node.unschedulable for node in nodes)):
            kept = any(may_run(pod, node) for node in nodes)
            words = f"{short(pod.key)} is bound to {name}, where its rules or the node's do not let it"
            yield Case(moment.index, kept, words, (pod.key, name))


@promise("apart", "INV-06 FILT-08 FILT-16")
def apart(history: History) -> Iterator[Case]:
    """No pod is bound beside one that required anti-affinity, of either, or a host port keeps it from."""
    for moment, pod in history.binds():
        assert isinstance(moment.what, Bound)
        node = moment.before.nodes.get(moment.what.node)
        decided = history.moments[history.decided(moment)].before
        for other in moment.before.pods.values():
            there = moment.before.nodes.get(other.node_name or "")
            known = decided.pods.get(other.key)
            if node is None or there is None or not holds_room(other) or known is None:
                continue
            if known.uid != other.uid or not (
                _avoids(pod, other) or _avoids(other, pod) or _port(pod, other)
            ):
                continue
            terms = (*_avoids(pod, other), *_avoids(other, pod))
            together = any(_same_domain(term, node, there) for term in terms)
            clash = together or (node.name == there.name and _port(pod, other))
            sibling = pod.group is not None and pod.group == other.group
            words = (
                f"{short(pod.key)} is bound to {node.name} beside {short(other.key)}, which it must not be"
            )
            aspect = "members of one group" if sibling else "others"
            yield Case(moment.index, not clash, words, (pod.key, other.key), aspect)


def _avoids(pod: Pod, other: Pod) -> tuple[PodAffinityTerm, ...]:
    return tuple(
        term
        for term in pod.pod_anti_affinity.required
        if term.selector is not None
        and term.selector.matches(other.labels)
        and (term.namespaces is None or other.namespace in term.namespaces)
    )


def _same_domain(term: PodAffinityTerm, one: Node, other: Node) -> bool:
    value = one.labels.get(term.topology_key)
    return value is not None and value == other.labels.get(term.topology_key)


def _port(pod: Pod, other: Pod) -> bool:
    return any(mine.conflicts(used) for mine in pod.host_ports for used in other.host_ports)


@promise("one-domain", "KEP-5732 INV-21")
def one_domain(history: History) -> Iterator[Case]:
    """The members of a group with a topology constraint are bound into one domain."""
    for moment, pod in history.binds():
        assert isinstance(moment.what, Bound)
        group = moment.before.groups.get(pod.group or "")
        gated = moment.before.gates.topology_aware_workload_scheduling
        if group is None or not group.topology_keys or not gated:
            continue
        decided = history.decided(moment)
        key, at = (
            group.topology_keys[0],
            _values(history, decided, moment, moment.what.node, group.topology_keys[0]),
        )
        wrong = [
            other
            for other in members(moment.before, group.key)
            if holds_room(other) and not at & _values(history, decided, moment, other.node_name or "", key)
        ]
        words = f"{short(pod.key)} is bound to {moment.what.node}, not in the {key} of its siblings"
        if not any(at):
            words = f"{short(pod.key)} is bound to {moment.what.node}, which has no {key}"
        kept = not wrong and any(value is not None for value in at)
        yield Case(moment.index, kept, words, (pod.key, *(other.key for other in wrong)))


def _values(history: History, since: int, moment: Moment, node: str, key: str) -> set[str | None]:
    """The values of the label that the node had from then on, the missing one as None."""
    seen = [m.before.nodes.get(node) for m in history.moments[since : moment.index + 1]]
    return {found.labels.get(key) for found in seen if found is not None} or {None}


def _users(history: History) -> Iterator[tuple[int, Rest, Pod, str]]:
    """At each rest, each bound pod with each claim that it uses and that the look shows."""
    for rest in history.rests:
        for pod in rest.cluster.pods.values():
            if holds_room(pod) and not pod.terminating:
                for claim in claims_of(pod):
                    if claim in rest.look.claims:
                        yield rest.at, rest, pod, claim


@promise("claim-in-reach", "KEP-5729 INV-26")
def claim_in_reach(history: History) -> Iterator[Case]:
    """A pod runs where the devices of its claims can be reached."""
    bound = {pod.uid for _, pod in history.binds()}
    for at, rest, pod, claim in _users(history):
        seen, node = rest.look.claims[claim], rest.cluster.nodes.get(pod.node_name or "")
        if node is not None and pod.uid in bound and seen.devices:
            kept = seen.nodes is None or matches(seen.nodes, node)
            words = f"{short(pod.key)} runs on {node.name}, and {short(claim)} cannot be reached from there"
            yield Case(at, kept, words, (pod.key, claim))


@promise("claim-reserved", "KEP-5729 INV-27")
def claim_reserved(history: History) -> Iterator[Case]:
    """The claim of a running pod is allocated, and reserved for the pod or for its group."""
    bound = {pod.uid for _, pod in history.binds()}
    for at, rest, pod, claim in _users(history):
        seen = rest.look.claims[claim]
        if pod.uid in bound:
            users = {f"pods/{pod.key}", f"podgroups/{pod.group}"}
            kept = bool(seen.devices) and bool(users & set(seen.reserved))
            words = f"{short(pod.key)} runs, and {short(claim)} is not reserved for it or its group"
            yield Case(at, kept, words, (pod.key, claim))


@promise("device-once", "INV-25")
def device_once(history: History) -> Iterator[Case]:
    """No device is allocated to two claims."""
    for moment in history.moments:
        if isinstance(moment.what, Look):
            owner: dict[str, str] = {}
            for claim, seen in moment.what.claims.items():
                for device in seen.devices:
                    first = owner.setdefault(device, claim)
                    words = f"{device} is allocated to {short(first)} and to {short(claim)}"
                    yield Case(moment.index, first == claim, words, (first, claim))


BINDING = (
    whole_gang,
    room,
    allowed_node,
    apart,
    one_domain,
    claim_in_reach,
    claim_reserved,
    device_once,
)
