"""Quantities: the grammar of Kubernetes, base units, rounding up, exactness (FILT-09)."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangproof.impl.objects.quantity import LARGEST, QuantityError, base_units, parse_quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("1", 1),
        ("+1", 1),
        ("-1", -1),
        ("1.", 1),
        (".5", Fraction(1, 2)),
        ("1.5", Fraction(3, 2)),
        ("500m", Fraction(1, 2)),
        ("1u", Fraction(1, 10**6)),
        ("1n", Fraction(1, 10**9)),
        ("2k", 2000),
        ("2M", 2 * 10**6),
        ("2G", 2 * 10**9),
        ("2T", 2 * 10**12),
        ("2P", 2 * 10**15),
        ("2E", 2 * 10**18),
        ("1Ki", 1024),
        ("1Mi", 1024**2),
        ("1.5Gi", 3 * 1024**3 // 2),
        ("1Ti", 1024**4),
        ("1Pi", 1024**5),
        ("1Ei", 1024**6),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e-3", Fraction(1, 1000)),
        ("12e+2", 1200),
        ("0.1", Fraction(1, 10)),
    ],
)
def test_grammar(text: str, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "1 ", " 1", "x", "1K", "1ki", "1mi", "1g", "1e", "1e3k", "1Kim", ".", "--1", "1,5", "0x10",
     "١", "1_000", "inf", "nan", "1e65", "1e-65", "1" * 65, "True", "1Gi\n"],
)  # fmt: skip
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text)
    assert caught.value.expected


@pytest.mark.parametrize(
    ("resource", "text", "units"),
    [
        ("cpu", "1", 1000),
        ("cpu", "0.5", 500),
        ("cpu", "100m", 100),
        ("cpu", "0.1m", 1),
        ("cpu", "1n", 1),
        ("cpu", "1.0001", 1001),
        ("memory", "1Gi", 1024**3),
        ("memory", "100m", 1),
        ("memory", "1.5", 2),
        ("ephemeral-storage", "1500m", 2),
        ("hugepages-2Mi", "4Mi", 4 * 1024**2),
        ("pods", "110", 110),
        ("nvidia.com/gpu", "8", 8),
        ("nvidia.com/gpu", "2000m", 2),
        ("memory", str(LARGEST), LARGEST),
    ],
)
def test_base_units_are_rounded_up(resource: str, text: str, units: int) -> None:
    assert base_units(resource, text) == units


@pytest.mark.parametrize(
    ("resource", "text", "expected"),
    [
        ("cpu", "-1", "at least 0"),
        ("memory", "-0.1", "at least 0"),
        ("memory", "8Ei", str(LARGEST)),
        ("cpu", str(LARGEST), "milli-CPU"),
        ("memory", "1e30", "bytes"),
        ("nvidia.com/gpu", "1.5", "a whole number of nvidia.com/gpu"),
        ("pods", "500m", "a whole number of pods"),
    ],
)
def test_what_no_base_unit_holds(resource: str, text: str, expected: str) -> None:
    with pytest.raises(QuantityError, match=expected):
        base_units(resource, text)


@given(st.integers(0, 10**12), st.sampled_from(["", "m", "k", "Ki", "M", "Mi"]))
def test_units_never_lose_anything(number: int, suffix: str) -> None:
    text = f"{number}{suffix}"
    exact = parse_quantity(text)
    units = base_units("memory", text)
    assert units - 1 < exact <= units
