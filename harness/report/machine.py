"""JSON for programs: every document has `apiVersion: gangproof/v1` and a `kind`; see docs/output.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gangproof.counterexamples import dumps as trace_json
from gangproof.properties.check import Outcome
from gangproof.report.model import ClusterResult, Finding, ForEver, NotModelled, Report, ScenarioResult

API_VERSION = "gangproof/v1"


def document(kind: str, fields: Mapping[str, Any]) -> str:
    """A JSON document of that kind; keys stay in their order."""
    return json.dumps({"apiVersion": API_VERSION, "kind": kind, **fields}, indent=2, ensure_ascii=False)


def check_json(report: Report) -> str:
    """A `CheckReport`."""
    return document("CheckReport", check_fields(report))


def check_fields(report: Report) -> dict[str, Any]:
    """The fields of a `CheckReport`."""
    return {
        "kubernetes": report.kubernetes,
        "profile": report.profile,
        "verdict": str(report.verdict),
        "exitCode": report.exit_code,
        "cluster": None if report.cluster is None else _cluster(report.cluster),
        "scenarios": [_scenario(result) for result in report.scenarios],
        "unfinished": list(report.unfinished),
        "notModelled": [_left_out(item) for item in report.not_modelled],
        "warnings": list(report.warnings),
    }


def finding_fields(finding: Finding) -> dict[str, Any]:
    """The fields of one finding."""
    trace = None if finding.trace is None else json.loads(trace_json(finding.trace))
    return {
        "property": finding.property,
        "message": finding.message,
        "line": finding.line or None,
        "deviations": list(finding.deviations),
        "trace": trace,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "bound": dict(outcome.bound),
        "pending": dict(outcome.pending),
        "conditions": dict(outcome.conditions),
    }


def _cluster(result: ClusterResult) -> dict[str, Any]:
    return {
        "verdict": str(result.verdict),
        "objects": dict(result.objects),
        "featureGates": result.gates,
        "open": result.open,
        "states": result.states,
        "steps": result.transitions,
        "depth": result.depth,
        "stop": result.stop,
        "seconds": round(result.seconds, 3),
        "outcomes": [_outcome(outcome) for outcome in result.outcomes],
        "findings": [finding_fields(finding) for finding in result.findings],
        "beyond": list(result.beyond),
        "liveness": None if result.for_ever is None else _for_ever(result.for_ever),
        "whyNot": result.why_not or None,
    }


def _for_ever(fair: ForEver) -> dict[str, Any]:
    return {"states": fair.states, "steps": fair.transitions, "stop": fair.stop}


def _scenario(result: ScenarioResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "title": result.title,
        "file": result.file,
        "line": result.line,
        "profile": result.profile,
        "verdict": str(result.verdict),
        "states": result.states,
        "steps": result.transitions,
        "stop": result.stop,
        "seconds": round(result.seconds, 3),
        "findings": [finding_fields(finding) for finding in result.findings],
        "whyNot": result.why_not or None,
    }


def _left_out(item: NotModelled) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "name": item.name,
        "file": item.file,
        "line": item.line or None,
        "why": item.why,
        "decisive": item.decisive,
    }
