"""Recorded runs of the real scheduler v1.36.3: the model follows them, and notices when one was tampered with."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from typer.testing import CliRunner, Result

from gangproof.errors import InputError
from gangproof.impl.api import create, lookup
from gangproof.impl.profiles import INTENDED
from gangproof.impl.store import kind_of
from gangproof.impl.table import Table
from gangproof.load.recorded import load_recorded, load_recorded_text
from gangproof.properties.conformance.follow import follow
from gangproof.properties.conformance.followed import Difference, Followed
from gangproof.properties.conformance.outside import changes
from gangproof.properties.conformance.recording import Alter
from gangproof.properties.conformance.report import ConformanceReport, follow_all, traces_of
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import gang, node, pod, world

FILE = Path(__file__).parents[1] / "data" / "recorded.jsonl"
RUNS: dict[str, dict[str, Any]] = {
    run["scenario"]["name"]: run for run in map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
}
DIFFERENCES: dict[str, dict[str, Any]] = {
    run["scenario"]["name"]: run
    for run in map(json.loads, FILE.with_name("differences.jsonl").read_text(encoding="utf-8").splitlines())
}
GANG = "a"  # a gang of three is bound
ORDER = "k2 higher priority later"
REPLACEMENT = "k5 replacement of a bound member"
TWO_NODES = "r072"
EVICTION = "F11 one victim deleted twice, by two members"
GRACEFUL = "k22 graceful victims"
GATED_AGAIN = "k27 member deleted while failing"
CLAIM = "F9b a later pod respects the allocated claim's node"
SIDE_BY_SIDE = "k1c interleaved eager"
INNER = "k25 backoff of a failing gang"


FINDINGS = FILE.with_name("findings.jsonl")
WORLDS, CHOSEN = FILE.with_name("worlds.jsonl"), 285
SCENARIOS = FILE.with_name("scenarios.jsonl")


def followed(run: dict[str, Any]) -> Followed:
    (recording,) = load_recorded_text(json.dumps(run), "a run")
    return follow(recording)


def difference(run: dict[str, Any]) -> Difference:
    found = followed(run).difference
    assert found is not None, "nothing was noticed"
    return found


def tampered(name: str, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    run = copy.deepcopy(RUNS[name])
    change(run["result"])
    return run


def place_of(name: str, **fields: object) -> int:
    """Where the first event with these fields is in the log of the run."""
    log = RUNS[name]["result"]["log"]
    return next(n for n, entry in enumerate(log) if fields.items() <= entry.items())


@pytest.fixture(scope="module")
def report() -> ConformanceReport:
    return follow_all(load_recorded(FILE))


def test_every_run_that_can_be_followed_agrees(report: ConformanceReport) -> None:
    assert [str(run.difference) for run in report.differ] == []
    assert (len(report.runs), len(report.agree)) == (383, 377)
    assert report.verdict is Verdict.HOLDS
    logged = sum(len(RUNS[run.name]["result"]["log"] or ()) for run in report.agree)
    assert report.events == logged


def test_the_page_says_what_was_found(report: ConformanceReport) -> None:
    page = Path(__file__).parents[2] / "docs" / "conformance.md"
    assert f"\n{report}\n```\n" in page.read_text(encoding="utf-8")


def test_a_run_that_needs_more_is_never_called_agreeing(report: ConformanceReport) -> None:
    assert dict(report.unsupported) == {
        "several topology domains that fit": 5,
        "cycles side by side": 1,
    }
    assert sum(not run.agrees for run in report.runs) == 6


def test_the_runs_that_break_promises_are_followed_as_well() -> None:
    """That v1.36.3 breaks a promise is no surprise to the model of it: its deviations are in the profile."""
    report = follow_all(load_recorded(FINDINGS))
    assert [str(run.difference) for run in report.differ] == []
    assert (len(report.runs), len(report.agree)) == (21, 18)
    assert dict(report.unsupported) == {"cycles side by side": 3}


def test_the_runs_of_scenarios_are_followed() -> None:
    """Each scenario that can be run, once with the order of members pinned and once with the scheduler's own."""
    report = follow_all(load_recorded(SCENARIOS))
    assert [str(run.difference) for run in report.differ] == []
    assert (len(report.runs), len(report.agree)) == (408, 406)
    assert dict(report.unsupported) == {"a claim controller that comes to no rest": 2}


