"""The explanation and what reproduces a trace: only what changed, what decides, and how to see it again."""

import sys
import types

import pytest

from gangproof.counterexamples import (
    ClaimView,
    Frame,
    GroupView,
    NodeView,
    NoScenarioError,
    PodState,
    PodView,
    Trace,
    as_pytest,
    as_scenario,
    changes,
    explain,
)


def test_the_explanation_reads_as_a_story(half_a_gang: Trace) -> None:
    assert explain(half_a_gang).splitlines() == [
        "INV-03 violated (DEV-17): a gang of two of which one is bound",
        "claim       A started gang is whole, or what is missing of it is promised or owed.",
        "",
        "At first",
        "     group pg1: gang 2, bound 0, promised 0, minimum 2",
        "     node n1: cpu 0 of 1 used",
        "     node n2: cpu 0 of 1 used",
        "     pod p1: active, of pg1, cpu 1",
        "     pod p2: active, of pg1, cpu 1",
        "",
        "  1. scheduler: decides for pg1: p1 on n1, p2 on n2 [CYCLE-41]",
        "     pod p1: active → promised on n1",
        "     pod p2: active → promised on n2",
        "     group pg1: promised 0 → 2, condition none → True/Scheduled",
        "",
        "  2. scheduler: binds p1 to n1 [because of step 1; BIND-05]",
        "     pod p1: promised → bound on n1",
        "     group pg1: bound 0 → 1, promised 2 → 1",
        "",
        "  3. scheduler: the bind of p2 fails; plain takes its room on n2 [because of steps 1, 2; BIND-07]",
        "     pod p2: promised → unschedulable",
        "     pod plain: new, bound on n2",
        "     group pg1: promised 1 → 0",
        "",
        "broken      pg1 is started, but only p1 of its minimum of 2 is bound, promised or owed",
        "decides     bound 1, promised 0, owed 0, minimum 2",
        "rules       INV-03, BIND-07, CYCLE-48",
        "found with  profile v1.36.3, engine explorer, seed 0",
        "replay      --draw DIR; gangproof draw DIR/….trace.json -o scenario > it.scenario.yaml; gangproof",
        "            check it.scenario.yaml",
    ]
    assert str(half_a_gang) == explain(half_a_gang)


def test_no_line_is_longer_than_100_columns(trace: Trace) -> None:
    assert max(map(len, explain(trace).splitlines())) <= 100
    assert not [c for c in explain(trace) if c != "\n" and not c.isprintable()]


def test_a_lasso_is_told(deadlock: Trace) -> None:
    text = explain(deadlock)
    assert "for ever    the run is back where it was before step 1: steps 1 to 2 repeat" in text
    assert "     a2 waits for b1 (a2 needs the room of b1 on n2)" in text


def test_only_differences_are_told() -> None:
    node = NodeView("n", (("cpu", 1000),))
    pod = PodView("default/p", PodState.BOUND, node="n")
    group = GroupView("g/g", "gang 2", (("bound", 1),))
    claim = ClaimView("default/c")
    same = Frame((node,), (pod,), (group,), (claim,))
    assert changes(same, same) == ()

    def told(**views: tuple[object, ...]) -> list[str]:
        return [str(change) for change in changes(same, Frame(**{**_views(same), **views}))]

    assert told(nodes=(NodeView("n", (("cpu", 1000),), (("cpu", 500),)),)) == [], "its pods tell that"
    assert told(nodes=(NodeView("n", (("cpu", 1500),), unschedulable=True),)) == [
        "node n: capacity cpu 1 → cpu 1.5, unschedulable"
    ]
    assert told(nodes=()) == ["node n: no longer exists"]
    assert told(pods=(PodView("default/p", PodState.BOUND, node="m"),)) == ["pod p: bound on n → bound on m"]
    assert told(pods=(PodView("default/p", PodState.EVICTED, node="n"),)) == ["pod p: bound → evicted on n"]
    assert told(pods=(PodView("default/p", PodState.UNSCHEDULABLE, nominated="m"),)) == [
        "pod p: bound → unschedulable, nominated to m"
    ]
    assert told(groups=(GroupView("g/g", "gang 3", (("bound", 0),), "False/Unschedulable"),)) == [
        "group g/g: policy gang 2 → gang 3, bound 1 → 0, condition none → False/Unschedulable"
    ]
    shared = ClaimView("default/c", "n", holders=("default/p",), reserved_for_groups=("default/g",))
    assert told(claims=(shared,)) == ["claim c: allocation none → n, reserved for group g, held by p"]
    assert told(claims=(ClaimView("default/c", "n", ("default/p",), written=False),)) == [
        "claim c: allocation none → n, not written yet, reserved for p"
    ]


def _views(frame: Frame) -> dict[str, tuple[object, ...]]:
    return {"nodes": frame.nodes, "pods": frame.pods, "groups": frame.groups, "claims": frame.claims}


def test_a_scenario_is_given_back_under_its_headline(half_a_gang: Trace) -> None:
    assert as_scenario(half_a_gang) == f"# {half_a_gang.headline}\n{half_a_gang.scenario}"


def test_nothing_can_be_reproduced_without_a_scenario(deadlock: Trace) -> None:
    for reproduce in (as_scenario, as_pytest):
        with pytest.raises(NoScenarioError):
            reproduce(deadlock)


class _Report:
    def __init__(self, exit_code: int, text: str) -> None:
        self.exit_code, self.text = exit_code, text

    def __str__(self) -> str:
        return self.text


def run(source: str, monkeypatch: pytest.MonkeyPatch, report: _Report) -> list[tuple[object, ...]]:
    """What the generated tests asked the front door, which gives this report."""
    asked: list[tuple[object, ...]] = []

    def check_text(text: str, **options: object) -> _Report:
        asked.append((text, options))
        return report

    monkeypatch.setitem(sys.modules, "gangproof", types.SimpleNamespace(check_text=check_text))
    names: dict[str, object] = {}
    exec(compile(source, "generated", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 1 and callable(tests[0])
    tests[0]()
    return asked


def test_the_generated_test_replays_the_scenario(half_a_gang: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    source = as_pytest(half_a_gang)
    asked = run(source, monkeypatch, _Report(1, "INV-03 violated"))
    assert asked == [(half_a_gang.scenario, {"profile": "v1.36.3"})]
    for report in (_Report(0, "INV-03 holds"), _Report(3, "INV-03"), _Report(1, "INV-04 violated")):
        with pytest.raises(AssertionError):
            run(source, monkeypatch, report)


def test_the_generated_test_survives_a_hostile_trace(hostile: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = run(as_pytest(hostile), monkeypatch, _Report(1, hostile.property_id))
    assert asked == [(f"{hostile.scenario}\n", {})]
