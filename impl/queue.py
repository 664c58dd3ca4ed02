"""The scheduling queue: who may enter, who is next, who comes back, who wakes (SEMANTICS section 3).

The queue holds pods; a group is put together when one of its members is popped. Entries stand in the order of
their Timestamps. A pod is active, in backoff, in the pool, or gated; one in flight has no entry.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from gangproof.impl.claims.references import references
from gangproof.impl.cycle_state import Cycle, Event, Result
from gangproof.impl.hints import own_update, reaches, worth_it
from gangproof.impl.memory import Entry, Round
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.rounds import preempting, preemptors
from gangproof.impl.rules import Rules
from gangproof.impl.store import patch
from gangproof.impl.table import Table
from gangproof.impl.world import World


def gate(rules: Rules, world: World, pod: Pod) -> tuple[str, ...]:
    """The PreEnqueue plugins that hold the pod back, none if it may enter (QUEUE-07, QUEUE-09, GANG-01 to GANG-04).

    Which single one of several the real queue records is arbitrary (CHO-04); here all are, and asked again whenever
    one of them may have changed its mind. Nothing is written for a pod that is held back
    (GANG-05), and without GangScheduling neither a missing group nor a minimum holds one (API-04, API-55).
    """
    held: list[str] = []
    if world.settings.gates.gang_scheduling and pod.group is not None:
        group = world.groups.get(pod.group)
        if group is None or not rules.quorum(world.members_of(pod.group), group, "gate"):
            held.append("GangScheduling")
    if preempting(world, pod):
        held.append("DefaultPreemption")
    if pod.resource_claims and missing_claim(world, pod):
        held.append("DynamicResources")
    if pod.scheduling_gates:
        held.append("SchedulingGates")
    return tuple(sorted(held))


def missing_claim(world: World, pod: Pod) -> str:
    """Why a claim of the pod cannot be used yet, "" if all can (CLAIM-10; intended: DEV-40)."""
    return references(pod, world.claims, world.settings.shares_claims("scheduler")).missing


def resume(rules: Rules, world: World, over: Round) -> World:
    """The end of a round wakes its preemptor, every member, whatever rejected it (LIVE-06; intended: DEV-35, 55)."""
    return activate(rules, world, preemptors(world, over))


def activate(rules: Rules, world: World, pods: tuple[str, ...]) -> World:
    """The pods enter the active part, from the pool if PreEnqueue lets them, from backoff at once (QUEUE-25)."""

    def activated(entry: Entry) -> Entry:
        if entry.pod not in pods or entry.place == "active":
            return entry
        if entry.place != "backoff":
            gates = rules.gate(rules, world, world.pods[entry.pod])
            if gates:
                return evolve(entry, plugins=gates, place="gated")
        return evolve(entry, place="active", cooling=False)

    return evolve(world, queue=tuple(map(activated, world.queue)))


def add(rules: Rules, world: World, pod: Pod) -> World:
    """A new pending pod enters the queue and its arrival is broadcast (QUEUE-07, QUEUE-08, QUEUE-13)."""
    plugins = rules.gate(rules, world, pod)
    entry = Entry(pod.key, "gated" if plugins else "active", plugins)
    world = evolve(world, queue=(*world.queue, entry))
    if entry.place == "active":
        world = rules.admit(rules.rejoin(rules, world, pod.group), (pod.key,))
    return notice(rules, world, Event("PodAdded", pod=pod, group=pod.group))


def end_group_backoff(rules: Rules, world: World, group: str | None) -> World:
    """All members of the group leave backoff together (SEMANTICS 0.5, group backoff)."""
    if group is None:
        return world
    return evolve(
        world,
        queue=tuple(
            out_of_backoff(rules, world, e) if e.place == "backoff" and group_of(world, e) == group else e
            for e in world.queue
        ),
    )


def asks_early(world: World) -> bool:
    """Whether PreEnqueue is asked on the way into backoff and not on the way out (QUEUE-22, QUEUE-24).

    Without SchedulerPopFromBackoffQ it is the other way round.
    """
    return world.settings.gates.scheduler_pop_from_backoff_q


def out_of_backoff(rules: Rules, world: World, entry: Entry) -> Entry:
    """The entry after its backoff: active, or gated if PreEnqueue is asked now and says no (QUEUE-22, QUEUE-24)."""
    plugins = () if asks_early(world) else rules.gate(rules, world, world.pods[entry.pod])
    if plugins:
        return evolve(entry, place="gated", plugins=tuple(sorted({*entry.plugins, *plugins})))
    return evolve(entry, place="active", cooling=False)


def group_of(world: World, entry: Entry) -> str | None:
    """The group as which a queued pod is tried, None if it is tried alone (API-51)."""
    pod = world.pods.get(entry.pod)
    return pod.group if pod and world.settings.gates.generic_workload else None


def notice(rules: Rules, world: World, event: Event) -> World:
    """Something happened: wake whom it concerns, and let a running plain cycle know (QUEUE-14, QUEUE-22)."""
    if world.cycle is not None and world.cycle.group is None:
        world = evolve(world, cycle=evolve(world.cycle, noticed=(*world.cycle.noticed, event)))
    if not any(e.place in ("pool", "gated") for e in world.queue):
        return world
    return rules.wake(rules, world, event)


def freed(rules: Rules, before: World, after: World) -> World:
    """A nomination of a waiting pod that is changed or gone frees room for pods no stronger (QUEUE-30)."""
    if after.pods is before.pods:
        return after
    for key, old in before.pods.items():
        if old.nominated_node_name is None or old.node_name is not None:
            continue
        new = after.pods.get(key)
        waits = new is not None and new.uid == old.uid and new.node_name is None
        ended = new is not None and new.terminal and not old.terminal
        if new is None or (waits and (ended or new.nominated_node_name != old.nominated_node_name)):
            woken = notice(rules, after, Event("AssignedPodDeleted", pod=old, group=old.group))
            kept = (
                was if after.pods[was.pod].priority > old.priority else now
                for was, now in zip(after.queue, woken.queue, strict=True)
            )
            after = evolve(woken, queue=tuple(kept))
    return after


def wake(rules: Rules, world: World, event: Event) -> World:
    """Pool and gated pods for which the event is worth another try leave their place (QUEUE-14 to QUEUE-17).

    Who was gated keeps its Timestamp (QUEUE-12). PreEnqueue decides again; while its backoff still runs a pod
    goes there instead of to the active part. In *intended* the flush asks gated pods too (ACT-25, DEV-53).
    """
    queue: list[Entry] = []
    woken: list[str] = []
    admitted: list[str] = []
    for entry in world.queue:
        pod = world.pods[entry.pod]
        asks = own_update(pod, event) if event.kind == "PodUpdated" else reaches(entry.plugins, event)
        waits = entry.place == "pool" or (entry.place == "gated" and asks)
        if waits and worth_it(rules, world, pod, entry.plugins, event):
            asked = not entry.cooling or asks_early(world)
            plugins = rules.gate(rules, world, pod) if asked else ()
            if plugins:
                entry = evolve(entry, place="gated", plugins=tuple(sorted({*entry.plugins, *plugins})))
            else:
                cools = entry.cooling
                entry = evolve(
                    entry, place="backoff" if cools else "active", plugins=entry.plugins if cools else ()
                )
                if entry.place == "active" and pod.group is not None:
                    woken.append(pod.group)
                if entry.place == "active" and not entry.tried:
                    admitted.append(pod.key)
        queue.append(entry)
    world = evolve(world, queue=tuple(queue))
    for group in woken:
        world = rules.rejoin(rules, world, group)
    return rules.admit(world, tuple(admitted)) if admitted else world


def admit(world: World, pods: tuple[str, ...]) -> World:
    """Pods enter the active part for the first time, by one event (QUEUE-11); *intended* forgets it."""
    return world


def ready(world: World) -> Entry | None:
    """The active pod that is next: highest priority, then earliest Timestamp (QUEUE-18, CHO-03, INV-38)."""
    return strongest(world, [e for e in world.queue if e.place == "active"])


def strongest(world: World, entries: Iterable[Entry]) -> Entry | None:
    """The first of those with the highest priority, None if there are none."""
    return max(entries, key=lambda e: world.pods[e.pod].priority, default=None)


def pop(rules: Rules, world: World) -> World:
    """Start a cycle for the strongest ready entity, a group with its siblings (QUEUE-18 to QUEUE-19e, CYCLE-01).

    A pod with a group is always tried as its group, also alone (CYCLE-02). Siblings come along from the active
    part and, if PreEnqueue lets them, from the pool, without those that are held back (QUEUE-10); in *intended* those
    in backoff stay until the group's backoff is over, unless a new member is tried (DEV-12).
    """
    first = rules.ready(world)
    if first is None:
        raise ValueError("nothing is ready to be popped")
    pod = world.pods[first.pod]
    group = pod.group if world.settings.gates.generic_workload else None
    if group is None:
        return _start(world, None, [pod])
    entries = [e for key in world.members_of(group).unsched if (e := world.entry(key)) is not None]
    new = any(e.place == "active" and not e.tried for e in entries)
    members: list[Pod] = []
    for entry in entries:
        sibling = world.pods[entry.pod]
        in_backoff = entry.place == "backoff"
        if entry.place == "active" or (new if in_backoff else not rules.gate(rules, world, sibling)):
            members.append(sibling)
    return _start(world, group, members)


def _start(world: World, group: str | None, members: list[Pod]) -> World:
    popped = {pod.key for pod in members}
    return evolve(
        world,
        queue=tuple(e for e in world.queue if e.pod not in popped),
        in_flight=Table({**world.in_flight, **{pod.key: pod.uid for pod in members}}),
        cycle=Cycle(group, tuple(members)),
    )


def close(world: World, pods: Iterable[str]) -> World:
    """The pods are in flight no more: given back, committed, or left out of their cycle (QUEUE-29)."""
    in_flight = world.in_flight
    for pod in pods:
        in_flight = in_flight.drop(pod)
    return evolve(world, in_flight=in_flight)


def order(world: World) -> tuple[World, ...]:
    """The popped members in each order in which they may be tried (QUEUE-19d).

    In *intended* there is one: priority, then age, then name, all of them stored (DEV-11).
    """
    cycle = world.cycle
    if cycle is None:
        raise ValueError("no cycle is running")
    members = tuple(sorted(cycle.members, key=lambda pod: (-pod.priority, pod.uid, pod.key)))
    return (evolve(world, cycle=evolve(cycle, members=members)),)


def fail(rules: Rules, world: World, pod: Pod, result: Result) -> World:
    """Failure of a tried pod: report it and put it back (QUEUE-20 to QUEUE-22).

    A pod that is gone, going, bound or replaced is closed without coming back. A member of a group is always
    retried after backoff, as is a pod without rejecting plugins; another pod waits in the pool for an event.
    """
    stored = world.pods.get(pod.key)
    if stored is None or stored.uid != pod.uid or stored.node_name or stored.terminating or stored.terminal:
        return close(world, [pod.key])
    return requeue(rules, world, stored, result)


def requeue(rules: Rules, world: World, stored: Pod, result: Result) -> World:
    """The pod is reported, closed, and stands at the end of the queue: in backoff, in the pool, or gated."""
    world = close(world, [stored.key])
    reason = "SchedulerError" if result.error else "Unschedulable"
    if stored.unscheduled_reason != reason:
        world = patch(world, "pod", stored.key, unscheduled_reason=reason)
    grouped = stored.group is not None and world.settings.gates.generic_workload
    cooling = world.settings.backoff
    entry = Entry(stored.key, "pool", result.plugins, cooling, tried=True)
    if grouped or not result.plugins or _missed(rules, world, stored, result.plugins):
        gates = rules.gate(rules, world, stored) if asks_early(world) or not cooling else ()
        if gates:
            entry = evolve(entry, place="gated", plugins=tuple(sorted({*gates, *result.plugins})))
        else:
            entry = evolve(entry, place="backoff" if cooling else "active")
    return evolve(world, queue=(*world.queue, entry))


def _missed(rules: Rules, world: World, pod: Pod, plugins: tuple[str, ...]) -> bool:
    noticed = world.cycle.noticed if world.cycle else ()
    return any(worth_it(rules, world, pod, plugins, event) for event in noticed)


def cooling(world: World) -> tuple[str, ...]:
    """Whose backoff still runs: groups, and pods without one, sorted (QUEUE-20; SEMANTICS 0.5, group backoff)."""
    return tuple(sorted({group_of(world, e) or e.pod for e in world.queue if e.cooling}))


def expire(rules: Rules, world: World, entity: str) -> World:
    """The entity's backoff is over: a group's members return together (QUEUE-24, ACT-24; intended: DEV-12)."""

    def over(entry: Entry) -> Entry:
        if not entry.cooling or (group_of(world, entry) or entry.pod) != entity:
            return entry
        entry = evolve(entry, cooling=False)
        return out_of_backoff(rules, world, entry) if entry.place == "backoff" else entry

    return evolve(world, queue=tuple(map(over, world.queue)))


def leave(world: World, pod: str) -> World:
    """The pod leaves the queue and its nomination falls (QUEUE-28)."""
    return evolve(
        world,
        queue=tuple(e for e in world.queue if e.pod != pod),
        nominations=world.nominations.drop(pod),
    )
