"""What a scenario needs from its runner, and whether it may preempt."""

from pathlib import Path

import pytest

from gangproof.load import load_scenarios, load_scenarios_text
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.features import ALL_FEATURES, features, may_preempt

FOLDER = Path(__file__).parents[2] / "scenarios"
NODES = "- create: {nodes: [{name: n, cpu: 4}]}\n"
WAP = "gates: {WorkloadAwarePreemption: true}\n"


def scenario(steps: str, head: str = "") -> Scenario:
    (found,) = load_scenarios_text(f"scenario: s\ntitle: t\n{head}steps:\n{NODES}{steps}")
    return found


def test_the_facts_use_known_features() -> None:
    found = {one.id: features(one) for path in FOLDER.glob("*.scenario.yaml") for one in load_scenarios(path)}
    assert all(used <= ALL_FEATURES for used in found.values())
    assert found["GS-09"] == {"gang policy"}
    assert found["DRA-01"] == {"claims", "gang policy", "DRAWorkloadResourceClaims"}
    assert found["JOB-01"] == {"jobs", "WorkloadWithJob"}
    assert found["EV-05"] >= {"pdb", "may preempt", "WorkloadAwarePreemption"}
    assert found["TAS-06"] == {"topology", "gang policy", "TopologyAwareWorkloadScheduling"}
    assert found["QU-22"] == {"gang policy", "no backoff"}
    assert found["PGP-29"] >= {"anti-affinity"}
    assert found["PGP-30"] >= {"host ports"}
    assert found["ADM-02"] == {"workloads", "gang policy"}


@pytest.mark.parametrize(
    ("steps", "head", "feature"),
    [
        ("- restart: scheduler\n", "", "restart"),
        ("- lag: [scheduler/pods]\n", "", "lag"),
        ("- flush: true\n", "", "flush"),
        ("- advance: 1s\n", "", "advance"),
        ("- delete: [node/n]\n", "", "node removal"),
        ("- update: {node/n: {cpu: 1}}\n", "", "update"),
        ("- create: {pods: [{name: p, schedulerName: other}]}\n", "", "foreign scheduler"),
        ("- create: {pods: [{name: p, grace: 3}]}\n", "", "grace"),
        ("- create: {pods: [{name: p, gates: [a/b]}]}\n", "", "scheduling gates"),
        ("- create: {pods: [{name: p, node: n}]}\n- crash: [pod/p]\n", "", "crash"),
        ("- create: {pods: [{name: p, node: n}]}\n- finish: [pod/p]\n", "", "finish"),
        ("", "scheduler: {scores: rank}\n", "rank"),
        ("", "scheduler: {nodeScores: {n: 1}}\n", "fixed scores"),
        ("", "scheduler: {profiles: [a, b]}\n", "several profiles"),
        ("", "scheduler: {backoff: {initial: 2s}}\n", "other backoff"),
        ("", "gates: {GangScheduling: false}\n", "GangScheduling off"),
        ("", "gates: {SchedulerPopFromBackoffQ: false}\n", "SchedulerPopFromBackoffQ off"),
    ],
)
def test_each_feature_is_noticed(steps: str, head: str, feature: str) -> None:
    assert features(scenario(steps, head)) - {"basic policy"} == {feature}


LOW = "{name: low, priority: 1, node: n}"
HIGH = "{name: high, priority: 2}"
LATER = f"create: {{pods: [{HIGH}]}}"
CLASS = "priorityClasses: [{name: c, value: 5}]"
GROUP = "podGroups: [{name: g, gang: 1, priority: 2}]"


@pytest.mark.parametrize(
    ("steps", "head", "may"),
    [
        (f"- create: {{pods: [{LOW}, {HIGH}]}}\n", "", True),
        ("- create: {pods: [{name: a, priority: 2, node: n}, {name: b, priority: 2}]}\n", "", False),
        ("- create: {pods: [{name: a, priority: 2, node: n}, {name: b, priority: 1}]}\n", "", False),
        (f"- create: {{pods: [{LOW}, {HIGH[:-1]}, preemptionPolicy: Never}}]}}\n", "", False),
        (f"- create: {{pods: [{LOW}, {HIGH[:-1]}, node: n}}]}}\n", "", False),
        (f"- create: {{{GROUP}, pods: [{LOW}, {{name: p, priority: 1, group: g}}]}}\n", WAP, True),
        (f"- create: {{{GROUP}, pods: [{LOW}, {{name: p, priority: 1, group: g}}]}}\n", "", False),
        (f"- create: {{pods: [{LOW}]}}\n- attempt: {{pod: low, result: absent, during: [{LATER}]}}\n", "", True),
        (f"- create: {{pods: [{LOW}, {{name: x, priority: 1}}]}}\n- update: {{pod/x: {{priority: 9}}}}\n", "", True),
        (f"- create: {{{CLASS}, pods: [{LOW}, {{name: x, priorityClass: c}}]}}\n", "", True),
        (f"- create: {{pods: [{LOW}], jobs: [{{name: j, template: {{priority: 3}}}}]}}\n", "", True),
    ],
)  # fmt: skip
def test_may_preempt(steps: str, head: str, may: bool) -> None:
    assert may_preempt(scenario(steps, head)) is may
