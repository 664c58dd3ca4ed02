"""What a scenario or a set of objects needs from whoever runs it, so that nothing passes by being ignored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gangproof.impl.gates import NEEDS, FeatureGates
from gangproof.impl.objects import (
    DeviceClass,
    Job,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Workload,
)
from gangproof.impl.store import OF_CLAIMS
from gangproof.properties.scenarios.document import (
    Advance,
    Attempt,
    CatchUp,
    Create,
    Delete,
    Fail,
    Finish,
    Flush,
    Hold,
    Lag,
    Release,
    Restart,
    Scenario,
    Step,
    Update,
    View,
)
from gangproof.properties.scenarios.records import (
    Created,
    Refused,
)

STEPS: dict[type, str] = {
    Advance: "advance",
    CatchUp: "lag",
    Fail: "fail",
    Flush: "flush",
    Hold: "hold",
    Lag: "lag",
    Release: "hold",
    Restart: "restart",
    Update: "update",
}
KINDS: dict[type, str] = {
    DeviceClass: "claims",
    Job: "jobs",
    PodDisruptionBudget: "pdb",
    PriorityClass: "priority classes",
    Refused: "refusal",
    ResourceClaim: "claims",
    ResourceClaimTemplate: "claims",
    ResourceSlice: "claims",
    Workload: "workloads",
}
ALL_FEATURES: frozenset[str] = frozenset(
    {
        *STEPS.values(),
        *KINDS.values(),
        *NEEDS,
        "GenericWorkload off",
        "GangScheduling off",
        "SchedulerPopFromBackoffQ off",
        "SchedulerAsyncPreemption off",
        "affinity",
        "anti-affinity",
        "basic policy",
        "crash",
        "during",
        "finalizers",
        "finish",
        "fixed scores",
        "foreign scheduler",
        "gang policy",
        "grace",
        "host ports",
        "lagging claims",
        "may preempt",
        "no backoff",
        "node affinity",
        "node removal",
        "node selector",
        "other backoff",
        "rank",
        "scheduling gates",
        "several profiles",
        "taints",
        "topology",
        "topology spread",
        "unschedulable nodes",
    }
) - {"GangScheduling"}


def object_features(item: Created) -> Iterator[str]:
    """The features that one object needs, out of `ALL_FEATURES`; some may come twice."""
    if type(item) in KINDS:
        yield KINDS[type(item)]
    if isinstance(item, Pod):
        yield from _pod_features(item)
    elif isinstance(item, Job):
        yield from _pod_features(item.template)
    elif isinstance(item, PodGroup):
        yield "gang policy" if item.gang else "basic policy"
        if item.topology_keys is not None:
            yield "topology"
        if item.resource_claims:
            yield "claims"
    elif isinstance(item, Node):
        if item.taints:
            yield "taints"
        if item.unschedulable:
            yield "unschedulable nodes"


def _pod_features(pod: Pod) -> Iterator[str]:
    used: tuple[tuple[str, object], ...] = (
        ("node selector", pod.node_selector),
        ("taints", pod.tolerations),
        ("node affinity", pod.node_affinity.required is not None or pod.node_affinity.preferred),
        ("affinity", pod.pod_affinity.required or pod.pod_affinity.preferred),
        ("anti-affinity", pod.pod_anti_affinity.required or pod.pod_anti_affinity.preferred),
        ("topology spread", pod.topology_spread_constraints),
        ("host ports", pod.host_ports),
        ("claims", pod.resource_claims),
        ("scheduling gates", pod.scheduling_gates),
        ("finalizers", pod.finalizers),
        ("grace", pod.termination_grace_period_seconds),
    )
    return (name for name, value in used if value)


def created(document: Scenario) -> tuple[Created, ...]:
    """Every object that the document creates, those created during an attempt included, in order."""
    return tuple(item for step in _all_steps(document) if isinstance(step, Create) for item in step.objects)


def _all_steps(document: Scenario) -> Iterator[Step]:
    for step in document.steps:
        yield step
        if isinstance(step, Attempt):
            yield from step.during


def features(document: Scenario) -> frozenset[str]:
    """The features that the document needs, out of `ALL_FEATURES`."""
    found: set[str] = set()
    options = document.scheduler
    for item in created(document):
        found.update(object_features(item))
        if isinstance(item, Pod) and item.scheduler_name not in options.profiles:
            found.add("foreign scheduler")
    for step in _all_steps(document):
        if type(step) in STEPS:
            found.add(STEPS[type(step)])
        if isinstance(step, Lag | CatchUp) and any(_of_claims(view) for view in step.views):
            found.add("lagging claims")
        if isinstance(step, Attempt) and step.during:
            found.add("during")
        elif isinstance(step, Finish):
            found.add("finish" if step.phase == "Succeeded" else "crash")
        elif isinstance(step, Delete) and any(ref.kind == "node" for ref in step.objects):
            found.add("node removal")
    found.update(_gate_features(document.gates))
    if options.node_scores is not None:
        found.add("fixed scores")
    if options.rank:
        found.add("rank")
    if (options.backoff_initial, options.backoff_max) != (1000, 10000):
        found.add("no backoff" if options.backoff_max == 0 else "other backoff")
    if len(options.profiles) > 1:
        found.add("several profiles")
    if may_preempt(document):
        found.add("may preempt")
    return frozenset(found)


def _of_claims(view: View) -> bool:
    return view.component == "claim-controller" or view.kind in OF_CLAIMS


def _gate_features(gates: FeatureGates) -> Iterator[str]:
    for gate in NEEDS:
        if gate != "GangScheduling" and gates.enabled(gate):
            yield gate
    for gate in ("GenericWorkload", "GangScheduling", "SchedulerPopFromBackoffQ", "SchedulerAsyncPreemption"):
        if not gates.enabled(gate):
            yield f"{gate} off"


def may_preempt(document: Scenario) -> bool:
    """Whether a waiting pod or group may find a pod of lower priority to evict; true if in doubt.

    With WorkloadAwarePreemption on a member counts with its own and with its group's priority, the higher as
    preemptor and the lower as victim (PREEMPT-06, PREEMPT-12, PREEMPT-20); a priority class not resolved
    yet counts with every value that the document gives it.
    """
    waiting: list[int] = []
    victims: list[int] = []
    objects = created(document)
    updates = [step for step in _all_steps(document) if isinstance(step, Update)]
    classes = [item for item in objects if isinstance(item, PriorityClass)]
    groups = [item for item in objects if isinstance(item, PodGroup)]
    pods = [item for item in objects if isinstance(item, Pod)]
    pods += [item.template for item in objects if isinstance(item, Job)]
    for pod in pods:
        levels = _levels(pod.priority, pod.priority_class_name, classes)
        if document.gates.workload_aware_preemption:
            mine = [group for group in groups if group.key == pod.group]
            for group in mine:
                levels += _levels(group.priority, group.priority_class_name, classes)
            if pod.group is not None and not mine:
                levels.append(0)
        victims.append(min(levels))
        if pod.node_name is None and _may_ask(pod, classes):
            waiting.append(max(levels))
    for change in (change for step in updates for change in step.changes):
        priority = change.values.get("priority")
        if isinstance(priority, int):
            waiting.append(priority)
            victims.append(priority)
    return bool(waiting) and min(victims) < max(waiting)


def _may_ask(pod: Pod, classes: Iterable[PriorityClass]) -> bool:
    if pod.preemption_policy == "PreemptLowerPriority":
        return True
    return any(c.name == pod.priority_class_name and c.preemption_policy != "Never" for c in classes)


def _levels(priority: int, class_name: str, classes: Iterable[PriorityClass]) -> list[int]:
    if class_name:
        return [priority, *(c.value for c in classes if c.name == class_name)]
    if priority:
        return [priority]
    return [0, *(c.value for c in classes if c.global_default)]
