"""Clusters in racks, groups that are kept to one, and how their next cycle may come out."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.actions import cycle_steps
from gangproof.impl.api import create
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.objects import PodGroup
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.properties.worlds.named import node

TAS = Settings(gates=evolve(SCENARIO_GATES, topology_aware_workload_scheduling=True))


def kept_to(group: PodGroup, key: str = "rack") -> PodGroup:
    return evolve(group, topology_keys=(key,))


def there(*objects: Object, rules: Rules = INTENDED, options: Settings = TAS) -> World:
    """The world with the objects in it; bound pods are on their nodes."""
    world = World(settings=options)
    for obj in objects:
        world = create(rules, world, obj)
    return world


def racks(*shape: tuple[str, int]) -> list[Object]:
    """Nodes n1, n2, … with a rack and so many CPUs each."""
    return [node(f"n{i}", cpu, labels={"rack": rack}) for i, (rack, cpu) in enumerate(shape, 1)]


def verdicts(world: World, rules: Rules = INTENDED) -> list[Cycle]:
    """The cycle that is next, with its verdict, once for each way in which it may come out."""
    stack, ends = [world], list[Cycle]()
    while stack:
        now = stack.pop()
        if now.cycle is not None and now.cycle.stage == "submitting":
            ends.append(now.cycle)
        else:
            stack.extend(after for _, after in cycle_steps(now, rules))
    return ends


def places(cycle: Cycle) -> dict[str, str | None]:
    return {result.pod.removeprefix("default/"): result.node for result in cycle.results}
