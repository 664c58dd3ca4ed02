"""A round: one preemption of a group or of a plain pod, from the decision until its victims are gone.

While it runs its preemptor waits, chooses nobody else, and keeps its nominations (SEMANTICS 0.5, round).
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.objects import Pod
from gangproof.impl.rules import Rules
from gangproof.impl.world import Cycle, Round, World, removed


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
    before = world.rounds.get(cycle.preemptor) or Round((), ())
    calls = tuple(
        (pod, "" if as_a_whole else asker) for pod, asker in named if not world.pods[pod].terminating
    )
    begun = Round(
        askers=tuple(sorted({*before.askers, *askers})),
        victims=tuple(dict.fromkeys((*before.victims, *((pod, world.pods[pod].uid) for pod, _ in named)))),
        calls=tuple(dict.fromkeys((*before.calls, *calls))),
    )
    return evolve(world, rounds=world.rounds.put(cycle.preemptor, begun))


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
    """Whether the pod is kept out of the queue because its evictions are on their way (PREEMPT-33)."""
    return any(_under_way(world, running, pod.key) for running in running_for(world, pod))


def running_for(world: World, pod: Pod) -> tuple[Round, ...]:
    """The rounds in which the pod is one of those that asked."""
    return tuple(running for running in world.rounds.values() if pod.key in running.askers)


def _under_way(world: World, running: Round, asker: str) -> bool:
    calls = running.called(asker)
    if len(calls) != 1 or asker in running.unbegun:
        return bool(calls)
    last = world.pods.get(calls[0])
    return last is not None and not last.terminating


def begin(world: World, preemptor: str, asker: str) -> World:
    """The last call for the asker begins: from here on the guard looks at that victim (PREEMPT-33)."""
    running = world.rounds[preemptor]
    return evolve(
        world,
        rounds=world.rounds.put(preemptor, evolve(running, unbegun=removed(running.unbegun, asker))),
    )


def end_rounds(rules: Rules, world: World) -> World:
    """Rounds whose calls have ended and whose victims are gone are over, and wake their preemptor (LIVE-06, ACT-23)."""
    for entity, running in world.rounds.items():
        if not running.calls and not any(_is_going(world, *victim) for victim in running.victims):
            world = rules.resume(rules, evolve(world, rounds=world.rounds.drop(entity)), running)
    return world


def _is_going(world: World, pod: str, uid: int) -> bool:
    stored = world.pods.get(pod)
    return stored is not None and stored.uid == uid and stored.terminating
