"""A deliberately naive scheduler: each pod goes to the first node on which it fits, one after the other.

It knows nothing of groups, so it breaks all-or-nothing as soon as a gang does not fit as a whole. It is here to
show how a scheduler is brought to `gangproof conform`: this class is all that it takes.
"""

from __future__ import annotations

from typing import Any


class FirstFit:
    """A cluster in memory and its scheduler, with the operations of the adapter protocol."""

    def hello(self) -> dict[str, Any]:
        return {"name": "first-fit", "version": "1", "protocol": 1, "can": ["create", "delete"]}

    def load(self, setup: dict[str, Any]) -> None:
        self.nodes: dict[str, float] = {}  # cpu
        self.pods: dict[str, dict[str, Any]] = {}  # cpu, and node once it is bound
        self.groups: list[str] = []
        self.events: list[dict[str, Any]] = []

    def do(self, step: dict[str, Any]) -> None:
        for obj in step.get("create", ()):
            self.create(obj["kind"], obj)
        for reference in step.get("delete", ()):
            kind, _, key = reference.partition("/")
            {"Node": self.nodes, "Pod": self.pods}.get(kind, {}).pop(short(key), None)

    def create(self, kind: str, obj: dict[str, Any]) -> None:
        metadata = obj["metadata"]
        name = short(f"{metadata.get('namespace', 'default')}/{metadata['name']}")
        if kind == "Node":
            self.nodes[metadata["name"]] = cpu(obj["status"]["capacity"])
        elif kind == "PodGroup":
            self.groups.append(name)
        elif kind == "Pod":
            wanted = sum(cpu(c["resources"]["requests"]) for c in obj["spec"]["containers"])
            self.pods[name] = {"cpu": wanted, "node": obj["spec"].get("nodeName")}

    def settle(self, idle: float) -> None:
        """Bind whoever fits, in the order of creation. A gang's minCount is nobody's business here."""
        for name, pod in self.pods.items():
            fitting = (node for node in self.nodes if self.free(node) >= pod["cpu"])
            if pod["node"] is None and (node := next(fitting, None)):
                pod["node"] = node
                self.events.append({"t": 0, "ev": "bind", "obj": name, "node": node})

    def free(self, node: str) -> float:
        return self.nodes[node] - sum(pod["cpu"] for pod in self.pods.values() if pod["node"] == node)

    def observe(self) -> dict[str, Any]:
        pods = {name: {"node": pod["node"]} if pod["node"] else {} for name, pod in self.pods.items()}
        return {"t": 0, "pods": pods, "podGroups": {name: [] for name in self.groups}}

    def log(self) -> dict[str, Any]:
        return {"events": self.events}


def short(key: str) -> str:
    """How a look calls it: without the namespace, if that is `default`. A node's key begins with a slash."""
    return key.removeprefix("default/").removeprefix("/")


def cpu(amounts: dict[str, Any]) -> float:
    text = str(amounts.get("cpu", 0))
    return float(text.removesuffix("m")) / 1000 if text.endswith("m") else float(text)
