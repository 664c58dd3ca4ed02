"""`check --liveness`: fair runs that never keep a promise, in the report and at the command line."""

from __future__ import annotations

import json
import os
import signal
import time

import yaml

from gangproof import checking
from gangproof.forever import asked_for_ever
from gangproof.impl.profiles import V1_36_3
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.search.system import Questions
from gangproof.properties.telling.traces import Meta
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import gang, node, pod, world
from gangproof.report import ClusterResult
from gangproof.watching import Clock, unwatched

GATES = "WorkloadWithJob=true,GenericWorkload=true,GangScheduling=true"
META = Meta("v1.36.3", "", "lasso")


def hot(_: Rules) -> World:
    return world(node("n1", 0), gang("g1", 1), pod("p1", "g1"))


def asked(clock: Clock) -> ClusterResult:
    begun = ClusterResult(Verdict.HOLDS, (("Pod", 1),), "", "")
    return asked_for_ever(begun, hot, V1_36_3, META, None, unwatched, clock)


def test_a_lasso_becomes_a_finding_with_the_deviation_that_explains_it():
    """LIVE-09: the gang is tried without a pause; the trace returns."""
    result = asked(Clock.until(None))
    (finding,) = result.findings
    assert (result.verdict, finding.property, finding.deviations) == (
        Verdict.VIOLATED,
        "LIVE-09",
        ("DEV-12",),
    )
    assert finding.message == "default/g1 is tried again and again without a pause"
    assert finding.trace is not None
    assert finding.trace.loop is not None
    assert result.for_ever is not None
    assert (result.for_ever.states, result.for_ever.stop) == (6, "exhausted")


def test_without_time_left_it_is_inconclusive():
    result = asked(Clock(time.monotonic() - 1))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.for_ever is not None
    assert result.for_ever.stop == "time budget"


def test_a_ctrl_c_in_the_first_search_begins_no_second_one(gangproof_command, monkeypatch):
    def interrupted(*_):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(checking, "asked_of", lambda _: Questions(invariants=[interrupted]))
    text = yaml.safe_dump_all(manifests("j"))
    result = gangproof_command("check", "-", "--liveness", "--feature-gates", GATES, input=text)
    assert result.exit_code == 3
    assert "stopped: interrupted" in result.stdout
    assert "looked at for liveness" not in result.stdout


def manifests(name):
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    shape = {"completionMode": "Indexed", "parallelism": 2, "completions": 2, "template": template}
    yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": shape}
    yield {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
           "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "9"}}}  # fmt: skip


def test_a_job_at_the_command_line(tmp_path, gangproof_command):
    """LIVE-15: kept in *intended* however often calls fail, broken in v1.36.3 by a name of 60 characters (DEV-46)."""
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump_all(list(manifests("j" * 60))))
    asking = ("check", str(file), "--feature-gates", GATES, "--liveness")
    kept = gangproof_command(*asking)
    assert kept.exit_code == 0
    assert "for liveness any number of failed calls" in kept.stdout
    assert "looked at for liveness: 37 states, 100 steps\n" in kept.stdout
    broken = gangproof_command(*asking, "--profile", "v1.36.3", "-o", "json")
    cluster = json.loads(broken.stdout)["cluster"]
    assert broken.exit_code == 1
    assert [(f["property"], f["deviations"]) for f in cluster["findings"]] == [("LIVE-15", ["DEV-46"])]
    assert cluster["liveness"] == {"states": 3, "steps": 3, "stop": "exhausted"}


def test_a_search_that_is_cut_short_is_inconclusive(tmp_path, gangproof_command):
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump_all(list(manifests("j"))))
    done = gangproof_command("check", str(file), "--feature-gates", GATES, "--liveness", "--max-states", "20")
    assert done.exit_code == 3
    assert "stopped: states budget" in done.stdout
