"""Which pods of a scenario nobody tells apart, so that a search may forget which of them is which.

Twenty members that share a claim come to be bound in a million orders, which all mean the same to a document that
speaks of all twenty at once. Documents without claims are searched as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, cast

import attrs

from gangproof.impl.objects import Node, Pod
from gangproof.impl.world import World
from gangproof.properties.scenarios.document import Create, Scenario
from gangproof.properties.scenarios.features import features
from gangproof.properties.search.machine import itself
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.symmetry.shapes import shape_of_pod


def key_of(scenario: Scenario) -> Callable[[World], Hashable]:
    """The key by which a search through the scenario tells worlds apart."""
    return Symmetry(told_apart(scenario)) if "claims" in features(scenario) else itself


def told_apart(scenario: Scenario) -> frozenset[str]:
    """Every node, and the pods (by key) of which some step names one and not all that are made like it."""
    created = [obj for step in scenario.steps if isinstance(step, Create) for obj in step.objects]
    kinds: dict[Hashable, set[str]] = {}
    for obj in created:
        if isinstance(obj, Pod):
            kinds.setdefault((shape_of_pod(obj).value, obj.node_name), set()).add(obj.key)
    pods = {key for kind in kinds.values() for key in kind}
    fixed = {obj.name for obj in created if isinstance(obj, Node)}
    for step in scenario.steps:
        for named in _named(step, pods) if not isinstance(step, Create) else ():
            for kind in kinds.values():
                if named & kind and not kind <= named:
                    fixed |= kind
    return frozenset(fixed)


def _named(value: Any, pods: set[str]) -> Iterator[set[str]]:
    """The sets of pods that are named together anywhere in a step."""
    match value:
        case str():
            yield {value} & pods
        case tuple():
            items = cast("tuple[Any, ...]", value)
            yield {item for item in items if isinstance(item, str)} & pods
            for item in items:
                if not isinstance(item, str):
                    yield from _named(item, pods)
        case _ if attrs.has(kind := cast("type[Any]", type(value))):
            for field in attrs.fields(kind):
                yield from _named(getattr(value, field.name), pods)
        case _:
            pass
