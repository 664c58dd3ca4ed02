"""Every promise is proved for every size, every control answers as it must, and nothing is left undecided."""

from __future__ import annotations

from collections import Counter

import pytest
from attrs import evolve

from gangproof.spec import CONTRACT, Obligation, State, Sum, becomes, clause, prove
from gangproof.spec.terms import p


@pytest.fixture(scope="module")
def proved() -> tuple[Obligation, ...]:
    return prove()


def test_every_obligation_answers_as_expected(proved: tuple[Obligation, ...]) -> None:
    assert [str(o) for o in proved if not o.fine] == []


def test_exact_number_of_obligations(proved: tuple[Obligation, ...]) -> None:
    asked = Counter(o.question for o in proved if not o.trivial)
    trivial = Counter(o.question for o in proved if o.trivial)
    assert asked == {
        "initially": 8,
        "stutter": 14,
        "action": 237,
        "witness": 22,
        "mutant": 22,
        "counter": 62,
        "facts": 2,
    }
    assert trivial == {"action": 665, "counter": 307}


def test_the_matrix_is_complete(proved: tuple[Obligation, ...]) -> None:
    cells = {(o.subject, o.action) for o in proved if o.question == "action"}
    assert cells == {(i.id, a.name) for i in CONTRACT.invariants for a in CONTRACT.actions}


def test_the_promises_asked_for_are_there() -> None:
    ids = {i.id for i in CONTRACT.invariants}
    assert ids >= {f"INV-{n:02}" for n in (1, 2, 3, 4, 5, 7, 8, 10, 13, 16, 17, *range(21, 29))}


@pytest.mark.parametrize("invariant", CONTRACT.invariants, ids=lambda i: i.id)
def test_mutant_is_caught_with_a_readable_counterexample(invariant, proved: tuple[Obligation, ...]) -> None:
    (found,) = [o for o in proved if o.question == "mutant" and o.subject == invariant.id]
    assert found.verdict == "violated"
    assert found.counterexample is not None
    first, *rows, last = found.counterexample.splitlines()
    assert first.startswith(f"{found.action}(")
    assert any("→" in row for row in rows)
    assert last.strip().startswith(f"{invariant.id} ")
    assert len(rows) <= 16


@pytest.mark.parametrize("invariant", CONTRACT.invariants, ids=lambda i: i.id)
def test_nothing_breaks_without_the_mutant(invariant, proved: tuple[Obligation, ...]) -> None:
    name = invariant.mutant.action.name
    (kept,) = [o for o in proved if (o.question, o.subject, o.action) == ("action", invariant.id, name)]
    assert kept.verdict == "holds"
    assert not kept.trivial


def test_dropping_the_minimum_breaks_all_or_nothing_and_nothing_else() -> None:
    changed = CONTRACT.with_action(CONTRACT.action("decide").without("the gang reaches its minimum"))
    found = prove(changed, actions=["decide"], mutants=False, witnesses=False, counters=False)
    assert {o.subject for o in found if o.verdict == "violated"} == {"INV-01", "INV-02", "INV-03"}


def test_a_miscounting_action_is_found_in_a_small_world() -> None:
    bind = CONTRACT.action("bind")
    group = State().group(bind.term("pod"))
    changed = CONTRACT.with_action(bind.also(becomes(State().placed(group), State().placed(group) + 1)))
    found = prove(changed, actions=["bind"], mutants=False, witnesses=False)
    assert {o.subject for o in found if o.question == "counter" and o.verdict == "violated"} == {"placed"}


def test_a_false_fact_about_a_sum_is_found_in_a_small_world() -> None:

    bind = CONTRACT.action("bind")
    fact = clause("nobody is known", Sum.of("known_pods") == 0)
    wrong = Sum("known_pods", p, (), State().known(p), facts=(fact,))
    changed = CONTRACT.with_action(evolve(bind, step=evolve(bind.step, sums=(wrong,))))
    found = prove(changed, actions=["bind"], mutants=False, witnesses=False)
    assert [o.verdict for o in found if o.question == "facts"] == ["violated"]


def test_a_story_that_shows_nothing_is_vacuous() -> None:
    promise = CONTRACT.invariant("INV-05")
    pointless = evolve(promise, witness=evolve(promise.witness, story=promise.witness.story[:-1]))
    changed = CONTRACT.with_invariant(pointless)
    found = prove(changed, invariants=["INV-05"], actions=["bind"], mutants=False, counters=False)
    assert [o.verdict for o in found if o.question == "witness"] == ["vacuous"]


def test_a_story_that_may_not_happen_is_vacuous() -> None:
    promise = CONTRACT.invariant("INV-05")
    story = tuple(call for call in promise.witness.story if call[0] != "enqueue")
    changed = CONTRACT.with_invariant(evolve(promise, witness=evolve(promise.witness, story=story)))
    found = prove(changed, invariants=["INV-05"], actions=["bind"], mutants=False, counters=False)
    (told,) = [o for o in found if o.question == "witness"]
    assert told.verdict == "vacuous"
    assert told.counterexample == "pop does not allow it: the head is active"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(KeyError, match="INV-99"):
        prove(invariants=["INV-99"])
    with pytest.raises(KeyError, match="levitate"):
        prove(actions=["levitate"])
