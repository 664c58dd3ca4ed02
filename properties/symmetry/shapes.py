"""What is said of an object without its name: the parts from which the reduced key of a world is made.

Objects that differ in name and age only have equal shapes; a name that an object tells others apart by is part
of its shape, and is listed, so that who is called so keeps the name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any

from attrs import evolve, frozen

from gangproof.impl.objects import Node, NodeSelectorTerm, Pod, PodDisruptionBudget
from gangproof.impl.table import Table

HOSTNAME = "kubernetes.io/hostname"


@frozen
class Shape:
    """An object without its name and age, and the names of nodes that it tells apart."""

    value: Hashable
    names: frozenset[str] = frozenset()


@lru_cache(maxsize=1 << 14)
def shape_of_pod(pod: Pod) -> Shape:
    value = evolve(pod, name="", uid=0, node_name=None, nominated_node_name=None, owners=())
    terms = [*(pod.node_affinity.required or ()), *(p.term for p in pod.node_affinity.preferred)]
    return Shape(same(value), frozenset({*pod.node_selector.values(), *values_of(terms)}))


def values_of(terms: Iterable[NodeSelectorTerm]) -> Iterable[str]:
    """Every value that the terms compare with: among them may be names of nodes."""
    for term in terms:
        for requirement in (*term.expressions, *term.fields):
            yield from requirement.values


@lru_cache(maxsize=1 << 12)
def shape_of_node(node: Node) -> Shape:
    labels = node.labels
    host = labels.get(HOSTNAME)
    if host == node.name:
        return Shape(same(evolve(node, name="", labels=labels.put(HOSTNAME, ""))))
    return Shape(same(evolve(node, name="")), frozenset({host} if host else ()))


@lru_cache(maxsize=1 << 14)
def same(value: Hashable) -> Hashable:
    """The first of equal values, so that they are compared by identity from then on."""
    return value


@lru_cache(maxsize=1 << 10)
def ageless(objects: Table[Any]) -> tuple[Hashable, ...]:
    """The objects without their ages; whether an owner is the one that there is now is told elsewhere."""
    return tuple(nameless(obj) for obj in objects.values())


def nameless(obj: Any) -> Hashable:
    """The object without its age and the ages of its owners."""
    owners = tuple(evolve(owner, uid=0) for owner in getattr(obj, "owners", ()))
    return evolve(obj, uid=0, owners=owners) if owners else evolve(obj, uid=0)


def disrupted(budgets: Table[PodDisruptionBudget]) -> frozenset[str]:
    """The pods that budgets know by name."""
    return frozenset(f"{b.namespace}/{name}" for b in budgets.values() for name in b.disrupted_pods)


def bag_of(items: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The items in an order that only depends on what they are, whatever their types."""
    return tuple(sorted(items, key=hash))
