"""The queue and the member sets of section 3, rule by rule."""

from __future__ import annotations

from attrs import evolve
from racks import there
from runs import AWARE, PLAIN, cycle, members, queued, running, step, steps

from gangproof.impl.api import create, delete, finish, update
from gangproof.impl.cycle_state import Event, Result
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.deviations.queue import MOST_ORDERS
from gangproof.impl.limits import ORDERS
from gangproof.impl.members import members as after_event
from gangproof.impl.memory import Entry, Members
from gangproof.impl.objects import Pod, Toleration
from gangproof.impl.preemption.nominate import set_nomination
from gangproof.impl.profiles import INTENDED, V1_36_3_PROMPT
from gangproof.impl.queue import activate, close, expire, gate
from gangproof.impl.rules import Rules, profile
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.worlds.named import basic, gang, node, pod

CHANGES = {deviation.id: deviation.change for deviation in DEVIATIONS}
ORDERED = profile(INTENDED, CHANGES["DEV-11"])
EARLY = profile(INTENDED, CHANGES["DEV-12"])


def bound(p: Pod, where: str = "n") -> Pod:
    return evolve(p, node_name=where, phase="Running")


def sets(world: World) -> Members:
    return world.members["default/g"]


def in_place(world: World, p: str, place: str, *plugins: str, cooling: bool = False) -> World:
    """The world in which the queued pod stands elsewhere."""
    changed = Entry(f"default/{p}", place, plugins, cooling, tried=True)  # pyright: ignore[reportArgumentType]
    return evolve(world, queue=tuple(changed if e.pod == changed.pod else e for e in world.queue))


def test_a_pending_member_of_ours_is_known_and_queued() -> None:
    """QUEUE-01, QUEUE-07."""
    world = there(node("n", 1), basic("g"), pod("p", "g"))
    assert sets(world) == Members(unsched=("default/p",))
    assert queued(world) == {"p": "active"}


def test_members_of_a_foreign_scheduler_count_once_they_are_bound() -> None:
    """QUEUE-02, QUEUE-06c, GANG-13: the foreign one makes up the minimum, and only then."""
    foreign = evolve(pod("f", "g"), scheduler_name="other")
    world = there(node("n", 2), gang("g", 2), pod("p", "g"), foreign)
    assert sets(world).all == ("default/p",)
    assert queued(world) == {"p": "gated"}
    world = update(INTENDED, world, bound(world.pods["default/f"]))
    assert sets(world) == Members(unsched=("default/p",), assigned=("default/f",))
    assert queued(world) == {"p": "active"}


def test_an_update_of_a_pending_member_changes_no_set() -> None:
    """QUEUE-03, QUEUE-27: the object is replaced in place."""
    world = there(node("n", 1), basic("g"), pod("p", "g"))
    changed = evolve(world.pods["default/p"], labels=Table({"a": "b"}))
    after = update(INTENDED, world, changed)
    assert sets(after) == sets(world)
    assert after.queue == world.queue
    assert members(step(after, "pop")) == ["p"]
    assert running(step(after, "pop")).members[0].labels == Table({"a": "b"})


def test_from_assumed_to_assigned_in_one_step() -> None:
    """QUEUE-04, BIND-06."""
    assumed = cycle(there(node("n", 1), basic("g"), pod("p", "g")))
    assert sets(assumed) == Members(assumed=("default/p",))
    after = step(assumed, "bind")
    assert sets(after) == Members(assigned=("default/p",))
    assert after.pods["default/p"].node_name == "n"


def test_assume_and_forget_move_only_who_is_known() -> None:
    """QUEUE-06a."""
    start = Members(unsched=("a",), assigned=("b",))
    assert after_event(start, "assumed", "a") == Members(assumed=("a",), assigned=("b",))
    assert after_event(after_event(start, "assumed", "a"), "forgotten", "a") == start
    for stranger in ("b", "nobody"):
        assert after_event(start, "assumed", stranger) == start
        assert after_event(start, "forgotten", stranger) == start


def test_there_is_no_way_back_from_assigned() -> None:
    """QUEUE-06, QUEUE-06d: only deleting or ending takes a bound member out."""
    world = there(node("n", 1), gang("g", 1), pod("p", "g", node="n"))
    for event in ("assumed", "forgotten"):
        assert after_event(sets(world), event, "default/p") == sets(world)
    assert "default/g" not in delete(INTENDED, world, "pod", "default/p").members
    assert sets(finish(INTENDED, world, "default/p", True)) == Members(done=("default/p",))
    assert "default/g" not in finish(INTENDED, world, "default/p", False).members


