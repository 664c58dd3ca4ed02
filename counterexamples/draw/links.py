"""What a claim has to do with others, as edges: where its devices are, for whom it is reserved, who has it, who waits.

A claim is a hub. Pods of one group that stand to it in the same way are one edge, so a claim that a thousand
members share is drawn as small as one that two share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from attrs import frozen

from gangproof.counterexamples.draw.scene import NO_GROUP, Link, Mark, Relation, Tag, cut
from gangproof.counterexamples.names import bare, clip, short
from gangproof.counterexamples.trace import ClaimView, PodState, PodView

_NAMES, _DEVICES, _TOOLTIP = 3, 44, 140
_COMING = (PodState.ASSUMED, PodState.PROMISED, PodState.BINDING)
"""Where a pod that a decision placed reckons with its claims, and the reservation may not be written yet."""


@frozen
class _End:
    """Where one edge ends before edges are bundled: a device, a group or a pod, and the pod's group."""

    relation: Relation
    kind: str
    key: str
    group: str | None = None


def links(
    claim: ClaimView,
    before: ClaimView,
    pods: Sequence[PodView],
    tags: Mapping[str, Tag],
    involved: Collection[str],
) -> tuple[Link, ...]:
    """The edges of a claim; what it did not have before is marked as changed, whom it broke by as broken."""
    known = {pod.key: pod for pod in pods}
    old = frozenset(_ends(before, known))
    bundles: dict[tuple[Relation, str, str | None], list[_End]] = {}
    for end in _ends(claim, known):
        bundles.setdefault((end.relation, end.kind, end.group), []).append(end)

    def mark(end: _End) -> Mark:
        return Mark(end not in old, end.kind != "device" and end.key in involved)

    def bundle(ends: list[_End]) -> Link:
        first, marks = ends[0], [mark(end) for end in ends]
        target = _device(claim) if first.kind == "device" else _names(ends, marks)
        whole = ", ".join(bare(end.key) for end in ends[:_TOOLTIP])
        return Link(
            relation=first.relation,
            target=target,
            tooltip="" if target[0].endswith(whole) else clip(whole, _TOOLTIP),
            tag=tags.get(first.group, NO_GROUP) if first.group else NO_GROUP,
            mark=Mark(any(one.changed for one in marks), any(one.broken for one in marks)),
            pods=tuple(end.key for end in ends if end.kind == "pod"),
        )

    return tuple(map(bundle, bundles.values()))


def _ends(claim: ClaimView, pods: Mapping[str, PodView]) -> Iterator[_End]:
    groups = {key: pod.group for key, pod in pods.items()}
    if claim.allocation:
        yield _End(Relation.ALLOCATED if claim.written else Relation.CHOSEN, "device", claim.allocation)
    for key in claim.reserved_for_groups:
        yield _End(Relation.RESERVED, "group", key, key)
    own, shared, holders = set(claim.reserved_for), set(claim.reserved_for_groups), set(claim.holders)
    for key in claim.holders:
        reserved = key in own or groups.get(key) in shared
        coming = key in pods and pods[key].state in _COMING
        relation = Relation.HELD if reserved else Relation.PROMISED if coming else Relation.UNRESERVED
        yield _End(relation, "pod", key, groups.get(key))
    for relation, keys in ((Relation.RESERVED, claim.reserved_for), (Relation.WANTED, claim.wanted_by)):
        for key in keys:
            if key not in holders and (relation is Relation.RESERVED or key not in own):
                yield _End(relation, "pod", key, groups.get(key))


def _device(claim: ClaimView) -> tuple[str, ...]:
    """The devices, and the nodes from which they can be reached where that is known."""
    reach = ", ".join(map(short, claim.reach[:_NAMES]))
    more = f" and {len(claim.reach) - _NAMES} more" if len(claim.reach) > _NAMES else ""
    return (clip(claim.allocation or "", _DEVICES), *([f"reached from {reach}{more}"] if reach else []))


def _names(ends: list[_End], marks: list[Mark]) -> tuple[str, ...]:
    """The group, or the first few pods and how many more there are; those by which the clause broke come in first."""
    if ends[0].kind == "group":
        return (f"group {short(ends[0].key)}",)
    chosen, more = cut(list(zip(ends, marks, strict=True)), _NAMES, lambda pair: pair[1])
    names = ", ".join(short(end.key) for end, _ in chosen)
    return (f"{names} and {more} more" if more else names,)
