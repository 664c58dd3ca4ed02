"""What lives in a random world: nodes, groups, pods and budgets, as whole Kubernetes objects.

Numbers are small on purpose: what is interesting happens where room is short and names meet. Most pods are plain
ones of one cpu; each further field is rare alone, so that a world shows one or two of them, not all at once.
"""

from __future__ import annotations

from random import Random
from typing import Any

from attrs import frozen

Object = dict[str, Any]

ZONES, RACKS, APPS = ("a", "b"), ("r1", "r2", "r3"), ("web", "db")
HOSTNAME, ZONE, RACK = "kubernetes.io/hostname", "zone", "rack"
GPU = "example.com/gpu"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
PROTECTION = "scheduling.k8s.io/podgroup-protection"


@frozen
class Habits:
    """What is drawn how often in one world: its features as shares from 0 to 1.

    `constraints` is how often a pod has each field that keeps it to certain nodes or away from other pods,
    `priorities` are those that pods may have, `never` tells how often a pod does not preempt, `gated` how often one
    has a scheduling gate, `graceful` how often one takes its time to end, `lasting` how often a finalizer holds it.
    `topology` is how often a group keeps to one domain, `ranked` how often it has a priority of its own, `claims` how
    often a group has a claim, and a pod that has no group's, `templates` how often it is made from a template.
    """

    constraints: float = 0.0
    priorities: tuple[int, ...] = (0,)
    never: float = 0.0
    gated: float = 0.0
    graceful: float = 0.0
    lasting: float = 0.0
    topology: float = 0.0
    ranked: float = 0.0
    claims: float = 0.0
    templates: float = 0.0
    resources: float = 0.0
    preferences: float = 0.0
    classes: tuple[str, ...] = ()


def chance(random: Random, share: float) -> bool:
    """Whether something happens that happens that often."""
    return random.random() < share


def node(random: Random, habits: Habits, name: str) -> Object:
    """A node; `kubernetes.io/hostname` is always its name."""
    labels = {HOSTNAME: name}
    if chance(random, 0.7):
        labels[ZONE] = random.choice(ZONES)
    if chance(random, 0.9 if habits.topology else 0.3):
        labels[RACK] = random.choice((*RACKS, "")) if chance(random, 0.15) else random.choice(RACKS[:2])
    spec: Object = {}
    if chance(random, habits.constraints):
        spec["taints"] = [taint(random)]
    if chance(random, habits.constraints / 3):
        spec["unschedulable"] = True
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        **({"spec": spec} if spec else {}),
        "status": {"capacity": room(random, habits)},
    }


def room(random: Random, habits: Habits) -> dict[str, str]:
    """What a node has."""
    capacity = {
        "cpu": str(random.choice((1, 2, 2, 3, 4))),
        "memory": random.choice(("1Gi", "4Gi")) if chance(random, habits.resources) else "64Gi",
        "pods": random.choice(("1", "2", "3")) if chance(random, habits.resources / 3) else "110",
    }
    if chance(random, habits.resources):
        capacity[GPU] = random.choice(("0", "1", "2"))
    return capacity


def taint(random: Random) -> Object:
    """A taint."""
    effect = random.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
    return {"key": random.choice(("dedicated", "spot")), "value": "yes", "effect": effect}


def group(random: Random, habits: Habits, name: str) -> Object:
    """A group, a gang more often than not."""
    minimum = random.choice((1, 2, 2, 2, 3, 3, 4))
    gang = {"gang": {"minCount": minimum}}
    spec: Object = {"schedulingPolicy": gang if chance(random, 0.7) else {"basic": {}}}
    if habits.topology and chance(random, 0.08):
        spec["schedulingConstraints"] = {}
    elif chance(random, habits.topology):
        spec["schedulingConstraints"] = {
            "topology": [{"key": random.choice((RACK, RACK, RACK, ZONE, HOSTNAME))}]
        }
    if chance(random, habits.ranked):
        spec["priority"] = random.choice(habits.priorities)
    if chance(random, habits.ranked):
        spec["disruptionMode"] = random.choice(("Pod", "PodGroup", "PodGroup"))
    metadata: Object = {"name": name}
    if chance(random, 0.5):
        metadata["finalizers"] = [PROTECTION]
    return {"kind": "PodGroup", "metadata": metadata, "spec": spec}


