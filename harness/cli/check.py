"""`gangproof check`: manifests and scenario files in, a verdict out, and pictures of what breaks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangproof.cli.pictures import save
from gangproof.cli.terminal import UsageError, command, emit, progress, tell

if TYPE_CHECKING:
    from gangproof.report import Report


class Output(StrEnum):
    """The forms of the answer; those after `github` show the first counterexample."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"
    SVG = "svg"
    PNG = "png"
    HTML = "html"
    DOT = "dot"
    MERMAID = "mermaid"
    ITF = "itf"
    SCENARIO = "scenario"
    PYTEST = "pytest"


Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE…]", help="Manifests, *.scenario.yaml files, folders, or - for standard input."
    ),
]
Filenames = Annotated[
    list[str] | None,
    typer.Option("-f", "--filename", metavar="FILE", help="The same as a FILE argument; can be repeated."),
]


def gates_option(text: str) -> tuple[tuple[str, bool], ...]:
    """The value of `--feature-gates` as pairs. Raises UsageError."""
    gates: list[tuple[str, bool]] = []
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if value.lower() not in ("true", "false"):
            raise UsageError(f"--feature-gates: found {part!r}, expected NAME=true or NAME=false")
        gates.append((name.strip(), value.lower() == "true"))
    return tuple(gates)


@command
def check(
    context: typer.Context,
    paths: Paths = None,
    filenames: Filenames = None,
    namespace: Annotated[
        str, typer.Option("-n", "--namespace", help="The namespace of objects that name none.")
    ] = "default",
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
    draw: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            metavar="DIR",
            file_okay=False,
            help="Save a picture and a page of each counterexample there.",
        ),
    ] = None,
    profile: Annotated[str, typer.Option(help="Whose behaviour: intended, or v1.36.3.")] = "intended",
    feature_gates: Annotated[
        str,
        typer.Option(metavar="A=true,B=false", help="Switch feature gates; default: those the files need."),
    ] = "",
    kubernetes_version: Annotated[
        str, typer.Option(metavar="VERSION", help="Whose rules; 1.36 is the only one.")
    ] = "1.36",
    any_order: Annotated[
        bool,
        typer.Option("--any-order", help="Pods and groups may arrive in any order, not as in the files."),
    ] = False,
    failures: Annotated[int, typer.Option(min=0, help="So many binds may fail.")] = 0,
    deletions: Annotated[
        int, typer.Option(min=0, help="So many pods or groups may be deleted by users.")
    ] = 0,
    lag: Annotated[
        int, typer.Option(min=0, metavar="K", help="Scheduler and controllers may be K changes behind.")
    ] = 0,
    restarts: Annotated[int, typer.Option(min=0, help="So often the scheduler may start anew.")] = 0,
    recreate: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="So many objects may go and come again under their name: those that have no owner, "
            "and are no classes, templates or slices.",
        ),
    ] = 0,
    liveness: Annotated[
        bool, typer.Option("--liveness", help="Look for fair runs that never keep a promise, too.")
    ] = False,
    max_states: Annotated[
        int, typer.Option(min=1, help="States to look at, for manifests and each scenario.")
    ] = 200_000,
    timeout: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="End after so much time.")
    ] = None,
    processes: Annotated[int, typer.Option(min=1, help="Scenarios to judge at the same time.")] = 1,
) -> int:
    """Explore everything the scheduler may do with manifests, and judge scenario files.

    Example: gangproof check -f deploy/ --any-order --failures 1 --draw out/
    """
    from gangproof.api import check_sources, collect
    from gangproof.checking import Options

    if kubernetes_version.removeprefix("v") != "1.36":
        raise UsageError(f"--kubernetes-version: found {kubernetes_version!r}, expected 1.36")
    sources = [*(paths or ()), *(filenames or ())]
    if not sources:
        raise UsageError("found no files, expected FILE… or -f FILE; see gangproof check --help")
    options = Options(
        profile=profile,
        gates=gates_option(feature_gates),
        any_order=any_order,
        failures=failures,
        deletions=deletions,
        lag=lag,
        restarts=restarts,
        recreations=recreate,
        liveness=liveness,
        max_states=max_states,
        seconds=timeout,
        processes=processes,
    )
    with progress("gangproof check") as watch:
        collected = collect(sources, namespace)
        try:
            report = check_sources(collected, options, watch)
        except ValueError as error:
            raise UsageError(str(error)) from None
    _show(report, output, draw)
    return report.exit_code


def _show(report: Report, output: Output, folder: Path | None) -> None:
    from gangproof.report import FORMATS

    if output.value in FORMATS:
        emit(FORMATS[output.value](report))
    elif report.trace is None:
        tell(f"{report.verdict}: there is no counterexample to show as {output.value}")
    else:
        from gangproof.counterexamples import draw

        emit(draw(report.trace, output.value))
    if folder is not None:
        for line in save(report.traces, folder):
            tell(line)
        if not report.traces:
            tell("there is no counterexample to draw")
    elif output is Output.TEXT and report.traces:
        tell("to see it drawn, add --draw DIR or -o svg; -o scenario gives a file that shows the same")
