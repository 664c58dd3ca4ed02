"""What the model does not do yet, noticed at the moment at which it would matter.

No verdict may rest on a run in which the real scheduler would have done something that is missing here. Such
a run carries the name of what is missing in its ghost, and whoever judges it says *inconclusive*.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from gangproof.impl.filters import rejection
from gangproof.impl.objects import Pod
from gangproof.impl.world import Snapshot, World, added

PREEMPTION = "preemption"


def note_preemption(world: World, seen: Snapshot, pod: Pod) -> World:
    """Note that a pod without a place could evict a weaker one (PREEMPT-12, PREEMPT-45, PREEMPT-46)."""
    if PREEMPTION in world.ghost.beyond or pod.preemption_policy == "Never":
        return world
    mine = _strength(world, pod, max)
    for info in seen.nodes.values():
        refused = rejection(pod, info)
        if refused is None or not refused.resolvable:
            continue
        if any(_strength(world, other, min) < mine for other in info.pods.values()):
            return evolve(world, ghost=evolve(world.ghost, beyond=added(world.ghost.beyond, PREEMPTION)))
    return world


def _strength(world: World, pod: Pod, worst: Callable[[int, int], int]) -> int:
    """The priority that could count: with WorkloadAwarePreemption the pod's or its group's."""
    group = world.groups.get(pod.group) if pod.group else None
    if group is None or not world.settings.gates.workload_aware_preemption:
        return pod.priority
    return worst(pod.priority, group.priority)
