"""Claims of section 8, rule by rule: who makes them, waits for them, has which devices, and when they are let go."""

from __future__ import annotations

import pytest
from attrs import evolve
from racks import there, verdicts
from runs import cycle, queued, running, step, steps

from gangproof.impl.actions import successors
from gangproof.impl.api import create, delete, finish
from gangproof.impl.bulk import world_of
from gangproof.impl.claims.references import reserved
from gangproof.impl.claims.store import accepts
from gangproof.impl.controllers.claims import one_pass
from gangproof.impl.objects import ClaimSpec, Consumer, Device, Pod, PodGroup, PodGroupClaim, ResourceClaim
from gangproof.impl.objects.claim import CLAIM_FINALIZER, MOST_CONSUMERS, Owner
from gangproof.impl.profiles import INTENDED, V1_36_3_PROMPT
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.scenarios.devices import allocated
from gangproof.properties.worlds.claim_worlds import (
    BY_NAME,
    BY_TEMPLATE,
    SETTINGS,
    claim,
    devices,
    sharing,
    template,
    using,
)
from gangproof.properties.worlds.named import basic, gang, node, pod

ALONE = PodGroupClaim("own", resource_claim_name="claim")
ENTRIES = (
    PodGroupClaim("x", resource_claim_template_name="template"),
    PodGroupClaim("y", resource_claim_template_name="template"),
)


def cluster(*objects: object, rules: Rules = INTENDED, skewed: tuple[str, ...] = ()) -> World:
    """The objects on a node `n` with room for four pods and one device."""
    options = evolve(SETTINGS, skewed=skewed)
    return there(node("n", 4), *devices({"n": 1}), *objects, rules=rules, options=options)  # pyright: ignore[reportArgumentType]


def pair(*entries: PodGroupClaim) -> tuple[PodGroup, Pod, Pod]:
    """A gang of two whose members have the entries of the group."""
    return (
        sharing(gang("g", 2), *entries),
        using(pod("p1", "g"), *entries),
        using(pod("p2", "g"), *entries),
    )


def controlled(world: World, rules: Rules = INTENDED) -> World:
    """The world once the claim controller has nothing more to do."""
    while found := steps_of_controller(world, rules):
        world = found[0]
    return world


def steps_of_controller(world: World, rules: Rules) -> list[World]:
    return [after for action, after in successors(world, rules) if action.name == "claim-controller"]


def settled(world: World, rules: Rules = INTENDED) -> World:
    """The world after everything that may happen without the clock, always the first thing."""
    for _ in range(100):
        found = [
            after
            for action, after in successors(world, rules)
            if action.name not in ("backoff-over", "flush")
        ]
        if not found:
            return world
        world = found[0]
    raise AssertionError("does not settle")


def in_the_end(world: World, rules: Rules = INTENDED) -> World:
    """The world in which it settles although backoff runs out again and again."""
    for _ in range(20):
        world = settled(world, rules)
        due = [after for action, after in successors(world, rules) if action.name == "backoff-over"]
        if not due:
            return world
        world = due[0]
    raise AssertionError("is tried for ever")


def shared(world: World, name: str = "claim") -> ResourceClaim:
    return world.claims[f"default/{name}"]


def entries_of(world: World, name: str = "claim") -> list[str]:
    return [f"{entry.kind}/{entry.name}" for entry in shared(world, name).reserved_for]


def taken(world: World) -> World:
    """A cycle of the group g has committed; its calls are open."""
    return cycle(world)


# the claim controller


def test_an_entry_is_the_groups_if_it_is_the_same() -> None:
    """CLAIM-01, CLAIM-22: p2 calls the same claim by another name, so it is its own."""
    group, p1, p2 = pair(BY_NAME)
    world = settled(cluster(claim(), group, p1, using(p2, ALONE)))
    assert entries_of(world) == ["pod/p2", "podGroup/g"]


def test_one_claim_for_each_entry_of_a_group_uid() -> None:
    """CLAIM-02, CLAIM-03: named after group and entry, owned by the group, as the template is at that moment."""
    world = controlled(cluster(template(2), sharing(gang("g", 1), *ENTRIES)))
    assert sorted(world.claims) == ["default/g-x-0", "default/g-y-0"]
    made = shared(world, "g-x-0")
    assert made.owner == Owner("podGroup", "g", world.groups["default/g"].uid, "x")
    assert made.spec == template(2).spec
    other = delete(INTENDED, world, "claimTemplate", "default/template")
    changed = controlled(create(INTENDED, other, template(3)))
    assert shared(changed, "g-x-0").spec == template(2).spec


