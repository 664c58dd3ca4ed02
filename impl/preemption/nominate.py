"""Nominations: a reserved place for who waits until victims are gone (SEMANTICS 0.5, nomination rule).

In *intended* the nominations of a group come from one plan and last while its own round runs; every other
failure removes them and leaves no entry (DEV-18, DEV-37, DEV-51).
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from gangproof.impl.cycle_state import Cycle
from gangproof.impl.objects import Pod
from gangproof.impl.rules import Rules
from gangproof.impl.store import patch
from gangproof.impl.world import World


def nominate(world: World, cycle: Cycle) -> World:
    """The nominations that the verdict of the cycle leaves its members with (CYCLE-45 to CYCLE-49)."""
    waiting = [pod for pod in cycle.members if pod.key not in world.assumed]
    if cycle.code == "Waiting" and cycle.preemptor in world.rounds:
        for pod in waiting:
            world = set_nomination(world, pod.key, cycle.plan.get(pod.key))
        return world
    if cycle.preemptor in world.rounds:
        return world
    return cleared(world, (pod.key for pod in waiting))


def cleared(world: World, pods: Iterable[str]) -> World:
    """The world in which none of the pods is nominated."""
    for pod in pods:
        world = set_nomination(world, pod, None)
    return world


def set_nomination(world: World, pod: str, node: str | None) -> World:
    """The pod nominated to the node, in the API and in memory, or to none; only who still waits can be."""
    stored: Pod | None = world.pods.get(pod)
    if stored is None or stored.node_name is not None or stored.terminating or stored.terminal:
        return evolve(world, nominations=world.nominations.drop(pod))
    if stored.nominated_node_name != node:
        world = patch(world, "pod", pod, nominated_node_name=node)
    nominations = world.nominations.drop(pod) if node is None else world.nominations.put(pod, node)
    return evolve(world, nominations=nominations)


def drop_stale(rules: Rules, world: World) -> World:
    """A group that is gone or below its minimum at the gate keeps no nominations, nor does one without a plan."""
    for key in world.nominations:
        pod = world.pods.get(key)
        if pod is None or pod.group is None or not world.settings.gates.gang_scheduling:
            continue
        group = world.groups.get(pod.group)
        if group is None or not rules.quorum(world.members_of(pod.group), group, "gate"):
            world = cleared(world, (key,))
    return world
