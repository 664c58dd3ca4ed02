"""The state of one running cycle: what it sees, what it has found so far, what it has noticed since it began."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from gangproof.impl.memory import NO_MEMBERS, Hold, InFlight, Members, NodeInfo
from gangproof.impl.objects import DeviceClass, Node, Pod, ResourceClaim, ResourceSlice
from gangproof.impl.table import Table

Code = Literal["Success", "Unschedulable", "Waiting", "Error"]
Stage = Literal["popped", "placing", "weighing", "submitting", "reporting"]


@frozen(cache_hash=True)
class SeenClaims:
    """What the scheduler sees of claims and devices; `before` is what was in flight when a cycle looked first.

    `uncounted` are devices as in `World`. `workload` says that the gate DRAWorkloadResourceClaims is on in the
    scheduler.
    """

    claims: Table[ResourceClaim] = Table()
    classes: Table[DeviceClass] = Table()
    slices: Table[ResourceSlice] = Table()
    in_flight: Table[InFlight] = Table()
    before: Table[InFlight] = Table()
    uncounted: tuple[str, ...] = ()
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
