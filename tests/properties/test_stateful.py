"""Random runs as stories: they reach everything, they find faults, and what is left of them is short."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from gangproof.counterexamples import Trace
from gangproof.impl.actions import Action, successors
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, profile
from gangproof.impl.world import World
from gangproof.properties.judges.everything import questions, undone
from gangproof.properties.search.explore import Limits, explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.system import Questions, Violation
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.telling.stories import story
from gangproof.properties.telling.traces import Meta, run_trace
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.stateful import BrokenError, Fuzzed, Size, fuzz, machine_for
from gangproof.properties.worlds.strategies import arrival_orders, clusters, groups, pods, worlds

NAMES = (
    "create", "delete", "update", "finish", "crash", "pop", "snapshot", "place", "submit", "report",
    "bind", "bind-fails", "backoff-over",
)  # fmt: skip


def named(name: str) -> Callable[[World, Action, World], bool]:
    return lambda before, action, after: action.name == name


SHORT = settings(
    max_examples=80,
    stateful_step_count=20,
    database=None,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
)
SMALL = Size(nodes=2, groups=2, pods=5, failures=1)


def too_many(world: World) -> Violation | None:
    if len(world.nodes) > SMALL.nodes or len(world.groups) > SMALL.groups or len(world.pods) > SMALL.pods:
        return Violation("size", "there are too many of them")
    return None


def no_undo(_: Callable[..., Any]) -> Callable[..., Any]:
    return lambda rules, snapshot, pod, node: snapshot


FORGETFUL = profile(INTENDED, Change("no-undo", "what was assumed stays in the snapshot", {"undo": no_undo}))


@cache
def without_undo() -> Fuzzed:
    return fuzz(FORGETFUL, Questions(invariants=[undone]), runs=40)


def test_random_runs_do_everything_that_can_happen() -> None:
    found = fuzz(INTENDED, Questions(step_witnesses={name: named(name) for name in NAMES}), runs=80)
    assert found.missed == ()
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.runs >= 80
    assert found.steps > 1000


def test_random_runs_keep_to_the_size_and_reach_it() -> None:
    full = {
        "all nodes": lambda world: len(world.nodes) == SMALL.nodes,
        "all groups": lambda world: len(world.groups) == SMALL.groups,
        "all pods": lambda world: len(world.pods) == SMALL.pods,
    }
    found = fuzz(INTENDED, Questions(invariants=[too_many], witnesses=full), size=SMALL, runs=40)
    assert found.violation is None
    assert found.missed == ()


def test_a_witness_that_no_run_reaches_makes_it_vacuous() -> None:
    found = fuzz(INTENDED, Questions(witnesses={"a miracle": lambda world: False}), runs=5)
    assert found.missed == ("a miracle",)
    assert found.verdict is Verdict.VACUOUS


def test_a_broken_run_is_made_into_a_short_story() -> None:
    """A missing undo shows as soon as one pod was tried on one node (INV-07)."""
    found = without_undo()
    assert found.verdict is Verdict.VIOLATED
    assert found.violation is not None
    assert found.violation.property == "INV-07"
    assert found.path is not None
    names = [action.name for action in found.path.actions]
    assert names[-3:] == ["pop", "snapshot", "place"]
    assert names[:-3] in (["create"] * 2, ["create"] * 3)
    lines = list(story(found.path))
    assert any("user creates n" in line and "CPU" in line for line in lines)
    assert any("user creates p" in line for line in lines)
    assert "scheduler tries p" in lines[-1]
    assert not any("default/" in line for line in lines)


def test_the_same_seed_tells_the_same_story() -> None:
    again = fuzz(FORGETFUL, Questions(invariants=[undone]), runs=40)
    assert str(again) == str(without_undo())
    other = fuzz(FORGETFUL, Questions(invariants=[undone]), runs=40, seed=1)
    assert other.steps != again.steps


RUNS_OF_A_PROGRAM = """
from gangproof.impl.profiles import INTENDED
from gangproof.properties.worlds.stateful import fuzz
print(fuzz(INTENDED, runs=40))
"""


def test_the_same_seed_tries_the_same_runs_whatever_else_is_loaded() -> None:
    beside = "import gangproof.api, gangproof.cli.app, gangproof.faults, gangproof.proofs"
    alone, together = (
        subprocess.run([sys.executable, "-c", text], capture_output=True, check=True, text=True).stdout
        for text in (RUNS_OF_A_PROGRAM, beside + RUNS_OF_A_PROGRAM)
    )
    assert alone == together == f"{fuzz(INTENDED, runs=40)}\n"


def test_every_step_of_a_story_is_one_of_the_machinery_or_of_a_user() -> None:
    found = without_undo()
    assert found.path is not None
    for before, (action, after) in zip(found.path.states, found.path.steps, strict=False):
        if action.name != "create":
            assert (action, after) in successors(before, FORGETFUL, "fine")


def test_a_story_becomes_a_trace() -> None:
    found = without_undo()
    assert found.path is not None
    assert found.violation is not None
    asked = Questions[World, Action](invariants=[undone])
    trace = run_trace(found.violation, found.path, FORGETFUL, asked, Meta("intended", "", "Hypothesis"))
    assert isinstance(trace, Trace)
    assert trace.property_id == "INV-07"
    assert trace.events[-1].actor == "scheduler"


def test_the_machine_alone_raises_with_the_story() -> None:
    """As in a test of a user's own: Hypothesis makes the run small, and the error tells it."""
    machine = machine_for(FORGETFUL, Questions(invariants=[undone]), SMALL)
    with pytest.raises(BrokenError) as raised:
        run_state_machine_as_test(machine, settings=SHORT)
    assert str(raised.value).startswith("INV-07: ")
    assert "scheduler tries p" in str(raised.value)
    assert raised.value.path.last.cycle is not None


def test_judges_of_worlds_without_a_step_are_asked() -> None:
    terminal = [lambda world: Violation("the end", "nothing more happens") if world.pods else None]
    found = fuzz(INTENDED, Questions(terminal=terminal), runs=40)
    assert found.violation is not None
    assert found.path is not None
    assert successors(found.path.last, INTENDED, "fine") == []


def test_the_intended_rules_keep_the_contract_in_random_runs() -> None:
    found = fuzz(INTENDED, questions(), runs=40, length=40)
    assert str(found.violation) == "None", str(found)


@settings(max_examples=20, deadline=None)
@given(worlds(max_nodes=2, max_groups=1, max_pods=2, max_deletions=0))
def test_drawn_worlds_can_be_explored(start: World) -> None:
    found = explore(Machine(INTENDED, [start], key=Symmetry()), limits=Limits(states=200))
    assert found.states >= 1


@given(st.data())
def test_drawn_objects_are_named_in_order_and_within_bounds(data: st.DataObject) -> None:
    cluster = data.draw(clusters(max_nodes=20))
    among = data.draw(groups(max_groups=3))
    members = data.draw(pods(among, max_pods=10))
    assert [node.name for node in cluster] == [f"n{i}" for i in range(1, len(cluster) + 1)]
    assert 1 <= len(cluster) <= 20
    assert len(among) <= 3
    assert len(members) <= 10
    assert {pod.group for pod in members} - {None} <= {group.key for group in among}
    order = data.draw(arrival_orders((*cluster, *among, *members)))
    assert set(order) == {*cluster, *among, *members}


def test_worlds_shrink_to_almost_nothing() -> None:
    least = find(worlds(), lambda world: len(world.environment.arrivals) >= 2)
    assert least.environment.arrivals[0].key == "n1"
    assert len(least.environment.arrivals) == 2
    assert least.environment.failures == least.environment.deletions == 0
