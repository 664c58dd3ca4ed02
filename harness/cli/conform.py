"""`gangproof conform`: another scheduler, or what one was recorded to do, held against the model and the promises."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangproof.cli.forms import Output
from gangproof.cli.pictures import save, write
from gangproof.cli.terminal import UsageError, command, emit, progress, tell

if TYPE_CHECKING:
    from gangproof.adapters.agreement import Program
    from gangproof.adapters.protocol import Adapter
    from gangproof.adapters.record import Run
    from gangproof.adapters.report import AdapterReport
    from gangproof.properties.scenarios.document import Scenario


class Features(StrEnum):
    """What random worlds are full of."""

    CORE = "core"
    PREEMPTION = "preemption"
    TOPOLOGY = "topology"
    CLAIMS = "claims"
    TEMPLATES = "templates"


class AdapterOutput(StrEnum):
    """The forms of the answer about a scheduler that was run."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


CONTEXT = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(help="Hold another scheduler against the scenarios and the promises.", no_args_is_help=True)
Files = Annotated[
    list[str] | None, typer.Argument(metavar="[FILE.scenario.yaml…]", help="Scenario files to run.")
]
Timeout = Annotated[
    float, typer.Option(min=0.1, metavar="SECONDS", help="Wall time after which an answer is a hang.")
]
Draw = Annotated[
    Path | None,
    typer.Option(
        "--draw", metavar="DIR", file_okay=False, help="Save a picture and a page of each difference there."
    ),
]
Form = Annotated[AdapterOutput, typer.Option("-o", "--output", help="The form of the answer.")]


@app.callback()
def conform() -> None:
    """Hold another scheduler against the scenarios and the promises."""


@app.command("kube-scheduler", context_settings=CONTEXT)
@command
def kube_scheduler(
    context: typer.Context,
    files: Files = None,
    binary: Annotated[
        Path | None,
        typer.Option(
            "--binary",
            metavar="PATH",
            help="The program that make kube-scheduler makes; or $GANGPROOF_KUBE_SCHEDULER.",
        ),
    ] = None,
    timeout: Timeout = 60.0,
    output: Form = AdapterOutput.TEXT,
    draw: Draw = None,
    promises: Annotated[
        bool,
        typer.Option(
            "--promises", help="Judge by the promises of the KEPs alone: random worlds, or world files."
        ),
    ] = False,
    worlds: Annotated[
        int | None,
        typer.Option(
            "--worlds",
            min=1,
            metavar="N",
            help="So many random worlds, followed by the model. [--promises: 100]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="The seed of the random worlds.")] = 1,
    features: Annotated[
        Features, typer.Option("--features", help="What the worlds that the model follows are full of.")
    ] = Features.CORE,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            min=1,
            metavar="P",
            help="So many worlds at the same time. [default: one for each core, 8 at most]",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE.jsonl",
            help="Save recorded runs of the worlds, or of the scenarios, for conform recorded.",
        ),
    ] = None,
    runs: Annotated[
        int,
        typer.Option("--runs", min=1, metavar="N", help="With --promises: so many runs of each world file."),
    ] = 20,
) -> int:
    """Run the real kube-scheduler v1.36.3, and tell where it does not do as scenarios, model or promises say.

    Scenario files run many times each. With --worlds random worlds run, and the model follows each run event by
    event; with --promises no model is asked.

    Example: gangproof conform kube-scheduler --worlds 1000 --seed 7 --draw out/
    """
    from gangproof.adapters.agreement import Program
    from gangproof.adapters.conform import conform
    from gangproof.adapters.documents import plain_runs
    from gangproof.adapters.json_lines import JsonLines
    from gangproof.adapters.kube_scheduler import NotBuiltError, find
    from gangproof.adapters.protocol import AdapterError

    try:
        program = find(binary)
    except NotBuiltError as error:
        raise UsageError(str(error)) from None
    if worlds is not None and not promises:
        if files:
            raise UsageError("found scenario files and --worlds, expected one of them")
        started = Program((str(program),), timeout)
        return _agreement(started, (features, seed, worlds), processes, keep, output, draw)
    adapter = JsonLines([str(program)], timeout)
    if promises:
        if output is not AdapterOutput.TEXT:
            raise UsageError(f"--promises: found -o {output.value}, expected -o text")
        try:
            return _promises(adapter, files or [], range(seed, seed + (worlds or 100)), runs, draw)
        except AdapterError as error:
            raise UsageError(f"{program}: {error}") from None
        finally:
            adapter.close()
    documents = _documents(files)
    with progress("gangproof conform kube-scheduler") as watch:
        try:
            report = conform(adapter, documents, watch=watch)
            runs_of_files = list(plain_runs(adapter, documents, watch)) if keep is not None else []
        except AdapterError as error:
            raise UsageError(f"{program}: {error}") from None
        finally:
            adapter.close()
    if keep is not None:
        _keep(runs_of_files, keep)
    return _show(report, output, draw)


def _keep(runs: Iterable[Run], file: Path) -> None:
    """Save recorded runs, one a line."""
    lines = (json.dumps(run, separators=(",", ":"), sort_keys=True) + "\n" for run in runs)
    write(file, "".join(lines))