def test_terminating_members_stay_in_their_set_when_shipped() -> None:
    """QUEUE-06b, OBS-08: bound or pending, they are counted until they are gone; gated ones are pending."""
    dying = evolve(pod("b", "g", node="n"), termination_grace_period_seconds=9)
    held = evolve(pod("u", "g", gates=["wait"]), finalizers=("keep",))

    def after(rules: Rules) -> Members:
        world = there(node("n", 1), gang("g", 2), dying, held, rules=rules)
        for name in ("b", "u"):
            world = delete(rules, world, "pod", f"default/{name}")
        return sets(world)

    assert after(INTENDED) == Members(leaving=("default/b",))
    assert after(V1_36_3_PROMPT) == Members(unsched=("default/u",), assigned=("default/b",))


def test_an_arrival_is_told_to_those_who_wait() -> None:
    """QUEUE-08, QUEUE-13, QUEUE-16."""
    world = there(node("n", 2), gang("g", 2), pod("p1", "g"))
    assert queued(world) == {"p1": "gated"}
    assert queued(create(INTENDED, world, pod("p2", "g"))) == {"p1": "active", "p2": "active"}


def test_the_plugins_that_gate() -> None:
    """QUEUE-09, CHO-04, GANG-01, GANG-03: all that reject are kept, so none has to be chosen."""
    alone = there(gang("g", 2), pod("p", "g", gates=["wait"]))
    assert gate(INTENDED, alone, alone.pods["default/p"]) == ("GangScheduling", "SchedulingGates")
    assert alone.queue[0].plugins == ("GangScheduling", "SchedulingGates")
    evicting = cycle(there(node("n", 1), pod("v", node="n"), pod("p", priority=1, preempts=True)))
    assert gate(INTENDED, evicting, evicting.pods["default/p"]) == ("DefaultPreemption",)


def test_a_gated_member_holds_nobody_back() -> None:
    """QUEUE-10, QUEUE-19b."""
    world = there(node("n", 2), gang("g", 2), pod("p1", "g"), pod("p2", "g", gates=["wait"]), pod("p3", "g"))
    popped = step(world, "pop")
    assert members(popped) == ["p1", "p3"]
    assert queued(popped) == {"p2": "gated"}


def test_the_first_admission_is_remembered_when_shipped() -> None:
    """QUEUE-11, QUEUE-13, CHO-01, CHO-02: who completes the minimum is first, the others in any order, for good."""
    world = there(node("n", 1), gang("g", 3), *(pod(f"p{i}", "g") for i in (1, 2, 3)), rules=ORDERED)
    uids = [world.pods[f"default/p{i}"].uid for i in (1, 2, 3)]
    assert world.admitted == ((uids[2],), (uids[0], uids[1]))
    popped = steps(world, "pop", rules=ORDERED)
    assert [members(now) for now in popped] == [["p3", "p1", "p2"], ["p3", "p2", "p1"]]
    for now in popped:
        (failed,) = {w.admitted for w in steps(now, "cycle", rules=ORDERED, grain="coarse")}
        assert failed == now.admitted
    assert members(step(there(node("n", 1), gang("g", 3), *(pod(f"p{i}", "g") for i in (1, 2, 3))), "pop")) == [
        "p1", "p2", "p3",
    ]  # fmt: skip


def test_of_too_many_orders_some_are_looked_at_and_the_run_says_so() -> None:
    """CHO-02, DEV-11: seven members that one event lets in."""
    eight = (pod(f"p{i}", "g") for i in range(8))
    popped = steps(there(node("n", 1), gang("g", 8), *eight, rules=ORDERED), "pop", rules=ORDERED)
    assert len({tuple(members(now)) for now in popped}) == MOST_ORDERS == 720
    assert {now.ghost.beyond for now in popped} == {(ORDERS,)}


def test_waiting_at_the_gate_costs_no_place() -> None:
    """QUEUE-12, QUEUE-18, CHO-03: an admitted pod keeps its Timestamp, and no two Timestamps are equal."""
    world = there(node("n", 1), pod("p1", gates=["wait"]), pod("p2"), pod("p3", priority=1))
    world = update(INTENDED, world, evolve(world.pods["default/p1"], scheduling_gates=()))
    order: list[str] = []
    while world.queue:
        world = step(world, "pop")
        order.extend(members(world))
        world = evolve(world, cycle=None)
    assert order == ["p3", "p1", "p2"]


def test_events_are_asked_pod_by_pod() -> None:
    """QUEUE-14, QUEUE-14a: what lets one member in does not let in its sibling."""
    world = there(node("n", 2), basic("g"), pod("p1", "g", gates=["wait"]), pod("p2", "g", gates=["wait"]))
    world = update(INTENDED, world, evolve(world.pods["default/p1"], scheduling_gates=()))
    assert queued(world) == {"p1": "active", "p2": "gated"}


