"""Worlds that differ only in names: one key for all of them.

Pods with the same spec are interchangeable, and so are nodes; a search needs to look at one world of each
kind. The key says of a world everything that can be said without names. It reads the world as a bag of nodes:

- a pod that may be tried (again) is known by its rank in age, because the scheduler tries older pods first;
  so is one that is at two nodes at once;
- any other pod, also one that is gone and that only somebody remembers, is known by what is said of it, and
  belongs to the node where it is;
- a node is known by what is said of it, by the pods that belong to it, and by the ranked pods that are there
  or refer to it.

Nothing is left out but names, ages that no rule compares, and the number of births: from the key the world
can be drawn up again with other names, overlapping sets and over-full nodes too. So worlds with equal keys
have the same futures up to names. What somebody tells apart by name, a later step of a scenario, a held call,
a selector, keeps its name.
"""

from __future__ import annotations

from collections.abc import Hashable

from attrs import frozen

from gangproof.impl.control import NO_CONTROL
from gangproof.impl.world import World
from gangproof.properties.symmetry.beside import read_again, read_control
from gangproof.properties.symmetry.cycle import read_cycle
from gangproof.properties.symmetry.memory import (
    read_admitted,
    read_cache,
    read_ghost,
    read_memory,
    read_reserved,
    read_truth,
)
from gangproof.properties.symmetry.outlook import outlook
from gangproof.properties.symmetry.reading import Reading


@frozen(cache_hash=True)
class Symmetry:
    """A reduced key for worlds; `fixed` are the pods (by key) and nodes that keep their names.

    Keys compare worlds within one process; they are not meant to be stored.
    """

    fixed: frozenset[str] = frozenset()

    def __call__(self, world: World) -> Hashable:
        ahead = outlook(world.environment, self.fixed)
        return _read(world, ahead.kept).key(ahead)


def _read(world: World, kept: frozenset[str]) -> Reading:
    reading = Reading(world, kept)
    read_truth(reading)
    if reading.claims is not None:
        read_reserved(reading, reading.claims)
    read_cache(reading)
    read_memory(reading)
    read_ghost(reading)
    if world.admitted:
        read_admitted(reading)
    if world.cycle is not None:
        read_cycle(reading, world.cycle)
    if world.control is not NO_CONTROL and world.control != NO_CONTROL:
        read_control(reading, world.control)
    if world.environment.again:
        read_again(reading)
    return reading
