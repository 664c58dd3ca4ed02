"""Every scenario file of the repository holds, in both profiles."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gangproof.impl.profiles import INTENDED, V1_36_3, V1_36_3_PROMPT
from gangproof.load import load_scenarios
from gangproof.properties.judges.everything import questions
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.report import check_scenario
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.system import Questions
from gangproof.properties.verdict import Verdict

FILES = sorted((Path(__file__).parents[2] / "scenarios").glob("*.scenario.yaml"))
DOCUMENTS = [document for file in FILES for document in load_scenarios(file)]
LIMITS = Limits(states=20_000)


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if d.profile != "v1.36.3"], ids=lambda d: d.id)
def test_intended(document: Scenario) -> None:
    report = check_scenario(document, "intended", INTENDED, questions(), LIMITS)
    assert report.verdict is Verdict.HOLDS, str(report)


SHIPPED = [d for d in DOCUMENTS if d.profile != "intended"]


@pytest.mark.parametrize("document", SHIPPED, ids=lambda d: d.id)
def test_shipped(document: Scenario) -> None:
    """A document that does not name v1.36.3 is judged without the deviations that are races."""
    rules = V1_36_3 if document.profile == "v1.36.3" else V1_36_3_PROMPT
    report = check_scenario(document, "v1.36.3", rules, Questions(), LIMITS)
    assert report.verdict is Verdict.HOLDS, str(report)


def test_ids_are_unique() -> None:
    assert [name for name, times in Counter(d.id for d in DOCUMENTS).items() if times > 1] == []
