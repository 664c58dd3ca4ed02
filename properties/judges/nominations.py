"""The nomination rule where a round runs: its plan is nominated when it begins and stays until it ends (INV-37).

That nominations fall otherwise, `handling` says.
"""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.impl.actions import Action
from gangproof.impl.ghost import counts
from gangproof.impl.members import count
from gangproof.impl.preemption.rounds import outranked
from gangproof.impl.world import World
from gangproof.properties.judges.settled import true_members
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation


def plan_nominated(before: World, action: Action, after: World) -> Violation | None:
    """INV-37: where a round begins, the members that its plan keeps are nominated to their nodes (DEV-37)."""
    for then, now in fine_steps(before, action, after):
        cycle, done = then.cycle, now.cycle
        if cycle is None or done is None or (cycle.stage, done.stage) != ("submitting", "reporting"):
            continue
        if done.code != "Waiting" or now.rounds.get(cycle.preemptor) == then.rounds.get(cycle.preemptor):
            continue
        for pod, node in cycle.plan.items():
            if _waits(now, pod) and now.nominations.get(pod) != node:
                return Violation(
                    "INV-37", f"room is made for {pod} on {node}, and not kept for it", (pod, node)
                )
    return None


def plan_kept(before: World, action: Action, after: World) -> Violation | None:
    """INV-37: a nomination stays while the round runs in which its pod asked.

    Unless the pod is promised or gone, its group is held back at the gate or deleted, or a stronger pod evicts from the
    node (PREEMPT-35).
    """
    for then, now in fine_steps(before, action, after):
        if then.nominations is now.nominations or not then.nominations:
            continue
        for pod in _asking(then, now):
            node = then.nominations.get(pod)
            if node is None or not _waits(now, pod) or _gives_way(then, pod):
                continue
            if now.nominations.get(pod) != node:
                message = f"{pod} loses its nomination to {node} while room is being made there"
                return Violation("INV-37", message, (pod, node))
    return None


def _gives_way(then: World, pod: str) -> bool:
    return then.cycle is not None and outranked(then, then.cycle.results, then.pods[pod])


def _asking(then: World, now: World) -> Iterator[str]:
    """Who asked in a round that runs on, and was not replaced meanwhile."""
    for entity, running in now.rounds.items():
        if entity in then.rounds:
            for pod in running.askers:
                was, is_now = then.pods.get(pod), now.pods.get(pod)
                if was is not None and is_now is not None and was.uid == is_now.uid:
                    yield pod


def _waits(world: World, pod: str) -> bool:
    """Whether the pod still waits for a place and may be tried: living, without one, its group complete."""
    stored = world.pods.get(pod)
    if stored is None or not counts(stored) or stored.terminal or stored.node_name or pod in world.assumed:
        return False
    if stored.group is None or not world.settings.gates.gang_scheduling:
        return True
    group = world.groups.get(stored.group)
    return group is not None and count(true_members(world, group.key), "gate") >= (group.min_count or 0)
