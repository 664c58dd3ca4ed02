"""The cycle up to its verdict: check, snapshot, place and assume member by member (SEMANTICS 4.1, 4.2).

Each function is one observable step. A cycle of a plain pod is that of a group of one without a quorum.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.claims.reserve import NO_HOLDS
from gangproof.impl.cycle_state import Code, Cycle, Result, Snapshot
from gangproof.impl.filters import Prepared, Rejection, candidates, prepare, recount, rejection
from gangproof.impl.filters.devices import PLUGIN as DYNAMIC_RESOURCES
from gangproof.impl.filters.devices import group_missing, prefilter
from gangproof.impl.limits import EARLY_STOP, note
from gangproof.impl.members import count
from gangproof.impl.memory import Hold, InFlight, NodeInfo
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.placement import NO_DOMAIN, ahead, visit, winners, within
from gangproof.impl.queue import close
from gangproof.impl.rules import Rules
from gangproof.impl.scores import best
from gangproof.impl.snapshot import lift, put_back, with_pod
from gangproof.impl.steps import Candidates, Placement
from gangproof.impl.strength import strength
from gangproof.impl.table import Table
from gangproof.impl.world import World

UNSCHEDULABLE = "pod group is unschedulable"
WAITING = "pod group is waiting for preemption to complete"
DIFFERENT_NAMES = "pods of a group have different scheduler names"
UNKNOWN_NAME = "unknown scheduler name"


def check(world: World, cycle: Cycle) -> World:
    """Scheduler names must agree (CYCLE-05), and who is going or placed is skipped and closed (CYCLE-06).

    A mismatch is an Error for every member, and in *intended* goes on to the condition (DEV-13, DEV-14).
    No `members` left means that the cycle is over.
    """
    names = {pod.scheduler_name for pod in cycle.members}
    if len(names) > 1 or not names <= set(world.settings.profiles):
        error = DIFFERENT_NAMES if len(names) > 1 else UNKNOWN_NAME
        results = tuple(Result(pod.key, error=error) for pod in cycle.members)
        failed = evolve(cycle, stage="submitting", code="Error", message=error, results=results)
        return evolve(world, cycle=failed)
    members = tuple(p for p in cycle.members if p.key not in world.assumed and not _going(world, p))
    tried = {pod.key for pod in members}
    skipped = (pod.key for pod in cycle.members if pod.key not in tried)
    return evolve(close(world, skipped), cycle=evolve(cycle, members=members))


def _going(world: World, pod: Pod) -> bool:
    stored = world.pods.get(pod.key)
    return pod.terminating or (stored is not None and stored.uid == pod.uid and stored.terminating)


def begin(rules: Rules, world: World) -> tuple[World, ...]:
    """Check the members, take the snapshot, and find the candidate domains (CYCLE-05 to CYCLE-09, PLACE-01).

    One world for each answer about the domains.
    """
    if world.cycle is None:
        raise ValueError("no cycle is running")
    world = rules.check(world, world.cycle)
    cycle = world.cycle
    if cycle is None or not cycle.members:
        return (evolve(world, cycle=None),)
    if cycle.stage != "popped":
        return (world,)
    taken = rules.snapshot(world, cycle)
    cycle = evolve(cycle, stage="placing", taken=taken, snapshot=taken)
    return tuple(
        after for found in rules.domains(world, cycle) for after in _begun(rules, world, cycle, found)
    )


def _begun(rules: Rules, world: World, cycle: Cycle, found: Candidates) -> tuple[World, ...]:
    if found.error:
        failed = evolve(cycle, stage="submitting", code="Error", message=found.error)
        return (evolve(world, cycle=failed),)
    cycle = evolve(cycle, domains=found.domains)
    if found.domains == ():
        return _decided(rules, world, evolve(cycle, code="Unschedulable"))
    return (evolve(world, cycle=cycle),)


def running(world: World) -> tuple[Cycle, Snapshot]:
    """The running cycle and what it sees; a ValueError if there is none."""
    cycle = world.cycle
    if cycle is None or cycle.snapshot is None:
        raise ValueError("no cycle with a snapshot is running")
    return cycle, cycle.snapshot


def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
    """The nodes where the member may go, best score first decided, ties open (CYCLE-11 to CYCLE-16).

    Within a domain only its nodes are candidates, while the plugins that list all nodes list all (PLACE-10).
    """
    snapshot = cycle.snapshot
    assert snapshot is not None
    if not snapshot.nodes:
        return Placement()
    prepared = prepare(pod, snapshot)
    if group_missing(world, pod) or (prepared.claims is not None and prepared.claims.refused):
        return Placement(plugins=(DYNAMIC_RESOURCES,))
    nodes = candidates(prepared, within(cycle, snapshot.nodes))
    preferred = pod.nominated_node_name
    if (
        preferred is not None
        and preferred in nodes
        and refusal(rules, world, prepared, nodes[preferred]) is None
    ):
        return Placement((preferred,))
    feasible: list[tuple[str, NodeInfo]] = []
    plugins: set[str] = set(prepared.restricted_by)
    beyond: set[str] = set()
    for name, info in nodes.items():
        refused = refusal(rules, world, prepared, info)
        if refused is None:
            feasible.append((name, info))
            continue
        if refused.error:
            return Placement(error=refused.reason)
        plugins.add(refused.plugin)
        beyond.update(filter(None, [refused.beyond]))
    if not feasible:
        return Placement(plugins=tuple(sorted(plugins)), beyond=tuple(sorted(beyond)))
    chosen = best(pod, feasible, len(nodes), snapshot, world.settings)
    beyond.update(() if chosen.exact else (EARLY_STOP,))
    return Placement(chosen.nodes, beyond=tuple(sorted(beyond)))


def refusal(rules: Rules, world: World, prepared: Prepared, info: NodeInfo) -> Rejection | None:
    """Why the node is refused, with or without the pods nominated to it; None if it is not (CYCLE-14).

    Only nominations of pods that wait in the queue are seen, so none of the group that is tried: a sibling counts where
    this cycle places it, and one that the cycle dropped does not.
    """
    if world.nominations and info.node is not None:
        pod, crowded, recounted = prepared.pod, info, prepared
        for key, target in world.nominations.items():
            other = world.pods.get(key)
            if target != info.node.name or key == pod.key or other is None or world.entry(key) is None:
                continue
            if rules.heed(world, pod, other):
                crowded = with_pod(crowded, other)
                recounted = recount(recounted, other, info.node, 1)
        refused = rejection(recounted, crowded) if crowded is not info else None
        if refused is not None:
            return refused
    return rejection(prepared, info)


def heed(world: World, pod: Pod, nominated: Pod) -> bool:
    """Whether the pod leaves room for one that is nominated: one no weaker than itself (CYCLE-14)."""
    return strength(world, nominated) >= strength(world, pod)


def try_member(rules: Rules, world: World) -> tuple[World, ...]:
    """The next member is assumed at its place, asks for one, or fails (CYCLE-17 to CYCLE-22).

    One world for each tie: of nodes, and of victims.
    """
    cycle, seen = running(world)
    pod = cycle.members[len(cycle.results)]
    placement = rules.place(rules, world, cycle, pod)
    world = note(world, *placement.beyond)
    if placement.error:
        return _after(rules, world, cycle, Result(pod.key, error=placement.error), seen)
    if placement.nodes:
        return tuple(
            after
            for node in placement.nodes
            for after in _assumed(rules, world, cycle, pod, Result(pod.key, node))
        )
    return tuple(
        after
        for asked, ends in _freeing(rules, world, cycle, pod)
        for after in _without_a_place(rules, asked, pod, placement, ends)
    )


def _freeing(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[tuple[World, bool], ...]:
    """What DynamicResources does for a pod without a place, and whether that ends the chain (CYCLE-17, CLAIM-28).

    Where there are no nodes at all no PostFilter is asked.
    """
    if cycle.trial or not pod.resource_claims or not (cycle.snapshot and cycle.snapshot.nodes):
        return ((world, False),)
    return rules.free(rules, world, cycle, pod)


def _without_a_place(
    rules: Rules, world: World, pod: Pod, placement: Placement, ends: bool
) -> tuple[World, ...]:
    cycle, seen = running(world)
    asked = () if cycle.trial or ends else rules.ask(rules, world, cycle, pod)
    if not asked:
        return _after(rules, world, cycle, Result(pod.key, plugins=placement.plugins), seen)
    return tuple(
        after
        for wish in asked
        for after in _assumed(
            rules,
            note(world, *wish.beyond),
            cycle,
            pod,
            Result(pod.key, wish.node, placement.plugins, victims=wish.victims),
        )
    )


def _assumed(rules: Rules, world: World, cycle: Cycle, pod: Pod, result: Result) -> tuple[World, ...]:
    """The member is assumed on its node and reserves its claims; an Error of Permit undoes it (CYCLE-19, CYCLE-21).

    In *intended* the victims that it asks for are out of the snapshot from here on (DEV-15).
    """
    _, before = running(world)
    node = result.node or ""
    assumed = rules.assume(rules, rules.displace(before, result.victims), pod, node)
    if pod.resource_claims:
        result = evolve(result, holds=holds_of(rules, world, before, pod, node))
        assumed = with_claims(assumed, rules.reserve(assumed.claims.in_flight, result.holds))
    world, answer = rules.permit(rules, world, assumed.members, pod)
    if answer == "Error":
        error = f"podgroup {pod.group} not found"
        return _after(rules, world, cycle, Result(pod.key, error=error, victims=result.victims), before)
    return _after(rules, world, cycle, result, assumed)


def holds_of(rules: Rules, world: World, seen: Snapshot, pod: Pod, node: str) -> Table[Hold]:
    """What the member takes along to be written into its claims."""
    wanted, there = prefilter(pod, seen.claims), seen.nodes[node].node
    if wanted is None or there is None:
        return NO_HOLDS
    return rules.hold(wanted, pod, there, world.groups.get(pod.group or ""))


def with_claims(snapshot: Snapshot, in_flight: Table[InFlight]) -> Snapshot:
    """The snapshot with these allocations in flight."""
    return evolve(snapshot, claims=evolve(snapshot.claims, in_flight=in_flight))


def displace(snapshot: Snapshot, victims: tuple[str, ...]) -> Snapshot:
    """The snapshot for the members after one that asks for these victims: they are gone (intended: DEV-15)."""
    for victim in victims:
        snapshot = lift(snapshot, victim, node_of(snapshot, victim))
    return snapshot


def node_of(snapshot: Snapshot, pod: str) -> str:
    """The node that the pod is on in the snapshot; a KeyError if it is on none."""
    for name, info in snapshot.nodes.items():
        if pod in info.pods:
            return name
    raise KeyError(pod)


def _after(rules: Rules, world: World, cycle: Cycle, result: Result, seen: Snapshot) -> tuple[World, ...]:
    """The member has its result; after the last one, or an error, the verdict is due.

    Nothing else ends the walk, also not that the minimum is out of reach (CYCLE-32).
    """
    cycle = evolve(cycle, results=(*cycle.results, result), snapshot=seen)
    if len(cycle.results) < len(cycle.members) and not result.error:
        return (evolve(world, cycle=cycle),)
    if cycle.domains and not result.error:
        return (evolve(world, cycle=evolve(cycle, stage="weighing")),)
    code = rules.verdict(rules, world, cycle)
    return _decided(rules, world, evolve(cycle, code=code, snapshot=undo_all(rules, cycle)))


def weigh(rules: Rules, world: World) -> tuple[World, ...]:
    """The domain just tried is held against those before; the next one is due, or the verdict (PLACE-10 to 22).

    One world for each choice among domains that weigh the same.
    """
    cycle, _ = running(world)
    code = rules.verdict(rules, world, cycle)
    seen, number = undo_all(rules, cycle), cycle.visited + 1
    after: list[World] = []
    for left in ahead(cycle.ahead, visit(cycle, code), world.settings.rank):
        if number < len(cycle.domains or ()):
            following = evolve(cycle, stage="placing", snapshot=seen, results=(), visited=number, ahead=left)
            after.append(evolve(world, cycle=following))
            continue
        for winner in winners(left):
            chosen = evolve(
                cycle,
                snapshot=seen,
                results=winner.results,
                code=winner.code,
                visited=winner.domain,
                ahead=(),
            )
            after.extend(_decided(rules, world, chosen))
    return tuple(dict.fromkeys(after))


def _decided(rules: Rules, world: World, cycle: Cycle) -> tuple[World, ...]:
    """The cycle has its verdict, and its snapshot is as it was taken; a group that falls short may preempt.

    After Success nobody does, though members failed (PREEMPT-10).
    """
    code = cycle.code
    assert code is not None
    decided = evolve(cycle, stage="submitting", message=explain(world, cycle, code))
    if code == "Waiting":
        kept = [r for r in cycle.results if r.node is not None]
        decided = evolve(
            decided,
            victims=tuple({v: r.pod for r in reversed(kept) for v in r.victims}.items()),
            plan=Table({r.pod: r.node or "" for r in kept}),
        )
    if code != "Unschedulable" or cycle.trial or cycle.group is None:
        return (evolve(world, cycle=decided),)
    return tuple(
        evolve(note(world, *outcome.beyond), cycle=evolve(outcome, beyond=()))
        for outcome in rules.ask_as_group(rules, world, decided)
    )


def undo_all(rules: Rules, cycle: Cycle) -> Snapshot:
    """The cycle's snapshot with every kept member and every lifted victim back as before, in reverse (CYCLE-23)."""
    seen, taken = cycle.snapshot, cycle.taken
    assert seen is not None and taken is not None
    members = {pod.key: pod for pod in cycle.members}
    for kept in reversed(cycle.results):
        if kept.node is None:
            continue
        if kept.holds:
            seen = with_claims(seen, rules.unreserve(seen.claims.in_flight, kept.holds))
        seen = rules.undo(rules, seen, members[kept.pod], kept.node)
        for victim in kept.victims:
            node = node_of(taken, victim)
            if victim not in seen.nodes[node].pods:
                seen = put_back(seen, taken.nodes[node].pods[victim], node)
    return seen


