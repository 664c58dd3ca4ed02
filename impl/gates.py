"""Feature gates: which parts of the machinery are on (API-01, API-02, §0.4).

A gate decides which fields the API server keeps and which plugins run. Six gates belong to the PodGroup
machinery; two older ones are here because the scheduling queue and the preemption read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from attrs import evolve, fields, frozen

from gangproof.impl.objects import (
    DeviceClass,
    Job,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PodGroupTemplate,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Workload,
)

Object = (
    DeviceClass
    | Job
    | Node
    | Pod
    | PodDisruptionBudget
    | PodGroup
    | PriorityClass
    | ResourceClaim
    | ResourceClaimTemplate
    | ResourceSlice
    | Workload
)
CLUSTER_WIDE = (DeviceClass, Node, PriorityClass, ResourceSlice)
"""The kinds that have neither namespace nor uid here."""

NAMES: Mapping[str, str] = {
    "GenericWorkload": "generic_workload",
    "GangScheduling": "gang_scheduling",
    "TopologyAwareWorkloadScheduling": "topology_aware_workload_scheduling",
    "WorkloadAwarePreemption": "workload_aware_preemption",
    "DRAWorkloadResourceClaims": "dra_workload_resource_claims",
    "WorkloadWithJob": "workload_with_job",
    "SchedulerPopFromBackoffQ": "scheduler_pop_from_backoff_q",
    "SchedulerAsyncPreemption": "scheduler_async_preemption",
}
NEEDS: Mapping[str, str] = {
    "GangScheduling": "GenericWorkload",
    "TopologyAwareWorkloadScheduling": "GenericWorkload",
    "WorkloadAwarePreemption": "GangScheduling",
    "DRAWorkloadResourceClaims": "GenericWorkload",
    "WorkloadWithJob": "GenericWorkload",
}


@frozen(cache_hash=True)
class FeatureGates:
    """The gates of one cluster; by default as in v1.36, where the six alpha ones are off (API-01)."""

    generic_workload: bool = False
    gang_scheduling: bool = False
    topology_aware_workload_scheduling: bool = False
    workload_aware_preemption: bool = False
    dra_workload_resource_claims: bool = False
    workload_with_job: bool = False
    scheduler_pop_from_backoff_q: bool = True
    scheduler_async_preemption: bool = True

    def enabled(self, name: str) -> bool:
        """Whether the gate of this Kubernetes name is on; KeyError if there is no such gate."""
        return bool(getattr(self, NAMES[name]))

    @property
    def on(self) -> tuple[str, ...]:
        """The Kubernetes names of the gates that are on, sorted."""
        return tuple(sorted(name for name in NAMES if self.enabled(name)))

    def switched(self, changes: Mapping[str, bool]) -> FeatureGates:
        """These gates with some, by Kubernetes name, switched on or off; KeyError for an unknown name."""
        return evolve(self, **{NAMES[name]: on for name, on in changes.items()})

    def unmet(self) -> tuple[tuple[str, str], ...]:
        """The pairs (gate that is on, gate it needs that is off), in the order of API-02."""
        return tuple(
            (gate, need) for gate, need in NEEDS.items() if self.enabled(gate) and not self.enabled(need)
        )

    def __str__(self) -> str:
        """The gates that differ from the defaults, as `--feature-gates` takes them."""
        plain = FeatureGates()
        return ",".join(
            f"{name}={'true' if self.enabled(name) else 'false'}"
            for name in NAMES
            if self.enabled(name) != plain.enabled(name)
        )


# What a scenario starts from.
SCENARIO_GATES = FeatureGates(generic_workload=True, gang_scheduling=True)
assert tuple(NAMES.values()) == tuple(field.name for field in fields(FeatureGates))


def _uses(policy: PodGroup | PodGroupTemplate) -> Iterable[str]:
    yield "GenericWorkload"
    if policy.min_count is not None:
        yield "GangScheduling"
    if policy.topology_keys is not None:
        yield "TopologyAwareWorkloadScheduling"
    if policy.resource_claims:
        yield "DRAWorkloadResourceClaims"
    mode = policy.disruption_mode
    default = "Pod" if isinstance(policy, PodGroup) else None
    if mode != default or policy.priority or policy.priority_class_name:
        yield "WorkloadAwarePreemption"


def gates_needed(objects: Iterable[Object], also: Iterable[str] = ()) -> FeatureGates:
    """The least set of gates, closed under API-02, that keeps every field (API-51 to API-54).

    A Job that has the shape of a gang asks for one (API-08, CTRL-01). `also` names gates that must be on whatever
    the objects say.
    """
    needed: set[str] = set(also)
    for item in objects:
        if isinstance(item, PodGroup):
            needed.update(_uses(item))
        elif isinstance(item, Workload):
            needed.add("GenericWorkload")
            for template in item.pod_group_templates:
                needed.update(_uses(template))
        elif isinstance(item, Job) and item.asks_for_a_gang:
            needed.update(("WorkloadWithJob", "GangScheduling"))
        elif isinstance(item, (Job, Pod)):
            pod = item.template if isinstance(item, Job) else item
            if pod.scheduling_group is not None:
                needed.add("GenericWorkload")
    # A gate's prerequisite stands before it in NAMES, so one pass from the end closes the set.
    for gate in reversed(tuple(NEEDS)):
        if gate in needed:
            needed.add(NEEDS[gate])
    return FeatureGates().switched({gate: gate in needed for gate in (*NEEDS, "GenericWorkload")})


def keep_enabled(item: Object, gates: FeatureGates) -> Object:
    """The object as the API server stores it when it is created: without the fields of gates that are off.

    API-51 for pods and their templates, API-52 to API-54 for PodGroups and Workloads; `served` tells whether it
    is stored at all.
    """
    if isinstance(item, Pod):
        return item if gates.generic_workload else evolve(item, scheduling_group=None)
    if isinstance(item, Job):
        kept = keep_enabled(item.template, gates)
        return item if kept is item.template else evolve(item, template=kept)
    if isinstance(item, PodGroup):
        return _without(item, gates, "Pod")
    if isinstance(item, Workload):
        templates = tuple(_without(template, gates, None) for template in item.pod_group_templates)
        return evolve(item, pod_group_templates=templates)
    return item


def served(item: Object, gates: FeatureGates) -> bool:
    """Whether the API server knows the object's kind (API-03)."""
    return gates.generic_workload or not isinstance(item, (PodGroup, Workload))


P = TypeVar("P", PodGroup, PodGroupTemplate)


def _without(policy: P, gates: FeatureGates, mode: str | None) -> P:
    dropped: dict[str, object] = {}
    if not gates.topology_aware_workload_scheduling:
        dropped["topology_keys"] = None
    if not gates.workload_aware_preemption:
        unset = None if mode is None else 0
        dropped.update(disruption_mode=mode, priority_class_name="", priority=unset)
    if not gates.dra_workload_resource_claims:
        dropped["resource_claims"] = ()
    return evolve(policy, **dropped)
