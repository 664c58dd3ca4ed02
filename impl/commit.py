"""From a verdict to bound pods: commit or fail, bind, retry, give up (SEMANTICS 4.5, 4.6).

In *intended* a gang's commit is one decision: all kept members are assumed and counted first, and only if the
minimum still holds are their binds sent (DEV-19, DEV-52). Binds then end one by one, in any order.
"""

from __future__ import annotations

from typing import Literal

from attrs import evolve

from gangproof.impl.claims.binding import in_order, prebind, still_served
from gangproof.impl.claims.reserve import NO_HOLDS
from gangproof.impl.cycle import UNSCHEDULABLE
from gangproof.impl.cycle_state import Cycle, Event, Result
from gangproof.impl.filters import prepare, rejection
from gangproof.impl.filters.nodes import node_resources_fit
from gangproof.impl.limits import SAME_NAME, note
from gangproof.impl.members import tell
from gangproof.impl.memory import Binding, Hold, Members
from gangproof.impl.objects import Pod
from gangproof.impl.queue import close, notice
from gangproof.impl.rules import Rules
from gangproof.impl.snapshot import put_on, seen, take_off, without_pod
from gangproof.impl.steps import Answer
from gangproof.impl.store import patch, stored
from gangproof.impl.table import Table
from gangproof.impl.world import World


def submit(rules: Rules, world: World, cycle: Cycle) -> World:
    """Carry out the verdict for every member of the cycle (CYCLE-41 to CYCLE-48, BIND-01, BIND-02).

    On Success the kept members are committed and the others fail on their own; otherwise all fail, and nothing
    is bound while a group waits for its victims (PREEMPT-40).
    """
    if cycle.code == "Success":
        committed = _commit(rules, world, cycle)
        if committed == "Error":
            cycle = evolve(cycle, code="Error", message=f"podgroup {cycle.group} not found")
        elif committed == "Wait":
            cycle = evolve(cycle, code="Unschedulable", message=UNSCHEDULABLE)
        else:
            world = committed
    world = evolve(world, cycle=evolve(cycle, stage="reporting", snapshot=None, taken=None))
    if not cycle.called:
        world = rules.evict(rules, world, cycle)
    world = rules.let_go(rules, world, cycle)
    for pod in cycle.members:
        if pod.key not in world.assumed:
            world = rules.fail(rules, world, pod, own_result(cycle, pod.key))
    return rules.nominate(world, cycle)


def own_result(cycle: Cycle, pod: str) -> Result:
    """What a member that is not committed reports: its own reason, or that of its group."""
    result = next((result for result in cycle.results if result.pod == pod), Result(pod))
    if cycle.code == "Error":
        return Result(result.pod, error=result.error or cycle.message)
    if result.victims and cycle.code == "Waiting":
        return Result(pod, plugins=result.plugins)
    return Result(pod) if result.kept else result


def _commit(rules: Rules, world: World, cycle: Cycle) -> World | Literal["Wait", "Error"]:
    """The world with all kept members assumed and their binds open; or why the commit is undone as a whole.

    Every member with a place is committed, also beyond the minimum (CYCLE-31). A gang falls short if members,
    its object or its room went away after the snapshot (DEV-19).
    """
    by_key = {pod.key: pod for pod in cycle.members}
    kept = [result for result in cycle.results if result.node is not None]
    for result in kept:
        world = assume(rules, world, by_key[result.pod], result.node or "", result.holds)
    if not any(result.pod in world.assumed for result in kept):
        return "Wait"
    for result in kept:
        pod = by_key[result.pod]
        world, answer = rules.permit(rules, world, world.members_of(pod.group or ""), pod)
        if answer != "Success":
            return answer
    for result in kept:
        if result.pod in world.assumed:
            world = open_call(world, result.pod, result.holds)
    return world


def open_call(world: World, pod: str, holds: Table[Hold] = NO_HOLDS) -> World:
    """The first call of the pod's binding cycle is open; PreBind shows where it has work or somebody looks (BIND-03).

    A pod with claims is nominated to its node in the API until it is bound.
    """
    node, stored = world.assumed[pod], world.pods.get(pod)
    if stored is not None and stored.resource_claims:
        world = patch(world, "pod", pod, nominated_node_name=node)
    call = f"prebind/{pod}"
    seen = holds or call in world.environment.held or call in world.environment.failing
    binding = Binding(node, "prebind" if seen else "bind", holds)
    return evolve(world, bindings=world.bindings.put(pod, binding))


def permit(rules: Rules, world: World, sets: Members, pod: Pod) -> tuple[World, Answer]:
    """May a member with a place go on to be bound? (GANG-06 to GANG-09)

    In *intended* Permit only counts: it releases and activates nobody, in a simulation or outside (DEV-24).
    """
    if pod.group is None or not world.settings.gates.gang_scheduling:
        return world, "Success"
    group = world.groups.get(pod.group)
    if group is None:
        return world, "Error"
    return world, "Success" if rules.quorum(sets, group, "placed") else "Wait"


def assume(rules: Rules, world: World, pod: Pod, node: str, holds: Table[Hold] = NO_HOLDS) -> World:
    """The pod assumed on the node in the live cache, unless it is on one there already (BIND-01, CLAIM-18).

    What it holds of claims is in flight then. In *intended* it is unchanged too if the pod, its room on the node, or
    one of its claims went since the snapshot (INV-05, INV-26; DEV-56).
    """
    stored = world.pods.get(pod.key)
    if stored is not None and stored.uid == pod.uid:
        pod = stored
    if pod.node_name or not rules.room(world, pod, node, holds):
        return world
    if stored is not None and stored.uid != pod.uid:
        return note(world, SAME_NAME)
    world = close(put_on(world, pod, node), [pod.key])
    world = evolve(
        world, assumed=world.assumed.put(pod.key, node), nominations=world.nominations.drop(pod.key)
    )
    if holds:
        world = evolve(world, claims_in_flight=rules.reserve(world.claims_in_flight, holds))
    return tell(rules, world, pod.group, "assumed", pod.key)


