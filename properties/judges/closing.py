"""Whether every member of a cycle is dealt with, once: committed or given back, and closed (INV-09, INV-12)."""

from __future__ import annotations

from gangproof.impl.actions import Action
from gangproof.impl.objects import Pod
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation


def one_close_a_pop(before: World, action: Action, after: World) -> Violation | None:
    """INV-09: who is popped was closed before, and is closed when its cycle has ended (QUEUE-19a, QUEUE-29).

    Closing twice is closing once, as it is for the queue.
    """
    for then, now in fine_steps(before, action, after):
        if then.cycle is None and now.cycle is not None:
            again = [pod.key for pod in now.cycle.members if pod.key in then.in_flight]
            if again:
                return Violation("INV-09", f"{', '.join(again)} is popped while in flight", (*again,))
        if now.cycle is None and now.in_flight:
            left = tuple(now.in_flight)
            return Violation("INV-09", f"{', '.join(left)} stays in flight after its cycle has ended", left)
    return None


def results_cover_all(before: World, action: Action, after: World) -> Violation | None:
    """INV-12: each member of a cycle is either committed or given back, unless it needs no place any more.

    Judged where the last of them has been dealt with.
    """
    for then, now in fine_steps(before, action, after):
        cycle, done = then.cycle, now.cycle
        if cycle is None or done is None or (cycle.stage, done.stage) != ("submitting", "reporting"):
            continue
        for pod in cycle.members:
            committed, returned = pod.key in now.assumed, now.entry(pod.key) is not None
            if committed == returned and (committed or _needs_a_place(now, pod)):
                what = "both committed and given back" if committed else "neither committed nor given back"
                return Violation("INV-12", f"{pod.key} was tried, and is {what}", (pod.key,))
    return None


def _needs_a_place(world: World, pod: Pod) -> bool:
    stored = world.pods.get(pod.key)
    if stored is None or stored.uid != pod.uid:
        return False
    return stored.node_name is None and not stored.terminating and not stored.terminal
