"""A frame as text boxes, for a terminal, a log or an issue; never wider than 100 columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from gangproof.counterexamples.draw.scene import Bar, Chip, Domain, Machine, Mark, Scene
from gangproof.counterexamples.draw.stage import scene
from gangproof.counterexamples.names import bare, clean, pack, wrap
from gangproof.counterexamples.trace import Trace

COLUMNS = 100
_BOX = 48
_BAR = 10


def text(trace: Trace, frame: int) -> str:
    """One frame as text boxes; ends with a line break. Raises `IndexError` if the trace has no such frame.

    A star marks what the step changed, an exclamation mark what broke the clause, brackets a group's letter.
    """
    shown = scene(trace, frame)
    return "\n".join(line.rstrip() for line in _lines(shown, headed=True)) + "\n"


def story(trace: Trace) -> str:
    """Every frame, one below the other."""
    shown = [scene(trace, index) for index in range(len(trace.frames))]
    parts = ["\n".join(line.rstrip() for line in _lines(each, headed=each.index == 0)) for each in shown]
    return "\n\n".join(parts) + "\n"


def _lines(shown: Scene, *, headed: bool) -> Iterator[str]:
    if headed:
        yield from wrap(shown.title, COLUMNS)
    yield from wrap(shown.caption, COLUMNS, "   ", first="-- ")
    yield from wrap(shown.note, COLUMNS)
    for card in shown.groups:
        yield from _entry(f"{_mark(card.mark)}[{card.tag.letter}] {card.name}: ", card.remarks)
    for lane in shown.lanes:
        names = [
            f"{_mark(chip.mark)}{_name(chip)}{f' ({chip.status})' if chip.was else ''}" for chip in lane.chips
        ]
        yield from _entry(f"  {lane.state}: ", [*names, *_more(lane.more)], ", ")
    yield from _domains(shown.domains, "=")
    for card in shown.claims:
        yield from _entry(
            f"{_mark(card.mark)}claim {card.name}: ",
            [*map(str, card.links), *_more(card.more), *card.remarks],
        )
    for wait in shown.waits:
        stuck = "! " if wait in shown.deadlock else "  "
        why = f" ({clean(wait.why)})" if wait.why else ""
        yield from wrap(
            f"{bare(wait.waiter)} waits for {bare(wait.awaited)}{why}", COLUMNS, "    ", first=stuck
        )
    yield from pack(shown.hidden, COLUMNS, ", ")
    if shown.clause:
        yield from wrap(shown.clause, COLUMNS, "        ", first=f"{shown.clause_label}: ")
    yield from pack(shown.facts, COLUMNS)
    yield from wrap(shown.after, COLUMNS)


def _domains(domains: Sequence[Domain], sign: str) -> Iterator[str]:
    """Domain by domain; one equals sign more for each domain that another is in."""
    for domain in domains:
        if domain.label:
            yield from wrap(domain.label, COLUMNS, first=f"{sign} ")
        if domain.machines:
            yield from _side_by_side([_box(machine) for machine in domain.machines])
        yield from _domains(domain.inner, sign + "=")


def _mark(mark: Mark) -> str:
    return ("!" if mark.broken else " ") + ("*" if mark.changed else " ")


def _name(chip: Chip) -> str:
    return f"[{chip.tag.letter}] {chip.name}" if chip.tag.letter else chip.name


def _more(count: int) -> list[str]:
    return [f"and {count} more"] if count else []


def _entry(head: str, phrases: Sequence[str], between: str = " · ") -> list[str]:
    lines = pack([phrase.strip() for phrase in phrases], COLUMNS - len(head), between) or [""]
    return [head + lines[0], *(" " * len(head) + line for line in lines[1:])]


def _box(machine: Machine) -> list[str]:
    remarks = "".join(f" ({remark})" for remark in machine.remarks)
    head = f"{_mark(machine.mark).strip()} {machine.name}{remarks}".strip()
    rows = [_bar(bar) for bar in machine.bars]
    rows.extend(f"{_mark(chip.mark)}{_name(chip)} {chip.status}" for chip in machine.chips)
    rows.extend(_more(machine.more) if machine.chips else ["no pods"])
    width = min(_BOX - 4, max(_width(row) for row in (*rows, head)))
    title = _fit(head, width).rstrip()
    return [
        f"┌ {title} {'─' * (width - _width(title))}┐",
        *(f"│ {_fit(row, width)} │" for row in rows),
        f"└{'─' * (width + 2)}┘",
    ]


def _bar(bar: Bar) -> str:
    full = round(_BAR * bar.share)
    return f"{'█' * full}{'░' * (_BAR - full)} {bar.text}"


def _side_by_side(boxes: Sequence[list[str]]) -> Iterator[str]:
    row: list[list[str]] = []
    for box in boxes:
        if row and sum(_width(other[0]) + 1 for other in row) + _width(box[0]) > COLUMNS:
            yield from _join(row)
            row = []
        row.append(box)
    yield from _join(row)


def _join(boxes: Sequence[list[str]]) -> Iterator[str]:
    for i in range(max(map(len, boxes))):
        yield " ".join(box[i] if i < len(box) else " " * _width(box[0]) for box in boxes)


def _fit(words: str, width: int) -> str:
    """The words in exactly so many columns, cut if they need more."""
    if _width(words) > width:
        while _width(words) > width - 1:
            words = words[:-1]
        words += "…"
    return words + " " * (width - _width(words))


def _width(words: str) -> int:
    """How many columns a terminal gives the words."""
    if words.isascii():
        return len(words)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in words
    )
