"""Scenarios with claims are searched without telling like pods apart, and come to what the full search comes to."""

from __future__ import annotations

import pytest

from gangproof.impl.profiles import INTENDED
from gangproof.load import load_scenarios_text
from gangproof.properties.judges.everything import questions
from gangproof.properties.scenarios.alike import key_of, told_apart
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.report import check_scenario
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.machine import itself

SHARED = """
scenario: shared
title: five members share a claim
gates: {DRAWorkloadResourceClaims: true}
steps:
- create:
    nodes: [{name: n1, cpu: 8}]
    deviceClasses: [{name: dev, devices: {n1: 1}}]
    claims: [{name: c, deviceClass: dev}]
    podGroups: [{name: g, gang: 2}]
    pods: [{name: "p[1-5]", group: g, claims: [{name: x, claim: c}]}]
"""


def scenario(steps: str, text: str = SHARED) -> Scenario:
    (found,) = load_scenarios_text(text + steps)
    return found


ALL = '- expect: {bound: ["p[1-5]"]}\n'
WRONG = '- expect: {pending: ["p[1-5]"]}\n'


@pytest.mark.parametrize("steps", [ALL, WRONG], ids=["all bound", "none bound"])
def test_the_verdict_is_that_of_the_full_search(steps: str) -> None:
    document = scenario(steps)
    found = [
        check_scenario(document, "intended", INTENDED, questions(), Limits(), key)
        for key in (itself, key_of(document))
    ]
    full, reduced = found
    assert full.verdict is reduced.verdict
    assert {f.violation.property for f in full.failures} == {f.violation.property for f in reduced.failures}
    assert reduced.states < full.states


def test_whoever_is_named_alone_keeps_all_like_it_apart() -> None:
    names = {f"default/p{number}" for number in range(1, 6)}
    assert told_apart(scenario(ALL)) == {"n1"}
    for step in (
        "- expect: {bound: [p1, p2]}\n",
        "- expect: {bound: {p3: n1}}\n",
        "- hold: [bind/p4]\n",
        "- delete: [pod/p5]\n",
    ):
        assert told_apart(scenario(step + ALL)) == {"n1", *names}


def test_without_claims_a_scenario_is_searched_as_it_is() -> None:
    plain = SHARED.replace("    claims: [{name: c, deviceClass: dev}]\n", "").replace(
        "    deviceClasses: [{name: dev, devices: {n1: 1}}]\n", ""
    )
    plain = plain.replace(", claims: [{name: x, claim: c}]", "")
    assert key_of(scenario(ALL, plain)) is itself
