"""The verdict on one scenario: what was asked, what was looked at, and what it came to."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from attrs import field, frozen

from gangproof.impl.actions import Action
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.judges.settled import SETTLED
from gangproof.properties.scenarios.alike import key_of
from gangproof.properties.scenarios.course import Failure, Following
from gangproof.properties.scenarios.document import Profile, Scenario
from gangproof.properties.scenarios.features import ALL_FEATURES, features
from gangproof.properties.scenarios.run import follow
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.system import Questions
from gangproof.properties.verdict import Verdict

MISSING: frozenset[str] = frozenset()
"""Features of scenarios that the machinery does not have yet."""
assert MISSING <= ALL_FEATURES


@frozen
class ScenarioReport:
    """What following one scenario in one profile came to.

    `missing` are the features that it needs and the model lacks; `beyond` names what some run would have
    needed. With either nothing is claimed. `seconds` is wall time and takes no part in equality.
    """

    scenario: Scenario
    profile: Profile
    verdict: Verdict
    states: int = 0
    transitions: int = 0
    failures: tuple[Failure, ...] = ()
    missing: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    stop: str = "exhausted"
    reached: frozenset[str] = frozenset()
    seconds: float = field(default=0.0, eq=False)

    def __str__(self) -> str:
        head = f"{self.verdict}: {self.scenario.id} ({self.profile}): {self.scenario.title}"
        looked = f"  {self.states:,} states, {self.transitions:,} steps"
        if self.missing:
            return f"{head}\n  not modelled yet: {', '.join(self.missing)}"
        lines = [head, looked if self.stop == "exhausted" else f"{looked}; stopped: {self.stop}"]
        if self.beyond:
            lines.append(f"  some run needs what is not modelled yet: {', '.join(self.beyond)}")
        lines.extend(
            f"  line {failure.line}: {failure.violation.message}"
            if failure.line
            else f"  {failure.violation}"
            for failure in self.failures
        )
        return "\n".join(lines)


def check_scenario(
    scenario: Scenario,
    profile: Profile,
    rules: Rules,
    questions: Questions[World, Action],
    limits: Limits,
    key: Callable[[World], Hashable] | None = None,
) -> ScenarioReport:
    """Follow the scenario in the profile whose rules are given, and judge it; without a key by its own (`alike`).

    Only *intended* is asked to keep its promises of liveness; v1.36.3 is known to break some.
    """
    missing = tuple(sorted(features(scenario) & MISSING))
    if missing:
        return ScenarioReport(scenario, profile, Verdict.NOT_SUPPORTED, missing=missing)
    began = time.perf_counter()
    settled = SETTLED if profile == "intended" else ()
    course = follow(scenario, Following(rules, questions, limits, key or key_of(scenario), settled))
    if course.beyond and not any(f.violation.property.startswith("INV") for f in course.failures):
        verdict = Verdict.NOT_SUPPORTED
    elif course.failures:
        verdict = Verdict.VIOLATED
    else:
        verdict = Verdict.HOLDS if course.stop == "exhausted" else Verdict.INCONCLUSIVE
    return ScenarioReport(
        scenario=scenario,
        profile=profile,
        verdict=verdict,
        states=course.states,
        transitions=course.transitions,
        failures=course.failures,
        beyond=course.beyond,
        stop=course.stop,
        reached=course.reached,
        seconds=time.perf_counter() - began,
    )
