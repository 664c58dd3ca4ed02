"""Eviction calls: what becomes of a victim when its call ends, well or not (PREEMPT-30, PREEMPT-31)."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.api import afterwards, delete
from gangproof.impl.commit import give_up
from gangproof.impl.rules import Rules
from gangproof.impl.world import Result, Round, World, added


def open_calls(running: Round) -> tuple[str, ...]:
    """The calls of a round that may end now: all but the last at once, then the last."""
    return running.calls[:-1] if len(running.calls) > 1 else running.calls


def end_call(rules: Rules, world: World, entity: str, victim: str, ok: bool) -> World:
    """The eviction call ends; a victim that is only promised loses its place instead of its life.

    A victim that is gone counts as done. After a failed call the last victim is spared.
    """
    running = world.rounds[entity]
    left = tuple(pod for pod in running.calls if pod != victim)
    uid = dict(running.victims)[victim]
    if not ok:
        spared = {victim, *left[-1:]} if len(left) == 1 else {victim}
        running = evolve(running, victims=tuple(v for v in running.victims if v[0] not in spared))
        left = tuple(pod for pod in left if pod not in spared)
    world = evolve(world, rounds=world.rounds.put(entity, evolve(running, calls=left)))
    stored = world.pods.get(victim)
    if not ok or stored is None or stored.uid != uid:
        return afterwards(rules, world, world)
    binding = world.bindings.get(victim)
    if binding is not None and binding.call != "bind" and victim in world.assumed:
        ghost = evolve(world.ghost, sent_back=added(world.ghost.sent_back, victim))
        before = world
        world = give_up(rules, evolve(world, ghost=ghost), victim, Result(victim, error="preempted"))
        return afterwards(rules, before, world)
    world = evolve(world, ghost=evolve(world.ghost, evicted=added(world.ghost.evicted, victim)))
    return afterwards(rules, world, world) if stored.terminating else delete(rules, world, "pod", victim)
