"""Who is tried next, and after which pause: the order of the queue and its backoff (INV-38, LIVE-09)."""

from __future__ import annotations

from gangproof.impl.actions import Action
from gangproof.impl.preemption.rounds import preemptors
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation

CYCLE_STEPS = ("cycle", "pop", "snapshot", "place", "weigh", "preempt", "submit", "report")
"""The actions that are steps of a cycle, or a whole one."""


def strongest_first(before: World, action: Action, after: World) -> Violation | None:
    """INV-38: what is popped is the strongest ready entity (QUEUE-18).

    An entity is ready if one of its pods is active. Higher pod priority comes first, then the earlier
    Timestamp, which is the place in the queue.
    """
    for then, now in fine_steps(before, action, after):
        popped, active = _popped(then, now), [entry.pod for entry in then.queue if entry.place == "active"]
        if not popped or not active:
            continue
        best = max(active, key=lambda pod: then.pods[pod].priority)
        if best not in popped:
            message = f"{', '.join(popped)} was popped before {best}, which is the strongest"
            return Violation("INV-38", message, (best, *popped))
    return None


def backoff_respected(before: World, action: Action, after: World) -> Violation | None:
    """LIVE-09: nobody is popped whose backoff runs, and no cycle ends anybody's (QUEUE-20 to QUEUE-22).

    A new member takes those in backoff along. What a cycle does is no event of the cluster, so whoever it
    tried in vain waits, unless a preemption for which it waited is over (LIVE-06). Others whose backoff is over may be
    woken in it: a claim is let go, a nomination gives way (PREEMPT-35).
    """
    if not before.settings.backoff or action.name not in CYCLE_STEPS:
        return None
    for then, now in fine_steps(before, action, after):
        entries = {entry.pod: entry for entry in then.queue}
        popped = [entries[pod] for pod in _popped(then, now) if pod in entries]
        early = [entry.pod for entry in popped if entry.place == "backoff"]
        if early and all(entry.tried or entry.place == "backoff" for entry in popped):
            return Violation("LIVE-09", f"{', '.join(early)} is popped before the backoff is over", (*early,))
        if then.cycle is None:
            continue
        woken = {
            pod
            for entity, over in then.rounds.items()
            if entity not in now.rounds
            for pod in preemptors(now, over)
        }
        tried = {pod.key for pod in then.cycle.members}
        for entry in now.queue:
            if entry.place != "active" or entry.pod in woken:
                continue
            was = entries.get(entry.pod)
            if was is not None and (was.place == "active" or not (was.cooling or entry.pod in tried)):
                continue
            message = f"{entry.pod} is ready without a pause after a cycle of {then.cycle.entity}"
            return Violation("LIVE-09", message, (entry.pod,))
    return None


def _popped(before: World, after: World) -> tuple[str, ...]:
    """The pods with which a cycle begins in this step; none if none does."""
    if before.cycle is not None or after.cycle is None:
        return ()
    return tuple(pod.key for pod in after.cycle.members)
