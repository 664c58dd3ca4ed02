"""The limits: each theorem holds in its scope, or falls at the world that the page tells; and beyond the scope."""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from gangproof.impl.actions import Action, cycle_steps
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.gates import Object
from gangproof.impl.objects import PodGroup
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.load import load_scenarios
from gangproof.properties.judges.everything import questions
from gangproof.properties.judges.exact import place
from gangproof.properties.scenarios.course import Following
from gangproof.properties.scenarios.run import follow
from gangproof.properties.search.explore import Limits, explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.quiescence import joint, room
from gangproof.properties.search.shipped import to_blame
from gangproof.properties.search.system import Path as Run
from gangproof.properties.search.system import Questions
from gangproof.properties.theorems import THEOREMS, Answer, Case, Size, Theorem
from gangproof.properties.theorems.completeness import alike, by_rack, missed, mixed_cases, too_many
from gangproof.properties.theorems.gangs import both_held
from gangproof.properties.theorems.page import draw, outcome, page, picture_name
from gangproof.properties.theorems.theorem import decisions, first, kept, verdict
from gangproof.properties.worlds.named import NAMED, gang, node, pod, world

DOCS = Path(__file__).parents[2] / "docs"
SMALLEST = {
    "THM-03": Size(5, 2, 4),
    "THM-05": Size(4, 2, 2),
    "THM-06": Size(4, 2, 2),
    "THM-09": Size(7, 2, 4),
    "THM-10": Size(3, 1, 1),
    "THM-12": Size(5, 1, 3),
    "THM-13": Size(7, 4, 5),
    "THM-14": Size(7, 4, 5),
    "THM-15": Size(5, 2, 3),
    "THM-16": Size(5, 3, 2),
    "THM-17": Size(4, 1, 2),
    "THM-18": Size(5, 2, 3),
}
"""How small a world refutes a theorem."""


@lru_cache
def answer(theorem: Theorem) -> Answer:
    return theorem.search()


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: f"{theorem.id} {theorem.expected}")
def test_the_theorem_holds_or_falls_as_it_is_known_to(theorem: Theorem) -> None:
    found = answer(theorem)
    assert outcome(found) == theorem.expected, found.why
    assert found.cases > 0
    if found.case is not None:
        assert found.case.size == SMALLEST[theorem.id]


def test_the_page_is_what_the_code_makes() -> None:
    made = page(THEOREMS, {theorem.name: answer(theorem) for theorem in THEOREMS})
    assert (DOCS / "limits.md").read_text(encoding="utf-8") == made


REFUTED = [theorem for theorem in THEOREMS if theorem.expected == "refuted"]


@pytest.mark.parametrize("theorem", REFUTED, ids=lambda theorem: theorem.id)
def test_the_picture_is_what_the_code_draws(theorem: Theorem, tmp_path: Path) -> None:
    drawn = tmp_path / picture_name(theorem)
    drawn.write_text(draw(theorem, answer(theorem)), encoding="utf-8")
    assert drawn.read_bytes() == (DOCS / "pictures" / drawn.name).read_bytes(), f"now: {drawn}"


def test_every_picture_of_a_limit_is_made() -> None:
    there = {path.name for path in (DOCS / "pictures").glob("limit-*.svg")}
    assert there == {picture_name(theorem) for theorem in REFUTED}


@pytest.mark.parametrize(("id", "bound"), [("thm-03", {0}), ("thm-10", {0}), ("thm-15", {2})])
def test_the_scenarios_of_the_page_can_be_followed(id: str, bound: set[int], tmp_path: Path) -> None:
    """Numbers of members that have a node in the end, in all runs."""
    text = (DOCS / "limits.md").read_text(encoding="utf-8")
    file = tmp_path / f"{id}.scenario.yaml"
    file.write_text(
        text.partition(f"scenario: limit-{id}")[2].partition("```")[0].join([f"scenario: {id}", ""])
    )
    (document,) = load_scenarios(file)
    course = follow(document, Following(INTENDED, Questions(), Limits()))
    assert course.runs
    ends = {
        sum(p.node_name is not None and p.group is not None for p in r.world.pods.values())
        for r in course.runs
    }
    assert ends == bound


# The searches can fail: a verdict that is not the machinery's is seen.


def decided(*objects: Object) -> tuple[Case, Cycle]:
    case = Case(objects)
    return case, verdict(next(decisions(case.world())))


