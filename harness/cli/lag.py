"""`gangproof lag`: which promises hold only where nobody goes by an old view, each with a shortest run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangproof.cli.forms import Output
from gangproof.cli.pictures import save
from gangproof.cli.terminal import UsageError, command, emit, tell

if TYPE_CHECKING:
    from gangproof.properties.late.stale import Stale


@command
def lag(
    context: typer.Context,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[PROMISE…]", help="Promises, such as INV-05; default: all.")
    ] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
    draw: Annotated[
        Path | None,
        typer.Option(
            "--draw", metavar="DIR", file_okay=False, help="Save a picture and a page of each run there."
        ),
    ] = None,
) -> int:
    """Search for the shortest run that breaks a promise of what is stored only because somebody goes by an old view.

    How old views are is measured in stale reads: how often somebody decides by a view that is behind. For your own
    manifests there is gangproof check --lag K.

    Example: gangproof lag INV-05 --draw out/
    """
    from gangproof.properties.late.lag import ASKED
    from gangproof.properties.late.stale import look

    for name in ids or ():
        if name.upper() not in ASKED:
            raise UsageError(f"found {name!r}, expected one of {', '.join(ASKED)}")
    stale = look(ids or ())
    emit(_json(stale) if output is Output.JSON else str(stale))
    traces = [run.trace() for run in stale.runs] if draw is not None or len(stale.asked) == 1 else []
    if output is Output.TEXT and len(stale.asked) == 1:
        emit("".join(f"\n{trace}" for trace in traces))
    for line in save(traces, draw) if draw is not None else ():
        tell(line)
    return stale.verdict.exit_code


def _json(stale: Stale) -> str:
    from gangproof.report.machine import document

    return document(
        "LagReport",
        {
            "verdict": str(stale.verdict),
            "exitCode": stale.verdict.exit_code,
            "runs": [
                {
                    "promise": run.promise,
                    "world": run.case.name,
                    "view": run.case.view,
                    "late": run.case.late,
                    "happens": run.case.happens,
                    "staleReads": run.stale_reads,
                    "steps": len(run.path),
                    "message": run.violation.message,
                }
                for run in stale.runs
            ],
            "kept": list(stale.kept),
            "worlds": [
                {
                    "world": one.case.name,
                    "verdict": str(one.verdict),
                    "statesPrompt": one.prompt.states,
                    "statesLate": one.late.states,
                    "stop": one.late.stop,
                }
                for one in stale.looked
            ],
        },
    )
