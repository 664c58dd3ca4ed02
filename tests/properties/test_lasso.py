"""Liveness: *intended* keeps its promises in every fair run, v1.36.3 breaks them in the smallest worlds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from attrs import evolve, frozen

from gangproof.counterexamples import dumps, explain, loads
from gangproof.impl.actions import Action
from gangproof.impl.api import create, delete, finish
from gangproof.impl.cycle_state import Result
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.profiles import INTENDED, V1_36_3
from gangproof.impl.queue import close
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.world import Settings, World
from gangproof.load import load_scenarios
from gangproof.properties.explore import Limits
from gangproof.properties.lasso import Lassos, Promise, duty, lassos
from gangproof.properties.liveness import LIVENESS, Beside, ending, flushing, replacing, timing_out
from gangproof.properties.machine import Machine, settle
from gangproof.properties.named import NAMED, gang, node, pod, world
from gangproof.properties.scenarios.course import Following
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.run import follow
from gangproof.properties.system import Questions, System
from gangproof.properties.traces import Meta
from gangproof.properties.verdict import Verdict

FILES = sorted((Path(__file__).parents[2] / "scenarios").glob("*.scenario.yaml"))
INTENDED_DOCUMENTS = [
    document for file in FILES for document in load_scenarios(file) if document.profile != "v1.36.3"
]
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
TWO_NAMES = Settings(profiles=("default-scheduler", "other"))


def only(*ids: str) -> Rules:
    return profile(INTENDED, *(d.change for d in DEVIATIONS if d.id in ids))


def closed(step: Callable[[Rules, World, Pod, Result], World]) -> Callable[..., World]:
    """A failed pod is not put back into the queue."""

    def fail(rules: Rules, world: World, pod: Pod, result: Result) -> World:
        return close(world, [pod.key])

    return fail


LOST = Change("lost", "whoever fails is forgotten", {"fail": closed})


def alone(start: World, rules: Rules) -> Lassos:
    return lassos(Machine(rules, [start]), LIVENESS)


def strong(name: str, minimum: int) -> PodGroup:
    return evolve(gang(name, minimum), priority=5)


def going(name: str, *, node: str | None = None) -> Pod:
    """A weak pod that takes its time to end."""
    return evolve(pod(name, node=node), termination_grace_period_seconds=1)


@pytest.mark.parametrize("name", list(NAMED))
def test_in_the_named_worlds_every_promise_is_kept(name: str) -> None:
    found = alone(NAMED[name].world, INTENDED)
    assert found.verdict is Verdict.HOLDS, str(found)


@pytest.mark.parametrize("document", INTENDED_DOCUMENTS, ids=lambda document: document.id)
def test_where_scenarios_end_every_promise_is_kept(document: Scenario) -> None:
    """From the worlds in which a scenario ends, with the calls that it holds held; small ones only."""
    course = follow(document, Following(INTENDED, Questions(), Limits(states=2_000)))
    if course.stop != "exhausted":
        pytest.skip("too large")
    machine = Machine(INTENDED, tuple(dict.fromkeys(run.world for run in course.runs)))
    found = lassos(machine, LIVENESS, Limits(states=500))
    if found.exploration.stop != "exhausted":
        pytest.skip("too large")
    assert found.verdict is Verdict.HOLDS, str(found)


# The smallest worlds: without one of their objects, or with less room, nothing is broken.

HOT: tuple[Object, ...] = (node("n1", 0), gang("g1", 1), pod("p1", "g1"))
UNTOLD: tuple[Object, ...] = (gang("g1", 1), pod("p1", "g1"), evolve(pod("p2", "g1"), scheduler_name="other"))
ASLEEP: tuple[Object, ...] = (node("n1", 1), pod("v1", node="n1"), pod("p1", priority=5, preempts=True))
DEPENDENT: tuple[Object, ...] = (
    node("n1", 2), pod("v1", node="n1"), strong("g1", 2),
    pod("p1", "g1", preempts=True), pod("p2", "g1", preempts=True),
    pod("p3", "g1", preempts=True, gates=["wait"]),
)  # fmt: skip


@frozen
class Smallest:
    """A promise, the deviations that break it alone, the world, its states in v1.36.3, and the lasso's shape."""

    promise: str
    deviations: tuple[tuple[str, ...], ...]
    objects: tuple[Object, ...]
    states: int
    steps: int
    loop: int | None
    settings: Settings = Settings()
    deletions: int = 0

    def start(self, left_out: Object | None = None) -> World:
        kept = [obj for obj in self.objects if obj is not left_out]
        return world(*kept, settings=self.settings, deletions=self.deletions)


