"""Worlds that differ only in names: one key for all of them.

Pods with the same spec are interchangeable, and so are nodes; a search needs to look at one world of each
kind. The key renames what can be renamed, in an order that does not depend on names:

- a pod that is not bound keeps its rank in age, because the scheduler tries older pods first;
- a bound pod has no rank any more: it is known by its spec, its node and what is remembered of it;
- a node is known by its spec and the pods that are there or refer to it.

Who is named one by one, by a later step of a scenario or by a selector, keeps its name. That nothing is lost
is not argued but tested: `quotient.compare` holds the reduced search against the full one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache

from attrs import evolve, frozen

from gangproof.impl.objects import Node, Pod, PodGroup
from gangproof.impl.table import Table
from gangproof.impl.world import Cycle, Entry, Snapshot, World

HOSTNAME = "kubernetes.io/hostname"


@frozen(cache_hash=True)
class Symmetry:
    """A reduced key for worlds; `fixed` are the pods (by key) and nodes that keep their names."""

    fixed: frozenset[str] = frozenset()

    def __call__(self, world: World) -> Hashable:
        return _key(world, self.fixed)


def fixed_by(pods: Iterable[Pod]) -> frozenset[str]:
    """The nodes that these pods tell apart by name, by selector or by name."""
    named: set[str] = set()
    for pod in pods:
        named.update(value for key, value in pod.node_selector.items() if key == HOSTNAME)
        if pod.node_name is not None:
            named.add(pod.node_name)
        if pod.nominated_node_name is not None:
            named.add(pod.nominated_node_name)
    return frozenset(named)


@lru_cache(maxsize=4096)
def _pod_class(pod: Pod, fixed: bool) -> Pod:
    """The pod without what the key says otherwise: name, age, node."""
    name = pod.name if fixed else ""
    return evolve(pod, name=name, uid=0, node_name=None, nominated_node_name=None)


@lru_cache(maxsize=1024)
def _node_class(node: Node | None, fixed: bool) -> Node | None:
    if node is None or fixed:
        return node
    labels = node.labels
    if labels.get(HOSTNAME) == node.name:
        labels = labels.drop(HOSTNAME)
    return evolve(node, name="", labels=labels)


@lru_cache(maxsize=1024)
def _ageless(group: PodGroup) -> PodGroup:
    return evolve(group, uid=0)


def _key(world: World, fixed: frozenset[str]) -> Hashable:
    by_rank = world.settings.rank
    scores = world.settings.node_scores or Table[int]()
    pods, ghost = world.pods, world.ghost
    counted = {key for keys in ghost.counted.values() for key in keys}
    queue = {entry.pod: position for position, entry in enumerate(world.queue)}
    flying = {pod.key for pod in world.cycle.members} if world.cycle is not None else set[str]()

    def remembered(key: str) -> tuple[object, ...]:
        pod = pods[key]
        sets = world.members.get(pod.group) if pod.group is not None else None
        roles = (
            (
                key in sets.unsched,
                key in sets.assumed,
                key in sets.assigned,
                key in sets.done,
                key in sets.leaving,
            )
            if sets is not None
            else ()
        )
        return (
            _order(_pod_class(pod, key in fixed)),
            roles,
            key in counted,
            key in ghost.owed,
            key in ghost.placed,
        )

    ranked: list[str] = []
    settled: dict[str, list[tuple[object, ...]]] = {}
    known: dict[str, tuple[object, ...]] = {}
    for key in sorted(pods, key=lambda k: pods[k].uid):
        pod = pods[key]
        busy = key in queue or key in flying or key in world.assumed or key in world.bindings
        if pod.node_name is None or busy or key in world.nominations:
            ranked.append(key)
        else:
            known[key] = remembered(key)
            settled.setdefault(pod.node_name, []).append(known[key])
    rank = {key: number for number, key in enumerate(ranked)}

    touching: dict[str, list[tuple[str, int]]] = {}
    for key, number in rank.items():
        for how, node in (
            ("on", pods[key].node_name),
            ("assumed", world.assumed.get(key)),
            ("binding", world.bindings[key].node if key in world.bindings else None),
            ("nominated", world.nominations.get(key)),
            ("status", pods[key].nominated_node_name),
        ):
            if node is not None:
                touching.setdefault(node, []).append((how, number))
    names = {*world.cache, *settled, *touching}
    signed = {
        name: (
            name if by_rank or name in fixed else "",
            scores.get(name, 0),
            _order(_node_class(world.nodes.get(name), by_rank or name in fixed)),
            tuple(sorted(settled.get(name, ()))),
            tuple(sorted(touching.get(name, ()))),
            tuple(_in_cycle(world.cycle, name, rank)),
        )
        for name in names
    }
    node_of = {name: number for number, name in enumerate(sorted(names, key=lambda n: (signed[n], n)))}
    order = sorted(known, key=lambda key: (node_of[pods[key].node_name or ""], known[key], key))
    new = {**rank, **{key: len(rank) + number for number, key in enumerate(order)}}

    def renamed(keys: Iterable[str]) -> tuple[object, ...]:
        return tuple(sorted(new.get(key, -1) for key in keys)), tuple(k for k in keys if k not in new)

    return (
        world.settings,
        tuple(signed[name] for name in node_of_order(node_of)),
        tuple((remembered(key), world.pods[key].node_name is not None) for key in ranked),
        tuple((known[key], node_of[pods[key].node_name or ""]) for key in order),
        tuple((k, tuple(renamed(s) for s in _sets(world, k))) for k in world.members),
        tuple(
            (node_of.get(name), renamed(info.pods), info.used, info.nonzero, info.node is None)
            for name, info in sorted(world.cache.items(), key=lambda item: node_of[item[0]])
        ),
        tuple(_entry(entry, new) for entry in world.queue),
        tuple(sorted((new.get(k, -1), node_of[n]) for k, n in world.assumed.items())),
        tuple(sorted((new.get(k, -1), node_of[b.node], b.call) for k, b in world.bindings.items())),
        tuple(sorted((new.get(k, -1), node_of[n]) for k, n in world.nominations.items())),
        tuple(_ageless(group) for group in world.groups.values()),
        tuple(world.workloads),
        _cycle(world.cycle, new, node_of),
        world.environment,
        (ghost.started, ghost.lost, ghost.beyond, tuple((g, renamed(k)) for g, k in ghost.counted.items())),
    )


def node_of_order(node_of: dict[str, int]) -> list[str]:
    """The nodes' names in the order of their new numbers."""
    return sorted(node_of, key=node_of.__getitem__)


