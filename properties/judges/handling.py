"""What a group's own handling may not do to its members: take them away, or give up their places.

The contract lets anybody delete a pod and lets any bind fail; who did it and why, it does not see. Here it is
seen (INV-04, INV-37, and the part of INV-03 that says when a promise may be broken).
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.claims.binding import still_served
from gangproof.impl.claims.reserve import NO_HOLDS
from gangproof.impl.filters import prepare, rejection
from gangproof.impl.ghost import counts
from gangproof.impl.objects import Pod
from gangproof.impl.snapshot import seen, without_pod
from gangproof.impl.store import stored
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation


def no_undoing(before: World, action: Action, after: World) -> Violation | None:
    """INV-04: a bound member goes only if somebody else takes this very pod away (QUEUE-06d).

    That is a user, a controller, or the eviction call of a preemption; whether a group may name a victim, the
    contract says. One that has ended is nobody's member any more.
    """
    if before.pods is after.pods:
        return None
    asked = {pod for step, _ in action.via or ((action, after),) for pod in _taken_away(step)}
    for key, pod in before.pods.items():
        if pod.group is None or pod.node_name is None or pod.terminating or pod.terminal or key in asked:
            continue
        now = after.pods.get(key)
        if now is None or now.terminating or now.node_name is None:
            return Violation("INV-04", f"{key} was bound, and {action} takes it away", (key,))
    return None


def _taken_away(action: Action) -> Iterator[str]:
    """The pod that the action is there to take away, or shows to have been taken away."""
    match action.name:
        case "delete" | "update" | "evict" | "collect" | "remove":
            yield action.args[0].removeprefix("pod/")
        case "see" | "lands":
            yield action.args[-1 if action.name == "see" else 0].partition("/")[2]
        case _:
            pass


def waiting_victim_lives(before: World, action: Action, after: World) -> Violation | None:
    """INV-04: an eviction takes a pod that is only promised its room, not its life (PREEMPT-30).

    A pod is only promised until its bind begins.
    """
    if action.name != "evict":
        return None
    key = action.args[0]
    binding, pod, now = before.bindings.get(key), before.pods.get(key), after.pods.get(key)
    if (
        binding is None
        or binding.call == "bind"
        or pod is None
        or pod.terminating
        or key not in before.assumed
    ):
        return None
    if now is None or now.terminating:
        return Violation("INV-04", f"{key} waited to be bound, and {action} deletes it", (key,))
    return None


def promise_kept(before: World, action: Action, after: World) -> Violation | None:
    """INV-03: a gang's member keeps the node that it was promised while it fits there (SEMANTICS 0.5).

    Only a preemption may take the place away (PREEMPT-30), and a restart, after which it is owed.
    """
    if before.assumed is after.assumed or action.name == "restart":
        return None
    for then, now in fine_steps(before, action, after):
        for key, node in then.assumed.items():
            pod = now.pods.get(key)
            if key in now.assumed or pod is None or pod.node_name is not None or not counts(pod):
                continue
            if _taken_meanwhile(now, pod):
                continue
            if any(key == victim for running in then.rounds.values() for victim, _ in running.victims):
                continue
            group = now.groups.get(pod.group or "")
            gangs = now.settings.gates.gang_scheduling
            if group is not None and group.gang and gangs and _fits(then, now, pod, node):
                return Violation("INV-03", f"{key} loses its place on {node}, where it still fits", (key,))
    return None


def _taken_meanwhile(world: World, pod: Pod) -> bool:
    """Whether the stored pod is gone, going, or on a node, and the scheduler does not see it yet (BIND-07)."""
    there: Pod | None = stored(world, "pod").get(pod.key)
    return there is None or there.uid != pod.uid or there.node_name is not None or not counts(there)


def no_plan_no_nomination(before: World, action: Action, after: World) -> Violation | None:
    """INV-37: a verdict leaves nobody nominated who is not promised a place and has no round that runs.

    This is the nomination rule: every failure but that of waiting for one's own round removes them.
    """
    for then, now in fine_steps(before, action, after):
        cycle, done = then.cycle, now.cycle
        if cycle is None or done is None or (cycle.stage, done.stage) != ("submitting", "reporting"):
            continue
        for pod in cycle.members:
            node = now.nominations.get(pod.key)
            if node is not None and pod.key not in now.assumed and not preempts(now, pod):
                message = f"{pod.key} stays nominated to {node}, and no round makes room there"
                return Violation("INV-37", message, (pod.key, node))
    return None


def preempts(world: World, pod: Pod) -> bool:
    """Whether a round of the pod or of its group runs (SEMANTICS 0.5, round)."""
    return pod.group in world.rounds or any(pod.key in running.askers for running in world.rounds.values())


def _fits(before: World, after: World, pod: Pod, node: str) -> bool:
    """Whether the pod may run on the node beside what is there at the end of the step, with the claims that it had."""
    info = after.cache.get(node)
    if info is None or info.node is None:
        return False
    alone = without_pod(info, pod.key)
    prepared = prepare(pod, seen(after.cache.put(node, alone)))
    if rejection(evolve(prepared, claims=None), alone) is not None:
        return False
    binding = before.bindings.get(pod.key)
    holds = binding.holds if binding is not None else NO_HOLDS
    return not pod.resource_claims or still_served(after, pod, node, holds)
