"""Whom a pending group or pod would evict, unit by unit, and the rule that chose or spared each (`explain`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import gangproof
from gangproof.properties.explanation import Explanation

AWARE = "gates: {WorkloadAwarePreemption: true}\n"


@pytest.fixture
def explained(scenario_file: Callable[..., Path]) -> Callable[..., Explanation]:
    """Explains a target right after the objects were created."""

    def explained(target: str, create: str, head: str = AWARE, profile: str = "intended") -> Explanation:
        path = scenario_file(f"scenario: it\ntitle: it\n{head}steps:\n- create: {create}\n")
        (one,) = gangproof.explain(path, target, step=1, profile=profile).found
        return one.explanation

    return explained


def fates(told: Explanation) -> list[tuple[str, str, str]]:
    assert told.evictions is not None
    return [
        ("+".join(p.removeprefix("default/") for p in u.pods), u.fate, u.rule) for u in told.evictions.units
    ]


def test_the_least_important_that_suffice_go(explained: Callable[..., Explanation]) -> None:
    """PREEMPT-24, PREEMPT-26."""
    told = explained(
        "podgroup/g", "{nodes: [{name: n, cpu: 4}], pods: [{name: 'low[1-2]', cpu: 1, priority: 5, node: n}, "
        "{name: 'mid[1-2]', cpu: 1, priority: 10, node: n}, {name: 'g[1-2]', cpu: 1, group: g}], "
        "podGroups: [{name: g, gang: 2, priority: 50}]}",
    )  # fmt: skip
    assert told.state == "evicts"
    assert told.sentence.endswith("would evict 2 pods at its next turn and then be placed: low1, low2")
    assert sorted(fates(told)) == [
        ("low1", "evicted", "PREEMPT-26"),
        ("low2", "evicted", "PREEMPT-26"),
        ("mid1", "spared", "PREEMPT-26"),
        ("mid2", "spared", "PREEMPT-26"),
    ]
    assert [(m.state, m.node) for m in told.members] == [("place found", "n")] * 2
    assert "free cpu 2 on node n" in [one.text for one in told.suggestions]


def test_who_goes_is_not_told_as_if_it_had_been_put_back(explained: Callable[..., Explanation]) -> None:
    """PREEMPT-26: putting a victim back is what would not do, putting back the spared one is what was done."""
    told = explained(
        "podgroup/g", "{nodes: [{name: n, cpu: 2}], podGroups: [{name: g, gang: 1, priority: 9}], pods: ["
        "{name: low, cpu: 1, node: n}, {name: mid, cpu: 1, priority: 5, node: n}, {name: g1, cpu: 1, group: g}]}",
    )  # fmt: skip
    lines = [" ".join(line.split()) for line in str(told).splitlines()]
    assert "evicted low on n priority 0 were it put back, the group would not fit (PREEMPT-26)" in lines
    assert "spared mid on n priority 5 put back, the group still fits (PREEMPT-26)" in lines


def test_a_group_that_goes_whole_is_one_unit(explained: Callable[..., Explanation]) -> None:
    """PREEMPT-20: its members on both nodes go, although one would be enough."""
    told = explained(
        "podgroup/g", "{nodes: [{name: a, cpu: 1}, {name: b, cpu: 1}], "
        "podGroups: [{name: w, gang: 2, priority: 1, disruptionMode: PodGroup}, {name: g, gang: 1, priority: 9}], "
        "pods: [{name: w1, group: w, cpu: 1, node: a}, {name: w2, group: w, cpu: 1, node: b}, "
        "{name: g1, group: g, cpu: 1}]}",
    )  # fmt: skip
    assert fates(told) == [("w1+w2", "evicted", "PREEMPT-26")]
    assert told.evictions is not None
    assert told.evictions.units[0].group == "default/w"


@pytest.mark.parametrize(
    ("group", "pod", "rule"),
    [
        ("priority: 5", "", "PREEMPT-22"),
        ("priority: 9", "preemptionPolicy: Never", "PREEMPT-13"),
        ("priority: 9", "nodeSelector: {disk: ssd}", "PREEMPT-23"),
    ],
)
def test_why_nobody_is_evicted(
    explained: Callable[..., Explanation], group: str, pod: str, rule: str
) -> None:
    more = f", {pod}" if pod else ""
    told = explained(
        "podgroup/g", "{nodes: [{name: n, cpu: 1}], pods: [{name: low, cpu: 1, priority: 5, node: n}, "
        f"{{name: g1, cpu: 1, group: g{more}}}], podGroups: [{{name: g, gang: 1, {group}}}]}}",
    )  # fmt: skip
    assert told.state == "pending"
    assert told.evictions is not None
    assert (told.evictions.rule, told.evictions.victims) == (rule, ())


def test_who_is_too_strong_is_counted_as_safe(explained: Callable[..., Explanation]) -> None:
    """PREEMPT-21."""
    told = explained(
        "podgroup/g", "{nodes: [{name: n, cpu: 3}], pods: [{name: low, cpu: 1, priority: 5, node: n}, "
        "{name: 'high[1-2]', cpu: 1, priority: 9, node: n}, {name: g1, cpu: 1, group: g}], "
        "podGroups: [{name: g, gang: 1, priority: 9}]}",
    )  # fmt: skip
    assert told.evictions is not None
    assert told.evictions.safe == (("priority 9 or higher (PREEMPT-21)", 2),)
    assert told.evictions.victims == ("default/low",)


def test_a_plain_pod_evicts_for_itself(explained: Callable[..., Explanation]) -> None:
    """PREEMPT-46, PREEMPT-47: on the node where the weaker one runs."""
    told = explained(
        "pod/p", "{nodes: [{name: a, cpu: 1}, {name: b, cpu: 1}], pods: [{name: x, cpu: 1, priority: 3, node: a}, "
        "{name: y, cpu: 1, priority: 2, node: b}, {name: p, cpu: 1, priority: 7}]}", head="",
    )  # fmt: skip
    assert told.evictions is not None
    assert (told.evictions.by, told.evictions.victims) == ("pod", ("default/y",))


def test_a_budget_is_named_and_its_pods_are_judged_first(explained: Callable[..., Explanation]) -> None:
    """PREEMPT-25: of two equally weak pods the one whose budget would break is kept."""
    told = explained(
        "podgroup/g", "{nodes: [{name: n, cpu: 2}], pdbs: [{name: keep, selector: {app: a}, maxUnavailable: 0}], "
        "pods: [{name: a, cpu: 1, priority: 1, node: n, labels: {app: a}}, {name: b, cpu: 1, priority: 1, node: n}, "
        "{name: g1, cpu: 1, group: g}], podGroups: [{name: g, gang: 1, priority: 9}]}",
    )  # fmt: skip
    assert fates(told) == [("a", "spared", "PREEMPT-26"), ("b", "evicted", "PREEMPT-26")]
    assert told.evictions is not None
    assert [unit.budgets for unit in told.evictions.units] == [("default/keep",), ()]
    assert [unit.breaks for unit in told.evictions.units] == [True, False]


def test_the_profile_matters(explained: Callable[..., Explanation]) -> None:
    """DEV-31: v1.36.3 lets a group evict its own bound member of lower priority."""
    create = (
        "{nodes: [{name: n, cpu: 1}], podGroups: [{name: g, gang: 2, priority: 9}], "
        "pods: [{name: g1, group: g, cpu: 1, priority: 1, node: n}, {name: g2, group: g, cpu: 1, priority: 9}]}"
    )
    intended = explained("podgroup/g", create)
    assert (intended.state, intended.evictions and intended.evictions.rule) == ("pending", "PREEMPT-22")
    shipped = explained("podgroup/g", create, profile="v1.36.3")
    assert shipped.evictions is not None
    assert shipped.evictions.victims == ("default/g1",)
