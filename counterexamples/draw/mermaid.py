"""A frame as a Mermaid flowchart, for pages that render it from the source: an issue, a wiki, a README.

Groups, lanes, domains and nodes are subgraphs, pods are boxes; a label is quoted, and every character that
is neither a letter, a digit nor harmless punctuation is written as its number, so no name becomes markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gangproof.counterexamples.draw.scene import NO_GROUP, Card, Chip, Domain, Relation, Scene, Tag
from gangproof.counterexamples.draw.stage import scene
from gangproof.counterexamples.names import short
from gangproof.counterexamples.trace import PodState, Trace

_HARMLESS = frozenset(" .,:/+-=_()!")
_DASHES = {
    PodState.PROMISED: "6 3",
    PodState.OWED: "6 3",
    PodState.ASSUMED: "2 2",
}
_ARROWS = {
    Relation.ALLOCATED: "==>",
    Relation.CHOSEN: "-.->",
    Relation.RESERVED: "-.->",
    Relation.HELD: "-->",
    Relation.PROMISED: "-.->",
    Relation.UNRESERVED: "-->",
    Relation.WANTED: "-.->",
}
_THICK = (PodState.BOUND, PodState.PROMISED, PodState.OWED)


def mermaid(trace: Trace, frame: int) -> str:
    """One frame as a Mermaid flowchart. Raises `IndexError` if the trace has no such frame."""
    return "\n".join(_lines(scene(trace, frame))) + "\n"


def _lines(shown: Scene) -> Iterator[str]:
    yield "flowchart TB"
    heading = [shown.title, shown.caption, shown.clause, ", ".join(shown.facts), shown.after]
    yield f'  title["{_label(heading)}"]'
    yield "  classDef plain fill:none,stroke:none,text-align:left"
    yield "  class title plain"
    ids: dict[str, str] = {}
    for i, card in enumerate(shown.groups):
        label = _label(
            [f"{_mark(card.mark.broken)}{card.tag.letter} group {card.name}", ", ".join(card.remarks)]
        )
        yield f'  g{i}["{label}"]'
        yield _style(f"g{i}", card.tag, broken=card.mark.broken)
    for i, lane in enumerate(shown.lanes):
        yield f'  subgraph lane{i}["{_label([f"no node: {lane.state}"])}"]'
        yield from _chips(lane.chips, lane.more, f"l{i}", "    ", ids)
        yield "  end"
    yield from _domains(shown.domains, "", "  ", ids)
    if shown.hidden:
        yield f'  hidden["{_label(shown.hidden)}"]'
    for i, card in enumerate(shown.claims):
        yield f'  c{i}["{_label([f"{_mark(card.mark.broken)}claim {card.name}", *card.remarks])}"]'
        yield _style(f"c{i}", card.tag, broken=card.mark.broken)
        yield from _links(card, f"c{i}", ids)
    names = list(dict.fromkeys(name for wait in shown.waits for name in (wait.waiter, wait.awaited)))
    yield from (f'  w{i}(["{_label([short(name, 28)])}"])' for i, name in enumerate(names))
    for wait in shown.waits:
        arrow = "==>" if wait in shown.deadlock else "-->"
        why = f'|"{_label([wait.why])}"|' if wait.why else ""
        yield f"  w{names.index(wait.waiter)} {arrow}{why} w{names.index(wait.awaited)}"


def _domains(domains: Iterable[Domain], prefix: str, indent: str, ids: dict[str, str]) -> Iterator[str]:
    for i, domain in enumerate(domains):
        name, deeper = f"{prefix}{i}x", indent + "  " if domain.label else indent
        if domain.label:
            yield f'{indent}subgraph domain{prefix}{i}["{_label([domain.label])}"]'
        for j, machine in enumerate(domain.machines):
            head = [f"{_mark(machine.mark.broken)}node {machine.name}", *machine.remarks]
            label = _label([*head, ", ".join(bar.text for bar in machine.bars)])
            yield f'{deeper}subgraph n{name}{j}["{label}"]'
            yield from _chips(machine.chips, machine.more, f"n{name}{j}", deeper + "  ", ids)
            yield f"{deeper}end"
        yield from _domains(domain.inner, name, deeper, ids)
        if domain.label:
            yield f"{indent}end"


def _links(claim: Card, name: str, ids: dict[str, str]) -> Iterator[str]:
    """The claim's edges: to pods that are drawn themselves, and else to a box for what the edge leads to."""
    for i, link in enumerate(claim.links):
        arrow = f'{_ARROWS[link.relation]}|"{_label([link.relation])}"|'
        if link.pods and all(key in ids for key in link.pods):
            yield from (f"  {name} {arrow} {ids[key]}" for key in link.pods)
        else:
            label = _label(
                [f"{_mark(link.mark.broken)}{link.tag.letter} {link.target[0]}".strip(), *link.target[1:]]
            )
            yield f'  {name} {arrow} {name}e{i}["{label}"]'
            yield _style(f"{name}e{i}", link.tag, broken=link.mark.broken)
    if claim.more:
        yield f'  {name} -.- {name}more["and {claim.more} more"]'


def _chips(chips: Iterable[Chip], more: int, prefix: str, indent: str, ids: dict[str, str]) -> Iterator[str]:
    count = 0
    for count, chip in enumerate(chips, start=1):
        name = f"{prefix}p{count}"
        if not chip.ghost:
            ids[chip.key] = name
        head = f"{_mark(chip.mark.broken)}{chip.tag.letter} {chip.name}".strip()
        yield f'{indent}{name}["{_label([head, chip.status, ", ".join(chip.details)])}"]'
        dashes = "1 4" if chip.ghost else _DASHES.get(chip.state, "")
        thick = chip.state in _THICK and not chip.ghost
        yield indent + _style(name, chip.tag, broken=chip.mark.broken, dashes=dashes, thick=thick).strip()
    if more:
        yield f'{indent}{prefix}more["and {more} more"]'
    elif not count:
        yield f'{indent}{prefix}none["no pods"]'


def _style(name: str, tag: Tag, *, broken: bool, dashes: str = "", thick: bool = False) -> str:
    width = 4 if broken else 3 if thick else 1
    line = "#B00020" if broken else tag.line
    fill = NO_GROUP.fill if not tag.letter else tag.fill
    dashed = f",stroke-dasharray:{dashes}" if dashes else ""
    return f"  style {name} fill:{fill},stroke:{line},color:#1F2933,stroke-width:{width}px{dashed}"


def _mark(broken: bool) -> str:
    return "! " if broken else ""


def _label(lines: Iterable[str]) -> str:
    return "<br/>".join(_harmless(line) for line in lines if line)


def _harmless(words: str) -> str:
    return "".join(c if c in _HARMLESS or (c.isascii() and c.isalnum()) else f"#{ord(c)};" for c in words)
