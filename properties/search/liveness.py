"""The promises of SEMANTICS 12.2 as the lasso search asks for them: to whom something is owed, and what keeps it.

Who is owed is read off single worlds, by the judges of `settled` and `quiescence`, which so far were asked where
runs settle only. A promise that is owed in passing is broken by no lasso, so they may be asked everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from math import inf

from attrs import evolve, frozen

from gangproof.impl.actions import Action, Step, clock, permit_timeouts, successors
from gangproof.impl.api import create, delete
from gangproof.impl.cycle_state import Event
from gangproof.impl.ghost import counts
from gangproof.impl.objects import Pod
from gangproof.impl.queue import notice
from gangproof.impl.rules import Rules
from gangproof.impl.store import as_stored, stored
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.judges.claim_judges import claims_of_the_gone, users_without_a_name
from gangproof.properties.judges.jobs import waiting_gangs, without
from gangproof.properties.judges.settled import gated_in_vain, preemptor_asleep
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search import quiescence
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.fairness import USERS, made_of
from gangproof.properties.search.lasso import Key, Lassos, Promise, lassos
from gangproof.properties.search.machine import CLOCK, Machine
from gangproof.properties.search.system import Violation
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.telling.promises import involved


def _each(
    judge: Callable[[World], Violation | None], property_id: str, plugin: str
) -> Callable[[World], Iterator[str]]:
    """The pods gated by the plugin of which the judge, asked of each of them alone, finds the property broken."""

    def owed(world: World) -> Iterator[str]:
        for entry in world.queue:
            asked = entry.place == "gated" and plugin in entry.plugins
            found = judge(evolve(world, queue=(entry,))) if asked else None
            if found is not None and found.property == property_id:
                yield entry.pod

    return owed


def _fitting(property_id: str) -> Callable[[World], Iterator[str]]:
    """Whoever waits although an exact search finds a place for it beside what runs and is promised."""

    def owed(world: World) -> Iterator[str]:
        for found in quiescence.stuck(world):
            if found.property == property_id:
                yield from involved(found, world)[:1]

    return owed


def _job_without(world: World) -> Iterator[str]:
    """The Jobs that lack their Workload, their PodGroup, pods or their end (LIVE-15)."""
    return (job.key for job, _ in without(world))


def _job_without_places(world: World) -> Iterator[str]:
    """The Jobs of whose gang some pods have no node, although all of these fit together beside the others (LIVE-15).

    What they are promised themselves is free for them, what others are promised or nominated to is not.
    """
    world = as_stored(world)
    for job, pending in waiting_gangs(world):
        mine = {pod.key for pod in pending}
        others = Table((key, node) for key, node in world.nominations.items() if key not in mine)
        promised = Table((key, node) for key, node in world.assumed.items() if key not in mine)
        if all(_may_be_placed(world, pod) for pod in pending):
            free = quiescence.room(evolve(world, assumed=Table({**others, **promised})))
            if len(quiescence.joint(world, free, pending).nodes) == len(pending):
                yield job.key


def _may_be_placed(world: World, pod: Pod) -> bool:
    """Whether capacity and the node alone decide where the pod may go, and nobody outside holds it back."""
    held = any(call.partition("/")[2] == pod.key for call in world.environment.held)
    kept_away = any(other.pod_anti_affinity.required for other in world.pods.values())
    known = pod.scheduler_name in world.settings.profiles
    return known and not (held or kept_away or pod.scheduling_gates or quiescence.beyond_exact(pod))


def _ungated(world: World) -> Iterator[str]:
    """Members without a place that nothing holds back at the gate (LIVE-03)."""
    for pod in world.pods.values():
        entry = world.entry(pod.key)
        waits = pod.node_name is None and pod.key not in world.assumed and counts(pod)
        if waits and pod.group is not None and (entry is None or entry.place != "gated"):
            yield pod.key


def _at_permit(world: World) -> Iterator[str]:
    """Members that wait for their siblings at Permit (LIVE-05)."""
    return (pod for pod, binding in world.bindings.items() if binding.call == "permit")


def _unplaced(world: World) -> Iterator[str]:
    """Groups with a member that waits for a place."""
    return (group for group, sets in world.members.items() if sets.unsched)


def _untold(world: World) -> Iterator[str]:
    groups = stored(world, "podGroup")
    return (group for group in _unplaced(world) if group in groups and not groups[group].condition)


def _with_backoff(world: World) -> Iterable[str]:
    return _unplaced(world) if world.settings.backoff else ()


def _tried(before: World, action: Action, after: World) -> Iterator[str]:
    """The pods with which a cycle begins in this step."""
    for then, now in fine_steps(before, action, after):
        if then.cycle is None and now.cycle is not None:
            yield from (pod.key for pod in now.cycle.members)


def _tries(before: World, action: Action, after: World) -> Iterator[str]:
    """The groups of which a cycle begins in this step."""
    for then, now in fine_steps(before, action, after):
        if then.cycle is None and now.cycle is not None and now.cycle.group is not None:
            yield now.cycle.group


def _justified(before: World, action: Action, after: World) -> Iterable[str]:
    """The groups that may be tried again after this step: their backoff is over, or something happened outside."""
    if action.name == CLOCK:
        pod = before.pods.get(action.args[0])
        return (action.args[0],) if pod is None or pod.group is None else (pod.group,)
    return before.members if action.name in (*USERS, "evict", "bind", "bind-fails") else ()


def _evictions(action: Action) -> Iterator[tuple[str, ...]]:
    """Of each eviction in this step its victim and its preemptor."""
    for done in made_of(action):
        if done.name == "evict":
            yield done.args


def _evicts(before: World, action: Action, after: World) -> Iterator[str]:
    """The groups for which an eviction takes a pod away in this step (LIVE-07)."""
    return (preemptor for _, preemptor, *_ in _evictions(action))


def _is_evicted(before: World, action: Action, after: World) -> Iterator[str]:
    """The groups from which an eviction takes a pod away in this step (LIVE-07)."""
    for victim, *_ in _evictions(action):
        pod = before.pods.get(victim)
        if pod is not None and pod.group is not None:
            yield pod.group


def _groups(world: World) -> Iterable[str]:
    return world.groups


LIVENESS = (
    Promise(
        "LIVE-01",
        "is gated for good although its group has enough members",
        _each(gated_in_vain, "LIVE-01", "GangScheduling"),
    ),
    Promise(
        "LIVE-02",
        "is gated for good although its group was placed before and has enough members",
        _each(gated_in_vain, "LIVE-02", "GangScheduling"),
    ),
    Promise("LIVE-03", "waits ungated and is never tried again", _ungated, _tried),
    Promise(
        "LIVE-04", "has room for all its members, which are alike, and is never placed", _fitting("LIVE-04")
    ),
    Promise("LIVE-05", "waits at Permit for ever", _at_permit),
    Promise(
        "LIVE-06",
        "waits for ever for a preemption that is over",
        _each(preemptor_asleep, "LIVE-06", "DefaultPreemption"),
        _tried,
    ),
    Promise("LIVE-07", "evicts again and again and is never placed", _unplaced, recurs=(_evicts,)),
    Promise("LIVE-07", "evicts and is evicted, over and over", _groups, recurs=(_evicts, _is_evicted)),
    Promise("LIVE-08", "has room and is never placed", _fitting("LIVE-08")),
    Promise(
        "LIVE-09", "is tried again and again without a pause", _with_backoff, _justified, recurs=(_tries,)
    ),
    Promise("LIVE-10", "has no name for a generated claim for ever", users_without_a_name),
    Promise("LIVE-11", "is kept for ever for a PodGroup that is gone", claims_of_the_gone),
    Promise("LIVE-13", "is tried again and again, and no condition tells why", _untold, recurs=(_tries,)),
    Promise("LIVE-15", "never gets its Workload, its PodGroup and all its pods, or its end", _job_without),
    Promise("LIVE-15", "has a gang that fits and is never bound", _job_without_places),
)
"""LIVE-01 to LIVE-11 and LIVE-13, LIVE-07 in two halves, and LIVE-15 in two.

