"""`gangproof check`: exit codes, forms of the answer, what it tells and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from front_door import FITS, LEFT_OVER, NOT_THIS_PROFILE, ROOT, TOO_SMALL

from gangproof.errors import InputError

TRAINING = ROOT / "examples" / "training"


def test_0_holds(gangproof_command, scenario_file):
    result = gangproof_command("check", scenario_file(FITS))
    assert result.exit_code == 0
    assert result.stdout.startswith("holds: 1 scenario")


def test_1_violated_and_explained(gangproof_command, scenario_file):
    path = scenario_file(FITS, TOO_SMALL)
    result = gangproof_command("check", path)
    assert result.exit_code == 1
    assert "2 scenarios: 1 violated, 1 holds" in result.stdout
    assert "expected bound: [p1]" in result.stdout
    assert f"{path}:10" in result.stdout, "the document's line"
    assert "line 17" in result.stdout, "the line of the expectation"
    assert "--draw DIR" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check"], "found no files"),
        (["check", "no-such-file.yaml"], "no such file"),
        (["check", TRAINING, "--profile", "v1.35"], "one of intended, v1.36.3 expected"),
        (["check", TRAINING, "--feature-gates", "GangScheduling"], "NAME=true or NAME=false"),
        (["check", TRAINING, "--feature-gates", "Gangs=true"], "feature gate 'Gangs' found"),
        (["check", TRAINING, "--feature-gates", "GenericWorkload=false"], "API-02"),
        (["check", TRAINING, "--kubernetes-version", "1.37"], "expected 1.36"),
        (["check", TRAINING, "-o", "excel"], "excel"),
        (["draw", TRAINING / "job.yaml"], "job.yaml"),
        (["rules", "CYCLE-99"], "CYCLE-99"),
        (["prove", "INV-99"], "INV-99"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_2_usage(gangproof_command, arguments, message):
    result = gangproof_command(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_4_a_gang_without_pods_is_vacuous(gangproof_command, tmp_path):
    path = tmp_path / "group.yaml"
    path.write_text("---".join(LEFT_OVER.split("---")[:2]), encoding="utf-8")
    result = gangproof_command("check", path)
    assert result.exit_code == 4
    assert "no group is ever tried" in result.stdout


def test_3_a_bound_is_never_success(gangproof_command):
    result = gangproof_command("check", TRAINING, "--max-states", 3)
    assert result.exit_code == 3
    assert "inconclusive" in result.stdout
    assert "stopped: states budget" in result.stdout


def test_3_out_of_time(gangproof_command, scenario_file):
    result = gangproof_command("check", scenario_file(FITS), "--timeout", 0)
    assert result.exit_code == 3
    assert "not looked at" in result.stdout


@pytest.mark.parametrize(
    "kind",
    ["apps/v1, kind: Deployment", "batch/v1, kind: CronJob", "v1, kind: ResourceQuota"],
)
def test_3_what_is_decisive_and_not_modelled_is_never_green(gangproof_command, kind):
    more = f"\n---\n{{apiVersion: {kind}, metadata: {{name: x}}}}\n"
    text = "".join(f"{path.read_text()}\n---\n" for path in sorted(TRAINING.glob("*.yaml"))) + more
    result = gangproof_command("check", "-", input=text)
    assert result.exit_code == 3
    assert "not modelled, and it may matter" in result.stdout


def test_a_scenario_is_judged_in_the_profile_that_it_names(gangproof_command, scenario_file):
    result = gangproof_command("check", scenario_file(NOT_THIS_PROFILE), "-o", "json")
    (judged,) = json.loads(result.stdout)["scenarios"]
    assert judged["profile"] == "v1.36.3"


def test_a_break_of_the_other_profile_names_its_deviation(gangproof_command, tmp_path):
    """The third member is left over; its retry may write False over True from a stale copy (DEV-22)."""
    (tmp_path / "gang.yaml").write_text(LEFT_OVER)
    kept = gangproof_command("check", tmp_path, "--profile", "intended")
    assert kept.exit_code == 0
    broken = gangproof_command("check", tmp_path, "--profile", "v1.36.3", "-o", "json")
    assert broken.exit_code == 1
    findings = {f["property"]: f["deviations"] for f in json.loads(broken.stdout)["cluster"]["findings"]}
    assert findings["INV-13"] == ["DEV-22"]


def test_5_nothing_was_checked(gangproof_command):
    result = gangproof_command("check", TRAINING / "service.yaml")
    assert result.exit_code == 5
    assert "Service llm-training" in result.stdout


def test_70_internal_error_in_one_line(gangproof_command, monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a mistake of our own")

    monkeypatch.setattr("gangproof.api.collect", fail)
    result = gangproof_command("check", TRAINING)
    assert result.exit_code == 70
    assert "internal error: ZeroDivisionError: a mistake of our own" in result.stderr
    assert "report" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback(gangproof_command, monkeypatch):
    monkeypatch.setattr("gangproof.api.collect", lambda *_: 1 // 0)
    result = gangproof_command("--debug", "check", TRAINING)
    assert result.exit_code == 70
    assert "Traceback" in result.stderr


def test_an_input_error_is_told_as_it_is(gangproof_command, monkeypatch):
    monkeypatch.setattr("gangproof.api.collect", lambda *_: (_ for _ in ()).throw(InputError(())))
    assert gangproof_command("check", TRAINING).exit_code == 2


def test_manifests_tell_gates_openness_outcome_and_what_is_left_out(gangproof_command):
    result = gangproof_command("check", TRAINING, "-f", TRAINING / "nodes.yaml")
    assert result.exit_code == 0
    assert "GenericWorkload=true,GangScheduling=true" in result.stdout
    assert "profile intended, Kubernetes 1.36" in result.stdout
    assert "arrivals in the order of the files" in result.stdout
    assert "The one possible outcome:" in result.stdout
    assert "default/llm-workers is True/Scheduled" in result.stdout
    assert "ConfigMap llm-training" in result.stdout


def test_any_order_opens_the_other_outcome(gangproof_command):
    gangs = ROOT / "examples" / "two-gangs"
    in_order = json.loads(gangproof_command("check", gangs, "-o", "json").stdout)
    any_order = json.loads(gangproof_command("check", gangs, "--any-order", "-o", "json").stdout)

    def winners(report):
        outcomes = report["cluster"]["outcomes"]
        return {g for o in outcomes for g, c in o["conditions"].items() if c == "True/Scheduled"}

    assert winners(in_order) == {"default/red"}
    assert winners(any_order) == {"default/red", "default/blue"}


def test_a_plain_pod_whose_claim_is_missing_says_so(gangproof_command):
    """CLAIM-10."""
    manifests = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: '4', pods: '110'}}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], resourceClaims: "
        "[{name: x, resourceClaimName: nope}]}\n"
    )
    result = gangproof_command("check", "-", input=manifests)
    assert result.exit_code == 0
    assert "default/p is pending: resourceclaim default/nope not found (CLAIM-10)" in result.stdout


def test_a_gate_that_is_off_takes_the_group_away(gangproof_command):
    result = gangproof_command(
        "check", TRAINING, "-o", "json", "--feature-gates", "GangScheduling=false,GenericWorkload=false"
    )
    outcome = json.loads(result.stdout)["cluster"]["outcomes"][0]
    assert outcome["conditions"] == {}
    assert len(outcome["bound"]) == 4


def test_namespace_of_objects_that_name_none(gangproof_command):
    result = gangproof_command("check", TRAINING, "-n", "research", "-o", "json")
    outcome = json.loads(result.stdout)["cluster"]["outcomes"][0]
    assert set(outcome["bound"]) == {f"research/llm-worker-{i}" for i in range(4)}


def test_standard_input_may_be_scenarios_or_manifests(gangproof_command):
    assert gangproof_command("check", "-", input=FITS).stdout.startswith("holds: 1 scenario")
    text = "".join(f"{path.read_text()}\n---\n" for path in sorted(TRAINING.glob("*.yaml")))
    assert gangproof_command("check", "-f", "-", input=text).stdout.startswith("holds: 2 Nodes")


def test_processes_change_nothing_but_the_time(gangproof_command, scenario_file):
    path = scenario_file(FITS, TOO_SMALL, FITS.replace("fits", "again"))
    one, two = (
        json.loads(gangproof_command("check", path, "-o", "json", "--processes", n).stdout) for n in (1, 2)
    )
    for report in (one, two):
        for scenario in report["scenarios"]:
            del scenario["seconds"]
    assert one == two


def test_json(gangproof_command, scenario_file):
    report = json.loads(gangproof_command("check", scenario_file(FITS, TOO_SMALL), "-o", "json").stdout)
    assert (report["apiVersion"], report["kind"]) == ("gangproof/v1", "CheckReport")
    assert (report["verdict"], report["exitCode"], report["profile"]) == ("violated", 1, "intended")
    fits, too_small = report["scenarios"]
    assert (fits["id"], fits["verdict"], fits["findings"]) == ("fits", "holds", [])
    assert fits["states"] > 0
    assert fits["seconds"] >= 0
    (finding,) = too_small["findings"]
    assert (finding["property"], finding["line"]) == ("expect", 17)
    assert finding["trace"]["kind"] == "Trace"


def test_junit(gangproof_command, scenario_file):
    text = gangproof_command("check", scenario_file(FITS, TOO_SMALL, NOT_THIS_PROFILE), "-o", "junit").stdout
    (suite,) = ElementTree.fromstring(text)
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "0")
    names = [case.get("name") for case in suite]
    assert names == ["fits[intended]", "too-small[intended]", "shipped[intended]"]
    assert "nobody" not in (suite[0].text or "")
    assert suite[1].find("failure") is not None


def test_sarif(gangproof_command, scenario_file):
    log = json.loads(gangproof_command("check", scenario_file(FITS, TOO_SMALL), "-o", "sarif").stdout)
    assert log["version"] == "2.1.0"
    (result,) = log["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("expect", "error")
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 17}


def test_github(gangproof_command, scenario_file):
    path = scenario_file(FITS, TOO_SMALL)
    lines = gangproof_command("check", path, "-o", "github").stdout.splitlines()
    assert len(lines) == 2, "a command takes one line, whatever its message"
    assert lines[0].startswith(f"::error file={path},line=17,title=expect%3A too-small::")


LONELY = """apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: g}
spec: {schedulingPolicy: {gang: {minCount: 2}}}
---
apiVersion: v1
kind: Pod
metadata: {name: x}
spec: {containers: [{name: c}]}
"""
NO_PODS = "PodGroup default/g: found no pods of it, expected at least one; it is never tried"


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github"])
def test_a_group_without_pods_is_warned_about_in_every_form(gangproof_command, tmp_path, form):
    (tmp_path / "lonely.yaml").write_text(LONELY)
    result = gangproof_command("check", tmp_path / "lonely.yaml", "-o", form)
    assert result.exit_code == 0
    assert NO_PODS in result.stdout


def test_a_pod_whose_group_is_not_in_the_files_waits_for_it(gangproof_command, tmp_path):
    """Without GangScheduling it would be placed like any other (DEV-01); a file was forgotten, most likely."""
    pod = LONELY.partition("---")[2].replace("spec: {", "spec: {schedulingGroup: {podGroupName: absent}, ")
    node = LARGE.partition("---")[2]
    (tmp_path / "alone.yaml").write_text(f"{pod}---{node}")
    result = gangproof_command("check", tmp_path / "alone.yaml")
    assert "default/x is pending: PodGroup absent does not exist (GANG-01)" in result.stdout
    assert "found no PodGroup default/absent" in result.stdout
    switched = gangproof_command("check", tmp_path / "alone.yaml", "--feature-gates", "GangScheduling=false")
    assert "default/x is bound to n" in switched.stdout


LARGE = """apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  parallelism: 1000000
  completions: 1000000
  template: {spec: {restartPolicy: Never, containers: [{name: c}]}}
