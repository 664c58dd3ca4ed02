"""The main job: everything the scheduler may do with a cluster and what arrives in it.

Nodes and bound pods are there from the start; groups and pending pods arrive one by one, at any moment. Every
interleaving of arrivals, ties, completions and, within a budget, failures is explored; every property is
judged on the way; and the distinct outcomes are told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from itertools import filterfalse

from attrs import evolve, field, frozen

from gangproof.impl.actions import Action
from gangproof.impl.api import create
from gangproof.impl.gates import Object
from gangproof.impl.objects import Job, Pod, PodGroup, Workload
from gangproof.impl.owners import owners_of
from gangproof.impl.rules import Rules
from gangproof.impl.store import as_stored, lags
from gangproof.impl.world import Environment, Settings, World
from gangproof.properties.judges.settled import SETTLED
from gangproof.properties.late.deliveries import explore_reduced
from gangproof.properties.late.lag import lagging
from gangproof.properties.search.explore import Counterexample, Exploration, Graph, Limits, explore_graph
from gangproof.properties.search.machine import Machine, Settled, itself, settle
from gangproof.properties.search.system import Path, Questions
from gangproof.properties.telling.reasons import why_pending
from gangproof.properties.verdict import Verdict


@frozen
class Outcome:
    """One way in which it may end: who is bound where, who is pending and why, each group's condition."""

    bound: tuple[tuple[str, str], ...]
    pending: tuple[tuple[str, str], ...]
    conditions: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        lines = [f"{pod} is bound to {node}" for pod, node in self.bound]
        lines += [f"{pod} is pending: {why}" for pod, why in self.pending]
        lines += [f"{group} is {condition}" for group, condition in self.conditions]
        return "\n".join(lines)


@frozen
class CheckReport:
    """What checking a cluster came to; `seconds` is wall time and takes no part in equality.

    `counterexamples` are those of the exploration, and runs that settle where somebody is left behind.
    """

    verdict: Verdict
    outcomes: tuple[Outcome, ...]
    exploration: Exploration[World, Action]
    counterexamples: Mapping[str, Counterexample[World, Action]]
    beyond: tuple[str, ...] = ()
    seconds: float = field(default=0.0, eq=False)


@frozen
class Openness:
    """What is left open: the order of arrival, how many binds may fail and objects be deleted by users; by how many
    changes a view may be behind; how often the scheduler may start anew; how many objects are created again."""

    any_order: bool = False
    failures: int = 0
    deletions: int = 0
    lag: int = 0
    restarts: int = 0
    recreations: int = 0


def initial_world(objects: Iterable[Object], rules: Rules, settings: Settings, openness: Openness) -> World:
    """The cluster before anything arrives; ApiError if two objects have the same key.

    Whom a Job made is there if the Job is, in whatever order they are given.
    """
    objects = tuple(objects)
    jobs = {obj.key for obj in objects if isinstance(obj, Job)}
    makers = {job for obj in objects for job in _makers(obj) if job in jobs}

    def arrives(obj: Object) -> bool:
        return _arrives(obj, makers) and not makers.intersection(_makers(obj))

    world = World(settings=settings)
    for obj in sorted(filterfalse(arrives, objects), key=_owners_first):
        world = create(rules, world, obj)
    environment = Environment(
        arrivals=tuple(filter(arrives, objects)),
        any_order=openness.any_order,
        failures=openness.failures,
        deletions=openness.deletions,
        restarts=openness.restarts,
        recreations=openness.recreations,
        kubelet=True,
    )
    return lagging(evolve(world, environment=environment), openness.lag)


OWNERS_FIRST = (Job, Workload, PodGroup, Pod)


def _owners_first(obj: Object) -> int:
    return next((rank for rank, kind in enumerate(OWNERS_FIRST, 1) if isinstance(obj, kind)), 0)


def _makers(obj: Object) -> set[str]:
    """The Jobs that the object belongs to."""
    namespace = getattr(obj, "namespace", "")
    return {f"{namespace}/{owner.name}" for owner in owners_of(obj) if owner.kind == "Job"}


def _arrives(obj: Object, makers: Collection[str]) -> bool:
    """Whether it comes while the scheduler runs: a group, a pod without a node, a Job that has done nothing yet."""
    match obj:
        case Pod():
            return obj.node_name is None
        case Job():
            begun = obj.started or obj.finished or obj.suspended is not None
            return not begun and obj.key not in makers
        case _:
            return isinstance(obj, PodGroup)


def find(
    machine: Machine, questions: Questions[World, Action], limits: Limits
) -> tuple[Settled, Mapping[str, Counterexample[World, Action]]]:
    """Explore everything; the first counterexample of each property, of those of settled worlds too."""
    late = any(map(lags, machine.worlds))
    found = settle(machine, questions, limits, explore_reduced if late else explore_graph)
    examples = dict(found.exploration.counterexamples)
    for example in _left_behind(found):
        examples.setdefault(example.violation.property, example)
    return found, examples


def _left_behind(found: Settled) -> Iterator[Counterexample[World, Action]]:
    for place in (*found.settled, *found.restless):
        for judge in SETTLED:
            violation = judge(found.graph.states[place])
            if violation is not None:
                yield Counterexample(violation, shortest_path(found.graph, place))


def shortest_path(graph: Graph[World, Action], place: int) -> Path[World, Action]:
    """A shortest run to a place of a graph: back along the steps that first met each state."""
    first: dict[int, tuple[int, Action]] = {}
    for source, action, target in graph.edges:
        if source < target:
            first.setdefault(target, (source, action))
    steps: list[tuple[Action, World]] = []
    while place in first:
        source, action = first[place]
        steps.append((action, graph.states[place]))
        place = source
    return Path(graph.states[place], tuple(reversed(steps)))


def check(
    world: World,
    rules: Rules,
    questions: Questions[World, Action],
    limits: Limits,
    key: Callable[[World], Hashable] = itself,
) -> CheckReport:
    """Explore everything from the world on, and judge it."""
    began = time.perf_counter()
    found, examples = find(Machine(rules, [world], key=key), questions, limits)
    beyond = sorted({name for state in found.graph.states for name in state.ghost.beyond})
    verdict = Verdict.VIOLATED if examples else found.exploration.verdict
    if beyond and verdict is not Verdict.VIOLATED:
        verdict = Verdict.INCONCLUSIVE
    return CheckReport(
        verdict=verdict,
        outcomes=outcomes(found, rules),
        exploration=found.exploration,
        counterexamples=examples,
        beyond=tuple(beyond),
        seconds=time.perf_counter() - began,
    )


def outcomes(found: Settled, rules: Rules) -> tuple[Outcome, ...]:
    """The distinct outcomes of all runs, sorted."""
    distinct = {outcome(world, rules) for world in found.worlds if not world.environment.arrivals}
    return tuple(sorted(distinct, key=lambda o: (o.pending, o.bound, o.conditions)))


def outcome(world: World, rules: Rules) -> Outcome:
    """What is the case in a settled world, as it is stored."""
    world = as_stored(world)
    bound = [(pod.key, pod.node_name) for pod in world.pods.values() if pod.node_name is not None]
    pending = [
        (pod.key, why_pending(world, pod, rules)) for pod in world.pods.values() if pod.node_name is None
    ]
    conditions = [
        (group.key, str(group.condition) if group.condition is not None else "not reported yet")
        for group in world.groups.values()
    ]
    return Outcome(tuple(bound), tuple(pending), tuple(conditions))
