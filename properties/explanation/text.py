"""The explanation that people read: one sentence, a small table, then who, where, whom, and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gangproof.counterexamples.names import amount, amounts, bare, clean, wrap
from gangproof.properties.explanation.members import names_of
from gangproof.properties.explanation.model import (
    ClaimTold,
    Domains,
    DomainTried,
    Evictions,
    Explanation,
    Queue,
    Refused,
    Suggestion,
    UnitFate,
)

COLUMNS = 110
MEMBERS_SHOWN = 12
UNITS_SHOWN = 12
WHERE = {"bound": "to", "promised": "to"}


def text(told: Explanation) -> str:
    """The whole explanation; ends without a line break."""
    return "\n".join(line.rstrip() for line in _lines(told))


def _lines(told: Explanation) -> Iterator[str]:
    yield from wrap(_with_stop(told.sentence), COLUMNS)
    yield ""
    yield from _table([row for row in _facts(told) if row[1]])
    if len(told.members) > 1:
        yield from _members(told)
    for refused in told.refused:
        yield from _refused(refused)
    if told.domains is not None and told.domains.number:
        yield from _domains(told.domains)
    if told.claims:
        yield from _claims(told.claims)
    if told.evictions is not None:
        yield from _evictions(told.evictions)
    for note in told.notes:
        yield ""
        yield from wrap(f"note: {note}", COLUMNS, "  ", first="")
    yield from _suggestions(told.suggestions)
    if told.beyond:
        yield ""
        yield from wrap(f"not worked out, and it decides: {', '.join(told.beyond)}", COLUMNS, "  ", first="")


def _with_stop(sentence: str) -> str:
    return sentence if sentence.endswith(".") else f"{sentence}."


def _facts(told: Explanation) -> Iterator[tuple[str, str]]:
    yield "gate", told.gate
    yield "queue", _queue(told.queue)
    if told.quorum is not None and told.quorum.minimum and told.state != "gated":
        q = told.quorum
        missing = q.minimum - q.before - q.kept
        sign = f"{missing} short of" if missing > 0 else "enough for"
        yield "quorum", f"{q.before} placed before + {q.kept} now: {sign} the minimum {q.minimum} (CYCLE-26)"
    yield "condition", told.condition


def _queue(queue: Queue) -> str:
    match queue.place:
        case "none":
            return ""
        case "active" if not queue.entities_ahead:
            return "next"
        case "active":
            first = ", ".join(
                f"{bare(one.entity)} ({one.pods} pod{'s' if one.pods > 1 else ''}"
                + (f", {one.outcome})" if one.outcome else ")")
                for one in queue.ahead
            )
            hidden = queue.entities_ahead - len(queue.ahead)
            more = f" and {hidden} more" if hidden else ""
            played = (
                "their turns are played first" if queue.simulated else "too many to play their turns first"
            )
            return f"after {first}{more}; {played} (QUEUE-18)"
        case "backoff":
            return "in backoff after a failed try (QUEUE-22)"
        case "pool":
            return "was tried, and waits for an event that may help (QUEUE-14)"
        case _:
            return "held at the gate (QUEUE-07)"


def _table(rows: Sequence[Sequence[str]], indent: str = "  ") -> Iterator[str]:
    """The rows with their columns aligned; the last column wraps."""
    if not rows:
        return
    widths = [max(len(clean(row[column])) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        head = indent + "".join(f"{clean(cell):<{width}}  " for cell, width in zip(row, widths, strict=False))
        yield from wrap(row[-1], COLUMNS, " " * len(head), first=head) or [head]


def _members(told: Explanation) -> Iterator[str]:
    yield ""
    yield f"members ({len(told.members)}):"
    rows = [
        (
            bare(member.pod),
            " ".join(filter(None, (member.state, WHERE.get(member.state, "on"), bare(member.node))))
            if member.node
            else member.state,
            f"{member.why} ({member.rule})" if member.rule and member.why else member.why,
        )
        for member in told.members
    ]
    rows.sort(key=lambda row: row[1].startswith("bound"))
    yield from _table(rows[:MEMBERS_SHOWN])
    if len(rows) > MEMBERS_SHOWN:
        yield f"  and {len(rows) - MEMBERS_SHOWN} more"


def _refused(refused: Refused) -> Iterator[str]:
    yield ""
    first, others = refused.pods[0], len(refused.pods) - 1
    alike = f", and {others} like it" if others else ""
    yield from wrap(
        f"{bare(first)} ({amounts(refused.requests) or 'no requests'}){alike}:",
        COLUMNS,
        "  ",
        first="",
    )
    if refused.nodes > len(refused.closest):
        rows = [
            (
                str(reason.count),
                f"{reason.reason} ({reason.rule})",
                ", ".join(map(bare, reason.nodes)) + (", …" if reason.count > len(reason.nodes) else ""),
            )
            for reason in refused.reasons
        ]
        yield from _table(rows)
        yield "  closest:"
    rows = [
        (
            bare(one.node),
            "; ".join(
                f"{amount(s.resource, s.asked)} {s.resource} asked, {amount(s.resource, s.free)} free of "
                f"{amount(s.resource, s.allocatable)}"
                for s in one.short
            ),
            f"{one.reason} ({one.rule})",
        )
        for one in refused.closest
    ]
    shown = rows if refused.nodes <= len(refused.closest) else [row for row in rows if row[1]][:5]
    yield from _table(shown)


def _domains(told: Domains) -> Iterator[str]:
    yield ""
    yield f"domains of {clean(told.key)} ({told.number}), each tried as a whole (PLACE-10):"
    if not told.tried:
        yield "  too many to be played one by one"
        return
    yield from _table([_domain(one) for one in told.tried])
    if told.number > len(told.tried):
        yield f"  and {told.number - len(told.tried)} more"


def _domain(one: DomainTried) -> tuple[str, str, str, str]:
    """Its value, its size, how far the members get, and the number that decides."""
    before = f" + {one.before} placed before" if one.before else ""
    kept = f"{one.kept} of {one.tried} members find a place{before}"
    if one.fits:
        total = f"requests {one.packing} + members {one.members} = {one.packing + one.members}"
        decides = f"{total} (PLACE-22){', chosen' if one.chosen else ''}"
    elif one.minimum:
        missing = one.minimum - one.before - one.kept
        decides = f"{missing} short of the minimum {one.minimum} (CYCLE-26)"
    else:
        decides = "nobody finds a place (CYCLE-28)"
    if one.first_without and not one.fits:
        decides += f"; {bare(one.first_without)} is the first without"
    return one.value or "(empty)", f"{one.nodes} node{'s' if one.nodes > 1 else ''}", kept, decides


def _claims(told: Sequence[ClaimTold]) -> Iterator[str]:
    yield ""
    yield f"claims ({len(told)}):"
    rows = [
        (
            bare(one.claim) if one.claim else f"for {clean(one.entry)}",
            f"of the {one.whose}",
            _has(one),
            _fate(one),
        )
        for one in told
    ]
    yield from _table(rows)


def _has(one: ClaimTold) -> str:
    if one.devices:
        more = f" and {len(one.devices) - 2} more" if len(one.devices) > 2 else ""
        written = "" if one.written else ", not written yet"
        return f"has {', '.join(map(clean, one.devices[:2]))}{more}{written}"
    return f"asks for {', '.join(map(clean, one.asks))}" if one.asks else "is not there"


def _fate(one: ClaimTold) -> str:
    """Whether it blocks, who holds it, and who has what it asks for."""
    parts = [f"{one.blocks} ({one.rule})" if one.blocks else ""]
    if one.holders:
        parts.append(f"held by {names_of(one.holders)} (CLAIM-22)")
    if one.rivals:
        parts.append(
            f"{names_of(one.rivals)} {'has' if len(one.rivals) == 1 else 'have'} devices of its class"
        )
    return "; ".join(filter(None, parts)) or "nobody holds it"


def _evictions(told: Evictions) -> Iterator[str]:
    yield ""
    who = "the group as a whole" if told.by == "group" else "each pod for itself"
    if told.unknown and not told.units:
        yield from wrap(f"evictions: not worked out: {told.unknown}", COLUMNS, "  ", first="")
        return
    if told.refused:
        rule = f" ({told.rule})" if told.rule else ""
        yield from wrap(f"evictions: none: {told.refused}{rule}", COLUMNS, "  ", first="")
        return
    yield f"evictions ({who}, priority {told.priority}):"
    victims = [unit for unit in told.units if unit.fate == "evicted"]
    spared = [unit for unit in told.units if unit.fate == "spared"]
    yield from _table([_unit(unit) for unit in (*victims, *spared[:UNITS_SHOWN])])
    if told.spared > UNITS_SHOWN:
        yield f"  and {told.spared - UNITS_SHOWN} more units spared"
    for reason, number in told.safe:
        yield f"  safe: {number} with {reason}" if "priority" in reason else f"  safe: {number} {reason}"


def _unit(unit: UnitFate) -> tuple[str, str, str, str, str]:
    pods = ", ".join(map(bare, unit.pods[:3])) + (
        f" and {len(unit.pods) - 3} more" if len(unit.pods) > 3 else ""
    )
    where = ", ".join(map(bare, unit.nodes[:3])) + (", …" if len(unit.nodes) > 3 else "")
    of = f"priority {unit.priority}" + (f", of {bare(unit.group)}" if unit.group else "")
    guarded = (
        f"; {'breaks' if unit.breaks else 'covered by'} {', '.join(map(bare, unit.budgets))} (PREEMPT-25)"
    )
    why = f"{unit.why} ({unit.rule}){guarded if unit.budgets else ''}"
    return unit.fate, pods, f"on {where}", of, why


def _suggestions(found: Sequence[Suggestion]) -> Iterator[str]:
    if not found:
        return
    helpful = all(one.verified for one in found)
    yield ""
    yield "smallest changes that help, each tried:" if helpful else "tried, and not enough:"
    for number, one in enumerate(found, 1):
        outcome = one.outcome if one.verified else one.note
        yield from wrap(f"{one.text}: {outcome}", COLUMNS, "     ", first=f"  {number}. ")
