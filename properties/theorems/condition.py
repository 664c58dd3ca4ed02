"""What `PodGroupScheduled=True` says for good: that a decision was made, and nothing of what came after it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

from gangproof.impl.actions import Action
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import World
from gangproof.properties.search.explore import explore_graph
from gangproof.properties.search.graph import components, final
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.system import Path
from gangproof.properties.theorems.theorem import Answer, Case, Refutation, Theorem, first
from gangproof.properties.worlds.named import gang, node, pod, world

KEY = "default/g1"


def cases() -> Iterator[Case]:
    """A gang of one to three, all needed, on up to two nodes of 1 or 2 CPUs."""
    for nodes in (c for number in (1, 2) for c in combinations_with_replacement((1, 2), number)):
        for members in (1, 2, 3):
            hosts = (node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1))
            yield Case((*hosts, gang("g1", members), *(pod(f"p{i}", "g1") for i in range(1, members + 1))))


def _graph(case: Case) -> tuple[tuple[World, ...], tuple[tuple[int, Action, int], ...]]:
    """Everything that may happen while one bind may fail and a user may delete one pod, or the group."""
    start = world(*case.objects, failures=1, deletions=1)
    _, graph = explore_graph(Machine(INTENDED, [start]))
    return graph.states, graph.edges


def _status(now: World) -> str | None:
    group = now.groups.get(KEY)
    return group.condition.status if group is not None and group.condition is not None else None


def never_taken_back() -> Answer:
    """THM-10: a step that makes a True condition anything else, or makes one True without a decision."""

    def refutes(case: Case) -> Refutation | None:
        states, edges = _graph(case)
        for source, action, target in edges:
            before, after = states[source], states[target]
            if KEY not in before.groups or KEY not in after.groups:
                continue
            path = Path(before, ((action, after),))
            if _status(before) == "True" and _status(after) != "True":
                return path, f"True becomes {_status(after)}"
            if _status(after) == "True" != _status(before) and action.args[1:2] != ("Success",):
                return path, f"{action} makes the condition True"
        return None

    return first(cases(), refutes)


def true_but_not_there() -> Answer:
    """THM-10, the converse: a run that ends, with True, and in which fewer than the minimum were bound at any time."""

    def refutes(case: Case) -> Refutation | None:
        states, edges = _graph(case)
        found = components(len(states), [(source, target) for source, _, target in edges])
        last = final(found, [(source, target) for source, _, target in edges])
        minimum = sum(pod.group == KEY for pod in case.pods)
        few = [sum(p.node_name is not None for p in now.pods.values()) < minimum for now in states]
        ways: dict[int, Path[World, Action]] = {0: Path(states[0])}
        for source, action, target in edges:
            if source in ways and target not in ways and few[target]:
                ways[target] = Path(states[0], (*ways[source].steps, (action, states[target])))
        for place, path in ways.items():
            if found[place] in last and _status(path.last) == "True":
                bound = max(sum(p.node_name is not None for p in now.pods.values()) for now in path.states)
                return path, f"the condition is True, and {bound} of {minimum} were ever bound"
        return None

    return first(cases(), refutes)


THEOREMS = (
    Theorem(
        "THM-10",
        "True stays",
        "Once a decision has made PodGroupScheduled True it stays True, whatever becomes of the members, and "
        "nothing but a decision makes it True.",
        "gangs of up to three, all needed, on up to two nodes of 1 or 2 CPUs; one bind may fail, a user may delete "
        "one pod or the group at any time",
        "shown",
        never_taken_back,
    ),
    Theorem(
        "THM-10",
        "True means that the members were bound some time",
        "Where PodGroupScheduled is True the minimum of members was bound at some time.",
        "the same runs",
        "refuted",
        true_but_not_there,
    ),
)
