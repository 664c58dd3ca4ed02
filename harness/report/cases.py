"""A report as a list of named cases: the common ground of JUnit, SARIF and GitHub annotations."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from gangproof.properties.verdict import Verdict
from gangproof.report.model import Finding, Report

CLUSTER = "manifests"


@frozen
class Case:
    """One thing that was judged: where it stands, its verdict, and in one sentence each what is wrong."""

    name: str
    file: str
    line: int
    verdict: Verdict
    seconds: float
    findings: tuple[Finding, ...]
    reason: str


def cases(report: Report) -> Iterator[Case]:
    """The cluster, if there is one, then the scenarios, those not looked at last."""
    cluster = report.cluster
    if cluster is not None:
        why = [f"not modelled: {item}" for item in report.not_modelled if item.decisive]
        why += [f"not modelled yet: {name}" for name in cluster.beyond]
        why += [cluster.why_not] if cluster.why_not else []
        why += [f"stopped: {cluster.stop}"] if cluster.stop != "exhausted" else []
        yield Case(CLUSTER, "", 0, cluster.verdict, cluster.seconds, cluster.findings, "; ".join(why))
    for result in report.scenarios:
        stopped = f"stopped: {result.stop}" if result.stop != "exhausted" else ""
        yield Case(
            result.id,
            result.file,
            result.line,
            result.verdict,
            result.seconds,
            result.findings,
            result.why_not or stopped,
        )
    for name in report.unfinished:
        yield Case(name, "", 0, Verdict.INCONCLUSIVE, 0.0, (), "not looked at")
