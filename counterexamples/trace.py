"""What happened, as plain data in the shape of the domain.

A `Trace` is what a person is shown of a verdict: snapshots of the cluster (`Frame`) and what led from each
to the next (`Event`). It knows nothing of the engine that found it, so a trace made by a search, a solver,
a fuzzer or a log is explained, drawn, stored and replayed by the same code. All of it is immutable and
ordered; what is put in comes out in the same order, so the same trace always gives the same bytes.

Conventions for every class here: a *key* is `namespace/name` (a node's is its name); a quantity is an
integer in base units (`cpu` in milli-CPU, `memory` in bytes, anything else in whole units); lists of named
numbers are tuples of pairs. A frame or trace that contradicts itself raises `ValueError` when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import Attribute, field, frozen

Amounts = tuple[tuple[str, int], ...]
"""Resource or label name and quantity, in the order in which they are shown."""

Labels = tuple[tuple[str, str], ...]
"""Label name and value, in the order in which they are shown."""

Argument = str | int | bool | None | tuple["Argument", ...]
"""What an action may carry: JSON's values without fractions and without objects."""


class Verdict(StrEnum):
    """What a run established about the property."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    VACUOUS = "vacuous"


class PodState(StrEnum):
    """Where a pod stands, in one vocabulary for every engine.

    Waiting states are those of the scheduling queue; `assumed` is placed in memory by a running cycle,
    `promised` kept by a decision whose bind has not begun, `owed` kept by a decision and lost again.
    """

    GATED = "gated"
    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    IN_FLIGHT = "in flight"
    ASSUMED = "assumed"
    PROMISED = "promised"
    BINDING = "binding"
    BOUND = "bound"
    OWED = "owed"
    TERMINATING = "terminating"
    EVICTED = "evicted"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    GONE = "gone"


@frozen
class NodeView:
    """A node: its capacity, how much of it is used, and its labels; `note` is a short remark."""

    name: str
    capacity: Amounts = ()
    used: Amounts = ()
    labels: Labels = ()
    unschedulable: bool = False
    note: str = ""

    @property
    def key(self) -> str:
        return self.name


@frozen
class PodView:
    """A pod: its group's key, its state, the node it is on, and the node it is nominated to."""

    key: str
    state: PodState = field(converter=PodState)
    group: str | None = None
    node: str | None = None
    nominated: str | None = None
    requests: Amounts = ()
    priority: int = 0
    note: str = ""


@frozen
class GroupView:
    """A PodGroup: `policy` is "gang 3" or "basic", `numbers` what counts (bound, promised, owed, minimum).

    `condition` is status and reason of PodGroupScheduled ("True/Scheduled"), or None while it is absent;
    `topology` is the node label by whose value its members are to be kept together.
    """

    key: str
    policy: str = ""
    numbers: Amounts = ()
    condition: str | None = None
    priority: int = 0
    topology: str | None = None
    note: str = ""


@frozen
class ClaimView:
    """A ResourceClaim: where it is allocated, for whom it is reserved, which pods in truth hold it.

    `reserved_for` are pods and `reserved_for_groups` groups, each of which stands for its members; `wanted_by`
    are pods that refer to the claim and do not hold it. `reach` are the nodes from which the devices can be
    reached, none if that is not known or all can. `written` is false while an allocation is chosen and on its way.
    """

    key: str
    allocation: str | None = None
    reserved_for: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    note: str = ""
    reserved_for_groups: tuple[str, ...] = ()
    wanted_by: tuple[str, ...] = ()
    reach: tuple[str, ...] = ()
    written: bool = True


@frozen
class Wait:
    """`waiter` cannot go on before `awaited` does: an edge of the wait-for graph, between any two names."""

    waiter: str
    awaited: str
    why: str = ""


View = NodeView | PodView | GroupView | ClaimView
"""One object of a frame."""


def _keys_are_unique(_: object, attribute: Attribute[Any], views: Sequence[View]) -> None:
    seen: set[str] = set()
    for view in views:
        if view.key in seen:
            raise ValueError(f"{attribute.name}: {view.key!r} is there twice")
        seen.add(view.key)


