"""What users ask of the API in a scenario: how a request is told in a trace, what it does, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.api import ApiError, create, delete, finish, lookup, update
from gangproof.impl.gates import Object
from gangproof.impl.objects import Pod
from gangproof.impl.outside import name_of
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.scenarios.course import Refusal, Run
from gangproof.properties.scenarios.document import Change, Create, Delete, Finish, Update
from gangproof.properties.scenarios.records import Created, Ref, Refused

QUANTITIES = frozenset({"requests", "scoring_requests", "allocatable"})
"""Attributes whose quantities are changed one by one; any other attribute is replaced."""

Requested = tuple[Action, Callable[[World], World]]


def requests(step: Create | Delete | Update | Finish, rules: Rules) -> Iterator[Requested]:
    """The requests of a step: how each is told in a trace, and what it does to a world."""
    match step:
        case Create(objects=objects):
            for obj in objects:
                yield _creation(obj, rules)
        case Delete(objects=refs):
            for ref in refs:
                yield Action("delete", (f"{ref.kind}/{ref.key}",)), _deletion(ref, rules)
        case Update(changes=changes):
            for change in changes:
                ref = change.ref
                yield Action("update", (f"{ref.kind}/{ref.key}", *change.values)), _replacement(change, rules)
        case Finish(pods=pods, phase=phase):
            for pod in pods:
                name = "finish" if phase == "Succeeded" else "crash"
                yield Action(name, (f"pod/{pod}",)), _ending(pod, phase == "Succeeded", rules)


def put(step: Create | Delete | Update | Finish, run: Run, rules: Rules) -> tuple[Run, tuple[Refusal, ...]]:
    """The run after a step's requests; one that the API refuses changes nothing and is remembered."""
    refused: list[Refusal] = []
    for action, change in requests(step, rules):
        try:
            run = run.then(action, change(run.world))
        except ApiError as refusal:
            refused.append((_ref(action), str(refusal)))
    return run, tuple(refused)


def _ref(action: Action) -> Ref:
    kind, _, key = action.args[0].partition("/")
    return Ref(kind, key)  # pyright: ignore[reportArgumentType] (the kind was taken from a Ref or an object)


def _creation(obj: Created, rules: Rules) -> Requested:
    if isinstance(obj, Refused):
        message = obj.message

        def refuse(_: World) -> World:
            raise ApiError(message)

        return Action("create", (f"{obj.ref.kind}/{obj.ref.key}",)), refuse
    return Action("create", (name_of(obj),)), lambda world: create(rules, world, _started(world, obj))


def _started(world: World, obj: Object) -> Object:
    """A pod that runs from the start started later than those before it, unless the scenario says when."""
    if isinstance(obj, Pod) and obj.node_name is not None and obj.start_time is None:
        return evolve(obj, start_time=world.births)
    return obj


def _deletion(ref: Ref, rules: Rules) -> Callable[[World], World]:
    return lambda world: delete(rules, world, ref.kind, ref.key)


def _ending(pod: str, succeeded: bool, rules: Rules) -> Callable[[World], World]:
    return lambda world: finish(rules, world, pod, succeeded)


def _replacement(change: Change, rules: Rules) -> Callable[[World], World]:
    def replace(world: World) -> World:
        old = lookup(world, change.ref.kind, change.ref.key)
        if old is None:
            raise ApiError(f"{change.ref} not found")
        values = dict(change.values)
        for name in QUANTITIES & values.keys():
            values[name] = Table({**getattr(old, name), **cast("Table[int]", values[name])})
        return update(rules, world, evolve(old, **values))

    return replace
