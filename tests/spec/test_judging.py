"""The contract judges concrete worlds: stories are allowed step by step, and what is wrong is named."""

from __future__ import annotations

from typing import Any

import pytest

from gangproof.spec import (
    CONTRACT,
    Refusal,
    Structure,
    apply,
    explain_step,
    explain_steps,
    judge,
    judge_step,
    miscounted,
)
from gangproof.spec.contract import Call
from gangproof.spec.witnesses import (
    PAIR,
    PLACED,
    PREEMPTOR,
    RUNNING,
    SETTINGS,
    SHARED,
    WORLD,
    bound,
    bound_elsewhere,
    claim,
    decided,
    given_back,
    group,
    holds,
    node,
    pods,
    sent_to,
    tried,
)

START = Structure.of(WORLD, SETTINGS)


def run(*story: Call, start: Structure = START) -> Structure:
    """The state after a story; every step keeps every promise and every count."""
    state = start
    for name, args in story:
        came = apply(state, name, args)
        assert isinstance(came, Structure), str(came)
        assert (*judge(came), *judge_step(state, came), *miscounted(came)) == ()
        assert explain_step(state, name, args, came) is None
        chosen = {param.name for param in CONTRACT.action(name).params if param.chosen}
        rest = {key: value for key, value in args.items() if key not in chosen}
        assert explain_step(state, name, rest, came) is None
        state = came
    return state


def refused(state: Structure, name: str, **args: Any) -> str:
    came = apply(state, name, args)
    assert isinstance(came, Refusal)
    return str(came)


@pytest.mark.parametrize("invariant", CONTRACT.invariants, ids=lambda i: i.id)
def test_stories_are_allowed_step_by_step(invariant) -> None:
    run(*invariant.witness.story)


QUEUE: tuple[Call, ...] = (
    *(node("n1", 2), group("g", 2), *pods("ab", "g"), *tried("ab"), given_back("ab")),
    ("hold", {"held": {"a"}}),
    ("enqueue", {"ready": {"b"}, "resting": {"a"}}),
    bound_elsewhere("b"),
)
RESTARTED: tuple[Call, ...] = (
    *(*PLACED, *bound("a")),
    (
        "restart",
        {"active": {"b"}, "nominated": set(), "nomination": {}, "round": set(), "victim": set()},
    ),
)
CLAIMS: tuple[Call, ...] = (
    *(node("n1", 2), claim("claim", "g", "x"), group("g", 1), *pods("a", "g")),
    ("name_claims", {"g": "g", "named": {("x", "claim")}}),
    ("refer", {"pod": "a", "uses": {"claim"}, "pod_named": {("x", "claim")}}),
    *(*tried("a"), decided("g", a="n1"), *holds("a", "claim")),
    ("allocate", {"claim": "claim", "devices": {"gpu"}, "nodes": {"n1"}}),
    *(("reserve_for_pod", {"claim": "claim", "pod": "a"}), ("see_claim", {"claim": "claim"})),
    *(("unreserve_claim", {"pod": "a", "claim": "claim"}), *bound("a")),
    *(("finish_pod", {"pod": "a"}), ("release_pod", {"claim": "claim", "pod": "a"})),
    *(("deallocate", {"claim": "claim"}), ("see_claim", {"claim": "claim"})),
    *(("remove_claim", {"claim": "claim"}), ("remove_node", {"node": "n1"})),
)
SENT_BACK: tuple[Call, ...] = (
    *(node("n1", 1), group("h", 1, priority=1), *pods("v", "h"), *tried("v"), decided("h", v="n1")),
    *(group("g", 1, priority=9), *pods("a", "g"), *tried("a")),
    ("evict", {"g": "g", "victims": {"v"}, "asker": {"v": "a"}}),
    ("nominate", {"plan": {"a"}, "at": {"a": "n1"}}),
    given_back("a"),
    ("send_back", sent_to("backoff", "v")),
    ("end_round", {"g": "g"}),
    ("denominate", {"cleared": {"a"}}),
)
OVERLOOKED: tuple[Call, ...] = (
    *(node("n1", 2, "r1"), node("n2", 1, "r2"), group("g", 1, key="rack")),
    *(*pods("ab", "g"), *tried("a"), bound_elsewhere("b", "n2", overlooked=True)),
    *(decided("g", a="n1"), ("look", {"seen": frozenset("b")})),
)
CLOSED: tuple[Call, ...] = (*PAIR, ("delete_pod", {"pod": "a"}), ("close", {"closed": {"a"}}))
UNPROTECTED = (*PAIR, ("set_protection", {"g": "g", "protected": False}))
STORIES = {
    "unprotected": UNPROTECTED,
    "queue": QUEUE,
    "restart": RESTARTED,
    "claims": CLAIMS,
    "sent back": SENT_BACK,
    "closed": CLOSED,
    "overlooked": OVERLOOKED,
}


