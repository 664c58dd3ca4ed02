"""A scenario as text: the document that, read again, denotes the same scenario.

Counterexamples are handed on as scenario files, so whatever finds one must be able to write one. What the
shorthand cannot say is a `NotWritableError`, never left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from gangproof.impl.gates import NAMES, SCENARIO_GATES
from gangproof.impl.objects import Bound, Node, Pod, PodDisruptionBudget, PodGroup, PriorityClass
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.properties.scenarios.document import (
    Advance,
    Attempt,
    Create,
    Delete,
    Expect,
    Fail,
    Finish,
    Flush,
    Hold,
    Possible,
    Release,
    Scenario,
    SchedulerOptions,
    Settle,
    Step,
)
from gangproof.properties.scenarios.expectations import (
    ConditionIs,
    Exists,
    Expectation,
    InState,
    OnNode,
    PodSet,
    Rejected,
    Together,
)
from gangproof.properties.scenarios.features import object_features
from gangproof.properties.scenarios.judge import short
from gangproof.properties.scenarios.records import Created

HOSTNAME = "kubernetes.io/hostname"
UNSAYABLE = frozenset(
    {"affinity", "anti-affinity", "claims", "host ports", "node affinity", "topology spread"}
)
"""Features of objects that are not written in the shorthand."""


class NotWritableError(ValueError):
    """The scenario has something that the shorthand, as written here, cannot say."""


def dumps(scenario: Scenario) -> str:
    """The scenario as one YAML document. Raises NotWritableError."""
    document: dict[str, Any] = {"scenario": scenario.id}
    if scenario.title:
        document["title"] = scenario.title
    if scenario.profile is not None:
        document["profile"] = scenario.profile
    gates = {
        name: scenario.gates.enabled(name)
        for name in NAMES
        if scenario.gates.enabled(name) != SCENARIO_GATES.enabled(name)
    }
    if gates:
        document["gates"] = gates
    options = _options(scenario.scheduler)
    if options:
        document["scheduler"] = options
    document["steps"] = [written for step in scenario.steps for written in _step(step)]
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def _options(options: SchedulerOptions) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if options.node_scores is not None:
        found["nodeScores"] = dict(options.node_scores)
    if options.rank:
        found["scores"] = "rank"
    if (options.backoff_initial, options.backoff_max) != (1000, 10000):
        found["backoff"] = {
            "initial": f"{options.backoff_initial}ms",
            "max": f"{options.backoff_max}ms",
        }
    if options.profiles != ("default-scheduler",):
        found["profiles"] = list(options.profiles)
    return found


def _step(step: Step) -> Iterator[dict[str, Any]]:
    match step:
        case Create(objects=objects):
            yield from ({"create": kinds} for kinds in _creations(objects))
        case Delete(objects=refs):
            yield {"delete": [str(ref) for ref in refs]}
        case Finish(pods=pods, phase=phase):
            name = "finish" if phase == "Succeeded" else "crash"
            yield {name: [f"pod/{short(pod)}" for pod in pods]}
        case Settle():
            yield {"settle": True}
        case Expect(expectations=expectations):
            yield from ({"expect": dict([_expectation(e)])} for e in expectations)
        case Possible(expectations=expectations):
            yield {"possible": _possible(expectations)}
        case Attempt(entity=entity, result=result, during=during):
            kind = "pod" if entity.kind == "pod" else "group"
            attempt: dict[str, Any] = {kind: short(entity.key), "result": result}
            if during:
                attempt["during"] = [written for inner in during for written in _step(inner)]
            yield {"attempt": attempt}
        case Hold(calls=calls):
            yield {"hold": [str(call) for call in calls]}
        case Release(calls=calls):
            yield {"release": [str(call) for call in calls]}
        case Fail(calls=calls):
            yield {"fail": [str(call) for call in calls]}
        case Flush():
            yield {"flush": True}
        case Advance(milliseconds=passed):
            yield {"advance": f"{passed}ms"}
        case _:
            raise NotWritableError(f"the step {type(step).__name__} is not written")


def _creations(objects: Iterable[Created]) -> Iterator[dict[str, list[Any]]]:
    """The objects by kind; a kind that comes again after another one begins a new step, to keep the order."""
    kinds: dict[str, list[Any]] = {}
    last = ""
    for obj in objects:
        kind, written = _object(obj)
        if kind != last and kind in kinds:
            yield kinds
            kinds = {}
        kinds.setdefault(kind, []).append(written)
        last = kind
    if kinds:
        yield kinds


def _object(obj: Created) -> tuple[str, dict[str, Any]]:
    unsayable = sorted(UNSAYABLE & set(object_features(obj)))
    if unsayable:
        raise NotWritableError(f"an object uses {', '.join(unsayable)}")
    match obj:
        case Node():
            return "nodes", _node(obj)
        case PodGroup():
            return "podGroups", _group(obj)
        case Pod():
            return "pods", _pod(obj)
        case PodDisruptionBudget():
            return "pdbs", _budget(obj)
        case PriorityClass():
            return "priorityClasses", _set(name=obj.name, value=obj.value, globalDefault=obj.global_default)
        case _:
            raise NotWritableError(f"objects of the kind {type(obj).__name__} are not written")


def _set(**fields: Any) -> dict[str, Any]:
    """The fields that have a value; zeros, empty collections and False are the defaults of the shorthand."""
    return {name: value for name, value in fields.items() if value not in (None, False, "", 0, [], {})}


def _identity(namespace: str, name: str) -> dict[str, Any]:
    return {"name": name} if namespace == "default" else {"name": name, "namespace": namespace}


def _cpu(milli: int) -> int | str:
    return f"{milli}m" if milli % 1000 else milli // 1000


def _bytes(amount: int) -> int | str:
    for unit, size in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if amount and not amount % size:
            return f"{amount // size}{unit}"
    return amount


def _quantities(amounts: dict[str, int]) -> dict[str, Any]:
    """The keys cpu, memory, extended of the shorthand; zeros are kept where they are said."""
    found: dict[str, Any] = {}
    if "cpu" in amounts:
        found["cpu"] = _cpu(amounts["cpu"])
    if "memory" in amounts:
        found["memory"] = _bytes(amounts["memory"])
    extended = {name: n for name, n in amounts.items() if name not in ("cpu", "memory", "pods")}
    if extended:
        found["extended"] = extended
    return found


def _node(node: Node) -> dict[str, Any]:
    labels = {key: value for key, value in node.labels.items() if (key, value) != (HOSTNAME, node.name)}
    taints = [_set(key=t.key, value=t.value, effect=t.effect) for t in node.taints]
    return {
        "name": node.name,
        **_quantities(dict(node.allocatable)),
        **({"pods": node.allocatable["pods"]} if node.allocatable.get("pods", 110) != 110 else {}),
        **_set(labels=labels, taints=taints, unschedulable=node.unschedulable),
    }


def _group(group: PodGroup) -> dict[str, Any]:
    if group.terminating or len(group.topology_keys or ()) > 1:
        raise NotWritableError(f"PodGroup {group.key} is not written")
    policy: dict[str, Any] = {"gang": group.min_count} if group.gang else {"basic": True}
    topology = group.topology_keys[0] if group.topology_keys else None
    mode = group.disruption_mode if group.disruption_mode != "Pod" else None
    finalizers = list(group.finalizers) if group.finalizers != (PROTECTION_FINALIZER,) else None
    template = f"{group.workload_name}/{group.pod_group_template_name}" if group.workload_name else None
    return {
        **_identity(group.namespace, group.name),
        **policy,
        **_set(
            priority=group.priority,
            priorityClass=group.priority_class_name,
            disruptionMode=mode,
            topology=topology,
            template=template,
        ),
        **({} if finalizers is None else {"finalizers": finalizers}),
    }


def _pod(pod: Pod) -> dict[str, Any]:
    if pod.terminating or pod.phase not in ("Pending", "Running"):
        raise NotWritableError(f"pod {pod.key} is not as it was created")
    tolerations = [
        _set(key=t.key, operator=t.operator, value=t.value, effect=t.effect) for t in pod.tolerations
    ]
    scheduler = pod.scheduler_name if pod.scheduler_name != "default-scheduler" else None
    policy = pod.preemption_policy if pod.preemption_policy == "Never" else None
    return {
        **_identity(pod.namespace, pod.name),
        **_set(group=pod.scheduling_group),
        **_quantities({name: amount for name, amount in pod.requests.items() if amount}),
        **_set(
            priority=pod.priority,
            priorityClass=pod.priority_class_name,
            node=pod.node_name,
            schedulerName=scheduler,
            labels=dict(pod.labels),
            nodeSelector=dict(pod.node_selector),
            tolerations=tolerations,
            gates=list(pod.scheduling_gates),
            preemptionPolicy=policy,
            finalizers=list(pod.finalizers),
        ),
        **({"started": pod.start_time} if pod.start_time is not None else {}),
        **({"grace": pod.termination_grace_period_seconds} if pod.termination_grace_period_seconds else {}),
    }


def _budget(budget: PodDisruptionBudget) -> dict[str, Any]:
    pairs = [(r.key, r.values) for r in budget.selector.requirements if r.operator == "In"]
    bounds = {"minAvailable": budget.min_available, "maxUnavailable": budget.max_unavailable}
    stated = budget.disruptions_allowed is not None or budget.disrupted_pods
    plain = len(dict(pairs)) == len(budget.selector.requirements) and all(len(v) == 1 for _, v in pairs)
    if stated or not plain or not any(bounds.values()):
        raise NotWritableError(f"PodDisruptionBudget {budget.key} is not written")
    return {
        **_identity(budget.namespace, budget.name),
        "selector": {key: value for key, (value,) in pairs},
        **{name: _bound(bound) for name, bound in bounds.items() if bound is not None},
    }


def _bound(bound: Bound) -> int | str:
    return str(bound) if bound.percent else bound.number


def _possible(expectations: Iterable[Expectation]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in map(_expectation, expectations):
        if name in found:
            raise NotWritableError(f"several expectations of {name} in one possible")
        found[name] = value
    return found


def _expectation(expectation: Expectation) -> tuple[str, Any]:
    match expectation:
        case InState(state=state, pods=pods):
            return state, _pods(pods)
        case OnNode(state=state, pod=pod, node=node):
            return state, {short(pod): node}
        case Together(label=label, value=None, pods=pods):
            return "together", {label: [short(pod) for pod in pods]}
        case Together(label=label, value=value, pods=pods):
            return "within", {f"{label}={value}": [short(pod) for pod in pods]}
        case ConditionIs(group=group, condition=condition):
            return "conditions", {short(group): condition or "none"}
        case Exists(ref=ref, exists=exists):
            return ("exists" if exists else "absent"), [str(ref)]
        case Rejected(ref=ref, text=text):
            return "rejected", {str(ref): text}
        case _:
            raise NotWritableError(f"the expectation {expectation} is not written")


def _pods(pods: PodSet) -> Any:
    names = [short(key) for key in pods.of]
    if pods.at_least == pods.at_most == len(names):
        return names
    if pods.at_least == pods.at_most:
        return {"exactly": pods.at_least, "of": names}
    bound = {"atLeast": pods.at_least} if pods.at_most == len(names) else {"atMost": pods.at_most}
    return {**bound, "of": names}
