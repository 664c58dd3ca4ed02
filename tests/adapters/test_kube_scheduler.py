"""The real kube-scheduler v1.36.3, where it has been built: it does as the scenarios say, and again the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gangproof.adapters.kube_scheduler import NotBuiltError, find
from gangproof.cli.app import app

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
