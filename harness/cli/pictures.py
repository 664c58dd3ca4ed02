"""Counterexamples as files: a picture, a page with every step, and the trace to draw it from again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gangproof.cli.terminal import UsageError

if TYPE_CHECKING:
    from gangproof.counterexamples import Trace

SUFFIXES = {"svg": ".svg", "html": ".html", "json": ".trace.json"}


def save(traces: Sequence[Trace], folder: Path) -> Iterator[str]:
    """Save each trace in the folder, which is made if need be, under the name of its fault or its property, behind
    that of the scenario if it is of one that was run elsewhere, before that of its world if it is one of views that
    lag; gives a line for each file.

    Raises UsageError if the folder or a file cannot be written.
    """
    from gangproof.counterexamples import DrawingError, draw

    used: dict[str, int] = {}
    for trace in traces:
        meta = dict(trace.meta)
        parts = (meta.get("scenario"), trace.property_id, meta.get("lag"))
        about = meta.get("fault") or "-".join(filter(None, parts))
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", about).strip("-.") or "trace"
        used[name] = used.get(name, 0) + 1
        if used[name] > 1:
            name = f"{name}-{used[name]}"
        for format, suffix in SUFFIXES.items():
            path = folder / f"{name}{suffix}"
            try:
                write(path, draw(trace, format))
            except DrawingError as error:
                yield f"not drawn: {path}: {error}"
            else:
                yield f"saved: {path}"


def write(path: Path, content: str | bytes) -> None:
    """Write a file, and the folders above it. Raises UsageError."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