def pod(random: Random, habits: Habits, name: str, member_of: str | None, uid: str) -> Object:
    """A pending pod."""
    labels = {"app": random.choice(APPS)}
    spec: Object = {"priority": random.choice(habits.priorities), "containers": [container(random, habits)]}
    if member_of is not None:
        spec["schedulingGroup"] = {"podGroupName": member_of}
    if chance(random, habits.never):
        spec["preemptionPolicy"] = "Never"
    if chance(random, habits.gated):
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    if chance(random, habits.graceful):
        spec["terminationGracePeriodSeconds"] = 30
    if chance(random, habits.resources / 3):
        spec["initContainers"] = [container(random, habits)]
        if chance(random, 0.4):
            spec["initContainers"][0]["restartPolicy"] = "Always"
    if chance(random, habits.resources / 3):
        spec["overhead"] = {"cpu": "250m"}
    _keep_to_nodes(random, habits.constraints / 2, spec)
    _mind_pods(random, habits.constraints / 2, habits.preferences, spec, labels)
    metadata: Object = {"name": name, "uid": uid, "labels": labels}
    if chance(random, habits.lasting):
        metadata["finalizers"] = ["example.com/hold"]
    return {"kind": "Pod", "metadata": metadata, "spec": spec}


def container(random: Random, habits: Habits) -> Object:
    """A container; most ask for one cpu."""
    requests = {"cpu": random.choice(("1", "1", "1", "2", "500m"))}
    if chance(random, habits.resources):
        requests["memory"] = random.choice(("512Mi", "2Gi"))
    if chance(random, habits.resources / 2):
        requests[GPU] = "1"
    if chance(random, habits.resources / 4):
        del requests["cpu"]
    built: Object = {"name": "c", "image": "i", "resources": {"requests": requests}}
    if chance(random, habits.constraints / 2):
        port: Object = {"containerPort": 80, "hostPort": random.choice((80, 81))}
        if chance(random, 0.3):
            port["protocol"] = "UDP"
        if chance(random, 0.3):
            port["hostIP"] = random.choice(("10.0.0.1", "10.0.0.2"))
        built["ports"] = [port]
    return built


def _keep_to_nodes(random: Random, often: float, spec: Object) -> None:
    if chance(random, often):
        key, values = random.choice(((ZONE, ZONES), (RACK, RACKS[:2])))
        spec["nodeSelector"] = {key: random.choice(values)}
    if chance(random, often * 2):
        toleration: Object = {"operator": "Exists"}
        if chance(random, 0.7):
            toleration = {"key": random.choice(("dedicated", "spot")), "operator": "Equal", "value": "yes"}
        if chance(random, 0.3):
            toleration["effect"] = "NoSchedule"
        spec["tolerations"] = [toleration]
    if chance(random, often):
        terms = [_node_term(random) for _ in range(random.choice((1, 1, 2)))]
        spec["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}


def _node_term(random: Random) -> Object:
    if chance(random, 0.2):
        names = [random.choice(("n1", "n2"))]
        return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": names}]}
    key, values = random.choice(((ZONE, ZONES), (RACK, RACKS[:2])))
    operator = random.choice(("In", "NotIn", "Exists", "DoesNotExist"))
    expression: Object = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        expression["values"] = [random.choice(values)]
    return {"matchExpressions": [expression]}


def _mind_pods(
    random: Random, often: float, preferences: float, spec: Object, labels: dict[str, str]
) -> None:
    affinity: Object = spec.get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        if chance(random, often):
            affinity[side] = {REQUIRED: [_pod_term(random)]}
        elif chance(random, preferences):
            weighted = {"weight": random.choice((1, 50, 100)), "podAffinityTerm": _pod_term(random)}
            affinity[side] = {PREFERRED: [weighted]}
    if chance(random, preferences):
        preferred = {"weight": random.choice((1, 50)), "preference": _node_term(random)}
        affinity["nodeAffinity"] = {**affinity.get("nodeAffinity", {}), PREFERRED: [preferred]}
    if affinity:
        spec["affinity"] = affinity
    if chance(random, often + preferences):
        constraint: Object = {
            "topologyKey": random.choice((ZONE, HOSTNAME, RACK)),
            "maxSkew": random.choice((1, 1, 2)),
            "whenUnsatisfiable": "ScheduleAnyway" if chance(random, preferences) else "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": labels["app"]}},
        }
        if constraint["whenUnsatisfiable"] == "DoNotSchedule" and chance(random, 0.2):
            constraint["minDomains"] = 2
        if chance(random, 0.2):
            constraint["nodeTaintsPolicy"] = "Honor"
        spec["topologySpreadConstraints"] = [constraint]


def _pod_term(random: Random) -> Object:
    return {
        "topologyKey": random.choice((HOSTNAME, HOSTNAME, ZONE, RACK)),
        "labelSelector": {"matchLabels": {"app": random.choice(APPS)}},
    }


def budget(random: Random, name: str) -> Object:
    """A disruption budget, as its controller last wrote it."""
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": random.choice(APPS)}}, "minAvailable": 1},
        "status": {"disruptionsAllowed": random.choice((0, 0, 1, 2))},
    }
