"""Names and amounts as a person reads them; whatever a name contains, it stays one harmless line of text.

A trace may come from a cluster dump or from another program, so a key can hold line breaks, control
characters or marks that turn the writing direction. Every text that is shown goes through `clean`.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable

_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SHORT = 18
_BINARY_UNITS = (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))


def clean(text: str) -> str:
    """The text on one line; what controls instead of showing becomes a replacement character (U+FFFD)."""
    if text.isascii() and text.isprintable():
        return text
    spaced = " ".join(text.split()) if any(c in text for c in "\t\n\r") else text
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _HARMFUL else c for c in spaced)


def bare(key: str) -> str:
    """The key without the namespace that goes without saying."""
    return clean(key.removeprefix("default/"))


def short(key: str, limit: int = _SHORT) -> str:
    """The bare key, its middle left out if it is longer than `limit` characters."""
    name = bare(key)
    if len(name) <= limit:
        return name
    tail = limit // 2
    return f"{name[: limit - tail - 1]}…{name[-tail:]}"


def clip(text: str, limit: int) -> str:
    """The cleaned text, cut if it is longer than `limit` characters."""
    whole = clean(text)
    return whole if len(whole) <= limit else f"{whole[: limit - 1]}…"


def amount(resource: str, quantity: int) -> str:
    """A quantity in the units that Kubernetes' users write: 1500 milli-CPU is "1.5", 2³⁰ bytes are "1Gi"."""
    if resource == "cpu":
        whole, rest = divmod(abs(quantity), 1000)
        fraction = f".{rest:03}".rstrip("0") if rest else ""
        return f"{'-' if quantity < 0 else ''}{whole}{fraction}"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        for unit, size in _BINARY_UNITS:
            if quantity and quantity % size == 0:
                return f"{quantity // size}{unit}"
    return str(quantity)


def amounts(pairs: Iterable[tuple[str, int]]) -> str:
    """Resources and their quantities in one phrase: "cpu 1.5, memory 1Gi"."""
    return ", ".join(f"{clean(resource)} {amount(resource, quantity)}" for resource, quantity in pairs)


def numbers(pairs: Iterable[tuple[str, int | str]]) -> str:
    """Labels and their numbers in one phrase: "bound 1, minimum 2"."""
    return ", ".join(f"{clean(label)} {clean(str(value))}" for label, value in pairs)


def wrap(text: str, columns: int, indent: str = "", *, first: str | None = None) -> list[str]:
    """The cleaned text in lines of at most `columns`; `first` replaces the indent of the first line."""
    return textwrap.wrap(
        clean(text), columns, initial_indent=indent if first is None else first, subsequent_indent=indent
    )


def pack(phrases: Iterable[str], columns: int, between: str = " · ") -> list[str]:
    """The phrases in lines of at most `columns`, none broken unless it is longer than a line."""
    lines: list[str] = []
    for phrase in phrases:
        if lines and len(lines[-1]) + len(between) + len(phrase) <= columns:
            lines[-1] += between + phrase
        else:
            lines.extend(wrap(phrase, columns))
    return lines
