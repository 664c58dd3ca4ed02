"""Garbage collection: objects go when all their owners are gone, and pods when their node is (SEMANTICS 2.5).

Who has no owner is never collected: a PodGroup that a user made stays until somebody deletes it (GC-11). The
garbage collector looks at what is stored before it deletes, so it never acts on an old view.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.api import afterwards, delete
from gangproof.impl.control import Revision
from gangproof.impl.objects import Pod
from gangproof.impl.rules import Rules
from gangproof.impl.store import stored
from gangproof.impl.views import write
from gangproof.impl.world import Move, World

COMPONENT = "garbage-collector"


def collections(rules: Rules, world: World) -> Iterator[Move]:
    """Each orphan may be deleted; one that is going already is left to whatever holds it (GC-10, ACT-29)."""
    for name in world.control.orphans:
        kind, _, key = name.partition("/")
        if not stored(world, kind)[key].terminating:
            yield "collect", (name,), delete(rules, world, kind, key, by=COMPONENT)


def of_lost_nodes(rules: Rules, world: World) -> Iterator[Move]:
    """Each pod whose node is gone may be ended and deleted, whatever grace it was given."""
    nodes = stored(world, "node")
    for key, pod in stored(world, "pod").items():
        if (
            pod.node_name is not None
            and pod.node_name not in nodes
            and not (pod.terminating and pod.terminal)
        ):
            yield "collect", (f"pod/{key}",), _ended(rules, world, pod)


def _ended(rules: Rules, world: World, pod: Pod) -> World:
    phase = pod.phase if pod.terminal else "Failed"
    failed = evolve(pod, phase=phase, termination_grace_period_seconds=0)
    before, world = world, write(rules, world, Revision("pod", pod.key, pod, failed))
    going = evolve(failed, terminating=True)
    after = going if going.finalizers else None
    return afterwards(rules, before, write(rules, world, Revision("pod", pod.key, failed, after)))
