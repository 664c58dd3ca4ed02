"""Several gangs that want the same room: who gets it, and whether they can hold it from each other for ever."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.ghost import counts
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import World
from gangproof.properties.search.explore import Limits, explore_graph
from gangproof.properties.search.graph import components, final
from gangproof.properties.search.lasso import Promise, lassos
from gangproof.properties.search.machine import Machine, settle
from gangproof.properties.search.system import Path, Questions
from gangproof.properties.theorems.pair import NAMES, Pair
from gangproof.properties.theorems.theorem import Answer, Case, Refutation, Theorem, first
from gangproof.properties.worlds.named import gang, node, pod, world


def _halves(now: World) -> list[str]:
    """The gangs that have a part of their minimum and not all of it."""
    found: list[str] = []
    for group in now.groups.values():
        placed = sum(
            counts(p) and (p.node_name is not None or p.key in now.assumed)
            for p in now.pods.values()
            if p.group == group.key
        )
        if 0 < placed < (group.min_count or 0):
            found.append(group.key)
    return found


def both_held(now: World) -> list[str]:
    """Each of several gangs that have a part only, if there are several."""
    found = _halves(now)
    return found if len(found) > 1 else []


HELD = Promise(
    "THM-07", "holds a part of what another gang needs, for ever, and the other way round", both_held
)


def two_gangs() -> Iterator[Case]:
    """Two gangs of two or three, all needed, whose pods arrive in turn; up to three nodes of 1 to 3 CPUs."""
    for nodes in (c for number in (1, 2, 3) for c in combinations_with_replacement((1, 2, 3), number)):
        for one, two in ((2, 2), (2, 3), (3, 2)):
            if sum(nodes) >= one + two:
                continue
            members = [pod(f"p{i}", "g1") for i in range(1, one + 1)] + [
                pod(f"q{i}", "g2") for i in range(1, two + 1)
            ]
            for order in ("in turn", "one after the other"):
                last = sorted(members, key=_turn) if order == "in turn" else members
                hosts = (node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1))
                yield Case((*hosts, gang("g1", one), gang("g2", two), *last))


def _turn(member: Pod) -> str:
    return member.name[1:]


def held() -> Answer:
    """THM-07: a fair run in which two gangs keep each other waiting, whatever comes in between; one bind may fail."""

    def refutes(case: Case) -> Refutation | None:
        found = lassos(Machine(INTENDED, [world(*case.objects, failures=1)]), [HELD]).found
        return next(((lasso.path, str(lasso.violation)) for lasso in found.values()), None)

    return first(two_gangs(), refutes)


def _room_for_either(case: Case) -> bool:
    room = sum(each.allocatable["cpu"] for each in case.nodes) // 1000
    return room >= max(obj.min_count or 0 for obj in case.objects if isinstance(obj, PodGroup))


def exactly_one() -> Answer:
    """THM-08: a run that does not end with the one gang placed that was ready first, each having room alone."""

    def refutes(case: Case) -> Refutation | None:
        start = case.world()
        ready = next(entry.pod for entry in start.queue if entry.place == "active")
        winner = start.pods[ready].group
        first_gang = [p.key for p in case.pods if p.group == winner]
        for end in settle(Machine(INTENDED, [start]), Questions(), Limits()).worlds:
            bound = [p.key for p in end.pods.values() if p.node_name is not None]
            if bound != sorted(first_gang):
                return Path(end), f"{', '.join(bound) or 'nobody'} is placed in the end, not {winner}"
        return None

    return first(filter(_room_for_either, two_gangs()), refutes)


def shared_cases() -> Iterator[Case]:
    """Two gangs of one or two, all needed, of different schedulers, and up to two nodes of 1 or 2 CPUs."""
    for nodes in (c for number in (1, 2) for c in combinations_with_replacement((1, 2), number)):
        for one, two in product((1, 2), repeat=2):
            members = [pod(f"p{i}", "g1") for i in range(1, one + 1)]
            others = [evolve(pod(f"q{i}", "g2"), scheduler_name=NAMES[1]) for i in range(1, two + 1)]
            hosts = (node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1))
            yield Case((*hosts, gang("g1", one), gang("g2", two), *members, *others))


def deadlock() -> Answer:
    """THM-09: a run of two schedulers into a part of the graph that it cannot leave, in which two gangs hold a
    part of what they need; the run is told as the first scheduler sees it."""

    def refutes(case: Case) -> Refutation | None:
        _, graph = explore_graph(Pair(case.objects))
        edges = [(source, target) for source, _, target in graph.edges]
        found = components(len(graph.states), edges)
        last = final(found, edges)
        came = {
            target: (source, action) for source, action, target in reversed(graph.edges) if source < target
        }
        for place, state in enumerate(graph.states):
            if found[place] not in last or not both_held(state.one) or not both_held(state.other):
                continue
            steps: list[tuple[Action, World]] = []
            while place in came:
                source, action = came[place]
                steps.append((action, graph.states[place].one))
                place = source
            run = Path(graph.states[place].one, tuple(reversed(steps)))
            return run, "each gang runs in part, and holds the room that the other one lacks"
        return None

    return first(shared_cases(), refutes)


THEOREMS = (
    Theorem(
        "THM-07",
        "gangs do not hold room from each other for ever",
        "No fair run of one scheduler has two gangs that each hold a part of their minimum for ever.",
        "two gangs of two, or of two and three, all needed, on up to three nodes of 1 to 3 CPUs with room for less "
        "than both; pods arrive one after the other or in turn, anything in between; one bind may fail",
        "shown",
        held,
    ),
    Theorem(
        "THM-08",
        "the gang that was ready first is placed, alone",
        "Of two gangs of equal priority that each have room alone but not together exactly the first is placed.",
        "the same worlds as far as each gang has room, all set up before the scheduler acts, every tie",
        "shown",
        exactly_one,
    ),
    Theorem(
        "THM-09",
        "gangs of two schedulers do not hold room from each other for ever",
        "The same as THM-07 for two schedulers, each with a gang of its own. (Each sees what the other bound, not "
        "what it promised; the kubelet refuses a pod without room, and a controller makes it once more.)",
        "two gangs of one or two, all needed, on up to two nodes of 1 or 2 CPUs, every order of what both do",
        "refuted",
        deadlock,
    ),
)
