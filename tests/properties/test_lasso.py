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
from gangproof.impl.objects import Pod
from gangproof.impl.profiles import INTENDED, V1_36_3, only
from gangproof.impl.queue import close
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.world import World
from gangproof.load import load_scenarios
from gangproof.properties.endless.page import draw, page, picture_name
from gangproof.properties.endless.worlds import ASLEEP, ENDLESS, HOT, MUTUAL, TAKEN, Endless
from gangproof.properties.scenarios.course import Following
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.run import follow
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.fairness import duty
from gangproof.properties.search.lasso import Lassos, Promise, lassos
from gangproof.properties.search.liveness import LIVENESS, Beside, flushing, timing_out
from gangproof.properties.search.machine import Machine, settle
from gangproof.properties.search.system import Questions
from gangproof.properties.telling.traces import Meta
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import NAMED, gang, node, pod, world

PAGE = Path(__file__).parents[2] / "docs" / "liveness.md"
FILES = sorted((Path(__file__).parents[2] / "scenarios").glob("*.scenario.yaml"))
INTENDED_DOCUMENTS = [
    document for file in FILES for document in load_scenarios(file) if document.profile != "v1.36.3"
]


def closed(step: Callable[[Rules, World, Pod, Result], World]) -> Callable[..., World]:
    """A failed pod is not put back into the queue."""

    def fail(rules: Rules, world: World, pod: Pod, result: Result) -> World:
        return close(world, [pod.key])

    return fail


LOST = Change("lost", "whoever fails is forgotten", {"fail": closed})


def alone(start: World, rules: Rules) -> Lassos:
    return lassos(Machine(rules, [start]), LIVENESS)


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

FOUND = {
    "live-09-dev-12": ((5, 5, 4), (6, 6, 5)),
    "live-13-dev-13": ((11, 6, 4), (17, 8, 4)),
    "live-06-dev-55": ((26, 7, None), (26, 7, None)),
    "live-06-dev-35": ((144, 10, None), (378, 11, None)),
    "live-07-dev-37": ((92, 24, 12), (335, 13, 8)),
    "live-07-dev-30": ((99, 33, 15), None),
}
"""How many worlds there are, how many steps the lasso has, and where it returns to: by the deviation alone, in v1.36.3.

Of two gangs that evict each other the worlds never end in v1.36.3, since each write to a group may be seen late
there (DEV-22).
"""
each = pytest.mark.parametrize("case", ENDLESS, ids=lambda case: case.name)


@each
def test_the_smallest_world_that_breaks_a_promise(case: Endless) -> None:
    assert not case.search(INTENDED).found
    for ids in case.deviations:
        assert list(case.search(only(*ids)).found) == [case.promise]
    by_itself, in_v1_36_3 = FOUND[case.name]
    assert shape_of(case.search(only(*case.deviations[0])), case.promise) == by_itself
    if in_v1_36_3 is not None:
        assert shape_of(case.search(V1_36_3), case.promise) == in_v1_36_3


def shape_of(found: Lassos, promise: str) -> tuple[int, int, int | None]:
    lasso = found.found[promise]
    assert found.verdict is Verdict.VIOLATED
    assert lasso.loop is None or lasso.path.states[lasso.loop] == lasso.path.last
    return found.exploration.states, len(lasso.path), lasso.loop


@each
def test_nothing_in_it_can_be_left_out(case: Endless) -> None:
    rules = only(*case.deviations[0])
    for obj in case.objects:
        assert case.promise not in case.without(obj).search(rules).found, f"{case.promise} without {obj.key}"
    if case.deletions:
        assert case.promise not in evolve(case, deletions=0).search(rules).found


def test_the_page_is_made_of_them() -> None:
    assert page() == PAGE.read_text(encoding="utf-8")


@each
def test_its_pictures_too(case: Endless) -> None:
    assert draw(case) == (PAGE.parent / "pictures" / picture_name(case)).read_text(encoding="utf-8")


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


def test_live_07_a_preemptor_that_fits_beside_the_weak_pod_is_placed() -> None:
    small = evolve(TAKEN, objects=(node("n1", 1), *TAKEN.objects[1:3], pod("p1", "g1", preempts=True)))
    assert small.search(only("DEV-37")).verdict is Verdict.HOLDS


def test_live_07_room_that_is_not_reserved_is_taken_by_weaker_pods_for_ever() -> None:
    """LIVE-07: the replacements of the victim take it in turn."""
    _, lasso = TAKEN.shown()
    around = [str(action) for action in lasso.path.actions[12:]]
    assert around.count("evict default/w1 default/g1") == around.count("evict default/w2 default/g1") == 1


def test_live_07_two_groups_evict_each_other_for_ever() -> None:
    """LIVE-07: both are evicted, and both evict, on the way round."""
    _, lasso = MUTUAL.shown()
    around = [action for action in lasso.path.actions[lasso.loop or 0 :] if action.name == "evict"]
    assert {action.args[1] for action in around} == {"default/g1", "default/g2"}


# The flush is the safety net of DEV-55, and DEV-53 cuts it.


@pytest.mark.parametrize(
    ("ids", "broken"), [(("DEV-55",), []), (("DEV-53",), []), (("DEV-53", "DEV-55"), ["LIVE-06"])]
)
def test_live_06_the_flush_helps_unless_it_passes_over_gated_pods(
    ids: Sequence[str], broken: list[str]
) -> None:
    start = ASLEEP.start
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
    (lasso,) = alone(HOT.start, V1_36_3).found.values()
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
    waits: tuple[int, ...] = ()
    """Where somebody waits for the end of the round's backoff."""

    def initial(self) -> Iterable[World]:
        return [World()]

    def key(self, world: World, /) -> int:
        return world.births

    def awaited(self, world: World, /) -> Iterable[Action]:
        return [ROUND] if world.births in self.waits else []

    def successors(self, world: World, /) -> Iterable[tuple[Action, World]]:
        return [(action, World(births=to)) for start, action, to in self.steps if start == world.births]


OWED = Promise("X", "waits", lambda world: ["somebody"] if world.births in (0, 1, 3) else [])
TRY, ROUND, BIND, USER = (
    Action("cycle"),
    Action("backoff-over", ("g",)),
    Action("bind", ("p",)),
    Action("create"),
)


def shape(*steps: tuple[int, Action, int], waits: tuple[int, ...] = ()) -> tuple[int, int | None] | None:
    system = Drawn(steps, waits)
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


def test_a_backoff_that_is_waited_for_runs_out_though_the_clock_seldom_has_its_turn() -> None:
    """ACT-24: it is waited for at 0 and 1, and the clock moves only at 1."""
    steps = ((0, TRY, 1), (1, OTHER, 0), (1, ROUND, 2))
    assert shape(*steps, waits=(0, 1)) is None
    assert shape(*steps, waits=(1,)) == (2, 0)
    assert shape(*steps, (0, TRY, 0), waits=(0, 1)) == (1, 0)


FAILS = Action("bind-fails", ("p",))
OTHER = Action("backoff-over", ("h",))


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
