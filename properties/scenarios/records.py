"""The things a scenario creates and names, so far as `gangproof.impl.objects` has no value for them.

A pod, group, workload, job, claim or budget is meant by its key `namespace/name`, anything else by its name.
"""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from gangproof.impl.gates import Object

Kind = Literal[
    "node",
    "podGroup",
    "workload",
    "pod",
    "job",
    "claim",
    "claimTemplate",
    "deviceClass",
    "slice",
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
class Refused:
    """An object that the API server refuses as invalid: what it was to be, and the message."""

    ref: Ref
    message: str


Created = Object | Refused


def line_field() -> int:
    """Where something stands in its file; takes no part in equality."""
    return field(default=0, eq=False, repr=False)
