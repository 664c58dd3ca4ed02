"""Jobs as a cluster's dump has them: with what their controller made, in whatever order the objects are listed."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
import yaml

import gangproof
from gangproof.errors import InputError

JOB_OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}
SPEC = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]}
GANG = {"gang": {"minCount": 2}}
NODE = {
    "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "n"}},
    "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
}  # fmt: skip


def metadata(name, *owners, **more):
    return {"name": name, "namespace": "default", "uid": f"u-{name}", "resourceVersion": "7",
            "ownerReferences": list(owners), **more}  # fmt: skip


def owner(kind, name):
    return {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": kind, "name": name, "uid": f"u-{name}"}


def job(**status):
    spec = {"completionMode": "Indexed", "parallelism": 2, "completions": 2}
    template = {"spec": {**SPEC, "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata("train"),
        "spec": {**spec, "template": template}, "status": status,
    }  # fmt: skip


def pod(number):
    labels = {"batch.kubernetes.io/job-completion-index": str(number)}
    finalizers = ["batch.kubernetes.io/job-tracking"]
    owners = (JOB_OWNER, owner("PodGroup", "g"))
    return {
        "apiVersion": "v1", "kind": "Pod", "status": {"phase": "Pending"},
        "metadata": metadata(f"train-{number}", *owners, labels=labels, finalizers=finalizers),
        "spec": {**SPEC, "schedulingGroup": {"podGroupName": "g"}},
    }  # fmt: skip


WORKLOAD = {
    "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "Workload", "metadata": metadata("w", JOB_OWNER),
    "spec": {
        "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "train"},
        "podGroupTemplates": [{"name": "t", "schedulingPolicy": GANG}],
    },
}  # fmt: skip
GROUP = {
    "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
    "metadata": metadata("g", JOB_OWNER, owner("Workload", "w")),
    "spec": {
        "schedulingPolicy": GANG,
        "podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
    },
}  # fmt: skip
BEGUN = {"startTime": "2026-01-01T00:00:00Z", "active": 2}


def checked(tmp_path, *objects):
    file = tmp_path / "dump.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    return gangproof.check(file)


def bound(report):
    return [dict(outcome.bound) for outcome in report.outcomes]


@pytest.mark.parametrize("status", [BEGUN, {}], ids=["the Job has begun", "its status is not written yet"])
@pytest.mark.parametrize("order", list(permutations(range(3)))[::2])
def test_a_dump_of_a_job_and_what_it_has_made(tmp_path, order, status):
    """The pods that are there are those of the Job: none is made beside them."""
    parts = ([job(**status)], [WORKLOAD, GROUP], [pod(0), pod(1)])
    report = checked(tmp_path, NODE, *(obj for number in order for obj in parts[number]))
    assert report.exit_code == 0, str(report)
    assert bound(report) == [{"default/train-0": "n", "default/train-1": "n"}]


def test_a_pod_that_is_missing_is_made(tmp_path):
    """CTRL-18: of the same group."""
    report = checked(tmp_path, NODE, job(**BEGUN), WORKLOAD, GROUP, pod(1))
    assert bound(report) == [{"default/train-0": "n", "default/train-1": "n"}]


def test_a_job_that_is_no_job(tmp_path):
    """One clear message, with the field."""
    wrong = {**job(), "spec": {"completionMode": "Indexed", "template": {"spec": SPEC}}}
    with pytest.raises(InputError, match="completions"):
        checked(tmp_path, NODE, wrong)


def test_views_that_lag_and_a_scheduler_that_starts_anew(tmp_path, gangproof_command):
    """The verdict says what was left open; the Job's pods end where they would without."""
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump_all([NODE, job(**BEGUN), WORKLOAD, GROUP, pod(0), pod(1)]))
    done = gangproof_command("check", str(file), "--restarts", "1")
    assert done.exit_code == 0
    assert "up to 1 restarts of the scheduler" in done.stdout
    assert "The one possible outcome:" in done.stdout
    late = gangproof_command("check", "examples/waiting-for-a-member", "--lag", "1")
    assert late.exit_code == 0
    assert (
        "every view up to 1 changes behind (5 views; each sees things right before its owner acts)"
        in late.stdout
    )


def test_a_job_that_is_deleted_and_created_again(tmp_path, gangproof_command):
    """In v1.36.3 the new Job finds the old one's Workload and goes on without a group (DEV-58)."""
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump_all([NODE, job()]))
    gates = "WorkloadWithJob=true,GenericWorkload=true,GangScheduling=true"
    asking = ("check", str(file), "--feature-gates", gates, "--recreate", "1")
    kept = gangproof_command(*asking)
    assert kept.exit_code == 0
    assert "up to 1 objects deleted and created again under their name" in kept.stdout
    broken = gangproof_command(*asking, "--profile", "v1.36.3", "-o", "json")
    assert broken.exit_code == 1
    found = {f["property"]: f["deviations"] for f in json.loads(broken.stdout)["cluster"]["findings"]}
    assert found["LIVE-15"] == ["DEV-58"]
