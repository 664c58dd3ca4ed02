"""A recorded run as a trace: what users and the scheduler did, step by step, drawn like any other counterexample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from attrs import evolve, frozen

from gangproof.counterexamples import trace as shown
from gangproof.impl.objects import Condition
from gangproof.impl.table import Table
from gangproof.impl.world import Entry, Members, NodeInfo, QueuePlace, World
from gangproof.properties.conformance.events import (
    Bound,
    Conditioned,
    Deleted,
    Nominated,
    Preempted,
    short,
)
from gangproof.properties.conformance.recording import Advance, Calls, Look, Restart
from gangproof.properties.frames import frame, resources_of
from gangproof.properties.observed.cluster import Cluster, holds_room, members, pending, placed
from gangproof.properties.observed.history import Ended, Gone, History, Made, Moment

PLACES: dict[str, QueuePlace] = {"backoff": "backoff", "unschedulable": "pool"}


@frozen
class Story:
    """What a run shows: the id of what it breaks, the claim, and what is not so, of whom, by which numbers."""

    property: str
    title: str
    clause: str
    claim: str = ""
    citation: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    numbers: tuple[tuple[str, int | str], ...] = ()
    meta: tuple[tuple[str, str], ...] = ()


def draw(history: History, at: int, story: Story) -> shown.Trace:
    """The run up to this moment. What users set up before the scheduler first acts is its first frame."""
    first = next((m.index for m in history.moments if not (m.by_user or isinstance(m.what, Look))), at)
    begin = min(first, at)
    told = [(m, text) for m in history.moments[begin : at + 1] if (text := _told(m)) is not None]
    start = history.moments[begin].before if history.moments else Cluster()
    worlds = [_world(start, None), *(_world(m.after, None) for m, _ in told)]
    look = next((m.what for m in history.moments[at : at + 1] if isinstance(m.what, Look)), None)
    worlds[-1] = _world(history.moments[at].after if history.moments else start, look)
    resources = resources_of(worlds)
    known = {*worlds[-1].pods, *worlds[-1].groups, *worlds[-1].nodes}
    return shown.Trace(
        title=story.title,
        frames=tuple(frame(world, resources) for world in worlds),
        events=tuple(_events(told)),
        property_id=story.property,
        claim=story.claim,
        clause=story.clause,
        citation=story.citation,
        numbers=story.numbers,
        involved=tuple(name for name in story.about if name in known),
        meta=story.meta,
    )


def _world(cluster: Cluster, look: Look | None) -> World:
    """As much of a world as can be seen; who waits where in the queue is known where somebody looked."""
    groups = {
        key: evolve(group, condition=_condition(cluster.conditions.get(key)))
        for key, group in cluster.groups.items()
    }
    return World(
        nodes=cluster.nodes,
        pods=cluster.pods,
        groups=Table(groups),
        cache=Table({name: _info(cluster, name) for name in cluster.nodes}),
        members=Table({key: _members(cluster, key) for key in cluster.groups}),
        queue=tuple(_entries(cluster, look)),
    )


def _condition(written: Conditioned | None) -> Condition | None:
    return written and Condition(cast(Any, written.status), cast(Any, written.reason), written.message)


def _info(cluster: Cluster, node: str) -> NodeInfo:
    here = {pod.key: pod for pod in cluster.pods.values() if pod.node_name == node and holds_room(pod)}
    used: dict[str, int] = {"pods": len(here)}
    for pod in here.values():
        for resource, amount in pod.requests.items():
            used[resource] = used.get(resource, 0) + amount
    return NodeInfo(cluster.nodes[node], Table(here), Table(used))


def _members(cluster: Cluster, group: str) -> Members:
    mine = list(members(cluster, group))
    return Members(
        unsched=tuple(pod.key for pod in mine if pod.node_name is None),
        assigned=tuple(pod.key for pod in mine if placed(pod) and pod.phase != "Succeeded"),
        done=tuple(pod.key for pod in mine if pod.phase == "Succeeded"),
    )


def _entries(cluster: Cluster, look: Look | None) -> Iterator[Entry]:
    for pod in filter(pending, cluster.pods.values()):
        seen = look.pods.get(pod.key) if look is not None else None
        place = seen.place if seen is not None else ""
        gate = place.removeprefix("gated by ")
        yield (
            Entry(pod.key, "gated", (gate,)) if gate != place else Entry(pod.key, PLACES.get(place, "active"))
        )


def _told(moment: Moment) -> tuple[str, str] | None:
    """By whom, and what; None for what changes nothing that is shown."""
    match moment.what:
        case Made(obj=obj, anew=anew):
            return "user", f"{'updates' if anew else 'creates'} {type(obj).__name__} {short(obj.key)}"
        case Gone(kind=kind, key=key):
            return "user" if moment.by_user else "cluster", f"{kind} {short(key)} is gone"
        case Ended(pod=pod, phase=phase):
            return "kubelet", f"{short(pod)} has ended: {phase}"
        case Bound(pod=pod, node=node):
            return "scheduler", f"binds {short(pod)} to {node}"
        case Nominated(pod=pod, node=node):
            return "scheduler", f"nominates {short(pod)} to {node or 'no node any more'}"
        case Conditioned(group=group, status=status, reason=reason):
            return "scheduler", f"writes {status}/{reason} on {short(group)}"
        case Deleted(pod=pod):
            return (
                ("user", f"deletes {short(pod)}") if moment.by_user else ("scheduler", f"evicts {short(pod)}")
            )
        case Preempted(pod=pod, preemptor=preemptor):
            return "scheduler", f"tells that {short(pod)} was evicted for {short(preemptor)}"
        case Advance(seconds=seconds):
            return "clock", f"{seconds:g} s pass"
        case Calls(what=what, calls=calls):
            return "user", f"{what}: {', '.join(calls)}"
        case Restart():
            return "user", "starts the scheduler anew"
        case _:
            return None


def _events(told: Sequence[tuple[Moment, tuple[str, str]]]) -> Iterator[shown.Event]:
    for _, (actor, text) in told:
        yield shown.Event(text, actor)
