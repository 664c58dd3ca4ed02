"""What may still come to a world from outside, without names: a part of its reduced key (see `symmetry`)."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from attrs import evolve, frozen

from gangproof.impl.gates import Object
from gangproof.impl.objects import Node, Pod
from gangproof.impl.world import Environment
from gangproof.properties.symmetry.claim_shapes import names_in
from gangproof.properties.symmetry.shapes import bag_of, shape_of_node, shape_of_pod


@frozen
class Outlook:
    """What may still come, without names; who keeps a name because of it; the names of what is to come."""

    value: Hashable
    kept: frozenset[str]
    coming: frozenset[str]


@lru_cache(maxsize=1 << 12)
def outlook(environment: Environment, fixed: frozenset[str]) -> Outlook:
    """What the environment still holds; `fixed` keep their names in any case."""
    kept = set(fixed)
    kept.update(call.partition("/")[2] for call in (*environment.held, *environment.failing))
    for obj in (*environment.arrivals, *environment.again):
        kept |= _told_apart_by(obj)
    coming = [anonymous(obj, obj.key in kept) for obj in environment.arrivals]
    value = (
        bag_of(coming) if environment.any_order else tuple(coming),
        evolve(environment, arrivals=(), again=()),
    )
    return Outlook(value, frozenset(kept), frozenset(obj.key for obj in environment.arrivals))


def _told_apart_by(obj: Object) -> frozenset[str]:
    match obj:
        case Pod():
            return shape_of_pod(obj).names | {
                node for node in (obj.node_name, obj.nominated_node_name) if node
            }
        case Node():
            return shape_of_node(obj).names
        case _:
            return frozenset(names_in(obj))


def anonymous(obj: Object, named: bool) -> Hashable:
    """What is said of an object that is to come, with its name if it is to be `named` or is neither pod nor node."""
    match obj:
        case Pod() if not named:
            return shape_of_pod(obj).value, obj.node_name, obj.nominated_node_name
        case Node() if not named:
            return shape_of_node(obj).value
        case _:
            return obj
