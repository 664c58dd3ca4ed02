"""`world_of` is creating one by one (ACT-01), and does not take the square of the time."""

from __future__ import annotations

import time
from functools import reduce

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from gangproof.impl.api import ApiError, create
from gangproof.impl.bulk import world_of
from gangproof.impl.gates import FeatureGates, Object
from gangproof.impl.objects import Consumer, Node, Pod, PodGroup, PodGroupClaim, ResourceClaim
from gangproof.impl.objects.claim import Owner
from gangproof.impl.profiles import INTENDED, V1_36_3
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World

CLAIMS = (PodGroupClaim("a", resource_claim_name="c1"), PodGroupClaim("b", resource_claim_template_name="t"))
ROOM = Table({"cpu": 4000, "memory": 8 << 30, "pods": 10})
GATES = FeatureGates(
    generic_workload=True,
    gang_scheduling=True,
    workload_aware_preemption=True,
    dra_workload_resource_claims=True,
)


@st.composite
def pods(draw: DrawFn, number: int) -> Pod:
    bound = draw(st.booleans())
    phase = draw(st.sampled_from(["Pending", "Pending", "Running", "Succeeded", "Failed"]))
    return Pod(
        "default",
        f"p{number}",
        scheduling_group=draw(st.sampled_from([None, "g1", "g1", "g2"])),
        priority=draw(st.integers(0, 1)),
        requests=Table({"cpu": draw(st.integers(0, 2)) * 1000}),
        scoring_requests=Table({"cpu": 100, "memory": draw(st.integers(0, 1))}),
        scheduler_name=draw(st.sampled_from(["default-scheduler", "default-scheduler", "other"])),
        resource_claims=draw(st.sampled_from([(), (), CLAIMS[:1], CLAIMS])),
        resource_claim_statuses=draw(st.sampled_from([Table(), Table({"b": "c2"})])),
        scheduling_gates=draw(st.sampled_from([(), (), ("wait",)])) if not bound else (),
        node_name=draw(st.sampled_from(["n1", "n2", "gone"])) if bound else None,
        terminating=draw(st.sampled_from([False, False, True])),
        termination_grace_period_seconds=30,
        phase=phase,
    )


@st.composite
def objects(draw: DrawFn) -> tuple[Object, ...]:
    things: list[Object] = [Node("n1", ROOM), Node("n2", ROOM)]
    things += [PodGroup("default", f"g{n}", min_count=draw(st.sampled_from([None, 2, 3]))) for n in (1, 2)]
    things += draw(
        st.sampled_from([[], [claim("c1", "p0"), claim("c2", "p1", Owner("podGroup", "g1", 0, "b"))]])
    )
    things += [draw(pods(number)) for number in range(draw(st.integers(0, 7)))]
    return tuple(draw(st.permutations(things)))


def claim(name: str, user: str, owner: Owner | None = None) -> ResourceClaim:
    """A claim that is reserved for a pod which may or may not be there, before or after it."""
    return ResourceClaim("default", name, reserved_for=(Consumer("pod", user, 0),), owner=owner)


def one_by_one(rules: Rules, things: tuple[Object, ...], around: Settings) -> World:
    return reduce(lambda world, obj: create(rules, world, obj), things, World(settings=around))


@pytest.mark.parametrize("rules", [INTENDED, V1_36_3], ids=["intended", "v1.36.3"])
@given(things=objects(), gang=st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_world_is_that_of_creating_one_by_one(
    rules: Rules, things: tuple[Object, ...], gang: bool
) -> None:
    around = Settings(gates=GATES if gang else FeatureGates(generic_workload=True))
    assert world_of(rules, things, around) == one_by_one(rules, things, around)


def test_a_second_object_of_one_key_is_refused() -> None:
    with pytest.raises(ApiError, match="node/n1 already exists"):
        world_of(INTENDED, [Node("n1", ROOM), Node("n1", ROOM)])


def test_a_terminating_group_is_kept_for_members_that_come_after_it() -> None:
    """GC-02, GC-05: protection ends only when no unfinished pod refers to the group, and all are there at once."""
    group = PodGroup("default", "g", min_count=1, terminating=True)
    member = Pod("default", "p", scheduling_group="g", node_name="n1", phase="Running")
    assert "default/g" in world_of(INTENDED, [Node("n1", ROOM), group, member]).groups
    assert "default/g" not in world_of(INTENDED, [Node("n1", ROOM), group]).groups


def test_the_time_grows_with_the_number_and_not_with_its_square() -> None:
    """Four times as many objects may take at most eight times as long; one by one it is about sixteen times."""

    def seconds(number: int) -> float:
        plain = Pod("default", "p", scheduling_group="g", requests=ROOM, node_name="n1", phase="Running")
        things = [evolve(plain, name=f"p{n}", scheduling_group=f"g{n // 8}") for n in range(number)]
        began = time.perf_counter()
        world_of(INTENDED, things, Settings(gates=GATES))
        return time.perf_counter() - began

    seconds(500)
    assert min(seconds(8000) for _ in range(3)) < 8 * min(seconds(2000) for _ in range(3))
