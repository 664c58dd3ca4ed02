"""docs/scenarios.md is in step with what is read and with what is judged."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pages import ROOT, blocks

from gangproof.checking import PROFILES
from gangproof.impl.gates import NAMES, SCENARIO_GATES
from gangproof.impl.profiles import INTENDED
from gangproof.load import load_scenarios_text
from gangproof.load.scenario_fields import EXPECTATIONS, OBJECTS, SCENARIO, STEP
from gangproof.load.schema import Either, Fields, ListOf, MapOf, Shape
from gangproof.load.steps import CALLS
from gangproof.properties.judges.everything import questions
from gangproof.properties.scenarios.report import MISSING, check_scenario
from gangproof.properties.search.explore import Limits
from gangproof.properties.verdict import Verdict

PAGE = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
RAW = ("manifest", "spec", "tolerations")
"""Keys below which Kubernetes' own fields stand."""


def section(heading: str) -> str:
    """The text below a heading, as far as the next one."""
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def keys(shape: Shape) -> Iterator[str]:
    """Every key of the format in a shape; those of Kubernetes' own fields are left out."""
    match shape:
        case Fields(shapes=shapes):
            for key, inner in shapes.items():
                yield key
                if key not in RAW:
                    yield from keys(inner)
        case ListOf(entry=inner) | MapOf(value=inner):
            yield from keys(inner)
        case Either(shapes=shapes):
            for inner in shapes.values():
                yield from keys(inner)
        case _:
            pass


def words(text: str) -> set[str]:
    """The words in what is set as code, the blocks included."""
    code = re.findall(r"`([^`]+)`", re.sub(r"```\w*", "", text))
    return {word for piece in code for word in re.findall(r"[A-Za-z][\w-]*", piece)}


def test_every_key_is_told() -> None:
    assert set(keys(SCENARIO)) - words(PAGE) == set()


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        ("The document", SCENARIO.shapes),
        ("Steps", STEP.shapes),
        ("Objects", OBJECTS),
        ("Expectations", EXPECTATIONS.shapes),
    ],
)
def test_a_table_has_a_row_for_each_key_and_for_nothing_else(heading: str, told) -> None:
    first_cells = re.findall(r"^\| (`[^|]*) \|", section(heading), re.MULTILINE)
    named = {word for cell in first_cells for word in re.findall(r"`([\w-]+)", cell)}
    settings = {"nodeScores", "scores", "backoff", "profiles", "group"}
    assert named - settings - {"result", "during"} == set(told)


@pytest.mark.parametrize("plural", OBJECTS)
def test_the_row_of_a_kind_has_its_keys(plural: str) -> None:
    (row,) = re.findall(rf"^\| `{plural}`°? \| (.*) \|$", section("Objects"), re.MULTILINE)
    assert set(OBJECTS[plural]) - words(row) == set()


def test_gates_and_calls() -> None:
    paragraph = PAGE.partition("**Gates.**")[2].partition("\n\n")[0]
    on = paragraph.partition("Off:")[0]
    told = {gate: gate in words(on) for gate in NAMES if gate in words(paragraph)}
    assert told == {gate: SCENARIO_GATES.enabled(gate) for gate in told}
    assert {"GangScheduling", "WorkloadAwarePreemption"} <= set(told)
    assert set(CALLS) <= words(section("Steps"))


def test_what_is_not_modelled_is_told() -> None:
    told = PAGE.partition("<!-- missing:begin -->")[2].partition("<!-- missing:end -->")[0]
    assert set(re.findall(r"`([\w ]+)`", told)) == set(MISSING)


@pytest.mark.parametrize(
    ("words_of_it", "feature"),
    [
        ("topology domains", "topology"),
        ("claims of a group", "claims"),
        ("Jobs", "jobs"),
        ("disruption budgets", "pdb"),
        ("lagging views", "lag"),
        ("restarts of the scheduler", "restart"),
    ],
)
def test_the_readme_says_so_too(words_of_it: str, feature: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    left_out = "".join(re.findall(r"^\| (?:in the contract alone|not yet) \| (.*)$", readme, re.MULTILINE))
    assert (words_of_it in left_out) == (feature in MISSING)


def test_the_readme_tells_the_profiles() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert ("cannot be judged by yet" in readme) == ("v1.36.3" not in PROFILES)


def test_the_example_holds() -> None:
    (example,) = [b for b in blocks(ROOT / "docs" / "scenarios.md") if b.language == "yaml"]
    (document,) = load_scenarios_text(example.text)
    report = check_scenario(document, "intended", INTENDED, questions(), Limits(20_000))
    assert report.verdict is Verdict.HOLDS, str(report)
