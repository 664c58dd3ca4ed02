"""What can be seen of a scheduler from outside, one record for each thing that may happen.

This is the vocabulary in which a real scheduler and the model meet. A record names pods and groups by their key
`namespace/name` and says nothing of when it happened or why; `Logged` adds that.
"""

from __future__ import annotations

from attrs import frozen

from gangproof.impl.cycle_state import Code


@frozen(cache_hash=True)
class Bound:
    """The API server has bound the pod to the node (BIND-06)."""

    pod: str
    node: str

    def __str__(self) -> str:
        return f"bind {short(self.pod)} to {self.node}"


@frozen(cache_hash=True)
class Nominated:
    """The pod's `nominatedNodeName` was written; None if it was cleared (BIND-03, CYCLE-49)."""

    pod: str
    node: str | None

    def __str__(self) -> str:
        return (
            f"nominate {short(self.pod)} to {self.node}"
            if self.node
            else f"nominate {short(self.pod)} to none"
        )


@frozen(cache_hash=True)
class Conditioned:
    """The group's condition PodGroupScheduled was written and has changed (CYCLE-50)."""

    group: str
    status: str
    reason: str
    message: str = ""

    def __str__(self) -> str:
        told = f" {self.message!r}" if self.message else ""
        return f"condition of {short(self.group)} is {self.status}/{self.reason}{told}"


@frozen(cache_hash=True)
class PodConditioned:
    """The pod's condition PodScheduled was written (API-50); its message is not part of it."""

    pod: str
    status: str
    reason: str = ""

    def __str__(self) -> str:
        return f"condition of {short(self.pod)} is {condition_text(self.status, self.reason)}"


@frozen(cache_hash=True)
class Deleted:
    """Somebody asks the API server to delete the pod, which is on that node or on none (ACT-02, ACT-03)."""

    pod: str
    node: str | None = None

    def __str__(self) -> str:
        return f"delete {short(self.pod)}"


@frozen(cache_hash=True)
class Ended:
    """The pod, which is on that node or on none, ends as Succeeded or as Failed (ACT-06)."""

    pod: str
    phase: str
    node: str | None = None

    def __str__(self) -> str:
        return f"end {short(self.pod)} as {self.phase}"


@frozen(cache_hash=True)
class Preempted:
    """The scheduler tells that it evicts the pod, and for whom."""

    pod: str
    preemptor: str

    def __str__(self) -> str:
        return f"preempt {short(self.pod)} for {short(self.preemptor)}"


@frozen(cache_hash=True)
class Claimed:
    """The claim's status was written and has changed: its devices and its users (CLAIM-22, CLAIM-27, CLAIM-28).

    Devices are called `driver/pool/device`, users `pods/KEY` and `podgroups/KEY`.
    """

    claim: str
    devices: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()

    def __str__(self) -> str:
        users = ", ".join(user.replace("/default/", "/") for user in self.reserved)
        return f"claim {short(self.claim)} has {', '.join(self.devices) or 'nothing'} for {users or 'nobody'}"


@frozen(cache_hash=True)
class Popped:
    """A cycle begins with this pod (QUEUE-18)."""

    pod: str

    def __str__(self) -> str:
        return f"pop {short(self.pod)}"


@frozen(cache_hash=True)
class Tried:
    """A node was looked for the pod within a cycle: the one that was found, or None (CYCLE-16, CYCLE-18)."""

    pod: str
    node: str | None

    def __str__(self) -> str:
        return f"try {short(self.pod)}: {self.node or 'nowhere'}"


@frozen(cache_hash=True)
class Failed:
    """The pod's attempt was reported as failed, with this code of its status (CYCLE-41 to CYCLE-48)."""

    pod: str
    code: Code

    def __str__(self) -> str:
        return f"fail {short(self.pod)}: {self.code}"


Observed = (
    Bound
    | Nominated
    | Conditioned
    | PodConditioned
    | Deleted
    | Ended
    | Preempted
    | Claimed
    | Popped
    | Tried
    | Failed
)
INTERNAL = (Popped, Tried, Failed)
"""What only a scheduler that tells of its inner steps shows; nothing in the API changes by it."""


@frozen
class Logged:
    """An event in the log of a run: what, in which cycle (counted from 1 as they begin), at which second."""

    event: Observed
    cycle: int
    time: float

    def __str__(self) -> str:
        return f"{self.event} (cycle {self.cycle}, {self.time:g} s)"


def about(event: Observed) -> tuple[str, ...]:
    """What the event is about; only events about the same have an order within a cycle.

    Several may evict one pod at once, each with a call of its own.
    """
    match event:
        case Conditioned(group=group):
            return "group", group
        case Preempted(pod=pod, preemptor=preemptor):
            return "eviction", pod, preemptor
        case Claimed(claim=claim):
            return "claim", claim
        case _:
            return "pod", event.pod


def condition_text(status: str, reason: str) -> str:
    """A condition's status and reason in short."""
    return f"{status}/{reason}" if reason else status


def short(key: str) -> str:
    """A key without the namespace `default`."""
    return key.removeprefix("default/")
