"""`gangproof faults`: the score, what counts as a hole, and the picture of a mistake."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from attrs import evolve

from gangproof import faults
from gangproof.properties.faults import FAULTS, Unfaulted, run_fault, without_fault
from gangproof.properties.search.explore import Limits
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
    assert (report["apiVersion"], report["kind"]) == ("gangproof/v1", "FaultReport")
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
    caught = faults.try_fault("F-01")
    survived = evolve(caught, result=evolve(caught.result, killed_by=None, path=None))
    alarmed = evolve(caught, off=Unfaulted((Violation("INV-01", "wolf"),)))
    assert caught.verdict is Verdict.HOLDS
    assert faults.FaultReport((caught, survived)).exit_code == 1
    assert "SURVIVED" in str(faults.FaultReport((survived,)))
    assert faults.FaultReport((alarmed,)).exit_code == 1
    assert "false alarm: INV-01: wolf" in str(faults.FaultReport((alarmed,)))
    assert faults.trace_of(survived) is None


def test_an_interruption_keeps_the_trials_and_is_inconclusive(monkeypatch):
    first = faults.try_fault("F-01")
    trials = iter([first])

    def interrupted(_: str) -> faults.Trial:
        try:
            return next(trials)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(faults, "try_fault", interrupted)
    report = faults.try_faults(["F-01", "F-20"])
    assert (report.trials, report.unfinished) == ((first,), ("F-20",))
    assert report.exit_code == 3


def test_a_search_that_is_cut_short_neither_catches_nor_survives():
    """F-27 is caught after 1,441 states; with fewer nothing is known, and nothing is an alarm either."""
    (fault,) = (one for one in FAULTS if one.id == "F-27")
    for limits, stop in ((Limits(states=5), "states budget"), (Limits(seconds=0), "time budget")):
        case = faults.cases()["F-27"]
        trial = faults.Trial(run_fault(fault, case, limits), without_fault(fault, case, limits))
        why = f"the search stopped: {stop}"
        assert (trial.result.killed_by, trial.result.unfinished) == (None, (why,))
        assert trial.off == Unfaulted((), (why,))
        report = faults.FaultReport((trial,))
        assert (report.exit_code, report.survivors, report.caught) == (3, (), ())
        assert "SURVIVED" not in str(report)
        assert f"switched on: {why}" in str(report)
        assert f"switched off: {why}" in str(report)


def test_a_ctrl_c_in_a_search_ends_the_trials(monkeypatch):
    """The search keeps the interrupt to itself, and says so; the faults after it are not tried."""
    tried = faults.without_fault

    def interrupted(*case: Any) -> Unfaulted:
        os.kill(os.getpid(), signal.SIGINT)
        return tried(*case)

    monkeypatch.setattr(faults, "without_fault", interrupted)
    report = faults.try_faults(["F-01", "F-20"])
    (first,) = report.trials
    assert first.result.killed_by == "INV-03"
    assert first.off == Unfaulted((), ("the search stopped: interrupted",))
    assert (report.unfinished, report.exit_code) == (("F-20",), 3)


def test_several_at_a_time_find_the_same():
    alone = faults.try_faults(["F-01", "F-20", "F-25"])
    together = faults.try_faults(["F-01", "F-20", "F-25"], processes=2)
    assert together == alone
