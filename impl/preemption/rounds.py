"""A round: one preemption of a group or of a plain pod, from the decision until its victims are gone.

While it runs its preemptor waits, chooses nobody else, and keeps its nominations (SEMANTICS 0.5, round).
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from gangproof.impl.cycle_state import Cycle, Result
from gangproof.impl.memory import Round
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.preemption.nominate import set_nomination
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table, removed
from gangproof.impl.world import World


def evict(rules: Rules, world: World, cycle: Cycle) -> World:
    """The cycle's verdict names victims: their round begins, and their eviction calls are open (PREEMPT-31).

    Victims that are going already are named without a call. Without any victim there is no round. Nobody is
    evicted who left its place since the decision, nor for members that went since (INV-18).
    """
    as_a_whole = cycle.group is not None and world.settings.gates.workload_aware_preemption
    waiting = [pod.key for pod in cycle.members if _waits(world, pod)]
    named = tuple(
        (pod, asker)
        for pod, asker in cycle.victims
        if _on_node(world, pod) and (as_a_whole or asker in waiting)
    )
    if not named or (cycle.code == "Waiting" and not _suffices(rules, world, cycle, waiting)):
        return world
    askers = {pod.key for pod in cycle.members} if as_a_whole else {asker for _, asker in named}
    before = world.rounds.get(cycle.preemptor) or Round((), (), group=cycle.group if as_a_whole else None)
    calls = tuple(
        (pod, "" if as_a_whole else asker) for pod, asker in named if not world.pods[pod].terminating
    )
    begun = evolve(
        before,
        askers=tuple(sorted({*before.askers, *askers})),
        victims=tuple(dict.fromkeys((*before.victims, *((pod, world.pods[pod].uid) for pod, _ in named)))),
        calls=tuple(dict.fromkeys((*before.calls, *calls))),
    )
    world = evolve(world, rounds=world.rounds.put(cycle.preemptor, begun))
    if as_a_whole:
        return world
    at_once = not world.settings.gates.scheduler_async_preemption
    return _make_way(world, cycle, {asker for _, asker in (named if at_once else calls)})


def _make_way(world: World, cycle: Cycle, askers: set[str]) -> World:
    """Weaker pods nominated to the node that a pod evicts from lose their nomination (PREEMPT-35).

    With SchedulerAsyncPreemption only if there is a call to be made.

    A group evicts from no node in particular, so it takes nobody's (DEV-36).
    """
    mine = {pod.key for pod in cycle.members}
    asking = [result for result in cycle.results if result.pod in askers]
    for key in world.nominations:
        other = world.pods.get(key)
        if other is None or key in mine or other.nominated_node_name is None:
            continue
        if outranked(world, asking, other):
            world = set_nomination(world, key, None)
    return world


def outranked(world: World, results: Iterable[Result], nominated: Pod) -> bool:
    """Whether a stronger pod evicts from the node that this one is nominated to (PREEMPT-35)."""
    node = world.nominations.get(nominated.key)
    return any(
        (result.node or _place(world, result.victims[0])) == node
        and result.pod in world.pods
        and world.pods[result.pod].priority > nominated.priority
        for result in results
        if result.victims
    )


def _place(world: World, pod: str) -> str | None:
    return world.assumed.get(pod) or world.pods[pod].node_name


def _on_node(world: World, pod: str) -> bool:
    stored = world.pods.get(pod)
    return (
        stored is not None and not stored.terminal and (stored.node_name is not None or pod in world.assumed)
    )


def _waits(world: World, pod: Pod) -> bool:
    stored = world.pods.get(pod.key)
    if stored is None or stored.uid != pod.uid or stored.terminating or stored.terminal:
        return False
    return stored.node_name is None and pod.key not in world.assumed


def _suffices(rules: Rules, world: World, cycle: Cycle, waiting: list[str]) -> bool:
    """Whether those of the plan who still wait would be placed: somebody, and of a gang enough."""
    planned = [pod for pod in waiting if pod in cycle.plan]
    group = world.groups.get(cycle.group) if cycle.group is not None else None
    if cycle.group is None or not world.settings.gates.gang_scheduling:
        return bool(planned)
    sets = world.members_of(cycle.group)
    for pod in planned:
        sets = rules.members(sets, "assumed", pod)
    return bool(planned) and group is not None and rules.quorum(sets, group, "placed")


def preempting(world: World, pod: Pod) -> bool:
    """Whether the pod is kept out of the queue because its evictions are on their way (PREEMPT-33).

    Without SchedulerAsyncPreemption they are over when it comes back (PREEMPT-32).
    """
    if not world.rounds or not world.settings.gates.scheduler_async_preemption:
        return False
    return any(_under_way(world, running, running.caller(pod.key)) for running in running_for(world, pod))


def running_for(world: World, pod: Pod) -> tuple[Round, ...]:
    """The rounds in which the pod asked, or its group as a whole, if the object is there (PREEMPT-33)."""
    return tuple(
        running
        for running in world.rounds.values()
        if (
            pod.key in running.askers
            if running.group is None
            else pod.group == running.group and running.group in world.groups
        )
    )


def preemptors(world: World, over: Round) -> tuple[str, ...]:
    """Whom the end of the round concerns: those that asked, and if their group did, every pending member."""
    siblings = world.members_of(over.group).unsched if over.group is not None else ()
    return tuple(dict.fromkeys((*over.askers, *siblings)))


def _under_way(world: World, running: Round, caller: str) -> bool:
    calls = running.called(caller)
    if len(calls) != 1 or caller in running.unbegun:
        return bool(calls)
    last = world.pods.get(calls[0])
    return last is not None and not last.terminating


def begin(world: World, preemptor: str, caller: str) -> World:
    """The caller's last call begins: from here on the guard looks at that victim (PREEMPT-33)."""
    running = world.rounds[preemptor]
    return evolve(
        world,
        rounds=world.rounds.put(preemptor, evolve(running, unbegun=removed(running.unbegun, caller))),
    )


