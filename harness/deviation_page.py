"""The page that says of every known deviation of v1.36.3 what it is; `docs/deviations.md` is made of it.

What is modelled is told by the deviations themselves, the rest by the table of docs/semantics.md: rows that are
the same in both profiles with the reason that stands there, and rows that are not modelled with ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.impl.deviations import DEVIATIONS, Deviation
from gangproof.rulebook import SAME, Rule, reasons, rules, same

HEAD = """# Deviations

v1.36.3 does not keep every promise. A deviation is a promise, what v1.36.3 does instead, and the change that makes
the reference implementation do so too: the profile *v1.36.3* is *intended* with all of these changes. Each is shown
by a smallest scenario in `scenarios/`, or by a test in `tests/impl/test_deviations.py`: with the change it occurs,
without it it does not. A *race* strikes or not by relative timing alone.

This page is made from the code and checked by a test.
"""


def rows() -> dict[str, Rule]:
    """The rows of the table of deviations by id, in order."""
    return {name: rule for name, rule in rules().items() if name.startswith("DEV-")}


def page() -> str:
    """The page in Markdown."""
    listed = rows()
    modelled = {deviation.id for deviation in DEVIATIONS}
    alike = [row for row in listed.values() if same(row)]
    missing = [row for name, row in listed.items() if name not in modelled and not same(row)]
    lines = [
        HEAD,
        f"{len(DEVIATIONS)} are modelled, {len(alike)} are the same in both profiles, and {len(missing)} are "
        "not modelled.",
        "",
        "| id | what v1.36.3 does | breaks | race | shown by |",
        "|---|---|---|---|---|",
        *(_row(deviation) for deviation in DEVIATIONS),
        "",
        "## What they are",
        "",
        *(line for deviation in DEVIATIONS for line in _told(deviation)),
        "## The same in both profiles",
        "",
        "| id | expected | v1.36.3 | why it stays |",
        "|---|---|---|---|",
        *(_cells(row, _why_same(row)) for row in alike),
        "",
        "## Not modelled",
        "",
        "| id | expected | v1.36.3 | why |",
        "|---|---|---|---|",
        *(_cells(row, reasons()[row.id]) for row in missing),
    ]
    return "\n".join(lines) + "\n"


def _row(deviation: Deviation) -> str:
    race = "yes" if deviation.race else "no"
    return f"| {deviation.id} | {deviation.shipped} | {', '.join(deviation.breaks)} | {race} | {_shown(deviation)} |"


def _shown(deviation: Deviation) -> str:
    return f"`{deviation.scenario}`" if deviation.scenario else "a test"


def _told(deviation: Deviation) -> Iterator[str]:
    yield f"### {deviation.id}"
    yield ""
    yield f"- promise: {deviation.promise}"
    yield f"- v1.36.3: {deviation.shipped}"
    yield f"- intended: {deviation.intended}"
    yield f"- breaks: {', '.join(deviation.breaks)}"
    yield f"- rules: {', '.join(deviation.rules)}"
    yield f"- steps: {', '.join(f'`{step}`' for step in deviation.change.wraps)}"
    yield ""


def _cells(row: Rule, why: str) -> str:
    cells = dict(row.cells)
    told = (row.id, cells["doc / expectation"], cells["v1.36.3"], why)
    escaped = " | ".join(cell.replace("|", r"\|") for cell in told)
    return f"| {escaped} |"


def _why_same(row: Rule) -> str:
    return same(row).removeprefix(SAME).lstrip(": ")
