"""The report that people read: the verdict first, then what decides it, then how to see more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gangproof.properties.check import Outcome
from gangproof.properties.verdict import Verdict
from gangproof.report.model import ClusterResult, Finding, Report, ScenarioResult

OUTCOMES_SHOWN = 8
LEFT_OUT_SHOWN = 20


def text(report: Report) -> str:
    """The whole report; ends without a line break."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield f"{report.verdict}: {_summary(report)} (profile {report.profile}, Kubernetes {report.kubernetes})"
    if report.cluster is not None:
        yield from _cluster(report.cluster)
    yield from _scenarios(report.scenarios)
    yield from _listed("not modelled, and it may matter", [str(n) for n in report.not_modelled if n.decisive])
    yield from _listed("not modelled", [str(n) for n in report.not_modelled if not n.decisive])
    yield from _listed("warnings", report.warnings)
    yield from _listed("not looked at", report.unfinished)


def _summary(report: Report) -> str:
    parts: list[str] = []
    if report.cluster is not None:
        objects = ", ".join(_count(number, kind) for kind, number in report.cluster.objects)
        parts.append(objects or "no objects that are modelled")
    if report.scenarios or report.unfinished:
        number = len(report.scenarios) + len(report.unfinished)
        tally = dict.fromkeys(Verdict, 0)
        for result in report.scenarios:
            tally[result.verdict] += 1
        counts = ", ".join(f"{count} {verdict}" for verdict, count in tally.items() if count)
        parts.append(f"{_count(number, 'scenario')}: {counts or 'none judged'}")
    return "; ".join(parts) or "no scenarios and no manifests"


def _count(number: int, word: str) -> str:
    if number == 1:
        return f"1 {word}"
    return f"{number} {word}{'es' if word.endswith('s') else 's'}"


def _cluster(result: ClusterResult) -> Iterator[str]:
    yield f"  feature gates: {result.gates or 'the defaults of v1.36'}"
    if result.why_not:
        yield f"  nothing was looked at: {result.why_not}"
        return
    yield f"  left open: {result.open}"
    stopped = "" if result.stop == "exhausted" else f"; stopped: {result.stop}"
    looked = f"{result.states:,} states, {result.transitions:,} steps, depth {result.depth}"
    yield f"  looked at: {looked}, {result.seconds:.1f} s{stopped}"
    if (fair := result.for_ever) is not None:
        stopped = "" if fair.stop == "exhausted" else f"; stopped: {fair.stop}"
        yield f"  looked at for liveness: {fair.states:,} states, {fair.transitions:,} steps{stopped}"
    if result.beyond:
        yield f"  some run needs what is not modelled yet: {', '.join(result.beyond)}"
    yield from _findings(result.findings)
    if result.outcomes:
        yield from outcomes(result.outcomes)


def outcomes(found: Sequence[Outcome]) -> Iterator[str]:
    """Every outcome, the first ones in full; outcomes that differ in names of equals are told once."""
    yield ""
    yield "The one possible outcome:" if len(found) == 1 else f"{len(found)} possible outcomes:"
    for number, outcome in enumerate(found[:OUTCOMES_SHOWN], 1):
        if len(found) > 1:
            yield f"  outcome {number}"
        indent = "    " if len(found) > 1 else "  "
        told = str(outcome).splitlines() or ["no pods and no groups"]
        yield from (indent + line for line in told)
    if len(found) > OUTCOMES_SHOWN:
        yield f"  and {len(found) - OUTCOMES_SHOWN} more (-o json has them all)"


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    """The first one in full, the others in a line each: most often they are the same story."""
    for finding in findings[:1]:
        yield ""
        if finding.trace is None:
            yield f"{finding.property}: {finding.message}"
        else:
            yield from str(finding.trace).rstrip("\n").splitlines()
    yield from _listed("violated as well", [str(finding.message) for finding in findings[1:]])


def _scenarios(results: Sequence[ScenarioResult]) -> Iterator[str]:
    alone = len(results) == 1
    for result in results:
        if alone or result.verdict is not Verdict.HOLDS:
            yield from _scenario(result)


def _scenario(result: ScenarioResult) -> Iterator[str]:
    where = f"{result.file}:{result.line}" if result.file else result.id
    yield f"  {result.verdict}: {result.id}: {result.title} ({where})"
    if result.why_not:
        yield f"    {result.why_not}"
        return
    stopped = "" if result.stop == "exhausted" else f"; stopped: {result.stop}"
    yield f"    {result.states:,} states, {result.transitions:,} steps, {result.seconds:.1f} s{stopped}"
    for finding in result.findings:
        place = f"line {finding.line}" if finding.line else finding.property
        yield f"    {place}: {finding.message}"
    for finding in result.findings[:1]:
        if finding.trace is not None:
            yield ""
            yield from (f"    {line}".rstrip() for line in str(finding.trace).splitlines())


def _listed(title: str, items: Iterable[str]) -> Iterator[str]:
    listed = list(items)
    if not listed:
        return
    yield ""
    yield f"{title}:"
    yield from (f"  {item}" for item in listed[:LEFT_OUT_SHOWN])
    if len(listed) > LEFT_OUT_SHOWN:
        yield f"  and {len(listed) - LEFT_OUT_SHOWN} more"
