"""Promises to those who wait: whoever fits is placed, strongest first, is woken, and is not tried without pause."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from gangproof.impl.objects import Pod
from gangproof.properties.conformance.events import Bound, Deleted, short
from gangproof.properties.conformance.recording import Look
from gangproof.properties.observed.cluster import (
    Cluster,
    alike,
    askers,
    can_place,
    counts,
    entity_of,
    foreign,
    holds_room,
    members,
    minimum,
    needed,
    pending,
    reservations,
    strength,
    untroubled,
)
from gangproof.properties.observed.history import Eviction, History, Moment, Rest, evictions
from gangproof.properties.observed.promise import Case, promise


def _kind(cluster: Cluster, entity: str, pods: tuple[Pod, ...]) -> str:
    """What kind of entity waits."""
    if entity not in cluster.groups:
        return "a plain pod" if all(pod.group is None for pod in pods) else "pods without their group"
    if minimum(cluster, entity) is None:
        return "a basic group"
    return "a gang" if alike(pods) else "a gang of unequal members"


def _entities(cluster: Cluster) -> list[str]:
    return sorted({entity_of(pod) for pod in cluster.pods.values() if pending(pod)})


def _weakest(cluster: Cluster, pods: tuple[Pod, ...]) -> int:
    return min(min(pod.priority, strength(cluster, pod)) for pod in pods)


@promise("work-conserving", "KEP-4671 LIVE-04 LIVE-08 LIVE-14")
def work_conserving(history: History) -> Iterator[Case]:
    """Nobody waits for good for whom there is a place: a pod that fits, as many members as a gang lacks.

    Room that is reserved for others who are not weaker is none. A gang of unequal members may be missed: KEP-4671
    says so; it is a kind of its own.
    """
    for rest in history.rests:
        for entity in _entities(rest.cluster):
            pods = askers(rest.cluster, entity)
            if not pods or not untroubled(rest.cluster, pods) or not _final(rest, pods):
                continue
            least = _weakest(rest.cluster, pods)
            reserved = reservations(rest.cluster, entity, least)
            fits = can_place(rest.cluster, entity, pods, reserved=reserved)
            going = any(p.terminating for p in rest.cluster.pods.values() if holds_room(p))
            kind = _kind(rest.cluster, entity, pods)
            aspect = f"{kind}, while others are on their way out" if going else kind
            lacks = needed(rest.cluster, entity)
            words = f"{short(entity)} waits, and there is a place for {_number(lacks)} of its pods"
            if entity == pods[0].key:
                words = f"{short(entity)} waits, and there is a place for it"
            about = (entity, *(pod.key for pod in pods if pod.key != entity))
            yield Case(rest.at, not fits, words, about, aspect, (("lacks", lacks), ("waiting", len(pods))))
    for moment, pod in history.binds():
        yield Case(moment.index, True, about=(pod.key,))


@promise("room-is-made", "KEP-4671 KEP-5710 LIVE-14 THM-20")
def room_is_made(history: History) -> Iterator[Case]:
    """Nobody waits for good who may preempt and who would have a place with weaker ones gone.

    Weaker is who has a lower priority, of members of groups the group's if group preemption is on.
    """
    for rest in history.rests:
        now = rest.cluster
        for entity in _entities(now):
            pods = askers(now, entity)
            if not pods or now.budgets or not untroubled(now, pods) or not _final(rest, pods):
                continue
            group = now.groups.get(entity)
            never = any(pod.preemption_policy == "Never" for pod in pods)
            if never or (group is not None and group.topology_keys is not None) or not alike(pods):
                continue
            mine = min(strength(now, pod) for pod in pods)
            weaker = [p for p in now.pods.values() if holds_room(p) and strength(now, p) < mine]
            if not weaker or any(p.terminating for p in weaker):
                continue
            reserved = reservations(now, entity, mine)
            fits = can_place(now, entity, pods, reserved=reserved)
            helps = can_place(now, entity, pods, without=[p.key for p in weaker], reserved=reserved)
            words = f"{short(entity)} waits, and would have a place with weaker ones gone"
            about = (entity, *(p.key for p in weaker))
            yield Case(rest.at, fits or not helps, words, about, _kind(now, entity, pods))


def _number(count: int) -> str:
    return "one" if count == 1 else str(count)


def _final(rest: Rest, pods: tuple[Pod, ...]) -> bool:
    """Whether nobody of them is where only the flush could help."""
    seen = [rest.look.pods.get(pod.key) for pod in pods]
    parked = any(s is not None and (s.place == "unschedulable" or s.place.startswith("gated")) for s in seen)
    return rest.for_good or not parked


@promise("strongest-first", "KEP-4671 INV-38 LIVE-08")
def strongest_first(history: History) -> Iterator[Case]:
    """Nobody weaker is given room that somebody stronger waits for, so that the stronger one stays without a place.

    The stronger one was there before the step in which the weaker one was bound, and its members are equal.
    """
    told = evictions(history)
    for rest in history.rests:
        for moment, pod in history.binds(rest.since, rest.at):
            begun = next(m for m in history.moments if m.step == moment.step)
            for entity in _entities(moment.before):
                pods = askers(moment.before, entity)
                if not pods or entity == entity_of(pod) or entity_of(pod) == pods[0].group:
                    continue
                mine = max(
                    max(p.priority, strength(moment.before, p))
                    for p in members(moment.before, entity_of(pod))
                )
                if _weakest(moment.before, pods) <= mine or not _there(begun.before, pods):
                    continue
                if not alike(pods) or not untroubled(moment.before, (*pods, pod)):
                    continue
                reserved = reservations(moment.before, entity, _weakest(moment.before, pods))
                reserved += _on_their_way(history, moment, entity, _weakest(moment.before, pods))
                if not can_place(moment.before, entity, pods, reserved=reserved):
                    continue
                left = can_place(moment.after, entity, pods, reserved=reserved)
                evicted = any(e.by == entity and e.victim.uid == pod.uid for e in told)
                served = any(entity_of(p) == entity for _, p in history.binds(moment.index, rest.at))
                aspect = f"{_kind(moment.after, entity, pods)}, " + (
                    "for which it has to go again" if evicted else "which waits on"
                )
                words = f"{short(pod.key)} is bound, and the stronger {short(entity)}, which fitted, "
                words += "has it evicted again" if evicted else "still waits"
                kept = left or (served and not evicted)
                yield Case(rest.at, kept, words, (pod.key, entity), aspect)


def _on_their_way(history: History, moment: Moment, entity: str, least: int) -> list[Pod]:
    """Others who are not weaker and are bound at the same time, as if nominated: binds come in any order."""
    return [
        evolve(pod, nominated_node_name=later.what.node)
        for later, pod in history.binds(moment.index + 1)
        if isinstance(later.what, Bound)
        and later.time - moment.time < 1
        and entity_of(pod) != entity
        and max(pod.priority, strength(later.before, pod)) >= least
    ]


def _there(cluster: Cluster, pods: tuple[Pod, ...]) -> bool:
    return all((old := cluster.pods.get(pod.key)) is not None and old.uid == pod.uid for pod in pods)


@frozen
class Gate:
    """A pod that a plugin holds back at a rest."""

    pod: Pod
    plugin: str


def _gates(rest: Rest) -> Iterator[Gate]:
    for key, seen in rest.look.pods.items():
        pod = rest.cluster.pods.get(key)
        if pod is not None and pending(pod) and seen.place.startswith("gated by "):
            yield Gate(pod, seen.place.removeprefix("gated by "))


@promise("woken", "KEP-4671 LIVE-01 LIVE-02 LIVE-06")
def woken(history: History) -> Iterator[Case]:
    """Nobody is held back for good by what is over: a gang that is complete, a preemption whose victims are gone."""
    told = evictions(history)
    for rest in history.rests:
        for gate in _gates(rest):
            group = gate.pod.group
            if gate.plugin == "GangScheduling" and group is not None and group in rest.cluster.groups:
                everybody = members(rest.cluster, group)
                mine = [pod for pod in everybody if counts(pod) and not foreign(rest.cluster, pod)]
                least = minimum(rest.cluster, group) or 0
                alive = sum(not pod.terminal for pod in mine)
                aspect = (
                    "its gang is complete"
                    if alive >= least
                    else "its gang is complete with those that succeeded"
                )
                words = f"{short(gate.pod.key)} is held back, and {short(group)} has {len(mine)} of {least} members"
                numbers = (("members", len(mine)), ("minimum", least))
                yield Case(rest.at, len(mine) < least, words, (gate.pod.key, group), aspect, numbers)
            elif gate.plugin == "DefaultPreemption":
                entity = entity_of(gate.pod)
                running = any(_under_way(rest.cluster, e, entity) for e in told if e.at < rest.at)
                words = f"{short(gate.pod.key)} is held back for a preemption that is over"
                kind = "a plain pod" if gate.pod.group is None else "a group"
                yield Case(rest.at, running, words, (gate.pod.key,), f"{kind}, its preemption is over")
    for moment, pod in history.binds():
        if pod.group is not None:
            yield Case(moment.index, True, about=(pod.key,))


def _under_way(cluster: Cluster, eviction: Eviction, entity: str) -> bool:
    pod = cluster.pods.get(eviction.victim.key)
    return eviction.by == entity and pod is not None and pod.uid == eviction.victim.uid and pod.terminating


@promise("nomination-ends", "KEP-4671 INV-37")
def nomination_ends(history: History) -> Iterator[Case]:
    """A pod keeps a node reserved only while room is made for it there: at rest nothing is reserved in vain."""
    ever = {
        pod.uid for moment in history.moments for pod in moment.after.pods.values() if pod.nominated_node_name
    }
    for rest in history.rests:
        now = rest.cluster
        for pod in now.pods.values():
            node = pod.nominated_node_name
            if pod.uid not in ever or not counts(pod):
                continue
            if node is None or not pending(pod):
                yield Case(rest.at, True, about=(pod.key,))
                continue
            made = any(
                p.terminating
                for p in now.pods.values()
                if holds_room(p) and _same_plan(now, pod, p.node_name)
            )
            blocked = [] if made else _blocked(rest, pod)
            words = f"{short(pod.key)} keeps {node} reserved, and nobody is on the way out there"
            if blocked:
                words += f"; {short(blocked[0])} would fit"
            holder = "a plain pod" if pod.group is None else "a group"
            aspect = f"{holder}, it keeps others from room" if blocked else f"{holder}, left over"
            yield Case(rest.at, made, words, (pod.key, node, *blocked[:1]), aspect)


def _same_plan(cluster: Cluster, pod: Pod, node: str | None) -> bool:
    """Whether the pod or a sibling of it is nominated to the node."""
    return any(p.nominated_node_name == node for p in members(cluster, entity_of(pod)))


def _blocked(rest: Rest, holder: Pod) -> list[str]:
    """Who waits, and would have a place without what this pod and its siblings keep reserved."""
    now, found = rest.cluster, list[str]()
    for entity in _entities(now):
        pods = askers(now, entity)
        if entity == entity_of(holder) or not pods or not untroubled(now, pods) or not _final(rest, pods):
            continue
        kept = reservations(now, entity, _weakest(now, pods))
        others = [pod for pod in kept if entity_of(pod) != entity_of(holder)]
        if can_place(now, entity, pods, reserved=others) and not can_place(now, entity, pods, reserved=kept):
            found.append(entity)
    return found


@promise("nominations-fit", "KEP-5710 INV-37")
def nominations_fit(history: History) -> Iterator[Case]:
    """The members of a group are nominated to nodes that have room for them all once the victims are gone."""
    for rest in history.rests:
        now = rest.cluster
        by_place: dict[tuple[str, str], list[Pod]] = {}
        for pod in now.pods.values():
            name = pod.nominated_node_name
            if pending(pod) and name is not None and name in now.nodes and pod.group is not None:
                by_place.setdefault((pod.group, name), []).append(pod)
        for (group, name), pods in sorted(by_place.items()):
            stay = [
                p for p in now.pods.values() if holds_room(p) and p.node_name == name and not p.terminating
            ]
            for resource, whole in now.nodes[name].allocatable.items():
                asked = sum(p.requests.get(resource, 0) for p in (*stay, *pods))
                if asked > whole and any(p.requests.get(resource, 0) for p in pods):
                    words = f"{name} has {resource} for {whole}; who stays and {short(group)}'s nominated need {asked}"
                    about = (group, name, *(p.key for p in pods))
                    manner = "by a group" if now.gates.workload_aware_preemption else "by a member"
                    yield Case(rest.at, False, words, about, manner, (("needed", asked), ("there", whole)))
                    break
            else:
                yield Case(rest.at, True)


@promise("backoff", "KEP-4671 LIVE-09 QUEUE-20")
def backoff(history: History) -> Iterator[Case]:
    """Who fails is tried again after a pause: with nothing happening, not more often than once a second."""
    if not history.backoff:
        return
    looks = [(m.index, m.what) for m in history.moments if isinstance(m.what, Look)]
    before: tuple[int, Look | None] = (0, None)
    for index, look in looks:
        since, earlier = before
        begin = earlier.time if earlier is not None else 0.0
        quiet = not any(isinstance(m.what, Bound | Deleted) for m in history.moments[since:index])
        for key, seen in look.pods.items():
            pod = history.moments[index].after.pods.get(key)
            old = earlier.pods.get(key) if earlier is not None else None
            tries, seconds = seen.attempts - (old.attempts if old is not None else 0), look.time - begin
            if pod is None or not pending(pod) or not seen.attempts or seconds < PATIENCE or not quiet:
                continue
            kind = "a plain pod" if pod.group is None else "a group"
            words = f"{short(key)} is tried {tries} times within {seconds:.0f} s in which nothing happens"
            numbers = (("tries", tries), ("seconds", round(seconds)))
            yield Case(index, tries <= seconds + PATIENCE, words, (key,), kind, numbers)
        before = (index, look)


PATIENCE = 5

WAITING = (
    work_conserving,
    room_is_made,
    strongest_first,
    woken,
    nomination_ends,
    nominations_fit,
    backoff,
)