def test_a_long_name_is_cut_in_proportion() -> None:
    """CLAIM-03."""
    entry = PodGroupClaim("e" * 30, resource_claim_template_name="template")
    world = controlled(cluster(template(), sharing(gang("g" * 60, 1), entry)))
    ((name, _),) = world.claims.items()
    base = name.removeprefix("default/").removesuffix("-0")
    assert base == "g" * (60 * 57 // 92) + "-" + "e" * (30 * 57 // 92)


def test_a_claim_made_before_a_crash_is_found_and_a_lost_one_made_again() -> None:
    """CLAIM-02: by its owner and its entry; a recorded name that is nobody's leads to a new claim."""
    world = controlled(cluster(template(), sharing(gang("g", 1), BY_TEMPLATE)))
    group = world.groups["default/g"]
    forgotten = evolve(
        world, groups=world.groups.put(group.key, evolve(group, resource_claim_statuses=Table()))
    )
    assert controlled(forgotten).groups == world.groups
    lost = controlled(delete(INTENDED, world, "claim", "default/g-dev-0"))
    assert list(lost.claims) == ["default/g-dev-1"]
    assert dict(lost.groups["default/g"].resource_claim_statuses) == {"dev": "g-dev-1"}


@pytest.mark.parametrize(("call", "made"), [("generate", 0), ("record", 1)])
def test_a_call_of_the_controller_that_stays_open_ends_its_pass(call: str, made: int) -> None:
    """ACT-26: generate makes the claim, record names it; once released the pass goes on where it was."""
    start = cluster(template(), sharing(gang("g", 1), BY_TEMPLATE))
    held = evolve(start.environment, held=(f"{call}/default/g",))
    world = controlled(evolve(start, environment=held))
    assert len(world.claims) == made
    assert not world.groups["default/g"].resource_claim_statuses
    assert controlled(evolve(world, environment=start.environment)) == controlled(start)


@pytest.mark.parametrize("call", ["generate", "record"])
def test_a_call_of_the_controller_that_fails_is_made_again(call: str) -> None:
    """ACT-26, CLAIM-02: no second claim comes of it."""
    start = cluster(template(), sharing(gang("g", 1), BY_TEMPLATE))
    failing = evolve(start.environment, failing=(f"{call}/default/g",))
    once = one_pass(INTENDED, evolve(start, environment=failing), "podGroup/default/g")
    assert not once.groups["default/g"].resource_claim_statuses
    assert not once.environment.failing
    assert controlled(once).groups == controlled(start).groups
    assert list(controlled(once).claims) == ["default/g-dev-0"]


def test_a_claim_called_by_name_is_the_users_affair() -> None:
    """CLAIM-05."""
    world = controlled(cluster(claim(), sharing(gang("g", 1), BY_NAME)))
    assert list(world.claims) == ["default/claim"]
    assert not world.groups["default/g"].resource_claim_statuses


def test_a_group_that_goes_gets_no_claims() -> None:
    """CLAIM-06."""
    group = evolve(sharing(gang("g", 1), BY_TEMPLATE), finalizers=("example.com/keep",))
    world = delete(INTENDED, cluster(template(), group), "podGroup", "default/g")
    assert not controlled(world).claims


def test_a_missing_template_ends_the_pass_and_one_that_comes_begins_it_anew() -> None:
    """CLAIM-06, CLAIM-07, ACT-26: nothing is named for the other entry either."""
    other = PodGroupClaim("y", resource_claim_template_name="missing")
    world = controlled(cluster(template(), sharing(gang("g", 1), ENTRIES[0], other)))
    assert not world.groups["default/g"].resource_claim_statuses
    late = controlled(create(INTENDED, world, evolve(template(), name="missing")))
    assert sorted(late.groups["default/g"].resource_claim_statuses) == ["x", "y"]


def test_members_are_told_the_groups_claim_and_get_none_of_their_own() -> None:
    """CLAIM-08: and while their PodGroup is not there a pass over them does nothing, for no entry."""
    group, p1, p2 = pair(BY_TEMPLATE)
    world = controlled(cluster(template(), p1, p2))
    assert not world.claims
    world = controlled(create(INTENDED, world, group))
    assert list(world.claims) == ["default/g-dev-0"]
    told = {dict(world.pods[key].resource_claim_statuses)["dev"] for key in world.pods}
    assert told == {"g-dev-0"}


def test_of_two_claims_for_one_entry_one_is_used() -> None:
    """CLAIM-09: the other, of a race that was lost, stays until the group goes."""
    world = controlled(cluster(template(), sharing(gang("g", 1), BY_TEMPLATE)))
    extra = evolve(shared(world, "g-dev-0"), name="g-dev-9")
    world = controlled(create(INTENDED, world, extra))
    assert len(world.claims) == 2
    assert dict(world.groups["default/g"].resource_claim_statuses) == {"dev": "g-dev-0"}
    gone = controlled(delete(INTENDED, world, "podGroup", "default/g"))
    assert not gone.claims


# the gate


@pytest.mark.parametrize(
    ("entry", "statuses", "there_is"),
    [
        (BY_TEMPLATE, {}, None),
        (BY_NAME, {}, None),
        (BY_NAME, {}, evolve(claim(), terminating=True, finalizers=(CLAIM_FINALIZER,))),
        (BY_TEMPLATE, {"dev": "claim"}, claim()),
        (BY_TEMPLATE, {"dev": "claim"}, evolve(claim(), owner=Owner("podGroup", "other", 0, "dev"))),
        (BY_TEMPLATE, {"dev": "claim"}, evolve(claim(), owner=Owner("pod", "other", 0, "dev"))),
    ],
    ids=["not recorded", "missing", "terminating", "nobody's", "of another group", "of another pod"],
)
def test_a_claim_that_cannot_be_used_gates_its_pod(
    entry: PodGroupClaim, statuses: dict[str, str], there_is: ResourceClaim | None
) -> None:
    """CLAIM-10, QUEUE-09."""
    p = evolve(using(pod("p", "g"), entry), resource_claim_statuses=Table(statuses))
    world = cluster(*([there_is] if there_is else []), gang("g", 1), p)
    assert queued(world) == {"p": "gated"}
    assert world.queue[0].plugins == ("DynamicResources",)


def test_the_gate_knows_the_group_by_name_alone() -> None:
    """CLAIM-10: a claim of an earlier group of that name passes."""
    made = evolve(claim(), owner=Owner("podGroup", "g", 77, "dev"))
    p = evolve(using(pod("p", "g"), BY_TEMPLATE), resource_claim_statuses=Table({"dev": "claim"}))
    assert queued(cluster(made, gang("g", 1), p)) == {"p": "active"}


# allocation inside the cycle


def test_the_first_member_takes_the_device_and_the_second_shares_it() -> None:
    """CLAIM-12, CLAIM-13, CLAIM-18: one allocation in flight, counted for each who reckons with it."""
    world = step(cluster(claim(), *pair(BY_NAME)), "pop", "snapshot", "place default/p1")
    seen = running(world).snapshot
    assert seen is not None
    (chosen,) = seen.claims.in_flight.values()
    world = step(world, "place default/p2")
    held = [entry.allocation for result in running(world).results for entry in result.holds.values()]
    assert held == [chosen.allocation] * 2
    assert not world.claims_in_flight
    committed = step(world, "submit")
    assert [entry.sharers for entry in committed.claims_in_flight.values()] == [2]


def test_a_device_in_flight_is_nobody_elses() -> None:
    """CLAIM-12: x asks for a device while the one of the group is not written yet."""
    group, p1, p2 = pair(BY_NAME)
    x = using(pod("x"), PodGroupClaim("x", resource_claim_name="other"))
    world = taken(cluster(claim(), claim("other"), group, p1, p2, x))
    (found,) = verdicts(world)
    assert found.results[0].plugins == ("DynamicResources",)


def test_whoever_is_of_another_cycle_waits_until_the_allocation_is_written() -> None:
    """CLAIM-15: x shares the claim, and is of no group."""
    group, p1, p2 = pair(BY_NAME)
    world = taken(cluster(claim(), group, p1, p2, using(pod("x"), BY_NAME)))
    (found,) = verdicts(world)
    assert found.results[0].plugins == ("DynamicResources",)
    assert in_the_end(world).pods["default/x"].node_name == "n"


def test_an_allocated_claim_restricts_to_the_nodes_that_reach_it() -> None:
    """CLAIM-14, CLAIM-16: the other node has room for all."""
    world = cluster(
        node("m", 9), allocated(claim(), "n", ()), sharing(basic("g"), BY_NAME), using(pod("p", "g"), BY_NAME)
    )
    assert [result.node for result in verdicts(world)[0].results] == ["n"]


def test_a_cycle_that_commits_nothing_leaves_nothing_in_flight() -> None:
    """CLAIM-17, CYCLE-23: the gang needs three, and has two."""
    group, p1, p2 = pair(BY_NAME)
    p3 = using(pod("p3", "g", cpu=9), BY_NAME)
    world = step(cluster(claim(), evolve(group, min_count=3), p1, p2, p3), "pop", "snapshot")
    before = running(world).snapshot
    (cycle_over,) = {running(after).snapshot for after in steps(world, "place", "place", "place")}
    assert before is not None
    assert cycle_over == before
    after = taken(cluster(claim(), evolve(group, min_count=3), p1, p2, p3))
    assert not after.claims_in_flight
    assert shared(after).allocation is None


def test_who_fails_leaves_the_allocation_to_its_sibling() -> None:
    """CLAIM-17: the count falls by one; with the last one the entry goes."""
    world = taken(cluster(claim(), *pair(BY_NAME)))
    for left in ([1], []):
        pods = [key for key in world.pods if key in world.bindings]
        world = delete(INTENDED, world, "pod", pods[0])
        world = step(world, f"prebind-fails {pods[0]}")
        assert [entry.sharers for entry in world.claims_in_flight.values()] == left


def test_there_is_no_going_back_on_a_choice_of_devices() -> None:
    """CLAIM-21, THM-03: p1 may have either device and takes the first, which is the only one for p2."""
    kinds = tuple(Device(name, Table({"gpu.example.com/kind": name})) for name in ("d0", "d1"))
    chosen = "device.attributes['gpu.example.com'].kind == 'd0'"
    (request,) = claim().spec.requests
    d0 = evolve(claim("d0"), spec=ClaimSpec((evolve(request, selectors=(chosen,)),)))
    p1, p2 = (using(pod(f"p{i}", "g"), PodGroupClaim("c", resource_claim_name=f"c{i}")) for i in (1, 2))
    found, part = devices({"n": 1})
    for order, code in ((("c1", "c2"), "Unschedulable"), (("c2", "c1"), "Success")):
        claims = (evolve(asked, name=name) for asked, name in zip((claim(), d0), order, strict=True))
        world = there(
            *(node("n", 4), found, evolve(part, devices=kinds), *claims, gang("g", 2), p1, p2),
            options=SETTINGS,
        )
        assert [cycle.code for cycle in verdicts(world)] == [code]


def test_without_its_group_a_member_is_refused_even_without_claims() -> None:
    """CLAIM-37: only with the gate."""
    world = step(cluster(gang("g", 1), pod("p", "g")), "pop", "snapshot")
    tried = step(evolve(world, groups=Table()), "place default/p")
    assert running(tried).results[0].plugins == ("DynamicResources",)
    off = evolve(world, settings=evolve(SETTINGS, skewed=("scheduler",)), groups=Table())
    assert running(step(off, "place default/p")).results[0].plugins == ()


def test_without_its_group_a_member_evicts_nobody() -> None:
    """CLAIM-37: the refusal is unresolvable, so per-pod preemption helps on no node."""
    plain = evolve(SETTINGS, gates=SETTINGS.gates.switched({"GangScheduling": False}))
    strong = pod("p", "missing", priority=10, preempts=True)
    for skewed, victims in (((), ()), (("scheduler",), ("default/weak",))):
        options = evolve(plain, skewed=skewed)
        world = there(node("n", 1), pod("weak", node="n"), strong, options=options)
        tried = step(world, "pop", "snapshot", "place default/p")
        assert running(tried).results[0].victims == victims


def full(consumers: int) -> ResourceClaim:
    """An allocated claim with so many users."""
    users = tuple(Consumer("pod", f"u{number}", 1000 + number) for number in range(consumers))
    return evolve(allocated(claim(), "n", ()), reserved_for=users)


@pytest.mark.parametrize(("others", "refused"), [(MOST_CONSUMERS - 1, False), (MOST_CONSUMERS, True)])
def test_a_claim_has_room_for_256_users(others: int, refused: bool) -> None:
    """CLAIM-26, CLAIM-38: a plain pod needs an entry of its own."""
    world = cluster(full(others), using(pod("p"), BY_NAME))
    (found,) = verdicts(world)
    assert (found.results[0].plugins == ("DynamicResources",)) is refused


def test_what_the_api_server_accepts() -> None:
    """CLAIM-26: at most 256 entries, each user once, none without an allocation."""
    assert accepts(full(MOST_CONSUMERS))
    assert not accepts(full(MOST_CONSUMERS + 1))
    assert not accepts(evolve(full(1), allocation=None))
    (user,) = full(1).reserved_for
    assert not accepts(evolve(full(1), reserved_for=(user, user)))


# binding and release


def test_prebind_writes_finalizer_allocation_and_entry_once() -> None:
    """CLAIM-22, CLAIM-23, CLAIM-24, CLAIM-25, ACT-20: the second member finds it written, and goes on."""
    world = taken(cluster(claim(), *pair(BY_NAME)))
    written = step(world, "prebind default/p1")
    assert shared(written).allocation is not None
    assert shared(written).finalizers == (CLAIM_FINALIZER,)
    assert entries_of(written) == ["podGroup/g"]
    again = step(written, "prebind default/p2")
    assert shared(again) == shared(written)
    assert not again.claims_in_flight


def test_each_claim_is_written_by_a_call_of_its_own() -> None:
    """CLAIM-22: what a sibling writes may come between; the order is that of the pod's entries."""
    both = using(pod("p"), ALONE, PodGroupClaim("more", resource_claim_name="other"))
    found, part = devices({"n": 2})
    world = there(node("n", 4), found, part, claim(), claim("other"), both, options=SETTINGS)
    first = step(taken(world), "prebind default/p")
    assert (entries_of(first), entries_of(first, "other")) == (["pod/p"], [])
    second = step(first, "prebind default/p")
    assert entries_of(second, "other") == ["pod/p"]
    assert step(second, "bind default/p").pods["default/p"].node_name == "n"


def test_what_was_chosen_is_written_though_another_claim_has_its_name_by_now() -> None:
    """CLAIM-22, CLAIM-27: the group came again, and so did its claim; the pod fails, and is not bound without."""
    chosen = taken(cluster(claim(), using(pod("p"), ALONE)))
    renamed = evolve(ALONE, resource_claim_name="other")
    later = chosen.with_pod(evolve(chosen.pods["default/p"], resource_claims=(renamed,)))
    later = delete(INTENDED, later, "claim", next(iter(later.claims)))
    failed = step(later, "prebind-fails default/p")
    assert failed.pods["default/p"].node_name is None
    assert not failed.claims_in_flight
    assert not failed.bindings


def test_unreserve_drops_a_pods_entry_and_never_a_groups() -> None:
    """CLAIM-27: both have written their claims, and their binds fail."""
    p, q = using(pod("p"), BY_NAME), using(pod("q", "g"), BY_NAME)
    world = cluster(allocated(claim(), "n", ()), sharing(basic("g"), BY_NAME), p, q)
    for name in ("p", "q"):
        world = step(taken(world), f"prebind default/{name}")
    assert entries_of(world) == ["pod/p", "podGroup/g"]
    failing = ("bind/default/p", "bind/default/q")
    world = evolve(world, environment=evolve(world.environment, failing=failing))
    world = step(world, "bind-fails default/p", "bind-fails default/q")
    assert entries_of(world) == ["podGroup/g"]


def blocked() -> World:
    """The claim of g is allocated on m and reserved for g, m is full, and n has the other device."""
    on_m = evolve(allocated(claim(), "m", ()), reserved_for=(Consumer("podGroup", "g", 0),))
    return there(
        *(node("n", 4), node("m", 1), *devices({"m": 1, "n": 1}), pod("other", node="m"), on_m),
        *(sharing(gang("g", 1), BY_NAME), using(pod("p", "g"), BY_NAME)),
        options=SETTINGS,
    )


def test_a_claim_that_blocks_its_own_group_is_freed_in_two_attempts() -> None:
    """CLAIM-28, CLAIM-29, CHO-13, OBS-09: first the reservation goes, then the allocation."""
    world = cycle(blocked())
    assert (entries_of(world), shared(world).allocation is None) == ([], False)
    world = cycle(step(world, "backoff-over", grain="coarse"))
    assert shared(world).allocation is None
    assert settled(step(world, "backoff-over", grain="coarse")).pods["default/p"].node_name == "n"


def test_the_reservation_stays_while_a_member_has_a_place() -> None:
    """CLAIM-28, INV-28: a member of g runs on m."""
    world = create(INTENDED, blocked(), using(pod("runs", "g", node="m"), BY_NAME))
    assert entries_of(cycle(world)) == ["podGroup/g"]


def test_which_unused_claim_is_freed_is_open() -> None:
    """CLAIM-28, CHO-10: two are on a node without room."""
    ones = [evolve(allocated(claim(name), "m", ()), name=name) for name in ("c1", "c2")]
    other = PodGroupClaim("c2", resource_claim_name="c2")
    p = using(pod("p", cpu=2), PodGroupClaim("c1", resource_claim_name="c1"), other)
    world = there(node("n", 4), node("m", 1), *devices({"m": 2}), *ones, p, options=SETTINGS)
    freed = {
        tuple(name for name in ("c1", "c2") if shared(after, name).allocation is None)
        for after in steps(world, "cycle", grain="coarse")
    }
    assert freed == {("c1",), ("c2",)}


def selecting(expression: str) -> World:
    """p wants a claim that is allocated where it has no room, and a device of n that the expression selects."""
    (request,) = claim().spec.requests
    picky = evolve(claim("picky"), spec=ClaimSpec((evolve(request, selectors=(expression,)),)))
    p = using(pod("p", cpu=2), ALONE, PodGroupClaim("picky", resource_claim_name="picky"))
    return there(
        *(node("n", 4), node("m", 1), *devices({"m": 1, "n": 1}), allocated(claim(), "m", ()), picky, p),
        options=SETTINGS,
    )


def test_a_selector_that_is_not_modelled_is_told_and_lets_nothing_go() -> None:
    """CLAIM-12, CLAIM-28: nobody knows whether n has the device, and so whether the other claim is in the way."""
    (after,) = steps(selecting("device.driver.matches('.*')"), "cycle", grain="coarse")
    assert after.ghost.beyond == ("CEL selectors with .matches()",)
    assert shared(after).allocation is not None


@pytest.mark.parametrize(
    ("expression", "lets_go", "code"),
    [
        ("device.driver != ''", True, "Unschedulable"),
        ("device.driver == ''", False, "Unschedulable"),
        ("device.attributes['a'].b", False, "Error"),
    ],
)
def test_only_a_node_whose_devices_suffice_shows_that_a_claim_is_in_the_way(
    expression: str, lets_go: bool, code: str
) -> None:
    """CLAIM-28: devices are looked for first; a selector that fails ends the attempt before anything is let go."""
    world = selecting(expression)
    assert [found.code for found in verdicts(world)] == [code]
    assert (shared(cycle(world)).allocation is None) is lets_go


def bound_pair(rules: Rules = INTENDED) -> World:
    """A gang of two that runs with a generated claim."""
    world = settled(cluster(template(), *pair(BY_TEMPLATE), rules=rules), rules)
    assert {p.node_name for p in world.pods.values()} == {"n"}
    return world


def test_a_groups_entry_goes_with_the_group_and_not_with_its_members() -> None:
    """CLAIM-30, CLAIM-31, CLAIM-32, GC-08, ACT-29: then allocation, finalizer and the claim itself go too."""
    world = bound_pair()
    for name in ("p1", "p2"):
        world = finish(INTENDED, world, f"default/{name}", True)
    world = controlled(world)
    assert entries_of(world, "g-dev-0") == ["podGroup/g"]
    gone = one_pass(INTENDED, delete(INTENDED, world, "podGroup", "default/g"), "claim/default/g-dev-0")
    assert (entries_of(gone, "g-dev-0"), shared(gone, "g-dev-0").allocation) == ([], None)
    assert shared(gone, "g-dev-0").finalizers == ()
    assert not controlled(gone).claims


@pytest.mark.parametrize("how", ["finish", "delete"])
def test_a_pods_entry_goes_with_the_pod(how: str) -> None:
    """CLAIM-30, CLAIM-31: the claim is free again, and stays, as a user made it."""
    world = settled(cluster(claim(), using(pod("p"), BY_NAME)))
    assert entries_of(world) == ["pod/p"]
    world = (
        finish(INTENDED, world, "default/p", True)
        if how == "finish"
        else delete(INTENDED, world, "pod", "default/p")
    )
    free = shared(controlled(world))
    assert (free.reserved_for, free.allocation, free.finalizers) == ((), None, ())


def test_a_claim_that_is_deleted_goes_once_nobody_uses_it() -> None:
    """CLAIM-32."""
    world = settled(cluster(claim(), using(pod("p"), BY_NAME)))
    going = controlled(delete(INTENDED, world, "claim", "default/claim"))
    assert shared(going).terminating
    assert not controlled(delete(INTENDED, going, "pod", "default/p")).claims


def test_who_was_bound_by_others_gets_its_entry_from_the_controller() -> None:
    """CLAIM-33: a member that of its group, another pod its own."""
    member, plain = using(pod("p", "g", node="n"), BY_NAME), using(pod("q", node="n"), BY_NAME)
    world = cluster(allocated(claim(), "n", ()), sharing(basic("g"), BY_NAME), member, plain)
    assert entries_of(controlled(world)) == ["pod/q", "podGroup/g"]


def test_an_entry_of_the_group_counts_for_each_pod_of_its_name() -> None:
    """CLAIM-34, API-07: with the gate; without it every pod needs its own."""
    held = evolve(claim(), reserved_for=(Consumer("podGroup", "g", 1),))
    assert reserved(held, pod("p", "g"), workload=True)
    assert not reserved(held, pod("p", "other"), workload=True)
    assert not reserved(held, pod("p", "g"), workload=False)


@pytest.mark.parametrize(
    ("skewed", "names", "entries"),
    [
        ((), ["g-dev-0"], ["podGroup/g"]),
        (("claim-controller",), ["p1-dev-0", "p2-dev-0"], ["pod/p1", "podGroup/g"]),
        (("scheduler",), ["g-dev-0"], []),
    ],
    ids=["all on", "off in the controller", "off in the scheduler"],
)
def test_skew_between_components(skewed: tuple[str, ...], names: list[str], entries: list[str]) -> None:
    """CLAIM-35, API-07, API-54: a claim for each pod, or a claim of the group that the scheduler does not accept."""
    world = there(
        *(node("n", 4), *devices({"n": 2}), template(), *pair(BY_TEMPLATE)),
        options=evolve(SETTINGS, skewed=skewed),
    )
    world = settled(world)
    assert sorted(name.removeprefix("default/") for name in world.claims) == names
    assert entries_of(world, names[0]) == entries
    if skewed == ("scheduler",):
        assert queued(world) == {"p1": "gated", "p2": "gated"}


@pytest.mark.parametrize("rules", [INTENDED, V1_36_3_PROMPT], ids=["intended", "v1.36.3"])
def test_a_plain_pod_shares_the_claim_of_a_group(rules: Rules) -> None:
    """CLAIM-22: an entry for the group and one for the pod."""
    group, p1, p2 = pair(BY_NAME)
    world = in_the_end(cluster(claim(), group, p1, p2, using(pod("q"), BY_NAME), rules=rules), rules)
    assert entries_of(world) == ["pod/q", "podGroup/g"]
    assert all(p.node_name == "n" for p in world.pods.values())


def test_a_thousand_members_share_a_claim_by_one_entry() -> None:
    """CLAIM-22, CLAIM-26, INV-27: an entry for each would be refused after 256."""
    members = [using(pod(f"p{number:03}", "g"), BY_NAME) for number in range(1000)]
    wide = evolve(node("n", 1000), allocatable=Table({"cpu": 1_000_000, "pods": 1000}))
    group = sharing(gang("g", 1000), BY_NAME)
    world = taken(world_of(INTENDED, [wide, *devices({"n": 1}), claim(), group, *members], SETTINGS))
    (flying,) = world.claims_in_flight.values()
    assert flying.sharers == 1000
    for member in members:
        for _ in ("prebind", "bind"):
            world = INTENDED.bind(INTENDED, world, member.key, True)
    assert all(stored.node_name == "n" for stored in world.pods.values())
    assert entries_of(world) == ["podGroup/g"]
    assert not world.claims_in_flight