def _order(value: object) -> int:
    """A number that stands for a value: equal for equal values, and the same all through one process."""
    return _numbers.setdefault(value, len(_numbers))


_numbers: dict[object, int] = {}


def _sets(world: World, group: str) -> tuple[tuple[str, ...], ...]:
    sets = world.members[group]
    return sets.unsched, sets.assumed, sets.assigned, sets.done, sets.leaving


def _entry(entry: Entry, new: dict[str, int]) -> tuple[object, ...]:
    return new.get(entry.pod, -1), entry.place, entry.plugins, entry.cooling, entry.tried


def _in_cycle(cycle: Cycle | None, node: str, rank: dict[str, int]) -> Iterable[int]:
    if cycle is not None:
        for result in cycle.results:
            if result.node == node:
                yield rank.get(result.pod, -1)


def _cycle(cycle: Cycle | None, new: dict[str, int], node_of: dict[str, int]) -> Hashable:
    if cycle is None:
        return None
    return (
        cycle.group,
        tuple((new.get(pod.key, -1), _order(_pod_class(pod, False))) for pod in cycle.members),
        cycle.stage,
        tuple(
            (new.get(r.pod, -1), node_of.get(r.node, -1) if r.node is not None else None, r.plugins, r.error)
            for r in cycle.results
        ),
        cycle.code,
        cycle.message,
        _seen(cycle.taken, new, node_of),
        _seen(cycle.snapshot, new, node_of),
        cycle.noticed,
    )


def _seen(snapshot: Snapshot | None, new: dict[str, int], node_of: dict[str, int]) -> Hashable:
    if snapshot is None:
        return None
    nodes = [
        (
            node_of.get(name, -1),
            _order(_node_class(info.node, False)),
            tuple(sorted(new.get(key, -1) for key in info.pods)),
            info.used,
        )
        for name, info in snapshot.nodes.items()
    ]
    sets = snapshot.members
    members = (sets.unsched, sets.assumed, sets.assigned, sets.done, sets.leaving)
    return tuple(sorted(nodes, key=lambda n: n[0])), tuple(
        tuple(sorted(new.get(k, -1) for k in keys)) for keys in members
    )
