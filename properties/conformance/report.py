"""What following many runs came to: how many agree, what differs, and what the model could not follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import frozen

from gangproof.counterexamples import Trace
from gangproof.properties.conformance.follow import Followed, follow
from gangproof.properties.conformance.recording import Recording
from gangproof.properties.system import Violation
from gangproof.properties.traces import Meta, make_trace
from gangproof.properties.verdict import Verdict

PROPERTY = "conformance"


@frozen
class ConformanceReport:
    """The runs, in their order, each as it was followed; its text is the report that people read."""

    runs: tuple[Followed, ...]

    @property
    def agree(self) -> tuple[Followed, ...]:
        return tuple(run for run in self.runs if run.agrees)

    @property
    def differ(self) -> tuple[Followed, ...]:
        return tuple(run for run in self.runs if run.difference is not None)

    @property
    def unsupported(self) -> Mapping[str, int]:
        """How many runs were not followed for each thing that the model lacks; one run may lack several."""
        lacking = Counter(feature for run in self.runs for feature in run.needs)
        return dict(sorted(lacking.items(), key=lambda item: (-item[1], item[0])))

    @property
    def events(self) -> int:
        """How many events of the logs the model explained."""
        return sum(run.events for run in self.runs)

    @property
    def verdict(self) -> Verdict:
        """Violated if a run differs, holds if all that were followed agree; else nothing is claimed."""
        if self.differ:
            return Verdict.VIOLATED
        if self.agree:
            return Verdict.HOLDS
        return Verdict.NOT_SUPPORTED if self.runs else Verdict.NOTHING_CHECKED

    def __str__(self) -> str:
        left_out = len(self.runs) - len(self.agree) - len(self.differ)
        lines = [
            f"{self.verdict}: {len(self.runs)} recorded runs: {len(self.agree)} agree, {len(self.differ)} differ, "
            f"{left_out} not supported; {self.events:,} events explained (profile v1.36.3)"
        ]
        lines += [f"  differs: {run.name}: {run.difference}" for run in self.differ]
        lines += [f"  not supported: {feature}: {number}" for feature, number in self.unsupported.items()]
        return "\n".join(lines)


def follow_all(recordings: Iterable[Recording]) -> ConformanceReport:
    """Follow every run."""
    return ConformanceReport(tuple(follow(recording) for recording in recordings))


def traces_of(report: ConformanceReport) -> tuple[Trace, ...]:
    """For each run that differs the model's run up to there, with what was expected and what was found."""
    return tuple(
        make_trace(
            Violation(PROPERTY, str(run.difference)),
            run.difference.path,
            Meta("v1.36.3", str(run.difference.path.initial.settings.gates), "recorded run"),
            title=run.name,
        )
        for run in report.differ
        if run.difference is not None
    )
