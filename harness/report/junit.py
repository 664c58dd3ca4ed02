"""A report as JUnit XML, which every continuous-integration system reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from gangproof.properties.verdict import Verdict
from gangproof.report.cases import Case, cases
from gangproof.report.model import Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SKIPPED = (Verdict.NOT_SUPPORTED, Verdict.NOTHING_CHECKED)


def junit(report: Report) -> str:
    """One test case for each scenario and one for a cluster."""
    return junit_of(cases(report), report.profile, report.warnings)


def junit_of(judged: Iterable[Case], against: str, warnings: Sequence[str] = ()) -> str:
    """One test case for each; `against` is the profile, or the scheduler, in the brackets behind its name.

    `violated` is a failure; `inconclusive` and `vacuous` are errors; what could not be judged is skipped. Warnings are
    the suite's output.
    """
    found = list(judged)
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": "gangproof",
            "tests": str(len(found)),
            "failures": str(sum(case.verdict is Verdict.VIOLATED for case in found)),
            "errors": str(sum(case.verdict in (Verdict.INCONCLUSIVE, Verdict.VACUOUS) for case in found)),
            "skipped": str(sum(case.verdict in _SKIPPED for case in found)),
            "time": f"{sum(case.seconds for case in found):.3f}",
        },
    )
    for case in found:
        suite.append(_case(case, against))
    if warnings:
        ElementTree.SubElement(suite, "system-out").text = _clean("\n".join(warnings))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _case(case: Case, against: str) -> ElementTree.Element:
    attributes = {
        "classname": _clean(case.file or "gangproof"),
        "name": _clean(f"{case.name}[{against}]"),
        "time": f"{case.seconds:.3f}",
    }
    if case.file:
        attributes |= {"file": _clean(case.file), "line": str(case.line)}
    element = ElementTree.Element("testcase", attributes)
    if case.verdict is Verdict.VIOLATED:
        for finding in case.findings:
            message = {"message": _clean(finding.message), "type": finding.property}
            failure = ElementTree.SubElement(element, "failure", message)
            failure.text = _clean(str(finding.trace or finding.message))
    elif case.verdict in _SKIPPED:
        ElementTree.SubElement(element, "skipped", {"message": _clean(case.reason or str(case.verdict))})
    elif case.verdict is not Verdict.HOLDS:
        message = {"message": _clean(case.reason or str(case.verdict)), "type": str(case.verdict)}
        ElementTree.SubElement(element, "error", message)
    return element


def _clean(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