SMALLEST = (
    Smallest("LIVE-09", (("DEV-12",),), HOT, 6, 6, 5),
    Smallest("LIVE-13", (("DEV-13",),), UNTOLD, 17, 6, 4, TWO_NAMES),
    Smallest("LIVE-06", (("DEV-55",),), ASLEEP, 27, 7, None, deletions=1),
    Smallest("LIVE-06", (("DEV-35",),), DEPENDENT, 379, 11, None, AWARE, deletions=1),
)
each = pytest.mark.parametrize("case", SMALLEST, ids=lambda case: f"{case.promise} {case.deviations[0][0]}")


@each
def test_the_smallest_world_that_breaks_a_promise(case: Smallest) -> None:
    assert case.promise not in alone(case.start(), INTENDED).found
    for ids in case.deviations:
        assert list(alone(case.start(), only(*ids)).found) == [case.promise]
    found = alone(case.start(), V1_36_3)
    lasso = found.found[case.promise]
    assert found.verdict is Verdict.VIOLATED
    assert (found.exploration.states, len(lasso.path), lasso.loop) == (case.states, case.steps, case.loop)
    if lasso.loop is not None:
        assert lasso.path.states[lasso.loop] == lasso.path.last


@each
def test_nothing_in_it_can_be_left_out(case: Smallest) -> None:
    rules = only(*case.deviations[0])
    for obj in case.objects:
        start = case.start(left_out=obj)
        assert case.promise not in alone(start, rules).found, f"{case.promise} without {obj.key}"
    if case.deletions:
        assert case.promise not in alone(without_deletions(case.start()), rules).found


def without_deletions(start: World) -> World:
    return evolve(start, environment=evolve(start.environment, deletions=0))


def one_ended(rules: Rules, minimum: int) -> World:
    """A gang of two runs; one member succeeds, the other is deleted and made again."""
    start = world(node("n1", 2), gang("g1", minimum), pod("p1", "g1"), pod("p2", "g1"))
    (end,) = settle(Machine(rules, [start]), Questions(), Limits()).worlds
    end = delete(rules, finish(rules, end, "default/p1", True), "pod", "default/p2")
    return create(rules, end, pod("p3", "g1"))


@pytest.mark.parametrize("rules", [only("DEV-23"), V1_36_3], ids=["DEV-23", "v1.36.3"])
def test_live_02_a_replacement_of_a_member_is_gated_when_another_has_completed(rules: Rules) -> None:
    assert alone(one_ended(INTENDED, 2), INTENDED).verdict is Verdict.HOLDS
    found = alone(one_ended(rules, 2), rules)
    assert list(found.found) == ["LIVE-02"]
    assert found.exploration.states == 1
    assert found.found["LIVE-02"].loop is None
    assert "LIVE-02" not in alone(one_ended(only("DEV-23"), 1), only("DEV-23")).found


@pytest.mark.parametrize(("rules", "broken"), [(INTENDED, False), (profile(INTENDED, LOST), True)])
def test_live_03_a_member_that_does_not_come_back_is_missed(rules: Rules, broken: bool) -> None:
    start = world(node("n1", 0), gang("g1", 1), pod("p1", "g1"))
    assert ("LIVE-03" in alone(start, rules).found) is broken


# LIVE-07 needs weaker pods without end: a controller that replaces the evicted one, and the kubelet.


def stream(rules: Rules, room: int, size: int) -> Lassos:
    start = world(
        node("n1", room), going("w1", node="n1"), strong("g1", 1), pod("p1", "g1", cpu=size, preempts=True),
        settings=AWARE,
    )  # fmt: skip
    return lassos(Beside(rules, start, (ending, replacing(going("w1"), going("w2")))), LIVENESS)


def test_live_07_room_that_is_not_reserved_is_taken_by_weaker_pods_for_ever() -> None:
    assert stream(INTENDED, 2, 2).verdict is Verdict.HOLDS
    found = stream(only("DEV-37"), 2, 2)
    lasso = found.found["LIVE-07"]
    assert list(found.found) == ["LIVE-07"]
    assert (found.exploration.states, len(lasso.path), lasso.loop) == (92, 24, 12)
    around = [str(action) for action in lasso.path.actions[12:]]
    assert around.count("evict default/w1 default/g1") == around.count("evict default/w2 default/g1") == 1
    assert "LIVE-07" not in stream(only("DEV-37"), 1, 1).found
    assert "LIVE-07" in stream(V1_36_3, 2, 2).found


# The flush is the safety net of DEV-55, and DEV-53 cuts it.


@pytest.mark.parametrize(
    ("ids", "broken"), [(("DEV-55",), []), (("DEV-53",), []), (("DEV-53", "DEV-55"), ["LIVE-06"])]
)
def test_live_06_the_flush_helps_unless_it_passes_over_gated_pods(
    ids: Sequence[str], broken: list[str]
) -> None:
    start = world(*ASLEEP, deletions=1)
    found = lassos(Beside(only(*ids), start, (flushing,)), LIVENESS)
    assert list(found.found) == broken
    if broken:
        assert [action.name for action in found.found["LIVE-06"].path.actions][-1] == "flush"


