"""A report as SARIF 2.1.0, which code hosts show beside the lines it is about."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from gangproof.properties.verdict import Verdict
from gangproof.report.cases import Case, cases
from gangproof.report.model import Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: Report) -> str:
    """One result for each finding, one warning for each case that has no clean verdict; what the files
    were warned about is told as notifications."""
    results = [result for case in cases(report) for result in _results(case)]
    ids = sorted({result["ruleId"] for result in results})
    tool = {
        "driver": {
            "name": "gangproof",
            "version": version("gangproof"),
            "rules": [{"id": name} for name in ids],
        }
    }
    warnings = [{"level": "warning", "message": {"text": warning}} for warning in report.warnings]
    run = {"executionSuccessful": True, "toolExecutionNotifications": warnings}
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": tool, "invocations": [run], "results": results}],
    }
    return json.dumps(log, indent=2, ensure_ascii=False)


def _results(case: Case) -> list[dict[str, Any]]:
    if case.verdict is Verdict.HOLDS:
        return []
    if case.findings:
        return [
            _result(finding.property, "error", f"{case.name}: {finding.message}", case, finding.line)
            for finding in case.findings
        ]
    level = "warning" if case.verdict in (Verdict.INCONCLUSIVE, Verdict.VACUOUS) else "note"
    reason = f": {case.reason}" if case.reason else ""
    return [_result(str(case.verdict), level, f"{case.name} is {case.verdict}{reason}", case, 0)]


def _result(rule: str, level: str, message: str, case: Case, line: int) -> dict[str, Any]:
    result: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": message}}
    if case.file:
        place = {
            "artifactLocation": {"uri": quote(case.file)},
            "region": {"startLine": max(line or case.line, 1)},
        }
        result["locations"] = [{"physicalLocation": place}]
    return result
