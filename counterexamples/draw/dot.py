"""The picture as a DOT graph: the cluster is one table, the wait-for graph below it are nodes with edges.

Everything that stands somewhere (pods on nodes, nodes in topology domains, waiting pods in lanes) is in the
table, where nothing is left to the layout. So are claims: each is a hub whose edges are cells with a border on
one side, which cross nothing however many there are. Borders and edges repeat what the words say: solid is
bound or held, dashed is promised, owed or reserved, dotted is assumed, nominated or wanted, a struck name is
on its way out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import graphviz

from gangproof.counterexamples.draw.markup import Line, Words, cell, inner, table
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
    Relation,
    Scene,
    Tag,
)
from gangproof.counterexamples.draw.stage import scene
from gangproof.counterexamples.names import clip, pack, short, wrap
from gangproof.counterexamples.trace import PodState, Trace

FONT = "Helvetica"
INK, FAINT, RULE, RED = "#1F2933", "#5F6B76", "#9AA5B1", "#B00020"
PAPER, SHADE, WHITE = "#FFFFFF", "#F5F7FA", "#FFFFFF"

_STRUCK = (PodState.TERMINATING, PodState.EVICTED, PodState.FAILED, PodState.GONE)
_ENDED = (*_STRUCK, PodState.SUCCEEDED)
_BORDERS = {
    PodState.BOUND: (2, "ROUNDED"),
    PodState.BINDING: (1, "ROUNDED"),
    PodState.PROMISED: (2, "ROUNDED,DASHED"),
    PodState.OWED: (2, "ROUNDED,DASHED"),
    PodState.ASSUMED: (2, "ROUNDED,DOTTED"),
}
_FILLED = (PodState.BOUND, PodState.BINDING, PodState.PROMISED, PodState.ASSUMED)
_WIDE, _NARROW = 84, 40
_BAR, _CHIP, _CARD = 72, 60, 28
_EDGES = {
    Relation.ALLOCATED: (2, "SOLID"),
    Relation.CHOSEN: (2, "DASHED"),
    Relation.RESERVED: (1, "DASHED"),
    Relation.HELD: (1, "SOLID"),
    Relation.PROMISED: (1, "DASHED"),
    Relation.UNRESERVED: (1, "SOLID"),
    Relation.WANTED: (1, "DOTTED"),
}

T = TypeVar("T")


def dot(trace: Trace, frame: int, *, font: str = FONT) -> str:
    """One frame as DOT, text measured in this font. Raises `IndexError` if the trace has no such frame."""
    shown = scene(trace, frame)
    graph = _graph(font, rankdir="TB", nodesep="0.2", ranksep="0.35")
    graph.node("cluster", f"<{_page(shown)}>")
    _wait_for_graph(graph, shown)
    return graph.source


def strip(trace: Trace, frames: Sequence[int] | None = None, *, font: str = FONT) -> str:
    """Several frames side by side as DOT; by default the first, the one before the last, and the last.

    Raises `IndexError` if the trace has not all of them.
    """
    graph = _graph(font, rankdir="LR", nodesep="0.2", ranksep="0.3")
    scenes = [scene(trace, index) for index in (highlights(trace) if frames is None else frames)]
    depth = max(1, *(len(wrap(shown.event, _NARROW)) for shown in scenes))
    graph.attr(label=f"<{_lone(cell(_headline(scenes[0])))}>", labelloc="t", labeljust="l")
    for place, shown in enumerate(scenes):
        graph.node(f"frame{place}", f"<{_page(shown, depth=depth)}>")
        if place:
            tail, head = f"frame{place - 1}:moment:e", f"frame{place}:moment:w"
            graph.edge(tail, head, color=INK, penwidth="2", weight="9")
    return graph.source


def highlights(trace: Trace) -> tuple[int, ...]:
    """The frames that tell the story shortest: the first, the one before the last, the last."""
    last = len(trace.frames) - 1
    return tuple(sorted({0, max(0, last - 1), last}))


def _graph(font: str, **attributes: str) -> graphviz.Digraph:
    letters = {"fontname": font, "fontsize": "11", "fontcolor": INK}
    return graphviz.Digraph(
        "trace",
        graph_attr={"bgcolor": PAPER, "pad": "0.15", **letters, **attributes},
        node_attr={"shape": "plain", **letters},
        edge_attr={**letters, "fontsize": "9", "arrowsize": "0.7"},
    )


def _page(shown: Scene, *, depth: int = 0) -> str:
    """The frame as a table; narrow in a strip, where the event has `depth` lines."""
    headed = not depth
    columns = _WIDE if headed else _NARROW
    rows: list[str] = []
    if headed:
        rows.append(cell(_headline(shown)))
        rows.append(cell([[Words(line, 12)] for line in wrap(shown.caption, _WIDE)]))
        rows.extend(_verdict(shown, _WIDE))
    else:
        rows.append(cell([[Words(shown.moment, 12, bold=True)]], PORT="moment"))
        event = wrap(shown.event, _NARROW)
        rows.append(cell([[Words(line, 11)] for line in (*event, *[" "] * (depth - len(event)))]))
    if shown.note:
        rows.append(cell([[Words(line, 10, FAINT)] for line in wrap(shown.note, columns)]))
    if shown.groups:
        groups = [[_card(group, columns)] for group in shown.groups]
        rows.append(inner(table(groups, CELLSPACING=3), ALIGN="LEFT"))
    if shown.lanes:
        lanes = [[_lane(lane) for lane in row] for row in _rows(shown.lanes, 4)]
        rows.append(inner(table(lanes, CELLSPACING=4), ALIGN="LEFT"))
    if shown.domains:
        across = 3 if sum(domain.size for domain in shown.domains) > 2 else 2
        rows.append(inner(_domains(shown.domains, across), ALIGN="LEFT"))
    if shown.claims:
        hubs = [inner(_hub(claim), ALIGN="LEFT", VALIGN="TOP") for claim in shown.claims]
        rows.append(inner(table(_rows(hubs, 2 if headed else 1), CELLSPACING=8), ALIGN="LEFT"))
    if shown.hidden:
        rows.append(cell([[Words(", ".join(shown.hidden), 9, FAINT)]]))
    if not headed:
        rows.extend(_verdict(shown, columns))
    return table([[row] for row in rows], CELLSPACING=5)


def _headline(shown: Scene) -> list[Line]:
    return [[Words(line, 14, bold=True)] for line in wrap(shown.title, 72)]


def _verdict(shown: Scene, columns: int) -> Iterator[str]:
    if shown.clause:
        first, *rest = wrap(shown.clause, columns)
        colour, fill = (RED, "#FDF0F1") if shown.clause_label == "broken" else (RULE, SHADE)
        label = Words(f"{shown.clause_label}  ", 11, colour if colour == RED else FAINT, bold=True)
        lines: list[Line] = [[label, Words(first, 11, bold=True)]]
        lines.extend([Words(line, 11, bold=True)] for line in rest)
        lines.extend([Words(line, 11)] for line in pack(shown.facts, columns))
        yield cell(lines, BORDER=2, COLOR=colour, STYLE="ROUNDED", BGCOLOR=fill, CELLPADDING=6)
    elif shown.facts:
        yield cell([[Words(line, 11, bold=True)] for line in pack(shown.facts, columns)])
    if shown.after:
        yield cell([[Words(line, 10, slanted=True)] for line in wrap(shown.after, columns)])


def _card(group: Card, columns: int) -> str:
    head = [_badge(group.mark, group.tag), Words("group ", 10, FAINT), Words(group.name, 11, bold=True)]
    lines: list[Line]
    if columns == _WIDE and len("  ·  ".join(group.remarks)) <= _WIDE:
        lines = [[*head, Words("   " + "  ·  ".join(group.remarks), 10, bold=group.mark.changed)]]
    else:
        remarks = (line for remark in pack(group.remarks, columns) for line in wrap(remark, columns))
        lines = [head, *([Words(line, 9, bold=group.mark.changed)] for line in remarks)]
    return _framed(lines, group)


def _framed(lines: list[Line], card: Card, **attributes: str | int) -> str:
    border = 2 if card.mark.broken else 1
    colour = RED if card.mark.broken else card.tag.line
    fill = card.tag.fill if card.tag.letter else SHADE
    box = {"BORDER": border, "COLOR": colour, "BGCOLOR": fill, "STYLE": "ROUNDED", "CELLPADDING": 4}
    return cell(lines, **box, **attributes, TOOLTIP=card.tooltip)


def _hub(claim: Card) -> str:
    """A claim with an edge to each of what it has to do with, ending at the middle of that."""
    head: Line = [_badge(claim.mark), Words("claim ", 10, FAINT), Words(claim.name, 11, bold=True)]
    remarks = (line for remark in claim.remarks for line in wrap(remark, _CARD))
    lines: list[Line] = [head, *([Words(line, 9, bold=claim.mark.changed)] for line in remarks)]
    rows = [row for link in claim.links for row in _edge(link)][:-1] or [[]]
    rows[0].insert(0, _framed(lines, claim, ROWSPAN=len(rows), VALIGN="MIDDLE"))
    return table([*rows, *_more(claim.more)])


def _edge(link: Link) -> tuple[list[str], ...]:
    """The rows of an edge: its words above the line and, beside both, the head and what it leads to; then a gap."""
    width, style = _EDGES[link.relation]
    colour = RED if link.mark.broken else INK
    words = Words(f"{'! ' if link.mark.broken else ''}{link.relation}", 9, colour, bold=link.mark.changed)
    line = cell([[words]], BORDER=width, SIDES="B", STYLE=style, COLOR=colour, CELLPADDING=2)
    head = inner(Words("►", 9, colour).markup(), ROWSPAN=2, WIDTH=7, FIXEDSIZE="TRUE", HEIGHT=9)
    return [line, head, _end(link)], ['<TD HEIGHT="14"></TD>'], ['<TD HEIGHT="3"></TD>']


def _end(link: Link) -> str:
    name, *details = link.target
    first, *rest = wrap(name, _CARD) or [""]
    lines: list[Line] = [
        [_badge(link.mark, link.tag), Words(first, 11)],
        *([Words(line, 11)] for line in rest),
        *([Words(line, 8, FAINT)] for detail in details for line in wrap(detail, _CARD)),
    ]
    waits = link.relation in (Relation.WANTED, Relation.CHOSEN)
    return cell(
        lines,
        ROWSPAN=2,
        VALIGN="MIDDLE",
        BORDER=2 if link.mark.broken else 1,
        COLOR=RED if link.mark.broken else link.tag.line,
        BGCOLOR=WHITE if waits else link.tag.fill,
        STYLE="ROUNDED",
        CELLPADDING=4,
        TOOLTIP=link.tooltip or " ",
    )


def _badge(mark: Mark, tag: Tag = NO_GROUP) -> Words:
    """What stands before a name: an exclamation mark if the clause broke by it, and its group's letter."""
    letter = f"{tag.letter} " if tag.letter else ""
    return Words(("! " if mark.broken else "") + letter, 11, RED if mark.broken else tag.line, bold=True)


