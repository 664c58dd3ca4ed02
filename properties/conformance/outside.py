"""What the recorder does to the cluster, as changes of a world, and what its log shows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.api import ApiError, create, delete, finish, lookup, update
from gangproof.impl.gates import Object
from gangproof.impl.objects import Job, Pod
from gangproof.impl.outside import name_of
from gangproof.impl.recreate import set_by_others
from gangproof.impl.rules import Rules
from gangproof.impl.store import kind_of
from gangproof.impl.world import Environment, World
from gangproof.properties.conformance.events import Deleted, Ended, Observed
from gangproof.properties.conformance.recording import Alter, Calls, End, Reap, Remove
from gangproof.properties.conformance.standing import BeyondError
from gangproof.properties.scenarios.document import Create, Delete
from gangproof.properties.scenarios.records import Created, Ref, Refused

Outside = Create | Alter | Delete | Remove | Reap | End | Calls
Change = Callable[[World], tuple[Action, World, tuple[Observed, ...]]]
"""From a world to how the change is told, the world after it, and what the recorder logs of it.

An ApiError says that the cluster refuses it.
"""

FIRST = "/@"
"""Stands for the name of the first pod that is terminating, if there is one."""
CALLS = ("permit", "prebind", "bind", "delete", "generate", "record")
"""The calls that the model can hold open or let fail; the last two are the claim controller's."""


def changes(step: Outside, world: World, rules: Rules) -> Iterator[Change]:
    """The changes of a step, one after another; `world` is the one that the step begins in."""
    match step:
        case Create(objects=objects):
            yield from (_creation(obj, rules) for obj in objects)
        case Alter(objects=objects):
            yield from (_alteration(obj, rules) for obj in objects)
        case Delete(objects=refs):
            yield from (_deletion(ref, rules) for ref in refs)
        case Remove(pods=pods):
            yield from (_removal(pod, rules) for pod in pods)
        case Reap():
            yield from (_removal(pod.key, rules) for pod in world.pods.values() if pod.terminating)
        case End(pods=pods, phase=phase):
            yield from (_ending(pod, phase == "Succeeded", rules) for pod in pods)
        case Calls():
            yield _calls(step)


def _creation(obj: Created, rules: Rules) -> Change:
    """The cluster admits whatever has a name of its own; what a real API would refuse is beyond it."""
    if isinstance(obj, Refused | Job):
        raise BeyondError(f"a {type(obj).__name__}")
    wanted: Object = obj

    def change(world: World) -> tuple[Action, World, tuple[Observed, ...]]:
        refused = rules.admission(world, wanted, None)
        if refused is not None and lookup(world, kind_of(wanted), wanted.key) is None:
            raise BeyondError(f"an object that the API refuses: {refused}")
        return Action("create", (name_of(wanted),)), create(rules, world, wanted), ()

    return change


def _alteration(obj: Object, rules: Rules) -> Change:
    """The object as it is written, with what such a write cannot change."""

    def change(world: World) -> tuple[Action, World, tuple[Observed, ...]]:
        old = lookup(world, kind_of(obj), obj.key)
        if old is None:
            raise ApiError(f"{name_of(obj)} not found")
        try:
            after = update(rules, world, _kept(old, obj))
        except ApiError as refusal:
            raise BeyondError(f"an update that the API refuses: {refusal}") from None
        return Action("update", (name_of(obj),)), after, ()

    return change


def _kept(old: Object, new: Object) -> Object:
    """What is written, with what the control plane wrote before; a pod may get a node so, and cannot lose one."""
    kept = evolve(new, **{name: getattr(old, name) for name in set_by_others(old)})
    if isinstance(kept, Pod) and isinstance(new, Pod) and new.node_name is not None:
        return evolve(kept, node_name=new.node_name)
    return kept


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
    """The pod is gone at once, whatever would hold it."""

    def change(world: World) -> tuple[Action, World, tuple[Observed, ...]]:
        key = pod
        if FIRST in pod:
            key = next((other.key for other in world.pods.values() if other.terminating), pod)
        action, stored = Action("remove", (f"pod/{key}",)), world.pods.get(key)
        if stored is None:
            return action, world, ()
        free = evolve(stored, finalizers=(), termination_grace_period_seconds=0)
        return action, delete(rules, world.with_pod(free), "pod", key), ()

    return change


def _ending(pod: str, succeeded: bool, rules: Rules) -> Change:
    def change(world: World) -> tuple[Action, World, tuple[Observed, ...]]:
        after = finish(rules, world, pod, succeeded)
        ended = after.pods[pod]
        action = Action("finish" if succeeded else "crash", (f"pod/{pod}",))
        return action, after, (Ended(pod, ended.phase, ended.node_name),)

    return change


def _calls(step: Calls) -> Change:
    names: list[str] = []
    for call in step.calls:
        kind, _, pod = call.partition("/")
        if kind not in CALLS:
            raise BeyondError(f"calls to {kind}")
        names.append(f"{kind}/{pod if '/' in pod else f'default/{pod}'}")

    def change(world: World) -> tuple[Action, World, tuple[Observed, ...]]:
        environment = _told(world.environment, step.what, set(names))
        return Action(step.what, tuple(names)), evolve(world, environment=environment), ()

    return change


def _told(environment: Environment, what: str, calls: set[str]) -> Environment:
    match what:
        case "hold":
            return evolve(environment, held=tuple(sorted({*environment.held, *calls})))
        case "release":
            return evolve(environment, held=tuple(sorted({*environment.held} - calls)))
        case _:
            return evolve(environment, failing=tuple(sorted({*environment.failing, *calls})))
