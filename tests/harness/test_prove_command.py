"""`gangproof prove`: the matrix, the controls, and what becomes of a contract that somebody changed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from gangproof import proofs
from gangproof.properties.verdict import Verdict
from gangproof.spec import Obligation

WITHOUT_QUORUM = """\
from gangproof.spec import CONTRACT

decide = CONTRACT.action("decide")
(quorum,) = [c.words for c in decide.guard if "minimum" in c.words]
contract = CONTRACT.with_action(decide.without(quorum))
"""


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A contract in which a gang may be decided below its minimum."""
    path = tmp_path / "without_quorum.py"
    path.write_text(WITHOUT_QUORUM)
    return path


def test_one_invariant_by_every_action(gangproof_command):
    result = gangproof_command("prove", "INV-01")
    assert result.exit_code == 0
    assert "holds: " in result.stdout
    assert "decide" in result.stdout
    assert "witness  INV-01  reached" in result.stdout
    assert "mutant   INV-01  caught" in result.stdout


def test_json_names_invariant_action_verdict_and_seconds(gangproof_command):
    report = json.loads(gangproof_command("prove", "INV-01", "-o", "json").stdout)
    assert (report["apiVersion"], report["kind"]) == ("gangproof/v1", "ProofReport")
    assert report["verdict"] == "holds"
    by_action = {o["action"]: o for o in report["obligations"]}
    assert by_action["decide"]["invariant"].startswith("INV-01 ")
    assert by_action["decide"]["verdict"] == "holds"
    assert by_action["decide"]["seconds"] > 0
    assert not by_action["decide"]["trivial"]
    controls = {
        (c["question"], c["verdict"]) for c in report["controls"] if c["question"] in ("witness", "mutant")
    }
    assert controls == {("witness", "holds"), ("mutant", "violated")}


def test_a_changed_guard_breaks_and_shows_how(gangproof_command, changed):
    result = gangproof_command("prove", "INV-01", "--contract", changed)
    assert result.exit_code == 1
    assert "violated: INV-01 all or nothing decision by decide" in result.stdout
    assert "decide(" in result.stdout, "the counterexample to induction"


@pytest.mark.parametrize("text", ["x = 1\n", "contract = (\n"])
def test_a_file_without_a_contract(gangproof_command, tmp_path: Path, text):
    path = tmp_path / "nothing.py"
    path.write_text(text)
    result = gangproof_command("prove", "--contract", path)
    assert result.exit_code == 2
    assert "--contract" in result.stderr


def test_an_unknown_invariant_is_refused_and_an_error_inside_is_not_taken_for_one(
    gangproof_command, monkeypatch
):
    refused = gangproof_command("prove", "inv-99")
    assert refused.exit_code == 2
    assert "no invariant 'INV-99'; there are INV-01, INV-02" in refused.stderr

    def broken(*_: object, **__: object):
        raise KeyError("inside")

    monkeypatch.setattr("gangproof.proofs.obligations", broken)
    failed = gangproof_command("prove", "INV-01")
    assert failed.exit_code == 70
    assert "internal error" in failed.stderr


def test_mutants_are_shown(gangproof_command):
    plain = gangproof_command("prove", "INV-04").stdout
    shown = gangproof_command("prove", "INV-04", "--mutants").stdout
    assert len(shown.splitlines()) > len(plain.splitlines())
    assert "→" in shown


def test_each_obligation_is_saved_as_smt_lib(gangproof_command, tmp_path: Path):
    result = gangproof_command("prove", "INV-01", "--smt-dir", tmp_path / "smt")
    assert result.exit_code == 0
    files = sorted((tmp_path / "smt").iterdir())
    assert any(path.name.endswith("action-INV-01-decide.smt2") for path in files)
    assert all("(check-sat)" in path.read_text() for path in files)
    assert f"saved: {len(files)} obligations" in result.stderr


def report(*answers: Obligation, interrupted: bool = False) -> proofs.ProofReport:
    return proofs.ProofReport(proofs.CONTRACT, answers, interrupted)


def test_unknown_is_never_success():
    good = Obligation("action", "INV-01", "decide", "holds", 0.0)
    unknown = Obligation("action", "INV-01", "bind", "inconclusive", 0.0)
    assert report(good).verdict is Verdict.HOLDS
    assert report(good, unknown).exit_code == 3
    assert report(good, interrupted=True).exit_code == 3
    assert report().exit_code == 5


def test_a_mutant_that_is_not_caught_makes_the_proof_vacuous():
    survivor = Obligation("mutant", "INV-01", "decide", "holds", 0.0, expected="violated")
    assert report(survivor).exit_code == 4
    assert "holds (violated expected): mutant of INV-01" in str(report(survivor))


def test_a_ctrl_c_ends_after_the_answer_that_is_on_its_way():
    def press(_: Obligation, number: int) -> None:
        if number == 5:
            os.kill(os.getpid(), signal.SIGINT)

    found = proofs.prove(["INV-01"], watch=press)
    assert len(found.obligations) == 5
    assert found.interrupted
    assert found.exit_code == 3


def test_an_interruption_keeps_the_answers(monkeypatch):
    def answers(*_: object, **__: object):
        yield Obligation("action", "INV-01", "decide", "holds", 0.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(proofs, "obligations", answers)
    found = proofs.prove()
    assert len(found.obligations) == 1
    assert found.exit_code == 3
    assert "interrupted" in str(found)
