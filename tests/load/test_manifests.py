"""Manifests and dumps: what is loaded, in which order, with which defaults, priorities, gates and warnings."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from attrs import evolve
from written import GROUP, load, node, only, pod, priority_class, stored, with_spec, workload

import gangproof
from gangproof.errors import InputError
from gangproof.impl.objects import (
    Condition,
    HostPort,
    LabelSelector,
    Node,
    NodeSelectorTerm,
    Pod,
    PodAffinityTerm,
    PodGroup,
    Requirement,
    Toleration,
    Workload,
)
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.table import Table
from gangproof.load import load_manifests, load_manifests_text


def test_a_group_with_every_field() -> None:
    group = {
        **GROUP,
        "metadata": {"name": "g", "namespace": "team", "labels": {"a": "b"}},
        "spec": {
            "podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
            "schedulingPolicy": {"gang": {"minCount": 3}},
            "schedulingConstraints": {"topology": [{"key": "zone"}]},
            "resourceClaims": [{"name": "c", "resourceClaimName": "claim"}],
            "disruptionMode": "PodGroup",
            "priorityClassName": "high",
        },
    }
    found = load(priority_class("high", 10), {**workload(namespace="team")}, group)
    assert found.objects[-1] == PodGroup(
        namespace="team",
        name="g",
        uid=3,
        labels=Table({"a": "b"}),
        min_count=3,
        priority=10,
        priority_class_name="high",
        disruption_mode="PodGroup",
        topology_keys=("zone",),
        resource_claims=found.objects[-1].resource_claims,  # type: ignore[union-attr]
        workload_name="w",
        pod_group_template_name="t",
        finalizers=(PROTECTION_FINALIZER,),
    )
    assert found.gates.on == (
        "DRAWorkloadResourceClaims",
        "GangScheduling",
        "GenericWorkload",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
        "TopologyAwareWorkloadScheduling",
        "WorkloadAwarePreemption",
    )


def test_defaults_of_a_group() -> None:
    group = only({**GROUP, "spec": {"schedulingPolicy": {"basic": {}}}})
    assert group == PodGroup("default", "g", uid=1)
    assert group.disruption_mode == "Pod"
    assert group.topology_keys is None


def test_an_empty_constraint_is_not_an_absent_one() -> None:
    assert only(with_spec(GROUP, schedulingConstraints={})).topology_keys == ()


def test_a_supplied_status_is_cleared_at_creation_and_kept_in_a_dump() -> None:
    claim = {"name": "c", "resourceClaimTemplateName": "t"}
    group = with_spec(GROUP, resourceClaims=[claim])
    group["status"] = {
        "conditions": [{"type": "PodGroupScheduled", "status": "True", "reason": "Scheduled"}],
        "resourceClaimStatuses": [{"name": "c", "resourceClaimName": "made"}],
    }
    new, old = only(group), only(stored(group))
    assert (new.condition, new.resource_claim_statuses) == (None, Table())
    assert (old.condition, old.resource_claim_statuses) == (
        Condition("True", "Scheduled"),
        Table({"c": "made"}),
    )


@pytest.mark.parametrize(
    ("metadata", "status", "field"),
    [
        ({}, {"phase": "Failed"}, "status"),
        ({}, {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}, "status"),
        ({}, {"nominatedNodeName": "n"}, "status"),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, {}, "metadata.deletionTimestamp"),
    ],
)
def test_a_pod_that_is_created_now_has_no_past(metadata: Any, status: Any, field: str) -> None:
    """ADM-01: as for all kinds; that something is left out is told, and a dump keeps it."""
    item = {**pod(), "status": status}
    item["metadata"] = {**item["metadata"], **metadata}
    found = load(item)
    assert evolve(found.objects[0], uid=0) == evolve(only(pod()), uid=0)
    assert [(warning.field, warning.rule) for warning in found.warnings] == [(field, "ADM-01")]
    assert load(stored(item)).warnings == ()
    assert evolve(only(stored(item)), uid=0) != evolve(only(stored(pod())), uid=0)


def test_the_protection_finalizer_is_added_at_creation_only() -> None:
    assert only(GROUP).finalizers == (PROTECTION_FINALIZER,)
    assert only(stored(GROUP)).finalizers == ()


def test_a_workload() -> None:
    found = only(workload())
    assert isinstance(found, Workload)
    assert [(t.name, t.min_count, t.disruption_mode) for t in found.pod_group_templates] == [("t", 2, None)]


def test_requests_of_a_pod() -> None:
    item = pod(
        containers=[
            {"name": "a", "resources": {"requests": {"cpu": "1500m"}, "limits": {"cpu": "3", "x.io/gpu": 1}}},
            {"name": "b", "resources": {"limits": {"memory": "1Ki"}}},
        ],
        initContainers=[
            {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": 1}}},
            {"name": "i", "resources": {"requests": {"memory": "4Ki"}}},
        ],
        overhead={"cpu": "250m"},
    )
    found = only(item)
    assert found.requests == Table({"cpu": 2750, "memory": 4096, "x.io/gpu": 1})
    assert found.scoring_requests["cpu"] == 1500 + 100 + 1000 + 250
    assert found.scoring_requests["memory"] == 2 * 209715200 + 1024


def test_where_a_pod_wants_to_be() -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {
            "matchLabels": {"b": "1"},
            "matchExpressions": [{"key": "a", "operator": "Exists"}],
        },
        "matchLabelKeys": ["rank", "absent"],
        "mismatchLabelKeys": ["app"],
    }
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    item = pod(
        nodeSelector={"disk": "ssd"},
        tolerations=[{"key": "k", "operator": "Exists", "tolerationSeconds": 3}, {"key": "q", "value": "v"}],
        affinity={
            "nodeAffinity": {
                required: {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "x", "operator": "In", "values": ["b", "a", "b"]}]},
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
                    ]
                }
            },
            "podAffinity": {required: [term]},
            "podAntiAffinity": {preferred: [{"weight": 7, "podAffinityTerm": {"topologyKey": "host"}}]},
        },
        topologySpreadConstraints=[
            {"topologyKey": "zone", "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
        ],
    )
    item["metadata"]["labels"] = {"rank": "3", "app": "x"}
    found = only(item)
    assert found.node_selector == Table({"disk": "ssd"})
    assert found.tolerations == (Toleration("k", "Exists"), Toleration("q", "Equal", "v"))
    assert found.node_affinity.required == (
        NodeSelectorTerm((Requirement("x", "In", ("a", "b")),)),
        NodeSelectorTerm((), (Requirement("metadata.name", "In", ("n",)),)),
    )
    assert found.pod_affinity.required == (
        PodAffinityTerm(
            "zone",
            LabelSelector(
                (
                    Requirement("b", "In", ("1",)),
                    Requirement("a", "Exists"),
                    Requirement("rank", "In", ("3",)),
                    Requirement("app", "NotIn", ("x",)),
                )
            ),
            ("default",),
        ),
    )
    (weighted,) = found.pod_anti_affinity.preferred
    assert (weighted.weight, weighted.term) == (7, PodAffinityTerm("host", None, ("default",)))
    (spread,) = found.topology_spread_constraints
    assert (spread.max_skew, spread.selector, spread.min_domains) == (2, LabelSelector(), 1)


def test_an_empty_namespace_selector_means_every_namespace() -> None:
    term = {"topologyKey": "zone", "namespaceSelector": {}}
    item = pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    (found,) = only(item).pod_affinity.required
    assert found.namespaces is None


def test_host_ports() -> None:
    ports = [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 53, "protocol": "UDP"}]
    containers = [{"name": "c", "ports": ports}]
    assert only(pod(containers=containers)).host_ports == (HostPort(8080),)
    assert only(pod(containers=containers, hostNetwork=True)).host_ports == (
        HostPort(8080),
        HostPort(53, "UDP"),
    )


def test_a_pod_of_a_dump() -> None:
    item = stored(pod(nodeName="n", priority=5, schedulingGates=[]), creationTimestamp="2026-01-01T00:00:00Z")
    item["metadata"].update(
        deletionTimestamp="2026-01-01T00:00:09Z",
        managedFields=[{"any": "thing"}],
        ownerReferences=[],
        generateName="p-",
        annotations={"a": "b"},
    )
    item["status"] = {
        "phase": "Running",
        "startTime": "1970-01-01T00:01:00Z",
        "qosClass": "Burstable",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
        "nominatedNodeName": "n",
    }
    found = load(item, node()).objects[0]
    assert isinstance(found, Pod)
    assert (found.node_name, found.priority, found.terminating, found.phase) == ("n", 5, True, "Running")
    assert (found.start_time, found.nominated_node_name) == (60, "n")
    assert found.unscheduled_reason == "Unschedulable"
    assert found.termination_grace_period_seconds == 30


def test_a_node() -> None:
    item = {
        **node(),
        "spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule", "timeAdded": "x"}]},
    }
    item["status"] = {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3900m", "memory": 1, "pods": 10}}
    found = only(item)
    assert isinstance(found, Node)
    assert found.allocatable == Table({"cpu": 3900, "memory": 1, "pods": 10})
    assert found.unschedulable
    assert [taint.key for taint in found.taints] == ["k"]


def test_dumped_objects_come_first_by_age_then_the_others_as_they_stand() -> None:
    items = (
        pod("new-b"),
        stored(pod("young"), creationTimestamp="2026-01-02T00:00:00Z"),
        pod("new-a"),
        stored(pod("old"), creationTimestamp="2026-01-01T00:00:00Z"),
    )
    found = load(*items).objects
    assert [value.name for value in found] == ["old", "young", "new-b", "new-a"]
    assert [value.uid for value in found if isinstance(value, Pod)] == [1, 2, 3, 4]


def test_the_same_in_json_in_yaml_in_a_list_and_in_a_typed_list(tmp_path: Path) -> None:
    items = [node(), GROUP, pod(schedulingGroup={"podGroupName": "g"})]
    expected = load(*items)
    bare = [
        {k: v for k, v in item.items() if k not in ("apiVersion", "kind")} for item in (pod("a"), pod("b"))
    ]
    pods = load_manifests_text(json.dumps({"apiVersion": "v1", "kind": "PodList", "items": bare}))
    assert [value.name for value in pods.objects] == ["a", "b"]
    whole = {"apiVersion": "v1", "kind": "List", "items": items}
    texts = (
        json.dumps(whole),
        json.dumps(whole, indent=2),
        yaml.safe_dump(whole),
        "\n".join(map(json.dumps, items)),
    )
    assert all(load_manifests_text(text).objects == expected.objects for text in texts)
    (tmp_path / "a.json").write_text(json.dumps(items[0]))
    (tmp_path / "b.yaml").write_text(yaml.safe_dump_all(items[1:]))
    (tmp_path / "c.scenario.yaml").write_text("scenario: not a manifest")
    (tmp_path / "README.md").write_text("neither")
    assert load_manifests(tmp_path.as_posix()).objects == expected.objects
    assert load_manifests([tmp_path / "a.json", tmp_path / "b.yaml"]).objects == expected.objects


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        buffer = io.BytesIO(yaml.safe_dump(GROUP).encode())

    monkeypatch.setattr("sys.stdin", Stream())
    assert [value.name for value in load_manifests("-").objects] == ["g"]


def test_what_is_not_modelled_is_listed() -> None:
    claim = pod(
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}, {"name": "e", "emptyDir": {}}]
    )
    foreign = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "v"}}
    job = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "j", "namespace": "team"}}
    plain = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}
    found = load(claim, foreign, job, plain, pod("q", resources={"requests": {"cpu": 1}}))
    assert [(u.kind, u.name, u.decisive) for u in found.unmodelled] == [
        ("Pod", "p", True),
        ("PodGroup", "v", True),
        ("CronJob", "team/j", True),
        ("ConfigMap", "m", False),
        ("Pod", "q", True),
    ]
    assert all(u.line > 0 and u.why for u in found.unmodelled)
    assert len(found.objects) == 2


def test_nothing_at_all() -> None:
    assert load_manifests_text("") == load_manifests_text("---\n---\n# nothing\n")
    assert load_manifests_text("").objects == ()


def test_one_name_twice_in_a_dump_in_two_files_or_beside_objects(tmp_path: Path) -> None:
    """An API server refuses the second create; which of the two is meant nobody can know."""
    pods = [{"metadata": {"name": name}, "spec": {"containers": [{"name": "c"}]}} for name in ("p", "q", "p")]
    dump = json.dumps({"apiVersion": "v1", "kind": "PodList", "items": pods}, indent=1)
    once = yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", **pods[0]})
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(once)
    second.write_text(once)
    with pytest.raises(InputError) as in_a_dump:
        load_manifests_text(dump, "dump.json")
    with pytest.raises(InputError) as in_two_files:
        gangproof.check([first, second])
    with pytest.raises(InputError) as beside:
        gangproof.check([first, load_manifests_text(once).objects[0]])
    lines = [n for n, line in enumerate(dump.splitlines(), 1) if '"name": "p"' in line]
    assert str(in_a_dump.value) == (
        f"dump.json:{lines[1]}: Pod p: metadata.name: found a second Pod default/p, expected each object once; "
        f"the first is in dump.json:{lines[0]}"
    )
    assert f"; the first is in {first}:" in str(in_two_files.value)
    assert str(in_two_files.value).startswith(f"{second}:")
    assert str(beside.value) == "<objects>: found a second Pod default/p, expected each object once"


def test_no_name_is_drawn_from_generate_name() -> None:
    spec = "{completionMode: Indexed, completions: 2}"
    text = f"apiVersion: batch/v1\nkind: Job\nmetadata: {{generateName: a-}}\nspec: {spec}"
    with pytest.raises(InputError) as refused:
        load_manifests_text(text, "job.yaml")
    about_the_name = [line for line in str(refused.value).splitlines() if "metadata.name" in line]
    assert len(about_the_name) == 1
    assert "generateName" in about_the_name[0]


def test_a_pod_that_never_had_a_node_has_not_succeeded() -> None:
    ended = stored(pod("p"))
    assert load({**ended, "status": {"phase": "Failed"}})
    with pytest.raises(InputError, match=r"status\.phase: found Succeeded on no node"):
        load({**ended, "status": {"phase": "Succeeded"}})
