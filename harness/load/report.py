"""Collecting what is wrong with an input, so that a person hears of several things at once, with lines."""

from __future__ import annotations

from typing import Any

from attrs import define, field, frozen

from gangproof.errors import MOST_SHOWN, InputError, Problem
from gangproof.impl.objects.validation import Path, path_text
from gangproof.load.lines import lines
from gangproof.load.text import Document, Text


@frozen(eq=False)
class Item:
    """One object in a document: where it stands in it, what it is called, and its plain data."""

    document: Document
    base: Path
    subject: str
    data: Any = field(repr=False)


_Place = tuple[Text, tuple[int, Path]]


@frozen(eq=False)
class Note:
    """Something to tell about a field of an item; `path` starts at the item.

    `first` is the item with the same field elsewhere with which it cannot be together, if that is what is wrong.
    """

    item: Item
    path: Path
    found: str
    expected: str
    hint: str = ""
    rule: str = ""
    first: Item | None = None

    @property
    def places(self) -> tuple[_Place, ...]:
        """Where the field is, and where that of the first item is if there is one."""
        items = (self.item,) if self.first is None else (self.item, self.first)
        return tuple((item.document.text, (item.document.number, (*item.base, *self.path))) for item in items)


@define
class Report:
    """Errors and warnings so far: the first of each, in the order of reading, and how many there are."""

    errors: list[Note] = field(factory=list[Note])
    warnings: list[Note] = field(factory=list[Note])
    broken: list[InputError] = field(factory=list[InputError])
    error_count: int = 0
    warning_count: int = 0

    def error(
        self,
        item: Item,
        path: Path,
        found: str,
        expected: str,
        hint: str = "",
        rule: str = "",
        first: Item | None = None,
    ) -> None:
        self.error_count += 1
        if self.error_count <= MOST_SHOWN:
            self.errors.append(Note(item, path, found, expected, hint, rule, first))

    def warning(
        self, item: Item, path: Path, found: str, expected: str, hint: str = "", rule: str = ""
    ) -> None:
        self.warning_count += 1
        if self.warning_count <= MOST_SHOWN:
            self.warnings.append(Note(item, path, found, expected, hint, rule))

    def failed(self) -> bool:
        return self.error_count > 0 or bool(self.broken)

    def check(self) -> None:
        """InputError if there was an error."""
        if not self.failed():
            return
        problems = [problem for error in self.broken for problem in error.problems]
        total = len(problems) + sum(error.more for error in self.broken) + self.error_count
        shown = (*problems, *with_lines(self.errors))[:MOST_SHOWN]
        raise InputError(shown, total - len(shown))


def with_lines(notes: list[Note]) -> tuple[Problem, ...]:
    """The notes as problems, each with its line; every text is read again once."""
    by_text: dict[int, tuple[Text, list[tuple[int, Path]]]] = {}
    for note in notes:
        for text, place in note.places:
            by_text.setdefault(id(text), (text, []))[1].append(place)
    found = {key: lines(text, those) for key, (text, those) in by_text.items()}
    return tuple(_problem(note, [found[id(text)][place] for text, place in note.places]) for note in notes)


def _problem(note: Note, lines: list[int]) -> Problem:
    line, *others = lines
    first = "" if note.first is None else f"the first is in {note.first.document.text.name}:{others[0]}"
    return Problem(
        file=note.item.document.text.name,
        line=line,
        field=path_text(note.path),
        found=note.found,
        expected=note.expected,
        hint=note.hint or first,
        subject=note.item.subject,
        rule=note.rule,
    )