---
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}
"""


def test_a_job_of_a_million_pods_is_inconclusive_at_once(gangproof_command, tmp_path):
    (tmp_path / "large.yaml").write_text(LARGE)
    result = gangproof_command("check", tmp_path / "large.yaml")
    assert result.exit_code == 3
    assert "not modelled yet: a Job of more than 500 pods" in result.stdout


@pytest.mark.parametrize(
    "options",
    [["--feature-gates", "GangScheduling=false"], ["--any-order"], ["--failures", "1"], ["--deletions", "1"]],
)
def test_an_option_that_scenarios_would_not_heed_is_refused(gangproof_command, scenario_file, options):
    result = gangproof_command("check", scenario_file(FITS), *options)
    assert result.exit_code == 2
    assert "a scenario names its own" in result.stderr


@pytest.mark.parametrize(
    ("form", "beginning"),
    [("svg", "<svg"), ("html", "<!doctype html"), ("dot", "digraph"), ("scenario", "# "), ("pytest", '"""')],
)
def test_a_counterexample_as_the_answer(gangproof_command, scenario_file, form, beginning):
    result = gangproof_command("check", scenario_file(TOO_SMALL), "-o", form)
    assert result.exit_code == 1
    assert result.stdout.lower().startswith(beginning)


def test_no_counterexample_to_show(gangproof_command, scenario_file):
    result = gangproof_command("check", scenario_file(FITS), "-o", "svg")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no counterexample" in result.stderr