@pytest.mark.parametrize("name", STORIES)
def test_more_stories_are_allowed_step_by_step(name: str) -> None:
    run(*STORIES[name])


def test_every_action_happens_in_some_story() -> None:
    stories = [*(i.witness.story for i in CONTRACT.invariants), *STORIES.values()]
    assert {name for story in stories for name, _ in story} == {action.name for action in CONTRACT.actions}


def test_after_a_restart_a_started_gang_is_owed_what_was_promised() -> None:
    state = run(*RESTARTED)
    assert state["owed"] == {"b"}
    assert (state.at("placed", "g"), state.at("owing", "g"), state.at("lost", "g")) == (1, 1, 0)


def test_a_gang_below_its_minimum_is_refused() -> None:
    assert refused(run(*PAIR), "decide", g="g", kept={"a"}, at={"a": "n1"}) == (
        "decide does not allow it: the gang reaches its minimum"
    )


def test_a_full_node_is_refused_and_named() -> None:
    state = run(node("n1", 1), group("g", 2), *pods("ab", "g"), *tried("ab"))
    assert refused(state, "decide", g="g", kept={"a", "b"}, at={"a": "n1", "b": "n1"}) == (
        "decide does not allow it: there is room for all of them, for p = a, r = cpu"
    )


def test_a_second_domain_is_refused() -> None:
    racks = (node("n1", 1, "r1"), node("n2", 1, "r2"), group("g", 2, key="rack"))
    state = run(*racks, *pods("ab", "g"), *tried("ab"))
    assert refused(state, "decide", g="g", kept={"a", "b"}, at={"a": "n1", "b": "n2"}) == (
        "decide does not allow it: all members are in one domain, for p = a, q = b"
    )


def test_a_member_that_a_cycle_overlooked_binds_the_next_cycle_to_its_domain() -> None:
    state = run(*OVERLOOKED, *pods("d", "g"), *tried("d"))
    assert refused(state, "decide", g="g", kept={"d"}, at={"d": "n1"}) == (
        "decide does not allow it: all members are in one domain, for p = d, q = b"
    )


def test_a_gated_member_does_not_enter_the_queue() -> None:
    state = run(node("n1", 2), group("g", 2), *pods("a", "g"))
    assert refused(state, "enqueue", ready={"a"}, resting=set()) == (
        "enqueue does not allow it: enough members of the gang exist, for p = a"
    )


def test_part_of_a_unit_is_refused() -> None:
    (*before, _) = PREEMPTOR
    state = run(*before)
    assert refused(state, "evict", g="g", victims={"v"}, asker={"v": "b"}) == (
        "evict does not allow it: a unit goes as a whole, for v = v, w = w"
    )


def test_a_stronger_victim_is_refused() -> None:
    strong = (node("n1", 2), group("h", 1, priority=5), *pods("v", "h"), *tried("v"), decided("h", v="n1"))
    state = run(*strong, group("g", 1, priority=5), *pods("a", "g", priority=99), *tried("a"))
    assert refused(state, "evict", g="g", victims={"v"}, asker={"v": "a"}) == (
        "evict does not allow it: victims are weaker than who asks, for v = v"
    )


def test_a_claim_is_kept_while_a_member_runs() -> None:
    state = run(*SHARED, ("finish_pod", {"pod": "a"}))
    assert refused(state, "release_group", claim="claim", g="g") == (
        "release_group does not allow it: the PodGroup is gone or no member holds the claim, for p = b"
    )


