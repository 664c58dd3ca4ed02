"""Pictures of a trace: one scene, drawn as SVG, PNG, DOT, Mermaid, text boxes or a web page."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from gangproof.counterexamples.draw.dot import dot, highlights, strip
from gangproof.counterexamples.draw.html import html
from gangproof.counterexamples.draw.mermaid import mermaid
from gangproof.counterexamples.draw.svg import METRICS, DrawingError, png, svg
from gangproof.counterexamples.draw.text import story, text
from gangproof.counterexamples.explain import caption, explain
from gangproof.counterexamples.trace import Trace

__all__ = [
    "METRICS",
    "DrawingError",
    "dot",
    "highlights",
    "html",
    "mermaid",
    "mimebundle",
    "picture",
    "png",
    "story",
    "strip",
    "svg",
    "text",
]


def picture(trace: Trace, *frames: int) -> str:
    """One frame as SVG, or several side by side; without any the highlights.

    Raises `DrawingError`, and `IndexError` if there is no such frame.
    """
    if len(frames) == 1:
        source = dot(trace, *frames, font=METRICS)
        return svg(source, f"{trace.headline}; {caption(trace, *frames)}")
    return svg(strip(trace, frames or None, font=METRICS), trace.headline)


def mimebundle(
    trace: Trace, include: Collection[str] | None = None, exclude: Collection[str] | None = None
) -> dict[str, str]:
    """The forms that a notebook chooses from: text, picture, and the stepper in a frame of its own."""
    makers = {
        "text/plain": lambda: explain(trace),
        "image/svg+xml": lambda: picture(trace),
        "text/html": lambda: (
            f'<iframe srcdoc="{escape(html(trace))}" style="width:100%;height:42rem;border:0"></iframe>'
        ),
    }
    return {
        kind: make()
        for kind, make in makers.items()
        if (include is None or kind in include) and (exclude is None or kind not in exclude)
    }
