"""Deviations in what is reported: exits without a condition, and a view that lags."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from gangproof.impl.cycle import DIFFERENT_NAMES, UNKNOWN_NAME
from gangproof.impl.cycle_state import Code
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.objects import Condition, PodGroup
from gangproof.impl.rules import Change
from gangproof.impl.steps import ConditionStep, StoreStep
from gangproof.impl.store import SCHEDULER, view
from gangproof.impl.table import added
from gangproof.impl.world import World


def silent(exit_message: str) -> Callable[[ConditionStep], ConditionStep]:
    """Nothing is written when a cycle ends early with this message (CYCLE-05, CYCLE-51)."""

    def wrap(old: ConditionStep) -> ConditionStep:
        def condition(world: World, group: PodGroup, code: Code, message: str) -> Condition | None:
            return None if message == exit_message else old(world, group, code, message)

        return condition

    return wrap


def by_the_copy(old: ConditionStep) -> ConditionStep:
    """The write compares with the scheduler's copy of the group, which may lag (CYCLE-55)."""

    def condition(world: World, group: PodGroup, code: Code, message: str) -> Condition | None:
        return old(world, world.groups.get(group.key, group), code, message)

    return condition


def unseen_at_first(old: StoreStep) -> StoreStep:
    """What is written is seen later (CYCLE-55, ACT-10)."""

    def store(world: World, group: PodGroup) -> World:
        environment = world.environment
        lagging = evolve(environment, stale=added(environment.stale, view(SCHEDULER, "podGroup")))
        return evolve(old(evolve(world, environment=lagging), group), environment=environment)

    return store


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-13",
            "members with different scheduler names fail with an error that no condition tells of",
            {"condition": silent(DIFFERENT_NAMES)},
        ),
        promise="a mismatch of scheduler names rejects all members",
        intended="the cycle ends with verdict Error and the condition False/SchedulerError",
        breaks=("LIVE-13",),
        rules=("CYCLE-05", "CYCLE-51"),
        scenario="DEV-13-shipped",
    ),
    Deviation(
        Change(
            "DEV-14",
            "a cycle that ends early for another reason writes no condition",
            {"condition": silent(UNKNOWN_NAME)},
        ),
        promise="a condition after every cycle",
        intended="every exit of a cycle with members and an existing PodGroup writes the condition",
        breaks=("LIVE-13",),
        rules=("CYCLE-51",),
    ),
    Deviation(
        Change(
            "DEV-22",
            "the retry of a member that is left over writes False over True from a stale copy",
            {"condition": by_the_copy, "store": unseen_at_first},
        ),
        promise="True is terminal",
        intended="the write compares with the stored object and never replaces True",
        breaks=("INV-13",),
        rules=("CYCLE-52", "CYCLE-55"),
        race=True,
        scenario="GS-20-shipped",
    ),
)
