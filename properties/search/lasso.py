"""Runs that go on for ever and never keep a promise: liveness, by search for lassos under stated fairness.

A lasso is a run that comes to a world and from there round to it again, or to a world where nothing moves any
more. It breaks a promise if, all the way round, somebody is owed something and never gets it.

Fairness is that of SEMANTICS 12.2. It is weak for what the machinery does: whatever stays possible all the time is
done some time. The scheduler keeps popping, each open call ends, each backoff that is waited for runs out, what was
written is seen. It is strong for calls that may fail: one that is made again and again ends well some time. Users owe
nothing: who may come need not come. Which of several nodes or victims is chosen may be the same one each time round.

So a strongly connected part of the graph is a fair way round if each duty of the machinery is done in it or is not
possible somewhere in it, and if no call only fails in it that might have ended well; a single world is one if no duty
is possible in it.

Worlds are told apart by names here, since who is owed is followed all the way round.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from gangproof.counterexamples import Trace
from gangproof.impl.actions import Action
from gangproof.impl.world import World
from gangproof.properties.search.explore import Exploration, Graph, Limits, explore_graph
from gangproof.properties.search.graph import components
from gangproof.properties.search.system import Path, Questions, System, Violation
from gangproof.properties.telling.traces import Meta, make_trace
from gangproof.properties.verdict import Verdict

CALLS = ("permit", "prebind", "bind", "evict")
OF_A_SYNC = ("make", "remove", "write")
MAY_FAIL = ("prebind", "bind", *OF_A_SYNC)
USERS = ("create", "create-fails", "delete", "update", "finish", "crash", "foreign-bind", "lose", "restart")
Edge = tuple[int, Action, int]
Duty = tuple[str, ...]
Names = Iterable[str]


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
    """What was searched, the first lasso of each promise that is broken, and what is `beyond` the model."""

    exploration: Exploration[World, Action]
    found: Mapping[str, Lasso] = field(factory=dict[str, Lasso])
    beyond: tuple[str, ...] = ()

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
    system: System[World, Action], promises: Sequence[Promise], limits: Limits | None = None
) -> Lassos:
    """Explore everything, and look for a lasso that breaks each of the promises."""
    exploration, graph = explore_graph(system, Questions(), limits or Limits())
    if exploration.stop != "exhausted":
        return Lassos(exploration)
    search = _Search(graph)
    found: dict[str, Lasso] = {}
    for promise in promises:
        if promise.id not in found and (lasso := search.breaks(promise)) is not None:
            found[promise.id] = lasso
    beyond = {name for world in graph.states for name in world.ghost.beyond}
    return Lassos(exploration, found, tuple(sorted(beyond)))


def duty(action: Action) -> Duty | None:
    """What fairness asks for with this action; equal for all ways in which it may be done, None for a user's.

    All that the scheduler's loop does is one duty; a call is one, however it ends.
    """
    match action.name:
        case name if name in USERS:
            return None
        case "sync":
            return (action.name, action.args[0])
        case name if name.removesuffix("-fails") in OF_A_SYNC:
            return ("sync",)
        case "lost" | "lands":
            return ("sent", action.args[0])
        case "backoff-over" | "see" | "last-call":
            return (action.name, *action.args)
        case name if name.removesuffix("-fails") in CALLS:
            return (name.removesuffix("-fails"), *action.args)
        case "cycle" | "pop" | "snapshot" | "place" | "weigh" | "preempt" | "submit" | "report":
            return ("scheduler",)
        case name:
            return (name, *action.args)


def made_of(action: Action) -> Iterator[Action]:
    """The action, and the finer ones that it is made of."""
    yield action
    yield from (step for step, _ in action.via)


def ended(action: Action, how: str = "") -> Iterator[Duty]:
    """The calls that end well in this action, of those that may fail, or badly with `-fails`.

    A coarse action may make several.
    """
    for done in made_of(action):
        call = done.name.removesuffix(how)
        if call in MAY_FAIL and done.name == call + how:
            yield (call, done.args[0])


class _Search:
    """The explored graph, with what is possible in each world, and which calls may end well there."""

    def __init__(self, graph: Graph[World, Action]) -> None:
        self.graph = graph
        self.states = graph.states
        self.edges = graph.edges
        self.possible: list[set[Duty]] = [set() for _ in graph.states]
        self.hopeful: list[set[Duty]] = [set() for _ in graph.states]
        for source, action, _ in graph.edges:
            if (task := duty(action)) is not None:
                self.possible[source].add(task)
            self.hopeful[source].update(ended(action))

    def breaks(self, promise: Promise) -> Lasso | None:
        """The first lasso that breaks the promise: for the first name, at the place that is met first."""
        owed: dict[str, list[int]] = {}
        for place, world in enumerate(self.states):
            for name in promise.owed(world):
                owed.setdefault(name, []).append(place)
        best: tuple[int, str, list[int], list[Edge]] | None = None
        for name in sorted(owed):
            for part, inner in self.parts(promise, name, owed[name]):
                if best is None or min(part) < best[0]:
                    best = min(part), name, part, inner
        if best is None:
            return None
        start, name, part, inner = best
        violation = Violation(promise.id, f"{name} {promise.words}", (name,))
        way = self.graph.way(start)
        recurring = self.recurring(promise, name, inner)
        around = self.around(start, part, inner, recurring)
        steps = tuple((action, self.states[target]) for _, action, target in (*way, *around))
        initial = self.states[way[0][0] if way else start]
        return Lasso(violation, Path(initial, steps), len(way) if around else None)

    def parts(
        self, promise: Promise, name: str, places: Sequence[int]
    ) -> Iterator[tuple[list[int], list[Edge]]]:
        """The fair parts of the graph in which the name is owed and never given what it is owed.

        A call that never ends well in a part may not fail there where it could: the part is looked at anew without.
        """
        there = set(places)
        within = [
            edge
            for edge in self.edges
            if edge[0] in there and edge[2] in there and not self.keeps(promise, name, edge)
        ]
        waiting = [(list(places), within)]
        while waiting:
            for part, inner in _components(*waiting.pop()):
                if not all(self.recurring(promise, name, inner)):
                    continue
                if not self.always(part) <= {duty(action) for _, action, _ in inner}:
                    continue
                well = _well(inner)
                useful = [edge for edge in inner if self.failed(edge) <= well]
                if len(useful) == len(inner):
                    yield part, inner
                else:
                    waiting.append((part, useful))

    def always(self, places: Iterable[int]) -> set[Duty]:
        """The duties that are possible in each of the places."""
        each = [self.possible[place] for place in places]
        return {task for task in each[0] if all(task in possible for possible in each)}

    def failed(self, edge: Edge) -> set[Duty]:
        """The calls that fail in this step and might have ended well."""
        source, action, _ = edge
        return self.hopeful[source].intersection(ended(action, "-fails"))

    def keeps(self, promise: Promise, name: str, edge: Edge) -> bool:
        source, action, target = edge
        return name in promise.kept(self.states[source], action, self.states[target])

    def recurring(self, promise: Promise, name: str, edges: Sequence[Edge]) -> list[list[Edge]]:
        """For each kind of step that must come again and again those that are one."""
        states = self.states
        return [
            [edge for edge in edges if name in recurs(states[edge[0]], edge[1], states[edge[2]])]
            for recurs in promise.recurs
        ]

    def around(
        self, start: int, part: Sequence[int], inner: Sequence[Edge], recurring: Sequence[Sequence[Edge]]
    ) -> list[Edge]:
        """A way round from the start that is fair.

        It does each duty or visits a world where it is not possible; and no call only fails on it that might have ended
        well.
        """
        leaving: dict[int, list[Edge]] = {place: [] for place in part}
        for edge in inner:
            leaving[edge[0]].append(edge)
        way: list[Edge] = []
        for wanted in recurring:
            if not any(edge in wanted for edge in way):
                way += _towards(
                    way[-1][2] if way else start, leaving, lambda edge, wanted=wanted: edge in wanted
                )
        while inner:
            visited = [start, *(edge[2] for edge in way)]
            if missing := self.always(visited) - {duty(action) for _, action, _ in way}:
                task = min(missing)

                def serves(edge: Edge, task: Duty = task) -> bool:
                    return duty(edge[1]) == task or task not in self.possible[edge[2]]

            elif vain := {call for edge in way for call in self.failed(edge)} - _well(way):
                call = min(vain)

                def serves(edge: Edge, task: Duty = call) -> bool:
                    return task in ended(edge[1])

            else:
                break
            way += _towards(visited[-1], leaving, serves)
        last = way[-1][2] if way else start
        back = _towards(last, leaving, lambda edge: edge[2] == start) if last != start else []
        return way + back


def _well(edges: Iterable[Edge]) -> set[Duty]:
    """The calls that end well in these steps."""
    return {call for _, action, _ in edges for call in ended(action)}


def _components(places: Sequence[int], edges: Sequence[Edge]) -> Iterator[tuple[list[int], list[Edge]]]:
    """The strongly connected parts of some places, each with its edges."""
    number = {place: index for index, place in enumerate(places)}
    found = components(len(places), [(number[source], number[target]) for source, _, target in edges])
    members: dict[int, list[int]] = {}
    for place in places:
        members.setdefault(found[number[place]], []).append(place)
    inner: dict[int, list[Edge]] = {}
    for edge in edges:
        if found[number[edge[0]]] == found[number[edge[2]]]:
            inner.setdefault(found[number[edge[0]]], []).append(edge)
    for part, inside in members.items():
        yield inside, inner.get(part, [])


def _towards(start: int, leaving: Mapping[int, Sequence[Edge]], wanted: Callable[[Edge], bool]) -> list[Edge]:
    """A shortest way from the start whose last step is one that is wanted."""
    came: dict[int, Edge | None] = {start: None}
    queue = deque([start])
    while queue:
        place = queue.popleft()
        for edge in leaving[place]:
            if wanted(edge):
                way = [edge]
                while (before := came[way[-1][0]]) is not None:
                    way.append(before)
                return way[::-1]
            if edge[2] not in came:
                came[edge[2]] = edge
                queue.append(edge[2])
    raise ValueError("there is no such way within the part")
