"""`gangproof fuzz`: what it claims, what it finds in a scheduler with a mistake, and that a seed is a seed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

import gangproof
from gangproof import checking, fuzzing
from gangproof.impl.actions import Action
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, profile
from gangproof.impl.world import World
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.system import Questions
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds import stateful
from gangproof.properties.worlds.stateful import Fuzzed, fuzz

NO_QUORUM = Change("no-quorum", "the minimum is always met", {"quorum": lambda old: lambda *_: True})
BRIEFLY = 1e-9
CLEAN = Fuzzed(runs=20, steps=900)


@pytest.fixture
def one_batch_of(monkeypatch: pytest.MonkeyPatch):
    """Replaces the engine by batches that are given."""

    def give(*batches: Fuzzed | type[BaseException]) -> None:
        left = iter(batches)

        def fuzz(*_: object, **__: object) -> Fuzzed:
            batch = next(left)
            if isinstance(batch, Fuzzed):
                return batch
            raise batch

        monkeypatch.setattr(fuzzing, "fuzz", fuzz)

    return give


def search() -> Fuzzed:
    """What is found in a scheduler without a quorum."""
    return fuzz(profile(INTENDED, NO_QUORUM), questions(), runs=fuzzing.RUNS_AT_ONCE, seed=3)


@pytest.fixture(scope="module")
def broken() -> Fuzzed:
    return search()


@pytest.fixture
def without_quorum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front door judges a scheduler without a quorum."""
    for module in (fuzzing, checking):
        monkeypatch.setattr(module, "PROFILES", {"intended": profile(INTENDED, NO_QUORUM)})


def test_the_same_seed_finds_the_same(broken):
    assert broken.violation is not None
    assert search() == broken


@pytest.mark.usefixtures("without_quorum")
def test_a_mistake_is_told_drawn_and_shown_again_by_a_scenario(
    gangproof_command, one_batch_of, broken, tmp_path: Path
):
    one_batch_of(broken, broken)
    result = gangproof_command("fuzz", "--seed", 3, "--draw", tmp_path)
    assert result.exit_code == 1
    assert result.stdout.startswith("violated: ")
    assert "seed 3" in result.stdout
    assert len(list(tmp_path.glob("*.svg"))) == 1
    finding = fuzzing.run_for(30, seed=3).finding
    assert finding is not None
    assert finding.trace is not None
    assert finding.trace.scenario is not None
    again = gangproof.check_text(finding.trace.scenario)
    assert finding.property in {found.property for found in again.findings}


def test_nothing_found_is_told_of_the_runs_that_were_tried(one_batch_of):
    one_batch_of(CLEAN)
    report = fuzzing.run_for(BRIEFLY)
    assert (report.verdict, report.exit_code) == (Verdict.HOLDS, 0)
    assert str(report).startswith("holds in every run that was tried: 20 runs, 900 actions")


def test_what_no_run_reached_is_vacuous(one_batch_of):
    one_batch_of(Fuzzed(20, 900, missed=("a gang fits exactly",)))
    report = fuzzing.run_for(BRIEFLY)
    assert report.exit_code == 4
    assert "never reached: a gang fits exactly" in str(report)


def test_a_ctrl_c_keeps_what_was_tried(one_batch_of):
    one_batch_of(CLEAN, KeyboardInterrupt)
    report = fuzzing.run_for(1000)
    assert (report.runs, report.exit_code) == (20, 3)
    assert str(report).endswith("; interrupted")


def test_a_ctrl_c_within_the_first_runs_keeps_them(monkeypatch):
    """It comes from the terminal while a run is judged, and the run is counted."""
    judged: list[int] = []

    def interrupting() -> Questions[World, Action]:
        return Questions(steps=[lambda *_: judged.append(1) if len(judged) < 200 else interrupt()])

    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(fuzzing, "questions", interrupting)
    report = fuzzing.run_for(1000)
    assert report.runs > 0
    assert report.actions in (201, 202)
    assert (report.interrupted, report.exit_code) == (True, 3)


def test_a_ctrl_c_while_a_broken_run_is_made_small_keeps_it(monkeypatch, broken):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stateful, "shortened", interrupted)
    found = search()
    assert found.violation is not None and found.path is not None
    assert found.violation.property == broken.violation.property
    assert len(found.path) >= len(broken.path)
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_no_time_is_refused(gangproof_command, seconds):
    result = gangproof_command("fuzz", "--seconds", seconds)
    assert result.exit_code == 2
    assert f"{seconds} seconds found, more than 0 expected" in result.stderr


def test_no_run_is_nothing(one_batch_of):
    one_batch_of(Fuzzed(0, 0))
    assert fuzzing.run_for(BRIEFLY).exit_code == 5


def test_the_other_profile(gangproof_command):
    assert gangproof_command("fuzz", "--profile", "v1.36.3").exit_code == 5
    assert gangproof_command("fuzz", "--profile", "v1.35").exit_code == 2


def test_json(gangproof_command, one_batch_of):
    one_batch_of(CLEAN)
    report = json.loads(gangproof_command("fuzz", "--seconds", BRIEFLY, "--seed", 5, "-o", "json").stdout)
    assert (report["apiVersion"], report["kind"]) == ("gangproof/v1", "FuzzReport")
    assert (report["verdict"], report["seed"], report["runs"], report["finding"]) == ("holds", 5, 20, None)
