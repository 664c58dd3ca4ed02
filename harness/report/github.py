"""A report as GitHub workflow commands: annotations beside the lines they are about."""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.properties.verdict import Verdict
from gangproof.report.cases import Case, cases
from gangproof.report.model import Report


def github(report: Report) -> str:
    """An error for each finding, a warning or notice for each other case without a clean verdict, and each warning."""
    lines = [line for case in cases(report) for line in _commands(case)]
    lines += [f"::warning title=gangproof::{_message(warning)}" for warning in report.warnings]
    lines.append(f"gangproof: {report.verdict}")
    return "\n".join(lines)


def _commands(case: Case) -> Iterator[str]:
    if case.verdict is Verdict.HOLDS:
        return
    for finding in case.findings:
        yield _command("error", case, finding.line, finding.property, str(finding.trace or finding.message))
    if not case.findings:
        level = "warning" if case.verdict in (Verdict.INCONCLUSIVE, Verdict.VACUOUS) else "notice"
        yield _command(level, case, 0, str(case.verdict), case.reason or str(case.verdict))


def _command(level: str, case: Case, line: int, title: str, message: str) -> str:
    values = {"file": case.file, "line": str(line or case.line or ""), "title": f"{title}: {case.name}"}
    properties = ",".join(f"{key}={_value(value)}" for key, value in values.items() if value)
    return f"::{level} {properties}::{_message(message)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
