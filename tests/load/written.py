"""Objects as plain data, written and loaded the way the tests of this folder need them."""

from typing import Any

import pytest
import yaml

from gangproof.errors import InputError
from gangproof.load import Loaded, load_manifests_text

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
