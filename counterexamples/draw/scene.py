"""What a picture of one frame shows, decided once for every format.

A scene is the frame prepared for a reader: names shortened, groups given a letter and a colour, what
changed in this step and what broke the clause marked, long lists cut. DOT, Mermaid and plain text only
differ in how they put it on the page. No mark rests on colour alone: a group is its letter, a state is a
word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from attrs import frozen

from gangproof.counterexamples.names import amount, short
from gangproof.counterexamples.trace import PodState, Wait

T = TypeVar("T")


@frozen
class Tag:
    """How a group is recognised: by its letter, and by a line and a fill colour that others may share."""

    letter: str
    line: str
    fill: str


NO_GROUP = Tag("", "#5F6B76", "#EEF0F2")


@frozen
class Mark:
    """Whether this step changed the object, and whether it is one by which the clause broke."""

    changed: bool = False
    broken: bool = False


def cut(items: Sequence[T], limit: int, mark: Callable[[T], Mark]) -> tuple[list[T], int]:
    """At most `limit` of the items in their order, the marked ones first to be kept; and how many are not."""
    if len(items) <= limit:
        return list(items), 0
    marks = [mark(item) for item in items]
    wanted = sorted(range(len(items)), key=lambda i: (not marks[i].broken, not marks[i].changed, i))
    return [items[i] for i in sorted(wanted[:limit])], len(items) - limit


@frozen
class Chip:
    """A pod: its state in words, what it was before if that changed, and a full description as tooltip.

    `ghost` means that the pod is not here but hopes to be: the chip shows a nomination.
    """

    key: str
    name: str
    tooltip: str
    tag: Tag
    state: PodState
    was: str
    details: tuple[str, ...]
    mark: Mark
    ghost: bool = False

    @property
    def status(self) -> str:
        """The state in words, with the one before: "active → bound"."""
        now = "nominated" if self.ghost else str(self.state)
        return f"{self.was} → {now}" if self.was else now


@frozen
class Bar:
    """How much of one resource of a node is used."""

    resource: str
    used: int
    capacity: int

    @property
    def text(self) -> str:
        used, capacity = amount(self.resource, self.used), amount(self.resource, self.capacity)
        over = " over" if self.used > self.capacity else ""
        return f"{short(self.resource)} {used}/{capacity}{over}"

    @property
    def share(self) -> float:
        """The part that is used, from 0 to 1."""
        if self.capacity <= 0:
            return 1.0 if self.used > 0 else 0.0
        return min(1.0, max(0.0, self.used / self.capacity))


@frozen
class Machine:
    """A node with the pods on it and those nominated to it; `more` of them are not shown."""

    name: str
    tooltip: str
    bars: tuple[Bar, ...]
    chips: tuple[Chip, ...]
    more: int
    remarks: tuple[str, ...]
    mark: Mark


@frozen
class Domain:
    """Nodes with the same value of a topology label, or smaller domains of these; no label for nodes in none."""

    label: str
    machines: tuple[Machine, ...] = ()
    inner: tuple[Domain, ...] = ()

    @property
    def size(self) -> int:
        """How many nodes are shown in it."""
        return len(self.machines) + sum(domain.size for domain in self.inner)


@frozen
class Lane:
    """Pods that are on no node, of one state; `more` of them are not shown."""

    state: PodState
    chips: tuple[Chip, ...]
    more: int


class Relation(StrEnum):
    """What a claim has to do with a device, a group or pods; each has words and a line of its own."""

    ALLOCATED = "allocated"
    CHOSEN = "chosen, not written"
    RESERVED = "reserved for"
    HELD = "held by"
    PROMISED = "promised to"
    UNRESERVED = "held, not reserved"
    WANTED = "wanted by"


@frozen
class Link:
    """An edge from a claim: to its devices, to a group, or to pods of one group, bundled.

    `target` is what the edge leads to, in lines of words, `tooltip` tells what these leave out, and `pods` are the
    keys of all pods in it.
    """

    relation: Relation
    target: tuple[str, ...]
    tooltip: str
    tag: Tag
    mark: Mark
    pods: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.relation} {' '.join(self.target)}"


@frozen
class Card:
    """A group or a claim: its name, what there is to say about it; a claim's edges, of which `more` are not shown."""

    key: str
    name: str
    tooltip: str
    tag: Tag
    remarks: tuple[str, ...]
    mark: Mark
    links: tuple[Link, ...] = ()
    more: int = 0


@frozen
class Scene:
    """One frame of a trace, ready to be put on a page.

    `facts` are the numbers that decide and `clause` what broke, both empty before the last frame, and
    `clause_label` is "broken", or "clause" if the verdict is another; `after` says where the run goes
    from the last frame of a lasso; `deadlock` are the waits that lie on a cycle; `hidden` tells what
    was left out.
    """

    index: int
    title: str
    moment: str
    event: str
    after: str
    facts: tuple[str, ...]
    clause: str
    clause_label: str
    groups: tuple[Card, ...]
    lanes: tuple[Lane, ...]
    domains: tuple[Domain, ...]
    hidden: tuple[str, ...]
    claims: tuple[Card, ...]
    waits: tuple[Wait, ...]
    deadlock: frozenset[Wait]
    note: str

    @property
    def caption(self) -> str:
        """The moment, and the event that led to it, in one line."""
        return f"{self.moment} · {self.event}" if self.event else self.moment
