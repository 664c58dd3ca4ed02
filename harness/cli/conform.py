"""`gangproof conform`: another scheduler's behaviour held against the model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangproof.cli.pictures import save
from gangproof.cli.terminal import command, emit, progress, tell

if TYPE_CHECKING:
    from gangproof.properties.conformance.report import ConformanceReport


class Output(StrEnum):
    """The forms of the answer."""

    TEXT = "text"
    JSON = "json"


app = typer.Typer(
    help="Hold what another scheduler did against the model, in the profile v1.36.3.", no_args_is_help=True
)


@app.callback()
def conform() -> None:
    """Hold what another scheduler did against the model, in the profile v1.36.3."""


@app.command(context_settings={"help_option_names": ["-h", "--help"]})
@command
def recorded(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE.jsonl", help="Recorded runs, one a line, or - for standard input.")
    ],
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
    draw: Annotated[
        Path | None,
        typer.Option("--draw", metavar="DIR", help="Save a picture and a page of each difference there."),
    ] = None,
) -> int:
    """Follow recorded runs of a real scheduler, event by event, and tell what the model would not have done.

    Example: gangproof conform recorded runs.jsonl --draw out/
    """
    from gangproof.load.recorded import load_recorded
    from gangproof.properties.conformance.follow import Followed, follow
    from gangproof.properties.conformance.report import ConformanceReport, traces_of

    recordings = load_recorded(file)
    with progress("gangproof conform recorded") as watch:
        runs: list[Followed] = []
        for number, recording in enumerate(recordings, 1):
            watch(f"{number} of {len(recordings)}")
            runs.append(follow(recording))
    report = ConformanceReport(tuple(runs))
    emit(_json(report) if output is Output.JSON else str(report))
    for line in save(traces_of(report), draw) if draw is not None else ():
        tell(line)
    return report.verdict.exit_code


def _json(report: ConformanceReport) -> str:
    from gangproof.report.machine import document

    return document(
        "ConformanceReport",
        {
            "profile": "v1.36.3",
            "verdict": str(report.verdict),
            "exitCode": report.verdict.exit_code,
            "worlds": len(report.runs),
            "agree": len(report.agree),
            "unsupported": dict(report.unsupported),
            "events": report.events,
            "differences": [
                {
                    "name": run.name,
                    "event": run.difference.event,
                    "expected": list(run.difference.expected),
                    "found": run.difference.found,
                }
                for run in report.differ
                if run.difference is not None
            ],
        },
    )
