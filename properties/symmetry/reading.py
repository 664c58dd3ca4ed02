"""A world as a bag of nodes: what is said of each pod, of each node, and of a pod at a node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import inf

from gangproof.impl.cycle_state import Result
from gangproof.impl.gates import Object
from gangproof.impl.memory import Members, NodeInfo
from gangproof.impl.objects import DeviceClass, Node, Pod, ResourceClaim, ResourceSlice
from gangproof.impl.store import kind_of, table
from gangproof.impl.world import World
from gangproof.properties.symmetry.claim_shapes import ClaimShapes, names_in, of_claims
from gangproof.properties.symmetry.outlook import Outlook
from gangproof.properties.symmetry.shapes import (
    ageless,
    bag_of,
    nameless,
    shape_of_node,
    shape_of_pod,
)


class Reading:
    """A world as it is read: what is said of each pod, of each node, and of a pod at a node.

    What is said of one pod, or of one node, comes in an order that does not depend on names. `aged` are the
    pods whose age matters, `home` is the first node to which a pod was linked, `torn` are those that were
    linked to a second one, `kept` are names that stay.
    """

    __slots__ = ("aged", "at", "claims", "home", "kept", "nodes", "pods", "torn", "uids", "whole", "world")

    def __init__(self, world: World, kept: frozenset[str]) -> None:
        self.world, self.kept = world, kept
        self.pods: dict[str, list[Hashable]] = {}
        self.nodes: dict[str, list[Hashable]] = {}
        self.at: dict[str, list[tuple[str, Hashable]]] = {}
        self.home: dict[str, str] = {}
        self.uids: dict[str, int] = {}
        self.aged: set[str] = set()
        self.torn: set[str] = set()
        self.whole: list[Hashable] = []
        self.claims = ClaimShapes(world) if of_claims(world) else None
        if self.claims is not None:
            self.kept |= frozenset(self.claims.names())
            self.whole.append(self.claims.everything())

    def say(self, pod: str, what: Hashable) -> None:
        """Something of a pod."""
        said = self.pods.get(pod)
        if said is None:
            said = self.pods[pod] = []
        said.append(what)

    def rank(self, pod: str, what: Hashable) -> None:
        """Something of a pod that makes its age matter."""
        self.say(pod, what)
        self.aged.add(pod)

    def link(self, pod: str, node: str, what: Hashable) -> None:
        """Something of a pod and a node."""
        if pod not in self.pods:
            self.pods[pod] = []
        if self.home.setdefault(pod, node) != node:
            self.torn.add(pod)
        self.links(node).append((pod, what))

    def links(self, node: str) -> list[tuple[str, Hashable]]:
        """The pods at a node, which is known from now on."""
        at = self.at.get(node)
        if at is None:
            at = self.at[node] = []
            self.nodes[node] = []
        return at

    def references(self, pod: Pod, what: str) -> None:
        """The nodes that a pod object names."""
        if pod.node_name is not None:
            self.link(pod.key, pod.node_name, what)
        if pod.nominated_node_name is not None:
            self.link(pod.key, pod.nominated_node_name, (what, "nominated"))

    def version(self, pod: Pod, what: str) -> None:
        """A copy of a pod that somebody has in hand, if it is not just the stored one."""
        key = pod.key
        stored = self.world.pods.get(key)
        if stored is pod or stored == pod:
            return
        shape = shape_of_pod(pod)
        self.kept |= shape.names
        self.say(key, (what, shape.value, pod.uid == self.uids.setdefault(key, pod.uid)))
        self.references(pod, what)

    def node(self, name: str, node: Node | None, what: str) -> None:
        """A copy of a node that somebody has in hand, if it is not just the stored one."""
        stored = self.world.nodes.get(name)
        if stored is node or stored == node:
            return
        shape = shape_of_node(node) if node is not None else None
        self.nodes[name].append((what, shape and shape.value, node is not None and node.name == name))
        self.kept |= shape.names if shape is not None else frozenset()

    def info(self, name: str, info: NodeInfo, what: str) -> None:
        """A node with the pods on it."""
        self.nodes[name].append((what, info.used, info.nonzero))
        self.node(name, info.node, what)
        for pod in info.pods.values():
            self.link(pod.key, name, what)
            self.version(pod, what)

    def by_age(self, pods: Iterable[str]) -> list[str]:
        """Pods from old to young; those that are gone, and whatever is no pod, by name at the end."""
        return sorted(pods, key=lambda key: (self.uids.get(key, inf), key))

    def members(self, group: str, sets: Members, what: str) -> None:
        """The member sets of a group."""
        for key in sets.unsched:
            self.say(key, (what, group, "unsched"))
        for key in sets.assumed:
            self.say(key, (what, group, "assumed"))
        for key in sets.assigned:
            self.say(key, (what, group, "assigned"))
        for key in sets.done:
            self.say(key, (what, group, "done"))
        for key in sets.leaving:
            self.say(key, (what, group, "leaving"))

    def result(self, result: Result, what: Hashable) -> None:
        """What a cycle found for a member."""
        self.say(result.pod, (what, result.plugins, result.error))
        if result.holds and self.claims is not None:
            self.say(result.pod, (what, self.claims.holds(result.pod, result.holds)))
        for place, victim in enumerate(result.victims):
            self.say(victim, (what, "victim", place))
        if result.node is not None:
            self.link(result.pod, result.node, what)

    def about(self, kind: str, key: str, what: Hashable, aged: bool = True) -> None:
        """Something of an object that may be a pod or a node; a pod's age may matter or not."""
        if kind == "pod":
            (self.rank if aged else self.say)(key, what)
        elif kind == "node":
            self.links(key)
            self.nodes[key].append(what)
        else:
            self.whole.append((kind, key, what))

    def other(self, obj: Object | None, what: Hashable) -> None:
        """A version of an object beside the one that the scheduler sees."""
        match obj:
            case Pod():
                shape = shape_of_pod(obj)
                self.kept |= shape.names
                same_pod = obj.uid == self.uids.setdefault(obj.key, obj.uid)
                self.say(obj.key, (what, shape.value, same_pod))
                self.references(obj, str(what))
                self.owned(obj)
            case Node():
                shape = shape_of_node(obj)
                self.kept |= shape.names
                self.links(obj.name)
                self.nodes[obj.name].append((what, shape.value))
            case None:
                self.whole.append((what, None))
            case ResourceClaim() if self.claims is not None:
                self.kept |= frozenset(names_in(obj))
                self.whole.append((what, self.claims.claim(obj)))
            case DeviceClass() | ResourceSlice():
                self.kept |= frozenset(names_in(obj))
                self.whole.append((what, obj))
            case _:
                self.whole.append((what, nameless(obj), self.incarnation(obj)))

    def owned(self, pod: Pod) -> None:
        """For whom the pod was made: whether its owners are those that there are now."""
        for owner in pod.owners:
            kind = owner.kind[0].lower() + owner.kind[1:]
            there = table(self.world, kind).get(f"{pod.namespace}/{owner.name}")
            now = there is not None and there.uid == owner.uid
            self.say(pod.key, (owner.kind, owner.name, owner.controller, now))

    def incarnation(self, obj: Object) -> bool:
        """Whether it is the object that the scheduler sees under that name, and not a namesake."""
        there = table(self.world, kind_of(obj)).get(obj.key)
        return there is not None and getattr(there, "uid", 0) == getattr(obj, "uid", 0)

    def expects(self, outlook: Outlook) -> bool:
        """Whether something here is known by a name that is yet to come."""
        told_apart = self.kept - outlook.kept
        return not all(outlook.coming.isdisjoint(known) for known in (self.pods, self.nodes, told_apart))

    def key(self, outlook: Outlook) -> Hashable:
        """Everything that was said, without names."""
        world, pods, nodes = self.world, self.pods, self.nodes
        scores, by_name = world.settings.node_scores, world.settings.rank
        coming = outlook.value
        if outlook.coming and (by_name or scores is not None or self.expects(outlook)):
            self.kept |= outlook.coming
            coming = world.environment
        for name in self.kept:
            if name in pods:
                pods[name].append(name)
        for pod in self.torn - world.pods.keys():
            pods[pod].append(pod)
        ranked = sorted(self.torn | (self.aged & world.pods.keys()), key=lambda p: (self.uids.get(p, inf), p))
        ranks = {pod: number for number, pod in enumerate(ranked)}
        bag: list[Hashable] = []
        for name, said in nodes.items():
            if by_name or name in self.kept:
                said.append(name)
            if scores is not None:
                said.append(scores.get(name, 0))
            here: list[tuple[int, Hashable]] = []
            mine: dict[str, list[Hashable]] = {}
            for pod, what in self.at[name]:
                if pod in ranks:
                    here.append((ranks[pod], what))
                elif pod in mine:
                    mine[pod].append(what)
                else:
                    mine[pod] = [*pods[pod], what]
            here.sort(key=_first)
            bag.append((tuple(said), tuple(here), bag_of([tuple(whats) for whats in mine.values()])))
        adrift = [tuple(said) for pod, said in pods.items() if pod not in ranks and pod not in self.home]
        ghost = world.ghost
        return (
            world.settings,
            coming,
            ageless(world.groups),
            ageless(world.workloads),
            ageless(world.jobs),
            (world.priority_classes, ageless(world.budgets)),
            world.memory,
            tuple(world.members),
            (ghost.started, tuple(ghost.counted), ghost.lost, ghost.beyond, ghost.meddled),
            tuple(self.whole),
            tuple([tuple(pods[pod]) for pod in ranked]),
            bag_of(adrift),
            bag_of(bag),
        )


def _first(item: tuple[int, Hashable]) -> int:
    return item[0]
