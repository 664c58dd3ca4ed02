"""Which ways round are fair: SEMANTICS 12.2, asked of the parts of an explored graph.

Fairness is weak for what the machinery does: whatever stays possible all the time is done some time. The scheduler
keeps popping, each open call ends, each backoff that is waited for runs out, what was written is seen. It is strong
for calls that may fail: one that is made again and again ends well some time. Users owe nothing: who may come need
not come. Which of several nodes or victims is chosen may be the same one each time round.

The clock moves only when nothing else can, and time goes on all the same: a backoff that somebody waits for all the way
round runs out if the clock has a turn there at all.

So a strongly connected part of the graph is a fair way round if each duty of the machinery is done in it or is not
possible somewhere in it, and if no call only fails in it that might have ended well; a single world is one if no duty
is possible in it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol

from gangproof.impl.actions import Action
from gangproof.impl.world import World
from gangproof.properties.search.explore import Graph
from gangproof.properties.search.graph import components
from gangproof.properties.search.system import System


class Timed(System[World, Action], Protocol):
    """A system in which time goes on."""

    def awaited(self, world: World, /) -> Iterable[Action]:
        """What time will bring about, whether the clock may move now or not."""
        ...


CALLS = ("permit", "prebind", "bind", "evict")
OF_A_SYNC = ("make", "remove", "write")
MAY_FAIL = ("prebind", "bind", *OF_A_SYNC)
USERS = ("create", "create-fails", "delete", "update", "finish", "crash", "foreign-bind", "lose", "restart")
OF_NO_POD = ("scheduler", "sync")
"""The duties in which no pod and no node is named."""
Edge = tuple[int, Action, int]
Part = tuple[list[int], list[Edge]]
"""Some worlds of a graph, by their places, and the steps among them."""
Duty = tuple[str, ...]


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


class Fair:
    """An explored graph, with what is possible in each world, and which calls may end well there.

    In a *folded* graph, where worlds that differ in names alone are one, nobody can be followed all the way round. So
    there a call is known by its kind alone, and what names a pod or a node is a duty only where nothing moves: whatever
    is fair by names is fair there too.
    """

    def __init__(self, graph: Graph[World, Action], system: Timed, folded: bool = False) -> None:
        self.folded = folded
        self.awaited = [set(map(duty, system.awaited(world))) for world in graph.states]
        self.possible: list[set[Duty]] = [set() for _ in graph.states]
        self.hopeful: list[set[Duty]] = [set() for _ in graph.states]
        for source, action, _ in graph.edges:
            if (task := duty(action)) is not None:
                self.possible[source].add(task)
            self.hopeful[source].update(self.calls(action))

    def parts(
        self, places: Sequence[int], edges: Sequence[Edge], meant: Callable[[list[Edge]], bool]
    ) -> Iterator[Part]:
        """The fair parts among these places and steps, of those whose steps are `meant`.

        Where a duty is missing, and where a call fails that never ends well, the part is looked at anew without.
        """
        waiting = [(list(places), list(edges))]
        while waiting:
            for part, inner in _components(*waiting.pop()):
                if not meant(inner):
                    continue
                missing = self.owing(part, inner) - {duty(action) for _, action, _ in inner}
                without = [place for place in part if missing.isdisjoint(self.possible[place])]
                useful = self.useful(inner)
                if len(without) == len(part) and len(useful) == len(inner):
                    yield part, inner
                elif without:
                    kept = set(without)
                    waiting.append(
                        (without, [edge for edge in useful if edge[0] in kept and edge[2] in kept])
                    )

    def owing(self, part: Sequence[int], inner: Sequence[Edge]) -> set[Duty]:
        """What must be done in a part to be fair."""
        always = self.always(part)
        return {task for task in always if task[0] in OF_NO_POD} if self.folded and inner else always

    def always(self, places: Collection[int]) -> set[Duty]:
        """The duties that are possible in each of the places, and what is awaited in each and possible in some."""
        possible = [self.possible[place] for place in places]
        some = set(chain(*possible))
        return {task for task in some if all(self.owed(task, place) for place in places)}

    def owed(self, task: Duty, place: int) -> bool:
        """Whether the duty is possible there, or awaited until the clock has its turn."""
        return task in self.possible[place] or task in self.awaited[place]

    def useful(self, edges: list[Edge]) -> list[Edge]:
        """The steps but those in which a call fails that might have ended well, and does so in none of them."""
        well = {call for _, action, _ in edges for call in self.calls(action)}
        return [edge for edge in edges if self.failed(edge) <= well]

    def failed(self, edge: Edge) -> set[Duty]:
        """The calls that fail in this step and might have ended well."""
        source, action, _ = edge
        return self.hopeful[source].intersection(self.calls(action, "-fails"))

    def calls(self, action: Action, how: str = "") -> Iterator[Duty]:
        """As `ended`; in a folded graph by their kinds."""
        return (call[:1] if self.folded else call for call in ended(action, how))

    def around(self, start: int, part: Part, recurring: Sequence[Sequence[Edge]]) -> list[Edge]:
        """A way round from the start that is fair, and takes one step of each of those that must recur.

        It does each duty or visits a world where it is not owed; and no call only fails on it that might have ended
        well.
        """
        places, inner = part
        leaving: dict[int, list[Edge]] = {place: [] for place in places}
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
                    return duty(edge[1]) == task or not self.owed(task, edge[2])

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


def _components(places: Sequence[int], edges: Sequence[Edge]) -> Iterator[Part]:
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