def test_what_the_claim_controller_wrote_is_followed() -> None:
    """CLM-05: it makes the claim, and takes it back when the group is gone."""
    run = next(
        run
        for run in map(json.loads, SCENARIOS.read_text(encoding="utf-8").splitlines())
        if run["scenario"]["name"] == "CLM-05 (pinned)"
    )
    assert followed(run).agrees
    taken_back = run["result"]["log"].pop()
    assert taken_back["msg"] == "allocated= reserved="
    assert "claim g-c-0 has nothing for nobody" in str(difference(run))
    run["result"]["log"].append(taken_back)
    del run["scenario"]["claimController"]
    assert difference(run).index == 0


def test_the_random_worlds_that_were_chosen_are_followed() -> None:
    """Some of every kind, with restarts, refusals, victims and domains among them (tests/data/choose.py)."""
    report = follow_all(load_recorded(WORLDS))
    assert [str(run.difference) for run in report.differ] == []
    assert len(report.agree) == len(report.runs) == CHOSEN
    assert {run.name.partition("-")[0] for run in report.runs} == {"core", "preemption", "topology", "claims"}


def test_a_bind_to_another_node() -> None:
    place = place_of(TWO_NODES, ev="bind", obj="g2p0", node="n3")

    def elsewhere(result: dict[str, Any]) -> None:
        result["log"][place]["node"] = "n2"

    found = difference(tampered(TWO_NODES, elsewhere))
    assert found.index == place
    assert "bind g2p0 to n3 (cycle 1)" in found.expected
    assert found.found.startswith("bind g2p0 to n2")


def test_a_condition_that_is_missing() -> None:
    place = place_of(GANG, ev="groupCondition")

    def without(result: dict[str, Any]) -> None:
        del result["log"][place]

    found = difference(tampered(GANG, without))
    assert "condition of g is True/Scheduled (cycle 1)" in found.expected
    # Within a cycle only events about one thing have an order, so it is missed at the end of its cycle.
    assert found.index == len(RUNS[GANG]["result"]["log"]) - 1


def test_a_claim_that_is_given_another_device() -> None:
    place = place_of(CLAIM, ev="claim")

    def elsewhere(result: dict[str, Any]) -> None:
        event = result["log"][place]
        event["msg"] = event["msg"].replace("/n1/", "/n2/")

    found = difference(tampered(CLAIM, elsewhere))
    assert (found.index, found.kind) == (place, "another claim")
    assert "claim claim has d.example.com/n1/d0 for podgroups/g (cycle 1)" in found.expected
    assert found.found.startswith("claim claim has d.example.com/n2/d0 for podgroups/g")


def test_a_claim_that_a_log_without_claims_shows_at_a_look_alone() -> None:
    """An older recorder does not tell of claims: what it sees at a look must be so all the same."""

    def untold(result: dict[str, Any]) -> None:
        result["log"] = [event for event in result["log"] if event["ev"] != "claim"]
        del result["marks"]

    def elsewhere(result: dict[str, Any]) -> None:
        untold(result)
        for look in result["snapshots"]:
            look["claims"]["claim"]["reservedFor"] = []

    assert followed(tampered(CLAIM, untold)).agrees
    found = difference(tampered(CLAIM, elsewhere))
    assert found.kind == "another claim"
    assert found.expected == ("claim claim has d.example.com/n1/d0 for podgroups/g",)
    assert found.found == "claim claim has d.example.com/n1/d0 for nobody"


def test_another_reason_in_a_condition() -> None:
    place = place_of(EVICTION, ev="groupCondition")

    def reworded(result: dict[str, Any]) -> None:
        result["log"][place]["msg"] = "PodGroupScheduled=False/Unschedulable: pod group is unschedulable"

    found = difference(tampered(EVICTION, reworded))
    assert found.index == place
    assert any("waiting for preemption to complete" in text for text in found.expected)


