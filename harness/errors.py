"""What is wrong with an input, so that a person can act on it: where, what was found, what is expected."""

from __future__ import annotations

from attrs import frozen

MOST_SHOWN = 20


@frozen
class Problem:
    """One thing wrong in an input.

    `line` counts from 1; 0 means that the problem is with the file as a whole. `subject` names the object,
    `field` the field in it, `rule` the rule that it breaks; each may be empty.
    """

    file: str
    line: int
    field: str
    found: str
    expected: str
    hint: str = ""
    subject: str = ""
    rule: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        what = ": ".join(part for part in (where, self.subject, self.field) if part)
        text = f"{what}: found {self.found}, expected {self.expected}"
        if self.rule:
            text += f" ({self.rule})"
        return f"{text}; {self.hint}" if self.hint else text


class InputError(Exception):
    """An input that cannot be used: the first problems, and how many more there are. Exit code 2."""

    def __init__(self, problems: tuple[Problem, ...], more: int = 0) -> None:
        super().__init__(problems, more)
        self.problems = problems
        self.more = more

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if self.more:
            lines.append(f"and {self.more} more")
        return "\n".join(lines)
