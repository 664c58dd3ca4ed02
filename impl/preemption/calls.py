"""Eviction calls: what becomes of a victim when its call ends, well or not (PREEMPT-30, PREEMPT-31)."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.api import afterwards, delete
from gangproof.impl.commit import give_up
from gangproof.impl.rules import Rules
from gangproof.impl.world import Result, Round, World, added

Call = tuple[str, str]
"""An eviction call: the victim, and the pod that asked for it."""


def open_calls(running: Round) -> tuple[Call, ...]:
    """The calls of a round that may end now: for each asker all but the last at once, then the last (CHO-12)."""
    asked: dict[str, list[Call]] = {}
    for call in running.calls:
        asked.setdefault(call[1], []).append(call)
    return tuple(call for calls in asked.values() for call in (calls[:-1] or calls))


def end_call(rules: Rules, world: World, entity: str, call: Call, ok: bool) -> World:
    """The eviction call ends; a victim that is gone counts as done.

    After a failed call the last victim of the same asker is spared.
    """
    running = world.rounds[entity]
    victim, asker = call
    left = tuple(other for other in running.calls if other != call)
    uid = dict(running.victims)[victim]
    if not ok:
        mine = [other for other in left if other[1] == asker]
        skipped = mine if len(mine) == 1 else []
        left = tuple(other for other in left if other not in skipped)
        spared = {victim, *(pod for pod, _ in skipped)} - {pod for pod, _ in left}
        running = evolve(running, victims=tuple(v for v in running.victims if v[0] not in spared))
    world = evolve(world, rounds=world.rounds.put(entity, evolve(running, calls=left)))
    stored = world.pods.get(victim)
    if not ok or stored is None or stored.uid != uid:
        return afterwards(rules, world, world)
    return rules.preempt(rules, world, victim)


def preempt(rules: Rules, world: World, pod: str) -> World:
    """What an eviction does to a pod that exists: the place goes, or the pod is deleted (PREEMPT-30).

    Nothing is written to its group, and no other pod is touched (COND-04, PREEMPT-36).
    """
    binding = world.bindings.get(pod)
    if binding is not None and binding.call != "bind" and pod in world.assumed:
        ghost = evolve(world.ghost, sent_back=added(world.ghost.sent_back, pod))
        before = world
        world = give_up(rules, evolve(world, ghost=ghost), pod, Result(pod, error="preempted"))
        return afterwards(rules, before, world)
    going = world.pods[pod].terminating
    world = evolve(world, ghost=evolve(world.ghost, evicted=added(world.ghost.evicted, pod)))
    return afterwards(rules, world, world) if going else delete(rules, world, "pod", pod)
