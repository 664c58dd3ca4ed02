"""Liveness by a folded search: it finds what the search that tells worlds apart by names finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from attrs import evolve, frozen

from gangproof.impl.actions import Action
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import Job
from gangproof.impl.profiles import INTENDED, V1_36_3, only
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.lasso import Lassos, Promise, lassos
from gangproof.properties.search.liveness import LIVENESS, named, nameless
from gangproof.properties.search.machine import Machine
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import NAMED, gang, node, pod, world

WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))


def two_gangs(**environment: object) -> World:
    """Two gangs of two that are alike, and room for one of them, on nodes that are alike."""
    nodes = [node(f"n{number}", 1) for number in range(2)]
    gangs = [gang(f"g{number}", 2) for number in range(2)]
    pods = [pod(f"p{number}-{member}", f"g{number}") for number in range(2) for member in range(2)]
    return world(*nodes, *gangs, *pods, **environment)


def a_job(**environment: object) -> World:
    job = Job("default", "j", pod(""), parallelism=2, completions=2)
    nodes = [node(f"n{number}", 1) for number in range(2)]
    return world(*nodes, job, settings=WITH_JOBS, kubelet=True, **environment)


WORLDS: dict[str, tuple[World, Rules]] = {
    **{name: (known.world, INTENDED) for name, known in NAMED.items()},
    **{f"{name}, v1.36.3": (known.world, V1_36_3) for name, known in NAMED.items() if name != "four"},
    "two gangs, one restart": (two_gangs(restarts=1), INTENDED),
    "two gangs, one fails": (two_gangs(failures=1), V1_36_3),
    "a gang loses a member": (two_gangs(deletions=1), only("DEV-23")),
    "tried without a pause": (
        world(node("n1", 1), *(pod(f"p{number}", cpu=2) for number in range(2)), gang("g", 2)),
        only("DEV-12"),
    ),
    "a Job, one restart": (a_job(restarts=1), INTENDED),
    "a Job, a pod fails": (a_job(crashes=1), V1_36_3),
}


def both(start: World, rules: Rules) -> tuple[Lassos, Lassos]:
    machine = Machine(rules, [start], key=named)
    limits = Limits(states=20_000)
    return lassos(machine, LIVENESS, limits), lassos(machine, LIVENESS, limits, nameless)


@pytest.mark.parametrize("name", WORLDS)
def test_both_searches_break_the_same_promises(name: str) -> None:
    by_names, folded = both(*WORLDS[name])
    assert by_names.exploration.stop == folded.exploration.stop == "exhausted"
    assert folded.exploration.states <= by_names.exploration.states
    assert (folded.verdict, set(folded.found)) == (by_names.verdict, set(by_names.found))


def test_where_pods_are_alike_it_visits_fewer() -> None:
    by_names, folded = both(*WORLDS["two gangs, one restart"])
    assert (by_names.exploration.states, folded.exploration.states, folded.unfolded) == (644, 240, 0)


# On graphs that a person can draw: places are numbers of births, and an even one is the next odd one under other names.


@frozen
class Drawn:
    steps: tuple[tuple[int, Action, int], ...]

    def initial(self) -> Iterable[World]:
        return [World()]

    def key(self, world: World, /) -> int:
        return world.births

    def awaited(self, world: World, /) -> Iterable[Action]:
        return ()

    def successors(self, world: World, /) -> Iterable[tuple[Action, World]]:
        return [(action, World(births=to)) for start, action, to in self.steps if start == world.births]


def found(owed: Callable[[World], Iterable[str]], *steps: tuple[int, Action, int]) -> Lassos:
    system = Drawn(steps)
    return lassos(system, [Promise("X", "waits", owed)], fold=lambda world: world.births // 2)


TRY, BIND_P, BIND_Q = Action("cycle"), Action("bind", ("p",)), Action("bind", ("q",))
FAILS_P, FAILS_Q = Action("bind-fails", ("p",)), Action("bind-fails", ("q",))


def in_turn(world: World) -> Iterable[str]:
    return "q" if world.births % 2 else "p"


def both_of_them(world: World) -> Iterable[str]:
    return "pq" if world.births < 2 else ""


def test_who_is_owed_in_turn_is_not_owed_for_ever() -> None:
    answer = found(in_turn, (0, TRY, 1), (1, TRY, 0))
    assert (answer.verdict, answer.exploration.states, answer.unfolded) == (Verdict.HOLDS, 1, 2)


def test_who_is_owed_all_the_way_round_is_found_by_name() -> None:
    answer = found(both_of_them, (0, TRY, 1), (1, TRY, 0))
    assert answer.found["X"].violation.evidence == ("p",)
    assert (len(answer.found["X"].path), answer.found["X"].loop) == (2, 0)


def test_a_call_of_another_is_no_duty_done() -> None:
    """The bind of p stays possible, and is never made: only by names this is not fair."""
    answer = found(both_of_them, (0, BIND_P, 0), (0, BIND_Q, 2), (1, BIND_Q, 1), (1, BIND_P, 2))
    assert (answer.verdict, answer.unfolded) == (Verdict.HOLDS, 2)


def test_a_call_that_only_fails_is_told_by_name() -> None:
    """In the folded graph a bind ends well too, of another pod."""
    steps = ((0, FAILS_P, 0), (0, BIND_P, 2), (0, BIND_Q, 0))
    assert found(both_of_them, *steps).verdict is Verdict.HOLDS
    assert found(both_of_them, (0, FAILS_P, 0), (0, BIND_Q, 0)).verdict is Verdict.VIOLATED


def test_where_nothing_moves_it_needs_no_names() -> None:
    answer = found(both_of_them, (0, BIND_P, 1))
    assert (answer.verdict, answer.exploration.states) == (Verdict.VIOLATED, 1)


def test_what_is_unfolded_has_a_limit_too() -> None:
    system = Drawn(((0, TRY, 1), (1, TRY, 0)))
    asked = [Promise("X", "waits", in_turn)]
    answer = lassos(system, asked, Limits(states=1), fold=lambda world: world.births // 2)
    assert (answer.verdict, answer.exploration.stop) == (Verdict.INCONCLUSIVE, "states budget")
