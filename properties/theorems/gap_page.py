"""The page that tells how far the chosen victims are from the best ones, `docs/victims.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gangproof.impl.preemption.units import Unit
from gangproof.properties.theorems.crowds import UNIT
from gangproof.properties.theorems.gaps import KINDS, Chooser, Gap, Gaps
from gangproof.properties.theorems.theorem import Case

HEAD = """# How far victims are from the best

Nobody promises the best victims. Here the choice of the reference scheduler (profile *intended*) is held against an
exact search: every set of weaker units is tried, and whether all pending pods fit without it is answered by a search
that shares nothing with the scheduler's. For each way in which the choice may fall short the smallest world is told
(by objects, then CPUs of nodes, then CPUs of pods) in which, by some fall of the ties, it does; *none* means that no
world of the scope has such a gap. That more or stronger ones go is told only where none of the chosen ones could
simply stay.

This page is made from the code and checked by a test. The theorems behind it are THM-12 to THM-14
([limits](limits.md)).
"""


def page(sections: Sequence[str]) -> str:
    """The page in Markdown, of the sections of all choosers."""
    return "\n".join([HEAD, *sections]).rstrip() + "\n"


def section(chooser: Chooser, found: Gaps) -> str:
    """What was found for one chooser of victims."""
    lines = [
        f"## Chosen for {chooser.name}",
        "",
        f"Looked at: {found.cases:,} worlds; {chooser.scope}.",
        "",
        "| gap | smallest world | evicted | would do |",
        "|---|---|---|---|",
        *(_row(kind.name, found.found.get(kind.name)) for kind in KINDS),
        "",
    ]
    return "\n".join(lines)


def _row(kind: str, gap: Gap | None) -> str:
    if gap is None:
        return f"| {kind} | none | | |"
    return f"| {kind} | {'; '.join(_world(gap.case))} | {_units(gap.chosen)} | {_units(gap.better)} |"


def _units(units: Sequence[Unit]) -> str:
    return ", ".join(key.partition("/")[2] for unit in units for key in unit.keys) or "nobody"


def _world(case: Case) -> Iterator[str]:
    """The world in words: each node with who runs there, a unit, and who comes."""
    for node in case.nodes:
        there = [p for p in case.pods if p.node_name == node.name]
        told = ", ".join(f"{p.name} ({_cpus(p.requests['cpu'])}, priority {p.priority})" for p in there)
        yield f"{node.name} of {_cpus(node.allocatable['cpu'])} with {told or 'nobody'}"
    unit = [p.name for p in case.pods if p.scheduling_group == UNIT]
    if unit:
        yield f"{' and '.join(unit)} go together"
    pending = [p for p in case.pods if p.node_name is None]
    yield "comes: " + ", ".join(f"{p.name} ({_cpus(p.requests['cpu'])})" for p in pending)


def _cpus(amount: int) -> str:
    return f"{amount // 1000} CPU"
