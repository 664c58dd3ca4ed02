"""A document as an adapter is told it: the steps with whole objects, and what a scheduler alone cannot show."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangproof.adapters.manifests import NotWrittenError, manifest
from gangproof.adapters.translate import NotRunnableError, translate
from gangproof.impl.gates import SCENARIO_GATES, FeatureGates
from gangproof.impl.objects import Node, Pod, PodGroup
from gangproof.impl.table import Table
from gangproof.load import load_scenarios
from gangproof.load.scenario import load_scenarios_text
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.features import created

ROOT = Path(__file__).parents[2]
DOCUMENTS = [d for f in sorted((ROOT / "scenarios").glob("*.scenario.yaml")) for d in load_scenarios(f)]
DOCUMENT = """\
scenario: all-steps
title: one of each
gates: {WorkloadAwarePreemption: true}
scheduler: {nodeScores: {n: 7}, backoff: {initial: 0s, max: 0s}}
steps:
- create:
    nodes: [{name: n, cpu: 1500m, labels: {zone: a}}]
    podGroups: [{name: g, gang: 2, priority: 5}]
- hold: [bind/p1]
- create:
    pods:
    - {name: "p[1-2]", group: g, cpu: 1, priority: 5, grace: 30}
    - {name: q, namespace: other, memory: 1Gi, node: n}
- attempt:
    group: g
    result: scheduled
    during: [{delete: [pod/p2]}]
