"""`gangproof faults`: the score, what counts as a hole, and the picture of a mistake."""

from __future__ import annotations

import json
from pathlib import Path

from attrs import evolve

from gangproof import mutation
from gangproof.properties.search.system import Violation
from gangproof.properties.verdict import Verdict


def test_one_fault_is_caught_explained_and_drawn(gangproof_command, tmp_path: Path):
    result = gangproof_command("faults", "F-01", "--draw", tmp_path)
    assert result.exit_code == 0
    assert result.stdout.startswith("holds: 1 of 1 faults caught when switched on, 0 false alarms when off")
    assert "\nWith F-01 switched on:\n\nINV-03 violated" in result.stdout
    assert "bind-below-minimum (F-01)" in result.stdout
    assert "fault F-01" in " ".join(result.stdout.split())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["F-01.html", "F-01.svg", "F-01.trace.json"]


def test_json(gangproof_command):
    report = json.loads(gangproof_command("faults", "f-01", "pod-slots-not-charged", "-o", "json").stdout)
    assert (report["apiVersion"], report["kind"]) == ("gangproof/v1", "MutationReport")
    assert report["falseAlarms"] == []
    first, second = report["faults"]
    assert (first["id"], second["id"]) == ("F-01", "F-20")
    assert first["killedBy"] in ("INV-01", "INV-02", "INV-03")
    assert first["depth"] > 0
    assert first["engine"] == "explorer"


def test_an_unknown_fault(gangproof_command):
    result = gangproof_command("faults", "F-00")
    assert result.exit_code == 2
    assert "F-00" in result.stderr


def test_a_survivor_and_a_false_alarm_are_violations():
    caught = mutation.try_fault("F-01")
    survived = evolve(caught, result=evolve(caught.result, killed_by=None, path=None))
    alarmed = evolve(caught, alarms=(Violation("INV-01", "wolf"),))
    assert caught.verdict is Verdict.HOLDS
    assert mutation.MutationReport((caught, survived)).exit_code == 1
    assert "SURVIVED" in str(mutation.MutationReport((survived,)))
    assert mutation.MutationReport((alarmed,)).exit_code == 1
    assert "false alarm: INV-01: wolf" in str(mutation.MutationReport((alarmed,)))
    assert mutation.trace_of(survived) is None


def test_an_interruption_keeps_the_trials_and_is_inconclusive(monkeypatch):
    first = mutation.try_fault("F-01")
    trials = iter([first])

    def interrupted(_: str) -> mutation.Trial:
        try:
            return next(trials)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(mutation, "try_fault", interrupted)
    report = mutation.try_faults(["F-01", "F-20"])
    assert (report.trials, report.unfinished) == ((first,), ("F-20",))
    assert report.exit_code == 3


def test_several_at_a_time_find_the_same():
    alone = mutation.try_faults(["F-01", "F-20", "F-25"])
    together = mutation.try_faults(["F-01", "F-20", "F-25"], processes=2)
    assert together == alone
