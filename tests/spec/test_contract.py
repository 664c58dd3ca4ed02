"""The contract as a document: complete, cited, and open to be changed by whoever asks what would break."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gangproof.spec import CONTRACT, COUNTERS, SYMBOLS, State, action, load, prove
from gangproof.spec.contract import Step
from gangproof.spec.terms import Pod, becomes, clause

ROOT = Path(__file__).parents[2]
RULES = (ROOT / "docs" / "semantics.md").read_text()
PAGE = (ROOT / "docs" / "contract.md").read_text()


def test_every_symbol_says_in_a_sentence_what_it_means() -> None:
    assert [s.name for s in SYMBOLS if not re.fullmatch(r"\w.*\.", s.means)] == []
    assert len({s.name for s in SYMBOLS}) == len(SYMBOLS)


def test_counters_are_symbols() -> None:
    assert {counter.name for counter in COUNTERS} <= {symbol.name for symbol in SYMBOLS}


@pytest.mark.parametrize("item", [*CONTRACT.actions, *CONTRACT.invariants], ids=str)
def test_claims_are_sentences_and_rules_exist(item) -> None:
    assert re.fullmatch(r".*\.", item.claim)
    assert item.rules
    for rule in item.rules:
        family, number = re.fullmatch(r"([A-Z]+)-(\d+)[a-z]?", rule).groups()
        assert f"{family}-{number}" in RULES, rule


def test_invariants_are_those_of_the_semantics() -> None:
    assert [i.id for i in CONTRACT.invariants if f"| {i.id} |" not in RULES] == []


def test_clauses_of_one_invariant_have_different_words() -> None:
    for item in (*CONTRACT.invariants, *CONTRACT.actions):
        words = [c.words for c in (item.clauses if hasattr(item, "clauses") else item.guard)]
        assert len(words) == len(set(words)), item


def test_state_invariants_read_one_state_and_step_invariants_two() -> None:
    for invariant in CONTRACT.invariants:
        primed = "'" in invariant.formula.sexpr()
        assert primed == (invariant.kind == "step"), invariant.id


def test_the_page_tells_every_promise_and_every_action() -> None:
    for invariant in CONTRACT.invariants:
        told = (invariant.id, invariant.claim, invariant.witness.words, invariant.mutant.words)
        assert f"| {' | '.join(told)} |" in PAGE
    for item in CONTRACT.actions:
        assert f"| `{item.name}` | {item.claim} |" in PAGE


CHANGED = """
from gangproof.spec import CONTRACT

contract = CONTRACT.with_action(CONTRACT.action("evict").without("a unit goes as a whole"))
"""


def test_a_file_may_change_one_guard_and_see_what_breaks(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(CHANGED)
    found = prove(load(file), mutants=False, witnesses=False, counters=False)
    assert [(o.subject, o.action) for o in found if not o.fine] == [("INV-17", "evict")]
    (broken,) = [o for o in found if not o.fine]
    assert broken.counterexample is not None
    assert "the victim's siblings on nodes go with it" in broken.counterexample


def test_a_new_action_is_proved_like_the_others() -> None:
    @action("ACT-03", pod=Pod)
    def vanish(now: State, pod: object) -> Step:
        """A pod vanishes, and nobody counts it out."""
        return Step(
            when=[clause("the pod is there", now.pod_exists(pod))],
            then=[becomes(now.pod_exists(pod), False)],
        )

    found = prove(CONTRACT.with_action(vanish), actions=["vanish"], mutants=False, witnesses=False)
    wrong = [(o.question, o.subject) for o in found if o.verdict == "violated"]
    assert wrong == [("action", "INV-03"), ("action", "INV-11"), ("counter", "done"), ("counter", "late")]


def test_the_pages_own_example_works(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    file = tmp_path / "example.py"
    file.write_text(example)
    assert load(file).action("bind").guard[0].words == "the pod is promised"


def test_a_file_without_a_contract_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.py"
    file.write_text("")
    with pytest.raises(ValueError, match="expected a Contract named 'contract'"):
        load(file)


def test_a_clause_that_is_not_there_cannot_be_dropped() -> None:
    with pytest.raises(KeyError, match="the moon is full"):
        CONTRACT.action("bind").without("the moon is full")


SCRIPT = """
from gangproof.spec import prove, smtlib
found = prove(invariants=["INV-17"], actions=["lose"], counters=False)
print(*(f"{o} {o.counterexample}" for o in found), sep="\\n")
print(*(smtlib(o) for o in found if o.assertions), sep="\\n")
"""


def test_the_same_answers_whatever_the_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
