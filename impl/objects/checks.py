"""The checks that validation is made of: each looks at one value and tells what is wrong with it.

A check gets the value of a field as plain data (text, integer, truth value, list, mapping, or None if the
field is absent) of the field's own type, and answers None or a `Finding`. Names are checked as Kubernetes
checks them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from attrs import frozen

from gangproof.impl.objects.quantity import QuantityError, base_units

LARGEST_INT32 = 2**31 - 1
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_QUALIFIED = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")


@frozen
class Finding:
    """What was found, what is expected, and where below the value if not at the value itself."""

    found: str
    expected: str
    below: tuple[str | int, ...] = ()


Check = Callable[[Any], Finding | None]


def fields_of(value: Any) -> Mapping[str, Any]:
    """A mapping that may be absent."""
    return {} if value is None else value


def entries_of(value: Any) -> list[Any]:
    """A list that may be absent."""
    return [] if value is None else value


def shown(value: object) -> str:
    """A value as a person wrote it, on one line, cut to a readable length, with nothing unprintable in it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = value if len(value) <= 60 else f"{value[:57]}..."
        plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
        return f'"{plain}"' + (f" ({len(value)} characters)" if len(value) > 60 else "")
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, int) and abs(value) > 10**40:
        return f"an integer of {value.bit_length()} bits"
    return str(value)


def required(check: Check) -> Check:
    """The field must be there, and pass the check."""

    def judge(value: Any) -> Finding | None:
        if value is not None:
            return check(value)
        finding = check("")
        return Finding("nothing", finding.expected if finding else "a value")

    return judge


def present(value: Any) -> Finding | None:
    """The field must be there."""
    return Finding("nothing", "a value") if value is None else None


def optional(check: Check) -> Check:
    """The field may be absent or empty; else it must pass the check."""
    return lambda value: None if value is None or value == "" else check(value)


@lru_cache(maxsize=65536)
def is_dns_label(text: str) -> bool:
    return len(text) <= 63 and re.fullmatch(_LABEL, text) is not None


@lru_cache(maxsize=65536)
def is_dns_subdomain(text: str) -> bool:
    return len(text) <= 253 and all(re.fullmatch(_LABEL, part) is not None for part in text.split("."))


@lru_cache(maxsize=65536)
def is_label_key(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    if slash and not is_dns_subdomain(prefix):
        return False
    return len(name) <= 63 and _QUALIFIED.fullmatch(name) is not None


@lru_cache(maxsize=65536)
def is_label_value(text: str) -> bool:
    return text == "" or (len(text) <= 63 and _QUALIFIED.fullmatch(text) is not None)


def dns_label(value: Any) -> Finding | None:
    if is_dns_label(value):
        return None
    return Finding(shown(value), "a DNS label: at most 63 of a-z, 0-9, -, no - at either end")


def dns_subdomain(value: Any) -> Finding | None:
    if is_dns_subdomain(value):
        return None
    return Finding(shown(value), "a DNS subdomain: at most 253 of a-z, 0-9, -, ., each part a DNS label")


def label_key(value: Any) -> Finding | None:
    if is_label_key(value):
        return None
    return Finding(shown(value), "a label key: [prefix/]name, the name at most 63 of A-Z, a-z, 0-9, -, _, .")


def path_segment(value: Any) -> Finding | None:
    if value and value not in (".", "..") and "/" not in value and "%" not in value:
        return None
    return Finding(shown(value), "a name without / and %, other than . and ..")


def labels(value: Any) -> Finding | None:
    for key, text in fields_of(value).items():
        if not is_label_key(key):
            return label_key(key)
        if not is_label_value(text):
            return Finding(shown(text), "a label value: at most 63 of A-Z, a-z, 0-9, -, _, .", (key,))
    return None


def integer(low: int, high: int = LARGEST_INT32) -> Check:
    """An integer from low to high."""
    if high == LARGEST_INT32:
        expected = f"an integer of at least {low}" if low != -LARGEST_INT32 - 1 else "a 32-bit integer"
    else:
        expected = f"an integer from {low} to {high}"

    def judge(value: Any) -> Finding | None:
        if isinstance(value, int) and low <= value <= high:
            return None
        over = isinstance(value, int) and value > high == LARGEST_INT32
        return Finding(shown(value), f"{expected}, at most {high}" if over else expected)

    return judge


def one_of(*choices: str) -> Check:
    """One of these texts."""
    expected = " or ".join((", ".join(choices[:-1]), choices[-1])) if len(choices) > 1 else "".join(choices)
    return lambda value: None if value in choices else Finding(shown(value), expected)


def number_or_share(value: Any) -> Finding | None:
    """A number of at least 0, or a percentage from 0% to 100% as text."""
    share = value.removesuffix("%") if isinstance(value, str) and value.endswith("%") else ""
    if isinstance(value, int) and not isinstance(value, bool):
        fits = 0 <= value <= LARGEST_INT32
    else:
        fits = share.isascii() and share.isdigit() and len(share) <= 3 and int(share) <= 100
    return None if fits else Finding(shown(value), "an integer of at least 0, or 0% to 100%")


def exactly_one(*fields: str) -> Check:
    """A mapping with exactly one of these fields set."""
    expected = f"exactly one of {', '.join(fields)}" if len(fields) > 1 else "".join(fields)

    def judge(value: Any) -> Finding | None:
        there = [name for name in fields if fields_of(value).get(name) is not None]
        if len(there) == 1:
            return None
        return Finding(" and ".join(there) or "none of them", expected)

    return judge


def entries(low: int, high: int | None, key: str | None = None) -> Check:
    """A list of low to high entries (high None: any number), no two with the same value of the key."""

    def judge(value: Any) -> Finding | None:
        items = entries_of(value)
        if len(items) < low:
            return Finding(f"{len(items)} entries", f"at least {low}")
        if high is not None and len(items) > high:
            return Finding(f"{len(items)} entries", f"at most {high}")
        seen: set[str] = set()
        for place, item in enumerate(items if key else ()):
            name = item.get(key)
            if name is not None and name in seen:
                return Finding(f"{shown(name)} again", f"a {key} that occurs once", (place, key or ""))
            seen.add(name or "")
        return None

    return judge


def quantities(value: Any) -> Finding | None:
    """A mapping from resource to quantity."""
    for resource, text in fields_of(value).items():
        try:
            base_units(resource, str(text))
        except QuantityError as error:
            return Finding(shown(text), error.expected, (resource,))
    return None
