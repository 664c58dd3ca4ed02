"""What happens without the doing of any component of the control plane: users, kubelets, nodes, another scheduler.

What is left of it stands in the `Environment`, so that it comes to an end.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.api import bind, delete, finish
from gangproof.impl.controllers.collect import of_lost_nodes
from gangproof.impl.gates import Object
from gangproof.impl.recreate import created, recreations
from gangproof.impl.restart import restarts
from gangproof.impl.rules import Rules
from gangproof.impl.store import SCHEDULER, kind_of, stored
from gangproof.impl.world import Move, World


def outside(rules: Rules, world: World) -> Iterator[Move]:
    """What may still come: the next object, a deletion, the end of a pod or of a node, a bind by somebody else."""
    environment = world.environment
    if environment.kubelet:
        for key, pod in stored(world, "pod").items():
            if pod.terminating and pod.node_name is not None and not pod.finalizers:
                yield "end", (f"pod/{key}",), delete(rules, world, "pod", key)
    arrivals = environment.arrivals
    for index, obj in enumerate(arrivals if environment.any_order else arrivals[:1]):
        left = evolve(environment, arrivals=(*arrivals[:index], *arrivals[index + 1 :]))
        yield created(rules, evolve(world, environment=left), obj)
    if environment.again or environment.recreations:
        yield from recreations(rules, world)
    if environment.deletions:
        yield from _deletions(rules, world)
    if environment.successes or environment.crashes:
        yield from _ends(rules, world)
    if environment.foreign_binds:
        yield from _foreign_binds(rules, world)
    if environment.lost_nodes:
        for name in stored(world, "node"):
            yield "lose", (f"node/{name}",), delete(rules, _spent(world, "lost_nodes"), "node", name)
    if environment.pod_gc:
        yield from of_lost_nodes(rules, world)
    if environment.restarts and not any(name.startswith(SCHEDULER) for name in world.control.behind):
        yield from restarts(rules, _spent(world, "restarts"))


def name_of(obj: Object) -> str:
    """An object's kind and key, as actions and scenarios write it."""
    return f"{kind_of(obj)}/{obj.key}"


def _spent(world: World, what: str) -> World:
    left = getattr(world.environment, what) - 1
    return evolve(world, environment=evolve(world.environment, **{what: left}))


def _deletions(rules: Rules, world: World) -> Iterator[Move]:
    """A user deletes a pod or a group, or a Job or its Workload (ACT-02, ACT-03)."""
    spent = _spent(world, "deletions")
    kinds = ("pod", "podGroup", "job", "workload") if stored(world, "job") else ("pod", "podGroup")
    for kind in kinds:
        for key in stored(world, kind):
            yield "delete", (f"{kind}/{key}",), delete(rules, spent, kind, key)


def _ends(rules: Rules, world: World) -> Iterator[Move]:
    """A running pod ends by itself, well or not (ACT-06)."""
    environment = world.environment
    for key, pod in stored(world, "pod").items():
        if pod.node_name is None or pod.terminal or pod.terminating:
            continue
        if environment.successes:
            yield "finish", (f"pod/{key}",), finish(rules, _spent(world, "successes"), key, succeeded=True)
        if environment.crashes:
            yield "crash", (f"pod/{key}",), finish(rules, _spent(world, "crashes"), key, succeeded=False)


def _foreign_binds(rules: Rules, world: World) -> Iterator[Move]:
    """Another scheduler binds a pending pod to a node that has room for it as the objects say (ACT-09)."""
    spent = _spent(world, "foreign_binds")
    pods, nodes = stored(world, "pod"), stored(world, "node")
    for key, pod in pods.items():
        if pod.node_name is not None or pod.terminating or pod.terminal or pod.scheduling_gates:
            continue
        for name, node in nodes.items():
            there = [other for other in pods.values() if other.node_name == name and not other.terminal]
            if all(
                sum(other.requests.get(resource, 0) for other in there) + amount
                <= node.allocatable.get(resource, 0)
                for resource, amount in pod.requests.items()
            ):
                yield "foreign-bind", (key, name), bind(rules, spent, key, name)
