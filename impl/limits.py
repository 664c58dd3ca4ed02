"""What the model does not do yet, noticed at the moment at which it would matter.

No verdict may rest on a run in which the real scheduler would have done something that is missing here. Such
a run carries the name of what is missing in its ghost, and whoever judges it says *inconclusive*.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.table import added
from gangproof.impl.world import World

EARLY_STOP = "scores that depend on where the search for nodes stops"
"""From 100 nodes on, where the scores of SCORE-03, 09 and 10 differ with the nodes found (SCORE-12)."""
TIES = "more orders of equal victims than are told apart"
"""The victims that rank the same may be judged in any order, and those are too many (CHO-08)."""
ORDERS = "more orders of members that were let in at once than are told apart"
"""Members that enter the active part by one event may be tried in any order, and those are too many (CHO-02)."""
FEWER_WAYS = frozenset({TIES, ORDERS})
"""What leaves out some of the ways in which a run may go on, and adds none."""
HELD_IN_CYCLE = "an eviction call that is held open while the scheduler waits for it"
"""Without SchedulerAsyncPreemption nothing else is tried until the call has ended (PREEMPT-32)."""
FAILED_IN_CYCLE = "an eviction call of a group's member that fails while the members are tried"
"""Without SchedulerAsyncPreemption the member counts as rejected then, before the next one is tried (CYCLE-17)."""
MOST_JOB_PODS = 500
LARGE_JOB = f"a Job of more than {MOST_JOB_PODS} pods"
"""One sync makes them all, and every rule looks at every one."""
SAME_NAME = "a pod that takes the name of one whose place is still held"
"""The cache goes by uid, and has both (BIND-01)."""


def note(world: World, *missing: str) -> World:
    """The world with a note of what its run needed and the model does not have."""
    beyond = world.ghost.beyond
    for name in missing:
        beyond = added(beyond, name)
    return world if beyond == world.ghost.beyond else evolve(world, ghost=evolve(world.ghost, beyond=beyond))
