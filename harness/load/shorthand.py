"""The shorthand of scenarios for objects, written out as manifests; and which key a field comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gangproof.impl.objects.checks import fields_of
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.objects.validation import Path
from gangproof.load.fields import VERSIONS
from gangproof.load.names import UnreadableError

Data = Mapping[str, Any]
HOSTNAME = "kubernetes.io/hostname"
PLENTY = "64Gi"
MOST_PODS = 110
BATCH_JOB = {"apiGroup": "batch", "kind": "Job"}


def manifest(kind: str, data: Data, name: str, path: Path) -> dict[str, Any]:
    """The manifest that this shorthand stands for; `kind` is one of `WRITERS`, `path` is for errors."""
    written = WRITERS[kind](data, name, path)
    metadata = {"name": name, **_given(data, namespace="namespace", labels="labels", finalizers="finalizers")}
    metadata.update(written.pop("metadata", {}))
    return {"apiVersion": VERSIONS[kind], "kind": kind, "metadata": metadata, **written}


def _given(data: Data, **names: str) -> dict[str, Any]:
    """The fields that the shorthand has, under the names that the manifest has for them."""
    return {field: data[key] for field, key in names.items() if data.get(key) is not None}


def _node(data: Data, name: str, path: Path) -> dict[str, Any]:
    return {
        "metadata": {"labels": {HOSTNAME: name, **(data.get("labels") or {})}},
        "spec": _given(data, taints="taints", unschedulable="unschedulable"),
        "status": {
            "capacity": {
                "cpu": data.get("cpu", 0),
                "memory": data.get("memory", PLENTY),
                "pods": data.get("pods", MOST_PODS),
                **(data.get("extended") or {}),
            }
        },
    }


def claims(entries: list[Data]) -> list[dict[str, Any]]:
    """The claims of a pod or a group."""
    return [
        _given(entry, name="name", resourceClaimName="claim", resourceClaimTemplateName="template")
        for entry in entries
    ]


def policy(data: Data, path: Path) -> dict[str, Any]:
    """What groups and the templates of workloads have in common."""
    if data.get("basic") is False:
        raise UnreadableError((*path, "basic"), "false", "basic: true, or gang: minCount")
    union: dict[str, Any] = {}
    if data.get("gang") is not None:
        union["gang"] = {"minCount": data["gang"]}
    if data.get("basic"):
        union["basic"] = {}
    names = {"priority": "priority", "priorityClassName": "priorityClass", "disruptionMode": "disruptionMode"}
    spec: dict[str, Any] = {"schedulingPolicy": union, **_given(data, **names)}
    if data.get("topology") is not None:
        spec["schedulingConstraints"] = {"topology": [{"key": data["topology"]}]}
    if data.get("claims") is not None:
        spec["resourceClaims"] = claims(data["claims"])
    return spec


def _group(data: Data, name: str, path: Path) -> dict[str, Any]:
    spec = policy(data, path)
    if data.get("template") is not None:
        workload, slash, template = data["template"].partition("/")
        if not slash:
            raise UnreadableError((*path, "template"), data["template"], "workload/template")
        reference = {"workloadName": workload, "podGroupTemplateName": template}
        spec["podGroupTemplateRef"] = {"workload": reference}
    finalizers = data.get("finalizers")
    return {
        "metadata": {"finalizers": [PROTECTION_FINALIZER] if finalizers is None else finalizers},
        "spec": spec,
    }


def _workload(data: Data, name: str, path: Path) -> dict[str, Any]:
    templates: list[dict[str, Any]] = []
    for place, entry in enumerate(data.get("templates") or []):
        if "[" in (entry.get("name") or ""):
            raise UnreadableError((*path, "templates", place, "name"), entry["name"], "a name, not a pattern")
        templates.append({**_given(entry, name="name"), **policy(entry, (*path, "templates", place))})
    spec: dict[str, Any] = {"podGroupTemplates": templates}
    if data.get("controller") is not None:
        kind, slash, controller = data["controller"].partition("/")
        if not slash:
            raise UnreadableError((*path, "controller"), data["controller"], "kind/name")
        spec["controllerRef"] = {
            **(BATCH_JOB if kind.lower() == "job" else {"kind": kind}),
            "name": controller,
        }
    return {"spec": spec}


def pod_spec(data: Data) -> dict[str, Any]:
    """The spec of a pod; the raw fields of `spec` win over the shorthand."""
    requests = {**_given(data, cpu="cpu", memory="memory"), **fields_of(data.get("extended"))}
    container: dict[str, Any] = {"name": "c", "image": "image", "resources": {"requests": requests}}
    if data.get("hostPort") is not None:
        container["ports"] = [{"containerPort": data["hostPort"] or 1, "hostPort": data["hostPort"]}]
    spec: dict[str, Any] = {
        "containers": [container],
        "terminationGracePeriodSeconds": data.get("grace", 0),
        **_given(
            data,
            nodeName="node",
            nodeSelector="nodeSelector",
            preemptionPolicy="preemptionPolicy",
            priority="priority",
            priorityClassName="priorityClass",
            schedulerName="schedulerName",
            tolerations="tolerations",
        ),
    }
    if data.get("group") is not None:
        spec["schedulingGroup"] = {"podGroupName": data["group"]}
    if data.get("gates"):
        spec["schedulingGates"] = [{"name": gate} for gate in data["gates"]]
    if data.get("claims") is not None:
        spec["resourceClaims"] = claims(data["claims"])
    return {**spec, **(data.get("spec") or {})}


def _pod(data: Data, name: str, path: Path) -> dict[str, Any]:
    return {"spec": pod_spec(data)}


def _job(data: Data, name: str, path: Path) -> dict[str, Any]:
    template = fields_of(data.get("template"))
    numbers = _given(data, parallelism="parallelism", completions="completions", suspend="suspend")
    return {
        "spec": {
            **numbers,
            "completionMode": "Indexed" if data.get("indexed") else "NonIndexed",
            "template": {
                "metadata": _given(template, labels="labels", finalizers="finalizers"),
                "spec": {"restartPolicy": "Never", **pod_spec(template)},
            },
        }
    }


def _priority_class(data: Data, name: str, path: Path) -> dict[str, Any]:
    return _given(data, value="value", globalDefault="globalDefault")


WRITERS: Mapping[str, Callable[[Data, str, Path], dict[str, Any]]] = {
    "Job": _job,
    "Node": _node,
    "Pod": _pod,
    "PodGroup": _group,
    "PriorityClass": _priority_class,
    "Workload": _workload,
}
_ORIGINS: tuple[tuple[str, str], ...] = (
    ("metadata.name", "name"),
    ("metadata.namespace", "namespace"),
    ("metadata.labels", "labels"),
    ("spec.schedulingPolicy.gang", "gang"),
    ("spec.schedulingConstraints", "topology"),
    ("spec.podGroupTemplateRef", "template"),
    ("spec.podGroupTemplates", "templates"),
    ("spec.resourceClaims", "claims"),
    ("spec.priorityClassName", "priorityClass"),
    ("spec.schedulingGates", "gates"),
    ("spec.schedulingGroup", "group"),
    ("spec.nodeName", "node"),
    ("spec.terminationGracePeriodSeconds", "grace"),
    ("spec.containers[0].resources.requests.cpu", "cpu"),
    ("spec.containers[0].resources.requests.memory", "memory"),
    ("spec.containers[0].resources.requests", "extended"),
    ("spec.containers[0].ports", "hostPort"),
    ("status.capacity.cpu", "cpu"),
    ("status.capacity.memory", "memory"),
    ("status.capacity.pods", "pods"),
    ("status.capacity", "extended"),
)


def origin(field: str, data: Data) -> Path:
    """The key of the shorthand that a field of its manifest comes from; () if there is none."""
    if field.startswith("spec.template."):
        return ("template", *origin(field.removeprefix("spec.template."), fields_of(data.get("template"))))
    for prefix, key in _ORIGINS:
        if field.startswith(prefix):
            return (key,) if key in data else ()
    head, _, rest = field.partition(".")
    key = rest.partition(".")[0].partition("[")[0]
    return (
        (key,) if head == "spec" and key in data else ("spec",) if head == "spec" and "spec" in data else ()
    )
