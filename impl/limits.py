"""What the model does not do yet, noticed at the moment at which it would matter.

No verdict may rest on a run in which the real scheduler would have done something that is missing here. Such
a run carries the name of what is missing in its ghost, and whoever judges it says *inconclusive*.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from gangproof.impl.filters import prepare, rejection
from gangproof.impl.objects import Pod
from gangproof.impl.world import Snapshot, World, added

PREEMPTION = "preemption"
EARLY_STOP = "scores that depend on where the search for nodes stops"
"""From 100 nodes on, where the scores of SCORE-03, 09 and 10 differ with the nodes found (SCORE-12)."""
SNAPSHOT_WIDE = ("InterPodAffinity", "PodTopologySpread")


def note(world: World, missing: str) -> World:
    """The world with a note of what its run needed and the model does not have."""
    if missing in world.ghost.beyond:
        return world
    return evolve(world, ghost=evolve(world.ghost, beyond=added(world.ghost.beyond, missing)))


def note_preemption(world: World, seen: Snapshot, pod: Pod) -> World:
    """Note that a pod without a place could evict a weaker one (PREEMPT-12, PREEMPT-45, PREEMPT-46).

    A group may evict on any node, and so move what affinity and spreading see on others.
    """
    if PREEMPTION in world.ghost.beyond or pod.preemption_policy == "Never":
        return world
    mine = _strength(world, pod, max)
    weaker = [
        (info, any(_strength(world, other, min) < mine for other in info.pods.values()))
        for info in seen.nodes.values()
    ]
    if not any(victims for _, victims in weaker):
        return world
    anywhere = pod.group is not None and world.settings.gates.workload_aware_preemption
    prepared = prepare(pod, seen)
    for info, victims in weaker:
        refused = rejection(prepared, info)
        if refused is None:
            continue
        if (victims and refused.resolvable) or (anywhere and refused.plugin in SNAPSHOT_WIDE):
            return note(world, PREEMPTION)
    return world


def _strength(world: World, pod: Pod, worst: Callable[[int, int], int]) -> int:
    """The priority that could count: with WorkloadAwarePreemption the pod's or its group's."""
    group = world.groups.get(pod.group) if pod.group else None
    if group is None or not world.settings.gates.workload_aware_preemption:
        return pod.priority
    return worst(pod.priority, group.priority)
