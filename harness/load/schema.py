"""The shape of objects: which fields there are, of what type, and which of them decide anything.

A shape is a small tree of the values below; `walk` holds plain data against it. It tells what is unknown or
of the wrong type, with a guess at what was meant, and what is legal and decisive but not modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Literal, TypeGuard

from attrs import field, frozen

from gangproof.impl.objects.checks import shown
from gangproof.impl.objects.validation import Path

Type = Literal["string", "integer", "boolean", "quantity"]


@frozen
class Scalar:
    """One value of that type: of exactly one of these Python types, so that a truth value is no integer."""

    type: Type
    accepts: tuple[type, ...]

    @property
    def word(self) -> str:
        """How the type is called in an error."""
        return f"a{'n' if self.type[0] in 'aeiou' else ''} {self.type}"


@frozen
class Ignored:
    """Legal, and nothing that is modelled reads it."""


@frozen
class Unmodelled:
    """Legal, and decisive for the scheduler if it is not empty, but not modelled; `why` is the report."""

    why: str


@frozen
class MapOf:
    """A mapping from any text to values of one shape."""

    value: Shape


@frozen
class ListOf:
    """A list of entries of one shape."""

    entry: Shape


@frozen
class Fields:
    """A mapping with these fields; `hints` tell what to do about some that are unknown."""

    shapes: Mapping[str, Shape]
    hints: Mapping[str, str] = field(factory=dict[str, str])


@frozen
class Either:
    """One of several shapes, told apart by the Python type of the data; `word` calls them in an error."""

    shapes: Mapping[type, Shape]
    word: str


Shape = Scalar | Ignored | Unmodelled | MapOf | ListOf | Fields | Either

STRING = Scalar("string", (str,))
INTEGER = Scalar("integer", (int,))
BOOLEAN = Scalar("boolean", (bool,))
QUANTITY = Scalar("quantity", (str, int, float))
IGNORED = Ignored()
STRINGS = ListOf(STRING)
TEXT_MAP = MapOf(STRING)
QUANTITIES = MapOf(QUANTITY)


@frozen
class Misfit:
    """Where data does not have its shape; without `expected` it is only not modelled, for `found`."""

    path: Path
    found: str
    expected: str = ""
    hint: str = ""


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def type_word(value: object) -> str:
    """What a value is, with its beginning if it is short: what an error says was found."""
    if isinstance(value, bool):
        return f"the boolean {shown(value)}"
    if isinstance(value, str):
        return f"the string {shown(value)}"
    if isinstance(value, int):
        return f"the integer {shown(value)}"
    if isinstance(value, float):
        return f"the number {value!r}"
    return shown(value)


def walk(shape: Shape, data: Any, tell: Callable[[Misfit], None], path: Path = ()) -> None:
    """Hold data against its shape and tell every misfit; null stands for an absent field everywhere.

    A dump has millions of values, most of them scalars in mappings: those are judged without a call.
    """
    if isinstance(shape, Fields):
        if not is_mapping(data):
            tell(Misfit(path, type_word(data), f"a mapping with {_some(shape.shapes)}"))
            return
        shapes = shape.shapes
        for name, value in data.items():
            inner = shapes.get(name)
            if inner is None:
                tell(unknown_field((*path, name), name, shapes, shape.hints))
            elif inner is IGNORED or value is None:
                continue
            elif not isinstance(inner, Scalar) or value.__class__ not in inner.accepts:
                walk(inner, value, tell, (*path, name))
    elif isinstance(shape, Scalar):
        if data.__class__ not in shape.accepts:
            number = isinstance(data, (bool, int, float))
            hint = "quote it" if shape.type == "string" and number else ""
            tell(Misfit(path, type_word(data), shape.word, hint))
    elif isinstance(shape, MapOf):
        if not is_mapping(data):
            tell(Misfit(path, type_word(data), "a mapping"))
            return
        inner = shape.value
        accepted = inner.accepts if isinstance(inner, Scalar) else ()
        for name, value in data.items():
            if value is None:
                tell(Misfit((*path, name), "nothing", "a value"))
            elif value.__class__ not in accepted:
                walk(inner, value, tell, (*path, name))
    elif isinstance(shape, ListOf):
        if not is_list(data):
            tell(Misfit(path, type_word(data), "a list"))
            return
        for place, value in enumerate(data):
            if value is None:
                tell(Misfit((*path, place), "nothing", "a value"))
            else:
                walk(shape.entry, value, tell, (*path, place))
    elif isinstance(shape, Either):
        inner = shape.shapes.get(data.__class__)
        if inner is None:
            tell(Misfit(path, type_word(data), shape.word))
        else:
            walk(inner, data, tell, path)
    elif isinstance(shape, Unmodelled) and data not in (None, "", [], {}, False):
        tell(Misfit(path, shape.why))


def _some(shapes: Mapping[str, Shape]) -> str:
    names = list(shapes)
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def unknown_field(path: Path, name: str, known: Mapping[str, Any], hints: Mapping[str, str]) -> Misfit:
    """The misfit for a field that is not there, with the likely meaning."""
    close = get_close_matches(name, known, n=1) if len(name) <= 64 else []
    folded = [k for k in known if k.lower() == name.lower()]
    guess = folded or close
    hint = hints.get(name) or (f"did you mean {guess[0]}?" if guess else f"there are {_some(known)}")
    return Misfit(path, f"the unknown field {shown(name)}", "a known field", hint)
