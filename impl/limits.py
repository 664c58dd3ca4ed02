"""What the model does not do yet, noticed at the moment at which it would matter.

No verdict may rest on a run in which the real scheduler would have done something that is missing here. Such
a run carries the name of what is missing in its ghost, and whoever judges it says *inconclusive*.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.world import World, added

EARLY_STOP = "scores that depend on where the search for nodes stops"
"""From 100 nodes on, where the scores of SCORE-03, 09 and 10 differ with the nodes found (SCORE-12)."""


def note(world: World, missing: str) -> World:
    """The world with a note of what its run needed and the model does not have."""
    if missing in world.ghost.beyond:
        return world
    return evolve(world, ghost=evolve(world.ghost, beyond=added(world.ghost.beyond, missing)))
