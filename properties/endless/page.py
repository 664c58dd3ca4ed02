"""The page of runs that go on for ever, `docs/liveness.md`, and its pictures."""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.counterexamples import Trace, picture
from gangproof.properties.endless.worlds import ENDLESS, Endless
from gangproof.properties.search.lasso import Lasso, Lassos
from gangproof.properties.telling.traces import Meta

HEAD = """# Runs that go on for ever

A promise of liveness (LIVE-01 to LIVE-15 of [semantics.md](semantics.md)) is broken by a *lasso*: a run that comes to a
world and from there round to it again, or to one in which nothing moves any more, while somebody is owed something all
the way. `gangproof check FILE… --liveness` looks for them. Only *fair* runs count: what stays possible all the time is
done some time, so the scheduler goes on popping, each open call ends, each backoff that is waited for runs out, and
what was written is seen; a call that may fail and is made again and again ends well some time. Users owe nothing.

Below is, for each promise that v1.36.3 was found to break, a smallest world: without one of its objects nothing is
broken, and *intended* keeps every promise in it. The pictures show the last step of the lasso, which leads back.

This page is made from the code and checked by a test.
"""


def page() -> str:
    """The page in Markdown."""
    found = {case.name: case.shown() for case in ENDLESS}
    lines = [
        HEAD,
        "| promise | what happens | by | states | steps before | steps round |",
        "|---|---|---|---|---|---|",
        *(_row(case, *found[case.name]) for case in ENDLESS),
        "",
        *(line for case in ENDLESS for line in _told(case, found[case.name][1])),
    ]
    return "\n".join(lines).rstrip() + "\n"


def picture_name(case: Endless) -> str:
    """The file in which the lasso is drawn."""
    return f"endless-{case.name}.svg"


def draw(case: Endless) -> str:
    """The last moments of the lasso as SVG."""
    trace = trace_of(case)
    return picture(trace, len(trace.frames) - 1) + "\n"


def trace_of(case: Endless) -> Trace:
    """The lasso as a trace."""
    return case.shown()[1].trace(Meta(", ".join(case.deviations[0]), "", "lasso"))


def _row(case: Endless, found: Lassos, lasso: Lasso) -> str:
    steps = len(lasso.path)
    before, around = (steps, "nothing moves") if lasso.loop is None else (lasso.loop, str(steps - lasso.loop))
    by = " or ".join(" and ".join(ids) for ids in case.deviations)
    link = f"[{case.title}](#{case.title.lower().replace(' ', '-').replace(',', '')})"
    return f"| {case.promise} | {link} | {by} | {found.exploration.states:,} | {before} | {around} |"


def _told(case: Endless, lasso: Lasso) -> Iterator[str]:
    yield f"## {case.title}"
    yield ""
    yield case.told
    yield ""
    yield f"- promise: {case.promise}; what is broken: {lasso.violation.message}"
    yield f"- by: {', '.join(case.deviations[0])}"
    steps = [str(action) for action in lasso.path.actions]
    loop = len(steps) if lasso.loop is None else lasso.loop
    yield f"- comes there by: {_listed(steps[:loop])}"
    yield f"- and then: {_listed(steps[loop:]) if steps[loop:] else 'nothing more happens'}"
    yield ""
    yield f"![{case.promise}: {lasso.violation.message}](pictures/{picture_name(case)})"
    yield ""


def _listed(steps: list[str]) -> str:
    return ", ".join(f"`{step}`" for step in steps)
