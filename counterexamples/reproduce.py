"""What a person keeps of a counterexample: a scenario file, and a pytest file that finds it again.

Both need the scenario that was attached to the trace; both run without this trace and without the engine
that found it, through the front door alone.
"""

from __future__ import annotations

import json
import re

from gangproof.counterexamples.names import clean, wrap
from gangproof.counterexamples.trace import Trace, Verdict

_EXIT_CODES = {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.INCONCLUSIVE: 3, Verdict.VACUOUS: 4}


class NoScenarioError(ValueError):
    """The trace carries no scenario, so nothing outside the engine that found it can replay it."""


def as_scenario(trace: Trace) -> str:
    """The scenario document, headed by what it shows. Raises `NoScenarioError`."""
    return f"# {clean(trace.headline)}\n{_scenario(trace)}"


def as_pytest(trace: Trace) -> str:
    """A pytest module that replays the scenario and asserts the same verdict. Raises `NoScenarioError`."""
    scenario = _scenario(trace)
    profile = dict(trace.meta).get("profile")
    arguments = f"SCENARIO, profile={json.dumps(clean(profile))}" if profile else "SCENARIO"
    lines = [
        _docstring(trace),
        "",
        "from gangproof import check_text",
        "",
        f"SCENARIO = {_literal(scenario)}",
        "",
        "",
        f"def test_{_slug(trace)}() -> None:",
        f"    report = check_text({arguments})",
        f"    assert report.exit_code == {_EXIT_CODES[trace.verdict]}, str(report)",
    ]
    if trace.property_id:
        lines.append(f"    assert {json.dumps(clean(trace.property_id))} in str(report)")
    return "\n".join(lines) + "\n"


def _scenario(trace: Trace) -> str:
    if trace.scenario is None:
        raise NoScenarioError("no scenario was attached to this trace")
    return trace.scenario if trace.scenario.endswith("\n") else trace.scenario + "\n"


def _docstring(trace: Trace) -> str:
    lines = wrap(trace.headline, 100)
    if trace.clause:
        lines += ["", *wrap(trace.clause, 100)]
    body = "\n".join(lines).replace("\\", "\\\\").replace('"', "'")
    return f'"""{body}\n"""' if len(lines) > 1 else f'"""{body}"""'


def _literal(scenario: str) -> str:
    plain = all(line.isprintable() for line in scenario.split("\n"))
    if plain and '"""' not in scenario and "\\" not in scenario:
        return f'"""\\\n{scenario}"""'
    return ascii(scenario)


def _slug(trace: Trace) -> str:
    words = re.findall(r"[a-z0-9]+", f"{trace.property_id} {trace.verdict} {trace.title}".lower())
    return "_".join(words)[:60].rstrip("_")
