"""From a world of the machinery to a state of the contract: the abstraction map.

This is the only place where the two meet. It looks at what is the case, never at how the machinery came to
it: objects as the scheduler sees them, member sets and queue as the scheduler holds them, history as the ghost
recorded it. The counters are counted afresh in every state, so the contract's sums are checked where they
are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from attrs import evolve

from gangproof.impl.ghost import counts
from gangproof.impl.objects import Node, Pod, PodGroup
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.store import lags
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.refinement.abstract_claims import claims
from gangproof.spec.compile import totals
from gangproof.spec.structure import SORT_NAMES, Structure

CLOSED_STAGES = ("reporting",)
"""Stages of a cycle in which it has given back or committed everybody (QUEUE-29)."""


NO_THINGS: dict[str, tuple[str, ...]] = dict.fromkeys(SORT_NAMES, ())
NOTHING = dict(Structure.empty().values)


def group_name(world: World, pod: Pod) -> str:
    """The contract's group of the pod: its PodGroup, or the group of one that a plain pod is."""
    if pod.group is not None and world.settings.gates.generic_workload:
        return pod.group
    return alone(pod.key)


def alone(pod: str) -> str:
    """The name of the group that a plain pod is; no PodGroup can have it."""
    return f"={pod}"


def in_flight(world: World) -> frozenset[str]:
    """The existing pods that a running cycle has neither given back nor committed."""
    cycle = world.cycle
    if cycle is None or cycle.stage in CLOSED_STAGES:
        return frozenset()
    return frozenset(
        popped.key
        for popped in cycle.members[cycle.submitted :]
        if (pod := world.pods.get(popped.key)) is not None and pod.uid == popped.uid
    )


@lru_cache(maxsize=8192)
def abstract(world: World) -> Structure:
    """The contract's view of a world."""
    pods, groups = world.pods, world.groups
    gates = world.settings.gates
    values: dict[str, Any] = {
        "workload_aware": gates.workload_aware_preemption,
        "gang_scheduling": gates.gang_scheduling,
    }
    names = {key: group_name(world, pod) for key, pod in pods.items()}
    plain = [pod for key, pod in pods.items() if names[key] == alone(key)]
    flying = in_flight(world)
    values.update(_pods(world, names))
    values.update(_groups(world, plain))
    values.update(_nodes(_as_the_cycle_sees_them(world), world.groups))
    values.update(_sets(world, plain))
    places: dict[str, set[str]] = {"active": set(), "backoff": set(), "pool": set(), "gated": set()}
    for entry in world.queue:
        places[entry.place].add(entry.pod)
    values.update(
        active=places["active"],
        backoff=places["backoff"],
        pool=places["pool"] | places["gated"],
        in_flight=flying,
        overlooked=_overlooked(world),
        nominated=set(world.nominations),
        nomination=dict(world.nominations),
    )
    values.update(_rounds(world, values["group_exists"]))
    values.update(_history(world))
    if world.claims:
        values.update(claims(world))
    universe = {
        **_things_of_claims(values),
        "Pod": tuple(
            {
                **dict.fromkeys(pods),
                **dict.fromkeys(values["known"]),
                **dict.fromkeys(world.assumed),
                **dict.fromkeys(sorted(pod for pod, _ in values.get("holding", ()))),
                **dict.fromkeys(sorted(pod for _, pod in values.get("reserved_pod", ()))),
            }
        ),
        "Node": tuple(sorted({*world.nodes, *values["node"].values(), *world.nominations.values()})),
        "Group": tuple(
            sorted(
                {
                    *(*groups, *names.values(), *world.members, *world.ghost.started, *world.rounds),
                    *(group for _, group in values.get("reserved_group", ())),
                    *(group for _, group, _ in values.get("generated", ())),
                }
            )
        ),
        "Resource": tuple(sorted({r for _, r in values["request"]} | {r for _, r in values["capacity"]})),
        "Key": tuple(sorted(set(values["key"].values()))),
        "Domain": tuple(sorted(set(values["label"].values()))),
    }
    complete = {**NOTHING, **values}
    return Structure({**NO_THINGS, **universe}, {**complete, **totals(complete, universe)})


