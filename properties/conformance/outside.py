"""What the recorder does to the cluster, as changes of a world, and what its log shows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gangproof.impl.actions import Action
from gangproof.impl.api import ApiError, delete
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.conformance.events import Deleted, Observed
from gangproof.properties.conformance.recording import Reap, Remove
from gangproof.properties.conformance.standing import BeyondError
from gangproof.properties.scenarios.document import Create, Delete
from gangproof.properties.scenarios.records import Created, Ref
from gangproof.properties.scenarios.requests import requests

Outside = Create | Delete | Remove | Reap
Change = Callable[[World], tuple[Action, World, tuple[Observed, ...]]]
"""From a world to how the change is told, the world after it, and what the recorder logs of it."""


def changes(step: Outside, world: World, rules: Rules) -> Iterator[Change]:
    """The changes of a step, one after another; `world` is the one that the step begins in."""
    match step:
        case Create(objects=objects):
            yield from (_creation(obj, rules) for obj in objects)
        case Delete(objects=refs):
            yield from (_deletion(ref, rules) for ref in refs)
        case Remove(pods=pods):
            yield from (_removal(pod, rules) for pod in pods)
        case Reap():
            yield from (_removal(pod.key, rules) for pod in world.pods.values() if pod.terminating)


def _creation(obj: Created, rules: Rules) -> Change:
    ((action, create),) = requests(Create((obj,)), rules)

    def change(world: World) -> tuple[Action, World, tuple[Observed, ...]]:
        try:
            return action, create(world), ()
        except ApiError as refusal:
            raise BeyondError(f"an object that the API refuses: {refusal}") from None

    return change


def _deletion(ref: Ref, rules: Rules) -> Change:
    """What is not there is not deleted; deleting a terminating pod again does nothing."""

    def change(world: World) -> tuple[Action, World, tuple[Observed, ...]]:
        action = Action("delete", (f"{ref.kind}/{ref.key}",))
        if ref.kind != "pod":
            try:
                return action, delete(rules, world, ref.kind, ref.key), ()
            except ApiError:
                return action, world, ()
        pod = world.pods.get(ref.key)
        if pod is None:
            return action, world, ()
        after = world if pod.terminating else delete(rules, world, "pod", ref.key)
        return action, after, (Deleted(pod.key, pod.node_name),)

    return change


def _removal(pod: str, rules: Rules) -> Change:
    """The pod goes at once: it is deleted, and again as long as something holds it."""

    def change(world: World) -> tuple[Action, World, tuple[Observed, ...]]:
        stored = world.pods.get(pod)
        if stored is not None and stored.finalizers:
            raise BeyondError("removal of a pod with finalizers")
        while pod in world.pods:
            world = delete(rules, world, "pod", pod)
        return Action("remove", (f"pod/{pod}",)), world, ()

    return change
