"""What differs between two frames, object by object, in words: all that an explanation has to tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from attrs import frozen

from gangproof.counterexamples.names import amounts, bare, clean, numbers
from gangproof.counterexamples.trace import ClaimView, Frame, GroupView, NodeView, PodState, PodView, View

V = TypeVar("V", bound=View)

KINDS = {GroupView: "group", NodeView: "node", PodView: "pod", ClaimView: "claim"}


@frozen
class Change:
    """One object that differs: its kind ("pod", "node", "group", "claim"), its key, and how, in a phrase."""

    kind: str
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind} {bare(self.key)}: {self.text}"


def changes(before: Frame, after: Frame) -> tuple[Change, ...]:
    """Every object that appeared, disappeared or differs, in the order of the frames, pods first.

    A node whose only difference is its occupancy is left out: its pods tell that already.
    """
    return (
        *_compare(before.pods, after.pods),
        *_compare(before.groups, after.groups),
        *_compare(before.nodes, after.nodes),
        *_compare(before.claims, after.claims),
    )


def where(pod: PodView) -> str:
    """The pod's state and place in a phrase: "bound on n1", "unschedulable, nominated to n2"."""
    place = f" on {clean(pod.node)}" if pod.node else ""
    hope = f", nominated to {clean(pod.nominated)}" if pod.nominated else ""
    return f"{pod.state}{place}{hope}"


def _compare(before: Sequence[V], after: Sequence[V]) -> Iterator[Change]:
    old = {view.key: view for view in before}
    new = {view.key: view for view in after}
    for key in dict.fromkeys((*old, *new)):
        was, now = old.get(key), new.get(key)
        if was == now:
            continue
        view = now or was
        assert view is not None
        if now is None:
            text = "no longer exists"
        elif was is None:
            text = f"new, {_describe(now)}"
        else:
            text = ", ".join(_differences(was, now))
        if text:
            yield Change(KINDS[type(view)], key, text)


def _describe(view: View) -> str:
    match view:
        case PodView():
            return where(view)
        case GroupView():
            return ", ".join(filter(None, (clean(view.policy), numbers(view.numbers))))
        case NodeView():
            return amounts(view.capacity)
        case ClaimView():
            return f"allocated to {clean(view.allocation)}" if view.allocation else "not allocated"


def _differences(was: View, now: View) -> Iterator[str]:
    match was, now:
        case PodView(), PodView():
            yield from _pod(was, now)
        case GroupView(), GroupView():
            yield from _group(was, now)
        case NodeView(), NodeView():
            yield from _node(was, now)
        case ClaimView(), ClaimView():
            yield from _claim(was, now)
        case _:
            raise TypeError(f"{type(was).__name__} and {type(now).__name__} cannot be compared")
    if was.note != now.note and now.note:
        yield clean(now.note)


def _pod(was: PodView, now: PodView) -> Iterator[str]:
    if (was.state, was.node, was.nominated) != (now.state, now.node, now.nominated):
        old = str(was.state) if was.state != now.state or was.node == now.node else where(was)
        gone = now.state is PodState.GONE
        lost = (
            f", nomination to {clean(was.nominated)} gone"
            if was.nominated and not now.nominated and not gone
            else ""
        )
        yield f"{old} → {where(now)}{lost}" if old != where(now) or lost else where(now)
    if was.group != now.group:
        yield _arrow("group", was.group, now.group)
    if was.requests != now.requests:
        yield f"requests {amounts(was.requests) or 'nothing'} → {amounts(now.requests) or 'nothing'}"
    if was.priority != now.priority:
        yield f"priority {was.priority} → {now.priority}"


def _group(was: GroupView, now: GroupView) -> Iterator[str]:
    if was.policy != now.policy:
        yield _arrow("policy", was.policy, now.policy)
    old, new = dict(was.numbers), dict(now.numbers)
    for label in dict.fromkeys((*old, *new)):
        if old.get(label) != new.get(label):
            yield f"{clean(label)} {old.get(label, 0)} → {new.get(label, 0)}"
    if was.condition != now.condition:
        yield _arrow("condition", was.condition, now.condition)
    if was.priority != now.priority:
        yield f"priority {was.priority} → {now.priority}"
    if was.topology != now.topology:
        yield _arrow("topology", was.topology, now.topology)


def _node(was: NodeView, now: NodeView) -> Iterator[str]:
    if was.capacity != now.capacity:
        yield f"capacity {amounts(was.capacity) or 'none'} → {amounts(now.capacity) or 'none'}"
    if was.labels != now.labels:
        yield "labels " + (", ".join(f"{clean(k)}={clean(v)}" for k, v in now.labels) or "none")
    if was.unschedulable != now.unschedulable:
        yield "unschedulable" if now.unschedulable else "schedulable again"


def users(claim: ClaimView) -> str:
    """For whom the claim is reserved, in one phrase: "group g, p1"; empty if for nobody."""
    groups = [f"group {bare(key)}" for key in claim.reserved_for_groups]
    return ", ".join([*groups, *map(bare, claim.reserved_for)])


def _claim(was: ClaimView, now: ClaimView) -> Iterator[str]:
    if was.allocation != now.allocation:
        yield _arrow("allocation", was.allocation, now.allocation)
    if was.written != now.written:
        yield "written" if now.written else "not written yet"
    if users(was) != users(now):
        yield f"reserved for {users(now) or 'nobody'}"
    if was.holders != now.holders:
        yield "held by " + (", ".join(map(bare, now.holders)) or "nobody")


def _arrow(what: str, old: str | None, new: str | None) -> str:
    return f"{what} {clean(old or 'none')} → {clean(new or 'none')}"
