"""`gangproof faults`: known mistakes of schedulers, each switched on, and which property catches it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gangproof.cli.forms import Output
from gangproof.cli.pictures import save
from gangproof.cli.terminal import UsageError, command, emit, progress, tell

if TYPE_CHECKING:
    from gangproof.faults import FaultReport, Trial


@command
def faults(
    context: typer.Context,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[FAULT…]", help="Faults, such as F-01; default: all.")
    ] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
    draw: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            metavar="DIR",
            file_okay=False,
            help="Save a picture and a page of what caught each fault there.",
        ),
    ] = None,
    processes: Annotated[int, typer.Option(min=1, help="Faults to try at the same time.")] = 1,
) -> int:
    """Switch known mistakes of schedulers on, one by one, and see which property catches each.

    Example: gangproof faults F-01 --draw out/
    """
    from gangproof.faults import chosen, trace_of, try_faults

    try:
        names = [fault.id for fault in chosen(ids or ())]
    except KeyError as error:
        raise UsageError(f"found {error.args[0]!r}, expected a fault such as F-01") from None
    with progress("gangproof faults") as watch:
        report = try_faults(names, processes=processes, watch=watch)
    emit(_json(report) if output is Output.JSON else str(report))
    alone = output is Output.TEXT and len(report.trials) == 1
    if alone or draw is not None:
        traces = [trace for trial in report.trials if (trace := trace_of(trial)) is not None]
        if alone:
            emit("".join(f"\nWith {report.trials[0].result.id} switched on:\n\n{trace}" for trace in traces))
        for line in save(traces, draw) if draw is not None else ():
            tell(line)
    return report.exit_code


def _json(report: FaultReport) -> str:
    from gangproof.report.machine import document

    return document(
        "FaultReport",
        {
            "verdict": str(report.verdict),
            "exitCode": report.exit_code,
            "seconds": round(report.seconds, 3),
            "faults": [_fields(trial) for trial in report.trials],
            "falseAlarms": [
                {"fault": trial.result.id, "property": alarm.property, "message": alarm.message}
                for trial in report.trials
                for alarm in trial.off.alarms
            ],
            "unfinished": list(report.unfinished),
        },
    )


def _fields(trial: Trial) -> dict[str, Any]:
    result = trial.result
    return {
        "id": result.id,
        "name": result.name,
        "verdict": str(trial.verdict),
        "killedBy": result.killed_by,
        "engine": result.engine,
        "depth": result.depth,
        "states": result.states,
        "message": result.message,
        "cutShort": list(dict.fromkeys((*result.unfinished, *trial.off.unfinished))),
        "seconds": round(result.seconds, 3),
    }
