"""What a step of the model would show to somebody outside, in the vocabulary of `events`.

A write to the API shows only if it changes what was last shown of that object's field. An object that was
deleted and made again is another one.
"""

from __future__ import annotations

from collections.abc import Iterable

from gangproof.impl.actions import Action, Step
from gangproof.impl.commit import own_result
from gangproof.impl.rules import Rules
from gangproof.impl.store import as_stored
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.conformance.agreement import claimed, conditioned
from gangproof.properties.conformance.events import (
    Bound,
    Claimed,
    Deleted,
    Failed,
    Nominated,
    Observed,
    Popped,
    Preempted,
    Tried,
)

Shown = Table[str]
"""What was last shown, by field, key and uid of the object."""


def effects(before: World, after: World, shown: Shown) -> tuple[tuple[Observed, ...], Shown]:
    """What the API shows of the step between two worlds, and what has been shown then."""
    before, after = as_stored(before), as_stored(after)
    seen: list[Observed] = []
    if after.pods is not before.pods:
        for key, pod in after.pods.items():
            old = before.pods.get(key)
            if old is None or old is pod or old == pod:
                continue
            if pod.node_name is not None and old.node_name is None:
                seen.append(Bound(key, pod.node_name))
            field, value = f"nomination/{key}/{pod.uid}", pod.nominated_node_name or ""
            if (shown.get(field) or "") != value:
                shown = shown.put(field, value)
                seen.append(Nominated(key, pod.nominated_node_name))
    if after.groups is not before.groups:
        for key, group in after.groups.items():
            old, written = before.groups.get(key), conditioned(group)
            if old is None or written is None or old.condition == group.condition:
                continue
            field, value = f"condition/{key}/{group.uid}", str(written)
            if shown.get(field) != value:
                shown = shown.put(field, value)
                seen.append(written)
    seen.extend(writes(before, after))
    return tuple(seen), shown


def writes(before: World, after: World) -> tuple[Claimed, ...]:
    """What the status of claims says anew after a step."""
    if after.claims is before.claims:
        return ()
    stood = ((claim, before.claims.get(key)) for key, claim in after.claims.items())
    found = ((claimed(claim), old) for claim, old in stood if old is not None and old is not claim)
    return tuple(event for event, old in found if event != claimed(old))


def taken_back(before: World, after: World) -> tuple[Claimed, ...]:
    """What a pass of the claim controller writes to claims: of one that it lets go the status first (CLAIM-32)."""
    gone = (claimed(old) for key, old in before.claims.items() if key not in after.claims)
    emptied = (Claimed(event.claim) for event in gone if event != Claimed(event.claim))
    return (*emptied, *writes(before, after))


def told(
    rules: Rules, world: World, steps: Iterable[Step], shown: Shown, *, inner: bool
) -> tuple[tuple[Observed, ...], Shown]:
    """What a run of steps from this world shows, with the inner steps if the scheduler tells of them."""
    seen: list[Observed] = []
    for action, after in steps:
        if inner:
            seen.extend(_inner(rules, world, action, after))
        if action.name == "evict":
            seen.extend(eviction(rules, world, *action.args))
        changes, shown = effects(world, after, shown)
        seen.extend(changes)
        world = after
    return tuple(seen), shown


def eviction(rules: Rules, world: World, victim: str, entity: str, asker: str = "") -> tuple[Observed, ...]:
    """A call deletes its victim and tells of it (PREEMPT-30); a call that means nobody any more shows nothing.

    A victim that is promised a place, and whose bind has not begun, loses that and is not deleted.
    """
    stored, uid = world.pods.get(victim), dict(world.rounds[entity].victims)[victim]
    if stored is None or not rules.target(stored, uid):
        return ()
    told_of = Preempted(victim, asker or entity)
    binding = world.bindings.get(victim)
    promised = victim in world.assumed and binding is not None and binding.call != "bind"
    return (told_of,) if promised else (Deleted(victim, stored.node_name), told_of)


def _inner(rules: Rules, before: World, action: Action, after: World) -> Iterable[Observed]:
    """What a scheduler that logs its inner steps tells of this one."""
    match action.name:
        case "pop":
            first = rules.ready(before)
            return () if first is None else (Popped(first.pod),)
        case "place":
            pod, node, *victims = action.args
            return (Tried(pod, None if victims or node == "nowhere" else node),)
        case "submit":
            cycle = before.cycle
            ended = after.cycle.submitted if after.cycle is not None else 0
            if cycle is None:
                return ()
            results = [own_result(cycle, pod.key) for pod in cycle.members[cycle.submitted : ended]]
            return tuple(
                Failed(result.pod, "Error" if result.error else "Unschedulable")
                for result in results
                if result.pod not in after.assumed
            )
        case _:
            return ()
