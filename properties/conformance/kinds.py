"""What a difference is of: the kind by which differences are counted, and the rules that decide about such things."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gangproof.properties.conformance.events import (
    Bound,
    Claimed,
    Conditioned,
    Deleted,
    Ended,
    Failed,
    Nominated,
    Observed,
    PodConditioned,
    Popped,
    Preempted,
    Tried,
)

NOTHING = "nothing"
OF_EVENTS: Mapping[type[Observed], str] = {
    Bound: "bind",
    Nominated: "nomination",
    Conditioned: "condition of a group",
    PodConditioned: "condition of a pod",
    Deleted: "deletion",
    Ended: "end of a pod",
    Preempted: "eviction",
    Claimed: "claim",
    Popped: "pop",
    Tried: "placement",
    Failed: "failure",
}
RULES: Mapping[str, tuple[str, ...]] = {
    "bind": ("CYCLE-14", "CYCLE-16", "CYCLE-43", "BIND-06"),
    "nomination": ("BIND-03", "CYCLE-48", "CYCLE-49", "PREEMPT-35", "PREEMPT-41"),
    "condition of a group": ("CYCLE-25", "CYCLE-50", "CYCLE-51", "CYCLE-52"),
    "condition of a pod": ("API-50", "QUEUE-20"),
    "deletion": ("PREEMPT-26", "PREEMPT-30", "PREEMPT-46", "PREEMPT-47"),
    "end of a pod": ("ACT-06",),
    "eviction": ("PREEMPT-26", "PREEMPT-30", "PREEMPT-46", "PREEMPT-47"),
    "claim": ("CLAIM-12", "CLAIM-22", "CLAIM-23", "CLAIM-28"),
    "pop": ("QUEUE-18", "QUEUE-19"),
    "placement": ("CYCLE-11", "CYCLE-14", "CYCLE-16"),
    "failure": ("CYCLE-41", "CYCLE-44", "CYCLE-47"),
    "existence": ("ACT-02", "ACT-03", "GC-02"),
    "place in the queue": ("QUEUE-14", "QUEUE-22", "QUEUE-24", "QUEUE-31", "PREEMPT-33"),
    "cycles": ("QUEUE-14", "QUEUE-19", "QUEUE-31"),
}
"""The rules that decide what can be seen of each thing."""


def thing_of(event: Observed | None) -> str:
    """What the event is of; `nothing` if there is none."""
    return OF_EVENTS[type(event)] if event is not None else NOTHING


def kind_of(expected: Collection[str], found: str) -> str:
    """The kind of a difference: what was found, and what the model has in its place, if that is another thing."""
    if found in expected:
        return f"another {found}"
    return f"{found} where {' or '.join(sorted(expected)) or NOTHING} is expected"


def rules_of(*things: str) -> tuple[str, ...]:
    """The ids of the rules that decide about these things, each once."""
    return tuple(dict.fromkeys(rule for thing in things for rule in RULES.get(thing, ())))
