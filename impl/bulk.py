"""A world of many objects at once: what creating them one by one comes to, in time that grows with their number.

A table that grows by one key is copied, so creating n objects one by one takes n² steps. A cluster's dump has
tens of thousands of them. Here every table is made once, and a member's arrival is looked at only by those
who wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field

from gangproof.impl.api import ApiError
from gangproof.impl.claims.references import claim_name
from gangproof.impl.claims.store import known_users
from gangproof.impl.gates import CLUSTER_WIDE, Object
from gangproof.impl.members import tell
from gangproof.impl.memory import Entry, Members, NodeInfo
from gangproof.impl.objects import Node, Pod, PodGroup, ResourceClaim
from gangproof.impl.owners import OWNED, OWNERS, resolved
from gangproof.impl.rules import Rules
from gangproof.impl.steps import MemberEvent
from gangproof.impl.store import KINDS, kind_of
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World


def world_of(rules: Rules, objects: Iterable[Object], settings: Settings | None = None) -> World:
    """The world in which these objects were created in this order, as `api.create` would do it (ACT-01).

    They are as the API server stores them, so admission is not asked, and what follows from a deletion
    (GC-02) follows when all are there. Nothing has been scheduled yet. ApiError if two have the same key.
    """
    growing = _Growing(rules, settings or Settings())
    for obj in objects:
        growing.create(obj)
    return growing.world()


@define
class _Growing:
    """What is there so far, in containers that grow in place."""

    rules: Rules
    settings: Settings
    births: int = 0
    tables: dict[str, dict[str, Object]] = field(factory=lambda: {kind: {} for kind in KINDS})
    on_node: dict[str, list[Pod]] = field(factory=dict[str, list[Pod]])
    members: dict[str, Members] = field(factory=dict[str, Members])
    entries: dict[str, Entry] = field(factory=dict[str, Entry])
    waiting: dict[str, list[Pod]] = field(factory=dict[str, list[Pod]])
    lacking: dict[str, list[Pod]] = field(factory=dict[str, list[Pod]])
    admitted: list[tuple[int, ...]] = field(factory=list[tuple[int, ...]])

    def create(self, obj: Object) -> None:
        self.births += 1
        table = self.tables[kind_of(obj)]
        if obj.key in table:
            raise ApiError(f"{kind_of(obj)}/{obj.key} already exists")
        if not isinstance(obj, CLUSTER_WIDE) and obj.uid != self.births:
            obj = evolve(obj, uid=self.births)
        table[obj.key] = obj
        if isinstance(obj, Pod):
            self._see(obj)
        elif isinstance(obj, PodGroup):
            self._wake(obj.key)
        elif isinstance(obj, ResourceClaim):
            self._let_in(self.lacking.pop(obj.key, []))

    def _see(self, pod: Pod) -> None:
        """The scheduler sees the pod: QUEUE-01, QUEUE-02, QUEUE-06, QUEUE-07."""
        if pod.terminal:
            if pod.phase == "Succeeded" and not pod.terminating:
                self._tell(pod, "finished")
        elif pod.node_name is not None:
            self.on_node.setdefault(pod.node_name, []).append(pod)
            self._tell(pod, "bound")
            if pod.terminating:
                self._tell(pod, "terminating")
            self._wake(pod.group)
        elif pod.scheduler_name in self.settings.profiles and self._takes_in(pod):
            self._tell(pod, "added")
            self._enter(pod)
            self._wake(pod.group)

    def _takes_in(self, pod: Pod) -> bool:
        """Whether a pending pod is queued when it is first seen (QUEUE-07, DEV-20)."""
        if not pod.terminating:
            return True
        alone = World(settings=self.settings, pods=Table({pod.key: pod}))
        return bool(self.rules.appear(self.rules, alone, pod).queue)

    def _tell(self, pod: Pod, event: MemberEvent) -> None:
        if pod.group is None:
            return
        after = tell(self.rules, self._around(pod.group), pod.group, event, pod.key).members
        if pod.group in after:
            self.members[pod.group] = after[pod.group]
        else:
            self.members.pop(pod.group, None)

    def _enter(self, pod: Pod) -> None:
        plugins = self._gate(pod)
        self.entries[pod.key] = Entry(pod.key, "gated" if plugins else "active", plugins)
        if not plugins:
            self._admit([pod])
        if not plugins or pod.scheduling_gates:
            return
        if pod.group is not None and "GangScheduling" in plugins:
            self.waiting.setdefault(pod.group, []).append(pod)
        for key in _claims_of(pod) if "DynamicResources" in plugins else ():
            self.lacking.setdefault(key, []).append(pod)

    def _gate(self, pod: Pod) -> tuple[str, ...]:
        world = self._around(pod.group)
        if pod.resource_claims:
            claims = self.tables["claim"]
            there = (
                (key, claim) for key in _claims_of(pod) if isinstance(claim := claims.get(key), ResourceClaim)
            )
            world = evolve(world, claims=Table(there))
        return self.rules.gate(self.rules, world, pod)

    def _wake(self, group: str | None) -> None:
        """Members that only the gang plugin holds back enter once it lets them, all at once (QUEUE-14 to 17)."""
        waiting = self.waiting.get(group or "")
        if group is not None and waiting and "GangScheduling" not in self._gate(waiting[0]):
            self._let_in(self.waiting.pop(group))

    def _let_in(self, pods: list[Pod]) -> None:
        """Gated pods that lacked a claim or a member enter by one event, if they lack nothing else."""
        free = [
            pod
            for pod in pods
            if self.entries[pod.key].place == "gated" and not (pod.resource_claims and self._gate(pod))
        ]
        for pod in free:
            self.entries[pod.key] = Entry(pod.key, "active")
        if free:
            self._admit(free)

    def _admit(self, pods: list[Pod]) -> None:
        """They enter the active part by one event; what is remembered of it is a batch of its own (QUEUE-11)."""
        alone = World(settings=self.settings, pods=Table((pod.key, pod) for pod in pods))
        self.admitted.extend(self.rules.admit(alone, tuple(pod.key for pod in pods)).admitted)

    def _around(self, group: str | None) -> World:
        """The part of the world that decides about members of the group."""
        if group is None:
            return World(settings=self.settings)
        stored, sets = self.tables["podGroup"].get(group), self.members.get(group)
        return World(
            settings=self.settings,
            groups=Table({group: stored} if isinstance(stored, PodGroup) else {}),
            members=Table({group: sets} if sets is not None else {}),
        )

    def _settle_owners(self) -> None:
        """Owners are given by name; who bears the name is known when all are there."""
        tables: dict[str, Any] = {KINDS[kind]: Table(self.tables[kind]) for kind in OWNERS}
        owners = World(**tables)
        for kind in OWNED:
            for key, obj in self.tables[kind].items():
                self.tables[kind][key] = resolved(owners, obj)

    def world(self) -> World:
        self._settle_owners()
        tables: dict[str, Any] = {KINDS[kind]: Table(objects) for kind, objects in self.tables.items()}
        nodes: Mapping[str, Object] = self.tables["node"]
        names = dict.fromkeys((*nodes, *self.on_node))
        grown = World(
            settings=self.settings,
            births=self.births,
            members=Table(self.members),
            cache=Table((name, _info(nodes.get(name), self._on(name))) for name in names),
            queue=tuple(self.entries.values()),
            admitted=tuple(self.admitted),
            **tables,
        )
        known = {key: known_users(grown, claim) for key, claim in grown.claims.items()}
        return self.rules.controllers(self.rules, evolve(grown, claims=Table(known)))

    def _on(self, node: str) -> list[Pod]:
        pods = self.tables["pod"]
        return [pod for seen in self.on_node.get(node, ()) if isinstance(pod := pods[seen.key], Pod)]


def _claims_of(pod: Pod) -> Iterator[str]:
    """The keys of the claims that the pod means, as far as it is known which."""
    yield from (key for entry in pod.resource_claims if (key := claim_name(pod, entry)))


def _info(node: Object | None, pods: Sequence[Pod]) -> NodeInfo:
    """The node with the pods on it: what `snapshot.with_pod` comes to for one after the other (FILT-09)."""
    used: dict[str, int] = {}
    nonzero: dict[str, int] = {}
    for pod in pods:
        for totals, amounts in ((used, pod.requests), (nonzero, pod.scoring_requests)):
            for resource, amount in amounts.items():
                totals[resource] = totals.get(resource, 0) + amount
    if pods:
        used["pods"] = used.get("pods", 0) + len(pods)
    return NodeInfo(
        node=node if isinstance(node, Node) else None,
        pods=Table((pod.key, pod) for pod in pods),
        used=Table((resource, amount) for resource, amount in used.items() if amount),
        nonzero=Table((resource, amount) for resource, amount in nonzero.items() if amount),
    )
