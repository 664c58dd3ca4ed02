"""The PodGroup protection controller: a group is kept while an unfinished pod refers to it (SEMANTICS 2.4)."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.rules import Rules
from gangproof.impl.world import World


def controllers(rules: Rules, world: World) -> World:
    """A terminating PodGroup loses its protection when no unfinished pod refers to it (GC-02, GC-05, ACT-27).

    Until then it is terminating with living members (OBS-10).
    """
    for group in world.groups.values():
        if group.terminating and PROTECTION_FINALIZER in group.finalizers:
            if any(pod.group == group.key and not pod.terminal for pod in world.pods.values()):
                continue
            left = tuple(f for f in group.finalizers if f != PROTECTION_FINALIZER)
            groups = (
                world.groups.put(group.key, evolve(group, finalizers=left))
                if left
                else world.groups.drop(group.key)
            )
            world = evolve(world, groups=groups)
    return world
