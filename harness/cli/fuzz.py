"""`gangproof fuzz`: random runs of worlds too large to exhaust, every step judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangproof.cli.forms import Output
from gangproof.cli.pictures import save
from gangproof.cli.terminal import UsageError, command, emit, progress, tell

if TYPE_CHECKING:
    from gangproof.fuzzing import FuzzReport


@command
def fuzz(
    context: typer.Context,
    seconds: Annotated[float, typer.Option(help="How long to try; at least some runs are made.")] = 30.0,
    seed: Annotated[
        int, typer.Option(help="Another seed tries other runs; the same seed tries the same.")
    ] = 0,
    profile: Annotated[
        str, typer.Option(help="Whose behaviour: intended, or v1.36.3 (not supported yet).")
    ] = "intended",
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
    draw: Annotated[
        Path | None,
        typer.Option(
            "--draw", metavar="DIR", file_okay=False, help="Save a picture and a page of what is found there."
        ),
    ] = None,
) -> int:
    """Try random clusters, arrivals, failures and interleavings, and judge every step.

    Example: gangproof fuzz --seconds 60 --seed 7
    """
    from gangproof.fuzzing import run_for

    with progress("gangproof fuzz") as watch:
        try:
            report = run_for(seconds, seed=seed, profile=profile, watch=watch)
        except ValueError as error:
            raise UsageError(str(error)) from None
    emit(_json(report) if output is Output.JSON else str(report))
    trace = report.finding.trace if report.finding is not None else None
    if draw is not None:
        for line in save([trace] if trace is not None else [], draw):
            tell(line)
    elif trace is not None and output is Output.TEXT:
        tell("to see it drawn, add --draw DIR")
    return report.exit_code


def _json(report: FuzzReport) -> str:
    from gangproof.report.machine import document, finding_fields

    return document(
        "FuzzReport",
        {
            "kubernetes": "1.36",
            "profile": report.profile,
            "verdict": str(report.verdict),
            "exitCode": report.exit_code,
            "seed": report.seed,
            "seconds": round(report.seconds, 3),
            "runs": report.runs,
            "actions": report.actions,
            "missed": list(report.missed),
            "interrupted": report.interrupted,
            "finding": None if report.finding is None else finding_fields(report.finding),
            "whyNot": report.why_not or None,
        },
    )
