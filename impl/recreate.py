"""Objects that are deleted and created again under their name: another identity behind the same name (GC-09).

A user may do so at any moment, as often as the `Environment` says. What is to come again comes when its name is free,
however much later. What has an owner is left to the controller that made it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve, fields_dict

from gangproof.impl.admission import STATUS
from gangproof.impl.api import ApiError, create, delete
from gangproof.impl.gates import Object
from gangproof.impl.objects import Pod, ResourceClaim
from gangproof.impl.owners import owners_of
from gangproof.impl.rules import Rules
from gangproof.impl.store import kind_of, stored
from gangproof.impl.world import Move, World

BESIDE_THE_STATUS: Mapping[type, tuple[str, ...]] = {Pod: ("node_name",), ResourceClaim: ("finalizers",)}
"""By kind what the control plane writes into objects beside their status."""
KINDS = ("pod", "podGroup", "workload", "job", "claim", "node")


def set_by_others(obj: Object) -> tuple[str, ...]:
    """The fields that the control plane writes, identity and deletion included; a user's object is without."""
    written = ("uid", "terminating", *STATUS.get(type(obj), ()), *BESIDE_THE_STATUS.get(type(obj), ()))
    return tuple(name for name in written if name in fields_dict(type(obj)))


def fresh(obj: Object) -> Object:
    """The object as a user creates it again: without uid, status and what the control plane added."""
    fields = fields_dict(type(obj))
    return evolve(obj, **{name: fields[name].default for name in set_by_others(obj)})


def created(rules: Rules, world: World, obj: Object) -> Move:
    """A user creates the object, or is refused, and it does not come (ACT-01)."""
    name = f"{kind_of(obj)}/{obj.key}"
    try:
        return "create", (name,), create(rules, world, obj)
    except ApiError as refused:
        return "create-fails", (name, str(refused)), world


def recreations(rules: Rules, world: World) -> Iterator[Move]:
    """What may be created again now, and what may be deleted for it (ACT-01 to ACT-03, ACT-07)."""
    environment = world.environment
    for index, obj in enumerate(environment.again):
        if obj.key not in stored(world, kind_of(obj)):
            left = (*environment.again[:index], *environment.again[index + 1 :])
            without = evolve(world, environment=evolve(environment, again=left))
            yield created(rules, without, obj)
    for kind in KINDS if environment.recreations else ():
        for key, obj in stored(world, kind).items():
            if not (owners_of(obj) or getattr(obj, "owner", None) or getattr(obj, "terminating", False)):
                again = evolve(
                    environment,
                    again=(*environment.again, fresh(obj)),
                    recreations=environment.recreations - 1,
                )
                after = delete(rules, evolve(world, environment=again), kind, key)
                yield "delete", (f"{kind}/{key}",), after