- fail: [delete/other/q]
- release: [bind/p1]
- update: {pod/other/q: {priority: 3}}
- finish: [pod/other/q]
- crash: [pod/p1]
- advance: 90s
- expect: {bound: [p1]}
- delete: [node/n, podGroup/g]
- restart: scheduler
- possible: {pending: [p1]}
"""


def document(text: str) -> Scenario:
    (found,) = load_scenarios_text(text)
    return found


def pod(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "containers": [{"name": "c", "image": "image", "resources": {"requests": {"cpu": "1"}}}],
            "priority": 5,
            "terminationGracePeriodSeconds": 30,
            "schedulingGroup": {"podGroupName": "g"},
        },
    }


def other(priority: int) -> dict[str, object]:
    requests = {"memory": str(1 << 30)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "q", "namespace": "other"},
        "spec": {
            "containers": [{"name": "c", "image": "image", "resources": {"requests": requests}}],
            "priority": priority,
            "terminationGracePeriodSeconds": 0,
            "nodeName": "n",
        },
    }


def test_every_step_is_told_with_whole_objects() -> None:
    amounts = {"cpu": "1500m", "memory": str(64 << 30), "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "n", "zone": "a"}},
        "spec": {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {
            "name": "g",
            "namespace": "default",
            "finalizers": ["scheduling.k8s.io/podgroup-protection"],
        },
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 2}},
            "priority": 5,
            "disruptionMode": "Pod",
        },
    }
    assert list(translate(document(DOCUMENT)).steps) == [
        {"create": [node, group]},
        {"hold": ["bind/p1"]},
        {"create": [pod("p1"), pod("p2"), other(0)]},
        {"snapshot": True},
        {"attempt": True, "during": [{"delete": ["Pod/default/p2"]}]},
        {"snapshot": True},
        {"fail": ["delete/other/q"]},
        {"release": ["bind/p1"]},
        {"update": [other(3)]},
        {"finish": ["other/q"]},
        {"crash": ["p1"]},
        {"settle": True},
        {"advance": 90.0},
        {"settle": True},
        {"settle": True},
        {"snapshot": True},
        {"delete": ["Node//n", "PodGroup/default/g"]},
        {"restart": True},
        {"settle": True},
        {"snapshot": True},
    ]


def test_the_setup_says_how_the_scheduler_is_to_be() -> None:
    setup = translate(document(DOCUMENT)).setup
    gates = setup.pop("gates")
    assert setup == {
        "name": "all-steps",
        "score": "fixed",
        "nodeScores": {"n": 7},
        "noBackoff": True,
        "atomic": True,
        "trace": True,
        "restless": True,
        "parallelism": 16,
    }
    on = {"GenericWorkload", "GangScheduling", "WorkloadAwarePreemption"}
    assert {name for name, value in gates.items() if value} == {
        *on,
        "SchedulerPopFromBackoffQ",
        "SchedulerAsyncPreemption",
    }


def test_a_cycle_that_is_singled_out_is_not_run_side_by_side() -> None:
    assert translate(document(DOCUMENT)).free is None


def test_an_attempt_before_a_pause_is_its_beginning() -> None:
    text = DOCUMENT[: DOCUMENT.index("- hold")] + "- attempt: {group: g, result: absent}\n- settle: true\n"
    free = translate(document(text)).free
    assert free is not None
    assert [next(iter(step)) for step in free] == ["create", "snapshot", "snapshot", "settle"]


NEED = {
    "podGroups: [{name: g, gang: 0}]\n- expect: {rejected: {podGroup/g: minCount}}": "the API server's validation",
    "jobs: [{name: j, template: {cpu: 1}}]": "the Job controller",
    "workloads: [{name: w, templates: [{name: t, gang: 1}]}]": "the API server's admission",
    "nodes: [{name: n}]\n- lag: [scheduler/pods]": "views that stand still",
}


@pytest.mark.parametrize("steps", NEED)
def test_what_a_scheduler_alone_cannot_show_is_said(steps: str) -> None:
    with pytest.raises(NotRunnableError, match=NEED[steps]):
        translate(document(f"scenario: s\ntitle: t\nsteps:\n- create:\n    {steps}\n"))


def test_a_name_that_lasts_can_be_updated_after_its_deletion() -> None:
    (sop_01,) = [d for d in DOCUMENTS if d.id == "SOP-01"]
    updates = [step["update"] for step in translate(sop_01).steps if "update" in step]
    assert [[obj["metadata"]["name"] for obj in those] for those in updates] == [["p2"]]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.id)
def test_every_object_of_the_scenarios_is_the_same_when_it_is_read_again(document: Scenario) -> None:
    """`manifest` reads again what it writes, and refuses what has changed on the way."""
    kinds = ("Node", "Pod", "PodDisruptionBudget", "PodGroup", "PriorityClass", "Workload")
    for obj in created(document):
        if type(obj).__name__ in kinds:
            written = manifest(obj, document.gates)  # pyright: ignore[reportArgumentType]
            assert written["metadata"]["name"] == obj.name  # pyright: ignore[reportAttributeAccessIssue]


def test_what_no_manifest_would_have_is_refused() -> None:
    """The scoring requests of two containers, one of which states nothing, are not those of one."""
    two = Pod("default", "p", requests=Table({"cpu": 1000}), scoring_requests=Table({"cpu": 1100}))
    with pytest.raises(NotWrittenError, match="Pod default/p"):
        manifest(two, SCENARIO_GATES)


def test_fields_of_gates_that_are_off_are_left_out() -> None:
    group = PodGroup("default", "g", min_count=2)
    assert "priority" not in manifest(group, SCENARIO_GATES)["spec"]
    on = FeatureGates(generic_workload=True, gang_scheduling=True, workload_aware_preemption=True)
    assert manifest(group, on)["spec"]["priority"] == 0
    assert manifest(Node("n", Table({"cpu": 1500})), on)["status"]["allocatable"] == {"cpu": "1500m"}


CLAIMS = """scenario: s
title: t
gates: {DRAWorkloadResourceClaims: true}
steps:
- create:
    nodes: [{name: n}]
    deviceClasses: [{name: d, devices: {n: 1}}]
    claimTemplates: [{name: t, deviceClass: d}]
    claims: [{name: c, deviceClass: d, allocated: n}]
    podGroups: [{name: g, gang: 1, claims: [{name: c, template: t}]}]
"""


def test_the_claim_controller_is_at_work_where_there_are_claims() -> None:
    assert translate(document(CLAIMS)).setup["claimController"] is True
    assert "claimController" not in translate(document(DOCUMENT)).setup


def test_a_claim_that_is_allocated_from_the_start_says_so_in_its_status() -> None:
    (created,) = [step["create"] for step in translate(document(CLAIMS)).steps if "create" in step]
    kinds = {manifest["kind"]: manifest for manifest in created}
    claim = kinds["ResourceClaim"]
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    (result,) = claim["status"]["allocation"]["devices"]["results"]
    assert result == {"request": "r", "driver": "d.example.com", "pool": "n", "device": "d0"}
    assert kinds["ResourceClaimTemplate"]["spec"]["spec"]["devices"]["requests"]
    assert kinds["PodGroup"]["spec"]["resourceClaims"] == [{"name": "c", "resourceClaimTemplateName": "t"}]
