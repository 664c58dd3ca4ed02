"""What the front door answers: frozen reports whose `str` is what people read, in every machine format too.

A report claims no more than was looked at. Whatever was left out, not modelled or cut short is in it, in
every format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gangproof.report.model import ClusterResult, Finding, ForEver, NotModelled, Report, ScenarioResult


def _text(report: Report) -> str:
    return str(report)


def _json(report: Report) -> str:
    from gangproof.report.machine import check_json

    return check_json(report)


def _junit(report: Report) -> str:
    from gangproof.report.junit import junit

    return junit(report)


def _sarif(report: Report) -> str:
    from gangproof.report.sarif import sarif

    return sarif(report)


def _github(report: Report) -> str:
    from gangproof.report.github import github

    return github(report)


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "text": _text,
    "json": _json,
    "junit": _junit,
    "sarif": _sarif,
    "github": _github,
}
"""The forms that a whole report can take, by the name that `-o` takes."""

__all__ = ["FORMATS", "ClusterResult", "Finding", "ForEver", "NotModelled", "Report", "ScenarioResult"]