The wait at Permit ends by the clock: unless it is `timing_out` it never does.
"""


def named(world: World) -> Hashable:
    """What tells worlds apart here: ages are forgotten, and how many a gang lost beyond its minimum; names are not."""
    return Symmetry(frozenset({*world.pods, *world.nodes}))(_told_apart(world))


def nameless(world: World) -> Hashable:
    """As `named`, but worlds that differ in the names of what is alike are one."""
    return Symmetry()(_told_apart(world))


def _told_apart(world: World) -> World:
    lost = world.ghost.lost
    if lost:
        enough = {group: min(number, _minimum(world, group)) for group, number in lost.items()}
        return evolve(world, ghost=evolve(world.ghost, lost=Table(enough)))
    return world


def _minimum(world: World, group: str) -> int:
    known = world.groups.get(group)
    return (known.min_count or 0) if known is not None else 0


def fair_runs(
    world: World, rules: Rules, limits: Limits, watched: Callable[[Key], Key] = lambda key: key
) -> Lassos:
    """Every promise, asked of every fair run from the world on, in which calls may fail any number of times.

    That is any finite number for each call, by the fairness of `lasso`; who restarts, deletes or crashes does so as
    often as the world's environment says.
    """
    endless = evolve(world.environment, failures=inf, refusals=inf)
    machine = Machine(rules, [evolve(world, environment=endless)], key=watched(named))
    return lassos(machine, LIVENESS, limits, watched(nameless))


Neighbour = Callable[[Rules, World], Iterable[tuple[Action, World]]]
"""Somebody who acts beside the scheduler, for ever: what he may do in a world, between cycles."""


@frozen
class Beside:
    """The machinery with neighbours who, once all is set up, never stop: a `System`."""

    rules: Rules
    start: World
    neighbours: tuple[Neighbour, ...]

    def initial(self) -> tuple[World]:
        return (self.start,)

    def key(self, world: World, /) -> Hashable:
        return named(world)

    def awaited(self, world: World, /) -> Iterable[Action]:
        """What time will bring about, whether the clock may move now or not."""
        return (action for action, _ in clock(world, self.rules))

    def successors(self, world: World, /) -> Iterator[Step]:
        yield from successors(world, self.rules)
        if world.cycle is None and not world.environment.arrivals:
            for neighbour in self.neighbours:
                yield from neighbour(self.rules, world)


def flushing(rules: Rules, world: World) -> Iterator[Step]:
    """The periodic flush of the queue (QUEUE-26)."""
    yield Action("flush"), notice(rules, world, Event("Flush"))


def timing_out(rules: Rules, world: World) -> Iterator[Step]:
    """The end of the wait at Permit (BIND-09)."""
    return permit_timeouts(world, rules)


def ending(rules: Rules, world: World) -> Iterator[Step]:
    """The kubelet ends each pod that is going on its node."""
    for pod in world.pods.values():
        if pod.terminating and pod.node_name is not None:
            yield Action("end", (pod.key,)), delete(rules, world, "pod", pod.key)


def replacing(*pods: Pod) -> Neighbour:
    """A controller that keeps one pod of a kind; it has several names for it, of which one must be free."""

    def replace(rules: Rules, world: World) -> Iterator[Step]:
        kept = [world.pods[pod.key] for pod in pods if pod.key in world.pods]
        free = [pod for pod in pods if pod.key not in world.pods]
        if free and all(pod.terminating for pod in kept):
            yield Action("replace", (free[0].key,)), create(rules, world, free[0])

    return replace
