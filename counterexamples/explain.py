"""A trace in words: the verdict, what changed step by step, the numbers that decide, the clause that broke.

The text is the report of the command line, the message of a failing test and `str(trace)`; it never needs
more than 100 columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gangproof.counterexamples.changes import changes, users, where
from gangproof.counterexamples.names import amount, amounts, bare, clean, numbers, wrap
from gangproof.counterexamples.trace import Event, Frame, NodeView, Trace, Verdict

COLUMNS = 100
_SHOWN = 12


def explain(trace: Trace) -> str:
    """The trace as plain text; ends with a line break."""
    return "\n".join(line.rstrip() for line in _lines(trace)) + "\n"


def _lines(trace: Trace) -> Iterator[str]:
    yield from wrap(trace.headline, COLUMNS, "  ", first="")
    if trace.claim:
        yield from _entry("claim", trace.claim)
    yield ""
    yield "At first"
    yield from _start(trace.frames[0])
    for index, event in enumerate(trace.events):
        yield ""
        yield from _step(trace, index, event)
    yield ""
    if trace.loop is not None:
        last = len(trace.events)
        again = f"steps {trace.loop + 1} to {last}" if trace.loop + 1 < last else f"step {last}"
        yield from _entry(
            "for ever", f"the run is back where it was before step {trace.loop + 1}: {again} repeat"
        )
    if trace.clause:
        yield from _entry(clause_label(trace), trace.clause)
    if trace.numbers:
        yield from _entry("decides", numbers(trace.numbers))
    if trace.citation:
        yield from _entry("rules", ", ".join(trace.citation))
    if trace.meta:
        yield from _entry("found with", ", ".join(f"{name} {value}" for name, value in trace.meta))
    yield from _entry("replay", replay(trace))


def replay(trace: Trace) -> str:
    """How to see the same again, in one sentence."""
    if trace.scenario is not None:
        saved, scenario = "DIR/….trace.json", "it.scenario.yaml"
        return f"--draw DIR; gangproof draw {saved} -o scenario > {scenario}; gangproof check {scenario}"
    if trace.actions:
        return f"the {len(trace.actions)} recorded actions, in the .trace.json that --draw DIR saves"
    return "nothing to replay was recorded"


def caption(trace: Trace, frame: int) -> str:
    """Which moment a frame shows and what led to it: "step 2 of 3 · scheduler: binds p1"."""
    return f"{moment(trace, frame)} · {sentence(trace.events[frame - 1])}" if frame else moment(trace, frame)


def moment(trace: Trace, frame: int) -> str:
    """Which moment a frame shows: "at first", or "step 2 of 3"."""
    return f"step {frame} of {len(trace.events)}" if frame else "at first"


def because(event: Event) -> str:
    """The steps without which this one would not have happened: "because of steps 1, 2", or nothing."""
    if not event.because:
        return ""
    steps = ", ".join(str(cause + 1) for cause in event.because)
    return f"because of step{'s' if len(event.because) > 1 else ''} {steps}"


def clause_label(trace: Trace) -> str:
    """What the clause is called: "broken", or "clause" if the verdict is no violation."""
    return "broken" if trace.verdict is Verdict.VIOLATED else "clause"


def sentence(event: Event) -> str:
    """The event with its actor, on one line."""
    return clean(f"{event.actor}: {event.text}" if event.actor else event.text)


def _entry(label: str, text: str) -> list[str]:
    return wrap(text, COLUMNS, " " * 12, first=f"{label:<12}")


def _item(text: str) -> list[str]:
    return wrap(text, COLUMNS, "       ", first="     ")


def _step(trace: Trace, index: int, event: Event) -> Iterator[str]:
    remarks = [*filter(None, [because(event)]), *event.rules]
    yield from wrap(
        sentence(event) + (f" [{'; '.join(remarks)}]" if remarks else ""),
        COLUMNS,
        "     ",
        first=f"{index + 1:>3}. ",
    )
    before = trace.frames[index]
    returns = index + 1 == len(trace.frames)
    after = trace.frames[(trace.loop or 0) if returns else index + 1]
    found = changes(before, after)
    for change in found:
        yield from _item(str(change))
    if not found:
        yield "     nothing that is shown changes"
    if after.note and after.note != before.note:
        yield from _item(after.note)
    if after.waits != before.waits:
        for wait in after.waits:
            why = f" ({wait.why})" if wait.why else ""
            yield from _item(f"{bare(wait.waiter)} waits for {bare(wait.awaited)}{why}")


def _start(frame: Frame) -> Iterator[str]:
    def some(items: Iterable[str]) -> Iterator[str]:
        listed = list(items)
        for text in listed[:_SHOWN]:
            yield from _item(text)
        if len(listed) > _SHOWN:
            yield f"     and {len(listed) - _SHOWN} more"

    yield from some(
        f"group {bare(group.key)}: "
        + ", ".join(
            filter(
                None,
                (
                    group.policy,
                    numbers(group.numbers),
                    f"priority {group.priority}" if group.priority else "",
                    f"together by {group.topology}" if group.topology else "",
                    group.condition or "",
                    group.note,
                ),
            )
        )
        for group in frame.groups
    )
    yield from some(f"node {bare(node.key)}: {_occupancy(node)}" for node in frame.nodes)
    yield from some(
        f"pod {bare(pod.key)}: "
        + ", ".join(
            filter(
                None,
                (
                    where(pod),
                    f"of {bare(pod.group)}" if pod.group else "",
                    amounts(pod.requests),
                    f"priority {pod.priority}" if pod.priority else "",
                    pod.note,
                ),
            )
        )
        for pod in frame.pods
    )
    yield from some(
        f"claim {bare(claim.key)}: "
        + (f"allocated to {claim.allocation}" if claim.allocation else "not allocated")
        + ("" if claim.written else ", not written yet")
        + (f", reserved for {users(claim)}" if users(claim) else "")
        + (f", held by {', '.join(map(bare, claim.holders))}" if claim.holders else "")
        + (f", wanted by {', '.join(map(bare, claim.wanted_by))}" if claim.wanted_by else "")
        for claim in frame.claims
    )
    if frame.note:
        yield from _item(frame.note)
    for wait in frame.waits:
        yield from _item(f"{bare(wait.waiter)} waits for {bare(wait.awaited)} {wait.why}")
    if not frame.views():
        yield "     an empty cluster"


def _occupancy(node: NodeView) -> str:
    used = dict(node.used)
    parts = [
        f"{clean(resource)} {amount(resource, used.get(resource, 0))} of {amount(resource, capacity)} used"
        for resource, capacity in node.capacity
    ]
    parts.extend(f"{name}={value}" for name, value in node.labels)
    if node.unschedulable:
        parts.append("unschedulable")
    if node.note:
        parts.append(node.note)
    return ", ".join(parts) or "nothing known"