def room(world: World, pod: Pod, node: str, holds: Table[Hold]) -> bool:
    """Whether the pod is still to be placed, and the node has room for it (FILT-10) and reaches its devices."""
    stored, info = world.pods.get(pod.key), world.cache.get(node)
    if stored is None or stored.uid != pod.uid or stored.terminating or stored.terminal:
        return False
    fits = info is not None and info.node is not None and node_resources_fit(pod, info) is None
    return fits and (not pod.resource_claims or still_served(world, pod, node, holds))


def forget(rules: Rules, world: World, pod: Pod) -> World:
    """The assumed pod loses its place, and those who wait for room hear of it (BIND-07, BIND-10)."""
    node = world.assumed.get(pod.key)
    if node is None:
        return world
    world = evolve(take_off(world, pod.key, node), assumed=world.assumed.drop(pod.key))
    world = tell(rules, world, pod.group, "forgotten", pod.key)
    left = evolve(pod, node_name=node)
    return notice(rules, world, Event("AssignedPodDeleted", pod=left, group=pod.group))


def bindable(world: World, pod: str) -> bool:
    """Whether the API server would accept the bind: the pod exists, is not going, and has no node yet."""
    if pod not in world.assumed:
        return False
    there = stored(world, "pod").get(pod)
    return there is not None and not there.terminating and not there.node_name and _same(world, there)


def _same(world: World, pod: Pod) -> bool:
    """Whether this is the pod that the scheduler knows, and not another of its name."""
    known = world.pods.get(pod.key)
    return known is not None and known.uid == pod.uid


def bind(rules: Rules, world: World, pod: str, ok: bool) -> World:
    """The open call of the pod ends, well or not (BIND-05 to BIND-07; intended: DEV-52).

    A gang member whose call failed is tried again on the same node while it still fits there; otherwise, like
    any other pod, it loses its place and is queued again. Siblings are not touched.
    """
    binding = world.bindings[pod]
    stored = world.pods.get(pod)
    if binding.call == "prebind" and stored is not None:
        world, ok = prebind(rules, world, stored, ok)
        binding = world.bindings[pod]
        if ok:
            call = "prebind" if any(in_order(stored, binding.holds)) else "bind"
            return evolve(world, bindings=world.bindings.put(pod, evolve(binding, call=call)))
    if ok and stored is not None:
        return _bound(rules, world, stored, binding.node)
    if stored is not None and retries(world, stored):
        return world
    return give_up(rules, world, pod, Result(pod, error="binding rejected"))


def give_up(rules: Rules, world: World, pod: str, result: Result) -> World:
    """The binding cycle of the pod ends without a bind: it loses its place and is queued again (BIND-07).

    It alone: siblings that are bound or wait stay as they are (GANG-12, BIND-08, OBS-01). The nomination that it
    may have had for its wait is cleared (BIND-03).
    """
    stored = world.pods.get(pod)
    node, holds = world.assumed.get(pod), world.bindings[pod].holds
    world = evolve(world, bindings=world.bindings.drop(pod))
    if holds or (stored is not None and stored.resource_claims):
        world = rules.relinquish(rules, world, stored, holds)
    if stored is None:
        return world if node is None else forget(rules, world, world.cache[node].pods[pod])
    if stored.nominated_node_name is not None:
        world = patch(world, "pod", pod, nominated_node_name=None)
        stored = world.pods[pod]
    if pod not in world.assumed:
        return world
    return rules.fail(rules, forget(rules, world, stored), stored, result)


def _bound(rules: Rules, world: World, pod: Pod, node: str) -> World:
    """The API server has bound the pod; until the scheduler sees it the pod stays assumed (BIND-06)."""
    status: dict[str, object] = {"nominated_node_name": None, "unscheduled_reason": None}
    world = evolve(
        patch(world, "pod", pod.key, node_name=node, phase="Running", **status),
        bindings=world.bindings.drop(pod.key),
    )
    seen = world.pods[pod.key]
    return confirm(rules, world, seen) if seen.node_name is not None else world


def confirm(rules: Rules, world: World, pod: Pod) -> World:
    """The assumed pod is seen on its node: it is assigned, in one step (QUEUE-04)."""
    world = evolve(world, assumed=world.assumed.drop(pod.key))
    world = tell(rules, put_on(world, pod, pod.node_name or ""), pod.group, "bound", pod.key)
    return notice(rules, world, Event("AssignedPodAdded", pod=pod, group=pod.group))


def retries(world: World, pod: Pod) -> bool:
    """Whether a failed bind is tried again on the same node: a gang member that still fits there (DEV-52)."""
    group = world.groups.get(pod.group) if pod.group else None
    node = world.assumed.get(pod.key)
    gangs = world.settings.gates.gang_scheduling
    if group is None or not (group.gang and gangs) or node is None or not bindable(world, pod.key):
        return False
    info = without_pod(world.cache[node], pod.key)
    others = seen(world.cache.put(node, info))
    bare = evolve(prepare(pod, others), claims=None)
    fits = info.node is not None and rejection(bare, info) is None
    holds = world.bindings[pod.key].holds
    return fits and (not pod.resource_claims or still_served(world, pod, node, holds))
