"""Reduced keys: sound ones agree with the full search, and each way of being unsound is seen."""

from __future__ import annotations

from classics import Peterson, TwoPhase, consistent, interchangeable

from gangproof.properties.search.explore import Limits
from gangproof.properties.search.quotient import compare
from gangproof.properties.search.system import Questions, Transitions, Violation, stepwise
from gangproof.properties.verdict import Verdict


def test_resource_managers_are_interchangeable() -> None:
    questions = Questions(
        invariants=[
            consistent,
            lambda s: Violation("never all", "all have committed") if set(s[0]) == {"c"} else None,
        ],
        witnesses={"one has aborted": lambda s: "a" in s[0]},
    )
    comparison = compare(TwoPhase(4), interchangeable, questions)
    assert comparison.differences == ()
    assert comparison.verdict is Verdict.HOLDS
    assert comparison.full.states == 1_568
    assert comparison.reduced.states < comparison.full.states / 4
    assert list(comparison.reduced.counterexamples) == ["never all"]


def test_a_counterexample_of_a_reduced_search_is_a_run_of_the_system() -> None:
    questions = Questions(invariants=[lambda s: Violation("none", s[0]) if "c" in s[0] else None])
    path = compare(TwoPhase(3), interchangeable, questions).reduced.counterexamples["none"].path
    system = TwoPhase(3)
    for before, step in zip(path.states, path.steps, strict=False):
        assert step in list(system.successors(before))


def test_a_key_that_hides_a_violation_is_unsound() -> None:
    def exclusive(state: tuple[int, int, int]) -> Violation | None:
        return Violation("exclusion", "both are in") if state[:2] == (3, 3) else None

    comparison = compare(
        stepwise(Peterson(careless=True)), lambda s: min(s[0] + s[1], 4), Questions(invariants=[exclusive])
    )
    assert comparison.verdict is Verdict.VIOLATED
    assert comparison.differences[0] == "property violated: exclusion, after 6 steps in full, never reduced"


def test_a_key_that_merges_different_futures_is_unsound_even_if_the_answers_agree() -> None:
    system = Transitions(
        lambda: ["start"],
        lambda s: {"start": [("a", "left"), ("b", "right")], "left": [("c", "end")]}.get(s, []),
        lambda s: s,
    )
    comparison = compare(system, lambda s: "middle" if s in ("left", "right") else s)
    assert comparison.differences == ("one key but different futures: left and right",)
    assert str(comparison) == (
        "violated: 3 states stand for 4\n  one key but different futures: left and right"
    )


def test_a_class_that_the_reduced_search_never_meets_is_seen() -> None:
    system = Transitions(
        lambda: ["start"],
        lambda s: {"start": [("a", "left"), ("b", "right")], "right": [("c", "end")]}.get(s, []),
        lambda s: s,
    )
    comparison = compare(system, lambda s: "middle" if s in ("left", "right") else s)
    assert "3 classes of states, but the reduced search met 2" in comparison.differences


def test_searches_cut_short_are_not_compared() -> None:
    assert compare(TwoPhase(3), interchangeable, limits=Limits(states=50)).verdict is Verdict.INCONCLUSIVE
