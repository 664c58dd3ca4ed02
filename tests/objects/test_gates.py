"""Feature gates: defaults, dependencies, what they keep (API-01, API-02, API-51 to API-54)."""

import pytest
from attrs import evolve

from gangproof.impl.gates import (
    NAMES,
    NEEDS,
    SCENARIO_GATES,
    FeatureGates,
    gates_needed,
    keep_enabled,
    served,
)
from gangproof.impl.objects import Node, Pod, PodGroup, PodGroupClaim, PodGroupTemplate, Workload
from gangproof.impl.table import Table

CLAIMS = (PodGroupClaim("c", "claim"),)
FULL = PodGroup(
    "default",
    "g",
    min_count=2,
    priority=5,
    priority_class_name="high",
    disruption_mode="PodGroup",
    topology_keys=("zone",),
    resource_claims=CLAIMS,
)
ALL_ON = FeatureGates().switched(dict.fromkeys(NAMES, True))
GROUP_GATES = ("GenericWorkload", *NEEDS)


def test_the_six_group_gates_are_off_by_default() -> None:
    assert len(GROUP_GATES) == 6
    assert not any(FeatureGates().enabled(gate) for gate in GROUP_GATES)


def test_scenarios_start_with_gangs() -> None:
    assert SCENARIO_GATES.on == (
        "GangScheduling",
        "GenericWorkload",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
    )


@pytest.mark.parametrize(("gate", "need"), sorted(NEEDS.items()))
def test_no_gate_without_what_it_needs(gate: str, need: str) -> None:
    assert (gate, need) in ALL_ON.switched({need: False}).unmet()
    assert ALL_ON.unmet() == ()


def test_a_gate_is_known_by_its_kubernetes_name() -> None:
    with pytest.raises(KeyError):
        FeatureGates().enabled("Nonsense")


PLAIN = PodGroup("default", "g")


@pytest.mark.parametrize(
    ("item", "gates"),
    [
        (Node("n", Table()), ()),
        (Pod("default", "p"), ()),
        (Pod("default", "p", scheduling_group="g"), ("GenericWorkload",)),
        (PLAIN, ("GenericWorkload",)),
        (Workload("default", "w"), ("GenericWorkload",)),
        (evolve(PLAIN, min_count=1), ("GangScheduling", "GenericWorkload")),
        (evolve(PLAIN, topology_keys=()), ("GenericWorkload", "TopologyAwareWorkloadScheduling")),
        (evolve(PLAIN, resource_claims=CLAIMS), ("DRAWorkloadResourceClaims", "GenericWorkload")),
        (evolve(PLAIN, priority=1), ("GangScheduling", "GenericWorkload", "WorkloadAwarePreemption")),
        (
            evolve(PLAIN, disruption_mode="PodGroup"),
            ("GangScheduling", "GenericWorkload", "WorkloadAwarePreemption"),
        ),
        (
            Workload("default", "w", pod_group_templates=(PodGroupTemplate("t", disruption_mode="Pod"),)),
            ("GangScheduling", "GenericWorkload", "WorkloadAwarePreemption"),
        ),
    ],
)
def test_the_least_gates_that_keep_every_field(item: Pod, gates: tuple[str, ...]) -> None:
    needed = gates_needed([item])
    assert tuple(gate for gate in needed.on if gate in GROUP_GATES) == gates
    assert needed.unmet() == ()
    assert keep_enabled(item, needed) == item
    assert served(item, needed)


@pytest.mark.parametrize(
    ("gate", "kept"),
    [
        ("TopologyAwareWorkloadScheduling", evolve(FULL, topology_keys=None)),
        ("DRAWorkloadResourceClaims", evolve(FULL, resource_claims=())),
        (
            "WorkloadAwarePreemption",
            evolve(FULL, priority=0, priority_class_name="", disruption_mode="Pod"),
        ),
        ("GangScheduling", FULL),
        ("WorkloadWithJob", FULL),
    ],
)
def test_a_gate_that_is_off_drops_its_fields(gate: str, kept: PodGroup) -> None:
    assert keep_enabled(FULL, ALL_ON) == FULL
    assert keep_enabled(FULL, ALL_ON.switched({gate: False})) == kept


def test_templates_lose_the_same_fields() -> None:
    template = PodGroupTemplate(
        "t", topology_keys=("zone",), resource_claims=CLAIMS, disruption_mode="Pod", priority=1
    )
    workload = Workload("default", "w", pod_group_templates=(template,))
    off = FeatureGates(generic_workload=True)
    assert keep_enabled(workload, off) == evolve(workload, pod_group_templates=(PodGroupTemplate("t"),))


def test_without_generic_workload_pods_lose_their_group_and_groups_are_not_served() -> None:
    pod = Pod("default", "p", scheduling_group="g")
    assert keep_enabled(pod, FeatureGates()) == Pod("default", "p")
    assert not served(FULL, FeatureGates())
    assert served(pod, FeatureGates())


def test_gates_read_as_on_the_command_line() -> None:
    assert str(FeatureGates()) == ""
    assert str(FeatureGates(generic_workload=True, scheduler_pop_from_backoff_q=False)) == (
        "GenericWorkload=true,SchedulerPopFromBackoffQ=false"
    )
