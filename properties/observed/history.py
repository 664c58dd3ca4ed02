"""A recorded run as a history: every moment at which something happened, with the cluster before and after.

Steps tell what users did, the log what the scheduler did, the marks how the two interleave, and looks set right
what neither tells. A promise then reads the history from end to end; it never asks why somebody did something.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from gangproof.impl.gates import Object
from gangproof.impl.objects import Pod
from gangproof.properties.conformance.events import (
    Bound,
    Deleted,
    Observed,
    Preempted,
)
from gangproof.properties.conformance.recording import (
    Look,
    Step,
)
from gangproof.properties.observed.cluster import Cluster, entity_of

REST = 25
"""Seconds without a change after which a cluster is at rest: more than two of the longest backoffs."""
FOR_GOOD = 330
"""Seconds after which also the periodic flush of what is unschedulable has come (QUEUE-26)."""


class UnmarkedError(ValueError):
    """A recording that does not tell where in its log each step begins."""


@frozen
class Made:
    """Somebody created the object, or stored it anew."""

    obj: Object
    anew: bool = False


@frozen
class Gone:
    """The object is no more."""

    kind: str
    key: str


@frozen
class Ended:
    """The pod ended, as Succeeded or Failed."""

    pod: str
    phase: str


Happening = Observed | Made | Gone | Ended | Step


@frozen(repr=False)
class Moment:
    """Something happened: in which step, at which second, in which cycle (None if it is no scheduler's doing).

    `by_user` tells a deletion that a step asked for from one by the scheduler.
    """

    index: int
    what: Happening
    step: int
    time: float
    cycle: int | None
    by_user: bool
    before: Cluster
    after: Cluster


@frozen
class Rest:
    """A look at a cluster that had settled, `quiet` seconds after the last change; `since` is the moment after the
    rest before."""

    at: int
    since: int
    quiet: float
    look: Look
    cluster: Cluster

    @property
    def for_good(self) -> bool:
        """Whether nothing will change any more, or only what is tried again may."""
        return self.quiet >= FOR_GOOD


@frozen(repr=False)
class History:
    """The moments of a run in their order, and those at which it was at rest.

    `stepwise` says that an event's cycle is the one that caused it: cycles do not overlap, and no call was held.
    """

    name: str
    moments: tuple[Moment, ...]
    rests: tuple[Rest, ...]
    stepwise: bool
    backoff: bool
    error: str = ""

    @property
    def last(self) -> Cluster:
        return self.moments[-1].after if self.moments else Cluster()

    def binds(self, since: int = 0, until: int | None = None) -> Iterator[tuple[Moment, Pod]]:
        """Each bind, and the pod as it was before."""
        for moment in self.moments[since:until]:
            if isinstance(moment.what, Bound):
                pod = moment.before.pods.get(moment.what.pod)
                if pod is not None:
                    yield moment, pod

    def decided(self, moment: Moment) -> int:
        """The first moment at which the scheduler may have decided what happened at this one.

        That is where its cycle begins, or after the rest before if cycles overlap.
        """
        if not self.stepwise:
            return self.since_rest(moment.index)
        first = moment.index
        while first > 0:
            earlier = self.moments[first - 1]
            if earlier.step != moment.step or earlier.cycle not in (None, moment.cycle):
                break
            first -= 1
        return first

    def since_rest(self, index: int) -> int:
        """The moment after the last rest before this one."""
        return max((rest.at + 1 for rest in self.rests if rest.at < index), default=0)

    def next_rest(self, index: int) -> Rest | None:
        """The first rest after the moment."""
        return next((rest for rest in self.rests if rest.at > index), None)


@frozen
class Eviction:
    """The scheduler evicts a pod: the pod as it was, and for whom, if that was told.

    `by` is the group, or the plain pod, whose cycle it was; `asker` is the pod of whom the scheduler speaks, None
    if it speaks of the group as a whole.
    """

    at: int
    victim: Pod
    by: str | None
    asker: str | None


def evictions(history: History) -> tuple[Eviction, ...]:
    """Every deletion by the scheduler, in order."""
    found: list[Eviction] = []
    for moment in history.moments:
        if not isinstance(moment.what, Deleted) or moment.by_user:
            continue
        victim = moment.before.pods.get(moment.what.pod)
        if victim is not None:
            asker = _preemptor(history, moment.index, victim.key)
            pod = moment.before.pods.get(asker or "")
            whole = asker is not None and pod is None
            by = asker if pod is None else entity_of(pod)
            found.append(Eviction(moment.index, victim, by, None if whole else asker))
    return tuple(found)


def _preemptor(history: History, index: int, victim: str) -> str | None:
    """Of whom the scheduler says that the victim is evicted for it: it says so after the deletion."""
    for moment in history.moments[index + 1 :]:
        match moment.what:
            case Preempted(pod=pod, preemptor=preemptor) if pod == victim:
                return preemptor
            case Deleted(pod=pod) if pod == victim:
                return None
            case _:
                pass
    return None