def _lane(lane: Lane) -> str:
    rows = [[_chip(chip) for chip in row] for row in _rows(lane.chips, 3)]
    title = f"no node: {lane.state}"
    head = [cell([[Words(title, 9, FAINT)]], COLSPAN=min(3, len(lane.chips)))]
    return inner(table([head, *rows, *_more(lane.more)], CELLSPACING=3), ALIGN="LEFT", VALIGN="TOP")


def _more(count: int) -> list[list[str]]:
    return [[cell([[Words(f"and {count} more", 9, FAINT)]])]] if count else []


def _domains(domains: Sequence[Domain], across: int) -> str:
    """The boxes side by side, as far as no more than so many nodes stand side by side."""
    widest = max(min(domain.size, across) for domain in domains)
    return table(_rows([_domain(domain, across) for domain in domains], across // widest), CELLSPACING=4)


def _domain(domain: Domain, across: int) -> str:
    if domain.inner:
        rows: list[Sequence[str]] = [[inner(_domains(domain.inner, across))]]
    else:
        rows = [[_machine(machine) for machine in row] for row in _rows(domain.machines, across)]
    if not domain.label:
        return inner(table(rows, CELLSPACING=4), VALIGN="TOP")
    head = [cell([[Words(domain.label, 10, FAINT, bold=True)]], COLSPAN=max(map(len, rows)))]
    box = table([head, *rows], CELLSPACING=5)
    return inner(box, BORDER=1, COLOR=RULE, STYLE="ROUNDED,DASHED", VALIGN="TOP")


def _machine(machine: Machine) -> str:
    across = 2 if len(machine.chips) > 2 else max(1, len(machine.chips))
    remarks = "".join(f"  {remark}" for remark in machine.remarks)
    name = [
        _badge(machine.mark),
        Words("node ", 10, FAINT),
        Words(machine.name, 11, bold=True),
        Words(remarks, 9, bold=machine.mark.changed),
    ]
    rows = [[cell([name], COLSPAN=across)], *([_bar(bar, across)] for bar in machine.bars)]
    rows.extend([_chip(chip) for chip in row] for row in _rows(machine.chips, across))
    if not machine.chips:
        rows.append([cell([[Words("no pods", 9, FAINT)]])])
    rows.extend(_more(machine.more))
    broken = machine.mark.broken
    return inner(
        table(rows, CELLSPACING=4),
        BORDER=2 if broken else 1,
        COLOR=RED if broken else RULE,
        BGCOLOR=SHADE,
        STYLE="ROUNDED",
        VALIGN="TOP",
        TOOLTIP=machine.tooltip,
    )


def _bar(bar: Bar, across: int) -> str:
    over = bar.used > bar.capacity
    full = round(_BAR * bar.share)
    parts = [
        f'<TD FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="7" BGCOLOR="{colour}"></TD>'
        for width, colour in ((full, RED if over else FAINT), (_BAR - full, "#DDE2E7"))
        if width
    ]
    label = cell([[Words(bar.text, 9, RED if over else INK, bold=over)]])
    return inner(
        table([[inner(table([parts], VALIGN="MIDDLE"), VALIGN="MIDDLE"), "<TD> </TD>", label]]),
        COLSPAN=across,
        ALIGN="LEFT",
    )


def _chip(chip: Chip) -> str:
    ended = chip.state in _ENDED and not chip.ghost
    struck = chip.state in _STRUCK and not chip.ghost
    line = FAINT if ended else chip.tag.line
    border, style = (1, "ROUNDED,DOTTED") if chip.ghost else _BORDERS.get(chip.state, (1, "ROUNDED"))
    fill = chip.tag.fill if chip.state in _FILLED and not chip.ghost else WHITE
    if chip.mark.broken:
        border, line = 3, RED
    lines: list[Line] = [
        [
            _badge(chip.mark, chip.tag),
            Words(chip.name, 11, struck=struck, slanted=chip.ghost),
        ],
        [Words(chip.status, 9, bold=chip.mark.changed and not chip.ghost)],
        *([Words(line, 8, FAINT)] for line in pack(chip.details, _CARD, ", ")),
    ]
    return cell(
        lines,
        WIDTH=_CHIP,
        BORDER=border,
        COLOR=line,
        BGCOLOR=fill,
        STYLE=style,
        CELLPADDING=4,
        TOOLTIP=chip.tooltip,
    )


def _wait_for_graph(graph: graphviz.Digraph, shown: Scene) -> None:
    names = list(dict.fromkeys(name for wait in shown.waits for name in (wait.waiter, wait.awaited)))
    stuck = {name for wait in shown.deadlock for name in (wait.waiter, wait.awaited)}
    if not names:
        return
    title = "deadlock: each waits for the next" if stuck else "who waits for whom"
    graph.node("waits", f"<{_lone(cell([[Words(title, 11, RED if stuck else FAINT, bold=True)]]))}>")
    graph.edge("cluster", "waits", style="invis")
    for i, name in enumerate(names):
        box = cell(
            [[Words(short(name, 28), 11, bold=name in stuck)]],
            BORDER=2 if name in stuck else 1,
            COLOR=RED if name in stuck else RULE,
            STYLE="ROUNDED",
            BGCOLOR=WHITE,
            CELLPADDING=6,
            TOOLTIP=clip(name, 160),
        )
        graph.node(f"wait{i}", f"<{_lone(box)}>")
    graph.edge("waits", "wait0", style="invis", minlen="1")
    for wait in shown.waits:
        why = cell([[Words(line, 9)] for line in wrap(clip(wait.why, 84), 28)], CELLPADDING=3)
        tail, head = names.index(wait.waiter), names.index(wait.awaited)
        label = f"<{_lone(why)}>" if wait.why else ""
        colour, width = (RED, "2") if wait in shown.deadlock else (FAINT, "1")
        graph.edge(f"wait{tail}", f"wait{head}", label=label, color=colour, penwidth=width)


def _lone(content: str) -> str:
    return table([[content]])


def _rows(items: Sequence[T], across: int) -> list[Sequence[T]]:
    return [items[i : i + across] for i in range(0, len(items), across)]
