"""All or nothing, as the machinery decides: by the numbers of its cycle, and at Permit (INV-01, INV-02).

The contract promises places to all kept members in one step and counts them there. A scheduler that commits them
one after the other, as v1.36.3 does, decides before it promises the first, and lets each through by a count of
its own. Here both are judged where they happen, so they mean the same in every profile.
"""

from __future__ import annotations

from gangproof.impl.actions import Action
from gangproof.impl.cycle import kept_and_minimum
from gangproof.impl.members import count
from gangproof.impl.memory import Binding
from gangproof.impl.world import World
from gangproof.properties.judges.settled import true_members
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation


def decided_as_a_whole(before: World, action: Action, after: World) -> Violation | None:
    """INV-01: a verdict that commits members of a gang keeps enough, with those that its snapshot counts (CYCLE-26)."""
    for then, now in fine_steps(before, action, after):
        cycle = now.cycle
        if then.cycle is None or then.cycle.stage == "submitting" or cycle is None:
            continue
        if cycle.stage != "submitting" or cycle.code != "Success" or cycle.group is None:
            continue
        placed, kept, minimum = kept_and_minimum(now, cycle)
        if placed + kept < minimum:
            message = f"{cycle.group} is committed with {placed} placed and {kept} kept of at least {minimum}"
            return Violation("INV-01", message, (cycle.group,))
    return None


def released_as_a_whole(before: World, action: Action, after: World) -> Violation | None:
    """INV-02: who passes Permit makes a gang that reaches its minimum, counted from the objects (GANG-09, GANG-10)."""
    for then, now in fine_steps(before, action, after):
        if then.bindings is now.bindings:
            continue
        for key, binding in now.bindings.items():
            pod = now.pods.get(key)
            if not _passed(binding) or _passed(then.bindings.get(key)) or pod is None or pod.group is None:
                continue
            group = now.groups.get(pod.group)
            if group is None or not group.gang or not now.settings.gates.gang_scheduling:
                continue
            number, minimum = count(true_members(now, group.key), "placed"), group.min_count or 0
            if number < minimum:
                message = f"{key} passes Permit with {number} members placed of at least {minimum}"
                return Violation("INV-02", message, (group.key, key))
    return None


def _passed(binding: Binding | None) -> bool:
    return binding is not None and binding.call != "permit"
