"""Worlds that differ only in names: one key for all of them.

Pods with the same spec are interchangeable, and so are nodes; a search needs to look at one world of each
kind. The key says of a world everything that can be said without names. It reads the world as a bag of nodes:

- a pod that may be tried (again) is known by its rank in age, because the scheduler tries older pods first;
  so is one that is at two nodes at once;
- any other pod, also one that is gone and that only somebody remembers, is known by what is said of it, and
  belongs to the node where it is;
- a node is known by what is said of it, by the pods that belong to it, and by the ranked pods that are there
  or refer to it.

Nothing is left out but names, ages that no rule compares, and the number of births: from the key the world
can be drawn up again with other names, overlapping sets and over-full nodes too. So worlds with equal keys
have the same futures up to names. What somebody tells apart by name, a later step of a scenario, a held call,
a selector, keeps its name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import inf

from attrs import frozen

from gangproof.impl.control import NO_CONTROL, Control, Revision, Sync
from gangproof.impl.gates import Object
from gangproof.impl.objects import Node, Pod
from gangproof.impl.store import kind_of, table
from gangproof.impl.world import Cycle, Members, NodeInfo, Result, Snapshot, World
from gangproof.properties.claim_shapes import ClaimShapes, of_claims
from gangproof.properties.outlook import Outlook, anonymous, outlook
from gangproof.properties.shapes import ageless, bag_of, disrupted, nameless, shape_of_node, shape_of_pod


@frozen(cache_hash=True)
class Symmetry:
    """A reduced key for worlds; `fixed` are the pods (by key) and nodes that keep their names.

    Keys compare worlds within one process; they are not meant to be stored.
    """

    fixed: frozenset[str] = frozenset()

    def __call__(self, world: World) -> Hashable:
        ahead = outlook(world.environment, self.fixed)
        return _Reading(world, ahead.kept).key(ahead)


class _Reading:
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
        self.read_truth()
        for pod, claim in self.claims.reserved() if self.claims is not None else ():
            self.say(pod, ("reserved", claim))
        self.read_cache()
        self.read_memory()
        self.read_ghost()
        if world.admitted:
            self.read_admitted()
        if world.cycle is not None:
            self.read_cycle(world.cycle)
        if world.control is not NO_CONTROL and world.control != NO_CONTROL:
            self.read_control(world.control)
        if world.environment.again:
            self.read_again()

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

    def read_truth(self) -> None:
        for name, node in self.world.nodes.items():
            shape = shape_of_node(node)
            self.at[name], self.nodes[name] = [], [shape.value]
            if shape.names:
                self.kept |= shape.names
        self.kept |= disrupted(self.world.budgets)
        for key, pod in self.world.pods.items():
            shape = shape_of_pod(pod)
            self.pods[key], self.uids[key] = [shape.value], pod.uid
            if shape.names:
                self.kept |= shape.names
            if pod.node_name is None:
                self.aged.add(key)
            if pod.owners:
                self.owned(pod)
            self.references(pod, "stored")

    def read_cache(self) -> None:
        for name, info in self.world.cache.items():
            self.links(name)
            self.info(name, info, "cached")

    def info(self, name: str, info: NodeInfo, what: str) -> None:
        """A node with the pods on it."""
        self.nodes[name].append((what, info.used, info.nonzero))
        self.node(name, info.node, what)
        for key, pod in info.pods.items():
            self.link(key, name, what)
            self.version(pod, what)

    def read_memory(self) -> None:
        world = self.world
        for group, sets in world.members.items():
            self.members(group, sets, "member")
            self.aged.update(sets.unsched, sets.assumed)
        for key, node in world.assumed.items():
            self.rank(key, "promised")
            self.link(key, node, "promised")
        for number, entry in enumerate(world.queue):
            self.rank(entry.pod, (number, entry.place, entry.plugins, entry.cooling, entry.tried))
        for key, uid in world.in_flight.items():
            self.say(key, ("in flight", uid == self.uids.get(key)))
        for key, node in world.nominations.items():
            self.link(key, node, "nomination")
        for key, binding in world.bindings.items():
            self.rank(key, binding.call)
            self.link(key, binding.node, "binding")
            if binding.holds and self.claims is not None:
                self.say(key, self.claims.holds(key, binding.holds))
        if world.rounds:
            self.read_rounds()

    def read_rounds(self) -> None:
        """The rounds that run: a group's by its key, a plain pod's by that pod's age."""
        rounds = self.world.rounds
        for number, entity in enumerate(self.by_age([entity.removeprefix("=") for entity in rounds])):
            running = rounds.get(entity) or rounds[f"={entity}"]
            plain = entity not in rounds
            whole = ("" in running.unbegun, "" in running.failed, running.group)
            self.whole.append((number, plain or entity, whole))
            if plain:
                self.rank(entity, ("preempts", number))
            askers = {key: place for place, key in enumerate(self.by_age(running.askers))}
            for key, place in askers.items():
                self.rank(key, ("asks", number, place, key in running.unbegun, key in running.failed))
            for key, uid in running.victims:
                self.say(key, ("victim", number, uid == self.uids.get(key)))
            for place, (key, asker) in enumerate(running.calls):
                self.say(key, ("called", number, place, askers.get(asker, asker)))

    def by_age(self, pods: Iterable[str]) -> list[str]:
        """Pods from old to young; those that are gone, and whatever is no pod, by name at the end."""
        return sorted(pods, key=lambda key: (self.uids.get(key, inf), key))

    def read_admitted(self) -> None:
        """In which order pods were let in first, as far as they still wait for a node."""
        waiting = {pod.uid: key for key, pod in self.world.pods.items() if pod.node_name is None}
        batches = ([waiting[uid] for uid in batch if uid in waiting] for batch in self.world.admitted)
        for number, batch in enumerate(filter(None, batches)):
            for key in batch:
                self.say(key, ("admitted", number))

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

    def read_ghost(self) -> None:
        ghost = self.world.ghost
        for group, counted in ghost.counted.items():
            for key in counted:
                self.say(key, ("counted", group))
        for what in ("owed", "placed", "evicted", "sent_back"):
            pods: tuple[str, ...] = getattr(ghost, what)
            for key in pods:
                self.say(key, what)

    def read_cycle(self, cycle: Cycle) -> None:
        self.whole.append((cycle.group, cycle.stage, cycle.code, cycle.message, cycle.submitted))
        self.whole.append((cycle.trial, cycle.called, cycle.beyond))
        members = {pod.key: number for number, pod in enumerate(cycle.members)}
        for number, pod in enumerate(cycle.members):
            self.say(pod.key, ("tried", number))
            self.version(pod, "tried")
        for number, (victim, asker) in enumerate(cycle.victims):
            self.say(victim, ("named", number, members.get(asker, asker)))
        for key, node in cycle.plan.items():
            self.link(key, node, "planned")
        for number, result in enumerate(cycle.results):
            self.result(result, ("result", number))
        self.read_domains(cycle)
        for claim, asker in cycle.freeing:
            self.whole.append((claim, members.get(asker, asker)))
        for number, event in enumerate(cycle.noticed):
            if event.pod is not None:
                self.say(event.pod.key, ("noticed", number))
                self.version(event.pod, "noticed")
            if event.old_pod is not None:
                self.say(event.old_pod.key, ("noticed before", number))
                self.version(event.old_pod, "noticed before")
            self.whole.append((event.kind, event.group, event.claim))
            for node, what in ((event.node, "noticed"), (event.old_node, "noticed before")):
                if node is not None:
                    self.links(node.name)
                    self.nodes[node.name].append((what, number))
                    self.node(node.name, node, what)
        for snapshot, what in ((cycle.taken, "taken"), (cycle.snapshot, "seen")):
            if snapshot is not None:
                self.snapshot(snapshot, cycle.group, what)

    def read_domains(self, cycle: Cycle) -> None:
        """The domains to be visited and who is ahead; a domain that is called like a node of it has no name."""
        domains = cycle.domains
        self.whole.append((domains is not None, cycle.visited))
        for number, domain in enumerate(domains or ()):
            self.whole.append("" if domain.value in domain.nodes else domain.value)
            for name in domain.nodes:
                self.links(name)
                self.nodes[name].append(("domain", number))
        for place, visit in enumerate(cycle.ahead):
            self.whole.append((visit.domain, visit.code, visit.packing, visit.placed))
            for number, result in enumerate(visit.results):
                self.result(result, ("ahead", place, number))

    def result(self, result: Result, what: Hashable) -> None:
        """What a cycle found for a member."""
        self.say(result.pod, (what, result.plugins, result.error))
        if result.holds and self.claims is not None:
            self.say(result.pod, (what, self.claims.holds(result.pod, result.holds)))
        for place, victim in enumerate(result.victims):
            self.say(victim, (what, "victim", place))
        if result.node is not None:
            self.link(result.pod, result.node, what)

    def read_control(self, control: Control) -> None:
        """What is left to do beside the scheduler, and what somebody has not seen yet."""
        self.whole.append((control.due, control.retrying, control.resting, control.behind))
        for name in control.orphans:
            kind, _, key = name.partition("/")
            self.about(kind, key, "orphan")
        for number, sent in enumerate(control.sent):
            self.say(sent.pod, ("sent", number, sent.call, sent.uid == self.uids.get(sent.pod)))
            if sent.node:
                self.link(sent.pod, sent.node, ("sent", number))
        for kind, log in control.log.items():
            for number, revision in enumerate(log):
                self.about(kind, revision.key, ("changed", number, revision.by), _waits(revision))
                self.other(revision.old, ("was", kind, number))
                self.other(revision.new, ("is", kind, number))
        if control.sync is not None:
            self.read_sync(control.sync)

    def read_sync(self, sync: Sync) -> None:
        held = (sync.workload and sync.workload.key, sync.group and sync.group.key)
        self.whole.append((sync.job.key, sync.stage, held, sync.batch, sync.left, sync.failed))
        self.other(sync.job, "synced")
        for number, pod in enumerate(sync.pods):
            self.say(pod.key, ("listed", number))
            self.version(pod, "listed")
        if sync.plan is not None:
            self.other(sync.plan.job, "planned")
            self.whole.append((sync.plan.create, sync.plan.forgiven, sync.plan.rests))
            for what, pods in (("to go", sync.plan.delete), ("counted", sync.plan.counted)):
                for number, key in enumerate(pods):
                    self.say(key, (what, number))

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

    def snapshot(self, snapshot: Snapshot, group: str | None, what: str) -> None:
        """What a cycle sees, as far as it is not just what is there now."""
        world = self.world
        for name, info in snapshot.nodes.items():
            self.links(name)
            live = world.cache.get(name)
            if live is info or live == info:
                self.nodes[name].append(what)
            else:
                self.info(name, info, what)
        if self.claims is not None:
            self.kept |= frozenset(self.claims.names_seen(snapshot.claims))
            self.whole.append((what, self.claims.seen(snapshot.claims)))
        for name in snapshot.nodes_with_affinity:
            self.nodes[name].append((what, "affinity"))
        for name in snapshot.nodes_with_required_anti_affinity:
            self.nodes[name].append((what, "required anti-affinity"))
        if snapshot.members == world.members_of(group or ""):
            self.whole.append(what)
        else:
            self.members(group or "", snapshot.members, what)

    def read_again(self) -> None:
        """What users will create again: said of what bears the name still, if anything does."""
        settings = self.world.settings
        named = settings.rank or settings.node_scores is not None
        nameless: list[Hashable] = []
        for obj in self.world.environment.again:
            known = self.pods if isinstance(obj, Pod) else self.nodes if isinstance(obj, Node) else {}
            if obj.key in known:
                known[obj.key].append(("again", anonymous(obj, named)))
            else:
                nameless.append(anonymous(obj, named or obj.key in self.kept))
        self.whole.append(("again", bag_of(nameless)))

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


def _waits(revision: Revision) -> bool:
    """Whether somebody may yet take the pod for one that waits, so that its age matters."""
    versions = (revision.old, revision.new)
    return any(isinstance(obj, Pod) and obj.node_name is None for obj in versions)


def _first(item: tuple[int, Hashable]) -> int:
    return item[0]
