"""Lines of fields, in YAML and in JSON, found again in the text."""

import json
from typing import Any

import pytest

from gangproof.load.lines import lines
from gangproof.load.text import documents

YAML = """# a comment
a: 1
b:
- x: {y: 2}
  z: 3
-
  - ü
---
c:
  d: "é"
"""
JSON = '{"a": 1,\n"b": [{"x": {"y": 2},\n"z": 3},\n["ü"]]}\n\n{"c": {\n"d": "é"}}'
PLACES: list[tuple[int, tuple[str | int, ...], int, int]] = [
    (0, (), 2, 1),
    (0, ("a",), 2, 1),
    (0, ("b",), 3, 2),
    (0, ("b", 0, "x", "y"), 4, 2),
    (0, ("b", 0, "z"), 5, 3),
    (0, ("b", 1, 0), 7, 4),
    (0, ("b", 0, "missing", "deep"), 4, 2),
    (0, ("missing",), 2, 1),
    (1, ("c",), 9, 6),
    (1, ("c", "d"), 10, 7),
]


@pytest.mark.parametrize(("text", "column"), [(YAML, 2), (JSON, 3)], ids=["yaml", "json"])
def test_lines(text: str, column: int) -> None:
    (first, *_) = documents("x", text)
    found = lines(first.text, [(number, path) for number, path, *_ in PLACES])
    assert {(p[0], p[1]): p[column] for p in PLACES} == found


def test_json_and_yaml_hold_the_same_data() -> None:
    assert [d.data for d in documents("x", YAML)] == [d.data for d in documents("x", JSON)]


def test_a_large_json_is_read_once_for_all_lines() -> None:
    data: Any = {"items": [{"name": f"p{i}", "deep": {"value": i}} for i in range(2000)]}
    text = json.dumps(data, indent=1)
    (document,) = documents("x", text)
    wanted = [(0, ("items", i, "deep", "value")) for i in range(0, 2000, 97)]
    found = lines(document.text, wanted)
    rows = text.splitlines()
    assert all(rows[found[place] - 1].strip() == f'"value": {place[1][1]}' for place in wanted)