def test_cycles_in_another_order() -> None:
    """The stronger gang is tried first although it came later (QUEUE-18)."""
    groups = {name: "g1" if name.startswith("a") else "g2" for name in ("a1", "a2", "a3", "b1", "b2", "b3")}

    def swapped(result: dict[str, Any]) -> None:
        for entry in result["log"]:
            entry["cycle"] = {1: 2, 2: 1}.get(entry["cycle"], entry["cycle"])
        result["log"].sort(key=lambda entry: entry["cycle"])

    found = difference(tampered(ORDER, swapped))
    assert found.index == 0
    assert "condition of g1" in found.found
    assert "condition of g2 is True/Scheduled (cycle 1)" in found.expected
    assert groups[found.expected[1].split()[1]] == "g2"


def test_an_event_in_a_later_cycle() -> None:
    place = place_of(REPLACEMENT, ev="bind", obj="p4")

    def later(result: dict[str, Any]) -> None:
        for entry in result["log"][place:]:
            entry["cycle"] += 1
        result["cycles"] += 1

    found = difference(tampered(REPLACEMENT, later))
    assert (found.index, found.expected) == (place, ("bind p4 to n (cycle 2)",))


def test_an_eviction_for_somebody_else() -> None:
    place = place_of(EVICTION, ev="preempted", msg="by p2: Preempted by pod p2 on node n")

    def blamed(result: dict[str, Any]) -> None:
        result["log"][place]["msg"] = "by p3: Preempted by pod p3 on node n"

    found = difference(tampered(EVICTION, blamed))
    assert found.index == place
    assert "preempt b for p2 (cycle 1)" in found.expected


def test_a_place_in_the_queue() -> None:
    """Without SchedulerPopFromBackoffQ PreEnqueue is asked when the backoff ends (QUEUE-24): p1 is gated."""

    def waiting(result: dict[str, Any]) -> None:
        result["snapshots"][0]["pods"]["p1"]["queue"] = "backoff"

    found = difference(tampered(GATED_AGAIN, waiting))
    assert found.event == "a look at 30.006 s"
    assert found.expected == ("p1 in the queue is gated by GangScheduling",)


def test_a_nomination_that_was_not_seen() -> None:
    def forgotten(result: dict[str, Any]) -> None:
        del result["snapshots"][0]["pods"]["p3"]["nominated"]

    found = difference(tampered(GRACEFUL, forgotten))
    assert (found.expected, found.found) == (("p3 is nominated to n",), "p3 is nominated to none")


def test_somebody_who_would_have_been_bound() -> None:
    """The recorder stops only where nothing more happens: two of three binds and no third is a difference."""

    def half(result: dict[str, Any]) -> None:
        result["log"] = [entry for entry in result["log"] if entry["obj"] != "p3"]
        result["snapshots"][0]["pods"]["p3"] = {"queue": "backoff", "cond": "False/Unschedulable"}

    found = difference(tampered(GANG, half))
    assert "bind p3 to n (cycle 1)" in found.expected


def test_cycles_that_nobody_needed() -> None:
    def more(result: dict[str, Any]) -> None:
        result["cycles"] += 1

    assert difference(tampered(GANG, more)).found == "nothing more"


def test_inner_steps_are_followed_too() -> None:
    place = place_of(INNER, ev="try", obj="p3")

    def found_a_node(result: dict[str, Any]) -> None:
        result["log"][place]["node"] = "n"

    found = difference(tampered(INNER, found_a_node))
    assert (found.index, found.expected[0]) == (place, "try p3: nowhere (cycle 1)")


def each_event(name: str) -> Iterator[Any]:
    for place in range(len(RUNS[name]["result"]["log"])):
        yield pytest.param(name, place, id=f"{name.split()[0]} {place}")


SHORT = (
    GANG,
    ORDER,
    REPLACEMENT,
    TWO_NODES,
    EVICTION,
    "k13 TAS prefers more pods",
    "F2 eviction for nothing",
)
EVENTS = [event for name in SHORT if name.split()[0] != "k13" for event in each_event(name)]


