"""INV-39: a scheduler that starts anew, and has only what is stored, comes to the same ends as one that goes on.

From each world that a scheduler comes to, it is let go on, and it is let start anew; what every run of the one
may come to is held against what every run of the other may. What is stored nowhere is not promised: how long a
backoff still runs, and who of equal priority is next. So a world to be asked has no two entities of equal priority
that want the same room, and no tie between nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain

from attrs import frozen

from gangproof.impl.actions import Action
from gangproof.impl.restart import restarts
from gangproof.impl.rules import Rules
from gangproof.impl.store import SCHEDULER, as_stored
from gangproof.impl.world import World
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.graph import components
from gangproof.properties.search.machine import Machine, Settled, settle
from gangproof.properties.search.system import Path, Questions, Violation
from gangproof.properties.verdict import Verdict

End = Hashable
"""What a settled run has come to."""


@frozen
class Restarts:
    """What the comparison found: from how many `worlds`, how many `states` were looked at, and the first difference.

    `path` leads to the world in which a restart makes a difference. A search that was cut short compares nothing.
    """

    worlds: int
    states: int
    stop: str
    violation: Violation | None = None
    path: Path[World, Action] | None = None

    @property
    def verdict(self) -> Verdict:
        """Violated if there is a difference, inconclusive if a search was cut short, else holds."""
        if self.violation is not None:
            return Verdict.VIOLATED
        if self.stop != "exhausted":
            return Verdict.INCONCLUSIVE
        return Verdict.HOLDS if self.worlds else Verdict.VACUOUS


def restart_equivalence(world: World, rules: Rules, limits: Limits) -> Restarts:
    """INV-39 from the world on: wherever the scheduler may be, in a cycle too, it starts anew, and ends alike."""
    going = settle(Machine(rules, [world], "fine"), Questions(), limits)
    places = [place for place, state in enumerate(going.graph.states) if _sees_everything(state)]
    anew = {place: [after for _, _, after in restarts(rules, going.graph.states[place])] for place in places}
    again = settle(Machine(rules, [*chain(*anew.values())], "fine"), Questions(), limits)
    states = len(going.graph.states) + len(again.graph.states)
    for found in (going, again):
        if found.exploration.stop != "exhausted":
            return Restarts(len(places), states, found.exploration.stop)
    without, where = _ends(going), {state: place for place, state in enumerate(again.graph.states)}
    after = _ends(again)
    for place, begun in anew.items():
        expected, found = without[place], frozenset(chain(*(after[where[world]] for world in begun)))
        if expected != found:
            text = f"going on ends in {_told(expected)}, starting anew in {_told(found)}"
            return Restarts(
                len(places), states, "exhausted", Violation("INV-39", text), going.graph.path(place)
            )
    return Restarts(len(places), states, "exhausted")


def _sees_everything(world: World) -> bool:
    return not any(name.startswith(SCHEDULER) for name in world.control.behind)


def _ends(found: Settled) -> Sequence[frozenset[End]]:
    """For each place of the graph, what the runs from there may come to."""
    states, edges = found.graph.states, [(source, target) for source, _, target in found.graph.edges]
    part = components(len(states), edges)
    ends: list[set[End]] = [set() for _ in range(max(part, default=-1) + 1)]
    for place in (*found.settled, *found.restless):
        ends[part[place]].add(end(states[place]))
    # Every edge leads to a part of the same or a lower number, so the lower ones are whole by then.
    for source, target in sorted(edges, key=lambda edge: part[edge[0]]):
        ends[part[source]] |= ends[part[target]]
    return [frozenset(ends[number]) for number in part]


def end(world: World) -> End:
    """What a run has come to, as it is stored: who is there, and on which node."""
    return tuple((pod.key, pod.node_name) for pod in as_stored(world).pods.values())


def _told(ends: frozenset[End]) -> str:
    return " or ".join(sorted(map(str, ends))) or "nothing"
