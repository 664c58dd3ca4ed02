"""Runs that go on for ever and never keep a promise: liveness, by search for lassos.

A lasso is a run that comes to a world and from there round to it again, or to a world where nothing moves any
more. It breaks a promise if, all the way round, somebody is owed something and never gets it. Only fair ways round
count (`fairness`).

Worlds are told apart by names here, since who is owed is followed all the way round. Where pods or nodes are alike
these are many. So a search may be *folded*: of all worlds that differ in names alone it visits one. What goes round by
names goes round there too, so where nothing goes round that may break the promise, none does. A part of the folded
graph that may break it is *unfolded*: searched anew, by names, from one of its worlds on. That finds all there is up to
names, since worlds that differ in names alone have the same futures but for names.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from gangproof.counterexamples import Trace
from gangproof.impl.actions import Action
from gangproof.impl.world import World
from gangproof.properties.search.explore import Exploration, Graph, Limits, StopReason, explore_graph
from gangproof.properties.search.fairness import Edge, Fair, Part, Timed
from gangproof.properties.search.system import Path, Questions, Transitions, Violation
from gangproof.properties.telling.traces import Meta, make_trace
from gangproof.properties.verdict import Verdict

Names = Iterable[str]
Key = Callable[[World], Hashable]


@frozen
class Promise:
    """Something that a run must not put off for ever.

    `owed` names those to whom a world owes it, `kept` those for whom a step keeps it. Each of `recurs` names those
    for whom a step is one that must come again and again for the promise to be broken; none if waiting is enough.
    `words` say what is wrong, after a name.
    """

    id: str
    words: str
    owed: Callable[[World], Names]
    kept: Callable[[World, Action, World], Names] = lambda before, action, after: ()
    recurs: tuple[Callable[[World, Action, World], Names], ...] = ()


@frozen
class Lasso:
    """A fair run that breaks a promise: the way, and the place in its states to which its last step returns.

    Without `loop` the run ends in a world where nothing moves any more.
    """

    violation: Violation
    path: Path[World, Action]
    loop: int | None = None

    def trace(self, meta: Meta) -> Trace:
        """The lasso as a trace, whose last event returns to the frame `loop`."""
        told = make_trace(self.violation, self.path, meta, title=self.violation.message)
        if self.loop is None:
            return told
        left_out = len(self.path) + 1 - len(told.frames)
        if self.loop < left_out:
            raise ValueError(f"the run returns to {self.loop}, and its first {left_out} steps are not shown")
        return evolve(told, frames=told.frames[:-1], loop=self.loop - left_out)

    def __str__(self) -> str:
        where = f", then for ever from {self.loop}" if self.loop is not None else ", then nothing"
        return f"{self.violation} ({len(self.path)} steps{where})"


@frozen
class Lassos:
    """What was searched, the first lasso of each promise that is broken, and what is `beyond` the model.

    After a folded search `exploration` speaks of that, and `unfolded` worlds were told apart by names.
    """

    exploration: Exploration[World, Action]
    found: Mapping[str, Lasso] = field(factory=dict[str, Lasso])
    beyond: tuple[str, ...] = ()
    unfolded: int = 0

    @property
    def verdict(self) -> Verdict:
        """Violated if any lasso was found; inconclusive if the search was cut short or went beyond the model."""
        if self.found:
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if self.beyond else self.exploration.verdict

    def __str__(self) -> str:
        head = f"{self.verdict}: {self.exploration.states:,} states ({self.exploration.stop})"
        return "\n".join([head, *(f"  {lasso}" for lasso in self.found.values())])


def lassos(
    system: Timed,
    promises: Sequence[Promise],
    limits: Limits | None = None,
    fold: Key | None = None,
) -> Lassos:
    """Explore everything, and look for a lasso that breaks each of the promises.

    With `fold`, the key of all worlds that differ in names alone, the search is folded. A limit holds for the folded
    search, and for what is unfolded of it together.
    """
    limits = limits or Limits()
    visited = system if fold is None else Transitions(system.initial, system.successors, fold)
    exploration, graph = explore_graph(visited, Questions(), limits)
    if exploration.stop != "exhausted":
        return Lassos(exploration)
    search = _Search(graph, system) if fold is None else _Unfolding(graph, system, fold, limits)
    found: dict[str, Lasso] = {}
    for promise in promises:
        if promise.id not in found and (lasso := search.breaks(promise)) is not None:
            found[promise.id] = lasso
    beyond = {name for world in graph.states for name in world.ghost.beyond}
    unfolded, stop = search.unfolded, search.stop
    return Lassos(evolve(exploration, stop=stop), found, tuple(sorted(beyond)), unfolded)


class _Search:
    """A graph whose worlds are told apart by names; `inside` are the places at which promises are asked."""

    unfolded = 0
    stop: StopReason = "exhausted"

    def __init__(
        self, graph: Graph[World, Action], system: Timed, inside: Sequence[int] | None = None
    ) -> None:
        self.graph, self.states, self.fair = graph, graph.states, Fair(graph, system)
        self.inside = range(len(graph.states)) if inside is None else inside

    def breaks(self, promise: Promise) -> Lasso | None:
        """The first lasso that breaks the promise: for the first name, at the place that is met first."""
        owed: dict[str, list[int]] = {}
        for place in self.inside:
            for name in promise.owed(self.states[place]):
                owed.setdefault(name, []).append(place)
        best: tuple[int, str, Part] | None = None
        for name in sorted(owed):
            for part in self.parts(promise, name, owed[name]):
                if best is None or min(part[0]) < best[0]:
                    best = min(part[0]), name, part
        if best is None:
            return None
        start, name, part = best
        way = self.graph.way(start)
        around = self.fair.around(start, part, self.recurring(promise, name, part[1]))
        steps = tuple((action, self.states[target]) for _, action, target in (*way, *around))
        initial = self.states[way[0][0] if way else start]
        violation = Violation(promise.id, f"{name} {promise.words}", (name,))
        return Lasso(violation, Path(initial, steps), len(way) if around else None)

    def parts(self, promise: Promise, name: str, places: Sequence[int]) -> Iterator[Part]:
        """The fair parts of the graph in which the name is owed and never given what it is owed."""

        def recur(edges: list[Edge]) -> bool:
            return all(self.recurring(promise, name, edges))

        there = set(places)
        within = [edge for edge in self.graph.edges if edge[0] in there and edge[2] in there]
        unkept = [edge for edge in within if name not in promise.kept(*self.step(edge))]
        return self.fair.parts(places, unkept, recur)

    def recurring(self, promise: Promise, name: str, edges: Sequence[Edge]) -> list[list[Edge]]:
        """For each kind of step that must come again and again those that are one."""
        return [[edge for edge in edges if name in recurs(*self.step(edge))] for recurs in promise.recurs]

    def step(self, edge: Edge) -> tuple[World, Action, World]:
        return self.states[edge[0]], edge[1], self.states[edge[2]]


class _Unfolding:
    """A folded graph, of which the parts that may break a promise are searched by names."""

    def __init__(self, graph: Graph[World, Action], system: Timed, fold: Key, limits: Limits) -> None:
        self.graph, self.states, self.fair = graph, graph.states, Fair(graph, system, folded=True)
        self.system, self.fold, self.limits = system, fold, limits
        self.unfolded = 0
        self.stop: StopReason = "exhausted"
        self.searches: dict[tuple[int, ...], _Search | None] = {}

    def breaks(self, promise: Promise) -> Lasso | None:
        """The first lasso that breaks the promise, in the part that is met first."""
        for places in sorted(sorted(places) for places, _ in self.suspects(promise)):
            search = self.unfold(tuple(places))
            lasso = search.breaks(promise) if search is not None else None
            if lasso is not None:
                way = self.graph.path(places[0])
                path = Path(way.initial, (*way.steps, *lasso.path.steps))
                loop = None if lasso.loop is None else lasso.loop + len(way)
                return evolve(lasso, path=path, loop=loop)
        return None

    def suspects(self, promise: Promise) -> Iterator[Part]:
        """The parts in which in each world somebody is owed what in each step somebody is not given."""
        owed = {
            place: names for place, world in enumerate(self.states) if (names := set(promise.owed(world)))
        }
        unkept: list[Edge] = []
        for edge in self.graph.edges:
            source, action, target = edge
            if source in owed and target in owed:
                kept = promise.kept(self.states[source], action, self.states[target])
                if not owed[source].issubset(kept):
                    unkept.append(edge)

        def recur(edges: list[Edge]) -> bool:
            steps = [(self.states[source], action, self.states[target]) for source, action, target in edges]
            return all(any(any(recurs(*step)) for step in steps) for recurs in promise.recurs)

        return self.fair.parts(list(owed), unkept, recur)

    def unfold(self, places: tuple[int, ...]) -> _Search | None:
        """What can be reached by names within some places from the first of them on; None if a limit came first."""
        if places not in self.searches:
            self.searches[places] = self.search(places)
        return self.searches[places]

    def search(self, places: tuple[int, ...]) -> _Search | None:
        keys = {self.fold(self.states[place]) for place in places}

        def within(world: World) -> Iterable[tuple[Action, World]]:
            return self.system.successors(world) if self.fold(world) in keys else ()

        left = None if self.limits.states is None else max(0, self.limits.states - self.unfolded)
        start = Transitions(lambda: (self.states[places[0]],), within, self.system.key)
        exploration, graph = explore_graph(start, Questions(), evolve(self.limits, states=left))
        self.unfolded += exploration.states
        if exploration.stop != "exhausted":
            self.stop = exploration.stop
            return None
        return _Search(
            graph,
            self.system,
            [place for place, world in enumerate(graph.states) if self.fold(world) in keys],
        )