def group_object(world: World, cycle: Cycle) -> PodGroup | None:
    """The PodGroup that the cycle is for, if it is for one and the object exists now: it is not kept (CYCLE-03)."""
    return world.groups.get(cycle.group) if cycle.group is not None else None


def verdict(rules: Rules, world: World, cycle: Cycle) -> Code:
    """What the tried members come to (CYCLE-25 to CYCLE-29): an error, too few, a wait for victims, or Success.

    The member sets in the cycle's snapshot count both the members placed before, which is all that these are
    asked for (CYCLE-30), and those kept now. Without GangScheduling there is no minimum (API-04).
    """
    if any(result.error for result in cycle.results):
        return "Error"
    if not any(result.kept for result in cycle.results):
        return "Unschedulable"
    group = group_object(world, cycle)
    if group is not None and world.settings.gates.gang_scheduling:
        assert cycle.snapshot is not None
        if not rules.quorum(cycle.snapshot.members, group, "placed"):
            return "Unschedulable"
    return "Waiting" if any(result.victims for result in cycle.results) else "Success"


def explain(world: World, cycle: Cycle, code: Code) -> str:
    """The message of the group's condition (CYCLE-50 and the list of messages under CYCLE-57)."""
    if code == "Success":
        return ""
    if code == "Error":
        error = next(result.error for result in cycle.results if result.error)
        return f"failed to schedule other pod from a pod group: {error}"
    if code == "Waiting":
        return f"{UNSCHEDULABLE}, {WAITING}"
    if cycle.domains == ():
        return NO_DOMAIN
    if cycle.group is not None and world.settings.gates.topology_aware_workload_scheduling:
        tried = len(cycle.domains) if cycle.domains else 1
        return f"0/{tried} placements are available, first placement status: {UNSCHEDULABLE}"
    return UNSCHEDULABLE


def kept_and_minimum(world: World, cycle: Cycle) -> tuple[int, int, int]:
    """The numbers that decide a gang's cycle: placed before, kept now, minimum (CYCLE-26)."""
    assert cycle.taken is not None
    group = group_object(world, cycle)
    before = count(cycle.taken.members, "placed")
    kept = sum(result.kept for result in cycle.results)
    gangs = world.settings.gates.gang_scheduling
    return before, kept, (group.min_count or 0) if group is not None and gangs else 0
