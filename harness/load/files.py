"""Where text comes from: files, directories, standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from gangproof.errors import InputError, Problem
from gangproof.load.text import LARGEST_JSON, decode

SUFFIXES = (".yaml", ".yml", ".json")
SCENARIO_SUFFIXES = (".scenario.yaml", ".scenario.yml", ".scenario.json")


def is_scenario_file(path: str | Path) -> bool:
    """Whether the name says that the file holds scenarios."""
    return str(path).endswith(SCENARIO_SUFFIXES)


def _error(name: str, found: str, expected: str) -> InputError:
    return InputError((Problem(name, 0, "", found, expected),))


def read(path: str | Path) -> tuple[str, str]:
    """A name for the input and its text; `-` is standard input. InputError if it cannot be read."""
    if str(path) == "-":
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] (so it is when it was closed)
            raise _error("<stdin>", "a closed standard input", "manifests, scenarios or a trace")
        data = sys.stdin.buffer.read(LARGEST_JSON + 1)
        name = "<stdin>"
    else:
        name = str(path)
        try:
            with Path(path).open("rb") as stream:
                data = stream.read(LARGEST_JSON + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise _error(name, (reason or "an error").lower(), "a readable file") from None
    if len(data) > LARGEST_JSON:
        raise _error(name, f"more than {LARGEST_JSON} bytes", f"at most {LARGEST_JSON}")
    return name, decode(name, data)


def sources(paths: Iterable[str | Path]) -> Iterator[str | Path]:
    """The paths with directories replaced by the manifests in them, by name, without scenario files.

    InputError for a directory that has none.
    """
    for path in paths:
        if str(path) == "-" or not Path(path).is_dir():
            yield path
            continue
        try:
            names = sorted(Path(path).iterdir())
        except OSError as error:
            raise _error(str(path), (error.strerror or "an error").lower(), "a readable folder") from None
        found = [n for n in names if n.suffix in SUFFIXES and n.is_file() and not is_scenario_file(n)]
        if not found:
            raise _error(str(path), "a folder without manifests", f"files that end in {', '.join(SUFFIXES)}")
        yield from found
