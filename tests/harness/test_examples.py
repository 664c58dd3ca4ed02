"""The examples end as examples/README.md and examples/expected.json say."""

from __future__ import annotations

import json

import pytest
from front_door import ROOT

import gangproof

EXAMPLES = ROOT / "examples"
EXPECTED = json.loads((EXAMPLES / "expected.json").read_text(encoding="utf-8"))


def told(report: gangproof.Report) -> dict[str, object]:
    """What a report says about an example, free of numbers that only tell how it was found."""
    return {
        "exitCode": report.exit_code,
        "featureGates": report.cluster.gates if report.cluster is not None else "",
        "outcomes": [
            {
                "bound": dict(outcome.bound),
                "pending": dict(outcome.pending),
                "conditions": dict(outcome.conditions),
            }
            for outcome in report.outcomes
        ],
        "notModelled": [f"{item.kind} {item.name}" for item in report.not_modelled],
    }


@pytest.mark.parametrize("name", sorted(set(EXPECTED) - {"broken"}))
def test_an_example_ends_as_expected(name):
    folder, _, order = name.partition(" ")
    report = gangproof.check(EXAMPLES / folder, any_order=bool(order))
    assert told(report) == EXPECTED[name]


def test_mistakes_are_told_with_their_lines():
    with pytest.raises(gangproof.InputError) as caught:
        gangproof.check(EXAMPLES / "broken")
    problems = caught.value.problems
    assert [(p.line, p.subject, p.field) for p in problems] == [tuple(p) for p in EXPECTED["broken"]]
    lines = (EXAMPLES / "broken" / "pods.yaml").read_text(encoding="utf-8").splitlines()
    assert all(p.field.rpartition(".")[2] in lines[p.line - 1] for p in problems)


def test_every_example_is_expected_and_told():
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir() and any(path.glob("*.yaml"))}
    assert folders == {name.partition(" ")[0] for name in EXPECTED}
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{folder}/`" in readme for folder in folders)
