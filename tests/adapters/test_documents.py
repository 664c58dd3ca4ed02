"""Documents on an adapter: what holds, what differs and in which runs, what failed, and what a race explains."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from faulty import Faulty

from examples.first_fit import FirstFit
from gangproof.adapters.conform import conform
from gangproof.adapters.documents import Difference, run_document
from gangproof.adapters.in_process import InProcess
from gangproof.adapters.json_lines import JsonLines
from gangproof.adapters.modes import Mode
from gangproof.adapters.pictures import traces
from gangproof.adapters.promises import NAMES, run_by_promises
from gangproof.adapters.races import struck
from gangproof.load.scenario import load_scenarios_text
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.verdict import Verdict

WORLD = """\
scenario: world
title: a node for one of two
steps:
- create:
    nodes: [{name: n, cpu: 1}]
    podGroups: [{name: g, gang: 2}]
    pods: [{name: "p[1-2]", group: g, cpu: 1}]
"""
MODES = (Mode(order="arrival"), Mode(seed=1))
CAN = ("create", "delete")


def document(*steps: str, text: str = WORLD) -> Scenario:
    (found,) = load_scenarios_text(text + "".join(f"- {step}\n" for step in steps))
    return found


class Seeded(FirstFit):
    """Takes the last pod first if the seed says so."""

    def load(self, setup: dict[str, Any]) -> None:
        super().load(setup)
        self.backwards = bool(setup.get("seed"))

    def settle(self, idle: float) -> None:
        if self.backwards:
            self.pods = dict(reversed(self.pods.items()))
        super().settle(idle)


def run(*steps: str, scheduler: Callable[[], Any] = Seeded) -> Any:
    return run_document(InProcess(scheduler), document(*steps), CAN, modes=MODES)


def test_what_holds_in_every_run_holds() -> None:
    result = run("expect: {bound: {exactly: 1, of: 'p[1-2]'}}")
    assert (result.verdict, result.runs, result.differences) == (Verdict.HOLDS, 2, ())


def test_what_fails_in_one_run_differs_with_its_line_and_its_mode() -> None:
    result = run("expect: {bound: [p1]}")
    assert result.verdict is Verdict.VIOLATED
    (difference,) = result.differences
    assert (difference.kind, difference.line) == ("expect", 8)
    assert difference.message == "bound are [], expected bound: [p1] (in 1 of 2 runs: seed 1)"


def test_what_is_possible_is_met_once() -> None:
    assert run("possible: {bound: [p1]}", "possible: {bound: [p2]}").verdict is Verdict.HOLDS


def test_what_is_possible_is_looked_for_in_more_runs_before_it_differs() -> None:
    result = run("possible: {bound: ['p[1-2]']}")
    assert result.runs == 1002
    assert {(d.kind, d.found) for d in result.differences} == {
        ("possible", "bound are [p1], expected bound: [p1, p2]"),
        ("possible", "bound are [p2], expected bound: [p1, p2]"),
    }


def test_a_step_that_the_adapter_has_not_is_said() -> None:
    result = run("hold: [bind/p1]", "settle: true")
    assert (result.verdict, result.why_not) == (Verdict.NOT_SUPPORTED, "the adapter has no step hold")


def test_the_profile_intended_is_not_run() -> None:
    (intended,) = load_scenarios_text(WORLD.replace("steps:", "profile: intended\nsteps:"))
    assert run_document(InProcess(FirstFit), intended, CAN).why_not == "profile intended"


class Fragile(Faulty):
    """Fails as its class says as soon as it is to settle."""

    fault = "crash"

    def settle(self, idle: float) -> None:
        self.fail(self.fault)


class Odd(Fragile):
    fault = "look"


class Shy(Faulty):
    def settle(self, idle: float) -> None:
        raise NotImplementedError("settle: found a shy scheduler, expected another")


def test_a_crash_is_a_difference_and_not_the_end() -> None:
    documents = [document("settle: true"), document("settle: true", text=WORLD.replace("world", "second"))]
    report = conform(InProcess(Fragile), documents)
    assert [result.verdict for result in report.documents] == [Verdict.VIOLATED] * 2
    (difference,) = report.documents[1].differences
    assert difference.kind == "crash"
    assert difference.found.startswith("crash: step 2 (settle): RuntimeError: it is broken (faulty.py:")
    assert len(difference.modes) == difference.of == 20


def test_an_answer_that_is_none_says_nothing_about_the_scheduler() -> None:
    result = run("expect: {bound: [p1]}", scheduler=Odd)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert {d.kind for d in result.differences} == {"answer"}


def test_a_refusal_is_no_difference() -> None:
    result = run("settle: true", scheduler=Shy)
    assert result.verdict is Verdict.NOT_SUPPORTED
    assert result.why_not == "refused: step 2 (settle): settle: found a shy scheduler, expected another"


def test_an_interruption_keeps_what_there_is_and_is_inconclusive() -> None:
    documents = [document("settle: true", text=WORLD.replace("world", name)) for name in ("a", "b", "c")]

    def runner(adapter: Any, doc: Scenario, can: Any, watch: Any) -> Any:
        if doc.id == "b":
            raise KeyboardInterrupt
        return run_document(adapter, doc, can, watch, MODES)

    report = conform(InProcess(FirstFit), documents, runner)
    assert [result.document.id for result in report.documents] == ["a"]
    assert report.unfinished == ("b", "c")
    assert (report.verdict, report.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert str(report).splitlines()[-1] == "  not looked at: b, c"


def test_nothing_to_run_is_nothing_checked() -> None:
    assert conform(InProcess(FirstFit), []).exit_code == 5


@pytest.mark.parametrize(
    "adapter",
    [InProcess(FirstFit), JsonLines([sys.executable, "-m", "examples.first_fit"])],
    ids=["in process", "JSON lines"],
)
def test_the_naive_scheduler_is_caught_by_all_or_nothing(adapter: Any) -> None:
    report = conform(adapter, [document()], run_by_promises, promises=NAMES)
    adapter.close()
    (result,) = report.documents
    assert result.verdict is Verdict.VIOLATED
    assert [(d.kind, d.found) for d in result.differences] == [
        ("whole-gang", "g has 1 of at least 2 members bound at rest")
    ]
    (trace,) = traces(report.documents, report.scheduler)
    assert trace.property_id == "whole-gang"
    assert [event.text for event in trace.events] == ["binds p1 to n", "nothing changes for 25 s"]


def test_a_gang_that_fits_is_no_reason_to_blame_the_naive_scheduler() -> None:
    fits = document("expect: {}", text=WORLD.replace("cpu: 1}]\n    podGroups", "cpu: 2}]\n    podGroups"))
    report = conform(InProcess(FirstFit), [fits], run_by_promises, promises=NAMES)
    assert report.verdict is Verdict.HOLDS
    assert "whole-gang" not in report.vacuous
    assert "weaker-victim" in report.vacuous


def test_a_scheduler_that_writes_no_conditions_is_not_asked_about_them() -> None:
    fits = document("expect: {}", text=WORLD.replace("cpu: 1}]\n    podGroups", "cpu: 2}]\n    podGroups"))
    report = conform(InProcess(FirstFit), [fits], run_by_promises, promises=NAMES)
    assert {"condition-meaning", "condition-final", "explained"} <= set(report.vacuous)


def test_promises_that_were_never_put_to_the_test_are_vacuous() -> None:
    empty = document(
        "expect: {}", text="scenario: e\ntitle: t\nsteps:\n- create: {nodes: [{name: n, cpu: 1}]}\n"
    )
    report = conform(InProcess(FirstFit), [empty], run_by_promises, promises=NAMES)
    assert report.vacuous == NAMES
    assert (report.verdict, report.exit_code) == (Verdict.VACUOUS, 4)


@pytest.mark.parametrize(
    ("queue", "events", "race"),
    [
        ("gated by DefaultPreemption", [], "DEV-55"),
        ("gated by GangScheduling", [], None),
        ("unschedulable", [("g", "True/Scheduled"), ("g", "False/Unschedulable")], "DEV-22"),
        ("unschedulable", [("g", "True/Scheduled"), ("h", "False/Unschedulable")], None),
        ("unschedulable", [("g", "False/Unschedulable"), ("g", "True/Scheduled")], None),
    ],
)
def test_a_race_is_told_by_what_it_leaves_behind(queue: str, events: Any, race: str | None) -> None:
    log = [{"ev": "groupCondition", "obj": g, "msg": f"PodGroupScheduled={c}: "} for g, c in events]
    assert struck({"pods": {"p": {"queue": queue}}}, log) == race


class Stuck(FirstFit):
    """Loses a wake-up when cycles take turns."""

    def load(self, setup: dict[str, Any]) -> None:
        super().load(setup)
        self.stuck = bool(setup.get("interleave"))

    def settle(self, idle: float) -> None:
        if not self.stuck:
            super().settle(idle)

    def observe(self) -> dict[str, Any]:
        look = super().observe()
        return {
            **look,
            "pods": {n: p or {"queue": "gated by DefaultPreemption"} for n, p in look["pods"].items()},
        }


def test_what_a_race_explains_is_told_apart_and_only_where_cycles_overlap() -> None:
    modes = (Mode(seed=1), Mode(seed=2, interleave=True))
    told = document("expect: {bound: [p1]}")
    result = run_document(InProcess(Stuck), told, CAN, modes=modes)
    assert (result.verdict, result.differences) == (Verdict.HOLDS, ())
    (raced,) = result.raced
    assert (raced.kind, raced.modes) == ("DEV-55", (modes[1],))
    shipped = document("expect: {bound: [p1]}", text=WORLD.replace("steps:", "profile: v1.36.3\nsteps:"))
    assert run_document(InProcess(Stuck), shipped, CAN, modes=modes).verdict is Verdict.VIOLATED


def test_many_runs_are_told_by_the_first_ones() -> None:
    modes = tuple(Mode(seed=n) for n in range(1, 6))
    assert Difference("expect", "no", 1, modes, 9, {}).message == (
        "no (in 5 of 9 runs: seed 1, seed 2, seed 3 and 2 more)"
    )
