"""The log and the snapshots of a recorded run, in the vocabulary of conformance."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gangproof.impl.cycle_state import Code
from gangproof.impl.objects.checks import entries_of, fields_of
from gangproof.impl.table import Table
from gangproof.load.decode_pod import decode_node_term
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
from gangproof.properties.conformance.recording import Look, SeenClaim, SeenPod

Data = Mapping[str, Any]
SCHEDULED = "PodGroupScheduled"
DEVICE = ("driver", "pool", "device")
CODES: Mapping[str, Code] = {"Unschedulable": "Unschedulable", "Error": "Error"}
_CONDITION = re.compile(r"(\w+)(?:/(\w+))?: ?(.*)", re.DOTALL)
_CLAIMED = re.compile(r"allocated=(\S*) reserved=(\S*)")
_PREEMPTOR = re.compile(r"by ([^:]+):")


def key_of(name: str) -> str:
    """The key of a pod or group that is called by its name alone in the namespace `default`."""
    return name if "/" in name else f"default/{name}"


def event(entry: Data) -> Observed | None:
    """What an entry of the log tells, None if it cannot be read."""
    read = READERS.get(entry.get("ev") or "")
    return read(key_of(entry["obj"]), entry) if read is not None and entry.get("obj") else None


def _bound(pod: str, entry: Data) -> Observed | None:
    return Bound(pod, entry["node"]) if entry.get("node") else None


def _nominated(pod: str, entry: Data) -> Observed:
    return Nominated(pod, entry.get("node") or None)


def _conditioned(group: str, entry: Data) -> Observed | None:
    kind, _, rest = (entry.get("msg") or "").partition("=")
    match = _CONDITION.fullmatch(rest)
    return Conditioned(group, match[1], match[2] or "", match[3]) if match and kind == SCHEDULED else None


def _pod_conditioned(pod: str, entry: Data) -> Observed | None:
    match = _CONDITION.fullmatch(entry.get("msg") or "")
    return PodConditioned(pod, match[1], match[2] or "") if match else None


def _deleted(pod: str, entry: Data) -> Observed:
    return Deleted(pod, entry.get("node") or None)


def _finished(pod: str, entry: Data) -> Observed:
    return Ended(pod, "Succeeded", entry.get("node") or None)


def _crashed(pod: str, entry: Data) -> Observed:
    return Ended(pod, "Failed", entry.get("node") or None)


def _preempted(pod: str, entry: Data) -> Observed | None:
    match = _PREEMPTOR.match(entry.get("msg") or "")
    return Preempted(pod, key_of(match[1])) if match else None


def _claimed(claim: str, entry: Data) -> Observed | None:
    match = _CLAIMED.fullmatch(entry.get("msg") or "")
    if match is None:
        return None
    devices, users = (tuple(filter(None, part.split(","))) for part in match.groups())
    return Claimed(claim, devices, _users(user.split("/", 1) for user in users))


def _users(users: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Users of a claim, given by resource and name, in an order of their own."""
    return tuple(sorted(f"{resource}/{key_of(name)}" for resource, name in users))


def _popped(pod: str, _: Data) -> Observed:
    return Popped(pod)


def _tried(pod: str, entry: Data) -> Observed:
    return Tried(pod, entry.get("node") or None)


def _failed(pod: str, entry: Data) -> Observed | None:
    code = CODES.get((entry.get("msg") or "").partition(":")[0])
    return Failed(pod, code) if code else None


READERS: Mapping[str, Callable[[str, Data], Observed | None]] = {
    "bind": _bound,
    "nominate": _nominated,
    "groupCondition": _conditioned,
    "podCondition": _pod_conditioned,
    "delete": _deleted,
    "finish": _finished,
    "crash": _crashed,
    "preempted": _preempted,
    "claim": _claimed,
    "pop": _popped,
    "try": _tried,
    "fail": _failed,
}
"""How each entry of the log is read."""


def look(data: Data) -> Look:
    """What a snapshot shows."""
    groups: dict[str, Conditioned | None] = {}
    for name, conditions in fields_of(data.get("podGroups")).items():
        key = key_of(name)
        groups[key] = None
        for entry in entries_of(conditions):
            if entry.get("type") == SCHEDULED:
                status, reason = entry.get("status") or "", entry.get("reason") or ""
                groups[key] = Conditioned(key, status, reason, entry.get("message") or "")
    pods = {key_of(name): _pod(fields_of(pod)) for name, pod in fields_of(data.get("pods")).items()}
    claims = {
        key_of(name): _claim(fields_of(status)) for name, status in fields_of(data.get("claims")).items()
    }
    return Look(data.get("t") or 0, Table(pods), Table(groups), data.get("cycles"), Table(claims))


def _pod(pod: Data) -> SeenPod:
    return SeenPod(
        node=pod.get("node") or None,
        nominated=pod.get("nominated") or None,
        condition=pod.get("cond") or "",
        terminating=bool(pod.get("deleting")),
        place=pod.get("queue") or "",
        attempts=pod.get("attempts") or 0,
    )


def _claim(status: Data) -> SeenClaim:
    allocation = fields_of(status.get("allocation"))
    results = entries_of(fields_of(allocation.get("devices")).get("results"))
    reached = allocation.get("nodeSelector")
    return SeenClaim(
        devices=tuple("/".join(str(result.get(name)) for name in DEVICE) for result in results),
        nodes=reached and tuple(map(decode_node_term, entries_of(reached.get("nodeSelectorTerms")))),
        reserved=_users((user["resource"], user["name"]) for user in entries_of(status.get("reservedFor"))),
    )
