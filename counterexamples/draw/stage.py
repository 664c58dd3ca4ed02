"""From a frame to its scene: who stands where, what is marked, and what is left out for want of room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from gangproof.counterexamples.changes import changes, where
from gangproof.counterexamples.draw.links import links
from gangproof.counterexamples.draw.scene import (
    NO_GROUP,
    Bar,
    Card,
    Chip,
    Domain,
    Lane,
    Link,
    Machine,
    Mark,
    Scene,
    Tag,
    cut,
)
from gangproof.counterexamples.explain import because, caption, clause_label, moment, sentence
from gangproof.counterexamples.names import amounts, bare, clean, clip, short
from gangproof.counterexamples.trace import (
    ClaimView,
    Event,
    Frame,
    GroupView,
    NodeView,
    PodState,
    PodView,
    Trace,
    Verdict,
    Wait,
)

_MACHINES, _CARDS, _WAITS, _BARS = 12, 6, 10, 4
_PODS, _FEWEST, _MOST = 30, 2, 12
_CLAIMS, _LINKS = 18, 8
_WORD, _PHRASE, _SENTENCE, _PARAGRAPH = 28, 44, 140, 320

_PALETTE = (
    ("#0072B2", "#DCECF8"),
    ("#B35900", "#FCEBD4"),
    ("#00795A", "#D9F2E8"),
    ("#A23B72", "#F7E3ED"),
    ("#5B4EA4", "#E6E3F5"),
    ("#6B6B00", "#F3F1CF"),
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def scene(trace: Trace, index: int) -> Scene:
    """The scene of one frame. Raises `IndexError` if the trace has no such frame."""
    if not 0 <= index < len(trace.frames):
        raise IndexError(f"frame {index} found, 0 to {len(trace.frames) - 1} expected")
    last = index == len(trace.frames) - 1
    page = _page(trace, index)
    machines, unseen_nodes = cut(page.frame.nodes, _MACHINES, lambda node: page.mark("node", node.key))
    groups, unseen_groups = cut(page.frame.groups, _CARDS, lambda group: page.mark("group", group.key))
    claims, unseen_claims = cut(
        page.frame.claims, page.room_for_claims, lambda claim: page.mark("claim", claim.key)
    )
    deadlock = _on_a_cycle(page.frame.waits)
    waits, unseen_waits = cut(page.frame.waits, _WAITS, lambda wait: Mark(broken=wait in deadlock))
    unseen = (
        ("groups", unseen_groups),
        ("nodes", unseen_nodes),
        ("claims", unseen_claims),
        ("waits", unseen_waits),
    )
    return Scene(
        index=index,
        title=clip(trace.headline, _SENTENCE),
        moment=moment(trace, index),
        event=_event(trace.events[index - 1]) if index else "",
        after=clip(_after(trace), _PARAGRAPH) if last else "",
        facts=tuple(
            f"{clip(label, _WORD)} {clip(str(value), _WORD)}" for label, value in trace.numbers[:_CARDS]
        )
        if last
        else (),
        clause=clip(trace.clause, _PARAGRAPH) if last else "",
        clause_label=clause_label(trace),
        groups=tuple(map(page.group, groups)),
        lanes=page.lanes(),
        domains=page.domains(machines, page.topology),
        hidden=tuple(f"and {count} more {what}" for what, count in unseen if count),
        claims=tuple(map(page.claim, claims)),
        waits=tuple(waits),
        deadlock=deadlock,
        note=clip(page.frame.note, _PARAGRAPH),
    )


def tags(trace: Trace) -> dict[str, Tag]:
    """The tag of each group, the same in every frame: letters in the order of first appearance."""
    keys = dict.fromkeys(group.key for frame in trace.frames for group in frame.groups)
    keys.update(dict.fromkeys(pod.group for frame in trace.frames for pod in frame.pods if pod.group))
    return {key: Tag(_letters(i), *_PALETTE[i % len(_PALETTE)]) for i, key in enumerate(keys)}


@frozen
class _Page:
    """What all the parts of one scene need to know."""

    frame: Frame
    nodes: frozenset[str]
    before: Frame
    stood: dict[str, PodView]
    pods: tuple[PodView, ...]
    tags: dict[str, Tag]
    topology: tuple[str, ...]
    changed: frozenset[tuple[str, str]]
    involved: frozenset[str]

    def mark(self, kind: str, key: str) -> Mark:
        return Mark((kind, key) in self.changed, key in self.involved)

    def tag(self, group: str | None) -> Tag:
        return self.tags.get(group, NO_GROUP) if group else NO_GROUP

    def chip(self, pod: PodView, *, ghost: bool = False) -> Chip:
        mark = self.mark("pod", pod.key)
        detail = [
            clip(amounts(pod.requests), _PHRASE),
            f"prio {pod.priority}" if pod.priority else "",
            clip(pod.note, _PHRASE),
        ]
        if not ghost and pod.nominated:
            detail.append(f"nominated {short(pod.nominated)}")
        tooltip = [bare(pod.key), where(pod), f"of {bare(pod.group)}" if pod.group else ""]
        return Chip(
            key=pod.key,
            name=short(pod.key),
            tooltip=_tooltip(tooltip),
            tag=self.tag(pod.group),
            state=pod.state,
            was="" if ghost or not mark.changed else self.was(pod),
            details=() if ghost else tuple(filter(None, detail)),
            mark=mark,
            ghost=ghost,
        )

    def was(self, pod: PodView) -> str:
        old = self.stood.get(pod.key)
        if old is None:
            return "new"
        if old.state is not pod.state:
            return str(old.state)
        return f"on {short(old.node)}" if old.node and old.node != pod.node else ""

    def group(self, group: GroupView) -> Card:
        remarks = (
            clip(group.policy, _WORD),
            f"prio {group.priority}" if group.priority else "",
            f"together by {short(group.topology, _WORD)}" if group.topology else "",
            *(f"{clip(label, _WORD)} {value}" for label, value in group.numbers),
            clip(group.condition or "", _PHRASE),
            clip(group.note, _PHRASE),
        )
        return Card(
            key=group.key,
            name=short(group.key),
            tooltip=_tooltip((bare(group.key), clean(group.note))),
            tag=self.tag(group.key),
            remarks=tuple(filter(None, remarks)),
            mark=self.mark("group", group.key),
        )

    def claim(self, claim: ClaimView) -> Card:
        remarks = (
            "" if claim.allocation else "not allocated",
            "" if claim.reserved_for or claim.reserved_for_groups else "reserved for nobody",
            clip(claim.note, _PHRASE),
        )
        room = _room(_LINKS, min(len(self.frame.claims), self.room_for_claims), 2 * _FEWEST, _CARDS)
        links, more = cut(self.links(claim), room, lambda link: link.mark)
        return Card(
            key=claim.key,
            name=short(claim.key),
            tooltip=_tooltip((bare(claim.key), clean(claim.note))),
            tag=NO_GROUP,
            remarks=tuple(filter(None, remarks)),
            mark=self.mark("claim", claim.key),
            links=tuple(links),
            more=more,
        )

    @property
    def room_for_claims(self) -> int:
        return _room(_CLAIMS, len(self.frame.nodes), most=_CARDS)

    def links(self, claim: ClaimView) -> tuple[Link, ...]:
        before = next((old for old in self.before.claims if old.key == claim.key), claim)
        return links(claim, before, self.pods, self.tags, self.involved)

    def machine(self, node: NodeView) -> Machine:
        here = [self.chip(pod) for pod in self.pods if self.place(pod) == node.name]
        hopes = [
            self.chip(pod, ghost=True)
            for pod in self.pods
            if pod.nominated == node.name and self.place(pod) != node.name and pod.state is not PodState.GONE
        ]
        chips, more = cut((*here, *hopes), _room(_PODS, len(self.frame.nodes)), lambda chip: chip.mark)
        used = dict(node.used)
        labels = ", ".join(f"{clean(name)}={clean(value)}" for name, value in node.labels)
        return Machine(
            name=short(node.name),
            tooltip=_tooltip((clean(node.name), labels, clean(node.note))),
            bars=tuple(Bar(clean(name), used.get(name, 0), all_) for name, all_ in node.capacity[:_BARS]),
            chips=tuple(chips),
            more=more,
            remarks=tuple(
                filter(None, ("unschedulable" if node.unschedulable else "", clip(node.note, _WORD)))
            ),
            mark=self.mark("node", node.name),
        )

    def place(self, pod: PodView) -> str | None:
        """The shown node that the pod is on."""
        return pod.node if pod.state is not PodState.GONE and pod.node in self.nodes else None

    def lanes(self) -> tuple[Lane, ...]:
        waiting: dict[PodState, list[Chip]] = {}
        for pod in self.pods:
            if self.place(pod) is None:
                waiting.setdefault(pod.state, []).append(self.chip(pod))
        lanes: list[Lane] = []
        for state in PodState:
            if state in waiting:
                chips, more = cut(waiting[state], _room(_PODS, len(waiting)), lambda chip: chip.mark)
                lanes.append(Lane(state, tuple(chips), more))
        return tuple(lanes)

    def domains(self, nodes: Sequence[NodeView], keys: Sequence[str]) -> tuple[Domain, ...]:
        """The domains of the first key, in each those of the next; one that fills another shares its box."""
        if not keys:
            return (Domain("", tuple(map(self.machine, nodes))),) if nodes else ()
        found: dict[str | None, list[NodeView]] = {}
        for node in nodes:
            found.setdefault(dict(node.labels).get(keys[0]), []).append(node)
        domains: list[Domain] = []
        for value, here in found.items():
            inner = self.domains(here, keys[1:])
            if value is None:
                domains.extend(inner)
                continue
            label = f"{short(keys[0])}={short(value)}"
            if len(inner) == 1:
                label = ", ".join(filter(None, (label, inner[0].label)))
                domains.append(evolve(inner[0], label=label))
            else:
                domains.append(Domain(label, inner=inner))
        return tuple(domains)


def _page(trace: Trace, index: int) -> _Page:
    frame = trace.frames[index]
    before = trace.frames[index - 1] if index else frame
    here = {pod.key for pod in frame.pods}
    left = (
        PodView(pod.key, PodState.GONE, group=pod.group)
        for pod in before.pods
        if pod.key not in here and pod.state is not PodState.GONE
    )
    broken = index == len(trace.frames) - 1 and trace.verdict is Verdict.VIOLATED
    return _Page(
        frame=frame,
        nodes=frozenset(node.name for node in frame.nodes),
        before=before,
        stood={pod.key: pod for pod in before.pods},
        pods=(*frame.pods, *left),
        tags=tags(trace),
        topology=_coarse_first(trace),
        changed=frozenset((change.kind, change.key) for change in changes(before, frame)),
        involved=frozenset(trace.involved if broken else ()),
    )


def _coarse_first(trace: Trace) -> tuple[str, ...]:
    """The topology keys of all groups, first those that put many nodes into few domains."""
    keys = dict.fromkeys(group.topology for frame in trace.frames for group in frame.groups if group.topology)
    nodes = {node.name: dict(node.labels) for frame in trace.frames for node in frame.nodes}

    def domains_per_node(key: str) -> float:
        values = [labels[key] for labels in nodes.values() if key in labels]
        return len(set(values)) / max(1, len(values))

    return tuple(sorted(keys, key=domains_per_node))


def _room(all_: int, places: int, fewest: int = _FEWEST, most: int = _MOST) -> int:
    """How many things each of these places may show, pods on a node for one: fewer where there are many places."""
    return max(fewest, min(most, all_ // max(1, places)))


def _tooltip(phrases: Iterable[str]) -> str:
    return clip(", ".join(filter(None, phrases)), _SENTENCE)


def _event(event: Event) -> str:
    cause = because(event)
    return clip(sentence(event), _SENTENCE) + (f" ({cause})" if cause else "")


def _after(trace: Trace) -> str:
    if trace.loop is None:
        return ""
    moment = f"the moment after step {trace.loop}" if trace.loop else "the beginning"
    return f"then {caption(trace, len(trace.events))}, which leads back to {moment}, for ever"


def _on_a_cycle(waits: Sequence[Wait]) -> frozenset[Wait]:
    following: dict[str, set[str]] = {}
    for wait in waits:
        following.setdefault(wait.waiter, set()).add(wait.awaited)

    def reaches(start: str, goal: str) -> bool:
        seen, open_ = {start}, [start]
        while open_:
            name = open_.pop()
            if name == goal:
                return True
            fresh = following.get(name, set()) - seen
            seen |= fresh
            open_.extend(fresh)
        return False

    return frozenset(wait for wait in waits if reaches(wait.awaited, wait.waiter))


def _letters(number: int) -> str:
    rest, letter = divmod(number, len(_LETTERS))
    return (_letters(rest - 1) if rest else "") + _LETTERS[letter]
