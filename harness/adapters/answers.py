"""The answers of an adapter, held against their form, so that a slip of its author is told by field."""

from __future__ import annotations

from typing import Any

from gangproof.adapters.protocol import VERSION, AdapterError, Data
from gangproof.impl.objects.checks import entries_of
from gangproof.impl.objects.validation import path_text
from gangproof.load.recorded_fields import EVENT, SNAPSHOT
from gangproof.load.schema import (
    IGNORED,
    INTEGER,
    STRING,
    STRINGS,
    Fields,
    ListOf,
    Misfit,
    Shape,
    is_list,
    is_mapping,
    walk,
)

HELLO = Fields({"name": STRING, "version": STRING, "protocol": INTEGER, "can": STRINGS})
LOG = Fields({"events": ListOf(EVENT), "cycles": INTEGER, "hotLoop": INTEGER, "errors": IGNORED})


def hello(answer: Any) -> Data:
    """The answer to `hello`. Raises AdapterError if it is none, or speaks another version."""
    _hold("hello", HELLO, answer)
    if answer.get("protocol") != VERSION:
        raise AdapterError("answer", f"hello: protocol: found {answer.get('protocol')}, expected {VERSION}")
    if not answer.get("name"):
        raise AdapterError("answer", "hello: name: found nothing, expected the scheduler's name")
    return answer


def look(answer: Any) -> Data:
    """The answer to `observe`. Raises AdapterError if it is none. A group's conditions may be null."""
    if is_mapping(answer) and is_mapping(answer.get("podGroups")):
        groups: Data = answer["podGroups"]
        answer = {**answer, "podGroups": {name: entries_of(groups[name]) for name in groups}}
    _hold("observe", SNAPSHOT, answer)
    return answer


def log(answer: Any) -> Data:
    """The answer to `log`. Raises AdapterError if it is none."""
    _hold("log", LOG, answer)
    return answer


def length(answer: Any) -> int:
    """How many events an answer to `log` has, without a look at each. Raises AdapterError if it is none."""
    if is_mapping(answer) and is_list(answer.get("events")):
        return len(answer["events"])
    return len(entries_of(log(answer).get("events")))


def _hold(request: str, shape: Shape, answer: Any) -> None:
    misfits: list[Misfit] = []
    walk(shape, answer, misfits.append)
    for misfit in misfits:
        where = f"{request}: {path_text(misfit.path)}" if misfit.path else request
        hint = f"; {misfit.hint}" if misfit.hint else ""
        raise AdapterError("answer", f"{where}: found {misfit.found}, expected {misfit.expected}{hint}")
