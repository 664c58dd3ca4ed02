"""What could be done to nodes, or with them, so that members without a place get one: each the least of its kind.

A lever is tried by counting first (how many members would fit where), and the least set of nodes that counts up
to enough becomes a proposal. Whether it really helps is for a cycle in the changed world to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush

from attrs import evolve, frozen

from gangproof.counterexamples.names import amounts, bare
from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.filters import Prepared, prepare, rejection
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Node, Pod, Taint
from gangproof.impl.snapshot import with_pod
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.explanation.edits import (
    another,
    labelled,
    labels_missing,
    repelling,
    roomier,
    tolerant,
    with_nodes,
    without_taint,
)
from gangproof.properties.explanation.refusals import share, shortages

NODES_TO_FREE = 50
MOST_NEW_NODES = 100
NAMED_NODES = 3
ONE_VALUE = "one"


@frozen
class Proposal:
    """A change that may help: what it is, how many objects it touches, and the world after it."""

    kind: str
    text: str
    objects: int
    world: World


@frozen
class Need:
    """What is needed: places for so many of these pods, in a world where a cycle left the nodes as `seen`."""

    world: World
    seen: Snapshot
    pods: tuple[Pod, ...]
    number: int

    def prepared(self) -> list[Prepared]:
        return [prepare(pod, self.seen) for pod in self.pods]


def levers(need: Need) -> Iterator[Proposal]:
    """A proposal of each kind that counts up to enough, nodes changed before nodes added."""
    if not need.pods:
        return
    prepared = need.prepared()
    yield from _same_change(need, prepared, "uncordon", "uncordon {}", _uncordoned)
    pod = need.pods[0]
    for taint in _taints(need, pod):
        name = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
        yield from _same_change(
            need, prepared, "taint", f"remove the taint {name} from {{}}", lambda n, t=taint: _untainted(n, t)
        )
        yield from _tolerate(need, prepared, taint, name)
    labels = {labels_missing(pod, info.node) for info in need.seen.nodes.values() if info.node is not None}
    for wanted in sorted((table for table in labels if table), key=lambda table: tuple(table.items())):
        told = ", ".join(f"{key}={value}" for key, value in wanted.items())
        yield from _same_change(
            need, prepared, "label", f"label {{}} with {told}", lambda n, w=wanted: _with_labels(n, w)
        )
    yield from _room(need, prepared)
    yield from _new_nodes(need, prepared)


def labelling(need: Need, key: str, value: str | None = None) -> Iterator[Proposal]:
    """The topology key as a label with one value on the fewest nodes that lack it and have room (PLACE-02).

    Without a value it is the one that a pod selects, or any. On all of these nodes if counting does not say that
    fewer are enough, or cannot for sure as the pods differ.
    """
    if value is None:
        value = next((pod.node_selector[key] for pod in need.pods if key in pod.node_selector), None)
    text = f"label {{}} with {key}={value}" if value is not None else f"label {{}} with one value of {key}"
    labels = Table({key: value if value is not None else ONE_VALUE})
    prepared = need.prepared()

    def change(node: Node) -> Node | None:
        return None if key in node.labels else labelled(node, labels)

    enough = list(_same_change(need, prepared, "label", text, change))
    yield from enough
    if not enough or len({pod.requests for pod in need.pods}) > 1:
        there = (info.node for info in need.seen.nodes.values() if info.node is not None)
        nodes = [changed for node in there if (changed := change(node)) is not None]
        if nodes:
            told = text.format(_named(node.name for node in nodes))
            yield Proposal("label", told, len(nodes), with_nodes(need.world, nodes))


def _uncordoned(node: Node) -> Node | None:
    return evolve(node, unschedulable=False) if node.unschedulable else None


def _untainted(node: Node, taint: Taint) -> Node | None:
    return without_taint(node, taint) if taint in node.taints else None


def _with_labels(node: Node, wanted: Table[str]) -> Node | None:
    return None if any(key in node.labels for key in wanted) else labelled(node, wanted)


def _taints(need: Need, pod: Pod) -> list[Taint]:
    """The taints that alone keep the pod off some node."""
    found: dict[Taint, None] = {}
    for info in need.seen.nodes.values():
        against = repelling(pod, info.node) if info.node is not None else ()
        if len(against) == 1:
            found[against[0]] = None
    return list(found)[:5]


def _holds(info: NodeInfo, prepared: Sequence[Prepared]) -> int:
    """How many of the pods, one after the other, the node takes."""
    number = 0
    for one in prepared:
        if rejection(one, info) is None:
            info = with_pod(info, one.pod)
            number += 1
    return number


def _same_change(
    need: Need, prepared: Sequence[Prepared], kind: str, text: str, change: Callable[[Node], Node | None]
) -> Iterator[Proposal]:
    """The same change for the fewest nodes, those first that take most."""
    gains: list[tuple[int, str, Node]] = []
    for name, info in need.seen.nodes.items():
        node = change(info.node) if info.node is not None else None
        if node is not None and (gain := _holds(evolve(info, node=node), prepared)):
            gains.append((-gain, name, node))
    chosen: list[Node] = []
    total = 0
    for gain, _, node in sorted(gains, key=lambda g: g[:2]):
        if total >= need.number:
            break
        total -= gain
        chosen.append(node)
    if chosen and total >= need.number:
        nodes = _named(node.name for node in chosen)
        yield Proposal(kind, text.format(nodes), len(chosen), with_nodes(need.world, chosen))


def _named(names: Iterable[str]) -> str:
    listed = sorted(names)
    if len(listed) == 1:
        return f"node {bare(listed[0])}"
    told = ", ".join(bare(name) for name in listed[:NAMED_NODES])
    more = f" and {len(listed) - NAMED_NODES} more" if len(listed) > NAMED_NODES else ""
    return f"{len(listed)} nodes ({told}{more})"


def _tolerate(need: Need, prepared: Sequence[Prepared], taint: Taint, name: str) -> Iterator[Proposal]:
    """The pods tolerate the taint."""
    total = 0
    for info in need.seen.nodes.values():
        if info.node is not None and taint in info.node.taints:
            total += _holds(evolve(info, node=without_taint(info.node, taint)), prepared)
        if total >= need.number:
            break
    if total >= need.number:
        world = tolerant(need.world, need.pods, taint)
        who = bare(need.pods[0].key) if len(need.pods) == 1 else f"the {len(need.pods)} pods without a place"
        yield Proposal("tolerate", f"let {who} tolerate the taint {name}", len(need.pods), world)


def _room(need: Need, prepared: Sequence[Prepared]) -> Iterator[Proposal]:
    """Room freed on nodes where nothing else is in the way, least first, measured in shares of the requests.

    What the cycle itself has put on a node is not there to be freed.
    """
    used = {name: info.used for name, info in need.world.cache.items()}
    first = prepared[0]
    close = [
        (share(tuple(shortages(first.pod.requests, info))), name)
        for name, info in need.seen.nodes.items()
        if _only_room(first, info)
    ]
    infos = {name: need.seen.nodes[name] for _, name in sorted(close)[:NODES_TO_FREE]}
    extra: dict[str, dict[str, int]] = {}
    for one in prepared[: need.number]:
        queue: list[tuple[float, str]] = []
        for name, info in infos.items():
            if _only_room(one, info):
                heappush(queue, (share(tuple(shortages(one.pod.requests, info))), name))
        while queue:
            _, name = heappop(queue)
            short = {s.resource: s.missing for s in shortages(one.pod.requests, infos[name])}
            so_far = extra.get(name, {})
            added = {r: so_far.get(r, 0) + short.get(r, 0) for r in sorted({*so_far, *short})}
            if all(amount <= used[name].get(r, 0) for r, amount in added.items()):
                extra[name] = added
                node = infos[name].node
                assert node is not None
                infos[name] = with_pod(evolve(infos[name], node=roomier(node, short)), one.pod)
                break
        else:
            return
    freed = {name: added for name, added in extra.items() if any(added.values())}
    if not freed:
        return
    told = [f"{amounts(added.items())} on node {bare(name)}" for name, added in sorted(freed.items())]
    more = f" and on {len(told) - NAMED_NODES} more" if len(told) > NAMED_NODES else ""
    nodes = [roomier(need.world.nodes[name], added) for name, added in freed.items()]
    text = f"free {'; '.join(told[:NAMED_NODES])}{more}"
    yield Proposal("room", text, len(freed), with_nodes(need.world, nodes))


def _only_room(prepared: Prepared, info: NodeInfo) -> bool:
    """Whether the node takes the pod, or would if enough of what is used there were freed."""
    refused = rejection(prepared, info)
    if refused is None:
        return True
    if refused.plugin != "NodeResourcesFit" or info.node is None:
        return False
    short = {s.resource: s.missing for s in shortages(prepared.pod.requests, info)}
    return rejection(prepared, evolve(info, node=roomier(info.node, short))) is None


def _new_nodes(need: Need, prepared: Sequence[Prepared]) -> Iterator[Proposal]:
    """As few more nodes as needed, like the one that takes most, the smallest of these."""
    kinds: dict[object, Node] = {}
    for node in need.world.nodes.values():
        kinds.setdefault((node.allocatable, node.taints, node.unschedulable, _shape(node)), node)
    best: tuple[int, int, str] | None = None
    for node in kinds.values():
        gain = _holds(NodeInfo(node), prepared)
        size = sum(node.allocatable.values())
        if gain and (best is None or (-gain, size, node.name) < best):
            best = (-gain, size, node.name)
    if best is None:
        return
    number = -(-need.number // -best[0])
    if number > MOST_NEW_NODES:
        return
    like = need.world.nodes[best[2]]
    fresh = (f"{like.name}-more-{n}" for n in range(1, number + len(need.world.nodes) + 1))
    names = [name for name in fresh if name not in need.world.nodes][:number]
    world = with_nodes(need.world, [another(like, name) for name in names])
    what = "one more node" if number == 1 else f"{number} more nodes"
    yield Proposal("node", f"add {what} like {bare(like.name)}", number, world)


def _shape(node: Node) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in node.labels.items() if value != node.name)
