"""Graphviz's HTML-like labels from plain pieces: the only place where text meets markup in a DOT graph.

Every text goes through `text`, which escapes what is special in markup and in DOT. Graphviz takes any
character outside ASCII for a space when it measures, so `cell` makes room for those.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from attrs import frozen

_NARROW = frozenset("iljtf|.,:;'!()[]/ -I")
_BROAD = frozenset("mwMW%@")
# Graphviz blows a table inside a table up to the room there is, unless its size is fixed;
# without a width and a height that is its natural size.
_PLAIN = {
    "BORDER": 0,
    "CELLBORDER": 0,
    "CELLSPACING": 0,
    "CELLPADDING": 0,
    "ALIGN": "LEFT",
    "VALIGN": "TOP",
    "FIXEDSIZE": "TRUE",
}


@frozen
class Words:
    """A piece of a line: a text and how it is set; `size` is in points, `colour` as #RRGGBB."""

    words: str
    size: int = 11
    colour: str = ""
    bold: bool = False
    struck: bool = False
    slanted: bool = False

    def markup(self) -> str:
        out = text(self.words)
        for tag, wanted in (("B", self.bold), ("S", self.struck), ("I", self.slanted)):
            if wanted:
                out = f"<{tag}>{out}</{tag}>"
        colour = f' COLOR="{self.colour}"' if self.colour else ""
        return f'<FONT POINT-SIZE="{self.size}"{colour}>{out}</FONT>'


Line = Sequence[Words]

# A blank tooltip keeps the texts of one cell together in the drawing, where other cells may stand beside it.
_CELL = {"ALIGN": "LEFT", "BALIGN": "LEFT", "TOOLTIP": " "}


def text(words: str) -> str:
    """The text with nothing left in it that markup or DOT would take for its own."""
    return escape(words).replace("\\", "\\\\")


def cell(lines: Iterable[Line], **attributes: str | int) -> str:
    """A table cell of left-aligned lines, wide enough for every character; attributes as in Graphviz."""
    kept = [[words for words in line if words.words] for line in lines]
    kept = [line for line in kept if line]
    width = max((_room(line) for line in kept), default=0)
    if width:
        attributes = {**attributes, "WIDTH": max(width, int(attributes.get("WIDTH", 0)))}
    content = "".join("".join(words.markup() for words in line) + '<BR ALIGN="LEFT"/>' for line in kept)
    return f"<TD{_attributes({**_CELL, **attributes})}>{content or ' '}</TD>"


def inner(content: str, **attributes: str | int) -> str:
    """A table cell that holds a table."""
    return f"<TD{_attributes(attributes)}>{content}</TD>"


def table(rows: Iterable[Iterable[str]], **attributes: str | int) -> str:
    """A table of cells without borders of its own, unless the attributes say otherwise."""
    content = "".join(f"<TR>{''.join(row)}</TR>" for row in rows)
    return f"<TABLE{_attributes({**_PLAIN, **attributes})}>{content}</TABLE>"


def _attributes(attributes: dict[str, str | int]) -> str:
    return "".join(f' {name}="{text(str(value))}"' for name, value in attributes.items() if value != "")


def _room(line: Line) -> int:
    """The width in points of a line with characters that Graphviz cannot measure; 0 if it can."""
    if all(words.words.isascii() for words in line):
        return 0
    widths = (sum(map(_em, words.words)) * words.size * (1.12 if words.bold else 1) for words in line)
    return round(sum(widths)) + 12


def _em(character: str) -> float:
    if not character.isascii():
        return 1.0 if unicodedata.east_asian_width(character) in "WFA" else 0.75
    if character in _NARROW:
        return 0.42
    if character in _BROAD:
        return 1.0
    return 0.75 if character.isupper() else 0.62
