"""Deviations between the verdict and the bind: one member at a time, a wait at Permit, no second try."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.claims.binding import prebind
from gangproof.impl.claims.reserve import NO_HOLDS
from gangproof.impl.commit import assume, forget, give_up, open_call, own_result
from gangproof.impl.cycle_state import Cycle, Result, Stage
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.memory import Binding, Hold, Members
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.calls import calls_for
from gangproof.impl.queue import activate
from gangproof.impl.rules import Change, Rules
from gangproof.impl.steps import Answer, BindStep, PermitStep, RoomStep, SubmitStep
from gangproof.impl.store import patch
from gangproof.impl.table import Table
from gangproof.impl.world import World


def one_by_one(_: SubmitStep) -> SubmitStep:
    """Members are committed or failed one after the other, each on its own (CYCLE-41 to CYCLE-48, BIND-01).

    Eviction calls may end before the first of them is told (PREEMPT-31).
    """

    def submit(rules: Rules, world: World, cycle: Cycle) -> World:
        if cycle.submitted == 0:
            if not cycle.called:
                begun = rules.evict(rules, world, cycle)
                if calls_for(begun, cycle.preemptor) != calls_for(world, cycle.preemptor):
                    return evolve(begun, cycle=evolve(cycle, called=True))
                world = begun
            world = rules.let_go(rules, world, cycle)
        pod = cycle.members[cycle.submitted]
        result = own_result(cycle, pod.key)
        found = next((r for r in cycle.results if r.pod == pod.key), result)
        if cycle.code == "Success" and found.node is not None:
            world = commit_member(rules, world, pod, found.node, found.holds)
        else:
            world = rules.fail(rules, world, pod, result)
        submitted = cycle.submitted + 1
        stage: Stage = "reporting" if submitted == len(cycle.members) else "submitting"
        world = evolve(world, cycle=evolve(cycle, submitted=submitted, stage=stage))
        return rules.nominate(world, cycle) if stage == "reporting" else world

    return submit


def commit_member(rules: Rules, world: World, pod: Pod, node: str, holds: Table[Hold] = NO_HOLDS) -> World:
    """One member is assumed in the live cache and asks Permit again; others are not touched (BIND-01, BIND-02).

    One that has to wait holds its room, under a condition that is true (BIND-09, OBS-02, OBS-03), and is nominated
    to its node in the API (BIND-03).
    """
    world = assume(rules, world, pod, node, holds)
    if pod.key not in world.assumed:
        return rules.fail(rules, world, pod, Result(pod.key, error="cannot be assumed"))
    world, answer = rules.permit(rules, world, world.members_of(pod.group or ""), pod)
    if answer == "Error":
        error = Result(pod.key, error=f"podgroup {pod.group} not found")
        world = evolve(world, claims_in_flight=rules.unreserve(world.claims_in_flight, holds))
        return rules.fail(rules, forget(rules, world, pod), pod, error)
    if answer == "Success":
        return open_call(world, pod.key, holds)
    if pod.key in world.pods:
        world = patch(world, "pod", pod.key, nominated_node_name=node)
    return evolve(world, bindings=world.bindings.put(pod.key, Binding(node, "permit", holds)))


def acting(stage: Stage, old: PermitStep) -> PermitStep:
    """Permit wakes siblings when it answers Wait and lets waiting members go when it does not (GANG-09, 10)."""

    def permit(rules: Rules, world: World, sets: Members, pod: Pod) -> tuple[World, Answer]:
        world, answer = old(rules, world, sets, pod)
        gang_plugin = pod.group is not None and world.settings.gates.gang_scheduling
        if world.cycle is None or world.cycle.stage != stage or not gang_plugin:
            return world, answer
        if answer == "Wait":
            return activate(rules, world, sets.unsched), answer
        return (release(world, sets.assumed) if answer == "Success" else world), answer

    return permit


def in_commit(old: PermitStep) -> PermitStep:
    """Permit acts while members are committed."""
    return acting("submitting", old)


def in_simulation(old: PermitStep) -> PermitStep:
    """Permit acts even while members are only tried (CYCLE-24a, GANG-11)."""
    return acting("placing", old)


def release(world: World, assumed: tuple[str, ...]) -> World:
    """Members that wait at Permit go on to be bound (BIND-04, ACT-18)."""
    for pod in assumed:
        binding = world.bindings.get(pod)
        if binding is not None and binding.call == "permit":
            world = open_call(world, pod, binding.holds)
    return world


def without_a_second_try(old: BindStep) -> BindStep:
    """A failed binding cycle ends the attempt and offers the room to everybody (BIND-07)."""

    def bind(rules: Rules, world: World, pod: str, ok: bool) -> World:
        if world.bindings[pod].call == "prebind" and pod in world.pods:
            tried, ok = prebind(rules, world, world.pods[pod], ok)
            world = world if ok else tried
        if ok:
            return old(rules, world, pod, ok)
        rejected = world.bindings[pod].call == "permit"
        plugins = ("GangScheduling",) if rejected else ()
        return give_up(
            rules, world, pod, Result(pod, plugins=plugins, error="" if rejected else "binding rejected")
        )

    return bind


def whatever_came_meanwhile(_: RoomStep) -> RoomStep:
    """The commit looks neither at the node again nor whether the pod is still there (BIND-01)."""

    def room(world: World, pod: Pod, node: str, holds: Table[Hold]) -> bool:
        return True

    return room


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-19",
            "a commit that falls short of the live quorum waits at Permit, up to 5 minutes, with its room held",
            {"permit": in_commit},
        ),
        promise="nobody waits at Permit any more",
        intended="a gang's commit counts all kept members first and is undone as a whole if it falls short",
        breaks=("INV-03", "INV-39"),
        rules=("BIND-09", "GANG-09", "GANG-10"),
        scenario="DEV-19-shipped",
    ),
    Deviation(
        Change(
            "DEV-24",
            "Permit releases waiting members and wakes siblings even inside a simulation",
            {"permit": in_simulation},
        ),
        promise="a simulation has no effect",
        intended="Permit inside a simulation or trial only counts",
        breaks=("INV-02", "INV-07"),
        rules=("CYCLE-24", "GANG-11"),
        scenario="DEV-24-shipped",
    ),
    Deviation(
        Change(
            "DEV-56",
            "a member is promised its node whatever became of the node, or of the member, since the snapshot",
            {"room": whatever_came_meanwhile},
        ),
        promise="what is assumed and bound on a node fits there",
        intended="a commit looks at the room on the node again; who has none any more fails",
        breaks=("INV-05",),
        rules=("BIND-01",),
        scenario="CAP-02-shipped",
    ),
    Deviation(
        Change(
            "DEV-52",
            "members are committed and bound one by one; a failed bind leaves no record and its room is offered to all",
            {"submit": one_by_one, "bind": without_a_second_try},
        ),
        promise="a decision is applied atomically for the group",
        intended="one decision, then one bind a member; a failed bind is retried in place, else the member is owed",
        breaks=("INV-03", "INV-14"),
        rules=("BIND-01", "BIND-07", "BIND-08", "CYCLE-50"),
        scenario="DEV-52-shipped",
    ),
)
