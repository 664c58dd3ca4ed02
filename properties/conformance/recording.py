"""A recorded run as a value: how the scheduler was set up, what was done to it, what it did, what was seen.

The recorder drives the scheduler in steps and looks at the API in between. Time in the log is the recorder's
simulated clock; the model has none, so only its order counts, and that backoffs and the flush need time.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from gangproof.impl.gates import Object
from gangproof.impl.objects import NodeSelectorTerm
from gangproof.impl.table import Table
from gangproof.impl.world import Settings
from gangproof.properties.conformance.events import Conditioned, Logged
from gangproof.properties.scenarios.document import Create, Delete


@frozen
class Remove:
    """These pods are gone at once, whatever their grace period and finalizers."""

    pods: tuple[str, ...]


@frozen
class Reap:
    """All terminating pods are gone."""


@frozen
class Settle:
    """Cycles run, and time passes, until nothing has changed for `idle` seconds or nobody waits any more."""

    idle: int


@frozen
class Cycles:
    """At most so many cycles run, while there is one to run; no time passes."""

    limit: int


@frozen
class Advance:
    """Time passes, and no cycle runs."""

    seconds: float


@frozen
class Alter:
    """These objects are stored anew, as a whole; what the cluster gave them (a pod's node) they keep."""

    objects: tuple[Object, ...]


@frozen
class End:
    """These pods end, as Succeeded or as Failed."""

    pods: tuple[str, ...]
    phase: Literal["Succeeded", "Failed"] = "Succeeded"


@frozen
class Restart:
    """A new scheduler takes over, with no memory of the one before."""


@frozen
class Calls:
    """From now on such calls of the scheduler (`bind/p1`) stay open, or go on, or the next one fails."""

    what: Literal["hold", "release", "fail"]
    calls: tuple[str, ...]


@frozen
class Refuse:
    """The cluster refused this step, or the rest of it from some object on, and the run ended there."""

    step: Step


@frozen
class Attempt:
    """One cycle runs; the steps in `during` happen once it has its members and its snapshot."""

    during: tuple[Step, ...] = ()


@frozen
class SeenPod:
    """A pod at a glance: its node, its nomination, its condition PodScheduled, its place in the queue.

    `condition` is status and reason, empty if there is none. `place` is empty for a pod that is not queued;
    a gated pod tells the plugin that gates it. `attempts` is how often it was tried, if that was noted.
    """

    node: str | None = None
    nominated: str | None = None
    condition: str = ""
    terminating: bool = False
    place: str = ""
    attempts: int = 0


@frozen
class SeenClaim:
    """A claim at a glance: its devices (`driver/pool/device`), where they can be reached, who reserved it.

    `nodes` is None for a claim that is not allocated, and for devices that every node reaches. `reserved`
    names pods and groups, as `pods/p1` and `podgroups/g`.
    """

    devices: tuple[str, ...] = ()
    nodes: tuple[NodeSelectorTerm, ...] | None = None
    reserved: tuple[str, ...] = ()


@frozen
class Look:
    """What the API and the queue showed at that second.

    `cycles` had begun by then, and so many `events` of the log were before it, if that was noted.
    """

    time: float
    pods: Table[SeenPod]
    groups: Table[Conditioned | None]
    cycles: int | None = None
    claims: Table[SeenClaim] = Table()
    events: int | None = None


Step = (
    Create
    | Alter
    | Delete
    | Remove
    | Reap
    | End
    | Settle
    | Cycles
    | Attempt
    | Advance
    | Calls
    | Restart
    | Refuse
    | Look
)


@frozen
class Recording:
    """One run. `needs` names what it uses and the model does not have; such a run is not followed.

    `pinned` says that the recorder saw to it that members of one group are tried in the order of their
    creation, `inner` that the scheduler told of its inner steps, `claims` that the log has what was written to claims,
    `controlled` that the claim controller was at work.
    `cycles` is how many began in all. `eager`
    says that cycles began while the calls of earlier ones were under way, so that an event's cycle is only
    the latest that had begun. `marks` tells for each step how many events of the log came before it; it is
    empty if that was not noted. `error` is how the run ended early, empty if it did not.
    """

    name: str
    settings: Settings
    steps: tuple[Step, ...] = ()
    log: tuple[Logged, ...] = ()
    cycles: int = 0
    pinned: bool = True
    inner: bool = False
    claims: bool = True
    controlled: bool = False
    eager: bool = False
    marks: tuple[int, ...] = ()
    error: str = ""
    needs: tuple[str, ...] = ()
