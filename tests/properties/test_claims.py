"""Small worlds with claims: every promise on every way, exact numbers of states, and a sound reduced key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attrs import evolve

from gangproof.impl.api import delete
from gangproof.impl.bulk import world_of
from gangproof.impl.controllers.claims import passes
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.gates import Object
from gangproof.impl.objects import Consumer, PodGroupClaim, ResourceClaim
from gangproof.impl.profiles import INTENDED, V1_36_3
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.steps import SettleClaimStep
from gangproof.impl.world import World
from gangproof.properties.check import find, outcomes
from gangproof.properties.judges.claim_judges import not_given_back, unnamed
from gangproof.properties.judges.everything import questions
from gangproof.properties.scenarios.devices import allocated
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.lasso import lassos
from gangproof.properties.search.liveness import LIVENESS
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.quotient import compare
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.telling.frames import frame
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.claim_worlds import (
    BY_TEMPLATE,
    SETTINGS,
    WORLDS,
    devices,
    sharing,
    template,
    using,
)
from gangproof.properties.worlds.named import gang, node, pod

COUNTS = {
    "shared-claim": (42, 278),
    "failing-write": (75, 421),
    "one-device-for-two": (97, 1138),
    "with-a-plain-pod": (61, 574),
}


@pytest.mark.parametrize("name", list(WORLDS))
def test_intended_keeps_every_promise_in_both_grains(name: str) -> None:
    counts: list[int] = []
    for grain in ("coarse", "fine"):
        found, broken = find(Machine(INTENDED, [WORLDS[name].world], grain), questions(), Limits())
        assert {key: str(example.violation) for key, example in broken.items()} == {}
        assert found.exploration.stop == "exhausted"
        counts.append(len(found.graph.states))
    assert tuple(counts) == COUNTS[name]


@pytest.mark.parametrize("rules", [INTENDED, V1_36_3], ids=["intended", "v1.36.3"])
@pytest.mark.parametrize("name", list(WORLDS))
def test_the_reduced_key_is_sound(name: str, rules: Rules) -> None:
    found = compare(Machine(rules, [WORLDS[name].world]), Symmetry(), questions())
    assert found.verdict is Verdict.HOLDS, str(found)


ENTRIES = tuple(PodGroupClaim(name, resource_claim_template_name="template") for name in ("x", "y"))
ONLY_THIS_PASS = next(deviation.change for deviation in DEVIATIONS if deviation.id == "DEV-39")


def never_given_back(_: SettleClaimStep) -> SettleClaimStep:
    """The claim controller makes claims, and takes none back."""

    def settle_claim(rules: Rules, world: World, claim: ResourceClaim) -> World:
        return world

    return settle_claim


def made(*objects: Object) -> World:
    """The world in which these are there and the claim controller has nothing more to do."""
    world = world_of(INTENDED, [node("n", 1), *devices({"n": 2}), template(), *objects], SETTINGS)
    while after := next(passes(INTENDED, world), None):
        world = after[1]
    return world


def test_two_names_that_take_turns_are_never_both_there() -> None:
    """LIVE-10, CLAIM-04: one of two generated claims was deleted."""
    start = delete(INTENDED, made(sharing(gang("g", 1), *ENTRIES)), "claim", "default/g-x-0")
    assert unnamed(start) is not None
    kept = lassos(Machine(INTENDED, [start]), LIVENESS)
    assert kept.verdict is Verdict.HOLDS
    found = lassos(Machine(profile(INTENDED, ONLY_THIS_PASS), [start]), LIVENESS)
    assert list(found.found) == ["LIVE-10"]
    assert found.found["LIVE-10"].loop is not None
    (settled,) = (world for world in follow_to_the_end(start) if not list(passes(INTENDED, world)))
    assert unnamed(settled) is None


def follow_to_the_end(world: World) -> Iterator[World]:
    """The worlds that the passes of the claim controller lead to, one after the other."""
    while after := next(passes(INTENDED, world), None):
        world = after[1]
        yield world


def test_a_claim_of_a_group_that_is_gone_is_given_back() -> None:
    """LIVE-11, CLAIM-30, CLAIM-32."""
    group, member = sharing(gang("g", 1), BY_TEMPLATE), using(pod("p", "g", node="n"), BY_TEMPLATE)
    world = made(group, member)
    (name,) = world.claims
    on_n = evolve(
        allocated(world.claims[name], "n", ()), uid=world.claims[name].uid, owner=world.claims[name].owner
    )
    reserved = evolve(on_n, reserved_for=(Consumer("podGroup", "g", world.groups["default/g"].uid),))
    world = evolve(world, claims=world.claims.put(name, reserved))
    for kind, key in (("pod", "default/p"), ("podGroup", "default/g")):
        world = delete(INTENDED, world, kind, key)
    assert not_given_back(world) is not None
    assert lassos(Machine(INTENDED, [world]), LIVENESS).verdict is Verdict.HOLDS
    keeping = Change("kept", "nothing is taken back", {"settle_claim": never_given_back})
    found = lassos(Machine(profile(INTENDED, keeping), [world]), LIVENESS)
    assert list(found.found) == ["LIVE-11"]
    *_, last = follow_to_the_end(world)
    assert not_given_back(last) is None
    assert not last.claims


def test_sharers_follow_the_device_to_the_node_that_has_it() -> None:
    found, _ = find(Machine(INTENDED, [WORLDS["shared-claim"].world]), questions(), Limits())
    placed = {outcome.bound for outcome in outcomes(found, INTENDED)}
    assert placed == {(("default/p1", "n1"), ("default/p2", "n1"))}


def test_of_two_gangs_that_want_one_device_the_first_gets_it_and_the_other_waits() -> None:
    found, _ = find(Machine(INTENDED, [WORLDS["one-device-for-two"].world]), questions(), Limits())
    (outcome,) = outcomes(found, INTENDED)
    assert outcome.bound == (("default/p1", "n1"),)
    ((pending, why),) = outcome.pending
    assert pending == "default/p2"
    assert "cannot allocate all claims" in why


def test_a_picture_shows_devices_reservations_and_holders() -> None:
    """Chosen and not written yet, with who reckons with it; then stored, and held by both members."""
    start = WORLDS["shared-claim"].world
    found, _ = find(Machine(INTENDED, [start], "coarse"), questions(), Limits())
    shown = {
        (
            view.allocation,
            view.written,
            view.reserved_for_groups,
            view.holders,
            view.wanted_by,
            view.reach,
            view.note,
        )
        for world in found.graph.states
        for view in frame(world, ("cpu",)).claims
    }
    members = ("default/p1", "default/p2")
    assert (None, True, (), (), members, (), "") in shown
    assert ("n1/d0", False, (), members, (), ("n1",), "counted for 2") in shown
    assert ("n1/d0", True, ("default/g1",), members, (), ("n1",), "") in shown
