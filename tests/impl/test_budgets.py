"""Disruption budgets: whom they cover, what they allow, and who is spared first (PREEMPT-25, PREEMPT-46, 47)."""

from __future__ import annotations

import pytest
from attrs import evolve
from racks import there, verdicts

from gangproof.errors import InputError
from gangproof.impl.actions import successors
from gangproof.impl.api import update
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import Bound, LabelSelector, Pod, PodDisruptionBudget, Requirement
from gangproof.impl.preemption.budgets import allowed, violating
from gangproof.impl.preemption.units import importance, orders, weaker_units
from gangproof.impl.profiles import INTENDED
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World
from gangproof.load import load_manifests_text, load_scenarios_text
from gangproof.properties.judges.everything import questions
from gangproof.properties.scenarios.report import check_scenario
from gangproof.properties.scenarios.write import dumps
from gangproof.properties.search.explore import Limits
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import gang, node, pod

PLAIN = Settings()
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
APP = LabelSelector((Requirement("app", "In", ("a",)),))


def budget(name: str = "b", **fields: object) -> PodDisruptionBudget:
    return evolve(PodDisruptionBudget("default", name, selector=APP), **fields)


def app(name: str, where: str | None = "n1", priority: int = 0, **fields: object) -> Pod:
    """A pod that the budget covers."""
    return evolve(pod(name, node=where, priority=priority), **{"labels": Table({"app": "a"}), **fields})


def strong(name: str = "p", **fields: object) -> Pod:
    return evolve(pod(name, priority=100), preemption_policy="PreemptLowerPriority", **fields)


@pytest.mark.parametrize(
    ("covering", "covered", "answer"),
    [
        (budget(), app("x"), True),
        (budget(), pod("x"), False),
        (budget(), app("x", namespace="other"), False),
        (budget(), app("x", labels=Table({"app": "b"})), False),
        (budget(selector=LabelSelector()), app("x"), False),
        (budget(selector=LabelSelector((Requirement("app", "DoesNotExist"),))), pod("x"), False),
        (
            budget(selector=LabelSelector((Requirement("app", "DoesNotExist"),))),
            app("x", labels=Table({"tier": "web"})),
            True,
        ),
    ],
)
def test_preempt_25_whom_a_budget_covers(covering: PodDisruptionBudget, covered: Pod, answer: bool) -> None:
    assert covering.covers(covered) is answer


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"min_available": Bound(1)}, 2),
        ({"min_available": Bound(3)}, 0),
        ({"min_available": Bound(5)}, 0),
        ({"min_available": Bound(50, percent=True)}, 0),
        ({"min_available": Bound(30, percent=True)}, 1),
        ({"max_unavailable": Bound(2)}, 0),
        ({"max_unavailable": Bound(3)}, 1),
        ({"max_unavailable": Bound(41, percent=True)}, 1),
        ({"max_unavailable": Bound(100, percent=True)}, 3),
        ({}, 3),
        ({"min_available": Bound(3), "disruptions_allowed": 2}, 2),
    ],
)
def test_what_a_budget_allows(fields: dict[str, object], answer: int) -> None:
    """Five pods are covered and have not ended; three of them run, one is going, one has no node yet."""
    going = app("going", terminating=True, termination_grace_period_seconds=30)
    pods = [app("x1"), app("x2"), app("x3"), going, app("waits", where=None), app("done", phase="Succeeded")]
    world = there(node("n1", 9), *pods, pod("stranger", node="n1"), budget(**fields), options=PLAIN)
    assert allowed(world, world.budgets["default/b"]) == answer


def test_a_share_is_rounded_up() -> None:
    assert [Bound(50, percent=True).of(n) for n in range(4)] == [0, 1, 1, 2]
    assert str(Bound(50, percent=True)) == "50%"
    assert Bound(2).of(1) == 2


def broken(world: World) -> list[tuple[str, ...]]:
    """The units that break a budget if everybody weaker than a strong pod goes, in the one order there is."""
    (order,) = orders(weaker_units(world, world.cache, strong()), importance)
    return [unit.keys for unit in violating(world, order)]


def test_preempt_25_the_budget_is_spent_on_the_most_important_first() -> None:
    pods = [app("x1", priority=1), app("x2", priority=3), app("x3", priority=2)]
    for number, keys in ((3, []), (2, ["x1"]), (1, ["x3", "x1"]), (0, ["x2", "x3", "x1"])):
        world = there(node("n1", 9), *pods, budget(disruptions_allowed=number), options=PLAIN)
        assert broken(world) == [(f"default/{key}",) for key in keys]


def test_preempt_25_a_pod_known_to_be_disrupted_is_not_charged() -> None:
    pods = [app("x1", priority=1), app("x2", priority=2)]
    known = budget(disruptions_allowed=1, disrupted_pods=("x2",))
    assert broken(there(node("n1", 9), *pods, known, options=PLAIN)) == []


def test_preempt_25_a_unit_that_breaks_a_budget_is_charged_no_further() -> None:
    """The unit g breaks the first budget with its first pod; its second pod leaves the other budget alone."""
    other = LabelSelector((Requirement("tier", "In", ("t",)),))
    group = evolve(gang("g", 2), priority=9, disruption_mode="PodGroup")
    first = evolve(app("g1"), scheduling_group="g")
    second = evolve(pod("g2", "g", node="n1"), labels=Table({"tier": "t"}))
    late = evolve(pod("x", node="n1", priority=1), labels=Table({"tier": "t"}))
    budgets = (budget(disruptions_allowed=0), budget("c", selector=other, disruptions_allowed=1))
    preemptor = evolve(gang("h", 1), priority=100)
    world = there(node("n1", 9), group, preemptor, first, second, late, *budgets, options=AWARE)
    (order,) = orders(weaker_units(world, world.cache, evolve(strong(), scheduling_group="h")), importance)
    assert [unit.keys for unit in violating(world, order)] == [("default/g1", "default/g2")]


