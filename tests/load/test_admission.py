"""What admission does to manifests: priorities by class, references, warnings (SEMANTICS 2.2, 2.3)."""

from typing import Any

import pytest
from written import GROUP, load, node, pod, priority_class, problem, stored, with_spec, workload

from gangproof.impl.objects import Pod, PodGroup, PriorityClass


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
    leaving = stored(workload(deletionTimestamp="2026-01-01T00:00:00Z"))
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
