"""The PodGroup protection controller: a group is kept while an unfinished pod refers to it (SEMANTICS 2.4)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.control import Revision
from gangproof.impl.objects import PodGroup
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.rules import Rules
from gangproof.impl.store import late, seen, stored, view
from gangproof.impl.views import write
from gangproof.impl.world import World

COMPONENT = "protection-controller"


def controllers(rules: Rules, world: World) -> World:
    """A terminating PodGroup loses its protection when no unfinished pod refers to it (GC-02, GC-05, ACT-27).

    Until then it is terminating with living members (OBS-10). Every change that may matter is a reason to look: of
    the group, of a pod, of its phase, and of who bears its name (GC-03). A group that never had the finalizer is
    not given one (GC-04).
    """
    for key in unneeded(world):
        world = let_go(rules, world, key)
    return world


def unneeded(world: World) -> Iterator[str]:
    """The terminating groups that are protected although the controller sees no unfinished pod that refers to them."""
    groups = seen(world, COMPONENT, "podGroup")
    going = [
        group for group in groups.values() if group.terminating and PROTECTION_FINALIZER in group.finalizers
    ]
    if going:
        pods = seen(world, COMPONENT, "pod").values()
        needed = {pod.group for pod in pods if not pod.terminal}
        yield from (group.key for group in going if group.key not in needed)


def let_go(rules: Rules, world: World, key: str) -> World:
    """The finalizer is taken off, if the group is still as the controller sees it; else it looks again later."""
    group: PodGroup = seen(world, COMPONENT, "podGroup")[key]
    if stored(world, "podGroup").get(key) != group:
        return world
    left = tuple(f for f in group.finalizers if f != PROTECTION_FINALIZER)
    after = evolve(group, finalizers=left) if left else None
    return write(rules, world, Revision("podGroup", key, group, after, COMPONENT))


def prompt(world: World) -> bool:
    """Whether the controller sees everything at once, so that it acts at once."""
    return not any(late(world, view(COMPONENT, kind)) for kind in ("pod", "podGroup"))
