"""Every form that a trace can take, by name: what `gangproof draw -o FORMAT` offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from gangproof.counterexamples import itf, json
from gangproof.counterexamples.draw import dot, html, mermaid, picture, png, story, strip, text
from gangproof.counterexamples.reproduce import as_pytest, as_scenario
from gangproof.counterexamples.trace import Trace


def _dot(trace: Trace, frame: int | None) -> str:
    return strip(trace) if frame is None else dot(trace, frame)


def _svg(trace: Trace, frame: int | None) -> str:
    return picture(trace) if frame is None else picture(trace, frame)


def _png(trace: Trace, frame: int | None) -> bytes:
    return png(_dot(trace, frame))


def _mermaid(trace: Trace, frame: int | None) -> str:
    return mermaid(trace, len(trace.frames) - 1 if frame is None else frame)


def _text(trace: Trace, frame: int | None) -> str:
    return story(trace) if frame is None else text(trace, frame)


FRAMES: Mapping[str, Callable[[Trace, int | None], str | bytes]] = MappingProxyType(
    {"svg": _svg, "png": _png, "dot": _dot, "mermaid": _mermaid, "text": _text}
)
"""Forms that can show one frame."""

WHOLES: Mapping[str, Callable[[Trace], str]] = MappingProxyType(
    {"html": html, "json": json.dumps, "itf": itf.dumps, "scenario": as_scenario, "pytest": as_pytest}
)
"""Forms that always hold the whole trace."""

FORMATS = (*FRAMES, *WHOLES)


def draw(trace: Trace, format: str, frame: int | None = None) -> str | bytes:
    """The trace in one of `FORMATS`: bytes for png, text for all others.

    Without a frame svg, png and dot show the highlights side by side, text every frame, mermaid the last.
    Raises `ValueError` for an unknown format and for a frame of a form that holds the whole trace,
    `IndexError` for a frame that does not exist, `NoScenarioError` and `DrawingError`.
    """
    if format in FRAMES:
        return FRAMES[format](trace, frame)
    if format not in WHOLES:
        raise ValueError(f"format {format!r} found, one of {', '.join(FORMATS)} expected")
    if frame is not None:
        raise ValueError(f"format {format!r} holds the whole trace, not frame {frame}")
    return WHOLES[format](trace)