def test_a_step_that_does_something_else_is_refused_with_the_difference() -> None:
    state = run(*PLACED)
    wrong = state.with_values({**run(*PLACED, *bound("a")).values, "node": {"a": "n2", "b": "n1"}})
    told = explain_step(state, "bind", {"pod": "a"}, wrong)
    assert str(told) == "bind does not allow it: node is otherwise, for #1 = a: found n2, expected n1"


def test_a_step_is_compared_also_where_the_action_touches_nothing() -> None:
    state = run(*PLACED)
    post = run(*PLACED, *bound("a"))
    told = explain_step(state, "bind", {"pod": "a"}, post.with_values({"round": frozenset({"g"})}))
    assert told is not None
    assert told.clause == "round is otherwise"


def test_several_actions_make_one_step() -> None:
    calls = tuple(PLACED)
    post = run(*PLACED)
    assert explain_steps(START, calls, post) is None
    told = explain_steps(START, calls[:-1], post)
    assert told is not None
    assert told.action == "pop"


def test_nothing_happening_is_a_stutter() -> None:
    state = run(*PLACED)
    assert explain_steps(state, (), state) is None
    told = explain_steps(state, (), run(*RUNNING))
    assert told is not None
    assert told.action == "stutter"


def test_things_that_only_one_side_knows_are_fine() -> None:
    small = Structure.of({"Node": ("n1",), "Resource": ("cpu",)}, SETTINGS)
    post = run(node("n1", 2), group("g", 2))
    assert explain_steps(small, (node("n1", 2), group("g", 2)), post) is None


def test_a_half_placed_gang_is_judged_broken() -> None:
    state = run(*PLACED)
    half = {**state.values, "stood": {"a"}, "assumed": {"a"}, "known": {"a"}, "placed": {"g": 1}}
    broken = judge(Structure.of(WORLD, half))
    assert [(b.invariant.id, b.clause, b.binding) for b in broken] == [
        ("INV-03", "a started gang is whole, or what it lacks is owed or lost", (("g", "g"),)),
        ("INV-03", "whom a decision counted still stands, or is owed", (("g", "g"),)),
        ("INV-08", "a pod to be placed is somewhere", (("p", "b"),)),
        ("INV-11", "whoever is to be placed is a member", (("p", "b"),)),
    ]
    assert str(broken[2]) == "INV-08 one place: not so: a pod to be placed is somewhere, for p = b"


def test_a_member_in_two_sets_is_judged_broken() -> None:
    state = run(*RUNNING)
    both = state.with_values({"unscheduled": frozenset({"a"})})
    assert [b.invariant.id for b in judge(both)] == ["INV-10", "INV-11"]


def test_an_eviction_of_an_own_member_is_judged_broken() -> None:
    pre = run(*RUNNING)
    post = pre.with_values({"victim": frozenset({("a", "g")})})
    found = {b.invariant.id: b for b in judge_step(pre, post)}
    assert set(found) == {"INV-04", "INV-16"}
    assert found["INV-04"].binding == (("v", "a"), ("g", "g"))


def test_a_bound_member_that_is_put_back_is_judged_broken() -> None:
    pre = run(*RUNNING)
    moved = {"assigned": frozenset({"b"}), "unscheduled": frozenset({"a"}), "bound": frozenset({"b"})}
    broken = judge_step(pre, pre.with_values(moved))
    assert [b.invariant.id for b in broken] == ["INV-04"]
    assert broken[0].clause == "a bound member leaves by deletion or at its end"


def test_false_over_true_is_judged_broken() -> None:
    pre = run(*PLACED, ("write_condition", {"g": "g", "decided": True}))
    post = pre.with_values({"scheduled_true": frozenset(), "scheduled_false": frozenset({"g"})})
    assert [b.invariant.id for b in judge_step(pre, post)] == ["INV-13"]


def test_a_miscount_is_told() -> None:
    state = run(*PLACED)
    assert miscounted(state.with_values({"placed": {"g": 3}})) == ("placed is {'g': 3}, counted {'g': 2}",)


def test_the_empty_state_keeps_every_promise() -> None:
    assert judge(Structure.empty()) == ()


def test_names_that_are_no_symbols_are_refused() -> None:
    with pytest.raises(KeyError, match="colour"):
        Structure.of({}, {"colour": {"a"}})
