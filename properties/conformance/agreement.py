"""Whether what is shown and what was seen are the same: events one by one, and a look at everything."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen

from gangproof.impl.objects import Pod, PodGroup, ResourceClaim
from gangproof.impl.store import as_stored
from gangproof.impl.world import World
from gangproof.properties.conformance.events import (
    Claimed,
    Conditioned,
    Observed,
    PodConditioned,
    condition_text,
    short,
)
from gangproof.properties.conformance.recording import Look, SeenClaim, SeenPod

PLACES = {"active": "waiting", "backoff": "waiting", "pool": "unschedulable"}
"""A place in the queue as somebody sees it who cannot know whether a backoff has just run out."""


def same(expected: Observed, found: Observed) -> bool:
    """Whether the event in the log may be the one that the model shows.

    The message of a SchedulerError is left open: it is an error's text, and may name things in any order.
    """
    if (
        isinstance(expected, Conditioned)
        and isinstance(found, Conditioned)
        and found.reason == "SchedulerError"
    ):
        return evolve(expected, message="") == evolve(found, message="")
    return expected == found


def conditioned(group: PodGroup) -> Conditioned | None:
    """The group's condition as an event that writes it."""
    written = group.condition
    return written and Conditioned(group.key, written.status, written.reason, written.message)


def claimed(claim: ResourceClaim) -> Claimed:
    """The claim's status as an event that writes it."""
    devices = claim.allocation.devices if claim.allocation is not None else ()
    users = sorted(f"{user.kind.lower()}s/{claim.namespace}/{user.name}" for user in claim.reserved_for)
    return Claimed(claim.key, tuple(device.id for device in devices), tuple(users))


def condition_of(pod: Pod) -> str:
    """The pod's condition PodScheduled in short, empty if there is none (API-50)."""
    if pod.node_name is not None:
        return "True"
    return condition_text("False", pod.unscheduled_reason) if pod.unscheduled_reason else ""


def holds(world: World, event: Observed) -> bool:
    """Whether the event writes again what is so already, in other words at most, and so says nothing new."""
    match event:
        case PodConditioned():
            pod = world.pods.get(event.pod)
            return pod is not None and condition_of(pod) == condition_text(event.status, event.reason)
        case Conditioned(reason="SchedulerError"):
            group = as_stored(world).groups.get(event.group)
            written = conditioned(group) if group is not None else None
            return written is not None and same(written, event)
        case _:
            return False


@frozen
class Unlike:
    """In what a world is not what was seen: the thing, what the model says of it and what was found, in words."""

    thing: str
    expected: str
    found: str


def unlike(world: World, look: Look) -> Iterator[Unlike]:
    """In what the world differs from what was seen."""
    world = as_stored(world)
    living = {key: pod for key, pod in world.pods.items() if not pod.terminal}
    for key in sorted({*living, *look.pods}):
        pod, seen = living.get(key), look.pods.get(key)
        if pod is None or seen is None:
            yield _existence(key, ours=pod is not None)
        else:
            yield from _unlike_pod(world, pod, seen)
    for key in sorted({*world.groups, *look.groups}):
        group = world.groups.get(key)
        if group is None or key not in look.groups:
            yield _existence(key, ours=group is not None)
            continue
        ours, theirs = conditioned(group), look.groups[key]
        if ours is None or theirs is None:
            equal = ours is theirs
        else:
            equal = same(ours, theirs)
        if not equal:
            absent = f"{short(key)} has no condition"
            yield Unlike("condition of a group", str(ours or absent), str(theirs or absent))
    for key in sorted({*world.claims, *look.claims}):
        claim, seen = world.claims.get(key), look.claims.get(key)
        if claim is None or seen is None:
            yield _existence(key, ours=claim is not None)
        else:
            yield from _unlike_claim(claim, seen)


def _existence(key: str, *, ours: bool) -> Unlike:
    there, gone = f"{short(key)} exists", f"{short(key)} does not exist"
    return Unlike("existence", there, gone) if ours else Unlike("existence", gone, there)


def _unlike_claim(claim: ResourceClaim, seen: SeenClaim) -> Iterator[Unlike]:
    ours, theirs = claimed(claim), Claimed(claim.key, seen.devices, seen.reserved)
    if ours != theirs:
        yield Unlike("claim", str(ours), str(theirs))
    reach = claim.allocation.nodes if claim.allocation is not None else None
    if (() if reach is None else (reach,)) != (seen.nodes or ()):
        yield Unlike("claim", f"{short(claim.key)} is reached from {reach}", f"it is from {seen.nodes}")


def _unlike_pod(world: World, pod: Pod, seen: SeenPod) -> Iterator[Unlike]:
    name = short(pod.key)
    fields = (
        ("bind", "is on", pod.node_name, seen.node),
        ("nomination", "is nominated to", pod.nominated_node_name, seen.nominated),
        ("condition of a pod", "has the condition", condition_of(pod) or None, seen.condition or None),
        ("deletion", "is terminating:", str(pod.terminating), str(seen.terminating)),
    )
    for thing, what, ours, theirs in fields:
        if ours != theirs:
            yield Unlike(thing, f"{name} {what} {ours or 'none'}", f"{name} {what} {theirs or 'none'}")
    entry = world.entry(pod.key)
    place, found = "", PLACES.get(seen.place, seen.place)
    if entry is not None and entry.place == "gated":
        gates = [f"gated by {plugin}" for plugin in entry.plugins]
        place = found if found in gates else " and ".join(gates)
    elif entry is not None:
        place = PLACES[entry.place]
    if place != found:
        expected = f"{name} in the queue is {place or 'absent'}"
        yield Unlike("place in the queue", expected, f"{name} in the queue is {found or 'absent'}")
