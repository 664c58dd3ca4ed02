"""`gangproof prove`: the contract, every promise by every action, for every size of cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gangproof.cli.forms import Output
from gangproof.cli.pictures import write
from gangproof.cli.terminal import UsageError, command, emit, progress, tell

if TYPE_CHECKING:
    from gangproof.proofs import ProofReport
    from gangproof.spec import Obligation


@command
def prove(
    context: typer.Context,
    invariants: Annotated[
        list[str] | None, typer.Argument(metavar="[INV…]", help="Invariants, such as INV-01; default: all.")
    ] = None,
    contract: Annotated[
        Path | None,
        typer.Option(metavar="FILE.py", help="A changed contract: a Python file that defines `contract`."),
    ] = None,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Show how each invariant breaks without its clause.")
    ] = False,
    smt_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save each obligation there as SMT-LIB 2.")
    ] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
) -> int:
    """Prove the contract by induction, for every number of pods, nodes, groups and claims.

    Example: gangproof prove INV-01 INV-03 --mutants
    """
    from gangproof.proofs import prove as prove_contract
    from gangproof.spec import CONTRACT, load

    try:
        whole = CONTRACT if contract is None else load(contract)
    except ValueError as error:
        raise UsageError(f"--contract: {error}") from None
    wanted, known = [name.upper() for name in invariants or ()], [one.id for one in whole.invariants]
    for name in wanted:
        if name not in known:
            raise UsageError(f"no invariant {name!r}; there are {', '.join(known)}")

    def answered(obligation: Obligation, number: int) -> None:
        watch(f"{number} obligations, {obligation}")

    with progress("gangproof prove") as watch:
        report = prove_contract(wanted, contract=whole, watch=answered)
    if smt_dir is not None:
        tell(f"saved: {_save(report, smt_dir)} obligations in {smt_dir}")
    if output is Output.JSON:
        emit(_json(report))
        return report.exit_code
    if sys.stdout.isatty() and not invariants:
        _table(report)
    else:
        emit("\n".join(_matrix(report)))
    emit("\n".join(("", *_controls(report, mutants), "", str(report))))
    return report.exit_code


def _cells(report: ProofReport) -> dict[tuple[str, str], Obligation]:
    """The obligations of the proof by action, or `at rest`, and invariant."""
    return {(o.action or "at rest", o.subject): o for o in report.induction}


def _cell(obligation: Obligation | None) -> str:
    if obligation is None:
        return ""
    if obligation.trivial:
        return "·"
    milliseconds = f"{obligation.seconds * 1000:.0f}"
    return milliseconds if obligation.fine else obligation.verdict


def _axes(report: ProofReport) -> tuple[list[str], list[str]]:
    cells = _cells(report)
    return list(dict.fromkeys(a for a, _ in cells)), list(dict.fromkeys(i for _, i in cells))


def _matrix(report: ProofReport) -> Iterator[str]:
    """The matrix as plain text."""
    cells = _cells(report)
    actions, subjects = _axes(report)
    first = max((len(name) for name in actions), default=0)
    widths = [max(len(s), *(len(_cell(cells.get((a, s)))) for a in actions)) for s in subjects]
    yield "milliseconds by action and invariant; · where the action touches nothing that it reads"
    yield f"{'':<{first}}  " + "  ".join(f"{s:>{w}}" for s, w in zip(subjects, widths, strict=True))
    for action in actions:
        row = (f"{_cell(cells.get((action, s))):>{w}}" for s, w in zip(subjects, widths, strict=True))
        yield f"{action:<{first}}  " + "  ".join(row)


def _table(report: ProofReport) -> None:
    """The matrix as a table on the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = _cells(report)
    actions, subjects = _axes(report)
    table = Table(title="milliseconds by action and invariant", box=None, pad_edge=False, padding=(0, 1))
    table.add_column("")
    for subject in subjects:
        table.add_column(subject.removeprefix("INV-"), justify="right", no_wrap=True)
    for action in actions:
        row = [cells.get((action, subject)) for subject in subjects]
        table.add_row(
            action,
            *(Text(_cell(o), style="red bold" if o is not None and not o.fine else "") for o in row),
        )
    Console().print(table)


def _controls(report: ProofReport, in_full: bool) -> Iterator[str]:
    """Witnesses and mutants by invariant; in full, with the counterexample of each mutant."""
    for obligation in report.controls:
        if obligation.question not in ("witness", "mutant"):
            continue
        invariant = report.contract.invariant(obligation.subject)
        control = invariant.witness if obligation.question == "witness" else invariant.mutant
        answer = "" if obligation.fine else f" — {obligation.verdict}"
        good = "reached" if obligation.question == "witness" else "caught"
        state = good if obligation.fine else f"not {good}"
        yield f"{obligation.question:<8} {obligation.subject}  {state}: {control.words}{answer}"
        if in_full and obligation.question == "mutant" and obligation.counterexample:
            yield from (f"    {line}" for line in obligation.counterexample.splitlines())


def _fields(report: ProofReport, obligation: Obligation) -> dict[str, Any]:
    return {
        "invariant": report.name(obligation.subject),
        "action": obligation.action or None,
        "question": obligation.question,
        "verdict": obligation.verdict,
        "expected": obligation.expected,
        "trivial": obligation.trivial,
        "seconds": round(obligation.seconds, 6),
        "counterexample": obligation.counterexample,
    }


def _json(report: ProofReport) -> str:
    from gangproof.report.machine import document

    return document(
        "ProofReport",
        {
            "verdict": str(report.verdict),
            "exitCode": report.exit_code,
            "seconds": round(report.seconds, 3),
            "interrupted": report.interrupted,
            "obligations": [_fields(report, o) for o in report.induction],
            "controls": [_fields(report, o) for o in report.controls],
        },
    )


def _save(report: ProofReport, folder: Path) -> int:
    """Save what was asked of the solver; gives the number of files."""
    from gangproof.spec import smtlib

    asked = [o for o in report.obligations if o.assertions]
    for number, obligation in enumerate(asked, 1):
        name = "-".join(filter(None, (obligation.question, obligation.subject, obligation.action)))
        write(folder / f"{number:04}-{name}.smt2", smtlib(obligation))
    return len(asked)
