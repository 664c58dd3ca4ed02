"""A trace in the Informal Trace Format, so that the tools of TLA+, Quint and Apalache can read it, and back.

Each frame is a state. Its variables are the fields of `Frame` and `event`, the event that leaves the state
(a list of none or one). Objects are records with every field, quantities are big integers, pairs are
tuples, everything else that is a tuple here is a list; a field that may be missing is a list of none or
one. What concerns the whole trace is in `#meta`, under `gangproof`, in the form of
`gangproof.counterexamples.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import NoneType, SimpleNamespace
from typing import Any, cast, get_args, get_type_hints

import itf_py
from attrs import evolve, fields, has

from gangproof.counterexamples.json import TraceFormatError, from_plain, parse, to_plain
from gangproof.counterexamples.trace import ClaimView, Event, Frame, GroupView, NodeView, PodView, Trace, Wait

_VARIABLES = (*(field.name for field in fields(Frame)), "event")
_OPTIONAL: dict[type, frozenset[str]] = {
    kind: frozenset(name for name, hint in get_type_hints(kind).items() if NoneType in get_args(hint))
    for kind in (NodeView, PodView, GroupView, ClaimView, Wait, Event)
}
_RECORDS = {
    "nodes": NodeView,
    "pods": PodView,
    "groups": GroupView,
    "claims": ClaimView,
    "waits": Wait,
    "event": Event,
}


def dumps(trace: Trace) -> str:
    """The trace as ITF; the same trace gives the same text."""
    whole: dict[str, object] = to_plain(evolve(trace, frames=(Frame(),), events=(), loop=None))
    del whole["frames"]
    states = [
        itf_py.State(meta={"index": i}, values=_state(frame, trace.events[i : i + 1]))
        for i, frame in enumerate(trace.frames)
    ]
    meta: dict[str, object] = {"format": "ITF", "gangproof": whole}
    document = itf_py.trace_to_json(itf_py.Trace(meta, [], list(_VARIABLES), states, trace.loop))
    return json.dumps(document, indent=1) + "\n"


def loads(text: str | bytes) -> Trace:
    """The trace in an ITF document with the variables above; metadata may be missing.

    Raises `TraceFormatError`.
    """
    document = parse(text)
    try:
        found = itf_py.trace_from_json(document)
        whole = dict(cast(dict[str, object], found.meta.get("gangproof", {"title": "a trace"})))
        states = [(_plain_frame(state), _plain_event(state)) for state in found.states]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise TraceFormatError(f"not an ITF trace: {type(error).__name__}: {error}") from error
    whole["frames"] = [frame for frame, _ in states]
    whole["events"] = [event for _, leaving in states for event in leaving]
    if found.loop is not None:
        whole["loop"] = found.loop
    return from_plain(whole)


def _state(frame: Frame, leaving: Sequence[Event]) -> dict[str, object]:
    values = {field.name: _value(getattr(frame, field.name)) for field in fields(Frame)}
    return {**values, "event": [_value(event) for event in leaving]}


def _value(value: object) -> object:
    kind = type(value)
    if has(kind):
        optional = _OPTIONAL[kind]
        members: dict[str, object] = {}
        for field in fields(kind):
            member = getattr(value, field.name)
            if field.name in optional:
                member = () if member is None else (member,)
            members[field.name] = _value(member)
        return SimpleNamespace(**members)
    if isinstance(value, tuple):
        return [_item(item) for item in cast(tuple[object, ...], value)]
    return to_plain(value)


def _item(value: object) -> object:
    return tuple(cast(tuple[object, ...], value)) if isinstance(value, tuple) else _value(value)


def _plain_frame(state: itf_py.State) -> dict[str, object]:
    unknown = sorted(set(state.values) - set(_VARIABLES))
    if unknown:
        raise ValueError(f"variable {unknown[0]!r} found, expected only {', '.join(_VARIABLES)}")
    return {
        name: [_plain_record(item, _RECORDS[name]) for item in value] if name in _RECORDS else value
        for name, value in state.values.items()
        if name != "event"
    }


def _plain_event(state: itf_py.State) -> list[object]:
    return [_plain_record(item, Event) for item in state.values.get("event", [])]


def _plain_record(record: Any, kind: type) -> dict[str, object]:
    members: dict[str, object] = {}
    for name, value in record._asdict().items():
        if name in _OPTIONAL[kind]:
            if len(value) > 1:
                raise ValueError(f"{kind.__name__}.{name}: found {len(value)} values, expected none or one")
            members[name] = value[0] if value else None
        else:
            members[name] = _plain(value)
    return members


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast(Sequence[object], value)]
    return value
