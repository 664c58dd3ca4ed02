"""What there is to tell about a group or a pod, as plain data; `str` of an explanation is the text.

Amounts are in base units, as in `gangproof.impl.objects`; names are keys, `namespace/name`.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import frozen

State = Literal[
    "placed", "fits", "evicts", "evicting", "gated", "pending", "varies", "error", "ended", "terminating", "foreign"
]  # fmt: skip
"""Where the asked one stands.

`placed`: it waits for nothing; `fits`: its next cycle places it; `evicts`: its next cycle evicts others for
it; `evicting`: evictions for it are on their way; `gated`: it is not let into the queue; `pending`: its next
cycle finds no place; `varies`: that depends on choices that are open; `error`: its next cycle ends in an
error; `ended`, `terminating`, `foreign`: a pod that is over, is going, or is another scheduler's.
"""

Outcome = Literal["placed", "placed after evictions", "not enough"]


@frozen
class Member:
    """One pod: its node, now or after the next cycle, and why it has none."""

    pod: str
    state: Literal["bound", "promised", "ended", "terminating", "foreign", "gated", "place found", "no place"]
    node: str | None = None
    why: str = ""
    rule: str = ""


@frozen
class Ahead:
    """Somebody whose turn comes first: a group or a plain pod, its ready pods, and what becomes of it, if tried."""

    entity: str
    pods: int
    outcome: str = ""


@frozen
class Queue:
    """Where the asked one stands in the queue (QUEUE-18).

    `place` is `active`, `backoff`, `pool`, `gated` or `none`. The first of those `ahead` are named, `pods_ahead`
    counts all their pods. `simulated` says that their turns were played before the asked one's.
    """

    place: str
    ahead: tuple[Ahead, ...] = ()
    entities_ahead: int = 0
    pods_ahead: int = 0
    simulated: bool = False


@frozen
class Quorum:
    """The numbers that decide (CYCLE-26): members known at the gate, placed before, kept by the cycle, the minimum."""

    known: int
    before: int
    kept: int
    minimum: int


@frozen
class Shortage:
    """What is missing of a resource on a node: asked for, free, and in all."""

    resource: str
    asked: int
    free: int
    allocatable: int

    @property
    def missing(self) -> int:
        return self.asked - self.free


@frozen
class NodeReason:
    """Why a node refuses a pod: the first filter that does (FILT-01), and every resource that falls short."""

    node: str
    plugin: str
    rule: str
    reason: str
    evictions_help: bool
    short: tuple[Shortage, ...] = ()


@frozen
class Reason:
    """One reason, on how many nodes, and the first of them."""

    reason: str
    plugin: str
    rule: str
    count: int
    nodes: tuple[str, ...]


@frozen
class Refused:
    """Pods without a place that are alike, and what each node says to the first; `closest` are at most 12 nodes."""

    pods: tuple[str, ...]
    requests: tuple[tuple[str, int], ...]
    nodes: int
    reasons: tuple[Reason, ...]
    closest: tuple[NodeReason, ...]


@frozen
class UnitFate:
    """Pods that could be evicted together, and what becomes of them by which rule.

    `budgets` are those that cover some of them; `breaks` says that their eviction would break one, so that they
    are the first to be spared (PREEMPT-25).
    """

    pods: tuple[str, ...]
    nodes: tuple[str, ...]
    priority: int
    group: str | None
    budgets: tuple[str, ...]
    breaks: bool
    fate: Literal["evicted", "spared"]
    rule: str
    why: str


@frozen
class Evictions:
    """Whom the asked one would evict.

    `by` is `group` if it would as a whole, `pod` if each for itself (PREEMPT-01 to 05). `units` are candidates in
    the order in which they are judged, victims always, the spared ones the first; `spared` counts them all.
    `safe` counts the pods that are no candidates, by reason. `refused` tells why nobody is evicted, "" if
    somebody is. `unknown` tells what was not worked out.
    """

    by: Literal["group", "pod"]
    priority: int
    units: tuple[UnitFate, ...] = ()
    spared: int = 0
    safe: tuple[tuple[str, int], ...] = ()
    refused: str = ""
    rule: str = ""
    unknown: str = ""

    @property
    def victims(self) -> tuple[str, ...]:
        return tuple(pod for unit in self.units if unit.fate == "evicted" for pod in unit.pods)


@frozen
class ClaimTold:
    """A claim of the asked one, what it has, who has it, and whether it keeps a pod from a place.

    `whose` says whether the entry belongs to the group (CLAIM-01). `devices` are those that it has, `written` whether
    they are stored already; they can be used on `reach` nodes, the first of which are `nodes`. `holders` stand in
    `reservedFor` or are about to; `rivals` are claims that have devices of the same class, if it has none.
    `blocks` tells why it keeps a pod away from some nodes or all, "" if it does not.
    """

    claim: str
    entry: str
    whose: Literal["group", "pod"]
    asks: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    written: bool = True
    nodes: tuple[str, ...] = ()
    reach: int = 0
    holders: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    blocks: str = ""
    rule: str = ""


@frozen
class DomainTried:
    """One domain of the topology key, and how far the members get if they are tried in it alone (PLACE-10).

    `kept` of `tried` find a place, beside `before`, of at least `minimum`; `fits` says that it is a candidate. Of
    those that are, the highest sum of `packing` (PLACE-20) and `members` (PLACE-21), both from 0 to 100, wins.
    `first_without` is the first member that finds no place there.
    """

    value: str
    nodes: int
    tried: int
    kept: int
    before: int
    minimum: int
    fits: bool
    packing: int
    placed: int
    members: int = 0
    chosen: bool = False
    first_without: str = ""


@frozen
class Domains:
    """The domains that the cycle tries, the first of `number`; none if members placed before leave no choice."""

    key: str
    tried: tuple[DomainTried, ...]
    number: int


@frozen
class Suggestion:
    """A change that would help, how many objects it touches, and what a cycle in the changed world came to."""

    kind: str
    text: str
    objects: int
    outcome: Outcome
    note: str = ""

    @property
    def verified(self) -> bool:
        return self.outcome in ("placed", "placed after evictions")


@frozen
class Explanation:
    """Everything about one group or pod in one world.

    `depends` tells how many of the ways in which open choices may go lead to a place, if they differ. `note`
    is what else decides; `beyond` names what an answer would need and the model lacks.
    """

    asked: str
    state: State
    sentence: str
    condition: str = ""
    gate: str = ""
    queue: Queue = Queue("none")
    quorum: Quorum | None = None
    members: tuple[Member, ...] = ()
    refused: tuple[Refused, ...] = ()
    evictions: Evictions | None = None
    claims: tuple[ClaimTold, ...] = ()
    domains: Domains | None = None
    suggestions: tuple[Suggestion, ...] = ()
    depends: str = ""
    notes: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()

    def __str__(self) -> str:
        from gangproof.properties.explanation.text import text

        this: Any = self  # an editable install shows this module to a type checker under two paths
        return text(this)
