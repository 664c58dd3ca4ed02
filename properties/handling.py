"""What a group's own handling may not do to its members: take them away, or give up their places.

The contract lets anybody delete a pod and lets any bind fail; who did it and why, it does not see. Here it is
seen (INV-04, INV-37, and the part of INV-03 that says when a promise may be broken).
"""

from __future__ import annotations

from gangproof.impl.actions import Action
from gangproof.impl.filters import prepare, rejection
from gangproof.impl.ghost import counts
from gangproof.impl.objects import Pod
from gangproof.impl.snapshot import seen, without_pod
from gangproof.impl.world import World
from gangproof.properties.refinement import fine_steps
from gangproof.properties.system import Violation

REQUESTS = ("delete", "update")
"""Actions by which somebody outside takes a pod away; their first argument names the object."""


def no_undoing(before: World, action: Action, after: World) -> Violation | None:
    """INV-04: a bound member goes only if somebody outside takes this very pod away (QUEUE-06d).

    Nothing in the model preempts yet, so no pod may be anybody's victim.
    """
    if before.pods is after.pods:
        return None
    asked = action.args[0] if action.name in REQUESTS else None
    for key, pod in before.pods.items():
        if pod.group is None or pod.node_name is None or pod.terminating or asked == f"pod/{key}":
            continue
        now = after.pods.get(key)
        if now is None or now.terminating or now.node_name is None:
            return Violation("INV-04", f"{key} was bound, and {action} takes it away", (key,))
    return None


def promise_kept(before: World, action: Action, after: World) -> Violation | None:
    """INV-03: a gang's member keeps the node that it was promised while it fits there (SEMANTICS 0.5)."""
    if before.assumed is after.assumed:
        return None
    for then, now in fine_steps(before, action, after):
        for key, node in then.assumed.items():
            pod = now.pods.get(key)
            if key in now.assumed or pod is None or pod.node_name is not None or not counts(pod):
                continue
            group = now.groups.get(pod.group or "")
            if group is not None and group.gang and _fits(now, pod, node):
                return Violation("INV-03", f"{key} loses its place on {node}, where it still fits", (key,))
    return None


def no_plan_no_nomination(world: World) -> Violation | None:
    """INV-37: nobody is nominated without a round of preemption (SEMANTICS 0.5, nomination rule).

    Nothing in the model preempts yet, so there is no round.
    """
    for key, node in world.nominations.items():
        return Violation("INV-37", f"{key} is nominated to {node}, and no round made room there", (key, node))
    return None


def _fits(world: World, pod: Pod, node: str) -> bool:
    """Whether the pod may run on the node beside what is there at the end of the step."""
    info = world.cache.get(node)
    if info is None or info.node is None:
        return False
    alone = without_pod(info, pod.key)
    snapshot = seen(world.cache.put(node, alone))
    return rejection(prepare(pod, snapshot), alone) is None
