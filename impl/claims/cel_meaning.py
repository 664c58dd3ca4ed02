"""What the pieces of a CEL expression mean: each becomes a function of a device (see `cel`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from gangproof.impl.objects.device import Device, Version
from gangproof.impl.objects.quantity import QuantityError, parse_quantity


class CelError(Exception):
    """An expression that has no value for a device; the text says why."""


class BeyondCelError(Exception):
    """An expression outside of the part that is modelled; the text says which piece of it."""


class MalformedCelError(Exception):
    """What is no CEL expression; the text says which piece of it is out of place."""


@frozen
class _Fields:
    """A map whose fields can be selected: the attributes or capacities of one domain."""

    values: Mapping[str, Any]


@frozen
class _Items:
    """A list."""

    values: tuple[Any, ...]


@frozen
class _Domains:
    """The attributes, or the capacities, of a device by domain; a domain that it lacks is empty."""

    values: Mapping[str, Mapping[str, Any]]


@frozen
class Subject:
    driver: str
    attributes: _Domains
    capacity: _Domains


Value = Any
Expression = Callable[[Subject], Value]


def subject_of(driver: str, device: Device) -> Subject:
    """What `device` is in an expression."""
    return Subject(driver, _domains(device.attributes), _domains(device.capacity))


def _domains(named: Mapping[str, Any]) -> _Domains:
    found: dict[str, dict[str, Any]] = {}
    for name, value in named.items():
        domain, _, last = name.rpartition("/")
        found.setdefault(domain, {})[last] = value
    return _Domains(found)


def constant(value: Value) -> Expression:
    """The same value of every device."""
    return lambda _: value


def list_of(items: tuple[Expression, ...]) -> Expression:
    """A list of the items' values."""
    return lambda subject: _Items(tuple(item(subject) for item in items))


def truth(value: Value) -> bool:
    """The value, which must be a truth value."""
    if not isinstance(value, bool):
        raise CelError("found something that is no truth value")
    return value


def negated(found: Expression) -> Expression:
    """`!` before the expression."""
    return lambda subject: not truth(found(subject))


def minus(found: Expression) -> Expression:
    """`-` before the expression."""

    def value(subject: Subject) -> Value:
        number = found(subject)
        if type(number) is not int:
            raise CelError("found a minus before something that is no integer")
        return -number

    return value


def either(sides: Sequence[Expression], decides: bool) -> Expression:
    """A side with the value that decides does so, whatever becomes of the others; else errors come through."""

    def value(subject: Subject) -> bool:
        failed: CelError | None = None
        for side in sides:
            try:
                if truth(side(subject)) is decides:
                    return decides
            except CelError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return not decides

    return value


def related(sign: str, left: Expression, right: Expression) -> Expression:
    """Two expressions compared, by one of == != < <= > >= in."""

    def value(subject: Subject) -> bool:
        one, other = left(subject), right(subject)
        if sign == "in":
            if isinstance(other, _Fields | _Domains):
                return isinstance(one, str) and one in other.values
            if isinstance(other, _Items):
                return any(type(one) is type(item) and one == item for item in other.values)
            raise CelError("found 'in' before something that is no list and no map")
        alike = type(one) is type(other)
        if sign in ("==", "!="):
            return (alike and one == other) is (sign == "==")
        if not alike:
            raise CelError(f"found {sign} between values of different types")
        if isinstance(one, bool) or not isinstance(one, int | str):
            raise CelError(f"found {sign} between values that have no order")
        order = (one > other) - (one < other)
        return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[sign]

    return value


def field_of(name: str, found: Expression) -> Expression:
    """A field after a dot."""

    def value(subject: Subject) -> Value:
        of = found(subject)
        if isinstance(of, Subject) and name in ("driver", "attributes", "capacity"):
            return getattr(of, name)
        if isinstance(of, Subject) and name == "allowMultipleAllocations":
            return False
        if isinstance(of, _Fields) and name in of.values:
            return of.values[name]
        raise CelError(f"no such key: {name}")

    return value


def at_index(found: Expression, index: Expression) -> Expression:
    """What stands at an index in brackets."""

    def value(subject: Subject) -> Value:
        of, at = found(subject), index(subject)
        if isinstance(of, _Domains) and isinstance(at, str):
            return _Fields(of.values.get(at, {}))
        if isinstance(of, _Fields) and isinstance(at, str) and at in of.values:
            return of.values[at]
        if isinstance(of, _Items) and type(at) is int and 0 <= at < len(of.values):
            return of.values[at]
        raise CelError(f"no such key: {at}")

    return value


def function(name: str, arguments: tuple[Expression, ...]) -> Expression:
    """A call of a function. Raises BeyondCelError."""
    if len(arguments) != 1 or name not in ("has", "quantity", "semver", "size"):
        raise BeyondCelError(f"{name}()")
    (argument,) = arguments

    def has(subject: Subject) -> bool:
        try:
            argument(subject)
        except CelError as error:
            if str(error).startswith("no such key"):
                return False
            raise
        return True

    def made(subject: Subject) -> Value:
        text = argument(subject)
        if name == "size" and isinstance(text, str | _Items):
            return _size(text)
        if not isinstance(text, str) or name == "size":
            raise CelError(f"found {name}() of something that it does not take")
        if name == "semver":
            _version(text)
            return Version(text)
        try:
            return parse_quantity(text)
        except QuantityError as error:
            raise CelError(f"quantity({text!r}): {error}") from None

    return has if name == "has" else made


_TEXT: Mapping[str, Callable[[str, str], bool]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": lambda text, part: part in text,
}
_COMPARED: Mapping[str, Callable[[int], Value]] = {
    "compareTo": lambda order: order,
    "isGreaterThan": lambda order: order > 0,
    "isLessThan": lambda order: order < 0,
}
_CHANGED: Mapping[str, Callable[[str], str]] = {"lowerAscii": str.lower, "upperAscii": str.upper}


def method(name: str, found: Expression, arguments: tuple[Expression, ...]) -> Expression:
    """A call of a method. Raises BeyondCelError."""
    takes = 0 if name in ("size", *_CHANGED) else 1
    if name not in ("size", *_TEXT, *_COMPARED, *_CHANGED) or len(arguments) != takes:
        raise BeyondCelError(f".{name}()")

    def value(subject: Subject) -> Value:
        of = found(subject)
        args = [argument(subject) for argument in arguments]
        if name == "size" and isinstance(of, str | _Items):
            return _size(of)
        if isinstance(of, str) and name in _CHANGED:
            return _CHANGED[name](of)
        if isinstance(of, str) and name in _TEXT and isinstance(args[0], str):
            return _TEXT[name](of, args[0])
        if isinstance(of, Fraction | Version) and name in _COMPARED and type(of) is type(args[0]):
            one, other = _ordered(of), _ordered(args[0])
            return _COMPARED[name]((one > other) - (one < other))
        raise CelError(f"found .{name}() of something that has no such method")

    return value


def _size(value: str | _Items) -> int:
    return len(value.values if isinstance(value, _Items) else value)


def _ordered(value: Fraction | Version) -> Any:
    return _version(value.text) if isinstance(value, Version) else value


_VERSION = re.compile(
    r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]*)?"
)


def _version(text: str) -> tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]:
    """The version so that it can be compared: numbers first, and a pre-release before its release."""
    found = _VERSION.fullmatch(text)
    if found is None:
        raise CelError(f"semver({text[:60]!r}): no version")
    major, minor, patch, pre = found.groups()
    parts = tuple(
        (not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in (pre or "").split(".")
    )
    return int(major), int(minor), int(patch), pre is None, parts
