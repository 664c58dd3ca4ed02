"""Two schedulers in one cluster, each for its own groups: what neither of them can see coming (THM-09).

Each has a world of its own with all objects in it, and sees at once what the other's binds did. What it does not see
is what the other has only promised. The API server accepts a bind whatever runs on the node; the kubelet then refuses
a pod that has no room left, and a controller makes that pod once more.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from gangproof.impl.actions import Action, Step, successors
from gangproof.impl.api import bind, create, finish
from gangproof.impl.bulk import world_of
from gangproof.impl.gates import Object
from gangproof.impl.ghost import counts
from gangproof.impl.objects import Pod
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import Settings, World

NAMES = ("default-scheduler", "other-scheduler")
AGAIN = "-again"


@frozen(cache_hash=True)
class Two:
    """The cluster as each of the two schedulers sees it."""

    one: World
    other: World


@frozen
class Pair:
    """Both schedulers, started when the objects have just been created; a `System`."""

    objects: tuple[Object, ...]

    def initial(self) -> tuple[Two]:
        one, other = (world_of(INTENDED, self.objects, Settings(profiles=(name,))) for name in NAMES)
        return (Two(one, other),)

    def key(self, state: Two, /) -> Two:
        return state

    def successors(self, state: Two, /) -> Iterator[tuple[Action, Two]]:
        for action, one in _own(state.one):
            yield action, Two(*_seen(one, state.other))
        for action, other in _own(state.other):
            one, after = reversed(_seen(other, state.one))
            yield action, Two(one, after)


def _own(world: World) -> list[Step]:
    return successors(world, INTENDED)


def _seen(acted: World, watches: World) -> tuple[World, World]:
    """Both worlds after one scheduler acted: the other sees who was bound, and the kubelet has its say."""
    for key, pod in acted.pods.items():
        then = watches.pods[key]
        if pod.node_name is None or then.node_name is not None:
            continue
        watches = bind(INTENDED, watches, key, pod.node_name)
        if _crowded(acted, pod.node_name):
            acted, watches = (finish(INTENDED, world, key, False) for world in (acted, watches))
            if not pod.name.endswith(AGAIN):
                fresh = evolve(pod, name=pod.name + AGAIN, uid=0, node_name=None, phase="Pending")
                acted, watches = (create(INTENDED, world, fresh) for world in (acted, watches))
    return acted, watches


def _crowded(world: World, node: str) -> bool:
    """Whether the pods that are bound to the node ask for more than it has."""
    here: list[Pod] = [p for p in world.pods.values() if p.node_name == node and counts(p)]
    return sum(p.requests.get("cpu", 0) for p in here) > world.nodes[node].allocatable["cpu"]
