"""The things a scenario creates and names, so far as `gangproof.impl.objects` has no value for them.

A pod, group, workload, job, claim or budget is meant by its key `namespace/name`, anything else by its name.
"""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from gangproof.impl.objects import Job, Node, Pod, PodDisruptionBudget, PodGroup, PriorityClass, Workload
from gangproof.impl.table import Table

Kind = Literal[
    "node",
    "podGroup",
    "workload",
    "pod",
    "job",
    "claim",
    "deviceClass",
    "priorityClass",
    "pdb",
]


@frozen(cache_hash=True)
class Ref:
    """One object: its kind and its key."""

    kind: Kind
    key: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.key.removeprefix('default/')}"


@frozen(cache_hash=True)
class ResourceClaim:
    """A claim for `count` devices of a class; `allocated` is the node whose devices it has."""

    namespace: str
    name: str
    device_class: str
    count: int = 1
    allocated: str | None = None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


@frozen(cache_hash=True)
class DeviceClass:
    """A class of devices and how many of them each node has."""

    name: str
    devices: Table[int] = Table()

    @property
    def key(self) -> str:
        return self.name


@frozen(cache_hash=True)
class Refused:
    """An object that the API server refuses as invalid: what it was to be, and the message."""

    ref: Ref
    message: str


Created = (
    Node
    | PodGroup
    | Workload
    | Pod
    | PriorityClass
    | Job
    | ResourceClaim
    | DeviceClass
    | PodDisruptionBudget
    | Refused
)


def line_field() -> int:
    """Where something stands in its file; takes no part in equality."""
    return field(default=0, eq=False, repr=False)