def victims(world: World) -> set[tuple[str, ...]]:
    return {tuple(victim.removeprefix("default/") for victim, _ in c.victims) for c in verdicts(world)}


def test_preempt_46_who_breaks_a_budget_is_spared_before_more_important_pods() -> None:
    pods = [app("guarded", priority=1), pod("important", node="n1", priority=5)]
    loose = there(node("n1", 2), *pods, strong(), options=PLAIN)
    assert victims(loose) == {("guarded",)}
    tight = there(node("n1", 2), *pods, budget(min_available=Bound(1)), strong(), options=PLAIN)
    assert victims(tight) == {("important",)}


def test_preempt_46_a_budget_forbids_nothing() -> None:
    world = there(node("n1", 1), app("x"), budget(min_available=Bound(1)), strong(), options=PLAIN)
    assert victims(world) == {("x",)}


def test_preempt_47_fewest_violations_come_before_lowest_priority() -> None:
    pods = [app("guarded", "n1", 1), pod("important", node="n2", priority=5)]
    world = there(node("n1", 1), node("n2", 1), *pods, strong(), options=PLAIN)
    assert victims(world) == {("guarded",)}
    tight = there(
        node("n1", 1), node("n2", 1), *pods, budget(min_available=Bound(1)), strong(), options=PLAIN
    )
    assert victims(tight) == {("important",)}


def test_preempt_27_victims_stand_by_importance_also_if_one_breaks_a_budget() -> None:
    wide = evolve(strong(), requests=Table({"cpu": 2000}))
    pods = [app("guarded", priority=1), pod("important", node="n1", priority=5)]
    world = there(node("n1", 2), *pods, budget(min_available=Bound(1)), wide, options=PLAIN)
    assert victims(world) == {("important", "guarded")}


def test_a_budget_changes_with_its_pods_and_by_update() -> None:
    world = there(node("n1", 9), app("x1"), app("x2"), budget(min_available=Bound(1)), options=PLAIN)
    stored = world.budgets["default/b"]
    assert allowed(world, stored) == 1
    ended = evolve(world, pods=world.pods.drop("default/x1"))
    assert allowed(ended, stored) == 0
    changed = update(INTENDED, world, evolve(stored, min_available=Bound(2)))
    assert allowed(changed, changed.budgets["default/b"]) == 0


MANIFEST = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b, uid: u1}
spec: {selector: {matchLabels: {app: a}, matchExpressions: [{key: tier, operator: Exists}]}, maxUnavailable: 25%}
status: {disruptionsAllowed: 2, disruptedPods: {x: "2026-05-01T12:00:00Z"}, currentHealthy: 3}
"""


def test_a_dumped_budget_keeps_what_its_controller_wrote() -> None:
    (loaded,) = load_manifests_text(MANIFEST).objects
    assert loaded == budget(
        uid=1,
        selector=LabelSelector((Requirement("app", "In", ("a",)), Requirement("tier", "Exists"))),
        max_unavailable=Bound(25, percent=True),
        disruptions_allowed=2,
        disrupted_pods=("x",),
    )
    (fresh,) = load_manifests_text(MANIFEST.replace(", uid: u1", "")).objects
    assert isinstance(fresh, PodDisruptionBudget)
    assert (fresh.disruptions_allowed, fresh.disrupted_pods) == (None, ())


@pytest.mark.parametrize("wrong", ["25", "-1%", "101%", "%", "many"])
def test_a_share_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="maxUnavailable"):
        load_manifests_text(MANIFEST.replace("25%", f'"{wrong}"'))
    with pytest.raises(InputError, match="at most one"):
        load_manifests_text(MANIFEST.replace("maxUnavailable: 25%", "maxUnavailable: 1, minAvailable: 1"))


SCENARIO = """
scenario: B-01
title: a share of a budget protects as a number does
steps:
- create:
    nodes: [{name: n1, cpu: 2}]
    pods:
    - {name: guarded, cpu: 1, priority: 1, node: n1, labels: {app: a}}
    - {name: important, cpu: 1, priority: 5, node: n1}
    pdbs: [{name: b, selector: {app: a}, minAvailable: 50%}]
- create: {pods: [{name: p, cpu: 1, priority: 100}]}
- expect: {bound: [p], victims: [important]}
- delete: [pdb/b]
- create: {pods: [{name: q, cpu: 1, priority: 50}]}
- expect: {bound: [p, q], victims: [important, guarded], absent: [pdb/b]}
"""


def test_a_scenario_with_a_budget_holds_and_is_written_as_it_was_read() -> None:
    (scenario,) = load_scenarios_text(SCENARIO, "b.scenario.yaml")
    report = check_scenario(scenario, "intended", INTENDED, questions(), Limits(states=2_000))
    assert report.verdict is Verdict.HOLDS, str(report)
    (again,) = load_scenarios_text(dumps(scenario), "b.scenario.yaml")
    assert again.steps[:2] == scenario.steps[:2]


def test_no_budget_no_difference() -> None:
    """A budget that allows everything leaves every run as it is."""
    objects = (node("n1", 2), app("x1", priority=1), app("x2", priority=2), strong())
    bare = there(*objects, options=PLAIN)
    generous = there(*objects, budget(min_available=Bound(0)), options=PLAIN)
    assert [a for a, _ in successors(bare, INTENDED)] == [a for a, _ in successors(generous, INTENDED)]
