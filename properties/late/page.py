"""The part of `docs/lag.md` that tells which promises hold only where nobody lags, and its pictures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gangproof.counterexamples import picture
from gangproof.properties.late.stale import Looked, Run, Stale


def section(stale: Stale) -> str:
    """A table with a row for each shortest run, and each of these drawn, in Markdown."""
    rows = [(one, runs) for one in stale.looked for runs in distinct(one)]
    lines = [
        "| promise | view | what is late | what happens | stale reads | steps | states |",
        "|---|---|---|---|---|---|---|",
        *(_row(one, runs) for one, runs in rows),
        "",
        *(line for _, runs in rows for line in _drawn(runs)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def distinct(one: Looked) -> list[list[Run]]:
    """The runs of a case, those together that are the same run and break several promises."""
    return [list(same) for _, same in groupby(one.runs, key=lambda run: run.path)]


def picture_name(run: Run) -> str:
    """The file in which the run is drawn."""
    return f"lag-{run.promise.lower()}-{run.case.name}.svg"


def draw(run: Run) -> str:
    """The run as SVG: the first frame, and the last two."""
    return picture(run.trace())


def _row(one: Looked, runs: list[Run]) -> str:
    first, case = runs[0], one.case
    promises = ", ".join(run.promise for run in runs)
    numbers = f"{first.stale_reads} | {len(first.path)} | {one.late.states:,}"
    return f"| {promises} | `{case.view}` | {case.late} | {case.happens} | {numbers} |"


def _drawn(runs: list[Run]) -> Iterator[str]:
    first = runs[0]
    text = f"{first.promise}: {first.case.late}; {first.case.happens}"
    yield f"![{text}](pictures/{picture_name(first)})"
    yield ""
