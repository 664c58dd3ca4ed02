"""The next cycle of one group or pod, played: who stands before it, what it comes to, and what if.

Everything that an explanation says about the future is a cycle of the machinery in some world, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from gangproof.impl.actions import cycle_steps
from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.impl.memory import Entry, NodeInfo
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.single import may_preempt, preempt_for
from gangproof.impl.queue import group_of
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.steps import AskAsGroupStep, AskStep, Wish
from gangproof.impl.strength import strength
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.explanation.model import Ahead, Queue
from gangproof.properties.explanation.ways import few, one_way, only_nodes_decide

MOST_WAYS = 64
WORK_AHEAD = 20_000
WORK_FOR_EVICTIONS = 20_000
NAMED_AHEAD = 5
NODES_TO_EVICT_ON = 100


@frozen
class Attempt:
    """A world in which a cycle has its verdict; `cycle` is that cycle."""

    world: World
    cycle: Cycle

    @property
    def fits(self) -> bool:
        return self.cycle.code == "Success"

    @property
    def helps(self) -> bool:
        """Whether a place is found, at once or after evictions."""
        return self.cycle.code in ("Success", "Waiting")


@frozen
class Trying:
    """How cycles of one entity (a group's or a plain pod's key) are played in one world and those like it.

    `every_way` says that all open choices are followed, up to 64 ways; otherwise one is. `unweighed` tells
    which evictions are not worked out because there are too many candidates, "" if all are; `nobody_weaker` that
    there is nobody to evict.
    """

    rules: Rules
    every_way: bool
    unweighed: str = ""
    nobody_weaker: bool = False

    def attempts(self, world: World, entity: str) -> list[Attempt]:
        """The verdicts of a cycle of the entity alone; none if it is not tried at all."""
        found: list[Attempt] = []
        for at, cycle in verdicts(alone(world, entity), self.rules):
            found.append(Attempt(at, cycle))
            if not self.every_way or len(found) == MOST_WAYS:
                break
        return found

    def attempt(self, world: World, entity: str) -> Attempt | None:
        """The first verdict that finds no place, of those that are followed; the first if all find one."""
        found = self.attempts(world, entity)
        return next((one for one in found if not one.helps), found[0] if found else None)


def trying(world: World, rules: Rules, entity: str, members: Sequence[Pod]) -> Trying:
    """How to play the entity's cycles here: every way in a small world, one way in a large one."""
    if few(world, len(members)):
        return Trying(rules, every_way=True)
    way = one_way(rules)
    candidates = _weaker(world, members)
    if not candidates:
        return Trying(profile(way, NOBODY_WEAKER, NOT_AS_GROUP), every_way=False, nobody_weaker=True)
    if candidates * len(members) * len(world.cache) <= WORK_FOR_EVICTIONS:
        return Trying(way, every_way=False)
    grouped = members[0].group is not None and world.settings.gates.generic_workload
    if not grouped:
        return Trying(profile(way, ON_SOME_NODES), every_way=False)
    if not world.settings.gates.workload_aware_preemption:
        unweighed = f"what its members evict one by one, out of {candidates} weaker pods"
        return Trying(profile(way, NOBODY_WEAKER), every_way=False, unweighed=unweighed)
    snapshot = Snapshot(world.cache)
    same = {(pod.requests, pod.node_selector, pod.tolerations, pod.node_affinity) for pod in members}
    if len(same) == 1 and all(only_nodes_decide(pod, snapshot) for pod in members):
        return Trying(way, every_way=False)
    unweighed = f"which of {candidates} weaker pods the group would evict"
    return Trying(profile(way, NOBODY_WEAKER, NOT_AS_GROUP), every_way=False, unweighed=unweighed)


def _weaker(world: World, members: Sequence[Pod]) -> int:
    """How many pods on nodes may be weaker than a member, by their own or their group's priority."""
    mine = max((max(pod.priority, strength(world, pod)) for pod in members), default=0)
    return sum(
        min(pod.priority, strength(world, pod)) < mine
        for info in world.cache.values()
        for pod in info.pods.values()
    )


