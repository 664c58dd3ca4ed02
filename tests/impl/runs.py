"""Worlds taken step by step: one named action at a time, and a glance at what is in the queue."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.actions import Action, Grain, successors
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World

PLAIN = Settings()
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
NO_GANGS = Settings(gates=evolve(SCENARIO_GATES, gang_scheduling=False))
NO_GROUPS = Settings(gates=evolve(SCENARIO_GATES, gang_scheduling=False, generic_workload=False))


def steps(world: World, *wanted: str, rules: Rules = INTENDED, grain: Grain = "fine") -> list[World]:
    """The worlds after the actions whose text begins with these words, one after the other, in every way."""
    worlds = [world]
    for words in wanted:
        worlds = [
            after
            for now in worlds
            for action, after in successors(now, rules, grain)
            if str(action) == words or str(action).startswith(f"{words} ")
        ]
        assert worlds, f"{words!r} is not possible here"
    return worlds


def step(world: World, *wanted: str, rules: Rules = INTENDED, grain: Grain = "fine") -> World:
    """The one world after these actions."""
    (after,) = dict.fromkeys(steps(world, *wanted, rules=rules, grain=grain))
    return after


def cycle(world: World, rules: Rules = INTENDED) -> World:
    """The world after the next whole cycle, which may come out in one way only."""
    return step(world, "cycle", rules=rules, grain="coarse")


def actions(world: World, rules: Rules = INTENDED, grain: Grain = "fine") -> list[Action]:
    return [action for action, _ in successors(world, rules, grain)]


def running(world: World) -> Cycle:
    assert world.cycle is not None
    return world.cycle


def queued(world: World) -> dict[str, str]:
    """Where each pod of namespace default is queued, in the order of the queue."""
    return {entry.pod.removeprefix("default/"): entry.place for entry in world.queue}


def members(world: World) -> list[str]:
    """The members of the running cycle, in their order."""
    return [pod.name for pod in running(world).members]
