"""Whose priority counts, and who may evict whom (SEMANTICS 0.5, eff)."""

from __future__ import annotations

from gangproof.impl.objects import Pod
from gangproof.impl.world import World


def strength(world: World, pod: Pod) -> int:
    """eff(p): with WorkloadAwarePreemption on a member has its group's priority, whatever its own.

    It decides who may evict whom and whose nomination must be respected, not the queue order (QUEUE-18).
    """
    group = world.groups.get(pod.group) if pod.group is not None else None
    if group is None or not world.settings.gates.workload_aware_preemption:
        return pod.priority
    return group.priority
