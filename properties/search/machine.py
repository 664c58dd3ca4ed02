"""The reference implementation as a system that every engine can walk through, and where its runs settle."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from attrs import frozen

from gangproof.impl.actions import Action, Grain, acts, clock, successors
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.search.explore import Exploration, Graph, Limits, explore_graph
from gangproof.properties.search.graph import components, final
from gangproof.properties.search.system import Questions

CLOCK = "backoff-over"


def itself(world: World) -> Hashable:
    """The key of the unreduced search: the world itself."""
    return world


@frozen
class Machine:
    """The machinery with certain rules, started in certain worlds; a `System` for the explorer."""

    rules: Rules
    worlds: Sequence[World]
    grain: Grain = "coarse"
    key: Callable[[World], Hashable] = itself

    def initial(self) -> Iterable[World]:
        return self.worlds

    def successors(self, world: World, /) -> Iterable[tuple[Action, World]]:
        return successors(world, self.rules, self.grain)

    def awaited(self, world: World, /) -> Iterable[Action]:
        """What time will bring about, whether the clock may move now or not."""
        return (action for action, _ in clock(world, self.rules))

    def acts(self, world: World, /) -> Iterable[tuple[Action, World]]:
        """As `successors`, without those in which somebody sees something; each is found when it is asked for."""
        return acts(world, self.rules, self.grain)


@frozen
class Settled:
    """What a search found, and the worlds, by their place in its graph, in which its runs settle.

    A run settles where only the clock goes on, and where it can for ever come back to: a group that is
    retried with the same outcome each time is settled (*steady retry*, LIVE-14). `restless` are the worlds to
    which a run comes back for ever although something else than the clock moves it each time.
    """

    exploration: Exploration[World, Action]
    graph: Graph[World, Action]
    settled: tuple[int, ...]
    restless: tuple[int, ...]

    @property
    def worlds(self) -> tuple[World, ...]:
        return tuple(self.graph.states[place] for place in (*self.settled, *self.restless))


Search = Callable[
    [Machine, Questions[World, Action], Limits], tuple[Exploration[World, Action], Graph[World, Action]]
]
"""A search of a machine, that keeps the worlds in which runs settle."""


def settle(
    machine: Machine, questions: Questions[World, Action], limits: Limits, search: Search = explore_graph
) -> Settled:
    """Explore everything that the machine can do of its own accord, and find where it settles."""
    exploration, graph = search(machine, questions, limits)
    if exploration.stop != "exhausted":
        return Settled(exploration, graph, (), ())
    edges = [(source, target) for source, _, target in graph.edges]
    found = components(len(graph.states), edges)
    last = final(found, edges)
    busy = {source for source, action, _ in graph.edges if action.name != CLOCK}
    quiet = [place for place, part in enumerate(found) if part in last and place not in busy]
    calm = {found[place] for place in quiet}
    restless = [place for place, part in enumerate(found) if part in last and part not in calm]
    return Settled(exploration, graph, tuple(quiet), tuple(restless))
