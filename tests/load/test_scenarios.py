"""Scenario files: every step, option, expectation and shorthand as values, and what is no scenario."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gangproof.errors import InputError
from gangproof.impl.objects import (
    Bound,
    ClaimSpec,
    ControllerRef,
    Device,
    DeviceClass,
    DeviceRequest,
    Job,
    LabelSelector,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PodGroupTemplate,
    PriorityClass,
    Reach,
    Requirement,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Workload,
)
from gangproof.impl.table import Table
from gangproof.load import is_scenario_file, load_scenarios, load_scenarios_text
from gangproof.properties.scenarios import document as doc
from gangproof.properties.scenarios import expectations as expected
from gangproof.properties.scenarios.records import Ref, Refused

FOLDER = Path(__file__).parents[2] / "scenarios"
CREATE = "- create: {nodes: [{name: n, cpu: 4}], podGroups: [{name: pg1, gang: 2}], pods: [{name: 'p[1-4]', cpu: 1}]}\n"


def scenario(steps: str, head: str = "") -> doc.Scenario:
    (found,) = load_scenarios_text(f"scenario: s\ntitle: t\n{head}steps:\n{steps}")
    return found


def step(text: str, head: str = "") -> Any:
    return scenario(CREATE + text, head).steps[-1]


def created(text: str, head: str = "") -> Any:
    (found,) = scenario(f"- create: {text}\n", head).steps
    assert isinstance(found, doc.Create)
    return found.objects[0] if len(found.objects) == 1 else found.objects


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.scenario.yaml")), ids=lambda path: path.name)
def test_every_fact_is_a_scenario(path: Path) -> None:
    texts = [data for data in yaml.safe_load_all(path.read_text()) if data]
    found = load_scenarios(path)
    assert is_scenario_file(path)
    assert [s.id for s in found] == [data["scenario"] for data in texts]
    assert [len(s.steps) for s in found] == [len(data["steps"]) for data in texts]
    lines = path.read_text().splitlines()
    for one in found:
        assert lines[one.line - 1] == f"scenario: {one.id}"
        for part in one.steps:
            assert lines[part.line - 1].startswith("- ")
            for expectation in getattr(part, "expectations", ()):
                key = str(expectation).partition(":")[0]
                assert key in lines[expectation.line - 1]


def test_the_head() -> None:
    text = """scenario: s
