"""From a history to a picture: what was done and what was seen, frame by frame, with the promise that broke.

Frames come from the log and the looks alone. What users do in one step is one event, and so is all that the log
tells of one cycle; where a pod stands in the queue is known only at a look, and between looks a pod that waits is
shown as active.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from gangproof.counterexamples import Event, Frame, Trace
from gangproof.counterexamples.trace import ClaimView, GroupView, NodeView, PodState, PodView
from gangproof.impl.objects import Node, Pod, PodGroup
from gangproof.properties.conformance.events import Bound, Conditioned, Deleted, Nominated, Preempted, short
from gangproof.properties.conformance.recording import Calls, Look, Restart, Settle
from gangproof.properties.observed.cluster import Cluster, claims_of, holds_room, matches, members, placed
from gangproof.properties.observed.history import (
    Ended,
    Eviction,
    Gone,
    History,
    Made,
    Moment,
    Rest,
    evictions,
)
from gangproof.properties.observed.judging import Broken

PLACES = {
    "active": PodState.ACTIVE,
    "backoff": PodState.BACKOFF,
    "unschedulable": PodState.UNSCHEDULABLE,
}


def trace_of(
    history: History, broken: Broken, meta: Sequence[tuple[str, str]] = (), title: str = ""
) -> Trace:
    """The run up to where it is clear that the promise is broken."""
    told = {eviction.at: eviction for eviction in evictions(history)}
    scenes = [list(group) for _, group in groupby(history.moments, _scene)]
    scenes = [scene for scene in scenes if scene[0].index <= broken.case.at]
    resources = _resources(history)
    begun = next((n for n, scene in enumerate(scenes) if any(isinstance(m.what, Made) for m in scene)), 0)
    frames = [_frame(scenes[begun][-1].after, None, resources)]
    events: list[Event] = []
    for scene in scenes[begun + 1 :]:
        sentences = [text for moment in scene if (text := _sentence(moment, told))]
        look = scene[-1].what if isinstance(scene[-1].what, Look) else None
        if look is not None:
            found = next((rest for rest in history.rests if rest.at == scene[-1].index), None)
            sentences = [_at_rest(found)] if found is not None else []
        if sentences:
            actor = "scheduler" if scene[0].cycle is not None else "clock" if look is not None else "user"
            events.append(Event("; ".join(dict.fromkeys(sentences)), actor))
            frames.append(_frame(scene[-1].after, look, resources))
    promise, case = broken.promise, broken.case
    return Trace(
        title=title or promise.claim.rstrip("."),
        frames=tuple(frames),
        events=tuple(events),
        property_id=promise.id,
        claim=promise.claim,
        clause=case.words,
        citation=promise.cites,
        numbers=case.numbers,
        involved=case.about,
        meta=tuple(meta),
    )


def _scene(moment: Moment) -> tuple[int, int | None, int]:
    """What belongs to one event: a step of a user, a cycle within a step, a look by itself."""
    look = moment.index if isinstance(moment.what, Look) else -1
    return moment.step, moment.cycle, look


def _at_rest(rest: Rest) -> str:
    return f"nothing changes for {rest.quiet:.0f} s"


def _sentence(moment: Moment, told: dict[int, Eviction]) -> str:
    """What happened, in words; nothing for what is only its consequence."""
    match moment.what:
        case Made(obj=Pod() as pod, anew=False):
            return f"creates {short(pod.key)}"
        case Made(obj=Node() | PodGroup() as obj, anew=anew):
            return f"{'changes' if anew else 'creates'} {short(obj.key)}"
        case Made(obj=Pod() as pod):
            return f"changes {short(pod.key)}"
        case Gone(kind=kind, key=key):
            return f"{short(key)} is gone" if kind in ("pod", "podGroup") else f"node {short(key)} is gone"
        case Ended(pod=pod, phase=phase):
            return f"{short(pod)} ends as {phase}"
        case Calls(what=what, calls=calls):
            named = ", ".join(calls)
            return {
                "hold": f"{named} stays open",
                "release": f"{named} goes on",
                "fail": f"{named} is to fail",
            }[what]
        case Restart():
            return "the scheduler restarts"
        case Bound(pod=pod, node=node):
            return f"binds {short(pod)} to {node}"
        case Nominated(pod=pod, node=node) if node is not None:
            return f"keeps {node} reserved for {short(pod)}"
        case Nominated(pod=pod):
            waits = (known := moment.before.pods.get(pod)) is not None and known.node_name is None
            return f"gives up the reservation for {short(pod)}" if waits else ""
        case Conditioned(group=group, status=status, reason=reason):
            return f"calls {short(group)} {status}/{reason}"
        case Deleted(pod=pod) if moment.by_user:
            return f"deletes {short(pod)}"
        case Deleted(pod=pod):
            eviction = told.get(moment.index)
            whom = f" for {short(eviction.asker or eviction.by or '')}" if eviction and eviction.by else ""
            once_more = " once more" if eviction and eviction.victim.terminating else ""
            return f"evicts {short(pod)}{whom}{once_more}"
        case Preempted() | Settle():
            return ""
        case _:
            return ""


def _resources(history: History) -> tuple[str, ...]:
    """What pods ask for, of which a node may run out."""
    pods = {pod.uid: pod for moment in history.moments for pod in moment.after.pods.values()}
    return tuple(sorted({name for pod in pods.values() for name, amount in pod.requests.items() if amount}))


def _frame(cluster: Cluster, look: Look | None, resources: Sequence[str]) -> Frame:
    return Frame(
        nodes=tuple(_node(cluster, node, resources) for node in cluster.nodes.values()),
        pods=tuple(_pod(cluster, pod, look, resources) for pod in cluster.pods.values()),
        groups=tuple(_group(cluster, group) for group in cluster.groups.values()),
        claims=tuple(_claims(cluster, look)) if look is not None else (),
    )


def _node(cluster: Cluster, node: Node, resources: Sequence[str]) -> NodeView:
    here = [pod for pod in cluster.pods.values() if holds_room(pod) and pod.node_name == node.name]
    return NodeView(
        name=node.name,
        capacity=tuple((name, node.allocatable.get(name, 0)) for name in resources),
        used=tuple((name, sum(pod.requests.get(name, 0) for pod in here)) for name in resources),
        labels=tuple((key, value) for key, value in node.labels.items() if value != node.name),
        unschedulable=node.unschedulable,
    )


def _pod(cluster: Cluster, pod: Pod, look: Look | None, resources: Sequence[str]) -> PodView:
    seen = look.pods.get(pod.key) if look is not None else None
    place = seen.place if seen is not None else ""
    gate = place.removeprefix("gated by ") if place.startswith("gated") else ""
    return PodView(
        key=pod.key,
        state=_state(pod, place),
        group=pod.group if pod.group in cluster.groups else None,
        node=pod.node_name,
        nominated=pod.nominated_node_name,
        requests=tuple((name, pod.requests.get(name, 0)) for name in resources if pod.requests.get(name, 0)),
        priority=pod.priority,
        note=f"gated by {gate}" if gate else "",
    )


def _state(pod: Pod, place: str) -> PodState:
    if pod.terminal:
        return PodState.SUCCEEDED if pod.phase == "Succeeded" else PodState.FAILED
    if pod.terminating:
        return PodState.TERMINATING
    if pod.node_name is not None:
        return PodState.BOUND
    if place.startswith("gated"):
        return PodState.GATED
    return PLACES.get(place, PodState.ACTIVE)


def _group(cluster: Cluster, group: PodGroup) -> GroupView:
    mine = list(members(cluster, group.key))
    numbers = [("bound", sum(map(placed, mine)))]
    if group.min_count is not None:
        numbers.append(("minimum", group.min_count))
    condition = cluster.conditions.get(group.key)
    mode = ", goes as a whole" if group.disruption_mode == "PodGroup" else ""
    return GroupView(
        key=group.key,
        policy=(f"gang {group.min_count}" if group.gang else "basic") + mode,
        numbers=tuple(numbers),
        condition=f"{condition.status}/{condition.reason}" if condition is not None else None,
        priority=group.priority,
        topology=group.topology_keys[0] if group.topology_keys else None,
        note="terminating" if group.terminating else "",
    )


def _claims(cluster: Cluster, look: Look) -> Iterator[ClaimView]:
    for key, seen in look.claims.items():
        users = [pod for pod in cluster.pods.values() if key in claims_of(pod) and not pod.terminal]
        yield ClaimView(
            key,
            allocation=", ".join(seen.devices) or None,
            reach=tuple(
                node.name for node in cluster.nodes.values() if seen.nodes and matches(seen.nodes, node)
            ),
            reserved_for=tuple(
                user.removeprefix("pods/") for user in seen.reserved if user.startswith("pods/")
            ),
            reserved_for_groups=tuple(
                user.removeprefix("podgroups/") for user in seen.reserved if user.startswith("podgroups/")
            ),
            holders=tuple(pod.key for pod in users if holds_room(pod)),
            wanted_by=tuple(pod.key for pod in users if not holds_room(pod)),
        )
