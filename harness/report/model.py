"""Reports as data: one result for each scenario, one for a cluster, and what was left out.

Everything here is plain and immutable, and can be sent from one process to another. Seconds are wall time and
take no part in equality.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from gangproof.properties.verdict import Verdict, combine

if TYPE_CHECKING:
    from gangproof.counterexamples import Trace
    from gangproof.properties.check import Outcome

KUBERNETES = "1.36"


@frozen
class Finding:
    """Something that does not hold: the property's id (or `expect`, `possible`, `attempt`), what is wrong,
    the line of the scenario that says so (0 if none does), and a run that shows it. In v1.36.3 `deviations` are those
    each of which alone explains it."""

    property: str
    message: str
    line: int = 0
    trace: Trace | None = None
    deviations: tuple[str, ...] = ()


@frozen
class NotModelled:
    """An object, or a part of one, that the model leaves out; `decisive` if the scheduler might heed it."""

    kind: str
    name: str
    file: str
    line: int
    why: str
    decisive: bool

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{self.kind} {self.name} ({where}): {self.why}"


@frozen
class ScenarioResult:
    """What judging one scenario came to; `why_not` tells why there is no verdict, if there is none."""

    id: str
    title: str
    file: str
    line: int
    profile: str
    verdict: Verdict
    states: int = 0
    transitions: int = 0
    stop: str = "exhausted"
    findings: tuple[Finding, ...] = ()
    why_not: str = ""
    seconds: float = field(default=0.0, eq=False)


@frozen
class ForEver:
    """How much was looked at in the search for fair runs that never keep a promise."""

    states: int
    transitions: int
    stop: str


@frozen
class ClusterResult:
    """What exploring a cluster came to: how much was looked at, every outcome, every broken property.

    `objects` counts what was modelled, by kind; `gates` are the feature gates in the form of
    `--feature-gates`; `open` tells what was left open; `beyond` names what some run needed and the model
    lacks; `for_ever` is what was looked at for liveness, if that was asked for; `why_not` tells why nothing was looked
    at, if nothing was.
    """

    verdict: Verdict
    objects: tuple[tuple[str, int], ...]
    gates: str
    open: str
    why_not: str = ""
    states: int = 0
    transitions: int = 0
    depth: int = 0
    stop: str = "exhausted"
    outcomes: tuple[Outcome, ...] = ()
    findings: tuple[Finding, ...] = ()
    beyond: tuple[str, ...] = ()
    for_ever: ForEver | None = None
    seconds: float = field(default=0.0, eq=False)


@frozen
class Report:
    """The answer to one `check`: its verdict is the worst of its parts, inconclusive if a part is missing.

    `unfinished` are the scenarios, by id, that an interruption or the time left unjudged.
    """

    profile: str
    scenarios: tuple[ScenarioResult, ...] = ()
    cluster: ClusterResult | None = None
    not_modelled: tuple[NotModelled, ...] = ()
    warnings: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    kubernetes: str = KUBERNETES

    @property
    def verdict(self) -> Verdict:
        parts = [result.verdict for result in self.scenarios]
        if self.cluster is not None:
            parts.append(self.cluster.verdict)
        if self.unfinished:
            parts.append(Verdict.INCONCLUSIVE)
        return combine(parts)

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 holds, 1 violated, 3 inconclusive, 4 vacuous, 5 nothing checked."""
        return self.verdict.exit_code

    @property
    def interrupted(self) -> bool:
        """Whether a Ctrl-C cut a part of it short."""
        stops = [result.stop for result in self.scenarios]
        if self.cluster is not None:
            stops += [self.cluster.stop, *([self.cluster.for_ever.stop] if self.cluster.for_ever else [])]
        return "interrupted" in stops

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that does not hold, the cluster's first."""
        found = self.cluster.findings if self.cluster is not None else ()
        return (*found, *(finding for result in self.scenarios for finding in result.findings))

    @property
    def traces(self) -> tuple[Trace, ...]:
        """A counterexample for each finding that has one."""
        return tuple(finding.trace for finding in self.findings if finding.trace is not None)

    @property
    def trace(self) -> Trace | None:
        """The first counterexample, None if there is none."""
        return next(iter(self.traces), None)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """How it may end: who is bound where and who is pending and why, of a cluster."""
        return self.cluster.outcomes if self.cluster is not None else ()

    def __str__(self) -> str:
        from gangproof.report.text import text

        this: Any = self  # an editable install shows this module to a type checker under two paths
        return text(this)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """For notebooks: the text, and the picture of the first counterexample if there is one."""
        from gangproof.counterexamples.draw import mimebundle

        bundle = {} if self.trace is None else mimebundle(self.trace, include, exclude)
        wanted = (include is None or "text/plain" in include) and "text/plain" not in (exclude or ())
        return {**bundle, "text/plain": str(self)} if wanted else bundle
