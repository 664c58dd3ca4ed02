"""Eviction calls: what becomes of a victim when its call ends, well or not (PREEMPT-30, PREEMPT-31)."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.api import afterwards, evict
from gangproof.impl.commit import give_up
from gangproof.impl.cycle_state import Cycle, Result
from gangproof.impl.limits import FAILED_IN_CYCLE, HELD_IN_CYCLE, note
from gangproof.impl.memory import Round
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.rounds import held_by_a_cycle, is_going, preemptors
from gangproof.impl.queue import activate
from gangproof.impl.rules import Rules
from gangproof.impl.store import stored
from gangproof.impl.table import Table, added, removed
from gangproof.impl.world import World

Call = tuple[str, str]
"""An eviction call: the victim, and the caller as `Round` names it."""


def open_calls(running: Round) -> tuple[Call, ...]:
    """The calls of a round that may end now: of each caller's all but the last at once, then the last (CHO-12)."""
    made: dict[str, list[Call]] = {}
    for call in running.calls:
        made.setdefault(call[1], []).append(call)
    return tuple(call for calls in made.values() for call in (calls[:-1] or calls))


def end_call(rules: Rules, world: World, entity: str, call: Call, ok: bool) -> World:
    """The eviction call ends; a victim that is gone counts as done.

    If one of a caller's first calls failed, the last one is not made; when its calls are over, whoever waited for them
    is activated (PREEMPT-31). Whom nobody evicts is no victim any more; another caller may have succeeded before.
    """
    running = world.rounds[entity]
    victim, caller = call
    uid = dict(running.victims)[victim]
    cycle = world.cycle if held_by_a_cycle(world, entity) else None
    failed = added(running.failed, caller) if not ok and cycle is None else running.failed
    left = tuple(other for other in running.calls if other != call)
    mine = [other for other in left if other[1] == caller]
    skipped = mine if len(mine) == 1 and caller in failed else []
    left = tuple(other for other in left if other not in skipped)
    unmade = skipped if ok else [call, *skipped]
    spared = {pod for pod, _ in unmade} - {pod for pod, _ in left}
    victims = tuple(v for v in running.victims if v[0] not in spared or is_going(world, *v))
    wakes = caller in failed and not any(who == caller for _, who in left)
    failed = removed(failed, caller) if wakes else failed
    running = evolve(running, victims=victims, calls=left, failed=failed)
    world = evolve(world, rounds=world.rounds.put(entity, running))
    pod: Pod | None = stored(world, "pod").get(victim)
    if ok and rules.target(pod, uid):
        world = rules.preempt(rules, world, victim)
    else:
        world = afterwards(rules, world, world)
    if not ok and cycle is not None:
        return _fail_in_cycle(world, cycle, victim)
    if wakes:
        return activate(rules, world, (caller,) if running.group is None else preemptors(world, running))
    return world


def target(pod: Pod | None, uid: int) -> bool:
    """Whether an eviction call strikes the pod that has the victim's name: if it is the victim (intended: DEV-59)."""
    return pod is not None and pod.uid == uid


def calls_come_first(world: World, cycle: Cycle) -> bool:
    """Whether eviction calls are due before the members are told: without SchedulerAsyncPreemption (PREEMPT-32)."""
    asked = cycle.victims or any(result.victims for result in cycle.results)
    return bool(asked) and not cycle.called and not world.settings.gates.scheduler_async_preemption


def call_in_cycle(rules: Rules, world: World, cycle: Cycle) -> World:
    """The eviction calls of the verdict are open, and the cycle waits for them (PREEMPT-32).

    They are parallel; in which order they end shows nowhere, so it is theirs. That one is held open by a scenario, or
    that one of a group's member fails while the others are still to be tried, is not modelled.
    """
    cycle = evolve(cycle, called=True)
    world = rules.evict(rules, evolve(world, cycle=cycle), cycle)
    environment, calls = world.environment, [f"delete/{victim}" for victim, _ in calls_of_cycle(world, cycle)]
    if any(call in environment.held for call in calls):
        world = note(world, HELD_IN_CYCLE)
    by_member = cycle.group is not None and not world.settings.gates.workload_aware_preemption
    if by_member and any(call in environment.failing for call in calls):
        world = note(world, FAILED_IN_CYCLE)
    return world


def calls_of_cycle(world: World, cycle: Cycle) -> tuple[Call, ...]:
    """The open calls that the cycle waits for."""
    return calls_for(world, cycle.preemptor) if held_by_a_cycle(world, cycle.preemptor) else ()


def calls_for(world: World, preemptor: str) -> tuple[Call, ...]:
    """The open calls of the preemptor's round, none if it has no round."""
    running = world.rounds.get(preemptor)
    return running.calls if running is not None else ()


def _fail_in_cycle(world: World, cycle: Cycle, victim: str) -> World:
    """A call that the cycle waited for has failed: an error for a group (CYCLE-40), no place for a pod (CYCLE-17).

    The end of the other evictions wakes nobody: who failed comes back by itself.
    """
    running = world.rounds[cycle.preemptor]
    unawaited = evolve(running, askers=(), group=None)
    world = evolve(world, rounds=world.rounds.put(cycle.preemptor, unawaited))
    if cycle.group is not None:
        failed = evolve(cycle, code="Error", message=f"the eviction of {victim} failed")
    else:
        rejected = tuple(evolve(result, node=None, victims=()) for result in cycle.results)
        failed = evolve(cycle, code="Unschedulable", results=rejected, plan=Table[str]())
    return evolve(world, cycle=evolve(failed, victims=()))


def preempt(rules: Rules, world: World, pod: str) -> World:
    """What an eviction does to a pod that exists: the place goes, or the pod is deleted (PREEMPT-30).

    Nothing is written to its group, and no other pod is touched (COND-04, PREEMPT-36).
    """
    binding = world.bindings.get(pod)
    if binding is not None and binding.call != "bind" and pod in world.assumed:
        ghost = evolve(world.ghost, sent_back=added(world.ghost.sent_back, pod))
        before = world
        world = give_up(rules, evolve(world, ghost=ghost), pod, Result(pod, error="preempted"))
        return afterwards(rules, before, world)
    world = evolve(world, ghost=evolve(world.ghost, evicted=added(world.ghost.evicted, pod)))
    return (
        afterwards(rules, world, world) if stored(world, "pod")[pod].terminating else evict(rules, world, pod)
    )
