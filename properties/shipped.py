"""Judging what is known to break promises: the profile v1.36.3.

It commits a group member by member, so the contract, which decides at once, cannot follow its single steps.
Promises are therefore asked of whole actions and of worlds in which no cycle runs. What breaks is traced to the
deviation that breaks it alone: a break that no known deviation explains is news.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Rules, profile
from gangproof.impl.world import World
from gangproof.properties.judges import questions
from gangproof.properties.refinement import REFINEMENT
from gangproof.properties.system import Questions, Violation


def shipped_questions() -> Questions[World, Action]:
    """Every promise, asked of whole actions and of worlds between cycles; the contract's actions are not asked."""
    asked = questions()
    return Questions(
        invariants=[_between_cycles(judge) for judge in asked.invariants],
        steps=[_of_whole_actions(judge) for judge in asked.steps],
    )


def _between_cycles(judge: Callable[[World], Violation | None]) -> Callable[[World], Violation | None]:
    def judged(world: World) -> Violation | None:
        return None if world.cycle is not None else judge(world)

    return judged


StepJudge = Callable[[World, Action, World], Violation | None]


def _of_whole_actions(judge: StepJudge) -> StepJudge:
    def judged(before: World, action: Action, after: World) -> Violation | None:
        found = judge(before, evolve(action, via=()), after)
        return None if found is not None and found.property == REFINEMENT else found

    return judged


def to_blame(property_id: str, breaks: Callable[[Rules], bool]) -> tuple[str, ...]:
    """The deviations that break the property when each is alone added to *intended*; by id.

    `breaks` tells whether some run with these rules breaks it.
    """
    suspects = [deviation for deviation in DEVIATIONS if property_id in deviation.breaks]
    return tuple(d.id for d in suspects if breaks(profile(INTENDED, d.change)))
