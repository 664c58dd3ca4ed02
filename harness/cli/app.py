"""The commands of `gangproof`, put together; each has a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from gangproof.cli.check import check
from gangproof.cli.conform import app as conform
from gangproof.cli.draw import draw
from gangproof.cli.explain import explain
from gangproof.cli.faults import faults
from gangproof.cli.fuzz import fuzz
from gangproof.cli.lag import lag
from gangproof.cli.prove import prove
from gangproof.cli.rules import rules
from gangproof.cli.terminal import Session, emit

CONTEXT = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="gangproof",
    help="Check the Kubernetes v1.36 PodGroup scheduling rules: on your manifests, in proofs, in scenarios.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
    epilog="Exit codes: 0 holds, 1 violated, 2 usage or unreadable input, 3 inconclusive, 4 vacuous, "
    "5 nothing was checked, 70 internal error.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        emit(f"gangproof {version('gangproof')} (Kubernetes 1.36)")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    context.obj = Session(debug)


for function in (check, explain, prove, fuzz, faults, lag, draw, rules):
    app.command(context_settings=CONTEXT)(function)
app.add_typer(conform, name="conform", context_settings=CONTEXT)
