"""What v1.36.3 breaks, judged where it commits member by member: what is listed, and nothing else.

A promise that is judged wrongly where members are committed one after the other would be broken all the time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from gangproof.impl.deviations import DEVIATIONS, Deviation
from gangproof.impl.gates import Object
from gangproof.impl.objects import LabelSelector, PodAffinity, PodAffinityTerm, Requirement
from gangproof.impl.profiles import INTENDED, V1_36_3, only
from gangproof.impl.rules import Rules, profile
from gangproof.impl.table import Table
from gangproof.load import load_scenarios, load_scenarios_text
from gangproof.properties.faults import FAULTS, cases_text
from gangproof.properties.judges.everything import questions
from gangproof.properties.judges.settled import SETTLED
from gangproof.properties.scenarios.course import Following
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.features import features
from gangproof.properties.scenarios.report import MISSING
from gangproof.properties.scenarios.run import follow
from gangproof.properties.search.explore import Limits, explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.shipped import shipped_questions
from gangproof.properties.search.system import Questions
from gangproof.properties.worlds.named import HOSTNAME, gang, node, pod, world

ROOT = Path(__file__).parents[2]
DOCUMENTS = {d.id: d for file in sorted(ROOT.glob("scenarios/*.yaml")) for d in load_scenarios(file)}
BY_ID = {deviation.id: deviation for deviation in DEVIATIONS}
BESIDE = {
    "DEV-19": ("DEV-52",), "DEV-22": ("DEV-12",), "DEV-24": ("DEV-19", "DEV-52"), "DEV-52": ("DEV-19",),
    "DEV-41": ("DEV-19", "DEV-44", "DEV-52", "DEV-56"), "DEV-42": ("DEV-56",), "DEV-44": ("DEV-19", "DEV-52"),
    "DEV-45": ("DEV-19", "DEV-52"), "DEV-54": ("DEV-19", "DEV-44", "DEV-45", "DEV-52"),
    "DEV-55": ("DEV-53",), "DEV-60": ("DEV-42", "DEV-56"),
}  # fmt: skip
"""Deviations that show themselves only beside others."""
NOT_IN_A_STEP = {
    "DEV-11": "INV-39 compares the runs of two schedulers; see test_restarts.py",
    "DEV-61": "it is a run without an end; see test_quiescence.py",
    "DEV-15": "its scenario has a victim too many, which no promise forbids; see below",
}
"""Deviations whose scenario breaks nothing that is asked of a state or a step."""


def broken(document: Scenario, rules: Rules, states: int = 20_000) -> set[str]:
    """Every property that some run of the scenario breaks on its way; no run ends for it."""
    found: set[str] = set()

    def overheard(judge: Callable[..., object]) -> Callable[..., None]:
        def ask(*seen: object) -> None:
            if (violation := judge(*seen)) is not None:
                found.add(violation.property)  # pyright: ignore[reportAttributeAccessIssue]

        return ask

    asked = shipped_questions()
    deaf = Questions(
        invariants=list(map(overheard, asked.invariants)), steps=list(map(overheard, asked.steps))
    )
    settled = list(map(overheard, SETTLED))
    follow(document, Following(rules, deaf, Limits(states=states), settled=settled))
    return found


@pytest.mark.parametrize(
    "deviation", [d for d in DEVIATIONS if d.scenario and d.id not in NOT_IN_A_STEP], ids=lambda d: d.id
)
def test_a_deviation_breaks_in_its_scenario_what_it_lists_and_nothing_else(deviation: Deviation) -> None:
    beside = BESIDE.get(deviation.id, ())
    found = broken(DOCUMENTS[deviation.scenario], only(*beside, deviation.id))
    assert found & set(deviation.breaks)
    assert found <= {name for id in (*beside, deviation.id) for name in BY_ID[id].breaks}


SHIPPED = [d for d in DOCUMENTS.values() if d.profile != "intended" and not features(d) & MISSING]


@pytest.mark.parametrize("document", SHIPPED, ids=lambda d: d.id)
def test_whatever_breaks_is_listed_by_some_deviation(document: Scenario) -> None:
    """No scenario breaks INV-01, for example, and none that only evicts weaker pods breaks INV-16."""
    listed = {name for deviation in DEVIATIONS for name in deviation.breaks}
    assert broken(document, V1_36_3, states=300) <= listed


@pytest.mark.parametrize("id", ["ASY-01", "SOP-14", "PGP-01", "EV-01"])
def test_an_eviction_of_weaker_pods_is_none_of_stronger_ones(id: str) -> None:
    """INV-16 asks whether a member in flight is stronger, so it is asked before the cycle has ended."""
    assert "INV-16" not in broken(DOCUMENTS[id], V1_36_3, states=300)


def test_a_gang_that_is_content_with_one_member_is_caught_in_v1_36_3_too() -> None:
    """F-01: the verdict commits one of two (INV-01), and Permit lets it through alone (INV-02)."""
    (fault,) = (fault for fault in FAULTS if fault.id == "F-01")
    (case,) = (case for case in load_scenarios_text(cases_text(), "cases") if case.id == "F-01")
    assert {"INV-01", "INV-02"} <= broken(case, profile(V1_36_3, fault.change))
    assert not {"INV-01", "INV-02"} & broken(case, V1_36_3)


def searched(rules: Rules, *objects: Object, deletions: int = 0) -> set[str]:
    """What the runs break in which these objects come in this order, step by step."""
    start = world(*objects, deletions=deletions)
    return set(explore(Machine(rules, [start], "fine"), shipped_questions()).counterexamples)


def test_dev_23_a_terminating_member_completes_the_minimum_at_permit() -> None:
    """INV-02: p1 was bound by others and is going; p2 is let through as the second of two."""
    p1 = evolve(pod("p1", "g", node="n"), terminating=True, finalizers=("example.com/keep",))
    objects = (node("n", 2), gang("g", 2), p1, pod("p2", "g"))
    assert "INV-02" not in searched(INTENDED, *objects)
    assert "INV-02" in searched(only("DEV-23"), *objects)


def test_dev_15_a_member_counts_on_a_pod_that_another_evicts() -> None:
    """INV-18: p2 needs to be near v, whom p1 evicts, so the gang has no place once v is gone."""
    near = PodAffinityTerm("zone", LabelSelector((Requirement("app", "In", ("v",)),)), ("default",))
    v = evolve(pod("v", node="n1"), labels=Table({"app": "v"}))
    p1 = pod("p1", "g", selector={HOSTNAME: "n1"}, priority=9, preempts=True)
    p2 = evolve(pod("p2", "g", selector={HOSTNAME: "n2"}, priority=9), pod_affinity=PodAffinity((near,)))
    objects = (node("n1", 1, labels={"zone": "z"}), node("n2", 1, labels={"zone": "z"}), v, gang("g", 2))
    assert "INV-18" not in searched(INTENDED, *objects, p1, p2)
    assert "INV-18" in searched(only("DEV-15"), *objects, p1, p2)


def test_a_commit_that_falls_short_waits_and_lets_nobody_through() -> None:
    """DEV-19: a member is deleted before the commit. Who is committed waits at Permit: that breaks INV-03 alone."""
    objects = (node("n", 2), gang("g", 2), pod("p1", "g"), pod("p2", "g"))
    found = searched(only("DEV-19", "DEV-52"), *objects, deletions=1)
    assert "INV-03" in found
    assert not found & {"INV-01", "INV-02"}


def test_who_makes_room_for_a_plan_that_holds_is_not_evicted_in_vain() -> None:
    """INV-18: p1 has n1 and p2 is to have n2 once v is gone; tried anew without v, p1 would go to n2 instead."""
    members = [pod("p1", "g", priority=9, preempts=True), pod("p2", "g", cpu=2, priority=9, preempts=True)]
    objects = (node("n1", 1), node("n2", 2), pod("v", node="n2", cpu=2), gang("g", 2), *members)
    found = explore(Machine(INTENDED, [world(*objects)], "fine"), questions())
    assert (found.stop, list(found.counterexamples)) == ("exhausted", [])