title: the title
kubernetes: 1.36
source: somewhere
profile: v1.36.3
verified: v1.36.3
gates: {WorkloadAwarePreemption: true, SchedulerPopFromBackoffQ: false}
scheduler: {nodeScores: {n1: 100}, backoff: {initial: 500ms, max: 1m30s}, profiles: [a, b]}
steps: [settle: true]
"""
    (found,) = load_scenarios_text(text, "f.yaml")
    assert (found.id, found.title, found.source, found.profile) == ("s", "the title", "somewhere", "v1.36.3")
    assert (found.verified, found.unverified, found.file, found.line) == (True, False, "f.yaml", 1)
    assert found.gates.on == (
        "GangScheduling",
        "GenericWorkload",
        "SchedulerAsyncPreemption",
        "WorkloadAwarePreemption",
    )
    assert found.scheduler == doc.SchedulerOptions(
        node_scores=Table({"n1": 100}), backoff_initial=500, backoff_max=90_000, profiles=("a", "b")
    )
    assert scenario("- settle: true", "scheduler: {scores: rank}\n").scheduler.rank


def test_patterns_and_namespaces() -> None:
    found = created("{pods: [{name: 'p[2-3]', namespace: other, group: g}]}")
    assert [pod.key for pod in found] == ["other/p2", "other/p3"]
    assert found[0].group == "other/g"
    rows = created("{nodes: [{name: 'r[1-2]n[1-2]'}]}")
    assert [node.name for node in rows] == ["r1n1", "r1n2", "r2n1", "r2n2"]


def test_a_node() -> None:
    found = created(
        "{nodes: [{name: n, cpu: 1.5, extended: {gpu: 4}, labels: {zone: a}, unschedulable: true}]}"
    )
    assert found == Node(
        "n",
        Table({"cpu": 1500, "memory": 64 * 1024**3, "pods": 110, "gpu": 4}),
        Table({"zone": "a", "kubernetes.io/hostname": "n"}),
        unschedulable=True,
    )


def test_a_group() -> None:
    text = "{podGroups: [{name: g, gang: 3, priority: 5, disruptionMode: PodGroup, topology: zone, finalizers: []}]}"
    gates = "gates: {WorkloadAwarePreemption: true, TopologyAwareWorkloadScheduling: true}\n"
    assert created(text, gates) == PodGroup(
        "default",
        "g",
        min_count=3,
        priority=5,
        disruption_mode="PodGroup",
        topology_keys=("zone",),
        finalizers=(),
    )
    assert created(text) == PodGroup("default", "g", min_count=3, finalizers=())
    assert created("{podGroups: [{name: g, basic: true}]}") == PodGroup("default", "g")


def test_a_pod() -> None:
    text = """{pods: [{name: p, group: g, cpu: 0.25, memory: 1Gi, extended: {gpu: 1}, priority: 7, started: 9,
      schedulerName: s, labels: {a: b}, nodeSelector: {c: d}, hostPort: 80, gates: [x.io/wait], grace: 30,
      preemptionPolicy: Never, claims: [{name: c, claim: k}], finalizers: [x.io/f], tolerations: [{operator: Exists}],
      spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}}}]}"""
    found = created(text)
    assert isinstance(found, Pod)
    assert found.requests == Table({"cpu": 250, "memory": 1024**3, "gpu": 1})
    assert (found.scheduling_group, found.priority, found.start_time) == ("g", 7, 9)
    assert (found.scheduler_name, found.preemption_policy) == ("s", "Never")
    assert (found.labels, found.node_selector) == (Table({"a": "b"}), Table({"c": "d"}))
    assert [port.port for port in found.host_ports] == [80]
    assert (found.scheduling_gates, found.finalizers) == (("x.io/wait",), ("x.io/f",))
    assert found.termination_grace_period_seconds == 30
    assert [claim.resource_claim_name for claim in found.resource_claims] == ["k"]
    assert [term.topology_key for term in found.pod_anti_affinity.required] == ["zone"]
    assert created("{pods: [{name: p}]}") == Pod(
        "default", "p", scoring_requests=Table({"cpu": 100, "memory": 209715200})
    )


def test_a_manifest_in_place_of_shorthand() -> None:
    text = """{pods: [manifest: {apiVersion: v1, kind: Pod, metadata: {name: p},
      status: {startTime: "1970-01-01T00:00:05Z"},
      spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}]}"""
    found = created(text)
    assert (found.key, found.requests, found.start_time) == ("default/p", Table({"cpu": 1000}), 5)


def test_the_other_kinds() -> None:
    assert created(
        "{workloads: [{name: w, templates: [{name: t, gang: 2}], controller: Job/j}]}"
    ) == Workload(
        "default",
        "w",
        controller_ref=ControllerRef("Job", "j", "batch"),
        pod_group_templates=(PodGroupTemplate("t", min_count=2),),
    )
    job = created("{jobs: [{name: j, parallelism: 4, completions: 4, indexed: true, template: {cpu: 1}}]}")
    assert isinstance(job, Job)
    assert (job.parallelism, job.completions, job.indexed, job.suspend) == (4, 4, True, False)
    assert job.template.requests == Table({"cpu": 1000})
    assert created("{priorityClasses: [{name: h, value: 5, globalDefault: true}]}") == PriorityClass(
        "h", 5, True
    )
    assert created("{pdbs: [{name: b, selector: {a: b}, minAvailable: 1}]}") == PodDisruptionBudget(
        "default", "b", selector=LabelSelector((Requirement("a", "In", ("b",)),)), min_available=Bound(1)
    )
    assert created("{pdbs: [{name: b, selector: {a: b}, maxUnavailable: 25%}]}").max_unavailable == Bound(
        25, True
    )


def test_classes_give_priorities() -> None:
    text = "{priorityClasses: [{name: h, value: 5}], pods: [{name: p, priorityClass: h}, {name: q}]}"
    assert [value.priority for value in created(text) if isinstance(value, Pod)] == [5, 0]


def test_steps_that_change() -> None:
    assert step("- delete: [podGroup/pg1, 'pod/p[1-2]', node/n]\n").objects == (
        Ref("podGroup", "default/pg1"),
        Ref("pod", "default/p1"),
        Ref("pod", "default/p2"),
        Ref("node", "n"),
    )
    assert step("- finish: [pod/p1]\n") == doc.Finish(("default/p1",), "Succeeded")
    assert step("- crash: [pod/p1]\n") == doc.Finish(("default/p1",), "Failed")
    (change,) = step("- update: {pod/p1: {gates: [], labels: {a: b}, cpu: 2}}\n").changes
    assert change == doc.Change(
        Ref("pod", "default/p1"),
        Table(
            {
                "scheduling_gates": (),
                "labels": Table({"a": "b"}),
                "requests": Table({"cpu": 2000}),
                "scoring_requests": Table({"cpu": 2000}),
            }
        ),
    )
    (change,) = step("- update: {node/n: {cpu: 8, extended: {gpu: 1}, taints: []}}\n").changes
    assert change.values == Table({"allocatable": Table({"cpu": 8000, "gpu": 1}), "taints": ()})
    (change,) = step("- update: {podGroup/pg1: {gang: 3}}\n").changes
    assert change.values == Table({"min_count": 3})
    (change,) = step("- update: {podGroup/pg1: {finalizers: []}}\n").changes
    assert change.values == Table({"finalizers": ()})


def test_steps_that_run_and_mark() -> None:
    assert step("- settle: true\n") == doc.Settle()
    assert step("- flush: true\n") == doc.Flush()
    assert step("- advance: 5m\n") == doc.Advance(300_000)
    assert step("- restart: scheduler\n") == doc.Restart()
    assert step("- hold: ['bind/p[1-2]', delete/p3]\n").calls == (
        doc.Call("bind", "default/p1"),
        doc.Call("bind", "default/p2"),
        doc.Call("delete", "default/p3"),
    )
    assert step("- release: [permit/p1]\n") == doc.Release((doc.Call("permit", "default/p1"),))
    assert step("- fail: [prebind/p1]\n") == doc.Fail((doc.Call("prebind", "default/p1"),))
    assert step("- lag: [scheduler/pods]\n") == doc.Lag((doc.View("scheduler", "pod"),))
    assert step("- catch-up: [claim-controller/podGroups]\n") == doc.CatchUp(
        (doc.View("claim-controller", "podGroup"),)
    )
    attempt = step("- attempt: {group: pg1, result: unschedulable, during: [{delete: [pod/p1]}]}\n")
    assert attempt == doc.Attempt(
        Ref("podGroup", "default/pg1"), "unschedulable", (doc.Delete((Ref("pod", "default/p1"),)),)
    )
    assert step("- attempt: {pod: p1, result: absent}\n").entity == Ref("pod", "default/p1")


P12 = ("default/p1", "default/p2")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("bound: ['p[1-2]']", expected.InState("bound", expected.PodSet(P12, 2, 2))),
        ("bound: {p1: n}", expected.OnNode("bound", "default/p1", "n")),
        ("nominated: {p1: n}", expected.OnNode("nominated", "default/p1", "n")),
        ("gated: {exactly: 1, of: 'p[1-2]'}", expected.InState("gated", expected.PodSet(P12, 1, 1))),
        ("pending: {atLeast: 1, of: [p1, p2]}", expected.InState("pending", expected.PodSet(P12, 1, 2))),
        ("kept: {atMost: 1, of: [p1, p2]}", expected.InState("kept", expected.PodSet(P12, 0, 1))),
        ("victims: []", expected.InState("victims", expected.PodSet((), 0, 0))),
        ("together: {zone: [p1, p2]}", expected.Together("zone", None, P12)),
        ("within: {'zone=': [p1, p2]}", expected.Together("zone", "", P12)),
        ("conditions: {pg1: True/Scheduled}", expected.ConditionIs("default/pg1", "True/Scheduled")),
        ("conditions: {pg1: none}", expected.ConditionIs("default/pg1", None)),
        ("exists: [pod/p1]", expected.Exists(Ref("pod", "default/p1"), True)),
        ("absent: [workload/never]", expected.Exists(Ref("workload", "default/never"), False)),
        ("rejected: {pod/p1: text}", expected.Rejected(Ref("pod", "default/p1"), "text")),
    ],
)
def test_expectations(text: str, value: expected.Expectation) -> None:
    assert step(f"- expect: {{{text}}}\n").expectations == (value,)
    assert step(f"- possible: {{{text}}}\n").expectations == (value,)


def test_claims_and_what_they_are_made_from() -> None:
    asked = ClaimSpec((DeviceRequest("r", "d", 2),))
    assert created("{claims: [{name: c, deviceClass: d, count: 2}]}") == ResourceClaim(
        "default", "c", spec=asked
    )
    assert created("{claimTemplates: [{name: t, deviceClass: d, count: 2}]}") == ResourceClaimTemplate(
        "default", "t", spec=asked
    )


def test_an_allocated_claim_has_the_first_devices_that_nobody_has_and_is_protected() -> None:
    one, other = created(
        "{claims: [{name: a, deviceClass: d, count: 2, allocated: n}, {name: b, deviceClass: d, allocated: n}]}"
    )
    assert one.allocation.exclusive == ("d.example.com/n/d0", "d.example.com/n/d1")
    assert other.allocation.exclusive == ("d.example.com/n/d2",)
    assert one.finalizers == other.finalizers == ("resource.kubernetes.io/delete-protection",)
    (term,) = one.allocation.nodes.fields
    assert (term.key, term.operator, term.values) == ("metadata.name", "In", ("n",))


def test_a_device_class_comes_with_a_slice_of_devices_for_each_node() -> None:
    found, here = created("{deviceClasses: [{name: d, devices: {n: 2}}]}")
    assert found == DeviceClass("d", ("device.driver == 'd.example.com'",))
    assert here == ResourceSlice("d-n", "d.example.com", "n", (Device("d0"), Device("d1")), Reach(node="n"))


def test_expectations_about_claims() -> None:
    claim = "- create: {claims: [{name: c, deviceClass: d}]}\n"
    (reserved, allocated, free) = (
        step(f"{claim}- expect: {{reservedFor: {{c: [podGroup/pg1]}}, allocated: {{c: n}}}}\n").expectations
        + step(f"{claim}- expect: {{allocated: {{c: none}}}}\n").expectations
    )
    assert reserved == expected.ReservedFor("default/c", (Ref("podGroup", "default/pg1"),))
    assert (allocated, free) == (expected.Allocated("default/c", "n"), expected.Allocated("default/c", None))


def test_an_expectation_reads_as_it_was_written() -> None:
    texts = [
        "bound: [p1, p2]",
        "bound: {p1: n}",
        "gated: exactly 1 of [p1, p2]",
        "within: {zone=a: [p1]}",
        "together: {zone: [p1]}",
        "conditions: {pg1: none}",
        "exists: [pod/p1]",
    ]
    step_text = """- expect: {bound: [p1, p2], gated: {exactly: 1, of: [p1, p2]}, within: {zone=a: [p1]},
    together: {zone: [p1]}, conditions: {pg1: none}, exists: [pod/p1]}