def _things_of_claims(values: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    if "claim_exists" not in values:
        return {}
    entries = {entry for name in ("named", "pod_named") for _, entry, _ in values[name]}
    return {
        "Claim": tuple(sorted({*values["claim_exists"], *(claim for _, claim in values["uses"])})),
        "Device": tuple(sorted({device for _, device in values["device"]})),
        "Entry": tuple(sorted(entries | {entry for _, _, entry in values["generated"]})),
    }


def _pods(world: World, names: dict[str, str]) -> dict[str, Any]:
    pods = world.pods
    profiles = world.settings.profiles
    node = dict(world.assumed)
    node.update((key, pod.node_name) for key, pod in pods.items() if pod.node_name is not None)
    request: dict[tuple[str, str], int] = {}
    for key, pod in pods.items():
        request[key, "pods"] = 1
        request.update(((key, resource), amount) for resource, amount in pod.requests.items() if amount)
    return {
        "pod_exists": set(pods),
        "ours": {key for key, pod in pods.items() if pod.scheduler_name in profiles},
        "group": names,
        "priority": {key: pod.priority for key, pod in pods.items() if pod.priority},
        "request": request,
        "bound": {key for key, pod in pods.items() if pod.node_name is not None},
        "node": node,
        "terminating": {key for key, pod in pods.items() if pod.terminating},
        "succeeded": {key for key, pod in pods.items() if pod.phase == "Succeeded"},
        "failed": {key for key, pod in pods.items() if pod.phase == "Failed"},
    }


def _protected(groups: Table[PodGroup]) -> set[str]:
    return {key for key, group in groups.items() if PROTECTION_FINALIZER in group.finalizers}


def _groups(world: World, plain: Iterable[Pod]) -> dict[str, Any]:
    """Of groups; where somebody lags, who is protected is asked of what is stored (see `stored.let_go_as_seen`)."""
    groups, gates = world.groups, world.settings.gates
    gangs = {key: g.min_count for key, g in groups.items() if g.min_count and gates.gang_scheduling}
    keys = {
        key: group.topology_keys[0]
        for key, group in groups.items()
        if group.topology_keys and gates.topology_aware_workload_scheduling
    }
    priority = {key: group.priority for key, group in groups.items() if group.priority}
    priority.update((alone(pod.key), pod.priority) for pod in plain if pod.priority)
    conditions = {key: group.condition for key, group in groups.items()}
    return {
        "group_exists": {*groups, *(alone(pod.key) for pod in plain)},
        "protected": set[str]() if lags(world) else _protected(groups),
        "gang": set(gangs),
        "minimum": gangs,
        "group_priority": priority,
        "whole": {key for key, group in groups.items() if group.disruption_mode == "PodGroup"},
        "constrained": set(keys),
        "key": keys,
        "scheduled_true": {key for key, c in conditions.items() if c is not None and c.status == "True"},
        "scheduled_false": {key for key, c in conditions.items() if c is not None and c.status == "False"},
    }


def _overlooked(world: World) -> frozenset[str]:
    """The members of the running cycle's group whom others brought to a node after its snapshot.

    Who was on a node that is gone, or had ended, is on no node of the snapshot, and is known to it all the same.
    """
    cycle = world.cycle
    if cycle is None or cycle.taken is None or cycle.group is None:
        return frozenset()
    seen, sets = cycle.taken.nodes, cycle.taken.members
    waited, known = {*sets.unsched, *sets.assumed}, {*sets.assigned, *sets.leaving, *sets.done}
    return frozenset(
        key
        for key, pod in world.pods.items()
        if pod.group == cycle.group
        and pod.node_name is not None
        and (key in waited or not (key in known or pod.terminal))
        and key not in world.ghost.placed
        and not (pod.node_name in seen and key in seen[pod.node_name].pods)
    )


def _as_the_cycle_sees_them(world: World) -> Table[Node]:
    """The nodes, with the labels that the running cycle goes by: those of its snapshot (INV-21)."""
    taken = None if world.cycle is None else world.cycle.taken
    if taken is None:
        return world.nodes
    labelled = {
        name: evolve(node, labels=seen.node.labels)
        for name, node in world.nodes.items()
        if (seen := taken.nodes.get(name)) is not None
        and seen.node is not None
        and seen.node.labels != node.labels
    }
    return Table({**world.nodes, **labelled}) if labelled else world.nodes


@lru_cache(maxsize=1024)
def _nodes(nodes: Table[Node], groups: Table[PodGroup]) -> dict[str, Any]:
    keys = {key for group in groups.values() for key in group.topology_keys or ()}
    labels = {
        (name, key): node.labels[key] for name, node in nodes.items() for key in keys if key in node.labels
    }
    return {
        "node_exists": frozenset(nodes),
        "capacity": {
            (name, resource): amount
            for name, node in nodes.items()
            for resource, amount in node.allocatable.items()
            if amount
        },
        "labelled": set(labels),
        "label": {place: value for place, value in labels.items() if value},
    }


def _sets(world: World, plain: Iterable[Pod]) -> dict[str, Any]:
    """Member sets as the scheduler holds them; a plain pod has none, so where it stands says it."""
    unscheduled: set[str] = set()
    assumed: set[str] = set()
    assigned: set[str] = set()
    for sets in world.members.values():
        unscheduled.update(sets.unsched)
        assumed.update(sets.assumed)
        assigned.update(sets.assigned)
    for pod in plain:
        if not counts(pod) or pod.terminal:
            continue
        if pod.node_name is not None:
            assigned.add(pod.key)
        elif pod.key in world.assumed:
            assumed.add(pod.key)
        elif pod.scheduler_name in world.settings.profiles:
            unscheduled.add(pod.key)
    return {
        "known": unscheduled | assumed | assigned,
        "unscheduled": unscheduled,
        "assumed": assumed,
        "assigned": assigned,
    }


def _rounds(world: World, there: set[str]) -> dict[str, Any]:
    """Rounds of preemptors that are there, and the victims whose call is open or who are terminating.

    Without GangScheduling a group needs no object.
    """
    bare = not world.settings.gates.gang_scheduling
    rounds = {
        preemptor: running
        for preemptor, running in world.rounds.items()
        if preemptor in there or (bare and not preemptor.startswith("="))
    }
    victims = {
        (pod, preemptor)
        for preemptor, running in rounds.items()
        for pod, uid in running.victims
        if (stored := world.pods.get(pod)) is not None
        and stored.uid == uid
        and (any(pod == victim for victim, _ in running.calls) or stored.terminating)
    }
    return {"round": set(rounds), "victim": victims}


def _history(world: World) -> dict[str, Any]:
    ghost = world.ghost
    return {
        "started": set(ghost.started),
        "own": set(ghost.placed),
        "stood": {pod for pods in ghost.counted.values() for pod in pods},
        "owed": set(ghost.owed),
        "lost": dict(ghost.lost),
    }
