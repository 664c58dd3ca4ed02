"""What a scenario expects, from plain data whose shape holds to values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from gangproof.impl.objects.checks import shown
from gangproof.impl.objects.validation import Path
from gangproof.load.names import UnreadableError, all_keys, all_refs, expand, keys, refs
from gangproof.load.scenario_fields import COUNTED
from gangproof.load.schema import Misfit, is_list, walk
from gangproof.properties.scenarios.expectations import (
    Allocated,
    ConditionIs,
    Exists,
    Expectation,
    InState,
    OnNode,
    PodSet,
    Rejected,
    ReservedFor,
    State,
    Together,
)

CONDITIONS = ("True/Scheduled", "False/Unschedulable", "False/SchedulerError")


def expectations(key: str, value: Any, path: Path, line: int) -> tuple[Expectation, ...]:
    """Everything that one key of `expect` or `possible` says; UnreadableError if it cannot be meant."""
    return tuple(_READERS[key](key, value, path, line))


def pod_set(value: Any, path: Path) -> PodSet:
    """A list of pods, all of them meant, or a counted set."""
    if is_list(value):
        names = all_keys(value, path)
        return PodSet(names, len(names), len(names))
    misfits: list[Misfit] = []
    walk(COUNTED, value, misfits.append, path)
    for misfit in misfits:
        raise UnreadableError(misfit.path, misfit.found, misfit.expected, misfit.hint)
    counts = [name for name in ("exactly", "atLeast", "atMost") if value.get(name) is not None]
    if len(counts) != 1 or value.get("of") is None:
        found = " and ".join(counts) or "no count"
        raise UnreadableError(path, found, "exactly one of exactly, atLeast, atMost, and of: [pods]")
    members = value["of"] if is_list(value["of"]) else [value["of"]]
    names = all_keys(members, (*path, "of"))
    count: int = value[counts[0]]
    if not 0 <= count <= len(names):
        raise UnreadableError((*path, counts[0]), str(count), f"a number from 0 to {len(names)}")
    return PodSet(
        names,
        0 if counts[0] == "atMost" else count,
        len(names) if counts[0] == "atLeast" else count,
    )


def _in_state(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    yield InState(cast(State, key), pod_set(value, path), line)


def _placed(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    if is_list(value) or "of" in value:
        yield from _in_state(key, value, path, line)
        return
    for name, node in value.items():
        if not isinstance(node, str):
            raise UnreadableError((*path, name), shown(node), "the name of a node")
        for pod in keys(name, (*path, name)):
            yield OnNode("bound" if key == "bound" else "nominated", pod, node, line)


def _together(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    for label, pods in value.items():
        yield Together(label, None, all_keys(pods, (*path, label)), line)


def _within(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    for pair, pods in value.items():
        label, equals, domain = pair.partition("=")
        if not equals:
            raise UnreadableError((*path, pair), shown(pair), "label=value")
        yield Together(label, domain, all_keys(pods, (*path, pair)), line)


def _conditions(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    for name, text in value.items():
        if text != "none" and text not in CONDITIONS:
            raise UnreadableError((*path, name), shown(text), f"none or one of {', '.join(CONDITIONS)}")
        for group in keys(name, (*path, name)):
            yield ConditionIs(group, None if text == "none" else text, line)


def _reserved(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    for name, consumers in value.items():
        for claim in keys(name, (*path, name)):
            yield ReservedFor(claim, all_refs(consumers, (*path, name)), line)


def _allocated(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    for name, node in value.items():
        for claim in keys(name, (*path, name)):
            yield Allocated(claim, None if node == "none" else expand(node, (*path, name))[0], line)


def _exists(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    for ref in all_refs(value, path):
        yield Exists(ref, key == "exists", line)


def _rejected(key: str, value: Any, path: Path, line: int) -> Iterator[Expectation]:
    for name, text in value.items():
        for ref in refs(name, (*path, name)):
            yield Rejected(ref, text, line)


_READERS: Mapping[str, Callable[[str, Any, Path, int], Iterator[Expectation]]] = {
    **dict.fromkeys(("unschedulable", "gated", "pending", "gone", "evicted", "kept", "victims"), _in_state),
    "bound": _placed,
    "nominated": _placed,
    "together": _together,
    "within": _within,
    "conditions": _conditions,
    "reservedFor": _reserved,
    "allocated": _allocated,
    "exists": _exists,
    "absent": _exists,
    "rejected": _rejected,
}
