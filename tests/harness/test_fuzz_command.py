"""`gangproof fuzz`: what it claims, what it finds in a scheduler with a mistake, and that a seed is a seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gangproof
from gangproof import checking, fuzzing
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, profile
from gangproof.properties.stateful import Fuzzed
from gangproof.properties.verdict import Verdict

NO_QUORUM = Change("no-quorum", "the minimum is always met", {"quorum": lambda old: lambda *_: True})
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


def test_a_mistake_is_found_and_told(gangproof_command, monkeypatch, tmp_path: Path):
    monkeypatch.setattr(fuzzing, "PROFILES", {"intended": profile(INTENDED, NO_QUORUM)})
    monkeypatch.setattr(checking, "PROFILES", {"intended": profile(INTENDED, NO_QUORUM)})
    result = gangproof_command("fuzz", "--seconds", 20, "--seed", 3, "--draw", tmp_path)
    assert result.exit_code == 1
    assert result.stdout.startswith("violated: ")
    assert "seed 3" in result.stdout
    assert len(list(tmp_path.glob("*.svg"))) == 1


def test_nothing_found_is_told_of_the_runs_that_were_tried(one_batch_of):
    one_batch_of(CLEAN)
    report = fuzzing.run_for(0)
    assert (report.verdict, report.exit_code) == (Verdict.HOLDS, 0)
    assert str(report).startswith("holds in every run that was tried: 20 runs, 900 actions")


def test_what_no_run_reached_is_vacuous(one_batch_of):
    one_batch_of(Fuzzed(20, 900, missed=("a gang fits exactly",)))
    report = fuzzing.run_for(0)
    assert report.exit_code == 4
    assert "never reached: a gang fits exactly" in str(report)


def test_a_ctrl_c_keeps_what_was_tried(one_batch_of):
    one_batch_of(CLEAN, KeyboardInterrupt)
    report = fuzzing.run_for(1000)
    assert (report.runs, report.exit_code) == (20, 3)
    assert str(report).endswith("; interrupted")


def test_no_time_and_no_run_is_nothing(one_batch_of):
    one_batch_of(Fuzzed(0, 0))
    assert fuzzing.run_for(0).exit_code == 5


def test_the_other_profile(gangproof_command):
    assert gangproof_command("fuzz", "--profile", "v1.36.3").exit_code == 5
    assert gangproof_command("fuzz", "--profile", "v1.35").exit_code == 2


def test_json(gangproof_command, one_batch_of):
    one_batch_of(CLEAN)
    report = json.loads(gangproof_command("fuzz", "--seconds", 0, "--seed", 5, "-o", "json").stdout)
    assert (report["apiVersion"], report["kind"]) == ("gangproof/v1", "FuzzReport")
    assert (report["verdict"], report["seed"], report["runs"], report["finding"]) == ("holds", 5, 20, None)


def test_the_same_seed_finds_the_same_and_a_scenario_shows_it(monkeypatch):
    monkeypatch.setattr(fuzzing, "PROFILES", {"intended": profile(INTENDED, NO_QUORUM)})
    monkeypatch.setattr(checking, "PROFILES", {"intended": profile(INTENDED, NO_QUORUM)})
    one, two = (fuzzing.run_for(60, seed=3) for _ in range(2))
    assert one == two
    assert one.finding is not None
    trace = one.finding.trace
    assert trace is not None
    assert trace.scenario is not None
    assert one.finding.property in {f.property for f in gangproof.check_text(trace.scenario).findings}
