"""What is said of pods and nodes by a running cycle: whom it tries, what it found, what it sees."""

from __future__ import annotations

from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.properties.symmetry.reading import Reading


def read_cycle(reading: Reading, cycle: Cycle) -> None:
    reading.whole.append((cycle.group, cycle.stage, cycle.code, cycle.message, cycle.submitted))
    reading.whole.append((cycle.trial, cycle.called, cycle.beyond))
    members = {pod.key: number for number, pod in enumerate(cycle.members)}
    for number, pod in enumerate(cycle.members):
        reading.say(pod.key, ("tried", number))
        reading.version(pod, "tried")
    for number, (victim, asker) in enumerate(cycle.victims):
        reading.say(victim, ("named", number, members.get(asker, asker)))
    for key, node in cycle.plan.items():
        reading.link(key, node, "planned")
    for number, result in enumerate(cycle.results):
        reading.result(result, ("result", number))
    read_domains(reading, cycle)
    for claim, asker in cycle.freeing:
        reading.whole.append((claim, members.get(asker, asker)))
    for number, event in enumerate(cycle.noticed):
        if event.pod is not None:
            reading.say(event.pod.key, ("noticed", number))
            reading.version(event.pod, "noticed")
        if event.old_pod is not None:
            reading.say(event.old_pod.key, ("noticed before", number))
            reading.version(event.old_pod, "noticed before")
        reading.whole.append((event.kind, event.group, event.claim))
        for node, what in ((event.node, "noticed"), (event.old_node, "noticed before")):
            if node is not None:
                reading.links(node.name)
                reading.nodes[node.name].append((what, number))
                reading.node(node.name, node, what)
    for snapshot, what in ((cycle.taken, "taken"), (cycle.snapshot, "seen")):
        if snapshot is not None:
            read_snapshot(reading, snapshot, cycle.group, what)


def read_domains(reading: Reading, cycle: Cycle) -> None:
    """The domains to be visited and who is ahead; a domain that is called like a node of it has no name."""
    domains = cycle.domains
    reading.whole.append((domains is not None, cycle.visited))
    for number, domain in enumerate(domains or ()):
        reading.whole.append("" if domain.value in domain.nodes else domain.value)
        for name in domain.nodes:
            reading.links(name)
            reading.nodes[name].append(("domain", number))
    for place, visit in enumerate(cycle.ahead):
        reading.whole.append((visit.domain, visit.code, visit.packing, visit.placed))
        for number, result in enumerate(visit.results):
            reading.result(result, ("ahead", place, number))


def read_snapshot(reading: Reading, snapshot: Snapshot, group: str | None, what: str) -> None:
    """What a cycle sees, as far as it is not just what is there now."""
    world = reading.world
    for name, info in snapshot.nodes.items():
        reading.links(name)
        live = world.cache.get(name)
        if live is info or live == info:
            reading.nodes[name].append(what)
        else:
            reading.info(name, info, what)
    if reading.claims is not None:
        reading.kept |= frozenset(reading.claims.names_seen(snapshot.claims))
        reading.whole.append((what, reading.claims.seen(snapshot.claims)))
    for name in snapshot.nodes_with_affinity:
        reading.nodes[name].append((what, "affinity"))
    for name in snapshot.nodes_with_required_anti_affinity:
        reading.nodes[name].append((what, "required anti-affinity"))
    if snapshot.members == world.members_of(group or ""):
        reading.whole.append(what)
    else:
        reading.members(group or "", snapshot.members, what)
