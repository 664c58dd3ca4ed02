"""What the condition `PodGroupScheduled` tells, judged where it is written (INV-14, INV-15, LIVE-13).

The contract says that True stays (INV-13). Here it is held against the verdict that it reports.
"""

from __future__ import annotations

from gangproof.impl.actions import Action
from gangproof.impl.objects import Condition
from gangproof.impl.store import stored
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation


def condition_meaning(before: World, action: Action, after: World) -> Violation | None:
    """INV-14: a cycle that decides leaves its group True, and no other cycle makes it True (CYCLE-50)."""
    for then, now in fine_steps(before, action, after):
        group, code = _ended(action, then, now)
        if group is None:
            continue
        was, written = _condition(then, group), _condition(now, group)
        true = written is not None and written.status == "True"
        if code == "Success" and not true:
            return Violation("INV-14", f"{group} was decided for, and its condition is {written}", (group,))
        if code != "Success" and true and was != written:
            return Violation("INV-14", f"{group} is {written} after a cycle without a decision", (group,))
    return None


def explanation(before: World, action: Action, after: World) -> Violation | None:
    """LIVE-13: whoever was tried, and not only looked at, has a condition that gives the reason."""
    for then, now in fine_steps(before, action, after):
        group, _ = _ended(action, then, now)
        if group is not None and _condition(now, group) is None:
            return Violation("LIVE-13", f"{group} was tried, and no condition tells of it", (group,))
    return None


def transition_time(before: World, action: Action, after: World) -> Violation | None:
    """INV-15: a write renews the transition time if and only if it changes the status (CYCLE-53).

    There are no times here, so that they cannot grow for ever; of each condition it is known whether the write
    that made it renewed the time.
    """
    for then, now in fine_steps(before, action, after):
        if then.groups is now.groups and then.control is now.control:
            continue
        earlier = stored(then, "podGroup")
        for key, group in stored(now, "podGroup").items():
            old, written = earlier.get(key), group.condition
            was = old.condition if old is not None and old.uid == group.uid else None
            if written is None or written == was:
                continue
            moved = was is None or was.status != written.status
            if written.renewed != moved:
                what = "renewed" if written.renewed else "kept"
                message = f"{key} went from {was} to {written}, and the transition time was {what}"
                return Violation("INV-15", message, (key,))
    return None


def _ended(action: Action, before: World, after: World) -> tuple[str | None, str | None]:
    """The existing group whose cycle ends in this step after a verdict, and the verdict; None if none does.

    A restart ends no cycle: what it would have written is not known any more (INV-39).
    """
    if action.name == "restart":
        return None, None
    cycle = before.cycle
    if cycle is None or after.cycle is not None or cycle.stage == "popped":
        return None, None
    if cycle.group not in stored(after, "podGroup") or cycle.group not in before.groups:
        return None, None
    return cycle.group, cycle.code


def _condition(world: World, group: str) -> Condition | None:
    """The condition as it is stored, None if there is none."""
    there = stored(world, "podGroup").get(group)
    return there.condition if there is not None else None
