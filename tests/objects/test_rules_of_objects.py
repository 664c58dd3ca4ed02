"""Immutable fields, deciding priority classes, label conditions, host ports."""

from typing import Any

import pytest
from attrs import evolve

from gangproof.impl.objects import (
    ControllerRef,
    Device,
    DeviceClass,
    HostPort,
    Job,
    LabelSelector,
    Node,
    Pod,
    PodGroup,
    PodGroupTemplate,
    PriorityClass,
    Reach,
    Requirement,
    ResourceSlice,
    Toleration,
    Workload,
)
from gangproof.impl.objects.changes import refused_changes
from gangproof.impl.objects.policy import NO_CLASS, deciding_class
from gangproof.impl.table import Table

POD = Pod("default", "p", scheduling_group="g", requests=Table({"cpu": 1}))
GROUP = PodGroup("default", "g", min_count=2)
JOB = Job("default", "j", POD, parallelism=2, completions=2, indexed=True)
HIGH = PriorityClass("high", 10)
SLICE = ResourceSlice("s", "d", "p", reach=Reach("n"))
WORKLOAD = Workload("default", "w", pod_group_templates=(PodGroupTemplate("t"),))


@pytest.mark.parametrize(
    ("old", "change", "rule"),
    [
        (GROUP, {"min_count": 3}, "API-33"),
        (GROUP, {"min_count": None}, "API-33"),
        (GROUP, {"topology_keys": ("zone",)}, "API-34"),
        (GROUP, {"disruption_mode": "PodGroup"}, "API-37"),
        (GROUP, {"priority_class_name": "x"}, "API-38"),
        (GROUP, {"priority": 1}, "API-39"),
        (GROUP, {"workload_name": "w"}, "API-31"),
        (WORKLOAD, {"controller_ref": ControllerRef("Job", "j")}, "API-11"),
        (WORKLOAD, {"pod_group_templates": ()}, "API-12"),
        (POD, {"scheduling_group": None}, "API-47"),
        (POD, {"scheduling_group": "other"}, "API-47"),
        (evolve(POD, scheduling_group=None), {"scheduling_group": "g"}, "API-47"),
        (evolve(POD, scheduling_gates=("a",)), {"scheduling_group": "x"}, "API-47"),
        (JOB, {"managed_elsewhere": True}, "core"),
        (JOB, {"indexed": False}, "core"),
        (JOB, {"completions": 3}, "core"),
        (JOB, {"template": evolve(POD, priority=1)}, "core"),
        (
            evolve(JOB, suspend=True, started=True),
            {"template": evolve(POD, node_selector=Table({"a": "b"}))},
            "core",
        ),
        (POD, {"requests": Table({"cpu": 2})}, "core"),
        (HIGH, {"value": 11}, "core"),
        (HIGH, {"preemption_policy": "Never"}, "core"),
        (SLICE, {"pool": "q"}, "core"),
        (SLICE, {"driver": "e"}, "core"),
        (SLICE, {"reach": Reach("m")}, "core"),
        (POD, {"scheduling_gates": ("a",)}, "core"),
        (POD, {"node_selector": Table({"a": "b"})}, "core"),
        (evolve(POD, tolerations=(Toleration("a"),)), {"tolerations": ()}, "core"),
    ],
)
def test_refused(old: Any, change: dict[str, Any], rule: str) -> None:
    (message,) = refused_changes(old, evolve(old, **change))
    assert f"({rule})" in message


@pytest.mark.parametrize(
    ("old", "change"),
    [
        (GROUP, {"labels": Table({"a": "b"})}),
        (HIGH, {"global_default": True}),
        (SLICE, {"generation": 2, "slice_count": 2, "devices": (Device("d"),)}),
        (DeviceClass("d"), {"selectors": ("true",)}),
        (Node("n", Table()), {"unschedulable": True}),
        (JOB, {"completions": 3, "parallelism": 3}),
        (evolve(JOB, suspend=True), {"template": evolve(POD, node_selector=Table({"a": "b"}))}),
        (GROUP, {"finalizers": ()}),
        (GROUP, {"terminating": True}),
        (WORKLOAD, {"labels": Table({"a": "b"})}),
        (POD, {"labels": Table({"a": "b"})}),
        (POD, {"node_name": "n"}),
        (POD, {"tolerations": (Toleration("a"),)}),
        (evolve(POD, scheduling_gates=("a", "b")), {"scheduling_gates": ("b",)}),
        (evolve(POD, scheduling_gates=("a",)), {"node_selector": Table({"a": "b"})}),
    ],
)
def test_allowed(old: Any, change: dict[str, Any]) -> None:
    assert refused_changes(old, evolve(old, **change)) == ()


def test_an_object_does_not_change_its_kind() -> None:
    with pytest.raises(TypeError):
        refused_changes(POD, GROUP)


def test_the_named_class_decides() -> None:
    high = PriorityClass("high", 10)
    assert deciding_class("high", [high, PriorityClass("default", 3, global_default=True)]) == high
    assert deciding_class("absent", [high]) is None


def test_of_several_defaults_the_lowest_decides() -> None:
    classes = [PriorityClass("b", 5, global_default=True), PriorityClass("a", 3, global_default=True)]
    assert deciding_class("", classes) == classes[1]
    assert deciding_class("", [PriorityClass("x", 9)]) == NO_CLASS


def test_the_system_classes_are_always_there() -> None:
    found = deciding_class("system-node-critical", [])
    assert found is not None
    assert found.value == 2_000_001_000


@pytest.mark.parametrize(
    ("operator", "values", "labels", "matches"),
    [
        ("In", ("a", "b"), {"k": "a"}, True),
        ("In", ("a",), {}, False),
        ("NotIn", ("a",), {"k": "a"}, False),
        ("NotIn", ("a",), {}, True),
        ("Exists", (), {"k": ""}, True),
        ("Exists", (), {}, False),
        ("DoesNotExist", (), {}, True),
        ("DoesNotExist", (), {"k": "a"}, False),
        ("Gt", ("5",), {"k": "6"}, True),
        ("Gt", ("5",), {"k": "5"}, False),
        ("Gt", ("5",), {"k": "x"}, False),
        ("Gt", ("5",), {}, False),
        ("Lt", ("-1",), {"k": "-2"}, True),
        ("Lt", ("5",), {"k": "9" * 30}, False),
    ],
)
def test_conditions_on_labels(operator: Any, values: tuple[str, ...], labels: Any, matches: bool) -> None:
    assert Requirement("k", operator, values).matches(labels) is matches


def test_an_empty_selector_matches_all() -> None:
    assert LabelSelector().matches({})
    both = LabelSelector((Requirement("a", "Exists"), Requirement("b", "Exists")))
    assert not both.matches({"a": ""})


def test_host_ports_conflict() -> None:
    any_address = HostPort(80)
    assert any_address.conflicts(HostPort(80, ip="10.0.0.1"))
    assert not any_address.conflicts(HostPort(81))
    assert not any_address.conflicts(HostPort(80, protocol="UDP"))
    assert not HostPort(80, ip="10.0.0.1").conflicts(HostPort(80, ip="10.0.0.2"))