@pytest.mark.parametrize(("name", "place"), EVENTS)
def test_no_event_can_be_left_out(name: str, place: int) -> None:
    def without(result: dict[str, Any]) -> None:
        del result["log"][place]

    assert difference(tampered(name, without)).index >= place - 1


@pytest.mark.parametrize(("name", "place"), EVENTS)
def test_no_event_can_happen_twice(name: str, place: int) -> None:
    def twice(result: dict[str, Any]) -> None:
        result["log"].insert(place, result["log"][place])

    assert difference(tampered(name, twice)).index >= place


def test_a_difference_can_be_drawn() -> None:
    def without(result: dict[str, Any]) -> None:
        del result["log"][-1]

    report = follow_all(load_recorded_text(json.dumps(tampered(REPLACEMENT, without))))
    (trace,) = traces_of(report)
    assert trace.title == REPLACEMENT
    assert trace.frames[-1].pods != trace.frames[0].pods
    assert "expected" in trace.clause


def command(*arguments: object, input: str | None = None) -> Result:
    from gangproof.cli.app import app

    return CliRunner().invoke(app, ["conform", "recorded", *map(str, arguments)], input=input)


def lines(*names: str) -> str:
    return "\n".join(json.dumps(RUNS[name]) for name in names)


def test_a_run_in_which_more_is_possible_than_is_looked_at_is_inconclusive() -> None:
    (recording,) = load_recorded_text(lines(ORDER))
    cut = follow(recording, most=0)
    assert cut.cut
    assert not cut.agrees
    report = ConformanceReport((follow(recording), cut))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert str(report).startswith("inconclusive: 2 recorded runs: 1 agree, 0 differ, 1 inconclusive, ")


def test_exit_codes() -> None:
    def without(result: dict[str, Any]) -> None:
        del result["log"][-1]

    assert command("-", input=lines(GANG)).exit_code == 0
    assert command("-", input=json.dumps(tampered(GANG, without))).exit_code == 1
    assert command("-", input=lines(GANG) + "\n" + json.dumps(tampered(GANG, without))).exit_code == 1
    assert command("-", input=lines(SIDE_BY_SIDE)).exit_code == 5
    assert command("-", input="").exit_code == 2
    assert command("-", input="{}").exit_code == 2
    assert command("nowhere.jsonl").exit_code == 2


def test_the_json_document(tmp_path: Path) -> None:
    def without(result: dict[str, Any]) -> None:
        del result["log"][-1]

    text = "\n".join((lines(GANG, SIDE_BY_SIDE), json.dumps(tampered(REPLACEMENT, without))))
    answer = command("-", "-o", "json", "--draw", tmp_path, input=text)
    assert json.loads(answer.stdout) == {
        "apiVersion": "gangproof/v1",
        "kind": "ConformanceReport",
        "profile": "v1.36.3",
        "verdict": "violated",
        "exitCode": 1,
        "worlds": 3,
        "agree": 1,
        "inconclusive": [],
        "unsupported": {"cycles side by side": 1},
        "events": 8 + 11,
        "kinds": {"nothing where deletion is expected": 1},
        "differences": [
            {
                "name": REPLACEMENT,
                "kind": "nothing where deletion is expected",
                "rules": ["PREEMPT-26", "PREEMPT-30", "PREEMPT-46", "PREEMPT-47"],
                "event": "event 12 of 11",
                "expected": ["delete p3 (cycle 2)"],
                "found": "nothing more",
            }
        ],
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "conformance.html",
        "conformance.svg",
        "conformance.trace.json",
    ]


