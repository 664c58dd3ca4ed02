"""Judging what is known to break promises: the profile v1.36.3.

It commits a group member by member, so the contract, which decides at once, cannot follow its single steps, and
what it says of states is asked where no cycle runs. What breaks is traced to the deviation that breaks it alone: a
break that no known deviation explains is news.
"""

from __future__ import annotations

from collections.abc import Callable

from gangproof.impl.actions import Action
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Rules, profile
from gangproof.impl.world import World
from gangproof.properties.judges.everything import (
    OF_THE_MACHINERY,
    OF_THE_STATE,
    StateJudge,
    states_of,
    steps_of,
)
from gangproof.properties.search.system import Questions, Violation
from gangproof.spec.catalogue import CONTRACT

DECISIONS = ("INV-01", "INV-02")
"""What the contract says of its one decision, and `deciding` of one that is carried out member by member."""


def shipped_questions() -> Questions[World, Action]:
    """Every promise, states only between cycles; whether the contract allows the steps is not asked."""
    return Questions(
        invariants=[_between_cycles(judge) for judge in (*states_of(CONTRACT), *OF_THE_STATE)],
        steps=(*steps_of(CONTRACT, leave_out=DECISIONS), *OF_THE_MACHINERY),
    )


def _between_cycles(judge: StateJudge) -> StateJudge:
    def judged(world: World) -> Violation | None:
        return None if world.cycle is not None else judge(world)

    return judged


def to_blame(property_id: str, breaks: Callable[[Rules], bool]) -> tuple[str, ...]:
    """The deviations that break the property when each is alone added to *intended*; by id.

    `breaks` tells whether some run with these rules breaks it.
    """
    suspects = [deviation for deviation in DEVIATIONS if property_id in deviation.breaks]
    return tuple(d.id for d in suspects if breaks(profile(INTENDED, d.change)))