def test_live_05_who_waits_at_permit_waits_until_the_clock_ends_it() -> None:
    """A bind that is slow and a member that goes meanwhile leave a commit short of its quorum."""
    start = world(node("n1", 2), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1"), deletions=1)
    machine = Machine(V1_36_3, [start], "fine")
    assert "LIVE-05" in lassos(machine, LIVENESS).found
    assert "LIVE-05" not in lassos(Machine(INTENDED, [start], "fine"), LIVENESS).found
    assert "LIVE-05" not in lassos(Beside(V1_36_3, start, (timing_out,)), LIVENESS).found


def test_a_lasso_is_told_as_a_trace_that_returns() -> None:
    (lasso,) = alone(world(*HOT), V1_36_3).found.values()
    trace = lasso.trace(Meta("v1.36.3", "", "lasso"))
    assert trace.loop == len(trace.frames) - 1
    assert len(trace.events) == len(trace.frames)
    assert loads(dumps(trace)) == trace
    assert "is tried again and again without a pause" in explain(trace)


# Fairness, on graphs that a person can draw: places are numbers of births, somebody is owed at 0 and 1 and 3.


@frozen
class Drawn:
    """A system with these steps between places."""

    steps: tuple[tuple[int, Action, int], ...]

    def initial(self) -> Iterable[World]:
        return [World()]

    def key(self, world: World, /) -> int:
        return world.births

    def successors(self, world: World, /) -> Iterable[tuple[Action, World]]:
        return [(action, World(births=to)) for start, action, to in self.steps if start == world.births]


OWED = Promise("X", "waits", lambda world: ["somebody"] if world.births in (0, 1, 3) else [])
TRY, ROUND, BIND, USER = (
    Action("cycle"),
    Action("backoff-over", ("g",)),
    Action("bind", ("p",)),
    Action("create"),
)


def shape(*steps: tuple[int, Action, int]) -> tuple[int, int | None] | None:
    system: System[World, Action] = Drawn(steps)
    lasso = lassos(system, [OWED]).found.get("X")
    return None if lasso is None else (len(lasso.path), lasso.loop)


def test_what_stays_possible_is_done_some_time() -> None:
    assert shape((0, TRY, 1), (1, ROUND, 1), (1, BIND, 2)) is None
    assert shape((0, TRY, 1), (1, BIND, 2)) is None


def test_a_user_need_not_come() -> None:
    assert shape((0, TRY, 1), (1, ROUND, 1), (1, USER, 2)) == (2, 1)
    assert shape((0, TRY, 1), (1, USER, 2)) == (1, None)


def test_what_is_possible_now_and_then_need_not_be_done() -> None:
    assert shape((0, TRY, 1), (1, ROUND, 3), (3, TRY, 1), (1, BIND, 2)) == (3, 1)


FAILS = Action("bind-fails", ("p",))


def test_all_ends_of_a_call_are_one_duty() -> None:
    assert duty(FAILS) == duty(BIND) != duty(Action("bind", ("q",)))


def test_a_call_that_may_end_well_does_not_fail_for_ever() -> None:
    assert shape((0, BIND, 2), (0, FAILS, 0)) is None
    assert shape((0, TRY, 1), (1, BIND, 2), (1, FAILS, 3), (3, TRY, 1)) is None


def test_a_call_that_cannot_end_well_may_fail_for_ever() -> None:
    assert shape((0, FAILS, 0)) == (1, 0)
    assert shape((0, TRY, 1), (1, BIND, 2), (1, ROUND, 3), (3, FAILS, 3)) == (3, 2)


def test_a_way_round_without_the_failures_is_looked_for() -> None:
    """Round 0 and 1 the bind only fails; round 1 and 3 nobody calls."""
    assert shape((0, FAILS, 1), (0, BIND, 2), (1, TRY, 0), (1, ROUND, 3), (3, ROUND, 1)) == (3, 1)


def test_a_call_that_ends_well_on_the_way_may_fail_there_too() -> None:
    assert shape((0, FAILS, 0), (0, BIND, 1), (1, ROUND, 0)) == (3, 0)


def test_a_way_round_goes_wherever_fairness_asks() -> None:
    long = (
        (0, TRY, 1),
        (1, ROUND, 1),
        (1, Action("see", ("g",)), 3),
        (3, Action("see", ("g",)), 1),
        (3, ROUND, 3),
    )
    assert shape(*long) == (1 + 3, 1)


def test_a_search_cut_short_says_so() -> None:
    found = lassos(Machine(INTENDED, [NAMED["failing-bind"].world]), LIVENESS, Limits(states=20))
    assert found.verdict is Verdict.INCONCLUSIVE
