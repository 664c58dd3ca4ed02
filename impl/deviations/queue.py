"""Deviations in the queue: the order of members, backoff, the flush."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations, product

from attrs import evolve

from gangproof.impl.cycle_state import Event
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.hints import shipped_hint
from gangproof.impl.limits import ORDERS, note
from gangproof.impl.memory import Entry
from gangproof.impl.objects import Pod
from gangproof.impl.queue import end_group_backoff, out_of_backoff, strongest
from gangproof.impl.rules import Change, Rules
from gangproof.impl.steps import (
    AdmitStep,
    CoolingStep,
    ExpireStep,
    HintStep,
    OrderStep,
    PopStep,
    ReadyStep,
    RejoinStep,
    ReleasedStep,
    WakeStep,
)
from gangproof.impl.world import World

Batches = tuple[tuple[int, ...], ...]
MOST_ORDERS = 720
"""Of more orders in which members may have been let in only so many are looked at."""


def remembered(old: AdmitStep) -> AdmitStep:
    """The initial-attempt time is that of the first admission; one event admits several at once (QUEUE-11)."""

    def admit(world: World, pods: tuple[str, ...]) -> World:
        batch = tuple(sorted(world.pods[pod].uid for pod in pods))
        return evolve(old(world, pods), admitted=(*_waiting(world), batch))

    return admit


def _waiting(world: World) -> Batches:
    """The batches without pods that are gone or bound."""
    waiting = {pod.uid for pod in world.pods.values() if pod.node_name is None}
    batches = (tuple(uid for uid in batch if uid in waiting) for batch in world.admitted)
    return tuple(batch for batch in batches if batch)


def by_first_admission(old: OrderStep) -> OrderStep:
    """Members go by priority and first admission; those that one event let in are in any order (QUEUE-13, 19d).

    Whatever order came out stays for good, as the times do in the real queue (CHO-01, CHO-02).
    """

    def order(world: World) -> tuple[World, ...]:
        cycle = world.cycle
        if cycle is None or cycle.group is None:
            return old(world)
        late = tuple(sorted(pod.uid for pod in cycle.members if not _admitted(world, pod)))
        batches = (*_waiting(world), late) if late else _waiting(world)
        world = evolve(world, admitted=batches)
        ways = tuple(islice(_resolved(batches, {p.uid for p in cycle.members}), MOST_ORDERS + 1))
        if len(ways) > MOST_ORDERS:
            world = note(world, ORDERS)
        return tuple(_ordered(world, ranks) for ranks in ways[:MOST_ORDERS])

    return order


def _admitted(world: World, pod: Pod) -> bool:
    return any(pod.uid in batch for batch in world.admitted)


def _resolved(batches: Batches, tried: set[int]) -> Iterator[Batches]:
    """The ways in which the batches with several tried members may have been in fact one after the other.

    Of too many some, and more than are looked at.
    """
    ways = [
        [tuple((uid,) for uid in way) for way in islice(permutations(batch), MOST_ORDERS + 1)]
        if len(tried.intersection(batch)) > 1
        else [(batch,)]
        for batch in batches
    ]
    for choice in product(*ways):
        yield tuple(batch for part in choice for batch in part)


def _ordered(world: World, batches: Batches) -> World:
    cycle = world.cycle
    assert cycle is not None
    rank = {uid: number for number, batch in enumerate(batches) for uid in batch}
    members = tuple(sorted(cycle.members, key=lambda pod: (-pod.priority, rank[pod.uid])))
    return evolve(world, admitted=batches, cycle=evolve(cycle, members=members))


def early(old: ReadyStep) -> ReadyStep:
    """When nothing is active the head of the backoff queue is served before its time (QUEUE-19, QUEUE-23)."""

    def ready(world: World) -> Entry | None:
        first = old(world)
        if first is None and world.settings.gates.scheduler_pop_from_backoff_q:
            return strongest(world, [e for e in world.queue if e.place == "backoff" and e.plugins])
        return first

    return ready


def with_siblings_in_backoff(old: PopStep) -> PopStep:
    """Siblings are taken along from backoff too, whatever is left of it (QUEUE-19b)."""

    def pop(rules: Rules, world: World) -> World:
        first = rules.ready(world)
        if first is not None:
            group = world.pods[first.pod].group if world.settings.gates.generic_workload else None
            if group is not None:
                world = end_group_backoff(rules, world, group)
            elif first.place == "backoff":
                world = evolve(
                    world,
                    queue=tuple(evolve(e, place="active") if e is first else e for e in world.queue),
                )
        return old(rules, world)

    return pop


def each_pod(_: CoolingStep) -> CoolingStep:
    """Each member has a backoff of its own, by how often it was tried in vain (QUEUE-20)."""

    def cooling(world: World) -> tuple[str, ...]:
        return tuple(sorted(entry.pod for entry in world.queue if entry.cooling))

    return cooling


def of_one_pod(_: ExpireStep) -> ExpireStep:
    """The end of a member's backoff brings back nobody else (QUEUE-20, QUEUE-24)."""

    def expire(rules: Rules, world: World, entity: str) -> World:
        entry = world.entry(entity)
        if entry is None or not entry.cooling:
            return world
        cooled = evolve(entry, cooling=False)
        if entry.place == "backoff":
            cooled = out_of_backoff(rules, world, cooled)
        return evolve(world, queue=tuple(cooled if e is entry else e for e in world.queue))

    return expire