def nobody_weaker(_: AskStep) -> AskStep:
    """There is nobody to evict, so nobody asks."""

    def ask(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[Wish, ...]:
        return ()

    return ask


def not_as_group(_: AskAsGroupStep) -> AskAsGroupStep:
    """The group step is left out."""

    def ask_as_group(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
        return (cycle,)

    return ask_as_group


def on_some_nodes(_: AskStep) -> AskStep:
    """The search for victims ends after the first 100 nodes where some would do (PREEMPT-46)."""

    def ask(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[Wish, ...]:
        snapshot = cycle.snapshot
        if snapshot is None or not may_preempt(world, pod, cycle.preemptor):
            return ()
        mine = strength(world, pod)
        some: dict[str, NodeInfo] = {}
        for name, info in snapshot.nodes.items():
            if any(min(other.priority, strength(world, other)) < mine for other in info.pods.values()):
                some[name] = info
                found = preempt_for(rules, world, evolve(snapshot, nodes=Table({name: info})), pod)
                if not found:
                    del some[name]
            if len(some) == NODES_TO_EVICT_ON:
                break
        found = preempt_for(rules, world, evolve(snapshot, nodes=Table(some)), pod) if some else ()
        return tuple(Wish(choice.node, choice.pods, choice.beyond) for choice in found[:1])

    return ask


NOBODY_WEAKER = Change("nobody weaker", "nobody asks for an eviction", {"ask": nobody_weaker})
NOT_AS_GROUP = Change("no group step", "the group evicts nobody", {"ask_as_group": not_as_group})
ON_SOME_NODES = Change("some nodes", "victims are looked for on 100 nodes", {"ask": on_some_nodes})


def verdicts(world: World, rules: Rules) -> Iterator[tuple[World, Cycle]]:
    """The worlds in which the next cycle has its verdict, one for each way, the first way first."""
    stack = [world]
    while stack:
        now = stack.pop()
        if now.cycle is not None and now.cycle.stage == "submitting":
            yield now, now.cycle
        elif now.cycle is not None or now is world:
            stack.extend(after for _, after in reversed(list(cycle_steps(now, rules))))


def entity_of(world: World, pod: Pod) -> str:
    """The key of what is tried when the pod is: its group, or itself."""
    return pod.group if pod.group is not None and world.settings.gates.generic_workload else pod.key


def alone(world: World, entity: str) -> World:
    """The world with only the entity's own pods ready to be tried."""

    def moved(entry: Entry) -> Entry:
        if entry.place == "gated":
            return entry
        if _entity(world, entry) == entity:
            return evolve(entry, place="active", cooling=False)
        return evolve(entry, place="pool")

    return evolve(world, queue=tuple(map(moved, world.queue)))


def as_dumped(world: World) -> World:
    """A world made from a dump: pods that were tried before wait, and nominations are remembered.

    A pod that is reported unschedulable had its turn; a member of a group waits in backoff, another pod for
    an event (QUEUE-20 to QUEUE-22).
    """

    def tried(entry: Entry) -> Entry:
        pod = world.pods[entry.pod]
        if entry.place != "active" or pod.unscheduled_reason is None:
            return entry
        return evolve(entry, place="backoff" if pod.group is not None else "pool", tried=True)

    nominated = {entry.pod: world.pods[entry.pod].nominated_node_name for entry in world.queue}
    return evolve(
        world,
        queue=tuple(map(tried, world.queue)),
        nominations=Table({pod: node for pod, node in nominated.items() if node is not None}),
    )


def standing(world: World, entity: str) -> Queue:
    """Where the entity stands in the queue, and who is before it (QUEUE-18)."""
    own = [entry for entry in world.queue if _entity(world, entry) == entity]
    if not own:
        return Queue("none")
    active = [entry for entry in world.queue if entry.place == "active"]
    first = next((e for e in _in_order(world, active) if _entity(world, e) == entity), None)
    if first is None:
        places = [entry.place for entry in own]
        return Queue(next(place for place in ("backoff", "pool", "gated") if place in places))
    before: dict[str, int] = {}
    for entry in _in_order(world, active):
        if entry is first:
            break
        key = _entity(world, entry)
        before[key] = before.get(key, 0) + 1
    named = tuple(Ahead(key, number) for key, number in list(before.items())[:NAMED_AHEAD])
    return Queue("active", named, len(before), sum(before.values()))


def play_ahead(world: World, rules: Rules, entity: str, queue: Queue) -> tuple[World, Queue]:
    """The world after everybody before the entity had a turn, if that is little work; else the same world."""
    if not queue.entities_ahead or queue.pods_ahead * len(world.cache) > WORK_AHEAD:
        return world, queue
    outcomes: dict[str, str] = {}
    now = world
    way = one_way(rules)
    for _ in range(queue.entities_ahead):
        first = way.ready(now)
        if first is None or _entity(now, first) == entity or _entity(now, first) in outcomes:
            break
        key = _entity(now, first)
        now, outcomes[key] = _one_cycle(now, way)
    ahead = tuple(evolve(one, outcome=outcomes.get(one.entity, "")) for one in queue.ahead)
    return now, evolve(queue, ahead=ahead, simulated=True)


def _one_cycle(world: World, rules: Rules) -> tuple[World, str]:
    """The world after the next cycle, by the first way, and what the cycle came to."""
    told = "skipped"
    while True:
        step = next(cycle_steps(world, rules), None)
        if step is None:
            return world, told
        action, world = step
        if action.name == "submit":
            told = {"Success": "placed", "Waiting": "evicts", "Error": "error"}.get(
                action.args[1], "no place"
            )
        if world.cycle is None:
            return world, told


def _in_order(world: World, entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: -world.pods[entry.pod].priority)


def _entity(world: World, entry: Entry) -> str:
    group = group_of(world, entry)
    return group or entry.pod
