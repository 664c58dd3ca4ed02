"""gangproof: the executable form of the Kubernetes v1.36 PodGroup scheduling rules.

    import gangproof

    report = gangproof.check("examples/training/")
    print(report)
    assert report.exit_code == 0

Everything here is loaded when it is first used, so that `import gangproof` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangproof.api import check, check_text, draw, explain, prove
    from gangproof.checking import Options
    from gangproof.counterexamples import Trace
    from gangproof.errors import InputError, Problem
    from gangproof.load import load_manifests, load_manifests_text, load_scenarios, load_scenarios_text
    from gangproof.properties.verdict import Verdict
    from gangproof.report import Report

_WHERE = {
    "InputError": "gangproof.errors",
    "Options": "gangproof.checking",
    "Problem": "gangproof.errors",
    "Report": "gangproof.report",
    "Trace": "gangproof.counterexamples",
    "Verdict": "gangproof.properties.verdict",
    "check": "gangproof.api",
    "check_text": "gangproof.api",
    "draw": "gangproof.api",
    "explain": "gangproof.api",
    "load_manifests": "gangproof.load",
    "load_manifests_text": "gangproof.load",
    "load_scenarios": "gangproof.load",
    "load_scenarios_text": "gangproof.load",
    "prove": "gangproof.api",
}

__all__ = [
    "InputError",
    "Options",
    "Problem",
    "Report",
    "Trace",
    "Verdict",
    "check",
    "check_text",
    "draw",
    "explain",
    "load_manifests",
    "load_manifests_text",
    "load_scenarios",
    "load_scenarios_text",
    "prove",
]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'gangproof' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
