"""What the scheduler remembers between two steps: members, nodes, the queue, allocations, bindings, preemptions."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from attrs import frozen

from gangproof.impl.objects import Allocation, Consumer, Node, Pod, ResourceClaim
from gangproof.impl.table import Table

QueuePlace = Literal["active", "backoff", "pool", "gated"]


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
