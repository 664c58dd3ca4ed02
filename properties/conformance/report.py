"""What following many runs came to: how many agree, what differs, and what the model could not follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import frozen

from gangproof.counterexamples import Trace
from gangproof.properties.conformance.follow import follow
from gangproof.properties.conformance.followed import Followed
from gangproof.properties.conformance.recording import Recording
from gangproof.properties.search.system import Violation
from gangproof.properties.telling.traces import Meta, make_trace
from gangproof.properties.verdict import Verdict

PROPERTY = "conformance"


@frozen
class ConformanceReport:
    """The runs, in their order, each as it was followed; its text is the report that people read.

    `what` calls the runs by their kind; `interrupted` says that there were to be more of them.
    """

    runs: tuple[Followed, ...]
    what: str = "recorded runs"
    interrupted: bool = False

    @property
    def agree(self) -> tuple[Followed, ...]:
        return tuple(run for run in self.runs if run.agrees)

    @property
    def differ(self) -> tuple[Followed, ...]:
        return tuple(run for run in self.runs if run.difference is not None)

    @property
    def inconclusive(self) -> tuple[Followed, ...]:
        """The runs in which more was possible than is looked at."""
        return tuple(run for run in self.runs if run.cut)

    @property
    def unsupported(self) -> Mapping[str, int]:
        """How many runs were not followed for each thing that the model lacks; one run may lack several."""
        lacking = Counter(feature for run in self.runs for feature in run.needs)
        return dict(sorted(lacking.items(), key=lambda item: (-item[1], item[0])))

    @property
    def kinds(self) -> Mapping[str, int]:
        """How many runs differ in each way."""
        ways = Counter(run.difference.kind for run in self.runs if run.difference is not None)
        return dict(sorted(ways.items(), key=lambda item: (-item[1], item[0])))

    @property
    def events(self) -> int:
        """How many events of the logs the model explained."""
        return sum(run.events for run in self.runs)

    @property
    def verdict(self) -> Verdict:
        """Violated if a run differs, holds if all that were followed agree; else nothing is claimed."""
        if self.differ:
            return Verdict.VIOLATED
        if self.inconclusive or self.interrupted:
            return Verdict.INCONCLUSIVE
        if self.agree:
            return Verdict.HOLDS
        return Verdict.NOT_SUPPORTED if self.runs else Verdict.NOTHING_CHECKED

    def __str__(self) -> str:
        left_out = sum(bool(run.needs) for run in self.runs)
        cut = f"{len(self.inconclusive)} inconclusive, " if self.inconclusive else ""
        lines = [
            f"{self.verdict}: {len(self.runs)} {self.what}: {len(self.agree)} agree, {len(self.differ)} differ, {cut}"
            f"{left_out} not supported; {self.events:,} events explained (profile v1.36.3)"
        ]
        lines += ["  interrupted: there was more to do"] if self.interrupted else []
        lines += [f"  inconclusive: {run.name}: too many ways are possible" for run in self.inconclusive]
        for kind, number in self.kinds.items():
            alike = [(run, d) for run in self.differ if (d := run.difference) is not None and d.kind == kind]
            rules = dict.fromkeys(rule for _, difference in alike for rule in difference.rules)
            lines.append(f"  kind: {kind}: {number} ({', '.join(rules)})")
            lines += [f"    differs: {run.name}: {difference}" for run, difference in alike]
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
