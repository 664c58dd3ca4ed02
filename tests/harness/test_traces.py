"""Counterexamples of clusters and scenarios: small, told, and replayable by the scenario that comes with them."""

from __future__ import annotations

import pytest
from front_door import ROOT

import gangproof
from gangproof import checking
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, profile
from gangproof.load import load_scenarios, load_scenarios_text
from gangproof.properties.scenarios.document import Create, Expect, Scenario, Step
from gangproof.properties.scenarios.write import NotWritableError, dumps

NO_QUORUM = Change("no-quorum", "the minimum is always met", {"quorum": lambda old: lambda *_: True})
GANG = """\
scenario: too-much
title: a gang of two beside what has nothing to do with it
steps:
- create:
    nodes: [{name: n, cpu: 1}, {name: m, cpu: 1}]
    podGroups: [{name: g, gang: 3}, {name: other, basic: true}]
    pods: [{name: x, cpu: 1}, {name: y, group: other, cpu: 1}]
- settle: true
- create:
    pods: [{name: "p[1-3]", group: g, cpu: 1, labels: {a: b}}]
- delete: [pod/x]
- expect: {bound: [y]}
"""


@pytest.fixture
def without_quorum(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler for which every quorum is met."""
    monkeypatch.setattr(checking, "PROFILES", {"intended": profile(INTENDED, NO_QUORUM)})


def created(document: Scenario) -> list[str]:
    return [obj.key for step in document.steps if isinstance(step, Create) for obj in step.objects]


@pytest.fixture(scope="module")
def report():
    """What two gangs come to that fit alone but not together, if every quorum is met."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checking, "PROFILES", {"intended": profile(INTENDED, NO_QUORUM)})
        return gangproof.check(ROOT / "examples" / "two-gangs")


@pytest.mark.usefixtures("without_quorum")
class TestCluster:
    def test_the_promises_that_a_missing_quorum_breaks(self, report):
        assert report.exit_code == 1
        assert {"INV-01", "INV-02", "INV-03"} <= {finding.property for finding in report.findings}

    def test_a_trace_is_told_with_claim_numbers_and_citation(self, report):
        trace = next(t for t in report.traces if t.property_id == "INV-03")
        assert trace.claim.startswith("A started gang")
        assert dict(trace.numbers) == {"placed": 1, "minimum": 3}
        assert trace.citation
        assert dict(trace.meta)["profile"] == "intended"
        assert len(trace.involved) == 1
        assert trace.property_id in str(report)

    def test_nothing_is_left_that_could_be_left_out(self, report):
        trace = next(t for t in report.traces if t.property_id == "INV-01")
        last = trace.frames[-1]
        assert (len(last.nodes), len(last.groups), len(last.pods)) == (1, 1, 1)
        assert len(trace.events) == 1, "what users set up is the first frame"

    def test_the_scenario_of_a_trace_shows_the_same(self, report):
        for trace in report.traces:
            assert trace.scenario is not None
            again = gangproof.check_text(trace.scenario)
            assert trace.property_id in {finding.property for finding in again.findings}

    def test_the_pytest_of_a_trace_fails_where_the_mistake_is_gone(self, report, monkeypatch):
        trace = next(t for t in report.traces if t.property_id == "INV-03")
        source = gangproof.draw(trace, "pytest")
        assert isinstance(source, str)
        names: dict[str, object] = {}
        exec(compile(source, "<pytest>", "exec"), names)
        (test,) = [value for name, value in names.items() if name.startswith("test_")]
        assert callable(test)
        test()
        monkeypatch.setattr(checking, "PROFILES", {"intended": INTENDED})
        with pytest.raises(AssertionError):
            test()


@pytest.mark.usefixtures("without_quorum")
def test_a_scenario_is_made_small_for_a_broken_promise():
    report = gangproof.check_text(GANG)
    trace = next(t for t in report.traces if t.property_id == "INV-01")
    assert trace.scenario is not None
    (small,) = load_scenarios_text(trace.scenario)
    assert len(created(small)) == 3, "a node, a group, a member"
    assert gangproof.check_text(trace.scenario).exit_code == 1


def test_what_a_scenario_expects_is_told_as_it_is():
    report = gangproof.check_text(GANG.replace("[y]", "[p1]"))
    (trace,) = report.traces
    assert trace.title == "a gang of two beside what has nothing to do with it"
    assert trace.involved == ("default/p1",)
    assert trace.scenario is not None
    assert gangproof.check_text(trace.scenario).findings[0].message == report.findings[0].message


def test_without_a_mistake_there_is_no_trace():
    report = gangproof.check(ROOT / "examples" / "two-gangs", failures=1)
    assert (report.exit_code, report.traces, report.trace) == (0, (), None)


def flat(document: Scenario) -> list[Step]:
    """The steps, creations and expectations one by one: how they are grouped in the file does not matter."""
    steps: list[Step] = []
    for step in document.steps:
        if isinstance(step, Create):
            steps.extend(Create((obj,)) for obj in step.objects)
        elif isinstance(step, Expect):
            steps.extend(Expect((expectation,)) for expectation in step.expectations)
        else:
            steps.append(step)
    return steps


def test_a_scenario_that_is_written_reads_the_same():
    written = 0
    for path in sorted((ROOT / "scenarios").glob("*.scenario.yaml")):
        for document in load_scenarios(str(path)):
            try:
                text = dumps(document)
            except NotWritableError:
                continue
            (again,) = load_scenarios_text(text)
            assert flat(again) == flat(document), text
            assert (again.gates, again.scheduler) == (document.gates, document.scheduler)
            written += 1
    assert written > 60
