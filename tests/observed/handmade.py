"""Recorded runs written by hand: what users did, and for each step what a scheduler is said to have done.

A run is a list of steps, each with the events that the log tells of it. Looks show the pods that they name.
"""

from __future__ import annotations

import json
from typing import Any

from gangproof.load.recorded import load_recorded_text
from gangproof.properties.conformance.recording import Recording

Data = dict[str, Any]
GANGS = {"GenericWorkload": True, "GangScheduling": True}
WAP = {**GANGS, "WorkloadAwarePreemption": True}
TAS = {**GANGS, "TopologyAwareWorkloadScheduling": True}
DRA = {**GANGS, "DRAWorkloadResourceClaims": True}


def node(name: str, cpu: int, taint: str = "", **labels: str) -> Data:
    spec = {"spec": {"taints": [{"key": taint, "effect": "NoSchedule"}]}} if taint else {}
    status = {"capacity": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, **spec, "status": status}


def pod(
    name: str, cpu: int = 1, prio: int = 0, group: str | None = None, on: str | None = None, **spec: Any
) -> Data:
    requests = {"requests": {"cpu": str(cpu)}}
    made: Data = {
        "priority": prio,
        "containers": [{"name": "c", "image": "i", "resources": requests}],
        **spec,
    }
    if group is not None:
        made["schedulingGroup"] = {"podGroupName": group}
    if on is not None:
        made["nodeName"] = on
    return {"kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": made}


def slow(name: str, *args: Any, **more: Any) -> Data:
    """A pod that takes its time to end."""
    return pod(name, *args, terminationGracePeriodSeconds=30, **more)


def gang(name: str, minimum: int, **spec: Any) -> Data:
    policy = {"schedulingPolicy": {"gang": {"minCount": minimum}}}
    return {"kind": "PodGroup", "metadata": {"name": name}, "spec": {**policy, **spec}}


def avoids(app: str) -> Data:
    """The field by which a pod keeps away from pods of this label."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def bind(name: str, to: str) -> Data:
    return {"ev": "bind", "obj": name, "node": to}


def nominate(name: str, to: str | None) -> Data:
    return {"ev": "nominate", "obj": name, **({"node": to} if to else {})}


def condition(group: str, text: str) -> Data:
    return {"ev": "groupCondition", "obj": group, "msg": f"PodGroupScheduled={text}: "}


def delete(name: str, on: str | None = None) -> Data:
    return {"ev": "delete", "obj": name, **({"node": on} if on else {})}


def evict(name: str, on: str, by: str) -> list[Data]:
    return [
        delete(name, on),
        {"ev": "preempted", "obj": name, "msg": f"by {by}: Preempted by {by} on node {on}"},
    ]


Step = tuple[Data, list[Data]]


def create(*objects: Data) -> Step:
    return {"create": list(objects)}, []


def step(**fields: Any) -> Step:
    return dict(fields), []


def cycle(*events: Data | list[Data]) -> Step:
    """A cycle, with all that it sets going."""
    flat = [event for some in events for event in (some if isinstance(some, list) else [some])]
    return {"cycles": 1}, flat


def rest(idle: int = 400, **pods: Data) -> list[Step]:
    """Nothing changes any more, and one looks at these pods."""
    return [({"settle": {"idle": idle}}, []), ({"snapshot": pods}, [])]


def on(name: str, **more: Any) -> Data:
    return {"node": name, "cond": "True", **more}


def waits(queue: str = "backoff", **more: Any) -> Data:
    return {"cond": "False/Unschedulable", "queue": queue, "attempts": 1, **more}


def run(
    *steps: Step | list[Step], gates: Data = GANGS, claims: Data | None = None, **result: Any
) -> Recording:
    """The run as the loader reads it; each cycle has its number, each rest takes its seconds."""
    entries = [entry for some in steps for entry in (some if isinstance(some, list) else [some])]
    log: list[Data] = []
    looks: list[Data] = []
    marks: list[int] = []
    time, cycles, tries = 0.0, 0, 0
    groups: dict[str, list[Data]] = {}
    for fields, events in entries:
        marks.append(len(log))
        cycles += "cycles" in fields
        time += fields.get("settle", {}).get("idle", 0)
        tries += "settle" in fields
        for made in fields.get("create", []):
            if made["kind"] == "PodGroup":
                groups[made["metadata"]["name"]] = []
        log += [{"t": time, "cycle": cycles, **event} for event in events]
        for event in events:
            if event["ev"] == "groupCondition":
                status, _, reason = event["msg"].partition("=")[2].rstrip(": ").partition("/")
                told = {"type": "PodGroupScheduled", "status": status, "reason": reason}
                groups[event["obj"]] = [told]
        if "snapshot" in fields:
            looks.append(
                {"t": time, "pods": fields["snapshot"], "podGroups": dict(groups), "claims": claims or {}}
            )
            fields["snapshot"] = True
    scenario = {"name": "handmade", "gates": gates, "steps": [fields for fields, _ in entries]}
    made = {"log": log, "snapshots": looks, "cycles": cycles, "marks": marks, **result}
    (recording,) = load_recorded_text(json.dumps({"scenario": scenario, "result": made}), "handmade")
    return recording
