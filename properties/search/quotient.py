"""Whether a coarser key is sound: the same answers from fewer states.

A key that makes identical pods or nodes interchangeable shrinks a search by orders of magnitude, and a key
that merges one state too many hides bugs. So a reduced key is held against the full search wherever both can
finish: the same properties violated and the same witnesses reached at the same depths, exactly one state for
each class that the full search meets, and, state by state, equal keys leading to equal keys.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from attrs import frozen

from gangproof.properties.search.explore import Exploration, Graph, Limits, explore, explore_graph
from gangproof.properties.search.system import Questions, System, Transitions
from gangproof.properties.verdict import Verdict

S = TypeVar("S")
A = TypeVar("A")


@frozen
class Comparison(Generic[S, A]):
    """A full search, a reduced one, and each way in which they differ, in a sentence."""

    full: Exploration[S, A]
    reduced: Exploration[S, A]
    differences: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Violated if they differ, inconclusive if one was cut short, else holds."""
        if self.differences:
            return Verdict.VIOLATED
        exhausted = self.full.stop == self.reduced.stop == "exhausted"
        return Verdict.HOLDS if exhausted else Verdict.INCONCLUSIVE

    def __str__(self) -> str:
        head = f"{self.verdict}: {self.reduced.states:,} states stand for {self.full.states:,}"
        return "\n".join([head, *(f"  {difference}" for difference in self.differences)])


def compare(
    system: System[S, A],
    key: Callable[[S], Hashable],
    questions: Questions[S, A] | None = None,
    limits: Limits | None = None,
) -> Comparison[S, A]:
    """Search the system with its own key and with the reduced one, and hold the two against each other.

    Only searches that both end by exhaustion are compared.
    """
    full, graph = explore_graph(system, questions, limits)
    reduced = explore(Transitions(system.initial, system.successors, key), questions, limits)
    if not full.stop == reduced.stop == "exhausted":
        return Comparison(full, reduced, ())
    classes = [key(state) for state in graph.states]
    differences = [
        *_differing("property violated", _depths(full), _depths(reduced)),
        *_differing("witness reached", _witness_depths(full), _witness_depths(reduced)),
    ]
    if reduced.states != len(set(classes)):
        differences.append(
            f"{len(set(classes)):,} classes of states, but the reduced search met {reduced.states:,}"
        )
    difference = _first_unlike_pair(graph, classes)
    if difference is not None:
        differences.append(difference)
    return Comparison(full, reduced, tuple(differences))


def _depths(found: Exploration[S, A]) -> dict[str, int]:
    return {name: len(example.path) for name, example in found.counterexamples.items()}


def _witness_depths(found: Exploration[S, A]) -> dict[str, int]:
    return {name: len(path) for name, path in found.witnesses.items()}


def _differing(what: str, full: dict[str, int], reduced: dict[str, int]) -> list[str]:
    def when(depths: dict[str, int], name: str) -> str:
        return f"after {depths[name]} steps" if name in depths else "never"

    return [
        f"{what}: {name}, {when(full, name)} in full, {when(reduced, name)} reduced"
        for name in dict.fromkeys([*full, *reduced])
        if full.get(name) != reduced.get(name)
    ]


def _first_unlike_pair(graph: Graph[S, A], classes: list[Hashable]) -> str | None:
    """Two states with one key whose steps lead to different sets of keys, if there are any."""
    following: list[set[Hashable]] = [set() for _ in classes]
    for source, _, target in graph.edges:
        following[source].add(classes[target])
    first: dict[Hashable, int] = {}
    for number, where in enumerate(classes):
        other = first.setdefault(where, number)
        if following[number] != following[other]:
            return f"one key but different futures: {graph.states[other]} and {graph.states[number]}"
    return None
