"""Where runs end: homogeneous groups are placed, heterogeneous ones may be missed, and faults show."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from attrs import evolve

from gangproof.impl.objects import Consumer, Pod
from gangproof.impl.profiles import INTENDED, only
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.steps import Placement
from gangproof.impl.world import Settings, World
from gangproof.properties.scenarios.devices import allocated
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.quiescence import Quiescence, joint, quiescence, room
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.claim_worlds import BY_NAME, SETTINGS, claim, devices, using
from gangproof.properties.worlds.named import HOSTNAME, NAMED, basic, gang, node, pod, world


def ends(start: World, rules: Rules = INTENDED) -> Quiescence:
    return quiescence(Machine(rules, [start], key=Symmetry()))


def changed(**wraps: Callable[[Any], Any]) -> Rules:
    return profile(INTENDED, Change("x", "a fault", wraps))


def nowhere(old: Any) -> Any:
    """Nothing fits anywhere."""
    return lambda *args: Placement(plugins=("NodeResourcesFit",))


def gated(old: Any) -> Any:
    """The gate never opens for a member of a group."""

    def gate(rules: Rules, world: World, pod: Pod) -> tuple[str, ...]:
        return old(rules, world, pod) if pod.group is None else ("GangScheduling",)

    return gate


def refusing(old: Any) -> Any:
    """Every bind fails."""
    return lambda rules, world, pod, ok: old(rules, world, pod, False)


@pytest.mark.parametrize("name", list(NAMED))
def test_in_the_named_worlds_nobody_is_stuck(name: str) -> None:
    found = ends(NAMED[name].world)
    assert found.verdict is Verdict.HOLDS
    assert found.settled.worlds
    assert list(found.limits) == (["THM-03"] if name == "mixed" else [])


@pytest.mark.parametrize("members", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2])
def test_homogeneous_gangs_are_placed_whenever_they_fit(size: int, members: int) -> None:
    """THM-01: Success iff the capacities of the nodes, each by itself, add up to the minimum."""
    for cpus in combinations_with_replacement(range(1, 4), 2):
        for minimum in range(1, members + 1):
            pods = [pod(f"p{i}", "g1", cpu=size) for i in range(1, members + 1)]
            nodes = [node(f"n{i}", cpu) for i, cpu in enumerate(cpus, 1)]
            found = ends(world(*nodes, gang("g1", minimum), *pods))
            assert found.violations == found.limits == {}
            slots = sum(cpu // size for cpu in cpus)
            expected = min(members, slots) if slots >= minimum else 0
            bound = {sum(p.node_name is not None for p in w.pods.values()) for w in found.settled.worlds}
            assert bound == {expected}


def test_the_smallest_heterogeneous_gang_that_is_missed_has_two_members_and_two_nodes() -> None:
    """THM-03: of all gangs of two on one or two nodes of up to two CPUs, only that of `mixed` is missed."""
    missed: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    shapes = [(cpu,) for cpu in (1, 2)] + list(product((1, 2), repeat=2))
    for cpus in shapes:
        for sizes in product((1, 2), repeat=2):
            nodes = [node(f"n{i}", cpu) for i, cpu in enumerate(cpus, 1)]
            pods = [pod(f"p{i}", "g1", cpu=size) for i, size in enumerate(sizes, 1)]
            found = ends(world(*nodes, gang("g1", 2), *pods))
            assert found.violations == {}
            if found.limits:
                missed.add((cpus, sizes))
    assert missed == {((1, 2), (1, 2)), ((2, 1), (1, 2))}


@pytest.mark.parametrize(
    ("objects", "broken"),
    [
        ((node("n1", 2), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1")), "LIVE-04"),
        ((node("n1", 2), basic("g1"), pod("p1", "g1"), pod("p2", "g1", cpu=2)), "THM-03"),
        ((node("n1", 1), pod("p1")), "LIVE-08"),
    ],
)
def test_who_is_refused_by_a_fault_although_there_is_room_is_found(objects: Any, broken: str) -> None:
    found = ends(world(*objects), changed(place=nowhere))
    assert [*found.violations, *found.limits] == [broken]
    assert found.verdict is (Verdict.HOLDS if broken == "THM-03" else Verdict.VIOLATED)


@pytest.mark.parametrize(
    "objects",
    [
        (node("n1", 1), gang("g1", 2), pod("p1", "g1"), pod("p2", "g1")),
        (node("n1", 1, unschedulable=True), pod("p1")),
        (node("n1", 1), pod("p1", selector={HOSTNAME: "n2"})),
        (node("n1", 1, pods=1), pod("p2", node="n1"), pod("p1", cpu=0)),
        (node("n1", 1), pod("p1", gates=["wait"])),
        (node("n1", 2), gang("g1", 3), pod("p1", "g1"), pod("p2", "g1")),
    ],
)
def test_who_is_refused_for_a_reason_is_not_stuck(objects: Any) -> None:
    found = ends(world(*objects), changed(place=nowhere))
    assert found.violations == found.limits == {}


def test_a_gate_that_stays_shut_is_found() -> None:
    found = ends(NAMED["fits"].world, changed(gate=gated))
    assert "LIVE-01" in found.violations


def test_a_retry_without_a_pause_is_rest() -> None:
    found = ends(NAMED["no-backoff"].world)
    assert found.settled.restless
    assert found.verdict is Verdict.HOLDS


def test_a_promise_that_is_broken_for_ever_is_no_rest() -> None:
    start = world(node("n1", 1), pod("p1"), settings=Settings(backoff=False))
    assert "LIVE-14" in ends(start, changed(bind=refusing)).violations


def test_a_claim_that_is_reserved_for_a_pod_that_has_ended_is_no_rest() -> None:
    """DEV-61, CLAIM-30, CLAIM-33: q still uses the claim; p has ended, and nobody deletes it."""
    bound = [using(pod(name, node="n"), BY_NAME) for name in ("p", "q")]
    shared = evolve(allocated(claim(), "n", ()), reserved_for=(Consumer("pod", "q", 0),))
    ended = evolve(bound[0], phase="Succeeded")
    start = world(node("n", 4), *devices({"n": 1}), shared, ended, bound[1], settings=SETTINGS)
    assert ends(start).verdict is Verdict.HOLDS
    assert set(ends(start, only("DEV-61")).violations) == {"LIVE-14"}


def test_a_search_cut_short_says_so() -> None:
    machine = Machine(INTENDED, [NAMED["failing-bind"].world])
    assert quiescence(machine, limits=Limits(states=20)).verdict is Verdict.INCONCLUSIVE


def test_room_is_what_the_objects_leave() -> None:
    start = world(node("n1", 3), pod("p1", node="n1"), pod("p2"), pod("p3", cpu=5))
    (end,) = ends(start).settled.worlds
    assert room(end)["n1"]["cpu"] == 1000
    assert room(end)["n1"]["pods"] == 108
    assert joint(end, room(end), [end.pods["default/p3"]]).nodes == {}


def test_the_report_tells_what_was_found() -> None:
    assert "limit: THM-03: default/g1 waits although it fits" in str(ends(NAMED["mixed"].world))
