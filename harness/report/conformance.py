"""How runs of a scheduler and the model agree, as text and for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gangproof.properties.conformance.followed import Followed
from gangproof.properties.conformance.report import PROPERTY, ConformanceReport
from gangproof.properties.verdict import Verdict
from gangproof.report.cases import Case
from gangproof.report.junit import junit_of
from gangproof.report.machine import document
from gangproof.report.model import Finding

PROFILE = "v1.36.3"


def json(report: ConformanceReport) -> str:
    """A JSON document of kind ConformanceReport."""
    return document(
        "ConformanceReport",
        {
            "profile": PROFILE,
            "verdict": str(report.verdict),
            "exitCode": report.verdict.exit_code,
            "worlds": len(report.runs),
            "agree": len(report.agree),
            "inconclusive": [run.name for run in report.inconclusive],
            "unsupported": dict(report.unsupported),
            "events": report.events,
            "kinds": dict(report.kinds),
            "differences": [
                {
                    "name": run.name,
                    "kind": run.difference.kind,
                    "rules": list(run.difference.rules),
                    "event": run.difference.event,
                    "expected": list(run.difference.expected),
                    "found": run.difference.found,
                }
                for run in report.differ
                if run.difference is not None
            ],
        },
    )


def junit(report: ConformanceReport) -> str:
    """One test case for each run."""
    return junit_of(_cases(report), PROFILE)


def _cases(report: ConformanceReport) -> Iterator[Case]:
    for run in report.runs:
        found = (Finding(PROPERTY, str(run.difference)),) if run.difference is not None else ()
        yield Case(run.name, "", 0, _verdict(run), 0.0, found, ", ".join(run.needs))


def _verdict(run: Followed) -> Verdict:
    if run.difference is not None:
        return Verdict.VIOLATED
    if run.cut:
        return Verdict.INCONCLUSIVE
    return Verdict.NOT_SUPPORTED if run.needs else Verdict.HOLDS


FORMATS: Mapping[str, Callable[[ConformanceReport], str]] = {"text": str, "json": json, "junit": junit}