def test_what_is_no_run_is_an_error_with_its_place() -> None:
    broken = copy.deepcopy(RUNS[GANG])
    broken["scenario"]["steps"][0]["create"][2]["spec"]["priority"] = "high"
    with pytest.raises(InputError) as raised:
        load_recorded_text(f"{lines(ORDER)}\n{json.dumps(broken)}", "runs.jsonl")
    (problem,) = raised.value.problems
    assert (problem.line, problem.subject) == (2, "run a")
    assert problem.field == "scenario.steps[0].create[2].spec.priority"


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("", 0, "no run"),
        ("\n \n", 0, "no run"),
        ("null", 0, "no run"),
        (
            f"{lines(ORDER)}\n" + '{"scenario": {"name": }}',
            2,
            "text that is not JSON (column 23: expecting value)",
        ),
        ('{"scenario": {"na', 1, "text that is not JSON (column 15: unterminated string starting at)"),
        ('{"scenario": [], "result": {}}', 1, "an empty list"),
    ],
    ids=["empty", "blank", "null", "a broken line", "a line cut short", "no scenario"],
)
def test_a_file_without_a_run_is_an_error(text: str, line: int, found: str) -> None:
    with pytest.raises(InputError) as raised:
        load_recorded_text(text, "runs.jsonl")
    (problem,) = raised.value.problems
    assert (problem.file, problem.line, problem.found) == ("runs.jsonl", line, found)


@pytest.mark.parametrize(
    ("field", "value", "need"),
    [
        ("eager", True, "cycles side by side"),
        ("watchDelay", 3, "late views"),
        ("callDelay", 10, "slow calls"),
    ],
)
def test_modes_that_are_not_followed(field: str, value: object, need: str) -> None:
    run = copy.deepcopy(RUNS[GANG])
    run["scenario"][field] = value
    assert followed(run).needs == (need,)


def test_events_that_are_not_followed() -> None:
    run = copy.deepcopy(RUNS[GANG])
    run["result"]["log"].append({"t": 1, "cycle": 1, "ev": "rejoice", "obj": "p1"})
    assert followed(run).needs == ("event rejoice",)


def test_a_restart_is_followed_but_not_in_the_midst_of_calls() -> None:
    run = copy.deepcopy(RUNS[GANG])
    run["scenario"]["steps"].append({"restart": True})
    assert followed(run).agrees
    held = copy.deepcopy(RUNS[GANG])
    held["scenario"]["steps"] = [
        {"hold": ["bind/p1"]},
        *held["scenario"]["steps"][:1],
        {"cycles": 1},
        {"restart": True},
    ]
    log = [entry for entry in held["result"]["log"] if entry["obj"] != "p1" or "node" in entry]
    held["result"].update(
        log=[entry for entry in log if (entry["ev"], entry["obj"]) != ("bind", "p1")], snapshots=[]
    )
    assert followed(held).needs == ("a restart in the midst of calls",)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_what_differed_once_agrees(name: str) -> None:
    """Each is the smallest world in which the model and the real scheduler parted, with what the latter did."""
    assert followed(DIFFERENCES[name]).difference is None
    assert followed(DIFFERENCES[name]).agrees


def test_a_step_that_the_cluster_refuses_must_be_refused_by_the_model() -> None:
    run = copy.deepcopy(RUNS[GANG])
    run["scenario"]["steps"].append({"finish": ["nobody"]})
    place = len(run["scenario"]["steps"])
    run["result"]["error"] = f'refused: step {place} (finish): pods "nobody" not found'
    assert followed(run).agrees
    run["scenario"]["steps"][-1] = {"finish": ["p1"]}
    assert not followed(run).agrees


def test_an_update_keeps_what_the_control_plane_wrote() -> None:
    """ADM-01: an update in a recorded run carries no status, and takes none away."""
    status = {"disruption_target": True, "resource_claim_statuses": Table({"c": "p-c"}), "phase": "Running"}
    written = evolve(pod("p", "g", node="n"), **status)
    reported = evolve(gang("g", 1), resource_claim_statuses=Table({"c": "g-c"}))
    start = world(node("n", 1))
    for obj in (reported, written):
        start = create(INTENDED, start, obj)
    for bare in (pod("p", "g"), gang("g", 1)):
        labelled = evolve(bare, labels=Table({"a": "b"}))
        ((_, after, _),) = (change(start) for change in changes(Alter((labelled,)), start, INTENDED))
        old, new = (lookup(now, kind_of(bare), bare.key) for now in (start, after))
        assert old is not None and new == evolve(old, labels=labelled.labels)
