"""Whether one recorded run of a document is as the document says, check by check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gangproof.adapters.seen import seen
from gangproof.adapters.translate import Check, name_of
from gangproof.impl.objects import Pod
from gangproof.impl.world import World
from gangproof.load.recorded_log import look
from gangproof.properties.scenarios import document as doc
from gangproof.properties.scenarios.expectations import Allocated, Expectation, ReservedFor
from gangproof.properties.scenarios.judge import unmet

Data = Mapping[str, Any]


def wrong(check: Check, run: Data) -> str | None:
    """What is found instead of what the check wants, None if it is met. The run has come to its end."""
    if isinstance(check.step, doc.Attempt):
        before, after = (mark for _, mark in _looks(check, run))
        return _attempt(check.step, check, run["result"]["log"][before:after])
    shown, events = at_rest(check, run)
    world = seen(check.objects, shown, events)
    found = [
        f"{lacking}, expected {expected}"
        for expected in check.step.expectations
        if (lacking := _lacking(expected, world, shown)) is not None
    ]
    return "; ".join(found) or None


def _lacking(expected: Expectation, world: World, shown: Data) -> str | None:
    """What is found instead of what is expected; claims are judged by the look alone."""
    match expected:
        case Allocated(claim=key, node=node):
            claim = look(shown).claims.get(key)
            found = claim.devices[0].split("/")[1] if claim is not None and claim.devices else None
            return None if found == node else f"{name_of(key)} is allocated on {found or 'no node'}"
        case ReservedFor(claim=key, consumers=consumers):
            claim = look(shown).claims.get(key)
            wanted = sorted(f"{ref.kind.lower()}s/{ref.key}" for ref in consumers)
            found = sorted(claim.reserved) if claim is not None else []
            return None if found == wanted else f"{name_of(key)} is reserved for [{', '.join(found)}]"
        case _:
            return unmet(world, expected, ())


def at_rest(check: Check, run: Data) -> tuple[Data, Sequence[Data]]:
    """The look by which an expectation is judged, and the events of the log up to it."""
    ((look, mark),) = _looks(check, run)
    return look, run["result"]["log"][:mark]


def _looks(check: Check, run: Data) -> list[tuple[Data, int]]:
    """The looks of the check, each with how many events came before it."""
    result, steps = run["result"], run["scenario"]["steps"]
    marks = [mark for mark, step in zip(result["marks"], steps, strict=True) if "snapshot" in step]
    return [(result["snapshots"][place], marks[place]) for place in check.looks]


def _attempt(step: doc.Attempt, check: Check, events: Sequence[Data]) -> str | None:
    tried = next((event["obj"] for event in events if event.get("ev") == "pop"), None)
    mine = tried is not None and _is_of(step, check, tried)
    found = _result(events) if mine else "absent"
    if found == step.result:
        return None
    instead = f"{tried} was tried instead" if tried is not None else "no cycle ran"
    return (
        f"the cycle of {step.entity} is {found}"
        + ("" if mine else f" ({instead})")
        + f", expected {step.result}"
    )


def _is_of(step: doc.Attempt, check: Check, name: str) -> bool:
    """Whether the cycle that began with this pod is for the entity."""
    if step.entity.kind == "pod":
        return name == name_of(step.entity.key)
    pods = (obj for obj in check.objects.values() if isinstance(obj, Pod))
    return any(name_of(pod.key) == name and pod.group == step.entity.key for pod in pods)


def _result(events: Sequence[Data]) -> str:
    """The verdict of the cycle: `scheduled` as soon as one of its members was not sent back by it.

    A member that had a node and then fails with an error was let go by the cycle: its binding failed.
    """
    nodes: dict[str, str] = {}
    failed: dict[str, str] = {}
    for event in events:
        pod, code = event.get("obj") or "", (event.get("msg") or "").partition(":")[0]
        match event.get("ev"):
            case "pop":
                nodes.setdefault(pod, "")
            case "try":
                nodes[pod] = event.get("node") or ""
            case "fail" if code != "Error" or not nodes.get(pod):
                failed[pod] = code
            case _:
                pass
    if nodes.keys() - failed.keys():
        return "scheduled"
    return "error" if set(failed.values()) == {"Error"} else "unschedulable"