def each_for_itself(_: RejoinStep) -> RejoinStep:
    """A member that becomes active ends nobody else's backoff; siblings come along when it is popped (QUEUE-14a)."""

    def rejoin(rules: Rules, world: World, group: str | None) -> World:
        return world

    return rejoin


def with_gaps(_: HintStep) -> HintStep:
    """Some changes that make room wake nobody; who might be placed waits for the flush (QUEUE-31)."""

    def hint(plugin: str, pod: Pod, event: Event) -> bool:
        return shipped_hint(plugin, pod, event)

    return hint


def unheard(_: ReleasedStep) -> ReleasedStep:
    """No event says that a chosen allocation was given up (QUEUE-31)."""

    def released(rules: Rules, world: World) -> World:
        return world

    return released


def passing_over_gated(old: WakeStep) -> WakeStep:
    """The flush does not reach gated entries (QUEUE-15, QUEUE-26)."""

    def wake(rules: Rules, world: World, event: Event) -> World:
        after = old(rules, world, event)
        if event.kind != "Flush":
            return after
        kept = tuple(
            before if before.place == "gated" else entry
            for before, entry in zip(world.queue, after.queue, strict=True)
        )
        return evolve(after, queue=kept)

    return wake


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-11",
            "members are ordered by their first admission to the queue, which is arbitrary among siblings",
            {"admit": remembered, "order": by_first_admission},
        ),
        promise="a deterministic member order by priority and first-seen time",
        intended="members are ordered by priority, then creation, then name, all of them stored",
        breaks=("INV-39",),
        rules=("QUEUE-11", "QUEUE-13", "QUEUE-19d"),
        scenario="DEV-11-shipped",
    ),
    Deviation(
        Change(
            "DEV-12",
            "each pod has a backoff of its own, skipped when the queue is otherwise idle and for siblings taken along",
            {
                "ready": early,
                "pop": with_siblings_in_backoff,
                "rejoin": each_for_itself,
                "cooling": each_pod,
                "expire": of_one_pod,
            },
        ),
        promise="the standard backoff applies to a group",
        intended="nothing is popped before its backoff is over, unless a new member or an event justifies it",
        breaks=("LIVE-09",),
        rules=("QUEUE-19", "QUEUE-19b", "QUEUE-20", "QUEUE-23"),
        scenario="DEV-12-shipped",
    ),
    Deviation(
        Change("DEV-53", "gated pods ignore the flush", {"wake": passing_over_gated}),
        promise="the flush is the safety net",
        intended="the flush offers its event to gated pods too",
        breaks=("LIVE-06",),
        rules=("QUEUE-26",),
    ),
    Deviation(
        Change(
            "DEV-57",
            "some changes that make room for a plain pod wake it only with the flush, five minutes later",
            {"hint": with_gaps, "released": unheard},
        ),
        promise="a pod is tried again when it may fit",
        intended="every change that may make a rejecting filter say yes wakes the pod",
        breaks=("LIVE-08",),
        rules=("QUEUE-14", "QUEUE-31"),
    ),
)