def _agreement(
    program: Program,
    drawn: tuple[Features, int, int],
    processes: int | None,
    keep: Path | None,
    output: AdapterOutput,
    draw: Path | None,
) -> int:
    """Random worlds of these features, seed and number, each run once and followed by the model."""
    from gangproof.adapters.agreement import agree
    from gangproof.adapters.protocol import AdapterError
    from gangproof.properties.conformance.report import traces_of
    from gangproof.properties.conformance.worlds import draw as world
    from gangproof.report.conformance import FORMATS

    features, seed, number = drawn
    worlds = [world(features.value, seed, n) for n in range(number)]
    with progress("gangproof conform kube-scheduler --worlds") as watch:
        try:
            found = agree(program, worlds, processes=processes or _cores(), watch=watch)
        except AdapterError as error:
            raise UsageError(f"{program.command[0]}: {error}") from None
    if keep is not None:
        _keep(found.runs, keep)
    emit(FORMATS[output.value](found.report))
    for line in save(traces_of(found.report), draw) if draw is not None else ():
        tell(line)
    return found.report.verdict.exit_code


def _cores() -> int:
    """How many processes this machine has room for."""
    import os

    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 8)


def _promises(adapter: Adapter, files: list[str], seeds: range, runs: int, draw: Path | None) -> int:
    """World files, each run many times, or random worlds, one for each seed, each run once."""
    from gangproof.adapters.search import repeat, search
    from gangproof.load.worlds import load_worlds
    from gangproof.properties.observed.worlds import world

    given = [one for file in files for one in load_worlds(file)]
    with progress("gangproof conform kube-scheduler --promises") as watch:
        if files:
            found = repeat(adapter, given, runs, watch=watch)
        else:
            found = search(adapter, map(world, seeds), watch=watch)
    emit(str(found))
    traces = [one.trace for one in found.found if one.trace is not None]
    for line in save(traces, draw) if draw is not None else ():
        tell(line)
    return found.verdict.exit_code


@app.command("adapter", context_settings=CONTEXT)
@command
def adapter_command(
    context: typer.Context,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODULE:CLASS] [FILE.scenario.yaml…]", help="The adapter, and what to run on it."
        ),
    ] = None,
    program: Annotated[
        str,
        typer.Option(
            "--command", metavar="COMMAND", help="A program that speaks JSON lines, instead of a class."
        ),
    ] = "",
    timeout: Timeout = 60.0,
    output: Form = AdapterOutput.TEXT,
    draw: Draw = None,
) -> int:
    """Run scenarios on a scheduler of your own, and tell which promises of the KEPs it breaks.

    Example: gangproof conform adapter mine:Scheduler mine.scenario.yaml
    """
    from gangproof.adapters.conform import conform
    from gangproof.adapters.promises import NAMES, run_by_promises
    from gangproof.adapters.protocol import AdapterError

    named = list(arguments or ())
    adapter = _adapter(program, named, timeout)
    documents = _documents(named)
    with progress("gangproof conform adapter") as watch:
        try:
            report = conform(adapter, documents, run_by_promises, watch, NAMES)
        except AdapterError as error:
            raise UsageError(str(error)) from None
        finally:
            adapter.close()
    return _show(report, output, draw)


def _adapter(program: str, named: list[str], timeout: float) -> Adapter:
    """The program, or the class that comes first in the arguments and is taken from them."""
    from gangproof.adapters.in_process import InProcess, NotAnAdapterError, find_class
    from gangproof.adapters.json_lines import JsonLines

    if program:
        try:
            return JsonLines(shlex.split(program), timeout)
        except ValueError as error:
            raise UsageError(f"--command: found {program!r}, which cannot be split: {error}") from None
    if not named or ":" not in named[0]:
        raise UsageError("found no adapter, expected MODULE:CLASS or --command COMMAND")
    try:
        return InProcess(find_class(named.pop(0)))
    except NotAnAdapterError as error:
        raise UsageError(str(error)) from None


def _documents(files: list[str] | None) -> tuple[Scenario, ...]:
    from gangproof.load import load_scenarios

    if not files:
        raise UsageError("found no scenario files, expected FILE.scenario.yaml…")
    return tuple(document for file in files for document in load_scenarios(file))


def _show(report: AdapterReport, output: AdapterOutput, draw: Path | None) -> int:
    from gangproof.adapters.pictures import traces
    from gangproof.adapters.report import FORMATS

    emit(FORMATS[output.value](report))
    drawn = tuple(traces(report.documents, report.scheduler)) if draw is not None else ()
    for line in save(drawn, draw) if draw is not None else ():
        tell(line)
    return report.exit_code


@app.command(context_settings=CONTEXT)
@command
def recorded(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE.jsonl", help="Recorded runs, one a line, or - for standard input.")
    ],
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
    draw: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            metavar="DIR",
            file_okay=False,
            help="Save a picture and a page of each difference there.",
        ),
    ] = None,
) -> int:
    """Follow recorded runs of a real scheduler, event by event, and tell what the model would not have done.

    Example: gangproof conform recorded runs.jsonl --draw out/
    """
    from gangproof.load.recorded import load_recorded
    from gangproof.properties.conformance.follow import follow
    from gangproof.properties.conformance.followed import Followed
    from gangproof.properties.conformance.report import ConformanceReport, traces_of
    from gangproof.report.conformance import FORMATS

    recordings = load_recorded(file)
    with progress("gangproof conform recorded") as watch:
        runs: list[Followed] = []
        with suppress(KeyboardInterrupt):
            for number, recording in enumerate(recordings, 1):
                watch(f"{number} of {len(recordings)}")
                runs.append(follow(recording))
    report = ConformanceReport(tuple(runs), interrupted=len(runs) < len(recordings))
    emit(FORMATS[output.value](report))
    for line in save(traces_of(report), draw) if draw is not None else ():
        tell(line)
    return report.verdict.exit_code
