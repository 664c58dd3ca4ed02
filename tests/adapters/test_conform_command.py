"""`gangproof conform` on schedulers that are run: answers, exit codes, machine formats, mistakes on the line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from gangproof.adapters.agreement import judged
from gangproof.adapters.kube_scheduler import MISSING, VARIABLE
from gangproof.cli.app import app

HERE = Path(__file__).parent
PROGRAM = Path(sys.executable).with_name("gangproof")
FIRST_FIT = "examples.first_fit:FirstFit"
EMPTY = "scenario: empty\ntitle: nobody waits\nsteps:\n- create: {nodes: [{name: n, cpu: 1}]}\n"
WORLD = """\
scenario: too-small
title: half a gang has room
steps:
- create:
    nodes: [{name: n, cpu: %d}]
    podGroups: [{name: g, gang: 2}]
    pods: [{name: "p[1-2]", group: g, cpu: 1}]
- expect: {}
"""


@pytest.fixture
def conform() -> Callable[..., Result]:
    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, ["conform", *map(str, arguments)], catch_exceptions=False)

    return run


@pytest.fixture
def too_small(tmp_path: Path) -> Path:
    path = tmp_path / "it.scenario.yaml"
    path.write_text(WORLD % 1)
    return path


@pytest.fixture
def fits(tmp_path: Path) -> Path:
    path = tmp_path / "fits.scenario.yaml"
    path.write_text(WORLD % 2)
    return path


def test_a_broken_promise_is_told_and_drawn(
    conform: Callable[..., Result], too_small: Path, tmp_path: Path
) -> None:
    answer = conform("adapter", FIRST_FIT, too_small, "--draw", tmp_path / "out")
    assert answer.exit_code == 1
    first, differs, what, *_ = answer.stdout.splitlines()
    assert first == "violated: 1 scenario on first-fit 1: 1 differ; 1 runs"
    assert differs == f"  differs: too-small: half a gang has room ({too_small}:1)"
    assert what == "    whole-gang: g has 1 of at least 2 members bound at rest (in 1 of 1 runs: as it is)"
    drawn = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert drawn == [f"too-small-whole-gang.{suffix}" for suffix in ("html", "svg", "trace.json")]


def test_kept_promises_hold(conform: Callable[..., Result], fits: Path) -> None:
    answer = conform("adapter", "--command", f"{sys.executable} -m examples.first_fit", fits)
    assert answer.exit_code == 0, answer.stdout
    assert answer.stdout.startswith("holds: 1 scenario on first-fit 1: 1 hold, 0 differ; 1 runs\n")


def test_the_same_bytes_each_time(conform: Callable[..., Result], too_small: Path) -> None:
    answers = {conform("adapter", FIRST_FIT, too_small).stdout for _ in range(2)}
    assert len(answers) == 1


def test_json_has_the_recorded_run(conform: Callable[..., Result], too_small: Path) -> None:
    answer = json.loads(conform("adapter", FIRST_FIT, too_small, "-o", "json").stdout)
    assert (answer["kind"], answer["verdict"], answer["exitCode"]) == ("AdapterReport", "violated", 1)
    (difference,) = answer["scenarios"][0]["differences"]
    assert difference["run"]["result"]["log"] == [{"t": 0, "ev": "bind", "obj": "p1", "node": "n"}]


def test_junit_has_a_failure(conform: Callable[..., Result], too_small: Path) -> None:
    suite = ElementTree.fromstring(conform("adapter", FIRST_FIT, too_small, "-o", "junit").stdout)
    (case,) = suite.iter("testcase")
    assert case.get("name") == "too-small[first-fit 1]"
    (failure,) = case.iter("failure")
    assert failure.get("type") == "whole-gang"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["adapter"], "found no adapter, expected MODULE:CLASS or --command COMMAND"),
        (["adapter", "it.scenario.yaml"], "found no adapter, expected MODULE:CLASS or --command COMMAND"),
        (["adapter", FIRST_FIT], "found no scenario files, expected FILE.scenario.yaml…"),
        (["adapter", "no_such:It", "x.scenario.yaml"], "no_such cannot be imported: ModuleNotFoundError"),
        (["adapter", "--command", "'", "x.scenario.yaml"], '--command: found "\'", which cannot be split'),
        (["adapter", FIRST_FIT, "no-such.scenario.yaml"], "no-such.scenario.yaml: found no such file"),
        (
            ["kube-scheduler", "--binary", "no-such", "x"],
            "--binary: found no program at no-such, expected one",
        ),
    ],
)
def test_a_mistake_is_one_message(conform: Callable[..., Result], arguments: list[str], said: str) -> None:
    answer = conform(*arguments)
    assert answer.exit_code == 2
    assert said in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_a_program_that_is_no_adapter_is_one_message(conform: Callable[..., Result], fits: Path) -> None:
    answer = conform("adapter", "--command", "true", fits)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr == "error: crash: it ended with exit code 0 at hello\n"


def test_the_adapter_that_is_not_built_is_one_message(
    conform: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, fits: Path
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("gangproof.adapters.kube_scheduler.BUILT", Path("no-such"))
    answer = conform("kube-scheduler", fits)
    assert (answer.exit_code, answer.stderr) == (2, f"error: {MISSING}\n")
    monkeypatch.setenv(VARIABLE, "/no/such")
    answer = conform("kube-scheduler", fits)
    assert answer.stderr == f"error: {VARIABLE}: found no program at /no/such, expected one\n"


def test_ctrl_c_ends_with_what_was_found(tmp_path: Path) -> None:
    """The second scenario hangs in the scheduler; the interrupt comes then."""
    hangs = (
        (WORLD % 2).replace("too-small", "hangs").replace("- expect: {}", "- fail: [bind/p1]\n- settle: true")
    )
    path = tmp_path / "two.scenario.yaml"
    path.write_text(f"{EMPTY}---\n{hangs}")
    program, hanging = tmp_path / "hanging.py", tmp_path / "hanging"
    program.write_text(
        "import pathlib, sys, time\n"
        f"sys.path.insert(0, {str(HERE)!r})\n"
        "import faulty\n"
        f"faulty.Faulty.fail = lambda *_: (pathlib.Path({str(hanging)!r}).touch(), time.sleep(60))\n"
        "faulty.serve()\n"
    )
    command = [PROGRAM, "conform", "adapter", "--command", f"{sys.executable} {program}", path]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    patience = time.monotonic() + 60
    while not hanging.exists() and time.monotonic() < patience:
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert started.returncode == 3, out + err
    assert out.startswith("inconclusive: 2 scenarios on faulty 0: 1 hold, 0 differ")
    assert out.splitlines()[-1] == "  not looked at: hangs"


def test_a_world_that_names_what_is_not_there_is_told_as_it_is() -> None:
    """It cannot be made smaller, since smaller ones have to be sound."""
    spec = {"schedulingGroup": {"podGroupName": "unknown"}, "containers": [{"name": "c", "image": "i"}]}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    world = {"name": "w", "gates": {}, "steps": [{"create": [pod]}, {"settle": True}, {"snapshot": True}]}
    run, followed = judged(Astray(), world)
    assert followed.difference is not None
    assert run["scenario"]["steps"] == world["steps"]


class Astray:
    """A scheduler that binds p to a node that there is not."""

    def hello(self) -> dict[str, Any]:
        return {"name": "astray", "version": "1", "protocol": 1, "can": ["create"]}

    def load(self, setup: Mapping[str, Any]) -> None: ...

    def do(self, step: Mapping[str, Any]) -> None: ...

    def settle(self, idle: float) -> None: ...

    def close(self) -> None: ...

    def observe(self) -> dict[str, Any]:
        return {"t": 0, "pods": {"p": {"node": "n"}}, "podGroups": {}}

    def log(self) -> dict[str, Any]:
        return {"events": [{"t": 0, "cycle": 0, "ev": "bind", "obj": "p", "node": "n"}], "cycles": 1}
