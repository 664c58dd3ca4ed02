"""A recorded run as a value: how the scheduler was set up, what was done to it, what it did, what was seen.

The recorder drives the scheduler in steps and looks at the API in between. Time in the log is the recorder's
simulated clock; the model has none, so only its order counts, and that backoffs and the flush need time.
"""

from __future__ import annotations

from attrs import frozen

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
class SeenPod:
    """A pod at a glance: its node, its nomination, its condition PodScheduled, its place in the queue.

    `condition` is status and reason, empty if there is none. `place` is empty for a pod that is not queued;
    a gated pod tells the plugin that gates it.
    """

    node: str | None = None
    nominated: str | None = None
    condition: str = ""
    terminating: bool = False
    place: str = ""


@frozen
class Look:
    """What the API and the queue showed at that second; `cycles` had begun by then, if that was noted."""

    time: float
    pods: Table[SeenPod]
    groups: Table[Conditioned | None]
    cycles: int | None = None


Step = Create | Delete | Remove | Reap | Settle | Cycles | Advance | Look


@frozen
class Recording:
    """One run. `needs` names what it uses and the model does not have; such a run is not followed.

    `pinned` says that the recorder saw to it that members of one group are tried in the order of their
    creation, `inner` that the scheduler told of its inner steps. `cycles` is how many began in all.
    """

    name: str
    settings: Settings
    steps: tuple[Step, ...] = ()
    log: tuple[Logged, ...] = ()
    cycles: int = 0
    pinned: bool = True
    inner: bool = False
    needs: tuple[str, ...] = ()
