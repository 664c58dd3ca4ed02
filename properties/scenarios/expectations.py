"""What must be true of a settled cluster, as plain data whose `str` is the scenario language again."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from gangproof.properties.scenarios.records import Ref, line_field


@frozen
class PodSet:
    """Between `at_least` and `at_most` of these pods."""

    of: tuple[str, ...]
    at_least: int
    at_most: int

    def __str__(self) -> str:
        names = ", ".join(key.removeprefix("default/") for key in self.of)
        if self.at_least == self.at_most == len(self.of):
            return f"[{names}]"
        if self.at_least == self.at_most:
            return f"exactly {self.at_least} of [{names}]"
        if self.at_most == len(self.of):
            return f"at least {self.at_least} of [{names}]"
        return f"at most {self.at_most} of [{names}]"


State = Literal[
    "bound", "unschedulable", "gated", "pending", "gone", "evicted", "kept", "victims", "nominated"
]


@frozen
class InState:
    """So many of these pods are in that state; for `victims` no pod outside of the set may be a victim."""

    state: State
    pods: PodSet
    line: int = line_field()

    def __str__(self) -> str:
        return f"{self.state}: {self.pods}"


@frozen
class OnNode:
    """The pod is bound, or nominated, to that node."""

    state: Literal["bound", "nominated"]
    pod: str
    node: str
    line: int = line_field()

    def __str__(self) -> str:
        return f"{self.state}: {{{self.pod.removeprefix('default/')}: {self.node}}}"


@frozen
class Together:
    """All these pods are bound, on nodes with the same value of the label; `value` None leaves open which."""

    label: str
    value: str | None
    pods: tuple[str, ...]
    line: int = line_field()

    def __str__(self) -> str:
        names = ", ".join(key.removeprefix("default/") for key in self.pods)
        if self.value is None:
            return f"together: {{{self.label}: [{names}]}}"
        return f"within: {{{self.label}={self.value}: [{names}]}}"


@frozen
class ConditionIs:
    """The group's PodGroupScheduled is `status/reason`; None if it has no such condition."""

    group: str
    condition: str | None
    line: int = line_field()

    def __str__(self) -> str:
        return f"conditions: {{{self.group.removeprefix('default/')}: {self.condition or 'none'}}}"


@frozen
class ReservedFor:
    """The claim is reserved for exactly these pods and groups."""

    claim: str
    consumers: tuple[Ref, ...]
    line: int = line_field()

    def __str__(self) -> str:
        names = ", ".join(map(str, self.consumers))
        return f"reservedFor: {{{self.claim.removeprefix('default/')}: [{names}]}}"


@frozen
class Allocated:
    """The claim has devices of that node; None if it has none."""

    claim: str
    node: str | None
    line: int = line_field()

    def __str__(self) -> str:
        return f"allocated: {{{self.claim.removeprefix('default/')}: {self.node or 'none'}}}"


@frozen
class Exists:
    """The object exists, or does not."""

    ref: Ref
    exists: bool
    line: int = line_field()

    def __str__(self) -> str:
        return f"{'exists' if self.exists else 'absent'}: [{self.ref}]"


@frozen
class Rejected:
    """The API refused to create or to update the object, with that text in its message."""

    ref: Ref
    text: str
    line: int = line_field()

    def __str__(self) -> str:
        return f"rejected: {{{self.ref}: {self.text}}}"


Expectation = InState | OnNode | Together | ConditionIs | ReservedFor | Allocated | Exists | Rejected
