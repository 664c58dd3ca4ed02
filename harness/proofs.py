"""The proof of the contract as a report: what was asked, what was answered, and what the controls showed.

An answer counts only with its controls: the witness of each invariant is reached, its mutant is caught, the
counters count. `unknown` is inconclusive and never success.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import z3
from attrs import field, frozen

from gangproof.properties.search.explore import deferred_interrupts
from gangproof.properties.verdict import Verdict, combine
from gangproof.spec import CONTRACT, Contract, Obligation, obligations

INDUCTION = ("initially", "stutter", "action")
"""The questions that make the proof; all others are its controls."""


@frozen
class ProofReport:
    """All obligations that were discharged, of which contract, and whether something came before the end."""

    contract: Contract = field(repr=False)
    obligations: tuple[Obligation, ...]
    interrupted: bool = False
    seconds: float = field(default=0.0, eq=False)

    @property
    def induction(self) -> tuple[Obligation, ...]:
        """The obligations of the proof itself."""
        return tuple(o for o in self.obligations if o.question in INDUCTION)

    @property
    def controls(self) -> tuple[Obligation, ...]:
        """Witnesses, mutants and counters."""
        return tuple(o for o in self.obligations if o.question not in INDUCTION)

    @property
    def verdict(self) -> Verdict:
        """Violated if an obligation is; a mutant that is not caught makes the proof vacuous."""
        parts = [judged(obligation) for obligation in self.obligations]
        if self.interrupted:
            parts.append(Verdict.INCONCLUSIVE)
        return combine(parts)

    @property
    def exit_code(self) -> int:
        return self.verdict.exit_code

    def name(self, subject: str) -> str:
        """An invariant's id and name, any other subject as it is."""
        return next((f"{i.id} {i.name}" for i in self.contract.invariants if i.id == subject), subject)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def judged(obligation: Obligation) -> Verdict:
    """What an answer means for the whole."""
    if obligation.fine:
        return Verdict.HOLDS
    if obligation.question == "mutant" and obligation.verdict == "holds":
        return Verdict.VACUOUS
    return Verdict(obligation.verdict)


def prove(
    invariants: Sequence[str] = (),
    *,
    contract: Contract = CONTRACT,
    watch: Callable[[Obligation, int], None] | None = None,
) -> ProofReport:
    """Discharge the obligations, of all invariants or of those with these ids.

    `watch` sees each answer and how many there are. After a Ctrl-C the answers so far are reported. KeyError
    for an unknown id.
    """
    began = time.perf_counter()
    found: list[Obligation] = []
    z3.set_param(
        "ctrl_c", False
    )  # or the solver takes a Ctrl-C for itself and goes on with the next question
    try:
        with deferred_interrupts() as interrupts:
            for obligation in obligations(contract, invariants=invariants):
                found.append(obligation)
                if watch is not None:
                    watch(obligation, len(found))
                if interrupts:
                    break
        interrupted = bool(interrupts)
    except KeyboardInterrupt:
        interrupted = True
    return ProofReport(contract, tuple(found), interrupted, time.perf_counter() - began)


def _lines(report: ProofReport) -> Iterator[str]:
    yield summary(report)
    for obligation in report.obligations:
        if not obligation.fine:
            yield ""
            yield from failed(report, obligation)


def summary(report: ProofReport) -> str:
    """The verdict in one line, with the numbers behind it."""
    asked = [o for o in report.induction if not o.trivial]
    trivial = len(report.induction) - len(asked)
    slowest = max((o.seconds for o in report.obligations), default=0.0)
    broken = sum(not o.fine for o in report.obligations)
    parts = [
        f"{len(asked)} obligations proved"
        if not broken
        else f"{len(asked)} obligations asked, {broken} not as they should be",
        f"{trivial} where the action touches nothing that the invariant reads",
        _controls(report.controls),
        f"{report.seconds:.1f} s, slowest {slowest * 1000:.0f} ms",
    ]
    stopped = "; interrupted" if report.interrupted else ""
    return f"{report.verdict}: " + ", ".join(filter(None, parts)) + stopped


def _controls(controls: Iterable[Obligation]) -> str:
    tally = {"witness": "witnesses reached", "mutant": "mutants caught", "counter": "counters counted"}
    counts = {question: [0, 0] for question in tally}
    for obligation in controls:
        if obligation.question in counts and not obligation.trivial:
            counts[obligation.question][0] += obligation.fine
            counts[obligation.question][1] += 1
    return ", ".join(
        f"{good} of {number} {words}"
        for (good, number), words in zip(counts.values(), tally.values(), strict=True)
        if number
    )


def failed(report: ProofReport, obligation: Obligation) -> Iterator[str]:
    """An answer that is not the expected one, with the counterexample to induction if there is one."""
    where = f" by {obligation.action}" if obligation.action else ""
    expected = f" ({obligation.expected} expected)" if obligation.expected != "holds" else ""
    kind = "" if obligation.question in INDUCTION else f"{obligation.question} of "
    yield f"{obligation.verdict}{expected}: {kind}{report.name(obligation.subject)}{where}"
    if obligation.counterexample is not None:
        yield from (f"  {line}" for line in obligation.counterexample.splitlines())
