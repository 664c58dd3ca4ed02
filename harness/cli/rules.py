"""`gangproof rules`: what the rules say, and who implements, proves and tests each."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gangproof.cli.forms import Output
from gangproof.cli.terminal import UsageError, command, emit

if TYPE_CHECKING:
    from gangproof.rulebook import Standing


@command
def rules(
    context: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID…]", help="Rules, such as CYCLE-26, or families, such as INV."),
    ] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="The form of the answer.")] = Output.TEXT,
) -> int:
    """Show every rule and property, or some: the text, who carries it or judges by it, where it is proved and tested.

    Example: gangproof rules CYCLE-26
    """
    from gangproof import rulebook

    found = [rulebook.standing(name) for name in _chosen(ids or (), list(rulebook.rules()))]
    if output is Output.JSON:
        from gangproof.report.machine import document

        emit(document("RuleList", {"rules": [_fields(standing) for standing in found]}))
    elif ids and len(found) <= len(ids):
        emit("\n\n".join("\n".join(_in_full(standing)) for standing in found))
    else:
        emit("\n".join(_lines(found)))
    return 0


def _chosen(ids: Sequence[str], known: list[str]) -> list[str]:
    """The rules that are meant; a family stands for all of its rules. Raises UsageError."""
    if not ids:
        return known
    chosen: dict[str, None] = {}
    for wanted in ids:
        names = [name for name in known if name.upper() == wanted.upper()]
        names = names or [name for name in known if name.rpartition("-")[0] == wanted.upper()]
        if not names:
            families = ", ".join(sorted({name.rpartition("-")[0] for name in known}))
            raise UsageError(f"found {wanted!r}, expected the id of a rule, or one of {families}")
        chosen.update(dict.fromkeys(names))
    return list(chosen)


def _fields(standing: Standing) -> dict[str, Any]:
    return {
        "id": standing.rule.id,
        "section": standing.rule.section,
        "text": dict(standing.rule.cells),
        "implemented": list(standing.implemented),
        "judged": list(standing.judged),
        "proved": list(standing.proved),
        "tested": list(standing.tested),
        "reason": standing.reason,
    }


def _lines(found: Sequence[Standing]) -> Iterator[str]:
    """One line for each rule, under its section."""
    section = None
    for standing in found:
        rule = standing.rule
        if rule.section != section:
            yield from ([] if section is None else [""])
            yield rule.section
            section = rule.section
        marks = (
            ("I" if standing.implemented else "-")
            + ("J" if standing.judged else "-")
            + ("P" if standing.proved else "-")
            + ("T" if standing.tested else "-")
            + ("R" if standing.reason else "-")
        )
        yield f"  {rule.id:<12} {marks}  {textwrap.shorten(rule.text, 80, placeholder='…')}"
    yield ""
    yield (
        f"{len(found)} rules; I: implemented, J: judged by, P: proved, T: tested, R: with a reason why not; "
        "gangproof rules ID shows one in full"
    )


def _in_full(standing: Standing) -> Iterator[str]:
    rule = standing.rule
    yield f"{rule.id}  ({rule.section})"
    for name, text in rule.cells:
        yield from textwrap.wrap(f"{name}: {text}", 98, initial_indent="  ", subsequent_indent="    ")
    carried = (
        ("judged by", standing.judged) if standing.promised else ("implemented by", standing.implemented)
    )
    lists = (
        carried,
        ("proved as", standing.proved),
        ("tested by", standing.tested),
    )
    for title, places in lists:
        yield f"  {title}:" + ("" if places else " nothing that says so")
        yield from (f"    {place}" for place in places)
    if standing.reason:
        yield from textwrap.wrap(
            f"reason: {standing.reason}", 98, initial_indent="  ", subsequent_indent="    "
        )
