"""`gangproof explain` on manifests and dumps that controllers have yet to act on: what they create counts as there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import Result

import gangproof
from gangproof.explaining import Created, Explanations

NODES = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
---
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  parallelism: 3
  completions: 3
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]
"""
POD_OF_JOB = """
---
apiVersion: v1
kind: Pod
metadata:
  name: j-{index}
  uid: p{index}
  labels: {{batch.kubernetes.io/job-completion-index: "{index}"}}
  finalizers: [batch.kubernetes.io/job-tracking]
  ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}}]
spec:
  nodeName: {node}
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: "3"}}}}}}]
"""
DEVICES = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: d0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
"""
GROUP = """
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: d}
spec:
  schedulingPolicy: {gang: {minCount: 2}}
  resourceClaims: [{name: gpus, resourceClaimTemplateName: one}]
"""
MEMBER = """
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  schedulingGroup: {{podGroupName: d}}
  resourceClaims: [{{name: gpus, resourceClaimTemplateName: one}}]
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: "1"}}, claims: [{{name: gpus}}]}}}}]
"""
GANG = GROUP + MEMBER.format(name="d-0") + MEMBER.format(name="d-1")

Manifests = Callable[..., Path]


@pytest.fixture
def manifests(tmp_path: Path) -> Manifests:
    """Writes documents to one file."""

    def write(*documents: str) -> Path:
        path = tmp_path / "it.yaml"
        path.write_text("".join(documents), encoding="utf-8")
        return path

    return write


def names(found: Explanations) -> list[str]:
    return [f"{one.kind} {one.name.removeprefix('default/')}" for one in found.created]


def test_the_gang_of_a_job_is_explained(manifests: Manifests) -> None:
    """CTRL-07, CTRL-10, CTRL-11, CYCLE-26: only one pod of 3 cpu fits on each of two nodes."""
    path = manifests(NODES, JOB)
    found = gangproof.explain(path, "podgroup/j")
    told = found.found[0].explanation
    assert told.state == "pending"
    assert told.quorum is not None
    assert (told.quorum.known, told.quorum.kept, told.quorum.minimum) == (3, 2, 3)
    assert names(found) == ["Workload j", "PodGroup j", "Pod j-0", "Pod j-1", "Pod j-2"]
    assert {one.by for one in found.created} == {"job-controller"}
    assert str(found).endswith("created by controllers: Workload j; PodGroup j; 3 Pods j-0, j-1, j-2")
    (outcome,) = gangproof.check(path).outcomes
    assert outcome.conditions == (("default/j", "False/Unschedulable"),)


def test_a_pod_of_a_job_is_explained(manifests: Manifests) -> None:
    found = gangproof.explain(manifests(NODES, JOB.replace('cpu: "3"', 'cpu: "2"')), "pod/j-0")
    told = found.found[0].explanation
    assert (told.state, told.members[0].state) == ("fits", "place found")


def test_a_job_that_asks_for_no_gang_gets_pods_alone(manifests: Manifests) -> None:
    """CTRL-01: its completions are not its parallelism."""
    found = gangproof.explain(manifests(NODES, JOB.replace("completions: 3", "completions: 4")), "pod/j-2")
    assert names(found) == ["Pod j-0", "Pod j-1", "Pod j-2"]
    assert found.found[0].explanation.state == "pending"


def test_a_job_in_a_dump_gets_only_the_pods_that_it_lacks(manifests: Manifests) -> None:
    """CTRL-04, CTRL-12, CTRL-14: it has begun without a group, so it goes on without one."""
    dumped = JOB.replace("{name: j}", "{name: j, uid: u}")
    path = manifests(
        NODES, dumped, POD_OF_JOB.format(index=0, node="n1"), POD_OF_JOB.format(index=2, node="n2")
    )
    found = gangproof.explain(path, "pod/j-1")
    assert names(found) == ["Pod j-1"]
    assert found.found[0].explanation.sentence.startswith("pod/j-1 is pending: 0/2 nodes are available")


@pytest.mark.parametrize(
    "status",
    [
        "status: {conditions: [{type: Complete, status: 'True'}], completedIndexes: 0-2, succeeded: 3}\n",
        "status: {startTime: '2026-01-01T00:00:00Z', completedIndexes: 0-2, succeeded: 3}\n",
    ],
)
def test_a_job_that_is_done_gets_nothing(manifests: Manifests, status: str) -> None:
    dumped = JOB.replace("{name: j}", "{name: j, uid: u}")
    found = gangproof.explain(manifests(NODES, dumped, status, "---\n", GROUP), "podgroup/d")
    assert found.created == ()
    assert "created" not in str(found)


def test_a_suspended_job_has_a_group_without_members(manifests: Manifests) -> None:
    """CTRL-13."""
    found = gangproof.explain(manifests(NODES, JOB, "  suspend: true\n"), "podgroup/j")
    assert names(found) == ["Workload j", "PodGroup j"]
    assert found.found[0].explanation.sentence.endswith("(GANG-03): Job j is suspended (CTRL-13)")


def test_nothing_in_a_dump_is_removed(manifests: Manifests) -> None:
    """CTRL-16: the Job would delete its surplus pod, which holds its room until it has."""
    single = (
        JOB.replace("{name: j}", "{name: j, uid: u}")
        .replace("parallelism: 3", "parallelism: 1")
        .replace("completions: 3", "completions: 1")
    )
    path = manifests(
        NODES,
        single,
        POD_OF_JOB.format(index=0, node="n1"),
        POD_OF_JOB.format(index=1, node="n2"),
        MEMBER.format(name="p").replace('cpu: "1"', 'cpu: "2"').replace("  schedulingGroup: {podGroupName: d}\n", "")
        .replace("  resourceClaims: [{name: gpus, resourceClaimTemplateName: one}]\n", "")
        .replace(", claims: [{name: gpus}]", ""),
    )  # fmt: skip
    found = gangproof.explain(path, "pod/p")
    assert found.created == ()
    assert "2 Insufficient cpu" in found.found[0].explanation.sentence
    for name in ("j-0", "j-1"):
        assert gangproof.explain(path, f"pod/{name}").found[0].explanation.state == "placed"


def test_the_claim_of_a_group_is_made_for_all_its_members(manifests: Manifests) -> None:
    """CLAIM-02, CLAIM-08: both members share the one device, as in `check`."""
    path = manifests(NODES, DEVICES, GANG)
    found = gangproof.explain(path, "podgroup/d")
    told = found.found[0].explanation
    assert told.state == "fits"
    assert [(m.state, m.node) for m in told.members] == [("place found", "n1")] * 2
    assert found.created == (Created("ResourceClaim", "default/d-gpus-0", "claim-controller"),)
    (outcome,) = gangproof.check(path).outcomes
    assert [node for _, node in outcome.bound] == ["n1", "n1"]


def test_claims_of_pods_are_one_for_each(manifests: Manifests) -> None:
    """CLAIM-08, CLAIM-12: without an entry of the group there are two claims, and one device."""
    own = GANG.replace("  resourceClaims: [{name: gpus, resourceClaimTemplateName: one}]\n", "", 1)
    found = gangproof.explain(manifests(NODES, DEVICES, own), "podgroup/d")
    assert names(found) == ["ResourceClaim d-0-gpus-0", "ResourceClaim d-1-gpus-0"]
    told = found.found[0].explanation
    assert (told.state, told.quorum and told.quorum.kept) == ("pending", 1)


def test_pods_of_jobs_get_claims_too(manifests: Manifests) -> None:
    """CTRL-09, CLAIM-08: the group of a Job has no claims, so each pod gets its own."""
    claiming = JOB.replace(
        "    spec:\n", "    spec:\n      resourceClaims: [{name: gpus, resourceClaimTemplateName: one}]\n"
    ).replace('requests: {cpu: "3"}', "claims: [{name: gpus}]")
    found = gangproof.explain(manifests(NODES, DEVICES, claiming), "podgroup/j")
    assert [name for name in names(found) if name.startswith("ResourceClaim")] == [
        f"ResourceClaim j-{index}-gpus-0" for index in range(3)
    ]


def test_a_claim_that_is_over_keeps_its_device_in_a_dump(manifests: Manifests) -> None:
    """CLAIM-30: the controller would take it back; as it stands, the device is in use."""
    claim: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "old", "uid": "c", "finalizers": ["resource.kubernetes.io/delete-protection"]},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
        "status": {
            "reservedFor": [{"resource": "pods", "name": "gone", "uid": "u"}],
            "allocation": {
                "devices": {
                    "results": [{"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "d0"}]
                },
                "nodeSelector": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
                    ]
                },
            },
        },
    }
    found = gangproof.explain(manifests(NODES, DEVICES, GANG, "\n---\n", yaml.safe_dump(claim)), "podgroup/d")
    told = found.found[0].explanation
    assert told.state == "pending"
    assert told.claims[0].rivals == ("default/old",)


def test_a_pod_that_names_its_claim_gets_no_other(manifests: Manifests) -> None:
    """A dump without its claims stays a dump: nobody is taken to make them once more."""
    named = MEMBER.format(name="p").replace("  schedulingGroup: {podGroupName: d}\n", "")
    named = named.replace("name: p", "name: p, uid: u-p", 1)
    status = "status: {resourceClaimStatuses: [{name: gpus, resourceClaimName: p-gpus-abc}]}\n"
    found = gangproof.explain(manifests(NODES, DEVICES.rstrip("-\n"), named, status), "pod/p")
    assert found.created == ()
    assert "p-gpus-abc" in found.found[0].explanation.gate


def test_a_gate_that_holds_all_is_not_told_to_be_open(manifests: Manifests) -> None:
    """CLAIM-10, GANG-03: enough members exist, and the template of their claim does not."""
    path = manifests(NODES, GANG)
    told = gangproof.explain(path, "podgroup/d").found[0].explanation
    assert told.state == "gated"
    assert "closed for d-0, d-1: " in told.sentence
    assert told.sentence.endswith("(CLAIM-10); 2 of at least 2 members exist (GANG-03)")
    assert "open" not in told.sentence


def test_what_is_not_modelled_of_a_job_leaves_its_pods_undecided(
    gangproof_command: Callable[..., Result], manifests: Manifests
) -> None:
    volume = "      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n"
    result = gangproof_command("explain", manifests(NODES, JOB, volume), "pod/j-0")
    assert result.exit_code == 3
    assert "volumes" in result.stdout


def test_a_job_that_is_too_large_is_not_told_to_be_missing(
    gangproof_command: Callable[..., Result], manifests: Manifests
) -> None:
    """Its pods are not modelled: whether they leave room for others, or fit themselves, is not known."""
    large = JOB.replace(": 3\n", ": 501\n")
    own = gangproof_command("explain", manifests(NODES, large), "podgroup/j")
    assert own.exit_code == 3
    assert "a Job of more than 500 pods" in own.stdout
    other = gangproof_command(
        "explain", manifests(NODES, large, "---", GROUP, MEMBER.format(name="p")), "pod/p"
    )
    assert other.exit_code == 3
    assert "a Job of more than 500 pods" in other.stdout


def test_json_names_what_was_created(gangproof_command: Callable[..., Result], manifests: Manifests) -> None:
    result = gangproof_command("explain", manifests(NODES, DEVICES, GANG), "podgroup/d", "-o", "json")
    assert json.loads(result.stdout)["created"] == [
        {"kind": "ResourceClaim", "name": "default/d-gpus-0", "by": "claim-controller"}
    ]