def test_draw_saves_picture_page_and_trace_and_tells_where(gangproof_command, scenario_file, tmp_path: Path):
    folder = tmp_path / "out" / "pictures"
    result = gangproof_command("check", scenario_file(TOO_SMALL), "--draw", folder)
    assert result.exit_code == 1
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["expect.html", "expect.svg", "expect.trace.json"]
    assert all(f"saved: {folder / name}" in result.stderr for name in names)
    again = gangproof_command("draw", folder / "expect.trace.json", "-o", "text")
    assert again.exit_code == 0
    assert "p1" in again.stdout


def test_draw_writes_a_file_and_one_frame(gangproof_command, scenario_file, tmp_path: Path):
    gangproof_command("check", scenario_file(TOO_SMALL), "--draw", tmp_path)
    trace = tmp_path / "expect.trace.json"
    picture = tmp_path / "one.svg"
    result = gangproof_command("draw", trace, "--frame", 0, "--save", picture)
    assert result.exit_code == 0
    assert picture.read_text().startswith("<svg")
    assert gangproof_command("draw", trace, "--frame", 999).exit_code == 2
    assert gangproof_command("draw", trace, "-o", "json", "--frame", 0).exit_code == 2


def test_a_folder_that_cannot_be_written(gangproof_command, scenario_file):
    path = scenario_file(TOO_SMALL)
    result = gangproof_command("check", path, "--draw", path / "below-a-file")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize("command", ["check", "prove", "fuzz", "faults", "draw", "rules"])
def test_help_has_an_example(gangproof_command, command):
    result = gangproof_command(command, "--help")
    assert result.exit_code == 0
    assert f"Example: gangproof {command}" in result.stdout


def test_help_has_the_exit_codes_and_the_commands(gangproof_command):
    text = " ".join(gangproof_command("--help").stdout.split())
    assert "0 holds, 1 violated, 2 usage" in text
    assert all(f" {name} " in text for name in ("check", "prove", "fuzz", "faults", "draw", "rules"))


def test_one_name_in_a_file_and_in_standard_input(gangproof_command, tmp_path: Path):
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"
    path = tmp_path / "a.yaml"
    path.write_text(pod)
    result = gangproof_command("check", path, "-", input=pod)
    assert result.exit_code == 2
    assert result.stderr.startswith("<stdin>:3: Pod p: metadata.name: found a second Pod default/p")
    assert f"the first is in {path}:3" in result.stderr