- expect: {bound: {p1: n}}
"""
    steps = scenario(CREATE + step_text).steps[1:]
    assert {str(e) for s in steps for e in getattr(s, "expectations", ())} == set(texts)


def test_a_refusal_must_be_expected() -> None:
    text = "- create: {podGroups: [{name: bad, gang: 0}]}\n"
    found = scenario(text + "- expect: {rejected: {podGroup/bad: at least 1}}\n").steps[0]
    assert isinstance(found, doc.Create)
    (refused,) = found.objects
    assert isinstance(refused, Refused)
    assert refused.ref == Ref("podGroup", "default/bad")
    assert "at least 1 (API-33)" in refused.message
    with pytest.raises(InputError, match=r"gang: found 0, expected an integer of at least 1 \(API-33\)"):
        scenario(text)


def test_a_group_is_refused_where_groups_are_not_served() -> None:
    text = "- create: {podGroups: [{name: g, gang: 1}], pods: [{name: p, group: g}]}\n"
    head = "gates: {GenericWorkload: false, GangScheduling: false}\n"
    found = scenario(text + "- expect: {rejected: {podGroup/g: API-51}}\n", head).steps[0]
    assert isinstance(found, doc.Create)
    refused, pod = found.objects
    assert isinstance(refused, Refused)
    assert isinstance(pod, Pod)
    assert pod.scheduling_group is None
