"""Manifests and dumps: what is loaded, in which order, with which defaults, priorities, gates and warnings."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

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
    PriorityClass,
    Requirement,
    Toleration,
    Workload,
)
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.table import Table
from gangproof.load import Loaded, load_manifests, load_manifests_text

GROUP: dict[str, Any] = {
    "apiVersion": "scheduling.k8s.io/v1alpha2",
    "kind": "PodGroup",
    "metadata": {"name": "g"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}
STORED = {"uid": "1-2-3", "resourceVersion": "7"}


def pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def node(name: str = "n") -> dict[str, Any]:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"capacity": amounts}}


def priority_class(name: str, value: int, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **more,
    }


def workload(**more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "Workload",
        "metadata": {"name": "w", **more},
        "spec": {"podGroupTemplates": [{"name": "t", "schedulingPolicy": {"gang": {"minCount": 2}}}]},
    }


def with_spec(item: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {**item, "spec": {**item["spec"], **spec}}


def stored(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**item, "metadata": {**item["metadata"], **STORED, **more}}


def load(*items: dict[str, Any]) -> Loaded:
    return load_manifests_text(yaml.safe_dump_all(items))


def only(*items: dict[str, Any]) -> Any:
    (value,) = load(*items).objects
    return value


def problem(*items: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        load(*items)
    (found,) = caught.value.problems
    return found.field, found.rule


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
    status = {"conditions": [{"type": "PodGroupScheduled", "status": "True", "reason": "Scheduled"}]}
    assert only({**GROUP, "status": status}).condition is None
    assert only(stored({**GROUP, "status": status})).condition == Condition("True", "Scheduled")


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


def test_priorities_come_from_classes() -> None:
    high, low = priority_class("high", 10, preemptionPolicy="Never"), priority_class("low", 1)
    found = load(high, low, pod("a", priorityClassName="high"), pod("b")).objects
    assert [value.priority for value in found if isinstance(value, Pod)] == [10, 0]
    assert [value.preemption_policy for value in found if isinstance(value, Pod)] == [
        "Never",
        "PreemptLowerPriority",
    ]
    assert found[0] == PriorityClass("high", 10, preemption_policy="Never")


def test_of_several_global_defaults_the_lowest_gives_its_priority() -> None:
    classes = [priority_class("b", 7, globalDefault=True), priority_class("a", 3, globalDefault=True)]
    found = load(*classes, pod(), with_spec(GROUP, disruptionMode="PodGroup")).objects
    assert [(v.priority, v.priority_class_name) for v in found if isinstance(v, (Pod, PodGroup))] == [
        (3, "a")
    ] * 2


def test_without_its_gate_a_group_has_no_priority() -> None:
    found = load(priority_class("a", 3, globalDefault=True), GROUP)
    assert [value.priority for value in found.objects if isinstance(value, PodGroup)] == [0]
    assert not found.gates.workload_aware_preemption


def test_a_stated_priority_of_zero_shows_that_its_gate_is_on() -> None:
    assert load(with_spec(GROUP, priority=0)).gates.workload_aware_preemption


@pytest.mark.parametrize(
    ("items", "field", "rule"),
    [
        ([with_spec(GROUP, priorityClassName="x")], "spec.priorityClassName", "ADM-10"),
        ([with_spec(GROUP, priority=5)], "spec.priority", "ADM-11"),
        (
            [priority_class("high", 10), with_spec(GROUP, priorityClassName="high", priority=9)],
            "spec.priority",
            "ADM-11",
        ),
        (
            [with_spec(GROUP, priorityClassName="system-node-critical")],
            "spec.priorityClassName",
            "ADM-14",
        ),
        ([pod(priorityClassName="x")], "spec.priorityClassName", "ADM-15"),
        ([pod(priority=5)], "spec.priority", "ADM-11"),
        ([pod(preemptionPolicy="Never")], "spec.preemptionPolicy", "core"),
        ([pod(nodeName="absent")], "spec.nodeName", ""),
    ],
)
def test_what_admission_refuses(items: list[Any], field: str, rule: str) -> None:
    assert problem(*items) == (field, rule)


REFERENCE = {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}}
OTHER = {"workload": {"workloadName": "w", "podGroupTemplateName": "u"}}
PATH = "spec.podGroupTemplateRef.workload"


def test_references_to_workloads() -> None:
    group = with_spec(GROUP, podGroupTemplateRef=REFERENCE)
    assert len(load(group, workload()).objects) == 2
    assert problem(group) == (f"{PATH}.workloadName", "ADM-21")
    assert problem(group, workload(namespace="other")) == (f"{PATH}.workloadName", "ADM-21")
    leaving = workload(deletionTimestamp="2026-01-01T00:00:00Z")
    assert problem(group, leaving) == (f"{PATH}.workloadName", "ADM-22")
    other = with_spec(GROUP, podGroupTemplateRef=OTHER)
    assert problem(other, workload()) == (f"{PATH}.podGroupTemplateName", "ADM-23")
    assert len(load(stored(group)).objects) == 1


def test_a_dump_may_point_to_what_is_not_in_it() -> None:
    found = load(stored(pod(nodeName="absent", priority=3, schedulingGroup={"podGroupName": "absent"})))
    assert [warning.field for warning in found.warnings] == [
        "spec.schedulingGroup.podGroupName",
        "spec.nodeName",
    ]
    assert [value.priority for value in found.objects if isinstance(value, Pod)] == [3]


def test_a_pod_may_name_a_group_that_is_not_there() -> None:
    (warning,) = load(pod(schedulingGroup={"podGroupName": "absent"})).warnings
    assert (warning.rule, warning.line) == ("API-48", 10)


def test_a_node_without_room_is_a_warning() -> None:
    item = {**node(), "status": {}}
    assert len(load(item).warnings) == 3


def test_warnings_are_counted_beyond_twenty() -> None:
    found = load(*(pod(f"p{i}", schedulingGroup={"podGroupName": "absent"}) for i in range(25)))
    assert (len(found.warnings), found.more_warnings) == (20, 5)


def test_what_is_not_modelled_is_listed() -> None:
    claim = pod(
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}, {"name": "e", "emptyDir": {}}]
    )
    foreign = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "v"}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "team"}}
    plain = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}
    found = load(claim, foreign, job, plain, pod("q", resources={"requests": {"cpu": 1}}))
    assert [(u.kind, u.name, u.decisive) for u in found.unmodelled] == [
        ("Pod", "p", True),
        ("PodGroup", "v", True),
        ("Job", "team/j", True),
        ("ConfigMap", "m", False),
        ("Pod", "q", True),
    ]
    assert all(u.line > 0 and u.why for u in found.unmodelled)
    assert len(found.objects) == 2


def test_nothing_at_all() -> None:
    assert load_manifests_text("") == load_manifests_text("---\n---\n# nothing\n")
    assert load_manifests_text("").objects == ()
