"""`gangproof explain`: why a group or a pod is where it is, whom it would evict, and what would help."""

from __future__ import annotations

from typing import Annotated

import typer

from gangproof.cli.check import Filenames, gates_option
from gangproof.cli.forms import Output
from gangproof.cli.terminal import UsageError, command, emit, progress


@command
def explain(
    context: typer.Context,
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE…] WHAT",
            help="Manifests, dumps, *.scenario.yaml files, folders, or - for standard input; "
            "then podgroup/NAME or pod/NAME.",
        ),
    ],
    filenames: Filenames = None,
    namespace: Annotated[
        str, typer.Option("-n", "--namespace", help="The namespace of WHAT, and of objects that name none.")
    ] = "default",
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
    profile: Annotated[str, typer.Option(help="Whose behaviour: intended or v1.36.3.")] = "intended",
    feature_gates: Annotated[
        str,
        typer.Option(metavar="A=true,B=false", help="Switch feature gates; default: those the files need."),
    ] = "",
    step: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="In scenarios: after so many steps instead of at the end."),
    ] = None,
    max_states: Annotated[int, typer.Option(min=1, help="States to look at, for each scenario.")] = 200_000,
    timeout: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="End after so much time.")
    ] = None,
) -> int:
    """Tell why a PodGroup or a pod waits: gate, queue, quorum, nodes, evictions, the smallest change that helps.

    Example: kubectl get nodes,pods,podgroups -A -o json | gangproof explain - podgroup/training
    """
    from gangproof.api import collect, explain_sources
    from gangproof.checking import Options
    from gangproof.explaining import target_of
    from gangproof.properties.explanation import UnknownNameError

    *files, what = arguments
    sources = [*files, *(filenames or ())]
    if not sources:
        raise UsageError("found no files, expected FILE… podgroup/NAME; see gangproof explain --help")
    options = Options(
        profile=profile, gates=gates_option(feature_gates), max_states=max_states, seconds=timeout
    )
    try:
        target = target_of(what, namespace)
        with progress("gangproof explain") as watch:
            found = explain_sources(collect(sources, namespace), target, options, step, watch)
    except (UnknownNameError, ValueError) as error:
        raise UsageError(str(error)) from None
    emit(found.json() if output is Output.JSON else str(found))
    return found.exit_code