def end_rounds(rules: Rules, world: World) -> World:
    """Rounds whose calls have ended and whose victims are gone are over, and wake their preemptor (LIVE-06, ACT-23).

    One that a cycle waits for does not end before the cycle does (PREEMPT-32).
    """
    for entity, running in world.rounds.items():
        if running.calls or any(is_going(world, *victim) for victim in running.victims):
            continue
        if not held_by_a_cycle(world, entity):
            world = rules.resume(rules, evolve(world, rounds=world.rounds.drop(entity)), running)
    return world


def held_by_a_cycle(world: World, preemptor: str) -> bool:
    """Whether a cycle runs that waits for its eviction calls: without SchedulerAsyncPreemption (PREEMPT-32)."""
    cycle = world.cycle
    if cycle is None or world.settings.gates.scheduler_async_preemption:
        return False
    return cycle.called and cycle.preemptor == preemptor


def forsake(rules: Rules, before: World, after: World) -> World:
    """Evictions for a pod or a group that is gone go on for nobody: one of the same name did not ask (PREEMPT-33).

    Members of a group that is gone wait for them no longer.
    """
    if not after.rounds or (before.pods is after.pods and before.groups is after.groups):
        return after
    for entity, running in after.rounds.items():
        left, owner = running, before.groups.get(running.group or "")
        lost = f"{entity}#{owner.uid}" if owner is not None and _lost(owner, after.groups) else ""
        for asker in running.askers:
            pod = before.pods.get(asker)
            if pod is not None and _lost(pod, after.pods):
                left = _forsaken(left, asker, f"{asker}#{pod.uid}")
                lost = f"{entity}#{pod.uid}" if entity == f"={asker}" else lost
        rounds = after.rounds.put(entity, left)
        if lost:
            orphan = evolve(left, askers=(), group=None)
            rounds = rounds.drop(entity) if not left.calls else rounds.drop(entity).put(lost, orphan)
        after = evolve(after, rounds=rounds)
        if lost and running.group is not None:
            after = rules.resume(rules, after, running)
    return after


def _lost(obj: Pod | PodGroup, now: Table[Pod] | Table[PodGroup]) -> bool:
    """Whether the object is gone, whoever has its name now."""
    stored = now.get(obj.key)
    return stored is None or stored.uid != obj.uid


def _forsaken(running: Round, asker: str, was: str) -> Round:
    """The round without an asker that is gone; its calls go on under the name that it `was`."""
    return evolve(
        running,
        askers=removed(running.askers, asker),
        calls=tuple((victim, was if caller == asker else caller) for victim, caller in running.calls),
        unbegun=tuple(was if caller == asker else caller for caller in running.unbegun),
        failed=tuple(was if caller == asker else caller for caller in running.failed),
    )


def is_going(world: World, pod: str, uid: int) -> bool:
    """Whether the victim is there and was told to go."""
    stored = world.pods.get(pod)
    return stored is not None and stored.uid == uid and stored.terminating
