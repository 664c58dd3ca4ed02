"""What is no scenario: unknown keys, names without an object, impossible counts; with line and likely meaning."""

import pytest

from gangproof.errors import InputError
from gangproof.load import load_scenarios_text

TYPO = "- create: {pods: [{name: p1}]}\n- settle: true\n- expect:\n    bound: [p1]\n    gated: [p2]"
# What stands below `steps:`, the line, a text in the message.
WRONG = [
    ("- crate: {}", 4, "did you mean create?"),
    ("- create: {pod: []}", 4, "did you mean pods?"),
    ("- create: {pods: [{name: p, cpus: 1}]}", 4, "did you mean cpu?"),
    ("- create: {pods: [{cpu: 1}]}", 4, "an object without a name"),
    ("- create: {pods: [{name: p, cpu: -1}]}", 4, "at least 0"),
    ("- create: {pods: [{name: p, priority: high}]}", 4, "expected an integer"),
    ("- create: {pods: [{name: 'p[3-1]'}]}", 4, "a range that goes up"),
    ("- create: {pods: [{name: 'p[1-9999]'}]}", 4, "at most 1000"),
    ("- create: {pods: [{name: 'p[a-b]'}]}", 4, "a pattern such as"),
    ("- create: {pods: [{name: P}]}", 4, "name: found"),
    ("- create: {pods: [{name: p, node: nowhere}]}", 4, "node/nowhere"),
    ("- create: {pods: [{name: p, spec: {nodeNam: n}}]}", 4, "did you mean nodeName?"),
    ("- create: {pods: [{name: p, manifest: {}}]}", 4, "a manifest alone"),
    ("- create: {pods: [{manifest: {kind: Node}}]}", 4, "expected Pod"),
    ("- create: {podGroups: [{name: g}]}", 4, "exactly one of basic, gang"),
    ("- create: {podGroups: [{name: g, gang: 1, basic: true}]}", 4, "exactly one of basic, gang"),
    ("- create: {podGroups: [{name: g, gang: 1, template: t}]}", 4, "workload/template"),
    ("- create: {pdbs: [{name: b, selector: {}}]}", 4, "exactly one of minAvailable"),
    ("- create: {pods: [{name: p, priorityClass: x}]}", 4, "no PriorityClass with name x"),
    ("- settle: true\n  flush: true", 4, "settle and flush"),
    ("- settle: false", 4, "expected true"),
    ("- settle:", 4, "found nothing"),
    ("- delete: [p1]", 4, "expected kind/name"),
    ("- delete: [pods/p1]", 4, "did you mean pod/p1?"),
    ("- delete: [pod/p1]", 4, "an object that the scenario creates"),
    ("- hold: [bnd/p1]", 4, "call/pod"),
    ("- lag: [scheduler]", 4, "component/kinds"),
    ("- advance: 90", 4, "expected a string"),
    ("- advance: soon", 4, "a duration such as"),
    ("- restart: kubelet", 4, "expected scheduler"),
    ("- attempt: {result: error}", 4, "either pod or group"),
    ("- attempt: {pod: p1, result: fine}", 4, "one of scheduled"),
    ("- expect: {bond: []}", 4, "did you mean bound?"),
    ("- expect: {gated: {exactly: 2, of: [a]}}", 4, "a number from 0 to 1"),
    ("- expect: {gated: {exactly: 1, atMost: 1, of: [a]}}", 4, "exactly one of exactly"),
    ("- expect: {gated: {of: [a]}}", 4, "exactly one of exactly"),
    ("- expect: {bound: {p1: 3}}", 4, "the name of a node"),
    ("- expect: {within: {zone: [p1]}}", 4, "label=value"),
    ("- expect: {conditions: {pg1: Scheduled}}", 4, "none or one of True/Scheduled"),
    (TYPO, 8, "did you mean pod/p1?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_what_cannot_be_meant(text: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_scenarios_text(f"scenario: s\ntitle: t\nsteps:\n{text}\n")
    assert message in str(caught.value)
    assert caught.value.problems[0].line == line


HEADS = [
    ("kubernetes: '1.35'", 'expected "1.36"'),
    ("profile: shipped", "one of intended, v1.36.3"),
    ("verified: yes", "expected a string"),
    ("gates: {Gang: true}", "found"),
    ("gates: {GangSchedulin: true}", "did you mean GangScheduling?"),
    ("gates: {GenericWorkload: false}", "GangScheduling without GenericWorkload"),
    ("gates: {WorkloadAwarePreemption: true, GangScheduling: false}", "WorkloadAwarePreemption without"),
    ("scheduler: {nodeScores: {n: 101}}", "a score from 0 to 100"),
    ("scheduler: {scores: best}", "rank, and then no nodeScores"),
    ("scheduler: {scores: rank, nodeScores: {n: 1}}", "rank beside nodeScores"),
    ("scheduler: {backoff: {initial: 20s}}", "at most the maximum"),
    ("scheduler: {profiles: []}", "at least one"),
    ("apiVersion: v1", "this is a manifest"),
]


@pytest.mark.parametrize(("head", "message"), HEADS)
def test_what_no_head_says(head: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_scenarios_text(f"scenario: s\ntitle: t\n{head}\nsteps: [settle: true]\n")
    assert message in str(caught.value)
    assert caught.value.problems[0].line == 3


def test_a_scenario_has_an_id_a_title_and_steps() -> None:
    with pytest.raises(InputError) as caught:
        load_scenarios_text("source: x\n")
    assert [problem.field for problem in caught.value.problems] == ["scenario", "title", "steps"]


def test_ids_are_unique_in_a_file() -> None:
    text = "scenario: s\ntitle: t\nsteps: [settle: true]\n"
    with pytest.raises(InputError, match='found "s" again, expected a unique id') as caught:
        load_scenarios_text(f"{text}---\n{text}")
    assert caught.value.problems[0].line == 5
