"""Random runs in large clusters, and the faults by engines that do not know where to look.

The smallest case of a fault leads straight to it. Here each fault is on in worlds that were not made for it: in
the named worlds, coarse and fine, and in random runs.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gangproof.impl.actions import Action, Grain
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import profile
from gangproof.impl.world import World
from gangproof.properties.campaign import spawn_seeds
from gangproof.properties.faults import FAULTS, Fault
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import Limits, explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.system import Questions, Violation
from gangproof.properties.worlds.named import NAMED
from gangproof.properties.worlds.stateful import LARGE, fuzz

pytestmark = pytest.mark.campaign

ASKED = questions()
SEEDS = spawn_seeds(36, 8)
RUNS = 60
FAULTY_RUNS = 600
LIMITS = Limits(states=1_000, violations=1)
WORLDS = ("two-gangs", "lost-member", "preemption", "basic")
ENGINES = ("coarse", "fine", "random")


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_violated_in_random_runs_of_a_large_cluster(seed: int) -> None:
    found = fuzz(INTENDED, ASKED, size=LARGE, runs=RUNS, seed=seed)
    print(f"no violation in {found.runs:,} runs, {found.steps:,} steps")
    assert found.violation is None, str(found)
    assert found.runs >= RUNS
    assert found.steps > 10 * RUNS


def narrowed(fault: Fault) -> Questions[World, Action]:
    """All judges, deaf to what need not catch the fault."""

    def only(judge: Callable[..., Violation | None]) -> Callable[..., Violation | None]:
        def ask(*seen: object) -> Violation | None:
            found = judge(*seen)
            return found if found is not None and fault.catches(found) else None

        return ask

    return Questions(invariants=[*map(only, ASKED.invariants)], steps=[*map(only, ASKED.steps)])


def engines(fault: Fault) -> tuple[str, ...]:
    """The engines that find, away from the fault's own case, a violation that is one of its own."""
    rules, asked, caught = profile(INTENDED, fault.change), narrowed(fault), list[str]()
    grains: tuple[Grain, ...] = ("coarse", "fine")
    for grain in grains:
        machines = (Machine(rules, [NAMED[name].world], grain) for name in WORLDS)
        if any(explore(machine, asked, LIMITS).counterexamples for machine in machines):
            caught.append(grain)
    if fuzz(rules, asked, runs=FAULTY_RUNS, seed=1).violation is not None:
        caught.append("random")
    return tuple(caught)


CAUGHT = {
    "F-01": ("coarse", "fine", "random"),
    "F-03": ("coarse", "fine", "random"),
    "F-19": ("coarse", "fine", "random"),
    "F-23": ("coarse", "fine", "random"),
    "F-24": ("coarse", "fine", "random"),
    "F-30": ("coarse", "fine", "random"),
    "F-32": ("coarse", "fine", "random"),
    "F-35": ("coarse", "fine", "random"),
    "F-36": ("coarse", "fine", "random"),
    "F-45": ("coarse", "fine", "random"),
    "F-46": ("coarse", "fine", "random"),
    "F-47": ("coarse", "fine", "random"),
    "F-50": ("coarse", "fine", "random"),
    "F-53": ("random",),
}
"""Which engines catch a fault away from its own case. Faults that are not listed are tried in their case alone."""


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.id in CAUGHT], ids=str)
def test_a_fault_is_caught_away_from_its_case_too(fault: Fault) -> None:
    found = engines(fault)
    print(f"{fault}: {', '.join(found)}")
    assert found == CAUGHT[fault.id]


def test_every_engine_catches_something() -> None:
    assert {engine for found in CAUGHT.values() for engine in found} == set(ENGINES)
    assert sorted(set(CAUGHT) - {fault.id for fault in FAULTS}) == []
