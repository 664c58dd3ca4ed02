"""Whether an expectation of a scenario holds in one settled world."""

from __future__ import annotations

from collections.abc import Callable, Collection

from gangproof.impl.api import lookup
from gangproof.impl.filters.devices import reachable
from gangproof.impl.objects import Pod
from gangproof.impl.store import as_stored
from gangproof.impl.world import World
from gangproof.properties.scenarios.course import Refusal
from gangproof.properties.scenarios.expectations import (
    Allocated,
    ConditionIs,
    Exists,
    Expectation,
    InState,
    OnNode,
    Rejected,
    ReservedFor,
    Together,
)

Refusals = Collection[Refusal]


def bound(world: World, pod: Pod) -> bool:
    return pod.node_name is not None


def pending(world: World, pod: Pod) -> bool:
    return pod.node_name is None


def gated(world: World, pod: Pod) -> bool:
    """Held back before the active part of the queue, and never tried since."""
    entry = world.entry(pod.key)
    return entry is not None and entry.place == "gated"


def unschedulable(world: World, pod: Pod) -> bool:
    """Unbound, tried, and reported unschedulable."""
    return pending(world, pod) and pod.unscheduled_reason == "Unschedulable"


def nominated(world: World, pod: Pod) -> bool:
    return pod.nominated_node_name is not None or bool(world.nominations.get(pod.key))


STATES: dict[str, Callable[[World, Pod], bool]] = {
    "bound": bound,
    "pending": pending,
    "gated": gated,
    "unschedulable": unschedulable,
    "nominated": nominated,
}


def pods_in(world: World, state: str, of: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the pods that are in the state."""
    if state == "gone":
        return tuple(key for key in of if key not in world.pods)
    if state in ("evicted", "victims"):
        return tuple(key for key in of if key in world.ghost.evicted)
    if state == "kept":
        return tuple(key for key in of if key not in (*world.ghost.evicted, *world.ghost.sent_back))
    holds = STATES[state]
    return tuple(key for key in of if (pod := world.pods.get(key)) is not None and holds(world, pod))


def unmet(world: World, expectation: Expectation, refusals: Refusals) -> str | None:
    """What is found instead of what is expected, in a few words, as it is stored; None if the expectation holds."""
    world = as_stored(world)
    match expectation:
        case InState(state=state, pods=pods):
            found = pods_in(world, state, (*pods.of, *world.ghost.evicted) if state == "victims" else pods.of)
            found = tuple(dict.fromkeys(found))
            if pods.at_least <= len(found) <= pods.at_most:
                return None
            return f"{state} are [{', '.join(map(short, found))}]"
        case OnNode(state=state, pod=key, node=node):
            pod = world.pods.get(key)
            where = None
            if pod is not None:
                where = pod.node_name if state == "bound" else pod.nominated_node_name
            return None if where == node else f"{short(key)} is {state} to {where or 'no node'}"
        case Together():
            return _apart(world, expectation)
        case ConditionIs(group=group, condition=condition):
            stored = world.groups.get(group)
            found = str(stored.condition) if stored is not None and stored.condition else None
            return None if found == condition else f"the condition of {short(group)} is {found or 'none'}"
        case Exists(ref=ref, exists=exists):
            there = lookup(world, ref.kind, ref.key) is not None
            return None if there == exists else f"{ref} {'exists' if there else 'does not exist'}"
        case Rejected(ref=ref, text=text):
            messages = [message for refused, message in refusals if refused == ref]
            if any(text in message for message in messages):
                return None
            return f"{ref} was {'refused: ' + messages[0] if messages else 'accepted'}"
        case ReservedFor(claim=key, consumers=consumers):
            claim = world.claims.get(key)
            entries = claim.reserved_for if claim is not None else ()
            found = sorted(f"{entry.kind}/{short(f'{_namespace(key)}/{entry.name}')}" for entry in entries)
            wanted = sorted(str(ref) for ref in consumers)
            return None if found == wanted else f"{short(key)} is reserved for [{', '.join(found)}]"
        case Allocated(claim=key, node=node):
            where = allocated_on(world, key)
            if not where if node is None else node in where:
                return None
            return f"{short(key)} is allocated to {' or '.join(where) or 'no node'}"


def _namespace(key: str) -> str:
    return key.partition("/")[0]


def allocated_on(world: World, key: str) -> list[str]:
    """The nodes from which the devices of the claim can be used, none if it has none."""
    claim = world.claims.get(key)
    if claim is None or claim.allocation is None:
        return []
    return [name for name, node in world.nodes.items() if reachable(claim.allocation, node)]


def _apart(world: World, expectation: Together) -> str | None:
    values: set[str | None] = set()
    for key in expectation.pods:
        pod = world.pods.get(key)
        if pod is None or pod.node_name is None:
            return f"{short(key)} is not bound"
        node = world.nodes.get(pod.node_name)
        values.add(node.labels.get(expectation.label) if node is not None else None)
    wanted = {expectation.value} if expectation.value is not None else values
    if len(values) == 1 and values == wanted and None not in values:
        return None
    found = ", ".join(sorted("none" if value is None else repr(value) for value in values))
    return f"the values of {expectation.label} are {found}"


def short(key: str) -> str:
    """A key as scenarios write it: without the namespace `default`."""
    return key.removeprefix("default/")
