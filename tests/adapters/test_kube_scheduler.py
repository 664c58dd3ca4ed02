"""The real kube-scheduler v1.36.3, where it has been built: it does as the scenarios say, and again the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gangproof.adapters.kube_scheduler import NotBuiltError, find
from gangproof.cli.app import app
from gangproof.impl.profiles import INTENDED
from gangproof.properties.conformance import follow
from gangproof.properties.conformance.worlds import draw

ROOT = Path(__file__).parents[2]
WRONG = """\
scenario: half
title: half a gang is expected to start
steps:
- create:
    nodes: [{name: n, cpu: 1}]
    podGroups: [{name: g, gang: 2}]
    pods: [{name: "p[1-2]", group: g, cpu: 1}]
- expect: {bound: [p1]}
"""


@pytest.fixture
def conform() -> Callable[..., Result]:
    try:
        find()
    except NotBuiltError:
        pytest.skip("run make kube-scheduler first" if shutil.which("go") else "Go not found")

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, ["conform", "kube-scheduler", *map(str, arguments)])

    return run


def test_it_does_as_the_scenarios_say(conform: Callable[..., Result]) -> None:
    answer = conform(ROOT / "scenarios" / "basic.scenario.yaml")
    assert answer.exit_code == 0, answer.stdout
    assert answer.stdout.startswith(
        "holds: 5 scenarios on kube-scheduler v1.36.3: 5 hold, 0 differ; 100 runs\n"
    )


def test_what_it_does_not_do_is_told_and_drawn_with_the_same_bytes_each_time(
    conform: Callable[..., Result], tmp_path: Path
) -> None:
    path = tmp_path / "wrong.scenario.yaml"
    path.write_text(WRONG)
    answers = [conform(path, "--draw", tmp_path / name) for name in ("a", "b")]
    assert [answer.exit_code for answer in answers] == [1, 1]
    assert answers[0].stdout == answers[1].stdout
    assert "line 8: bound are [], expected bound: [p1] (in 20 of 20 runs: pinned, " in answers[0].stdout
    pictures = [(tmp_path / name / "half-expect.svg").read_bytes() for name in ("a", "b")]
    assert pictures[0] == pictures[1]


def test_random_worlds_agree_with_the_model_however_many_at_once(conform: Callable[..., Result]) -> None:
    answers = [conform("--worlds", 25, "--seed", 1, "-o", "json", "--processes", number) for number in (1, 2)]
    assert answers[0].exit_code == 0, answers[0].stdout
    assert answers[0].stdout == answers[1].stdout
    report = json.loads(answers[0].stdout)
    assert report["worlds"] == 25
    assert report["agree"] + sum(report["unsupported"].values()) == 25
    assert report["agree"] > 20


def test_a_model_that_is_wrong_differs_in_small_worlds(
    conform: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The rules of *intended* are not those of the real scheduler (docs/deviations.md)."""
    monkeypatch.setattr(follow, "rules_for", lambda pinned: INTENDED)
    answer = conform(
        "--worlds",
        12,
        "--features",
        "preemption",
        "-o",
        "json",
        "--save",
        tmp_path / "runs.jsonl",
        "--draw",
        tmp_path,
    )
    assert answer.exit_code == 1
    report = json.loads(answer.stdout)
    assert report["differences"]
    assert sum(report["kinds"].values()) == len(report["differences"])
    assert all(found["rules"] for found in report["differences"])
    runs = {
        run["scenario"]["name"]: run["scenario"]
        for run in map(json.loads, (tmp_path / "runs.jsonl").read_text().splitlines())
    }
    assert len(runs) == 12
    for found in report["differences"]:
        number = int(found["name"].rpartition("-")[2])
        before, after = draw("preemption", 1, number), runs[found["name"]]
        assert len(json.dumps(after)) < len(json.dumps(before))
    assert list(tmp_path.glob("*.svg"))
