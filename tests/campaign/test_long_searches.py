"""Whole searches that take long: every named world in the fine grain, larger ones, thousands of random ones.

In *intended* nothing may be violated, neither on the way nor where the runs settle; and in either profile the
reduced search finds what the full one finds.
"""

from __future__ import annotations

import pytest
from drawn import drawn

from gangproof.impl.profiles import INTENDED, V1_36_3
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.check import find
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.quotient import compare
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import NAMED, basic, gang, node, pod, world

pytestmark = pytest.mark.campaign

ASKED = questions()
SEEDS = range(8)
WORLDS = 400
"""So many random worlds are drawn for each seed."""
LIMITS = Limits(states=20_000)

NAMED_IN_THE_FINE_GRAIN = {
    "fits": (16, 20),
    "short": (17, 17),
    "failing-bind": (641, 1637),
    "two-gangs": (133, 278),
    "any-order": (106, 216),
    "lost-member": (401, 872),
    "basic": (748, 1734),
    "taints": (379, 693),
    "selector": (350, 741),
    "cordoned": (597, 1265),
    "mixed": (18, 18),
    "held-back": (53, 73),
    "late-node": (2603, 4426),
    "preemption": (92, 127),
    "four": (79, 280),
    "held-call": (71, 105),
    "no-backoff": (16, 16),
}
"""States and steps by name of the world, with the key that forgets names."""

LARGER = {
    "a gang of six, twelve places, three failures": world(
        *(node(f"n{i}", 2) for i in range(1, 7)), gang("g1", 6),
        *(pod(f"p{i}", "g1") for i in range(1, 7)),
        failures=3,
    ),
    "three gangs of two for two places, a deletion": world(
        node("n1", 1), node("n2", 1),
        *(gang(f"g{i}", 2) for i in range(1, 4)),
        *(pod(f"p{i}{j}", f"g{i}") for i in range(1, 4) for j in (1, 2)),
        deletions=1,
    ),
    "a strong gang beside a basic group, any order": world(
        node("n1", 2), node("n2", 1), gang("g1", 2), basic("g2"),
        pod("p1", "g1", priority=5), pod("p2", "g1", priority=5), pod("p3", "g2"), pod("p4", "g2"),
        any_order=True,
    ),
}  # fmt: skip
LARGER_NUMBERS = {
    "a gang of six, twelve places, three failures": (42, 880),
    "three gangs of two for two places, a deletion": (623, 1631),
    "a strong gang beside a basic group, any order": (3512, 10081),
}
"""States and steps in the coarse grain."""


def searched(start: World, grain: str = "fine") -> tuple[int, int]:
    """The states and steps of a search that asks everything and finds nothing."""
    found, examples = find(Machine(INTENDED, [start], grain, Symmetry()), ASKED, Limits(states=200_000))
    assert found.exploration.stop == "exhausted"
    assert [str(example.violation) for example in examples.values()] == []
    return found.exploration.states, found.exploration.transitions


@pytest.mark.parametrize("name", list(NAMED))
def test_nothing_is_violated_in_a_named_world_in_the_fine_grain(name: str) -> None:
    found = searched(NAMED[name].world)
    print(f"no violation in {found[0]:,} states, {found[1]:,} steps: {name}")
    assert found == NAMED_IN_THE_FINE_GRAIN[name]


@pytest.mark.parametrize("name", list(LARGER))
def test_nothing_is_violated_in_a_larger_world(name: str) -> None:
    found = searched(LARGER[name], "coarse")
    print(f"no violation in {found[0]:,} states, {found[1]:,} steps: {name}")
    assert found == LARGER_NUMBERS[name]


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_violated_in_random_worlds(seed: int) -> None:
    starts, states, steps, large = drawn(seed, WORLDS, max_nodes=2, max_pods=3), 0, 0, 0
    for start in starts:
        found, examples = find(Machine(INTENDED, [start], key=Symmetry()), ASKED, LIMITS)
        assert [str(example.violation) for example in examples.values()] == [], start
        large += found.exploration.stop != "exhausted"
        states += found.exploration.states
        steps += found.exploration.transitions
    print(f"no violation in {len(starts)} worlds, {states:,} states, {steps:,} steps; {large} cut short")
    assert len(starts) > WORLDS // 2
    assert large == 0
    assert steps > 10 * len(starts)


@pytest.mark.parametrize("rules", [INTENDED, V1_36_3], ids=["intended", "v1.36.3"])
@pytest.mark.parametrize("seed", range(100, 104))
def test_the_reduced_search_finds_what_the_full_one_finds_in_random_worlds(rules: Rules, seed: int) -> None:
    starts, full, reduced = drawn(seed, 100, max_nodes=2, max_pods=3), 0, 0
    for start in starts:
        comparison = compare(Machine(rules, [start]), Symmetry(), ASKED, LIMITS)
        assert comparison.verdict is Verdict.HOLDS, f"{comparison}\n{start}"
        full += comparison.full.states
        reduced += comparison.reduced.states
    print(f"{reduced:,} states stand for {full:,} in {len(starts)} worlds")
    assert len(starts) > 40
    assert reduced < full
