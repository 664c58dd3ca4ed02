"""`explain` on a cluster's dump: 5,000 nodes, 50,000 pods, a pending gang of 64, from the file to the answer.

Two clusters: one in which nobody is weaker than the gang, and one in which half of all pods are, so that the
group would evict some of 25,000. Seconds are wall time on the machine named above the table.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.registry import Row, benchmark, seconds
from gangproof.checking import Options
from gangproof.explaining import Target, explain_loaded
from gangproof.load import load_manifests

NODES = 5_000
PODS = 50_000
MEMBERS = 64
SINCE = "2026-01-01T00:00:00Z"


def dump(weaker: bool) -> str:
    """The text of the dump; with `weaker` every other running pod has a lower priority than the gang."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(_items(weaker))})


def _items(weaker: bool) -> Iterator[Mapping[str, Any]]:
    for n in range(NODES):
        allocatable = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        yield {
            "apiVersion": "v1", "kind": "Node", "metadata": _metadata(f"node-{n:04}", n),
            "status": {"allocatable": allocatable},
        }  # fmt: skip
    for n in range(PODS - MEMBERS):
        spec = {"nodeName": f"node-{n % NODES:04}", "priority": 0 if weaker and n % 2 else 10}
        yield _pod(f"web-{n:05}", n, "1500m", spec, {"phase": "Running", "startTime": SINCE})
    group = {"schedulingPolicy": {"gang": {"minCount": MEMBERS}}, "priority": 10}
    yield {
        "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": _metadata("train", 0),
        "spec": group,
    }  # fmt: skip
    for n in range(MEMBERS):
        spec = {"schedulingGroup": {"podGroupName": "train"}, "priority": 10}
        yield _pod(f"train-{n}", n, "4", spec, {"phase": "Pending"})


def _metadata(name: str, number: int) -> Mapping[str, Any]:
    return {
        "name": name,
        "uid": f"{name}-{number}",
        "creationTimestamp": SINCE,
        "labels": {"app": f"a{number % 50}"},
    }


def _pod(
    name: str, number: int, cpu: str, spec: Mapping[str, Any], status: Mapping[str, Any]
) -> Mapping[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": "4Gi"}}
    containers = [{"name": "main", "image": "registry.example/main:1", "resources": resources}]
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {**_metadata(name, number), "namespace": "default"},
        "spec": {**spec, "containers": containers}, "status": status,
    }  # fmt: skip


@benchmark("explain")
def rows() -> list[Row]:
    return [*_rows(weaker=False, state="pending"), *_rows(weaker=True, state="evicts")]


def _rows(weaker: bool, state: str) -> Iterator[Row]:
    target = Target("podGroup", "default/train")
    who = "half of them weaker" if weaker else "nobody weaker"
    what = f"explain a gang of {MEMBERS} among {NODES:,} nodes and {PODS:,} pods, {who}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.json"
        path.write_text(dump(weaker), encoding="utf-8")
        loaded = load_manifests([path])
        answer = explain_loaded(loaded, target, Options()).found[0].explanation
        if answer.state != state or not answer.suggestions:
            raise AssertionError(f"{answer.sentence}; {state} with suggestions expected")

        def after_parsing() -> object:
            return explain_loaded(loaded, target, Options())

        def from_the_file() -> object:
            return explain_loaded(load_manifests([path]), target, Options())

        whole = min(seconds(from_the_file) for _ in range(2))
        after = min(seconds(after_parsing) for _ in range(2))
    yield Row(f"{what}, file to answer", "at most", must=10, aim=5, measured=whole, unit="s")
    yield Row(f"{what}, after parsing", "at most", must=5 if weaker else 2, aim=2, measured=after, unit="s")
