"""The one value that everything happens to: the API's objects, what the scheduler remembers, and a ghost.

A `World` is immutable; equal worlds are equal values, and nothing outside a world decides anything. There is
no clock in it: the queue is kept in the order of Timestamps, a pod's age is its uid, backoff is running or
over, and conditions carry no times.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from attrs import evolve, frozen

from gangproof.impl.control import NO_CONTROL, Control
from gangproof.impl.gates import SCENARIO_GATES, FeatureGates, Object
from gangproof.impl.objects import (
    Allocation,
    Consumer,
    DeviceClass,
    Job,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Workload,
)
from gangproof.impl.table import Table

QueuePlace = Literal["active", "backoff", "pool", "gated"]
Code = Literal["Success", "Unschedulable", "Waiting", "Error"]
Stage = Literal["popped", "placing", "weighing", "submitting", "reporting"]


def added(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The sorted names with one more."""
    return names if name in names else tuple(sorted((*names, name)))


def removed(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The sorted names without one."""
    return tuple(n for n in names if n != name) if name in names else names


@frozen(cache_hash=True)
class Members:
    """The member sets of one group as the scheduler keeps them (QUEUE-01 to QUEUE-06), each sorted.

    `unsched`, `assumed` and `assigned` partition the living members; `done` are those known as Succeeded and
    `leaving` those terminating on a node (SEMANTICS 0.5).
    """

    unsched: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    leaving: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All(g), with a member that is in two sets named once."""
        return tuple(sorted({*self.unsched, *self.assumed, *self.assigned}))

    @property
    def scheduled(self) -> tuple[str, ...]:
        """Scheduled(g) = Assumed(g) and Assigned(g) together."""
        return tuple(sorted({*self.assumed, *self.assigned}))


NO_MEMBERS = Members()


def has_affinity(pod: Pod) -> bool:
    """Whether the pod has a term of affinity or anti-affinity, required or preferred."""
    near, far = pod.pod_affinity, pod.pod_anti_affinity
    return bool(near.required or far.required or near.preferred or far.preferred)


@frozen(cache_hash=True)
class NodeInfo:
    """What the scheduler knows of one node: the object (None once it is gone) and the pods on it.

    `used` sums the requests of those pods, `pods` counted as a resource; `nonzero` sums their scoring
    requests (SCORE-06).
    """

    node: Node | None
    pods: Table[Pod] = Table()
    used: Table[int] = Table()
    nonzero: Table[int] = Table()

    @cached_property
    def pods_with_affinity(self) -> tuple[Pod, ...]:
        """The pods here that have a term of affinity or anti-affinity."""
        return tuple(pod for pod in self.pods.values() if has_affinity(pod))

    @cached_property
    def pods_with_required_anti_affinity(self) -> tuple[Pod, ...]:
        """The pods here that keep others away."""
        return tuple(pod for pod in self.pods_with_affinity if pod.pod_anti_affinity.required)


@frozen(cache_hash=True)
class Entry:
    """A pod in the scheduling queue; entries stand in the order of their Timestamps.

    `plugins` are those that gate it and those that rejected its last attempt (none after an error). `cooling` says
    that its backoff has not run out yet, wherever it is; `tried` that it was in a cycle since it came in.
    """

    pod: str
    place: QueuePlace
    plugins: tuple[str, ...] = ()
    cooling: bool = False
    tried: bool = False


@frozen(cache_hash=True)
class InFlight:
    """An allocation that is chosen and not known to be written, and how many pods reckon with it (CLAIM-12, 13)."""

    allocation: Allocation
    sharers: int = 1


@frozen(cache_hash=True)
class Hold:
    """What a pod with a place has yet to write into one claim: for whom it is reserved, and perhaps the allocation.

    `slot` tells the claim from a later one of its name.
    """

    slot: str
    consumer: Consumer
    allocation: Allocation | None = None


@frozen(cache_hash=True)
class CachedClaim:
    """A claim as the scheduler's cache has it, and the last version that it took over from the API (CLAIM-17)."""

    latest: ResourceClaim
    accepted: ResourceClaim


@frozen(cache_hash=True)
class SeenClaims:
    """What the scheduler sees of claims and devices; `before` is what was in flight when a cycle looked first.

    `workload` says that the gate DRAWorkloadResourceClaims is on in the scheduler.
    """

    claims: Table[ResourceClaim] = Table()
    classes: Table[DeviceClass] = Table()
    slices: Table[ResourceSlice] = Table()
    in_flight: Table[InFlight] = Table()
    before: Table[InFlight] = Table()
    workload: bool = True


NO_CLAIMS = SeenClaims()


@frozen(cache_hash=True)
class Snapshot:
    """What one cycle sees (CYCLE-08): nodes with the pods on them, and its group's member sets.

    Two indexes tell on which nodes to look for terms of others (CYCLE-33), as sorted names:
    `nodes_with_affinity` (a), where some pod has a term of affinity or anti-affinity, and
    `nodes_with_required_anti_affinity` (b), where some pod keeps others away.
    """

    nodes: Table[NodeInfo]
    members: Members = NO_MEMBERS
    nodes_with_affinity: tuple[str, ...] = ()
    nodes_with_required_anti_affinity: tuple[str, ...] = ()
    claims: SeenClaims = NO_CLAIMS


@frozen(cache_hash=True)
class Result:
    """The result of one member of a cycle: a node, or the plugins that rejected it, or an error.

    One with `victims` requires preemption: the node is its own only once they are gone (CYCLE-18). `holds` is what it
    has yet to write into its claims, by their keys.
    """

    pod: str
    node: str | None = None
    plugins: tuple[str, ...] = ()
    error: str = ""
    victims: tuple[str, ...] = ()
    holds: Table[Hold] = Table()

    @property
    def kept(self) -> bool:
        return self.node is not None


@frozen(cache_hash=True)
class Domain:
    """A candidate placement: the nodes, sorted, that have one value of the group's topology key (PLACE-02)."""

    value: str
    nodes: tuple[str, ...]


@frozen(cache_hash=True)
class Visit:
    """How the members came out within one domain (PLACE-10), and what it is compared by.

    `domain` is its number, `packing` its score by requests from 0 to 100 (PLACE-20), `placed` how many members
    are scheduled then, those from before included (PLACE-21).
    """

    domain: int
    results: tuple[Result, ...]
    code: Code
    packing: int = 0
    placed: int = 0

    @property
    def fits(self) -> bool:
        """Whether the domain is a candidate (PLACE-12)."""
        return self.code in ("Success", "Waiting")


@frozen(cache_hash=True)
class Event:
    """Something that the scheduler notices and that may move pods in its queue (QUEUE-14).

    `pod` and `node` are as they are now, or were when they went; of an update `old_pod` and `old_node` tell what
    was before. An update of a pod without a node concerns that pod alone.
    """

    kind: Literal[
        "PodAdded", "PodUpdated", "AssignedPodAdded", "AssignedPodUpdated", "AssignedPodDeleted",
        "NodeAdded", "NodeUpdated", "NodeDeleted", "PodGroupAdded", "Flush",
        "ClaimAdded", "ClaimUpdated", "ClaimFreed", "DeviceClassChanged", "SliceChanged",
        "AllocationReleased",
    ]  # fmt: skip
    pod: Pod | None = None
    node: Node | None = None
    group: str | None = None
    old_pod: Pod | None = None
    old_node: Node | None = None
    claim: str | None = None


@frozen(cache_hash=True)
class Cycle:
    """A running scheduling cycle, of one plain pod or of one group.

    `members` are the popped objects in the order in which they are tried (L); `taken` is the snapshot as it
    was taken, `snapshot` the same with the members assumed so far. `noticed` are the events since the pop:
    a plain pod that fails does not miss them; a group ignores them (QUEUE-22). `submitted` counts the members
    that the submit loop has carried out, where it goes one by one. In a `trial` nobody preempts. `victims` are
    those that the verdict names, each with the member that asks for it, and `plan` where the members would go
    then; `called` says that their eviction calls are made and the members are to be told. `freeing` are
    the claims that members ask to be let go, each with the member, or "" for the whole group. `beyond` is what the
    verdict needed and the model does not have.

    `domains` are the candidate placements, by label value, None if every node is one; they are visited one after
    the other, `visited` is the number of the one that `results` are for, and `ahead` keeps the visits that may
    still win, or while there are none the one that is to be reported.
    """

    group: str | None
    members: tuple[Pod, ...]
    stage: Stage = "popped"
    taken: Snapshot | None = None
    snapshot: Snapshot | None = None
    results: tuple[Result, ...] = ()
    code: Code | None = None
    message: str = ""
    noticed: tuple[Event, ...] = ()
    submitted: int = 0
    trial: bool = False
    victims: tuple[tuple[str, str], ...] = ()
    plan: Table[str] = Table()
    called: bool = False
    beyond: tuple[str, ...] = ()
    freeing: tuple[tuple[str, str], ...] = ()
    domains: tuple[Domain, ...] | None = None
    visited: int = 0
    ahead: tuple[Visit, ...] = ()

    @property
    def domain(self) -> Domain | None:
        """The domain that the members are kept to, None if they may go anywhere."""
        return self.domains[self.visited] if self.domains else None

    @property
    def entity(self) -> str:
        """The key of what is tried: a group's or a plain pod's."""
        return self.group if self.group is not None else self.members[0].key

    @property
    def preemptor(self) -> str:
        """The name under which its round runs: the group's key, or `=` and a plain pod's key."""
        return self.group if self.group is not None else f"={self.members[0].key}"


@frozen(cache_hash=True)
class Binding:
    """An open binding cycle: the pod is promised to the node, and one call is on its way (BIND-03).

    A pod that waits at Permit has the call `permit`, which ends by a release, a rejection or a time-out
    (BIND-04); in *intended* nobody waits there. `holds` is what PreBind has yet to write into claims, by their keys.
    """

    node: str
    call: Literal["permit", "prebind", "bind"] = "bind"
    holds: Table[Hold] = Table()


@frozen(cache_hash=True)
class Round:
    """A running preemption (SEMANTICS 0.5): its victims with their uids, and the eviction calls still open.

    `askers` wait outside the queue while calls are open; if a `group` asked as a whole, so does every other member.
    A call names its victim and the caller, which is the pod that asked for it, "" if the whole group did; of one
    caller's calls the last is made when the others have ended (PREEMPT-31, PREEMPT-33). `unbegun` are callers whose
    last call has not begun, where that makes a difference, and `failed` those of whom a call failed.
    """

    askers: tuple[str, ...]
    victims: tuple[tuple[str, int], ...]
    calls: tuple[tuple[str, str], ...] = ()
    unbegun: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    group: str | None = None

    def caller(self, pod: str) -> str:
        """Who makes the calls for which the pod waits."""
        return pod if self.group is None else ""

    def called(self, caller: str) -> tuple[str, ...]:
        """The victims whose calls by this caller are open, in order."""
        return tuple(victim for victim, who in self.calls if who == caller)


@frozen(cache_hash=True)
class Ghost:
    """History that the rules do not read and the properties do (SEMANTICS 0.5).

    `started` groups had a decision; `counted` are the living members that counted at one; `lost` tells how
    many of those no longer do; `owed` members were kept by a decision and are neither bound nor promised.
    `placed` are the members whose node this scheduler chose. `beyond` names what a run needed and the model
    does not have, so that no verdict rests on it. `evicted` pods were deleted by a preemption, `sent_back` ones
    lost only a promise to it. `meddled` are Jobs that were not left to their controller from the beginning:
    somebody else made or deleted a Workload or a PodGroup of theirs, or they had begun before.
    """

    started: tuple[str, ...] = ()
    counted: Table[tuple[str, ...]] = Table()
    lost: Table[int] = Table()
    owed: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    evicted: tuple[str, ...] = ()
    sent_back: tuple[str, ...] = ()
    meddled: tuple[str, ...] = ()


@frozen(cache_hash=True)
class Environment:
    """What may still come from outside: objects to be created, failures, deletions.

    `arrivals` come one at a time, in the given order or, if `any_order`, in any. `failures` is how many binds
    may still fail of their own accord, `deletions` how many pods a user may still delete. `held` calls stay
    open, the next of each `failing` call fails; a call is written `bind/namespace/pod`. With a `kubelet` a bound
    pod that is told to go does go, unless a finalizer holds it (ACT-05).

    `recreations` is how many objects a user may still delete in order to create them again; those that are gone, or
    going, for it are to come `again`, each when its name is free.

    `successes` and `crashes` are how many running pods may still succeed or fail, `refusals` how many calls of
    controllers may still fail of their own accord, `foreign_binds` how many pods another scheduler may still bind,
    `lost_nodes` how many nodes may still go, `restarts` how often the scheduler may still start anew. With
    `pod_gc` pods whose node is gone are ended and deleted. `failures` and `refusals` may be `math.inf`: without end.
    `lag` says of some views, such as `scheduler/pod`, by how many changes they may be behind; `stale` ones see
    nothing new.
    """

    arrivals: tuple[Object, ...] = ()
    any_order: bool = False
    failures: float = 0
    deletions: int = 0
    recreations: int = 0
    again: tuple[Object, ...] = ()
    kubelet: bool = False
    held: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    successes: int = 0
    crashes: int = 0
    refusals: float = 0
    foreign_binds: int = 0
    lost_nodes: int = 0
    restarts: int = 0
    pod_gc: bool = False
    lag: Table[int] = Table()
    stale: tuple[str, ...] = ()


@frozen(cache_hash=True)
class Settings:
    """How the scheduler is set up: gates, its profiles' names, scores, whether there is backoff.

    `protection` says that the API server has the admission plugin PodGroupProtection, which it has by default.
    `skewed` are the components in which the gate DRAWorkloadResourceClaims is off although it is on in the API server
    (API-07, CLAIM-35): `scheduler`, `claim-controller`, `kubelet`.
    """

    gates: FeatureGates = SCENARIO_GATES
    profiles: tuple[str, ...] = ("default-scheduler",)
    node_scores: Table[int] | None = None
    rank: bool = False
    backoff: bool = True
    protection: bool = True
    skewed: tuple[str, ...] = ()

    def shares_claims(self, component: str) -> bool:
        """Whether claims of groups exist for the component: the gate is on there (API-07, API-54)."""
        return self.gates.dra_workload_resource_claims and component not in self.skewed


@frozen(cache_hash=True)
class World:
    """Everything: truth (objects by key), the scheduler's memory, the environment, the ghost.

    `admitted` is empty in *intended*: the uids of pods in the order in which they entered the active part, those
    that one event let in together (QUEUE-11, QUEUE-13). `memory` is for a change that remembers a
    number by a name; the rules themselves never read it. `in_flight` are the pods that were popped and are not
    closed yet, each with its uid (QUEUE-19a, QUEUE-29). `claims_in_flight` are allocations not known to be written, by
    the slot of their claim; `claim_cache` are the claims of which the scheduler's cache has another version than is
    stored, or would go back to one, none in *intended*.
    """

    settings: Settings = Settings()
    # truth
    nodes: Table[Node] = Table()
    pods: Table[Pod] = Table()
    groups: Table[PodGroup] = Table()
    workloads: Table[Workload] = Table()
    jobs: Table[Job] = Table()
    priority_classes: Table[PriorityClass] = Table()
    budgets: Table[PodDisruptionBudget] = Table()
    claims: Table[ResourceClaim] = Table()
    claim_templates: Table[ResourceClaimTemplate] = Table()
    device_classes: Table[DeviceClass] = Table()
    slices: Table[ResourceSlice] = Table()
    births: int = 0
    # the scheduler's memory
    members: Table[Members] = Table()
    cache: Table[NodeInfo] = Table()
    assumed: Table[str] = Table()
    queue: tuple[Entry, ...] = ()
    in_flight: Table[int] = Table()
    nominations: Table[str] = Table()
    bindings: Table[Binding] = Table()
    rounds: Table[Round] = Table()
    cycle: Cycle | None = None
    admitted: tuple[tuple[int, ...], ...] = ()
    memory: Table[int] = Table()
    claims_in_flight: Table[InFlight] = Table()
    claim_cache: Table[CachedClaim] = Table()
    # beside it
    control: Control = NO_CONTROL
    # around both
    environment: Environment = Environment()
    ghost: Ghost = Ghost()

    def entry(self, pod: str) -> Entry | None:
        """The queue entry of a pod, if it is queued."""
        for entry in self.queue:
            if entry.pod == pod:
                return entry
        return None

    def members_of(self, group: str) -> Members:
        return self.members.get(group) or NO_MEMBERS

    def with_pod(self, pod: Pod) -> World:
        """The world with this version of the pod stored."""
        return evolve(self, pods=self.pods.put(pod.key, pod))


Move = tuple[str, tuple[str, ...], World]
"""Something that may happen: a name, what it is about, and the world that it leads to."""
