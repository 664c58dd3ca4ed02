"""`gangproof lag`: what holds only where nobody goes by an old view, told, as JSON, and drawn."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from gangproof.properties.late import stale


def test_every_promise_has_its_shortest_run_and_its_number_of_stale_reads(gangproof_command):
    result = gangproof_command("lag")
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert head == "as known: 7 of 10 promises about what is stored hold only where nobody lags"
    assert "  INV-17  disruption atomicity: broken with 1 stale read, 12 steps" in lines
    assert "  INV-13  condition monotone: kept in all of these worlds" in lines


def test_one_promise_is_told_step_by_step_and_drawn(gangproof_command, tmp_path: Path):
    result = gangproof_command("lag", "inv-29", "inv-29", "--draw", tmp_path)
    assert result.exit_code == 0
    assert "INV-29 violated (1 stale read): the protection controller sees late" in result.stdout
    assert "protection controller: lets podGroup g go" in " ".join(result.stdout.split())
    name = "INV-29-a-pod-comes-to-a-group-that-goes"
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        f"{name}{end}" for end in (".html", ".svg", ".trace.json")
    ]


def test_json(gangproof_command):
    report = json.loads(gangproof_command("lag", "INV-05", "INV-16", "-o", "json").stdout)
    assert (report["kind"], report["verdict"], report["exitCode"]) == ("LagReport", "holds", 0)
    assert [(run["promise"], run["view"], run["staleReads"], run["steps"]) for run in report["runs"]] == [
        ("INV-05", "scheduler/pod", 1, 7),
        ("INV-05", "scheduler/node", 1, 6),
        ("INV-05", "scheduler/node", 1, 8),
    ]
    assert report["kept"] == ["INV-16"]
    assert {world["stop"] for world in report["worlds"]} == {"exhausted"}


def test_a_promise_that_is_not_about_what_is_stored_is_refused_with_those_that_are(gangproof_command):
    result = gangproof_command("lag", "INV-03")
    assert result.exit_code == 2
    assert "found 'INV-03', expected one of INV-01, INV-02, INV-05" in result.stderr


def test_a_ctrl_c_ends_with_the_worlds_so_far(gangproof_command, monkeypatch):
    """What no world broke up to then is not called kept."""
    whole = stale.look_at

    def interrupted(case, limits):
        if case.name == "the-node-is-lost":
            os.kill(os.getpid(), signal.SIGINT)
        return whole(case, limits)

    monkeypatch.setattr(stale, "look_at", interrupted)
    result = gangproof_command("lag")
    assert result.exit_code == 3
    assert result.stdout.startswith("inconclusive: 3 of 10 promises")
    assert "INV-01  all or nothing decision: broken" in result.stdout
    assert "kept" not in result.stdout
    assert "looked at 3 of 8 worlds" in result.stdout
    assert "the-node-is-lost: the search stopped: interrupted" in result.stdout