@frozen
class Frame:
    """The cluster at one moment, as far as it is worth showing; `note` is a remark about the moment."""

    nodes: tuple[NodeView, ...] = field(default=(), validator=_keys_are_unique)
    pods: tuple[PodView, ...] = field(default=(), validator=_keys_are_unique)
    groups: tuple[GroupView, ...] = field(default=(), validator=_keys_are_unique)
    claims: tuple[ClaimView, ...] = field(default=(), validator=_keys_are_unique)
    waits: tuple[Wait, ...] = ()
    note: str = ""

    def views(self) -> tuple[View, ...]:
        """Every object of the frame: groups, nodes, pods, claims."""
        return (*self.groups, *self.nodes, *self.pods, *self.claims)


@frozen
class Event:
    """One step, in words: what `actor` did (the scheduler, a user, a controller), and by which rules.

    `because` holds the indices of earlier events without which this one would not have happened.
    """

    text: str
    actor: str = ""
    rules: tuple[str, ...] = ()
    because: tuple[int, ...] = ()


@frozen
class Action:
    """What an engine needs to take one step again: the action's name and its arguments, in order."""

    name: str
    args: tuple[Argument, ...] = ()


@frozen(repr=False)
class Trace:
    """What happened, what it shows, and what is needed to see it again.

    title        a few words for a heading
    verdict      what the run established; `qualifier` refines it in a few words ("DEV-22", "reachable")
    property_id  the stable id of the property, and `claim`, what it says, in one sentence
    clause       the part of the claim that broke, in words about these pods and nodes
    citation     the rule ids on which the claim rests
    numbers      the two or three numbers that decide, as label and value ("bound", 1)
    involved     keys of the objects by which the clause broke; they are marked in the last frame
    frames       at least one; event i leads from frame i to frame i + 1
    loop         a lasso: one event more than that, the last of which returns to the frame of this index
    scenario     a scenario document (YAML) that shows the same; None if there is none
    actions      what an engine replays; empty if there is nothing to replay
    meta         how it was found: profile, gates, seed, engine
    """

    title: str
    frames: tuple[Frame, ...]
    events: tuple[Event, ...] = ()
    verdict: Verdict = field(default=Verdict.VIOLATED, converter=Verdict)
    qualifier: str = ""
    property_id: str = ""
    claim: str = ""
    clause: str = ""
    citation: tuple[str, ...] = ()
    numbers: tuple[tuple[str, int | str], ...] = ()
    involved: tuple[str, ...] = ()
    loop: int | None = None
    scenario: str | None = None
    actions: tuple[Action, ...] = ()
    meta: Labels = ()

    def __attrs_post_init__(self) -> None:
        if not self.frames:
            raise ValueError("frames: a trace has at least one")
        wanted = len(self.frames) - (self.loop is None)
        if len(self.events) != wanted:
            raise ValueError(
                f"events: {len(self.events)} found, {wanted} expected for {len(self.frames)} frames"
            )
        if self.loop is not None and not 0 <= self.loop < len(self.frames):
            raise ValueError(f"loop: frame {self.loop} found, 0 to {len(self.frames) - 1} expected")
        for index, event in enumerate(self.events):
            for cause in event.because:
                if not 0 <= cause < index:
                    raise ValueError(f"events[{index}].because: event {cause} is not an earlier one")

    @property
    def headline(self) -> str:
        """The verdict in one line: "INV-01 violated (DEV-22): a gang of two of which one is bound"."""
        verdict = f"{self.verdict} ({self.qualifier})" if self.qualifier else str(self.verdict)
        return " ".join(filter(None, (self.property_id, verdict))) + f": {self.title}"

    def __str__(self) -> str:
        from gangproof.counterexamples.explain import explain

        this: Any = self  # an editable install shows this module to a type checker under two paths
        return explain(this)

    def __repr__(self) -> str:
        return f"<Trace {self.headline!r}, {len(self.frames)} frames>"

    def _repr_mimebundle_(
        self, include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
    ) -> Mapping[str, str]:
        from gangproof.counterexamples.draw import mimebundle

        this: Any = self  # see __str__
        return mimebundle(this, include, exclude)
