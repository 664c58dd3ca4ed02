"""The project's pages as the tests read them: fenced blocks, and sessions in which their commands are run.

A block is named by what stands behind its fence: ` ```console ` holds commands behind `$ ` and what they print,
` ```python title="FILE" ` the content of a file. In what is printed a line `…` stands for any lines, and numbers
of seconds for any.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
BIN = Path(sys.executable).parent

_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?$')
_SECONDS = re.compile(r"\b\d[\d,]*(?:\.\d+)? ?m?s\b")
_ANYTHING = "…"


@frozen
class Block:
    """A fenced block: its language, its title if it has one, its text, and the line at which it begins."""

    language: str
    title: str | None
    text: str
    line: int


@frozen
class Command:
    """A command of a console block: what is typed, what is printed, and the exit code that it must have."""

    typed: str
    printed: tuple[str, ...]
    exit_code: int


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        number += 1
        if fence is None:
            continue
        end = lines.index("```", number)
        yield Block(fence[1], fence[2], "\n".join(lines[number:end]), number)
        number = end + 1


def commands(block: Block) -> tuple[Command, ...]:
    """The commands of a console block; `echo $?` after a command tells its exit code, which is 0 otherwise."""
    found: list[Command] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        typed, *printed = part.splitlines()
        if typed == "echo $?":
            found[-1] = Command(found[-1].typed, found[-1].printed, int(printed[0]))
        else:
            found.append(Command(typed, tuple(printed), 0))
    return tuple(found)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run what is typed in a folder, with the programs of this environment first on the path."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**environment, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def missing(quoted: Sequence[str], printed: str) -> str | None:
    """The first quoted run of lines that was not printed in its place, None if all were."""
    lines = [_plain(line) for line in printed.splitlines()]
    at, anchored = 0, True
    for piece in _pieces(quoted):
        if piece == [_ANYTHING]:
            anchored = False
            continue
        starts = [at] if anchored else range(at, len(lines))
        found = next((start for start in starts if lines[start : start + len(piece)] == piece), None)
        if found is None:
            return "\n".join(piece)
        at, anchored = found + len(piece), True
    return None if at == len(lines) or not anchored or not quoted else "\n".join(lines[at:])


def _pieces(quoted: Sequence[str]) -> Iterator[list[str]]:
    """Runs of lines that stand together, and the marks between them."""
    piece: list[str] = []
    for line in quoted:
        if line == _ANYTHING:
            yield from [piece] if piece else []
            yield [_ANYTHING]
            piece = []
        else:
            piece.append(_plain(line))
    yield from [piece] if piece else []


def _plain(line: str) -> str:
    return _SECONDS.sub("N s", line.rstrip())