def test_a_new_group_object_lets_its_members_in() -> None:
    """QUEUE-17: and nobody else's."""
    world = there(node("n", 1), pod("p1", "g"), pod("p2", "h"))
    assert queued(create(INTENDED, world, gang("g", 1))) == {"p1": "active", "p2": "gated"}


def test_backoff_is_served_early_when_shipped() -> None:
    """QUEUE-19, QUEUE-19b, QUEUE-23: if nothing is active, unless the attempt ended with an error; siblings too."""
    world = cycle(there(node("n", 1), gang("g", 2), pod("p1", "g"), pod("p2", "g")))
    assert queued(world) == {"p1": "backoff", "p2": "backoff"}
    assert INTENDED.ready(world) is None
    rejected = in_place(world, "p2", "backoff", "NodeResourcesFit", cooling=True)
    assert rejected.queue[1].plugins == ("NodeResourcesFit",)
    assert members(step(rejected, "pop", rules=EARLY)) == ["p1", "p2"]
    errors = in_place(in_place(world, "p1", "backoff", cooling=True), "p2", "backoff", cooling=True)
    assert EARLY.ready(errors) is None


def test_each_member_has_a_backoff_of_its_own_or_all_share_one() -> None:
    """QUEUE-20, DEV-12: in v1.36.3 one member is back before the others, in *intended* all come at once."""
    world = there(node("n", 1), gang("g", 2), pod("p1", "g"), pod("p2", "g"))
    for p in ("p1", "p2"):
        world = in_place(world, p, "backoff", "NodeResourcesFit", cooling=True)
    assert EARLY.cooling(world) == ("default/p1", "default/p2")
    assert queued(EARLY.expire(EARLY, world, "default/p2")) == {"p1": "backoff", "p2": "active"}
    assert INTENDED.cooling(world) == ("default/g",)
    assert queued(INTENDED.expire(INTENDED, world, "default/g")) == {"p1": "active", "p2": "active"}


def test_a_popped_pod_is_in_flight_until_it_is_closed() -> None:
    """QUEUE-19a, QUEUE-29: closing twice is closing once."""
    world = there(node("n", 1), basic("g"), pod("p1", "g"), pod("p2"))
    popped = step(world, "pop")
    assert dict(popped.in_flight) == {"default/p1": world.pods["default/p1"].uid}
    closed = close(popped, ["default/p1"])
    assert not closed.in_flight
    assert close(closed, ["default/p1"]) == closed


def test_members_are_tried_by_priority_and_age() -> None:
    """QUEUE-19d, CYCLE-01."""
    named = [pod("c", "g"), pod("a", "g"), pod("b", "g", priority=1)]
    assert members(step(there(node("n", 3), gang("g", 3), *named), "pop")) == ["b", "c", "a"]


def test_who_comes_after_the_pop_is_not_tried() -> None:
    """QUEUE-19e: yet the snapshot counts it if it is taken later."""
    popped = step(there(node("n", 3), gang("g", 2), pod("p1", "g"), pod("p2", "g")), "pop")
    later = step(create(INTENDED, popped, pod("p3", "g")), "snapshot")
    assert members(later) == ["p1", "p2"]
    assert queued(later) == {"p3": "active"}
    snapshot = running(later).snapshot
    assert snapshot is not None
    assert len(snapshot.members.unsched) == 3


def test_a_failed_pod_comes_back_unless_it_is_settled() -> None:
    """QUEUE-20, QUEUE-22: bound, replaced or gone, it is only closed; its plugins are those of the last attempt."""
    world = there(node("n", 1), basic("g"), pod("p", "g"))
    p = world.pods["default/p"]
    popped = step(world, "pop")
    failed = INTENDED.fail(INTENDED, popped, p, Result("default/p", plugins=("NodePorts",)))
    assert failed.queue == (Entry("default/p", "backoff", ("NodePorts",), cooling=True, tried=True),)
    assert not failed.in_flight
    settled = [bound(p), evolve(p, uid=99)]
    for stored in (popped.with_pod(other) for other in settled):
        assert queued(INTENDED.fail(INTENDED, stored, p, Result("default/p"))) == {}
    gone = evolve(popped, pods=Table())
    assert queued(INTENDED.fail(INTENDED, gone, p, Result("default/p"))) == {}


