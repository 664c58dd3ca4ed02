"""A trace as JSON and back, exactly: the file that `gangproof draw` reads and every engine can write.

The document is an object with `apiVersion: gangproof/v1` and `kind: Trace`, and besides these one member
for each field of `Trace`, under the field's name. Objects nest as the classes do; pairs and action
arguments are arrays; quantities are integers in base units; a member that has its default value may be left
out, and is when written. Nothing else is accepted: an unknown member, another version or a value of another
type is refused with one message that names the place, what was found and what is expected. Types are
compared strictly (the text "3" is no integer), which is why the reading is written here and not left to a
converter that coerces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from attrs import NOTHING, AttrsInstance, fields, has

from gangproof.counterexamples.trace import Trace

API_VERSION = "gangproof/v1"
KIND = "Trace"
LONGEST_NUMBER = 40
"""Digits."""

_NAMES = {str: "text", int: "an integer", bool: "true or false", NoneType: "null"}


class TraceFormatError(ValueError):
    """A document is not a trace; the message names the place, what was found and what is expected."""

    @classmethod
    def at(cls, path: str, found: object, expected: str) -> TraceFormatError:
        """The message for a value that is not what is expected at this place."""
        return cls(f"{path or 'the document'}: found {shown(found)}, expected {expected}")


def dumps(trace: Trace) -> str:
    """The trace as indented JSON; the same trace gives the same text."""
    document = {"apiVersion": API_VERSION, "kind": KIND, **to_plain(trace)}
    return json.dumps(document, indent=1) + "\n"


def loads(text: str | bytes) -> Trace:
    """The trace that `dumps` wrote. Raises `TraceFormatError`."""
    members = parse(text)
    for name, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if members.pop(name, None) != expected:
            raise TraceFormatError.at(name, parse(text).get(name, NOTHING), json.dumps(expected))
    return from_plain(members)


def parse(text: str | bytes) -> dict[str, object]:
    """The JSON object in the text. Raises `TraceFormatError` if it is none, or names a member twice."""
    try:
        document: object = json.loads(text, object_pairs_hook=_members, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise TraceFormatError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise TraceFormatError(f"byte {error.start}: not UTF-8") from error
    except RecursionError as error:
        raise TraceFormatError("too deeply nested to be a trace") from error
    if not isinstance(document, dict):
        raise TraceFormatError.at("", document, "an object")
    return cast(dict[str, object], document)


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise TraceFormatError(f"an integer of {len(digits)} digits found, at most {LONGEST_NUMBER} expected")
    return int(digits)


def to_plain(value: object) -> Any:
    """The value as objects, arrays, text, truth values and integers, without members that say nothing."""
    kind = type(value)
    if has(kind):
        return {
            field.name: to_plain(getattr(value, field.name))
            for field in fields(kind)
            if field.default is NOTHING or getattr(value, field.name) != field.default
        }
    if isinstance(value, tuple):
        return [to_plain(item) for item in cast(tuple[object, ...], value)]
    return str(value) if isinstance(value, StrEnum) else value


def from_plain(members: Mapping[str, object]) -> Trace:
    """The trace that `to_plain` took apart. Raises `TraceFormatError`."""
    try:
        return cast(Trace, _read(members, Trace, ""))
    except RecursionError as error:
        raise TraceFormatError("too deeply nested to be a trace") from error


def shown(value: object) -> str:
    """A value as an error message shows it: in short."""
    if value is NOTHING:
        return "nothing"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "an array"
    text = json.dumps(value, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _members(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise TraceFormatError(f"{shown(name)}: the member is there twice")
        members[name] = value
    return members


@cache
def _hints(cls: type[AttrsInstance]) -> dict[str, Any]:
    return get_type_hints(cls)


def _read(value: object, kind: Any, path: str) -> object:
    """The value as an instance of `kind`, a type of those that occur in `trace`."""
    if has(kind):
        return _object(value, kind, path)
    if get_origin(kind) is tuple:
        return _array(value, get_args(kind), path)
    if get_origin(kind) in (UnionType, Union):
        options = get_args(kind)
        if any(get_origin(option) is tuple for option in options):
            return _argument(value, path)
        if type(value) in options:
            return value
        raise TraceFormatError.at(path, value, " or ".join(_NAMES[option] for option in options))
    if issubclass(kind, StrEnum):
        words = [str(word) for word in kind]
        if value in words:
            return kind(value)
        raise TraceFormatError.at(path, value, "one of " + ", ".join(words))
    if type(value) is kind:
        return value
    raise TraceFormatError.at(path, value, _NAMES[kind])


def _object(value: object, kind: type[AttrsInstance], path: str) -> object:
    if not isinstance(value, Mapping):
        raise TraceFormatError.at(path, value, "an object")
    members = cast(Mapping[str, object], value)
    known = {field.name: field for field in fields(kind)}
    for name in members:
        if name not in known:
            place = path or "the document"
            raise TraceFormatError(f"{place}: found member {shown(name)}, expected only {', '.join(known)}")
    for name, field in known.items():
        if name not in members and field.default is NOTHING:
            raise TraceFormatError.at(_join(path, name), NOTHING, "a value")
    hints = _hints(kind)
    read = {name: _read(member, hints[name], _join(path, name)) for name, member in members.items()}
    try:
        return kind(**read)
    except ValueError as error:
        raise TraceFormatError(_join(path, str(error))) from error


def _array(value: object, items: tuple[Any, ...], path: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise TraceFormatError.at(path, value, "an array")
    values = cast(list[object], value)
    if items[-1] is Ellipsis:
        return tuple(_read(item, items[0], f"{path}[{i}]") for i, item in enumerate(values))
    if len(values) != len(items):
        raise TraceFormatError(f"{path}: found {len(values)} items, expected {len(items)}")
    return tuple(
        _read(item, kind, f"{path}[{i}]") for i, (item, kind) in enumerate(zip(values, items, strict=True))
    )


def _argument(value: object, path: str) -> object:
    """An `Argument`: the one union of `trace` that nests."""
    if isinstance(value, list):
        return tuple(_argument(item, f"{path}[{i}]") for i, item in enumerate(cast(list[object], value)))
    if value is None or type(value) in (str, int, bool):
        return value
    raise TraceFormatError.at(path, value, "text, an integer, true, false, null or an array of these")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
