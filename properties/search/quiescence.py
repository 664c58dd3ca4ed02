"""Whether the machinery comes to rest, and whether somebody is then stuck whom an exact search can place.

Judged where a run settles, by a method that shares nothing with the machinery's: capacities are added up from
the objects, and `exact` looks for a joint placement. A homogeneous group that waits although it fits is a
violation (LIVE-04, by THM-01), a plain pod likewise (LIVE-08), and so are members that are gated although
enough of them exist (LIVE-01) and a run that never comes to rest (LIVE-14). A heterogeneous group that waits
although it fits is no violation but a documented limit (THM-03), and is reported as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from gangproof.impl.actions import Action
from gangproof.impl.filters.nodes import node_affinity, node_name, node_unschedulable, taint_toleration
from gangproof.impl.ghost import counts
from gangproof.impl.memory import NodeInfo, has_affinity
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.queue import missing_claim
from gangproof.impl.store import as_stored
from gangproof.impl.world import World
from gangproof.properties.judges.exact import Placement, place
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.graph import components
from gangproof.properties.search.machine import Machine, Settled, settle
from gangproof.properties.search.system import Questions, Violation
from gangproof.properties.verdict import Verdict

STATIC_FILTERS = (node_unschedulable, node_name, taint_toleration, node_affinity)
"""What decides of a pod and a node alone, whatever else runs there."""
CUT_SHORT = "exact search cut short"
"""Stands for the property where the exact search gave no answer."""


@frozen
class Finding:
    """What is the matter with a world in which a run settles, and the world's place in the graph."""

    place: int
    violation: Violation


@frozen
class Quiescence:
    """How the runs of a machine end: where they settle, what is wrong there, and the limits that were met.

    `violations` and `limits` hold the first finding of each property and of each theorem.
    """

    settled: Settled
    violations: Mapping[str, Finding]
    limits: Mapping[str, Finding]

    @property
    def verdict(self) -> Verdict:
        """Violated if anything is; inconclusive if the exact search was cut short; else that of the search."""
        if self.violations:
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if CUT_SHORT in self.limits else self.settled.exploration.verdict

    def __str__(self) -> str:
        found = self.settled
        lines = [
            f"{self.verdict}: {found.exploration.states:,} states, settled in {len(found.settled):,}, "
            f"moving for ever in {len(found.restless):,}"
        ]
        lines += [f"  violated: {finding.violation}" for finding in self.violations.values()]
        lines += [f"  limit: {finding.violation}" for finding in self.limits.values()]
        return "\n".join(lines)


def quiescence(
    machine: Machine, questions: Questions[World, Action] | None = None, limits: Limits | None = None
) -> Quiescence:
    """Explore everything that the machine can do, and judge where it ends."""
    found = settle(machine, questions or Questions(), limits or Limits())
    violations: dict[str, Finding] = {}
    met: dict[str, Finding] = {}
    for where in (*found.settled, *found.restless):
        for violation in stuck(found.graph.states[where]):
            findings = met if violation.property in ("THM-03", CUT_SHORT) else violations
            findings.setdefault(violation.property, Finding(where, violation))
    unrest = restless(found)
    if unrest is not None:
        violations.setdefault(unrest.violation.property, unrest)
    return Quiescence(found, violations, met)


def restless(found: Settled) -> Finding | None:
    """LIVE-14: a run goes on for ever, and its outcome changes each time round.

    A retry with an unchanged outcome, however fast, is rest.
    """
    edges = [(source, target) for source, _, target in found.graph.edges]
    part = components(len(found.graph.states), edges)
    first: dict[int, World] = {}
    for where in found.restless:
        here = found.graph.states[where]
        there = first.setdefault(part[where], here)
        if outcome(here) != outcome(there):
            return Finding(where, Violation("LIVE-14", "the run never comes to rest: its outcome changes"))
    return None


def outcome(world: World) -> tuple[object, ...]:
    """What a retry leaves unchanged at rest: who is placed, conditions, open promises, how many use each claim.

    It speaks of numbers only, since a search that forgets names may come round with other names.
    """
    world = as_stored(world)
    nodes = sorted((pod.group or "", pod.node_name is not None) for pod in world.pods.values())
    conditions = tuple((key, group.condition) for key, group in world.groups.items())
    users = sorted(len(claim.reserved_for) for claim in world.claims.values())
    return nodes, conditions, users, len(world.assumed), len(world.bindings), len(world.nominations)


