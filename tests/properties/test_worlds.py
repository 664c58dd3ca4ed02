"""The named worlds: exact numbers of states, the coarse grain among the fine one, nothing broken in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gangproof.impl.actions import Action, Grain, successors
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import World
from gangproof.properties.search.explore import Limits, explore_graph
from gangproof.properties.search.machine import Machine, settle
from gangproof.properties.search.quotient import compare
from gangproof.properties.search.system import Questions, Violation
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.worlds.named import NAMED

COUNTS = {
    "fits": (9, 8, 17, 16),
    "short": (7, 7, 17, 17),
    "failing-bind": (304, 82, 3656, 641),
    "two-gangs": (35, 35, 139, 133),
    "any-order": (1660, 38, 4576, 106),
    "lost-member": (114, 66, 582, 401),
    "basic": (229, 94, 2042, 748),
    "taints": (83, 37, 1277, 379),
    "selector": (188, 69, 1096, 350),
    "cordoned": (83, 68, 695, 597),
    "mixed": (8, 8, 18, 18),
    "held-back": (15, 14, 54, 53),
    "late-node": (638, 265, 4913, 2603),
    "preemption": (43, 25, 171, 92),
    "four": (1162, 25, 2380, 79),
    "held-call": (37, 22, 131, 71),
    "no-backoff": (6, 6, 16, 16),
}
"""States by name of the world: coarse and reduced coarse, fine and reduced fine."""

BOUND = {
    "fits": {2},
    "short": {0},
    "failing-bind": {4},
    "two-gangs": {2},
    "any-order": {2},
    "lost-member": {0, 2},
    "basic": {1, 2},
    "taints": {3},
    "selector": {2, 3},
    "cordoned": {1},
    "mixed": {0},
    "held-back": {2},
    "late-node": {1, 2},
    "preemption": {2},
    "four": {4},
    "held-call": {2},
    "no-backoff": {0},
}
"""How many pods have a node in the worlds in which the runs settle."""

each_world = pytest.mark.parametrize("name", list(NAMED))


def unplaced(world: World) -> Violation | None:
    """A made-up property whose violations come at many depths: nobody is on a node."""
    bound = sum(pod.node_name is not None for pod in world.pods.values())
    return Violation(f"{bound} bound", "somebody is") if bound else None


def untold(world: World) -> Violation | None:
    """Another one: no group has a condition."""
    told = sorted({str(group.condition) for group in world.groups.values() if group.condition})
    return Violation(" and ".join(told), "somebody was told") if told else None


MADE_UP = Questions[World, Action](
    invariants=[unplaced, untold],
    steps=[lambda s, a, t: Violation("a bind fails", "it does") if a.name == "bind-fails" else None],
    witnesses={
        "a running cycle": lambda world: world.cycle is not None,
        "a debt": lambda world: bool(world.ghost.owed),
        "a loss": lambda world: bool(world.ghost.lost),
    },
)


@pytest.mark.parametrize("grain", ["coarse", "fine"])
@each_world
def test_the_reduced_search_finds_what_the_full_one_finds(name: str, grain: Grain) -> None:
    comparison = compare(Machine(INTENDED, [NAMED[name].world], grain), Symmetry(), MADE_UP)
    assert comparison.differences == ()
    full, reduced = COUNTS[name][:2] if grain == "coarse" else COUNTS[name][2:]
    assert (comparison.full.states, comparison.reduced.states) == (full, reduced)
    assert comparison.full.counterexamples


def coarse_edges(world: World) -> Iterator[tuple[World, Action, World]]:
    _, graph = explore_graph(Machine(INTENDED, [world], "coarse"))
    for source, action, target in graph.edges:
        yield graph.states[source], action, graph.states[target]


@each_world
def test_every_coarse_step_is_a_run_of_fine_ones(name: str) -> None:
    for source, action, target in coarse_edges(NAMED[name].world):
        now = source
        for step in action.via or ((action, target),):
            assert step in successors(now, INTENDED, "fine")
            now = step[1]
        assert now == target


@each_world
def test_what_settles_in_the_coarse_grain_settles_in_the_fine_one(name: str) -> None:
    ends: list[set[World]] = []
    for grain in ("coarse", "fine"):
        found = settle(Machine(INTENDED, [NAMED[name].world], grain), Questions(), Limits())
        ends.append({found.graph.states[place] for place in found.settled})
    coarse, fine = ends
    assert coarse <= fine
    assert coarse or name == "no-backoff"


def test_without_backoff_a_short_gang_never_pauses() -> None:
    found = settle(Machine(INTENDED, [NAMED["no-backoff"].world]), Questions(), Limits())
    assert found.settled == ()
    assert found.restless


def test_how_many_pods_are_bound_in_the_end() -> None:
    bound: dict[str, set[int]] = {}
    for name, named in NAMED.items():
        found = settle(Machine(INTENDED, [named.world], key=Symmetry()), Questions(), Limits())
        bound[name] = {sum(pod.node_name is not None for pod in w.pods.values()) for w in found.worlds}
    assert bound == BOUND
