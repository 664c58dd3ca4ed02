"""The scheduler starts anew: it forgets what it had in memory and reads everything that is stored (ACT-30).

Lost are the queue with its backoff and its order, member sets, nominations that are not in the status, and running
cycles, binds and preemptions. A call that was sent before may still take effect, or be lost. Objects are read in
the order of their names, as the API server lists them; in *intended* that decides only among entities of equal
priority, and nothing is promised about these (INV-39).
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.api import afterwards, evict
from gangproof.impl.control import Revision, Sent
from gangproof.impl.ghost import after_restart
from gangproof.impl.handlers import observe
from gangproof.impl.memory import Entry, Round
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.rounds import running_for
from gangproof.impl.rules import Rules
from gangproof.impl.sent import losses, under_way
from gangproof.impl.store import SCHEDULER, put, stored, table
from gangproof.impl.table import added
from gangproof.impl.views import write
from gangproof.impl.world import Move, World


def restarts(rules: Rules, world: World) -> Iterator[Move]:
    """Every way in which the scheduler may start anew: of the calls that it sent any may be lost."""
    for lost in losses(under_way(rules, world)):
        told = (f"without {sent.call}/{sent.pod}" for sent in lost)
        yield "restart", (SCHEDULER, *told), restart(rules, world, lost)


def restart(rules: Rules, world: World, lost: tuple[Sent, ...] = ()) -> World:
    """The world after the scheduler has read everything again, and some of its calls are lost.

    Its views must not be behind, or ValueError: whoever forgets everything may as well have seen the rest before.
    """
    if any(name.startswith(SCHEDULER) for name in world.control.behind):
        raise ValueError("the scheduler starts anew when it has seen everything")
    sent = tuple(call for call in under_way(rules, world) if call not in lost)
    before, world = world, _forgotten(evolve(world, control=evolve(world.control, sent=sent)))
    kept = {kind: list(table(world, kind).values()) for kind in ("node", "podGroup", "pod")}
    for kind, objects in kept.items():
        for obj in objects:
            world = put(world, kind, obj.key, None)
    for kind, objects in kept.items():
        for obj in sorted(objects, key=lambda o: o.key):
            world = observe(rules, world, kind, None, obj)
    for pod in world.pods.values():
        if pod.nominated_node_name is not None and world.entry(pod.key) is not None:
            world = evolve(world, nominations=world.nominations.put(pod.key, pod.nominated_node_name))
    world = rules.recover(rules, world)
    return after_restart(before, afterwards(rules, world, world))


def _forgotten(world: World) -> World:
    fresh = World()
    return evolve(
        world,
        members=fresh.members,
        cache=fresh.cache,
        assumed=fresh.assumed,
        queue=fresh.queue,
        in_flight=fresh.in_flight,
        nominations=fresh.nominations,
        bindings=fresh.bindings,
        rounds=fresh.rounds,
        cycle=fresh.cycle,
        admitted=fresh.admitted,
        memory=fresh.memory,
        claims_in_flight=fresh.claims_in_flight,
        claim_cache=fresh.claim_cache,
        uncounted=fresh.uncounted,
    )


def recover(rules: Rules, world: World) -> World:
    """Rounds of preemption are found again by their victims, which are going on nodes that are nominated (DEV-29).

    A victim is known by its condition DisruptionTarget (SEMANTICS 0.5, round). Until the
    round is over its preemptor waits (PREEMPT-33).
    """
    nominated: dict[str, dict[str, str]] = {}
    for key, node in world.nominations.items():
        pod = world.pods[key]
        grouped = pod.group is not None and world.settings.gates.generic_workload
        nominated.setdefault(pod.group or "" if grouped else f"={key}", {})[key] = node
    rounds = world.rounds
    for preemptor, members in nominated.items():
        victims = tuple(
            (pod.key, pod.uid)
            for pod in world.pods.values()
            if pod.terminating and pod.disruption_target and pod.node_name in members.values()
        )
        if victims:
            as_a_whole = preemptor in world.groups and world.settings.gates.workload_aware_preemption
            whole = preemptor if as_a_whole else None
            rounds = rounds.put(preemptor, Round(tuple(sorted(members)), victims, group=whole))
    world = evolve(world, rounds=rounds)
    return evolve(world, queue=tuple(_waiting(world, entry) for entry in world.queue)) if rounds else world


def _waiting(world: World, entry: Entry) -> Entry:
    """The entry, held back like one that asked for evictions, if a round of its own runs."""
    if entry.place != "active" or not running_for(world, world.pods[entry.pod]):
        return entry
    return evolve(entry, place="gated", plugins=("DefaultPreemption",))


def landings(rules: Rules, world: World) -> Iterator[Move]:
    """The calls that were sent before a restart and are not lost take effect, if they still can."""
    for sent in world.control.sent:
        left = tuple(other for other in world.control.sent if other != sent)
        without = evolve(world, control=evolve(world.control, sent=left))
        name = f"{sent.call}/{sent.pod}"
        pod: Pod | None = stored(world, "pod").get(sent.pod)
        if pod is None or pod.terminating or rules.moot(world, sent):
            continue
        if sent.call == "bind":
            bound = evolve(pod, node_name=sent.node, phase="Running", unscheduled_reason=None)
            bound = evolve(bound, nominated_node_name=None)
            after = write(rules, without, Revision("pod", pod.key, pod, bound))
            yield "lands", (name, sent.node), afterwards(rules, without, after)
        else:
            ghost = evolve(without.ghost, evicted=added(without.ghost.evicted, sent.pod))
            yield "lands", (name,), evict(rules, evolve(without, ghost=ghost), sent.pod)
