"""Names in scenarios: patterns such as `p[1-4]`, namespaces, and references such as `pod/other/r1`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import get_args

from gangproof.impl.objects.checks import shown
from gangproof.impl.objects.validation import Path
from gangproof.properties.scenarios.records import Kind, Ref

MOST_NAMES = 1000
CLUSTER = ("node", "deviceClass", "priorityClass")
KINDS: tuple[Kind, ...] = get_args(Kind)
_PATTERN = re.compile(r"\[([0-9]{1,6})-([0-9]{1,6})\]")


class UnreadableError(Exception):
    """Something in a scenario that cannot be meant: where, what was found, what is expected."""

    def __init__(self, path: Path, found: str, expected: str, hint: str = "") -> None:
        super().__init__(path, found, expected, hint)
        self.path = path
        self.found = found
        self.expected = expected
        self.hint = hint


def expand(text: str, path: Path) -> tuple[str, ...]:
    """The names that a pattern stands for, in order; a text without a pattern stands for itself."""
    names = [text]
    while (match := _PATTERN.search(names[0])) is not None:
        low, high = int(match[1]), int(match[2])
        if low > high:
            raise UnreadableError(path, f"the range {match[0]}", "a range that goes up, such as [1-4]")
        if len(names) * (high - low + 1) > MOST_NAMES:
            raise UnreadableError(path, f"more than {MOST_NAMES} names", f"at most {MOST_NAMES}")
        numbers = range(low, high + 1)
        names = [_PATTERN.sub(str(number), name, count=1) for name in names for number in numbers]
    if "[" in names[0] or "]" in names[0]:
        raise UnreadableError(path, shown(text), "a name, or a pattern such as p[1-4]")
    return tuple(names)


def keys(text: str, path: Path) -> tuple[str, ...]:
    """The keys `namespace/name` that a name or pattern stands for; without a namespace it is default."""
    return tuple(name if "/" in name else f"default/{name}" for name in expand(text, path))


def all_keys(texts: list[str], path: Path) -> tuple[str, ...]:
    """The keys of a list of names and patterns, each once, in order."""
    found = (key for place, text in enumerate(texts) for key in keys(text, (*path, place)))
    return tuple(dict.fromkeys(found))


def refs(text: str, path: Path) -> tuple[Ref, ...]:
    """The objects that `kind/name` or `kind/namespace/name` stands for."""
    kind, slash, name = text.partition("/")
    if not slash or not name or kind not in KINDS:
        close = get_close_matches(kind, KINDS, n=1) if len(kind) <= 64 else []
        hint = f"did you mean {close[0]}/{name or '…'}?" if close else f"kinds are {', '.join(KINDS)}"
        raise UnreadableError(path, shown(text), "kind/name", hint)
    names = expand(name, path) if kind in CLUSTER else keys(name, path)
    return tuple(Ref(kind, key) for key in names)


def all_refs(texts: list[str], path: Path) -> tuple[Ref, ...]:
    """The objects that a list of references stands for, in order."""
    return tuple(ref for place, text in enumerate(texts) for ref in refs(text, (*path, place)))


_UNITS: Mapping[str, int] = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
_DURATION = re.compile(r"(?:[0-9]{1,9}(?:ms|s|m|h))+")


def milliseconds(text: str, path: Path) -> int:
    """A duration such as 90s, 1m30s or 500ms."""
    if _DURATION.fullmatch(text) is None:
        raise UnreadableError(path, shown(text), "a duration such as 90s, 5m or 500ms")
    return sum(int(n) * _UNITS[unit] for n, unit in re.findall(r"([0-9]+)(ms|s|m|h)", text))
