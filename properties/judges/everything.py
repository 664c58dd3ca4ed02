"""Everything that is asked of a run: the contract's invariants, refinement, the exact undo of a simulation.

One place makes the `Questions` that every engine asks, so that the explorer, the fuzzer and the scenarios
judge by the same sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from gangproof.impl.actions import Action
from gangproof.impl.store import as_stored
from gangproof.impl.world import World
from gangproof.properties.judges.claim_judges import counters_hold, entries_in_order, named_stays
from gangproof.properties.judges.closing import one_close_a_pop, results_cover_all
from gangproof.properties.judges.conditions import condition_meaning, explanation, transition_time
from gangproof.properties.judges.deciding import decided_as_a_whole, released_as_a_whole
from gangproof.properties.judges.evictions import as_decided, needed, refused, useful
from gangproof.properties.judges.handling import (
    no_plan_no_nomination,
    no_undoing,
    promise_kept,
    waiting_victim_lives,
)
from gangproof.properties.judges.jobs import made_in_order, uniform
from gangproof.properties.judges.nominations import plan_kept, plan_nominated
from gangproof.properties.judges.placed import bound_where_room_is, obeys_the_filters
from gangproof.properties.judges.queue_order import backoff_respected, strongest_first
from gangproof.properties.judges.remembered import latest, same
from gangproof.properties.judges.stored import (
    accepted_by_the_rules,
    let_go_as_seen,
    reference_checked,
    spec_kept,
    within_limits,
)
from gangproof.properties.refinement.abstraction import abstract
from gangproof.properties.refinement.steps import calls, fine_steps, refinement
from gangproof.properties.search.system import Questions, Violation
from gangproof.spec.catalogue import CONTRACT
from gangproof.spec.contract import Contract, Invariant
from gangproof.spec.judging import Broken, judge, judge_step, stages
from gangproof.spec.structure import Structure

StateJudge = Callable[[World], Violation | None]
StepJudge = Callable[[World, Action, World], Violation | None]


def questions(contract: Contract = CONTRACT) -> Questions[World, Action]:
    """What is asked of every state and every step: each invariant by its id, and refinement."""
    return Questions(
        invariants=(*states_of(contract), *OF_THE_STATE),
        steps=(*steps_of(contract), *OF_THE_MACHINERY, refinement(contract)),
    )


def states_of(contract: Contract) -> tuple[StateJudge, ...]:
    """The contract's invariants of states."""
    return tuple(_state_judge(i, contract) for i in contract.invariants if i.kind == "state")


def steps_of(contract: Contract, leave_out: Sequence[str] = ()) -> tuple[StepJudge, ...]:
    """The contract's invariants of steps, but for some ids."""
    asked = [i for i in contract.invariants if i.kind == "step" and i.id not in leave_out]
    return tuple(_step_judge(invariant, contract) for invariant in asked)


def undone(world: World) -> Violation | None:
    """INV-07: after the undo, the snapshot is what it was when it was taken (CYCLE-23)."""
    cycle = world.cycle
    if cycle is None or cycle.stage != "submitting" or cycle.snapshot == cycle.taken:
        return None
    return Violation(
        "INV-07", "frame of the simulation: not so: after the undo the snapshot is as it was taken"
    )


OF_THE_STATE: tuple[StateJudge, ...] = (undone, uniform, within_limits, entries_in_order)
"""What is asked of states beside the contract's invariants."""


def undone_on_the_way(before: World, action: Action, after: World) -> Violation | None:
    """INV-07 in the worlds that a coarse step passes through."""
    passed = (undone(now) for _, now in fine_steps(before, action, after))
    return next((found for found in passed if found is not None), None)


OF_THE_MACHINERY: tuple[StepJudge, ...] = (
    decided_as_a_whole,
    released_as_a_whole,
    condition_meaning,
    transition_time,
    explanation,
    strongest_first,
    backoff_respected,
    one_close_a_pop,
    results_cover_all,
    undone_on_the_way,
    no_undoing,
    waiting_victim_lives,
    promise_kept,
    no_plan_no_nomination,
    plan_nominated,
    plan_kept,
    useful,
    as_decided,
    refused,
    needed,
    obeys_the_filters,
    bound_where_room_is,
    made_in_order,
    spec_kept,
    reference_checked,
    accepted_by_the_rules,
    let_go_as_seen,
    named_stays,
    counters_hold,
)
"""What is asked of the steps of the machinery itself, fine ones and those that a coarse one is made of."""


@latest
def _abstract(world: World) -> Structure:
    return abstract(same(world))


@lru_cache(maxsize=1 << 13)
def _broken(state: Structure, contract: Contract) -> tuple[Broken, ...]:
    return judge(state, contract)


@latest
def _broken_on_the_way(before: World, action: Action, after: World, contract: Contract) -> tuple[Broken, ...]:
    steps = fine_steps(before, action, after)
    return tuple(b for then, now in steps for b in _broken_step(abstract(then), abstract(now), contract))


@lru_cache(maxsize=1 << 13)
def _broken_step(pre: Structure, post: Structure, contract: Contract) -> tuple[Broken, ...]:
    broken: list[Broken] = []
    then = pre
    for now in stages(pre, calls(pre, post), post, contract):
        broken.extend(judge_step(then, now, contract))
        then = now
    return tuple(broken)


def _violation(invariant: Invariant, broken: tuple[Broken, ...]) -> Violation | None:
    for one in broken:
        if one.invariant is invariant:
            return Violation(invariant.id, str(one), one)
    return None


ONLY_PROMPT = ("INV-27", "INV-28")
"""Promises that hold only where nobody may lag, of what is seen as well: elsewhere they are not asked.

They join what the scheduler and the claim controller have seen, each by views of its own; `late.stale` shows how.
"""


def _state_judge(invariant: Invariant, contract: Contract) -> StateJudge:
    def ask(world: World) -> Violation | None:
        if invariant.id in ONLY_PROMPT and world.environment.lag:
            return None
        return _violation(invariant, _broken(_abstract(world), contract))

    return ask


OF_THE_STORE = ("INV-13",)
"""Promises about steps that are asked of what is stored too, where the scheduler sees something else."""


def _step_judge(invariant: Invariant, contract: Contract) -> StepJudge:
    def ask(before: World, action: Action, after: World) -> Violation | None:
        if invariant.id in ONLY_PROMPT and before.environment.lag:
            return None
        found = _violation(invariant, _broken_on_the_way(before, action, after, contract))
        if found is None and invariant.id in OF_THE_STORE and (before.control.behind or after.control.behind):
            found = _violation(invariant, _broken_in_the_store(before, action, after, contract))
        return found

    return ask


@latest
def _broken_in_the_store(
    before: World, action: Action, after: World, contract: Contract
) -> tuple[Broken, ...]:
    steps = [(as_stored(then), as_stored(now)) for then, now in fine_steps(before, action, after)]
    return tuple(b for then, now in steps for b in judge_step(abstract(then), abstract(now), contract))
