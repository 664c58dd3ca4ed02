"""A second solver, made by other people, confirms every obligation from the SMT-LIB text alone."""

from __future__ import annotations

import cvc5
import pytest

from gangproof.spec import CONTRACT, Obligation, obligations, smtlib

EXPECTED = {"holds": "unsat", "violated": "sat"}


def ask_cvc5(obligation: Obligation) -> str:
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("tlimit-per", "30000")
    if obligation.expected == "violated":
        solver.setOption("finite-model-find", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smtlib(obligation), obligation.subject)
    answer = ""
    while not (command := parser.nextCommand()).isNull():
        answer += command.invoke(solver, parser.getSymbolManager())
    return answer.strip()


def disagreements(found: list[Obligation]) -> list[str]:
    return [str(o) for o in found if o.assertions and ask_cvc5(o) != EXPECTED[o.verdict]]


@pytest.mark.parametrize("action", CONTRACT.actions, ids=lambda a: a.name)
def test_cvc5_confirms_what_an_action_keeps(action) -> None:
    found = obligations(actions=[action.name], witnesses=False, mutants=False)
    kept = [o for o in found if o.action == action.name]
    assert [o for o in kept if o.assertions] or all(o.trivial for o in kept)
    assert disagreements(kept) == []


def test_cvc5_confirms_what_holds_at_rest() -> None:
    found = obligations(actions=["close"], witnesses=False, mutants=False, counters=False)
    rest = [o for o in found if o.question in ("initially", "stutter")]
    assert len(rest) == len(CONTRACT.invariants)
    assert disagreements(rest) == []


def test_cvc5_finds_every_mutant() -> None:
    some = [
        o for o in obligations(actions=["close"], witnesses=False, counters=False) if o.question == "mutant"
    ]
    assert len(some) == len(CONTRACT.invariants)
    assert disagreements(some) == []


def test_what_was_not_asked_cannot_be_written() -> None:
    trivial = next(o for o in obligations(actions=["close"], mutants=False, counters=False) if o.trivial)
    with pytest.raises(ValueError, match="nothing was asked"):
        smtlib(trivial)
