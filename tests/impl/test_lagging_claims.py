"""Claims, templates and devices that are seen late: who goes by what, and which writes are refused, rule by rule."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from racks import there
from runs import actions, cycle, step

from gangproof.impl.api import create, delete, update
from gangproof.impl.objects import Consumer
from gangproof.impl.profiles import INTENDED
from gangproof.impl.store import seen, stored
from gangproof.impl.table import Table
from gangproof.impl.world import Environment, World
from gangproof.properties.worlds.claim_worlds import (
    BY_NAME,
    BY_TEMPLATE,
    SETTINGS,
    claim,
    devices,
    template,
    using,
)
from gangproof.properties.worlds.named import node, pod

DEVICE = (node("n", 2), *devices({"n": 1}))
KEY = "default/claim"


def late(*objects: Any, views: tuple[str, ...]) -> World:
    """The objects, and then views that may be far behind."""
    start = there(*objects, options=SETTINGS)
    return evolve(start, environment=Environment(lag=Table(dict.fromkeys(views, 9))))


def names(world: World) -> set[str]:
    return {str(action) for action in actions(world)}


def test_devices_are_seen_late() -> None:
    """ACT-10, CLAIM-12, CLAIM-37: without its class, or its slices, a claim is not met, though both are stored."""
    start = late(
        node("n", 1), claim(), using(pod("a"), BY_NAME), views=("scheduler/deviceClass", "scheduler/slice")
    )
    for obj in devices({"n": 1}):
        start = create(INTENDED, start, obj)
    assert not cycle(start).bindings
    told = step(start, "see scheduler deviceClass/gpu", "see scheduler slice/gpu-n")
    assert cycle(told).bindings


def test_the_scheduler_keeps_the_version_that_it_wrote() -> None:
    """CLAIM-17: it reckons with its own write at once, and an older version that comes later changes nothing."""
    start = late(
        *DEVICE, claim(), using(pod("a"), BY_NAME), using(pod("b"), BY_NAME), views=("scheduler/claim",)
    )
    chosen = cycle(start)
    kept = evolve(stored(chosen, "claim")[KEY], finalizers=("example.com/keep",))
    elsewhere = update(INTENDED, chosen, kept)
    written = step(elsewhere, "prebind default/a")
    own = written.claims[KEY]
    assert own.allocation is not None
    assert own == stored(written, "claim")[KEY]
    assert "example.com/keep" in own.finalizers, "it read again what it had not seen (CLAIM-22)"
    assert written.control.behind["scheduler/claim"] == 2
    told = step(written, f"see scheduler claim/{KEY}")
    assert told.claims[KEY] == own
    assert not step(told, f"see scheduler claim/{KEY}").control.behind


def test_a_claim_that_is_gone_unseen_is_not_written() -> None:
    """CLAIM-23: the API server knows, the scheduler does not; another claim of the name is another one."""
    chosen = cycle(late(*DEVICE, claim(), using(pod("a"), BY_NAME), views=("scheduler/claim",)))
    gone = delete(INTENDED, chosen, "claim", KEY)
    assert KEY in gone.claims
    for world in (gone, create(INTENDED, gone, claim())):
        assert {n for n in names(world) if n.startswith("prebind")} == {"prebind-fails default/a"}


def test_the_claim_controller_makes_no_claim_twice() -> None:
    """CLAIM-02, CLAIM-03: it knows what it made before it sees it, and makes nothing of a template not seen yet."""
    views = ("claim-controller/claim", "claim-controller/claimTemplate", "claim-controller/pod")
    start = late(*DEVICE, using(pod("a"), BY_TEMPLATE), views=views)
    unseen = create(INTENDED, start, template())
    assert not any(name.startswith("claim-controller") for name in names(unseen))
    made = step(
        step(unseen, "see claim-controller claimTemplate/default/template"), "claim-controller pod/default/a"
    )
    assert list(stored(made, "claim")) == ["default/a-dev-0"]
    assert not seen(made, "claim-controller", "claim")
    assert not any(name.startswith("claim-controller") for name in names(made))


def test_what_was_read_late_is_not_written_over_what_is_stored() -> None:
    """ADM-04, CLAIM-30: the controller gives back only the version that it saw."""
    old = evolve(claim(), finalizers=("resource.kubernetes.io/delete-protection",))
    used = evolve(old, reserved_for=(Consumer("pod", "gone", 99),))
    start = late(*DEVICE, used, views=("claim-controller/claim",))
    assert f"claim-controller claim/{KEY}" in names(start)
    changed = update(INTENDED, start, evolve(stored(start, "claim")[KEY], finalizers=("example.com/keep",)))
    assert not any(name.startswith("claim-controller") for name in names(changed))
    told = step(changed, f"see claim-controller claim/{KEY}")
    assert f"claim-controller claim/{KEY}" in names(told)
