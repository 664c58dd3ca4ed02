"""Promises about each single eviction: the victim is weaker, no sibling, a whole unit, and evicted once."""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.impl.objects import Pod
from gangproof.properties.conformance.events import short
from gangproof.properties.observed.cluster import Cluster, entity_of, holds_room, members, strength
from gangproof.properties.observed.history import Eviction, History, evictions
from gangproof.properties.observed.promise import Case, promise


def manner(cluster: Cluster, eviction: Eviction) -> str:
    """How it was decided: by a plain pod, by a group as a whole, or by a member inside its group's cycle."""
    if eviction.by is None:
        return "by nobody named"
    if eviction.by == eviction.asker:
        return "by a plain pod"
    return "by a group" if cluster.gates.workload_aware_preemption else "by a member"


def preemptors(cluster: Cluster, eviction: Eviction) -> list[Pod]:
    """The pods for which it is: the one that asked, or all pending ones of the group, or just anybody pending."""
    if eviction.asker is not None and eviction.asker in cluster.pods:
        return [cluster.pods[eviction.asker]]
    others = [pod for pod in cluster.pods.values() if pod.node_name is None and not pod.terminal]
    return [pod for pod in others if eviction.by in (None, entity_of(pod))]


@promise("weaker-victim", "KEP-5710 INV-16 PREEMPT-06")
def weaker_victim(history: History) -> Iterator[Case]:
    """Only who is weaker is evicted; of a member of a group, with group preemption on, the group's priority counts."""
    for eviction in evictions(history):
        cluster = history.moments[eviction.at].before
        mine = strength(cluster, eviction.victim)
        asking = [strength(cluster, pod) for pod in preemptors(cluster, eviction)]
        if asking and (eviction.by is None or eviction.by != eviction.victim.group):
            best = max(asking)
            words = f"{short(eviction.victim.key)} has priority {mine} and is evicted for one of {best}"
            about = (eviction.victim.key, *filter(None, (eviction.by,)))
            numbers = (("victim", mine), ("preemptor", best))
            yield Case(eviction.at, mine < best, words, about, manner(cluster, eviction), numbers)


@promise("no-own-eviction", "KEP-5710 INV-04 THM-17")
def no_own_eviction(history: History) -> Iterator[Case]:
    """No group evicts a member of its own."""
    for eviction in evictions(history):
        cluster = history.moments[eviction.at].before
        grouped = eviction.victim.group is not None and eviction.victim.group in cluster.groups
        if eviction.by is not None and grouped and eviction.by != eviction.asker:
            words = f"{short(eviction.by)} evicts its own member {short(eviction.victim.key)}"
            kept = eviction.victim.group != eviction.by
            about = (eviction.by, eviction.victim.key)
            if kept:
                yield Case(eviction.at, True)
            else:
                yield Case(eviction.at, False, words, about, manner(cluster, eviction))


@promise("whole-unit", "KEP-5710 INV-17 THM-18")
def whole_unit(history: History) -> Iterator[Case]:
    """Of a group with disruptionMode PodGroup all running members are evicted, or none."""
    judged: set[tuple[int, str | None, int]] = set()
    for eviction in evictions(history):
        cluster, rest = history.moments[eviction.at].before, history.next_rest(eviction.at)
        group = cluster.groups.get(eviction.victim.group or "")
        atomic = group is not None and group.disruption_mode == "PodGroup"
        if rest is None or group is None or not atomic or not cluster.gates.workload_aware_preemption:
            continue
        unit = [pod for pod in members(cluster, group.key) if holds_room(pod) and not pod.terminating]
        if len(unit) < 2 or (rest.at, eviction.by, group.uid) in judged:
            continue
        judged.add((rest.at, eviction.by, group.uid))
        left = [
            pod.key
            for pod in unit
            if (now := rest.cluster.pods.get(pod.key)) is not None
            and now.uid == pod.uid
            and not now.terminating
            and not now.terminal
        ]
        words = f"of {short(group.key)}, mode PodGroup, {short(eviction.victim.key)} is evicted and {_list(left)} not"
        about = (group.key, eviction.victim.key, *left)
        yield Case(rest.at, not left, words, about, manner(cluster, eviction))


@promise("evicted-once", "KEP-4671 PREEMPT-49")
def evicted_once(history: History) -> Iterator[Case]:
    """A pod that is on its way out already is not evicted again."""
    for eviction in evictions(history):
        words = f"{short(eviction.victim.key)} is on its way out and is deleted once more"
        cluster = history.moments[eviction.at].before
        aspect = manner(cluster, eviction)
        yield Case(eviction.at, not eviction.victim.terminating, words, (eviction.victim.key,), aspect)


@promise("refused", "KEP-5710 KEP-5732 INV-19")
def refused(history: History) -> Iterator[Case]:
    """Nobody is evicted for a pod whose preemptionPolicy is Never, or for a group with a topology constraint."""
    for eviction in evictions(history):
        cluster = history.moments[eviction.at].before
        group = cluster.groups.get(eviction.by or "")
        asking = preemptors(cluster, eviction)
        pods = [pod for pod in asking if not pod.scheduling_gates]
        if eviction.by is None or not pods:
            continue
        if group is not None and group.topology_keys and cluster.gates.topology_aware_workload_scheduling:
            why = "although its members are to be kept together"
        elif all(pod.preemption_policy == "Never" for pod in pods):
            why = "although it must not preempt"
        else:
            yield Case(eviction.at, True)
            continue
        words = f"{short(eviction.victim.key)} is evicted for {short(eviction.by)}, {why}"
        about = (eviction.by, eviction.victim.key)
        yield Case(eviction.at, False, words, about, manner(cluster, eviction))


def _list(keys: list[str]) -> str:
    return ", ".join(map(short, keys)) or "nobody"


EVICTING = (weaker_victim, no_own_eviction, whole_unit, evicted_once, refused)
