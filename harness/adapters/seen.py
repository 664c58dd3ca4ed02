"""What a look and the log up to it show, as a `World`, so that expectations are judged by the one judge there is.

Only the API's objects, who is gated, and who was evicted is known of a scheduler from outside. The rest of the
world is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from attrs import evolve

from gangproof.impl.memory import Entry, QueuePlace
from gangproof.impl.objects import (
    Condition,
    Node,
    Phase,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ResourceClaim,
    Workload,
)
from gangproof.impl.table import Table
from gangproof.impl.world import Ghost, World
from gangproof.load.recorded_log import key_of, look
from gangproof.properties.scenarios.records import Created

Data = Mapping[str, Any]
ENDS: Mapping[str, Phase] = {"finish": "Succeeded", "crash": "Failed"}
PLACES: Mapping[str, QueuePlace] = {"active": "active", "backoff": "backoff", "unschedulable": "pool"}


def seen(objects: Table[Created], snapshot: Data, events: Sequence[Data]) -> World:
    """The world at a look; `objects` are those that users made, `events` those up to the look."""
    shown = look(dict(snapshot))
    made = list(objects.values())
    pods = {pod.key: pod for pod in made if isinstance(pod, Pod)}
    groups = {group.key: group for group in made if isinstance(group, PodGroup)}
    claims = {claim.key: claim for claim in made if isinstance(claim, ResourceClaim)}
    found = {
        key: evolve(
            pods.get(key) or Pod(*_names(key)),
            node_name=pod.node,
            nominated_node_name=pod.nominated,
            terminating=pod.terminating,
            unscheduled_reason=_reason(pod.condition),
        )
        for key, pod in shown.pods.items()
    }
    found |= {pod.key: pod for pod in _ended(pods, found, events)}
    return World(
        nodes=Table({node.key: node for node in made if isinstance(node, Node)}),
        pods=Table(found),
        groups=Table(
            {
                key: evolve(
                    groups.get(key) or PodGroup(*_names(key)),
                    condition=written and Condition(cast(Any, written.status), cast(Any, written.reason)),
                )
                for key, written in shown.groups.items()
            }
        ),
        claims=Table({key: claims.get(key) or ResourceClaim(*_names(key)) for key in shown.claims}),
        workloads=Table({w.key: w for w in made if isinstance(w, Workload)}),
        priority_classes=Table({c.key: c for c in made if isinstance(c, PriorityClass)}),
        budgets=Table({b.key: b for b in made if isinstance(b, PodDisruptionBudget)}),
        queue=tuple(_entries(shown.pods)),
        ghost=_ghost(events),
    )


def _names(key: str) -> tuple[str, str]:
    """Namespace and name."""
    namespace, _, name = key.partition("/")
    return namespace, name


def _reason(condition: str) -> Any:
    status, _, reason = condition.partition("/")
    return reason if status == "False" and reason in ("Unschedulable", "SchedulerError") else None


def _ended(pods: Mapping[str, Pod], shown: Mapping[str, Pod], events: Sequence[Data]) -> Iterator[Pod]:
    """Pods that have ended are not shown to a scheduler, but they are there."""
    for event in events:
        key, phase = key_of(event.get("obj") or ""), ENDS.get(event.get("ev") or "")
        if phase is not None and key in pods and key not in shown:
            yield evolve(pods[key], node_name=event.get("node") or pods[key].node_name, phase=phase)


def _entries(pods: Table[Any]) -> Iterator[Entry]:
    for key, pod in pods.items():
        gate = pod.place.removeprefix("gated by ")
        if pod.place.startswith("gated"):
            yield Entry(key, "gated", (gate,))
        elif pod.place:
            yield Entry(key, PLACES.get(pod.place, "active"))


def _ghost(events: Sequence[Data]) -> Ghost:
    """Whoever the scheduler told of as preempted was evicted if somebody asked to delete it, else sent back."""
    named: dict[str, set[str]] = {}
    for event in events:
        named.setdefault(event.get("ev") or "", set()).add(key_of(event.get("obj") or ""))
    preempted, deleted = named.get("preempted", set()), named.get("delete", set())
    evicted = named.get("evict", set()) | (preempted & deleted)
    return Ghost(evicted=tuple(sorted(evicted)), sent_back=tuple(sorted(preempted - evicted)))