def stuck(world: World) -> Iterator[Violation]:
    """Who waits for good in a settled world although there is a place: by property or theorem."""
    pending = [pod for pod in world.pods.values() if _pending(world, pod)]
    grouped = world.settings.gates.generic_workload
    if any(pod.pod_anti_affinity.required for pod in world.pods.values()):
        return
    free = room(world)
    for pod in pending:
        if (pod.group is None or not grouped) and not beyond_exact(pod) and joint(world, free, [pod]).nodes:
            yield Violation("LIVE-08", f"{pod.key} waits although it fits", (pod.key,))
    if grouped:
        for group in world.groups.values():
            members = [pod for pod in pending if pod.group == group.key]
            if members:
                yield from _stuck_group(world, free, group, members)


def _stuck_group(
    world: World, free: Mapping[str, Mapping[str, int]], group: PodGroup, members: Sequence[Pod]
) -> Iterator[Violation]:
    living = [
        pod
        for pod in world.pods.values()
        if pod.group == group.key and counts(pod) and (pod.node_name is not None or _mine(world, pod))
    ]
    minimum = group.min_count or 0 if world.settings.gates.gang_scheduling else 0
    gated = [
        pod
        for pod in members
        if (entry := world.entry(pod.key)) and entry.place == "gated" and not missing_claim(world, pod)
    ]
    if len(living) < minimum:
        return
    names = tuple(pod.key for pod in members)
    if gated:
        message = f"{gated[0].key} is gated although {group.key} has {len(living)} members of {minimum}"
        yield Violation("LIVE-01", message, (group.key, gated[0].key))
    topology = world.settings.gates.topology_aware_workload_scheduling and group.topology_keys
    if topology or any(beyond_exact(pod) for pod in members):
        return
    placed = sum(pod.node_name is not None or pod.key in world.assumed for pod in living)
    found = joint(world, free, members)
    match found.at_least(max(1, minimum - placed)):
        case "yes":
            alike = len({kind(pod) for pod in members}) == 1
            message = f"{group.key} waits although it fits: {found}"
            yield Violation("LIVE-04" if alike else "THM-03", message, (group.key, *names))
        case "inconclusive":
            yield Violation(CUT_SHORT, f"whether {group.key} fits was not found out: {found}", (group.key,))
        case "no":
            pass


def _pending(world: World, pod: Pod) -> bool:
    """Whether the scheduler should find a node for the pod: unbound, not promised, not held back by a user."""
    waits = pod.node_name is None and pod.key not in world.assumed and not pod.scheduling_gates
    return waits and _mine(world, pod) and counts(pod) and not pod.terminal


def _mine(world: World, pod: Pod) -> bool:
    return pod.scheduler_name in world.settings.profiles


def beyond_exact(pod: Pod) -> bool:
    """Whether more than capacity and the node itself decides where the pod may go (THM-01)."""
    return bool(has_affinity(pod) or pod.topology_spread_constraints or pod.host_ports or pod.resource_claims)


def kind(pod: Pod) -> Pod:
    """The pod as filters see it: equal for members that nothing tells apart."""
    return Pod(
        "", "",
        requests=pod.requests, node_selector=pod.node_selector, node_affinity=pod.node_affinity,
        tolerations=pod.tolerations, node_name=pod.node_name,
    )  # fmt: skip


def room(world: World) -> dict[str, dict[str, int]]:
    """What each node has left, added up from the objects: pods that ended need nothing, promised ones do."""
    left = {name: dict(node.allocatable) for name, node in world.nodes.items()}
    for pod in world.pods.values():
        node = left.get(pod.node_name or world.assumed.get(pod.key) or "")
        if node is not None and not pod.terminal:
            for resource, amount in (*pod.requests.items(), ("pods", 1)):
                node[resource] = node.get(resource, 0) - amount
    return left


def joint(world: World, free: Mapping[str, Mapping[str, int]], pods: Sequence[Pod]) -> Placement:
    """The largest joint placement of the pods beside what runs."""
    requests = {pod.key: {**pod.requests, "pods": 1} for pod in pods}
    allowed = {
        pod.key: [
            name
            for name, node in world.nodes.items()
            if all(check(pod, NodeInfo(node)) is None for check in STATIC_FILTERS)
        ]
        for pod in pods
    }
    return place(free, requests, allowed)