def test_a_failed_pod_stands_at_the_end() -> None:
    """QUEUE-21, QUEUE-18: of two equal pods the other one is next."""
    options = evolve(PLAIN, backoff=False)
    world = there(node("n", 1), basic("g"), pod("big", "g", cpu=2), pod("also-big", cpu=2), options=options)
    after = cycle(world)
    assert queued(after) == {"also-big": "active", "big": "active"}
    assert members(step(after, "pop")) == ["also-big"]


def test_the_end_of_backoff_asks_no_plugin() -> None:
    """QUEUE-24, ACT-24: PreEnqueue was asked on the way in; without SchedulerPopFromBackoffQ it is now."""
    world = cycle(there(node("n", 1), gang("g", 1), pod("p", "g", cpu=2)))
    world = delete(INTENDED, evolve(world, groups=Table()), "node", "n")
    assert queued(expire(INTENDED, world, "default/g")) == {"p": "active"}
    gates = evolve(world.settings.gates, scheduler_pop_from_backoff_q=False)
    late = evolve(world, settings=evolve(world.settings, gates=gates))
    assert queued(expire(INTENDED, late, "default/g")) == {"p": "gated"}


def test_activation_asks_at_the_gate_and_ends_backoff() -> None:
    """QUEUE-25."""
    world = there(node("n", 1), gang("g", 1), pod("p1", "g"), pod("p2", "missing"), pod("p3"))
    world = in_place(world, "p1", "backoff", cooling=True)
    woken = activate(INTENDED, world, ("default/p1", "default/p2", "default/unknown"))
    assert queued(woken) == {"p1": "active", "p2": "gated", "p3": "active"}
    assert not any(entry.cooling for entry in woken.queue)


def test_the_flush_offers_a_wildcard() -> None:
    """QUEUE-15, QUEUE-26, ACT-25: the pool gets it in either profile, the gate only in *intended*."""
    world = there(node("n", 1), pod("p1"), pod("p2"))
    world = in_place(in_place(world, "p1", "pool", "NodePorts"), "p2", "gated", "DefaultPreemption")
    assert queued(INTENDED.wake(INTENDED, world, Event("Flush"))) == {"p1": "active", "p2": "active"}
    shipped = V1_36_3_PROMPT
    assert queued(shipped.wake(shipped, world, Event("Flush"))) == {"p1": "active", "p2": "gated"}


def test_a_pods_own_update_is_a_hint_for_those_who_rejected_it() -> None:
    """QUEUE-27, ACT-04: in the pool it counts; who is assumed is in no queue."""
    world = cycle(there(node("n", 1, unschedulable=True), pod("p"), pod("q")))
    (entry,) = [e for e in world.queue if e.pod == "default/p"]
    assert (entry.place, entry.plugins) == ("pool", ("NodeUnschedulable",))
    p, q = world.pods["default/p"], world.pods["default/q"]
    assert queued(update(INTENDED, world, evolve(q, labels=Table({"a": "b"}))))["p"] == "pool"
    assert queued(update(INTENDED, world, evolve(p, labels=Table({"a": "b"}))))["p"] == "pool"
    cordons = Toleration("node.kubernetes.io/unschedulable", "Exists")
    assert queued(update(INTENDED, world, evolve(p, tolerations=(cordons,))))["p"] == "backoff"
    assumed = cycle(there(node("n", 1), pod("p")))
    assert (
        queued(update(INTENDED, assumed, evolve(assumed.pods["default/p"], labels=Table({"a": "b"})))) == {}
    )


def test_a_deleted_pod_leaves_everything() -> None:
    """QUEUE-28, QUEUE-06, ACT-03."""
    world = there(node("n", 1), gang("g", 1), pod("p", "g"), options=AWARE)
    world = set_nomination(world, "default/p", "n")
    assert dict(world.nominations) == {"default/p": "n"}
    after = delete(INTENDED, world, "pod", "default/p")
    assert (after.queue, dict(after.nominations), dict(after.members)) == ((), {}, {})
    popped = step(world, "pop")
    assert members(delete(INTENDED, popped, "pod", "default/p")) == ["p"]


def test_a_nomination_that_ends_wakes_the_weaker() -> None:
    """QUEUE-30: whoever waits for room hears that a nominated pod is deleted; the stronger ones do not."""
    nominated = evolve(pod("q", priority=1, gates=["wait"]), nominated_node_name="n")
    world = there(node("n", 1), pod("b", node="n"), nominated, pod("weak"), pod("strong", priority=2))
    world = in_place(
        in_place(world, "weak", "pool", "NodeResourcesFit"), "strong", "pool", "NodeResourcesFit"
    )
    after = delete(INTENDED, world, "pod", "default/q")
    assert queued(after) == {"weak": "active", "strong": "pool"}
