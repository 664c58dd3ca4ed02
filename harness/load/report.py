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


@frozen(eq=False)
class Note:
    """Something to tell about a field of an item; `path` starts at the item."""

    item: Item
    path: Path
    found: str
    expected: str
    hint: str = ""
    rule: str = ""

    @property
    def place(self) -> tuple[int, Path]:
        return self.item.document.number, (*self.item.base, *self.path)


@define
class Report:
    """Errors and warnings so far: the first of each, in the order of reading, and how many there are."""

    errors: list[Note] = field(factory=list[Note])
    warnings: list[Note] = field(factory=list[Note])
    broken: list[InputError] = field(factory=list[InputError])
    error_count: int = 0
    warning_count: int = 0

    def error(
        self, item: Item, path: Path, found: str, expected: str, hint: str = "", rule: str = ""
    ) -> None:
        self.error_count += 1
        if self.error_count <= MOST_SHOWN:
            self.errors.append(Note(item, path, found, expected, hint, rule))

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
    by_text: dict[int, tuple[Text, list[Note]]] = {}
    for note in notes:
        text = note.item.document.text
        by_text.setdefault(id(text), (text, []))[1].append(note)
    found = {key: lines(text, [n.place for n in those]) for key, (text, those) in by_text.items()}
    return tuple(_problem(note, found[id(note.item.document.text)][note.place]) for note in notes)


def _problem(note: Note, line: int) -> Problem:
    return Problem(
        file=note.item.document.text.name,
        line=line,
        field=path_text(note.path),
        found=note.found,
        expected=note.expected,
        hint=note.hint,
        subject=note.item.subject,
        rule=note.rule,
    )
