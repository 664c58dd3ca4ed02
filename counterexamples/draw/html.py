"""A whole trace as one web page: every frame as a picture, a stepper with the arrow keys, the list of events.

The page fetches nothing (its security policy forbids it to), needs no server, and without JavaScript it
still shows all frames, one below the other.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import jinja2
from markupsafe import Markup

from gangproof.counterexamples.changes import changes
from gangproof.counterexamples.draw.dot import dot
from gangproof.counterexamples.draw.stage import scene
from gangproof.counterexamples.draw.svg import METRICS, svg
from gangproof.counterexamples.explain import clause_label
from gangproof.counterexamples.names import clean, numbers
from gangproof.counterexamples.trace import Trace


def html(trace: Trace) -> str:
    """The trace as a self-contained page. Raises `DrawingError`."""
    frames: list[dict[str, object]] = []
    for index, frame in enumerate(trace.frames):
        shown = scene(trace, index)
        before = trace.frames[index - 1] if index else frame
        frames.append(
            {
                "moment": shown.moment,
                "event": shown.event,
                "changes": [str(change) for change in changes(before, frame)],
                "svg": Markup(svg(dot(trace, index, font=METRICS), shown.caption)),
            }
        )
    facts = [("rules", ", ".join(trace.citation)), *trace.meta]
    return _template().render(
        headline=clean(trace.headline),
        claim=clean(trace.claim),
        clause=clean(trace.clause),
        clause_label=clause_label(trace),
        numbers=numbers(trace.numbers),
        frames=frames,
        after=scene(trace, len(trace.frames) - 1).after,
        facts=[(clean(name), clean(value)) for name, value in facts if value],
        scenario="\n".join(map(clean, (trace.scenario or "").splitlines())),
    )


@cache
def _template() -> jinja2.Template:
    page = files("gangproof.counterexamples.draw").joinpath("page.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    return environment.from_string(page)
