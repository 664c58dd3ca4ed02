"""What holding another scheduler against documents came to: a report that people read, and its machine formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from gangproof.adapters.documents import Difference, DocumentResult
from gangproof.properties.verdict import Verdict, combine
from gangproof.report.cases import Case
from gangproof.report.junit import junit_of
from gangproof.report.machine import document
from gangproof.report.model import Finding


@frozen
class AdapterReport:
    """The results of the documents, in their order; `unfinished` are those, by id, that an interruption left.

    `scheduler` is its name and version. `promises` are the ids of those that were judged, none if the documents'
    expectations were.
    """

    scheduler: str
    documents: tuple[DocumentResult, ...] = ()
    unfinished: tuple[str, ...] = ()
    promises: tuple[str, ...] = ()

    @property
    def runs(self) -> int:
        """How many runs were made in all."""
        return sum(result.runs for result in self.documents)

    @property
    def vacuous(self) -> tuple[str, ...]:
        """The promises whose interesting case no run came to."""
        reached = {name for result in self.documents for name in result.reached}
        return tuple(name for name in self.promises if name not in reached)

    @property
    def verdict(self) -> Verdict:
        """The worst of the parts; inconclusive if something is missing, vacuous if no promise was put to the test."""
        parts = [result.verdict for result in self.documents]
        verdict = combine([*parts, Verdict.INCONCLUSIVE] if self.unfinished else parts)
        untested = bool(self.promises) and len(self.vacuous) == len(self.promises)
        return Verdict.VACUOUS if verdict is Verdict.HOLDS and untested else verdict

    @property
    def exit_code(self) -> int:
        return self.verdict.exit_code

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def _lines(report: AdapterReport) -> Iterator[str]:
    counts: dict[str, int] = dict.fromkeys(("hold", "differ", "not runnable", "undecided"), 0)
    for result in report.documents:
        counts[_WORDS[result.verdict]] += 1
    told = ", ".join(f"{number} {word}" for word, number in counts.items() if number or word == "differ")
    number = len(report.documents) + len(report.unfinished)
    scenarios = "1 scenario" if number == 1 else f"{number} scenarios"
    yield f"{report.verdict}: {scenarios} on {report.scheduler}: {told}; {report.runs:,} runs"
    for result in report.documents:
        if result.differences:
            yield f"  differs: {_about(result)}"
            yield from map(_told, result.differences)
    for result in report.documents:
        if result.raced:
            yield f"  holds but for a race: {_about(result)}"
            yield from (f"{_told(raced)}: {raced.kind}" for raced in result.raced)
    for result in report.documents:
        if result.why_not:
            yield f"  not runnable: {result.document.id}: {result.why_not}"
    if report.vacuous:
        yield f"  never put to the test: {', '.join(report.vacuous)}"
    if report.unfinished:
        yield f"  not looked at: {', '.join(report.unfinished)}"


def _about(result: DocumentResult) -> str:
    document = result.document
    where = f" ({document.file}:{document.line})" if document.file else ""
    return f"{document.id}: {document.title}{where}"


def _told(difference: Difference) -> str:
    expected = difference.kind in ("expect", "possible", "attempt") or difference.line
    place = f"line {difference.line}: " if difference.line else "" if expected else f"{difference.kind}: "
    found = difference.message.removeprefix(f"{difference.kind}: ")
    return f"    {place}{found}"


_WORDS = {
    Verdict.HOLDS: "hold",
    Verdict.VIOLATED: "differ",
    Verdict.INCONCLUSIVE: "undecided",
    Verdict.VACUOUS: "undecided",
    Verdict.NOT_SUPPORTED: "not runnable",
    Verdict.NOTHING_CHECKED: "not runnable",
}


def _json(report: AdapterReport) -> str:
    return document(
        "AdapterReport",
        {
            "scheduler": report.scheduler,
            "verdict": str(report.verdict),
            "exitCode": report.exit_code,
            "runs": report.runs,
            "scenarios": [_result(result) for result in report.documents],
            "unfinished": list(report.unfinished),
            "vacuous": list(report.vacuous),
        },
    )


def _result(result: DocumentResult) -> dict[str, Any]:
    return {
        "id": result.document.id,
        "title": result.document.title,
        "file": result.document.file,
        "line": result.document.line,
        "verdict": str(result.verdict),
        "runs": result.runs,
        "seconds": round(result.seconds, 3),
        "differences": [_difference(difference) for difference in result.differences],
        "raced": [_difference(difference) for difference in result.raced],
        "whyNot": result.why_not or None,
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "found": difference.found,
        "line": difference.line or None,
        "modes": [str(mode) for mode in difference.modes],
        "of": difference.of,
        "run": difference.run,
    }


def _junit(report: AdapterReport) -> str:
    return junit_of(_cases(report), report.scheduler)


def _cases(report: AdapterReport) -> Iterator[Case]:
    for result in report.documents:
        about = result.document
        findings = tuple(Finding(d.kind, d.message, d.line) for d in result.differences)
        yield Case(about.id, about.file, about.line, result.verdict, result.seconds, findings, result.why_not)
    for name in report.unfinished:
        yield Case(name, "", 0, Verdict.INCONCLUSIVE, 0.0, (), "not looked at")


FORMATS = {"text": str, "json": _json, "junit": _junit}
"""The forms that the report can take, by the name that `-o` takes."""
