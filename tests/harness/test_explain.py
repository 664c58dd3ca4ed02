"""`gangproof explain`: the gate, the queue, the quorum, the nodes, and the smallest changes that help."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from front_door import ROOT
from typer.testing import Result

import gangproof
from gangproof.properties.explanation import Explanation

Explain = Callable[..., Explanation]


@pytest.fixture
def explained(scenario_file: Callable[..., Path]) -> Explain:
    """Explains a target in the one world after the steps of a scenario, or after the first of them."""

    def explained(
        target: str, *creates: str, step: int | None = None, gates: str = "", profile: str = "intended"
    ) -> Explanation:
        head = f"scenario: it\ntitle: it\n{f'gates: {{{gates}}}' if gates else ''}\nsteps:\n"
        path = scenario_file(head + "".join(f"- create: {create}\n" for create in creates))
        at = len(creates) if step is None else step
        found = gangproof.explain(path, target, step=at, profile=profile)
        (one,) = found.found
        return one.explanation

    return explained


def texts(told: Explanation) -> list[str]:
    return [one.text for one in told.suggestions]


def test_a_gang_without_room_for_all_is_pending_with_its_numbers(explained: Explain) -> None:
    """CYCLE-26, FILT-10."""
    told = explained(
        "podgroup/g", "{nodes: [{name: n, cpu: 2}], podGroups: [{name: g, gang: 3}], "
        "pods: [{name: 'p[1-3]', group: g, cpu: 1}]}",
    )  # fmt: skip
    assert told.state == "pending"
    assert "2 of at least 3 members have a place (CYCLE-26)" in told.sentence
    assert "0/1 nodes are available: 1 Insufficient cpu" in told.sentence
    assert told.quorum is not None
    assert (told.quorum.before, told.quorum.kept, told.quorum.minimum) == (0, 2, 3)
    assert [(m.state, m.node) for m in told.members] == [("place found", "n")] * 2 + [("no place", None)]
    (refused,) = told.refused
    (short,) = refused.closest[0].short
    assert (short.resource, short.asked, short.free, short.allocatable) == ("cpu", 1000, 0, 2000)
    assert texts(told)[-1].startswith("lower minCount from 3 to 2")
    assert "add one more node like n" in texts(told)
    assert all(one.outcome == "placed" for one in told.suggestions)


def test_what_is_freed_is_the_least_and_on_the_node_where_it_is_least(explained: Explain) -> None:
    told = explained(
        "podgroup/g", "{nodes: [{name: a, cpu: 4}, {name: b, cpu: 4}], "
        "pods: [{name: x, cpu: 3, node: a}, {name: y, cpu: 2, node: b}], podGroups: [{name: g, gang: 1}]}",
        "{pods: [{name: p, group: g, cpu: '2500m'}]}",
    )  # fmt: skip
    assert "free cpu 0.5 on node b" in texts(told)


def test_what_no_node_could_ever_hold_is_not_freed(explained: Explain) -> None:
    """FILT-03: a request above the whole node is out of reach of evictions."""
    told = explained(
        "podgroup/g", "{nodes: [{name: a, cpu: 2}], pods: [{name: x, cpu: 1, node: a}], "
        "podGroups: [{name: g, gang: 1}]}", "{pods: [{name: p, group: g, cpu: 3}]}",
    )  # fmt: skip
    assert told.state == "pending"
    assert not told.refused[0].closest[0].evictions_help
    assert texts(told) == []


def test_what_members_have_just_taken_is_not_freed(explained: Explain) -> None:
    """On empty nodes there is nothing to free, however much the members before it take."""
    told = explained(
        "podgroup/g", "{nodes: [{name: a, cpu: 4}, {name: b, cpu: 4}], podGroups: [{name: g, gang: 3}], "
        "pods: [{name: 'p[1-3]', group: g, cpu: 3}]}",
    )  # fmt: skip
    assert told.state == "pending"
    assert [one.kind for one in told.suggestions] == ["node", "minimum"]


def test_the_gate_tells_how_many_members_are_missing(explained: Explain) -> None:
    """GANG-03."""
    told = explained(
        "podgroup/g", "{nodes: [{name: n, cpu: 9}], podGroups: [{name: g, gang: 4}], "
        "pods: [{name: 'p[1-2]', group: g, cpu: 1}]}",
    )  # fmt: skip
    assert (told.state, told.queue.place) == ("gated", "gated")
    assert told.gate == "closed: 2 of at least 4 members exist (GANG-03)"
    assert [(one.text.split(" (")[0], one.objects, one.outcome) for one in told.suggestions] == [
        ("lower minCount from 4 to 2", 1, "placed"),
        ("add 2 more members like p1", 2, "placed"),
    ]


def test_members_that_are_added_need_room_too(explained: Explain) -> None:
    told = explained(
        "podgroup/g", "{nodes: [{name: n, cpu: 2}], podGroups: [{name: g, gang: 3}], "
        "pods: [{name: 'p[1-2]', group: g, cpu: 1}]}",
    )  # fmt: skip
    assert "add 1 more member like p1" not in texts(told)
    assert "add 1 more member like p1, and add one more node like n" in texts(told)


def test_scheduling_gates_are_named(explained: Explain) -> None:
    told = explained("pod/p", "{nodes: [{name: n, cpu: 2}], pods: [{name: p, cpu: 1, gates: [a.b/c]}]}")
    assert told.state == "gated"
    assert "scheduling gates a.b/c" in told.sentence
    assert texts(told) == ["remove the scheduling gates a.b/c of p"]


GATED = (
    "{nodes: [{name: n, cpu: 3}], podGroups: [{name: g, gang: 3}], "
    "pods: [{name: 'p[1-2]', group: g, cpu: 1}, {name: q, group: g, cpu: 1, gates: [a.b/c]}]}"
)


def test_a_gated_member_that_is_missing_in_the_quorum_is_let_in(explained: Explain) -> None:
    """QUEUE-09, CYCLE-26: enough members exist, and one of them may not be tried."""
    told = explained("podgroup/g", GATED)
    assert told.gate == (
        "open: 3 of at least 3 members exist (GANG-03), but closed for q: scheduling gates a.b/c (QUEUE-09)"
    )
    assert (told.state, texts(told)[0]) == ("pending", "remove the scheduling gates a.b/c of q")


def test_a_gated_member_is_told_so_while_its_group_is_placed(explained: Explain) -> None:
    """QUEUE-09: that it finds no place would be wrong."""
    told = explained("pod/q", GATED.replace("gang: 3", "gang: 2"))
    assert told.sentence == (
        "pod/q is held at the gate (scheduling gates a.b/c), while its group is placed at its next turn"
    )
    assert texts(told) == ["remove the scheduling gates a.b/c of q"]


def test_a_missing_podgroup_is_told(explained: Explain) -> None:
    """GANG-01."""
    told = explained("podgroup/g", "{nodes: [{name: n, cpu: 2}], pods: [{name: p, cpu: 1, group: g}]}")
    assert told.gate == "closed: PodGroup g does not exist (GANG-01)"
    assert texts(told) == ["create the PodGroup g (with the basic policy)"]


@pytest.mark.parametrize(
    ("node", "pod", "change", "rule"),
    [
        ("unschedulable: true", "", "uncordon node n", "FILT-04"),
        (
            "taints: [{key: gpu, value: 'yes', effect: NoSchedule}]",
            "",
            "remove the taint gpu=yes:NoSchedule from node n",
            "FILT-06",
        ),
        (
            "taints: [{key: gpu, value: 'yes', effect: NoSchedule}]",
            "",
            "let p tolerate the taint gpu=yes:NoSchedule",
            "FILT-06",
        ),
        ("cpu: 2", "nodeSelector: {disk: ssd}", "label node n with disk=ssd", "FILT-07"),
    ],
)
def test_what_is_in_the_way_on_a_node_can_be_removed(
    explained: Explain, node: str, pod: str, change: str, rule: str
) -> None:
    room = node if node.startswith("cpu") else f"cpu: 2, {node}"
    more = f", {pod}" if pod else ""
    told = explained("pod/p", f"{{nodes: [{{name: n, {room}}}], pods: [{{name: p, cpu: 1{more}}}]}}")
    assert told.state == "pending"
    assert told.refused[0].closest[0].rule == rule
    assert change in texts(told)


def test_those_before_it_in_the_queue_have_their_turn_first(explained: Explain) -> None:
    """QUEUE-18."""
    told = explained(
        "podgroup/late", "{nodes: [{name: n, cpu: 2}], podGroups: [{name: first, gang: 2}, {name: late, gang: 2}], "
        "pods: [{name: 'f[1-2]', group: first, cpu: 1}, {name: 'l[1-2]', group: late, cpu: 1}]}",
    )  # fmt: skip
    assert told.state == "pending"
    (ahead,) = told.queue.ahead
    assert (ahead.entity, ahead.pods, ahead.outcome) == ("default/first", 2, "placed")
    assert told.queue.simulated
    assert any("without the turns of the 1 before it" in note for note in told.notes)


def test_a_higher_priority_stands_before_it_although_it_came_later(explained: Explain) -> None:
    """QUEUE-18."""
    told = explained(
        "pod/old",
        "{nodes: [{name: n, cpu: 2}], pods: [{name: old, cpu: 1}, {name: new, cpu: 1, priority: 5}]}",
    )
    assert [one.entity for one in told.queue.ahead] == ["default/new"]
    assert told.sentence == "pod/old would be placed on n after the 1 pod before it in the queue"


def test_a_placement_that_the_scheduler_misses_is_shown(explained: Explain) -> None:
    """THM-03: the small members first take the room that the big one needs."""
    told = explained(
        "podgroup/g", "{nodes: [{name: a, cpu: 2}, {name: b, cpu: 4}], podGroups: [{name: g, gang: 3}], pods: ["
        "{name: p1, group: g, cpu: 2}, {name: p2, group: g, cpu: 3}, {name: p3, group: g, cpu: 1}]}",
    )  # fmt: skip
    assert told.state == "pending"
    assert any("p2 on b" in note and "THM-03" in note for note in told.notes)


def test_a_choice_that_decides_is_told(explained: Explain) -> None:
    """CYCLE-16: of two equal nodes either may be taken by the first, and only one leaves room for the second."""
    told = explained(
        "podgroup/g", "{nodes: [{name: a, cpu: 2}, {name: b, cpu: 2, labels: {disk: ssd}}], "
        "podGroups: [{name: g, gang: 2}], "
        "pods: [{name: p1, group: g, cpu: 2}, {name: p2, group: g, cpu: 2, nodeSelector: {disk: ssd}}]}",
    )  # fmt: skip
    assert told.state == "varies"
    assert told.depends == "1 of 2 ways in which ties may go lead to a place"


def test_a_surplus_member_may_be_left_out(explained: Explain) -> None:
    """CYCLE-31."""
    create = "{nodes: [{name: n, cpu: 2}], podGroups: [{name: g, gang: 2}], pods: [{name: 'p[1-3]', group: g, cpu: 1}]}"
    assert "2 of 3 waiting members find a place" in explained("podgroup/g", create).sentence
    told = explained("pod/p3", create)
    assert told.sentence.startswith("pod/p3 finds no place: 0/1 nodes are available: 1 Insufficient cpu")
    assert "add one more node like n" in texts(told)


def test_who_waits_for_nothing_is_told_so(explained: Explain) -> None:
    create = (
        "{nodes: [{name: n, cpu: 9}], podGroups: [{name: g, gang: 1}], "
        "pods: [{name: b, group: g, cpu: 1, node: n}, {name: f, cpu: 1, schedulerName: other}]}"
    )
    assert explained("podgroup/g", create).sentence.startswith("podgroup/g is placed: 1 member")
    assert explained("pod/b", create).sentence == "pod/b is bound to n"
    assert explained("pod/f", create).state == "foreign"


def test_a_scenario_is_explained_where_its_runs_settle(scenario_file: Callable[..., Path]) -> None:
    """Of two plain pods either may be placed, by name; each world is told."""
    path = scenario_file(
        "scenario: settles\ntitle: it\nsteps:\n- create: {nodes: [{name: n, cpu: 2}], podGroups: [{name: g, gang: 2}], "
        "pods: [{name: 'p[1-2]', group: g, cpu: 1}]}\n"
    )
    assert gangproof.explain(path, "podgroup/g").found[0].explanation.state == "placed"
    assert gangproof.explain(path, "podgroup/g", step=1).found[0].explanation.state == "fits"


TWO = """scenario: roomy
title: both members fit
steps:
- create: {nodes: [{name: n, cpu: 2}], podGroups: [{name: g, gang: 2}], pods: [{name: 'p[1-2]', group: g, cpu: 1}]}
---
scenario: tight
title: one member fits
steps:
- create: {nodes: [{name: n, cpu: 1}], podGroups: [{name: g, gang: 2}], pods: [{name: 'p[1-2]', group: g, cpu: 1}]}
"""


def test_of_several_scenarios_those_in_which_nobody_waits_are_told_in_a_line(
    gangproof_command: Callable[..., Result], scenario_file: Callable[..., Path]
) -> None:
    result = gangproof_command("explain", scenario_file(TWO), "podgroup/g")
    first, blank, second, *rest = result.stdout.splitlines()
    assert first.startswith("scenario roomy, 1 settled world: podgroup/g is placed: 2 members have a place")
    assert (blank, second) == ("", "scenario tight, 1 settled world:")
    assert any(line.startswith("smallest changes that help") for line in rest)


def test_what_would_have_no_effect_is_refused(
    gangproof_command: Callable[..., Result], scenario_file: Callable[..., Path]
) -> None:
    stepped = gangproof_command("explain", ROOT / "examples/two-gangs", "podgroup/blue", "--step", "2")
    assert stepped.exit_code == 2
    assert "only scenarios have steps" in stepped.stderr
    gated = gangproof_command(
        "explain", scenario_file(TWO), "podgroup/g", "--feature-gates", "GangScheduling=false"
    )
    assert gated.exit_code == 2
    assert "a scenario names its own" in gated.stderr


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("podgroup/none", "no PodGroup none, found blue, red"),
        ("pod/none", "no pod none, found"),
        ("deployment/x", "podgroup/NAME or pod/NAME expected"),
        ("blue", "podgroup/NAME or pod/NAME expected"),
    ],
)
def test_what_is_not_there_is_exit_code_2(
    gangproof_command: Callable[..., Result], what: str, message: str
) -> None:
    result = gangproof_command("explain", ROOT / "examples/two-gangs", what)
    assert result.exit_code == 2
    assert message in result.stderr


def test_what_decides_and_is_not_modelled_is_exit_code_3(
    gangproof_command: Callable[..., Result], tmp_path: Path
) -> None:
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
        },
    }  # fmt: skip
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(pod), encoding="utf-8")
    result = gangproof_command("explain", path, "pod/p")
    assert result.exit_code == 3
    assert "volumes" in result.stdout


def test_json_has_the_same_facts(gangproof_command: Callable[..., Result]) -> None:
    result = gangproof_command("explain", "-f", ROOT / "examples/two-gangs", "podgroup/blue", "-o", "json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert (told["apiVersion"], told["kind"]) == ("gangproof/v1", "Explanation")
    (one,) = told["explanations"]
    assert one["quorum"] == {"known": 3, "before": 0, "kept": 2, "minimum": 3}
    assert one["refused"][0]["requests"]["cpu"] == 2000
    assert one["suggestions"][0]["outcome"] == "placed"


def test_the_text_begins_with_one_sentence_that_answers(gangproof_command: Callable[..., Result]) -> None:
    result = gangproof_command("explain", ROOT / "examples/two-gangs", "podgroup/red")
    assert result.stdout.splitlines()[0] == (
        "podgroup/red would be placed at its next turn: all 3 waiting members find a place."
    )


def test_every_field_of_the_json_is_documented(tmp_path: Path) -> None:
    """Each field name that can come out stands in docs/explain.md."""
    pending = gangproof.explain(ROOT / "examples/two-gangs", "podgroup/blue")
    evicting = gangproof.explain(ROOT / "scenarios/preemption.scenario.yaml", "podgroup/mid-pg", step=2)
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    job = {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template},
    }  # fmt: skip
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    creating = gangproof.explain(tmp_path / "job.json", "pod/j-0")
    page = (ROOT / "docs/explain.md").read_text(encoding="utf-8")

    def names(value: object) -> set[str]:
        if isinstance(value, dict):
            own = {str(key) for key in value if "/" not in str(key)}
            inner = (names(item) for key, item in value.items() if key not in ("requests", "safe"))
            return own.union(*inner)
        return set[str]().union(*map(names, value)) if isinstance(value, list) else set()

    told = names(json.loads(pending.json())) | names(json.loads(evicting.json()))
    told |= names(json.loads(creating.json()))
    assert {"breaks", "by", "created"} <= told
    assert {name for name in told if f"`{name}`" not in page} == set()
