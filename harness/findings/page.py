"""The page of findings, made of the catalogue, the measured shares and the recorded runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from gangproof.adapters.search import trace_of_kind
from gangproof.counterexamples import Trace, draw
from gangproof.findings.catalogue import BY_DESIGN, FINDINGS
from gangproof.findings.finding import Finding, runs, shares, world_of
from gangproof.properties.conformance.recording import Recording
from gangproof.properties.observed import PROMISES

SCHEDULER = "kube-scheduler v1.36.3"
HEAD = """# Findings on the real scheduler

Promises of KEP-4671, KEP-5710, KEP-5729 and KEP-5732 that kube-scheduler v1.36.3 was seen to break. Random worlds were
run on the unmodified scheduler and judged from its log alone, by the promises of `properties/observed`; no model has a
say in it. What was found was made small on the scheduler itself, and then plain by hand.

**Read this first.** All of these gates are alpha in v1.36 and off by default, so nothing here is a defect of a default
cluster. The API server is a fake one with a simulated clock; only the scheduler is real. *No public report found* means
that we found none where we looked, not that there is none. What is said about v1.37 was read in change logs and
sources; nothing was run on it. A share is counted over runs with different seeds, which decide about ties, the order of
members and how cycles and calls interleave: it says how often it shows in this setting, not how often on a cluster.
*Cycle by cycle* means that a cycle begins when everything that the one before had set going is over; *side by side* is
how a scheduler runs in a cluster.

Run one yourself (it needs Go, and `make kube-scheduler` once):

```sh
gangproof conform kube-scheduler --promises scenarios/findings/{first}.world.yaml --runs 50 --draw out/
```

and look for others:

```sh
gangproof conform kube-scheduler --promises --worlds 500 --seed 1 --draw out/
```

This page is made by `make findings`, which measures everything anew. Where Go is missing `make test` judges the
recorded runs again.
"""


@cache
def recorded() -> dict[str, Recording]:
    """The recorded runs, read once."""
    return runs()


def trace_of(finding: Finding) -> Trace:
    """The recorded run of a finding as a trace. Raises ValueError if it does not break its promise."""
    trace = trace_of_kind(recorded()[finding.id], finding.kind, SCHEDULER, finding.title)
    if trace is None:
        raise ValueError(f"{finding.id}: the recorded run does not show it")
    return trace


def picture_of(finding: Finding) -> str:
    """The picture of a finding, an SVG."""
    drawn = draw(trace_of(finding), "svg")
    assert isinstance(drawn, str)
    return drawn


def page() -> str:
    """The page in Markdown."""
    measured = shares()
    lines = [
        HEAD.format(first=FINDINGS[0].id),
        "| finding | promise | status | mode | share |",
        "|---|---|---|---|---|",
        *(_row(finding, measured[finding.id]) for finding in FINDINGS),
        "",
        *(line for finding in FINDINGS for line in _told(finding, measured[finding.id])),
        "## Surprising, but as it is written",
        "",
        *BY_DESIGN,
        "",
    ]
    return "\n".join(lines)


def _row(finding: Finding, counted: tuple[int, int]) -> str:
    promise = finding.kind.partition(" ")[0]
    broken, of = counted
    anchor = re.sub(r"[^a-z0-9 -]", "", finding.title.lower()).replace(" ", "-")
    return f"| [{finding.title}](#{anchor}) | `{promise}` | {finding.status} | {_mode(finding)} | {broken} of {of} |"


def _mode(finding: Finding) -> str:
    return "side by side" if world_of(finding).get("eager") else "cycle by cycle"


def _told(finding: Finding, counted: tuple[int, int]) -> Iterator[str]:
    name, _, aspect = finding.kind.partition(" ")
    promise = next(one for one in PROMISES if one.id == name)
    gates = world_of(finding).get("gates", {})
    on = ", ".join(f"`{gate}`" for gate, value in gates.items() if value) or "none but the defaults"
    off = "".join(f"; off: `{gate}`" for gate, value in gates.items() if not value)
    broken, of = counted
    yield f"### {finding.title}"
    yield ""
    yield f"![{trace_of(finding).clause}](pictures/{finding.picture_file.name})"
    yield ""
    yield finding.happens
    yield ""
    yield f"- promise `{name}`{f' {aspect}' if aspect else ''}: {promise.claim} ({', '.join(promise.cites)})"
    yield f"- gates: {on}{off}"
    world = f"[{finding.world_file.name}](../{finding.world_file.as_posix()})"
    yield f"- shows {_mode(finding)} in {broken} of {of} runs: {world}"
    yield f"- status: {finding.status}. {finding.said}"
    if finding.see:
        yield f"- see {', '.join(finding.see)}"
    if finding.near:
        yield f"- in [semantics.md](semantics.md): {', '.join(finding.near)}"
    yield ""