def test_a_wrong_verdict_is_seen() -> None:
    case, cycle = decided(node("n1", 2), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1"))
    assert alike(case, cycle) is missed(case, cycle) is too_many(case, cycle) is None
    assert alike(case, evolve(cycle, code="Unschedulable")) == "the verdict is Unschedulable with room for 2"
    assert alike(case, evolve(cycle, results=cycle.results[:1])) == "1 are kept where 2 fit"
    assert missed(case, evolve(cycle, code="Unschedulable")) is not None
    crowded = Case((node("n1", 1), *case.objects[1:]))
    assert too_many(crowded, cycle) == "p1, p2 do not fit together on n1"
    assert alike(crowded, cycle) == "the verdict is Success with room for 1"


def test_members_in_two_racks_are_seen() -> None:
    hosts = (node("n1", 1, labels={"rack": "a"}), node("n2", 1, labels={"rack": "b"}))
    case, cycle = decided(*hosts, gang("g1", 2), pod("p1", "g1"), pod("p2", "g1"))
    assert by_rack(case, cycle) == "members are in a and b"


def test_gangs_that_hold_each_other_up_are_seen() -> None:
    members = [pod(name, group, node="n1") for name, group in (("p1", "g1"), ("q1", "g2"))]
    groups = (gang("g1", 2), gang("g2", 2))
    held = Case((node("n1", 2), *groups, *members, pod("p2", "g1"), pod("q2", "g2")))
    assert both_held(held.world()) == ["default/g1", "default/g2"]
    assert both_held(Case((node("n1", 2), *groups, members[0])).world()) == []


def test_the_first_by_size_is_found() -> None:
    big, small = (Case((node("n1", cpu), pod("p1"))) for cpu in (3, 1))
    assert first([big, small], lambda case: (Run(case.world()), "so")).case is small
    assert first([big, small], lambda case: None) == Answer(2)


def test_of_gangs_of_two_the_smallest_that_is_missed_needs_two_nodes() -> None:
    """THM-03: the named world `mixed`; there are more ways out of it than one (CHO-05)."""

    def refutes(case: Case) -> tuple[Run[World, Action], str] | None:
        ways = [wrong for path in decisions(case.world()) if (wrong := missed(case, verdict(path)))]
        return (Run(case.world()), ways[0]) if ways else None

    found = first((case for case in mixed_cases() if len(case.pods) == 2), refutes)
    assert found.case is not None
    assert found.case.size == Size(5, 3, 3)
    arrivals = NAMED["mixed"].world.environment.arrivals
    assert {obj.key for obj in found.case.objects} == {obj.key for obj in arrivals}


def test_dev_02_alone_breaks_inv_06_where_thm_05_falls() -> None:
    theorem = next(
        theorem for theorem in THEOREMS if theorem.id == "THM-05" and theorem.expected == "refuted"
    )
    case = answer(theorem).case
    assert case is not None
    hosts = [obj for obj in case.objects if obj not in case.pods]
    keeping_away_first = sorted(case.pods, key=lambda p: not p.pod_anti_affinity.required)

    def breaks(rules: Rules) -> bool:
        start = world(*hosts, *keeping_away_first)
        found = explore(Machine(rules, [start]), questions())
        return "INV-06" in found.counterexamples

    assert to_blame("INV-06", breaks) == ("DEV-02",)
    assert not breaks(INTENDED)


# Beyond the scopes: one way of each cycle, against the exact search.

CPUS = st.integers(0, 6)


def any_cycle(case: Case, seed: int) -> Cycle | None:
    """The next cycle with its verdict, ties fallen at random; None if nobody is ready."""
    chance, now = random.Random(seed), case.world()
    while now.cycle is None or now.cycle.stage != "submitting":
        steps = list(cycle_steps(now, INTENDED))
        if not steps:
            return None
        now = chance.choice(steps)[1]
    return now.cycle


def best(case: Case) -> int:
    start = case.world()
    return joint(start, room(start), [p for p in case.pods if p.node_name is None]).bound


@st.composite
def clusters(draw: st.DrawFn, alike: bool) -> Case:
    nodes = draw(st.lists(CPUS, min_size=1, max_size=6))
    size = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.just(size) if alike else st.integers(1, 3), min_size=1, max_size=10))
    minimum = draw(st.integers(1, len(sizes)))
    return Case(
        (
            *(node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1)),
            gang("g1", minimum),
            *(pod(f"p{i}", "g1", cpu=size) for i, size in enumerate(sizes, 1)),
        )
    )


def agrees_for_equal_members(case: Case, seed: int) -> None:
    cycle = any_cycle(case, seed)
    assert cycle is not None
    minimum = next(obj.min_count or 0 for obj in case.objects if isinstance(obj, PodGroup))
    assert (cycle.code == "Success") == (best(case) >= minimum)
    if cycle.code == "Success":
        assert len(kept(cycle)) == best(case)


def fits_for_any_members(case: Case, seed: int) -> None:
    cycle = any_cycle(case, seed)
    assert cycle is not None
    nodes = kept(cycle)
    free = {each.name: each.allocatable for each in case.nodes}
    requests = {p.key: {**p.requests, "pods": 1} for p in case.pods if p.key in nodes}
    found = place(free, requests, {key: [name] for key, name in nodes.items()})
    assert found.nodes == nodes


SEEDS = st.integers(0, 1000)


@given(clusters(alike=True), SEEDS)
@settings(max_examples=100, deadline=None)
def test_thm_01_beyond_the_scope(case: Case, seed: int) -> None:
    agrees_for_equal_members(case, seed)


@given(clusters(alike=False), SEEDS)
@settings(max_examples=100, deadline=None)
def test_thm_04_beyond_the_scope(case: Case, seed: int) -> None:
    fits_for_any_members(case, seed)


@pytest.mark.campaign
@given(clusters(alike=True), clusters(alike=False), SEEDS)
@settings(max_examples=3000, deadline=None)
def test_thm_01_and_04_at_length(equal: Case, mixed: Case, seed: int) -> None:
    agrees_for_equal_members(equal, seed)
    fits_for_any_members(mixed, seed)
