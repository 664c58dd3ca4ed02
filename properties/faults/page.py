"""The page that says of every known fault what became of it; `docs/faults.md` is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gangproof.properties.faults.fault import Fault
from gangproof.properties.faults.run import FaultResult

HEAD = """# Faults

A fault is a small, named change to a correct scheduler: one step does something other than the right thing.
Each is switched on in its smallest case, and one of the properties that are named for it must break, in some run;
each is switched off again, and then nothing may. A fault that no property catches shows a hole in the
properties or in the state that the model carries.

This page is made from the code and checked by a test. *depth* is the length of the run that shows it, from the
empty cluster, and *states* how many were looked at until then.
"""


def page(faults: Iterable[Fault], results: Mapping[str, FaultResult]) -> str:
    """The page in Markdown; `results` are by id, and every fault must have one."""
    listed = list(faults)
    caught = sum(results[fault.id].killed_by is not None for fault in listed)
    lines = [
        HEAD,
        f"{caught} of {len(listed)} faults are caught.",
        "",
        "| id | name | tier | steps | caught by | engine | depth | states |",
        "|---|---|---|---|---|---|---|---|",
        *(_row(fault, results[fault.id]) for fault in listed),
        "",
        "## What they are",
        "",
        *(line for fault in listed for line in _told(fault, results[fault.id])),
    ]
    return "\n".join(lines) + "\n"


def _row(fault: Fault, result: FaultResult) -> str:
    cells = (
        fault.id,
        f"`{fault.name}`",
        fault.tier,
        ", ".join(fault.steps),
        result.fate,
        result.engine,
        str(result.depth),
        str(result.states),
    )
    return f"| {' | '.join(cells)} |"


def _told(fault: Fault, result: FaultResult) -> Iterator[str]:
    yield f"### {fault.id} {fault.name}"
    yield ""
    yield f"{fault.change.text} Must be caught by {', '.join(fault.caught_by)}."
    yield ""
    yield f"- wrong: {fault.wrong}"
    yield f"- right: {fault.right}"
    yield f"- found: {result.message or 'nothing'}"
    yield f"- seen in: {fault.seen_in}"
    yield ""
