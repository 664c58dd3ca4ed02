"""The one value that everything happens to: the API's objects, what the scheduler remembers, and a ghost.

A `World` is immutable; equal worlds are equal values, and nothing outside a world decides anything. There is
no clock in it: the queue is kept in the order of Timestamps, a pod's age is its uid, backoff is running or
over, and conditions carry no times.
"""

from __future__ import annotations

from attrs import evolve, frozen

from gangproof.impl.control import NO_CONTROL, Control
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.gates import SCENARIO_GATES, FeatureGates, Object
from gangproof.impl.memory import NO_MEMBERS, Binding, CachedClaim, Entry, InFlight, Members, NodeInfo, Round
from gangproof.impl.objects import (
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
    stored, or would go back to one, and `uncounted` the devices, sorted, that some claim has and that count as free all
    the same; there are none of either in *intended*.
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
    uncounted: tuple[str, ...] = ()
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
