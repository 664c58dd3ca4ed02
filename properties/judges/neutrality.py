"""INV-35: whoever has no group is scheduled as if there were no groups.

The same pods are played with the group gates on and off; and pods that still name a group, since they were stored
while the gates were on, are played with the gates off beside pods that never did. Both must be able to do the same
things, step by step, and the pods become the same.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.api import create
from gangproof.impl.gates import FeatureGates, Object
from gangproof.impl.objects import Pod
from gangproof.impl.restart import restart
from gangproof.impl.rules import Rules
from gangproof.impl.store import stored
from gangproof.impl.world import World
from gangproof.properties.search.explore import Graph, Limits, explore_graph
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.system import Violation
from gangproof.properties.verdict import Verdict

OFF = FeatureGates()
"""No gate of groups is on."""


def neutral(world: World, rules: Rules, limits: Limits) -> tuple[Verdict, Violation | None]:
    """INV-35 from the world on, of whose pods nobody asks for a group step: the gates, or the field, change nothing.

    If pods name groups they are played with the gates off alone, and all of them are there when the scheduler starts.
    """
    grouped = any(isinstance(obj, Pod) and obj.group is not None for obj in world.environment.arrivals)
    if grouped:
        other, without = _switched_off(rules, world), _switched_off(rules, _ungrouped(world))
    else:
        other, without = world, evolve(world, settings=evolve(world.settings, gates=OFF))
    found, graph = explore_graph(Machine(rules, [other], "fine"), None, limits)
    plain, expected = explore_graph(Machine(rules, [without], "fine"), None, limits)
    if not found.stop == plain.stop == "exhausted":
        return Verdict.INCONCLUSIVE, None
    if _shown(graph) == _shown(expected):
        return Verdict.HOLDS, None
    what = "the name of a group" if grouped else "GenericWorkload"
    return Verdict.VIOLATED, Violation("INV-35", f"{what} changes what becomes of pods without a group")


def _switched_off(rules: Rules, world: World) -> World:
    """The world in which all that was to come was stored with the gates on, and the scheduler starts with them off."""
    stored_before = evolve(world, environment=evolve(world.environment, arrivals=()))
    for obj in world.environment.arrivals:
        stored_before = create(rules, stored_before, obj)
    off = evolve(stored_before.settings, gates=OFF)
    return restart(rules, evolve(stored_before, settings=off))


def _shown(graph: Graph[World, Action]) -> tuple[object, ...]:
    """Every step by its name and the places that it leads from and to, and what is stored of the pods at each."""
    steps = tuple((source, str(action), target) for source, action, target in graph.edges)
    return steps, tuple(tuple(map(_plain, stored(state, "pod").values())) for state in graph.states)


def _ungrouped(world: World) -> World:
    """The world to which come the same pods, that name no group."""
    environment = world.environment
    return evolve(world, environment=evolve(environment, arrivals=tuple(map(_plain, environment.arrivals))))


def _plain(obj: Object) -> Object:
    return evolve(obj, scheduling_group=None) if isinstance(obj, Pod) else obj
