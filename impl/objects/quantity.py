"""Kubernetes quantities (`250m`, `1.5Gi`, `2e3`) as integers in base units, exactly.

Base units are milli-CPU for cpu, bytes for memory and storage, and whole units of anything else; what lies
between two integers is rounded up (FILT-09). No floating point is involved, and a number has a bounded
length.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil

LARGEST = 2**63 - 1
LONGEST = 64
BYTES = ("memory", "ephemeral-storage", "storage")
_FORM = re.compile(
    r"(?P<sign>[+-]?)(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)"
    r"(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]+))?"
)
_SUFFIXES: dict[str, Fraction] = {
    **{f"{letter}i": Fraction(1024) ** n for n, letter in enumerate("KMGTPE", 1)},
    **{letter: Fraction(1000) ** n for n, letter in enumerate("kMGTPE", 1)},
    **{letter: Fraction(1, 1000) ** n for n, letter in enumerate("mun", 1)},
}


class QuantityError(ValueError):
    """A text that is no usable quantity; says what is expected instead."""

    def __init__(self, expected: str) -> None:
        super().__init__(f"expected {expected}")
        self.expected = expected


@lru_cache(maxsize=65536)
def parse_quantity(text: str) -> Fraction:
    """The exact value of a quantity; QuantityError if it is none, or too long to be sensible."""
    match = _FORM.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        raise QuantityError("a quantity such as 2, 500m, 1.5Gi or 1e3")
    value = Fraction(match["number"].rstrip("."))
    if match["suffix"]:
        value *= _SUFFIXES[match["suffix"]]
    elif match["exponent"]:
        exponent = int(match["exponent"])
        if abs(exponent) > LONGEST:
            raise QuantityError(f"an exponent from -{LONGEST} to {LONGEST}")
        value *= Fraction(10) ** exponent
    return -value if match["sign"] == "-" else value


@lru_cache(maxsize=65536)
def base_units(resource: str, text: str) -> int:
    """The quantity of a resource in its base unit, rounded up.

    QuantityError if it is no quantity, is negative, exceeds 63 bits in its base unit, or is a fraction of
    something that comes in whole units only (pods, extended resources).
    """
    value = parse_quantity(text)
    if value < 0:
        raise QuantityError("a quantity of at least 0")
    if resource == "cpu":
        value *= 1000
    elif value.denominator != 1 and resource not in BYTES and not resource.startswith("hugepages-"):
        raise QuantityError(f"a whole number of {resource}")
    units = ceil(value)
    if units > LARGEST:
        unit = "milli-CPU" if resource == "cpu" else "bytes" if resource in BYTES else "units"
        raise QuantityError(f"at most {LARGEST} {unit}")
    return units
