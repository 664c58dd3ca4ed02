"""Calls that a scheduler sent before it started anew: which there are, and which can take effect no more (ACT-30)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from attrs import evolve

from gangproof.impl.control import Sent
from gangproof.impl.objects import Pod
from gangproof.impl.rules import Rules
from gangproof.impl.store import stored
from gangproof.impl.world import World


def under_way(rules: Rules, world: World) -> tuple[Sent, ...]:
    """The calls that are on their way and may take effect: binds, and evictions that have begun."""
    sent = set(world.control.sent)
    for key, binding in world.bindings.items():
        pod = world.pods.get(key)
        if binding.call == "bind" and pod is not None:
            sent.add(Sent("bind", key, pod.uid, binding.node))
    for running in world.rounds.values():
        uids = dict(running.victims)
        sent.update(Sent("delete", victim, uids[victim]) for victim, _ in running.calls)
    hopeful = (call for call in sent if not rules.moot(world, call))
    return tuple(sorted(hopeful, key=lambda s: (s.call, s.pod, s.uid, s.node)))


def losses(sent: tuple[Sent, ...]) -> Iterator[tuple[Sent, ...]]:
    """The calls of which nothing comes, in every way; first that none is lost.

    That a call is lost shows nowhere but in that it takes no effect, so it is lost when the scheduler starts anew.
    """
    for number in range(len(sent) + 1):
        yield from combinations(sent, number)


def moot(world: World, sent: Sent) -> bool:
    """Whether the call can take effect no more, whatever comes (intended: DEV-59)."""
    pod: Pod | None = stored(world, "pod").get(sent.pod)
    if pod is None or pod.uid != sent.uid or pod.terminating:
        return True
    return sent.call == "bind" and (pod.node_name is not None or pod.terminal)


def without_moot(rules: Rules, world: World) -> World:
    """The world without the calls of which nothing can come any more."""
    sent = world.control.sent
    left = tuple(call for call in sent if not rules.moot(world, call))
    return world if left == sent else evolve(world, control=evolve(world.control, sent=left))
