"""Random runs for as long as somebody gives them: worlds too large to exhaust, one seed after the other.

Runs are made in small batches, each with a seed of its own that follows from the first, so that the same seed
tries the same runs in the same order however long it is given. The verdict is about the runs that were tried:
`holds` says that none of them broke anything, never that none could.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from attrs import field, frozen

from gangproof.checking import PROFILES, known
from gangproof.properties.campaign import spawn_seeds
from gangproof.properties.judges.everything import questions
from gangproof.properties.telling.traces import Meta, make_trace, run_trace
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.stateful import Fuzzed, fuzz
from gangproof.report import Finding
from gangproof.watching import Watch, unwatched

RUNS_AT_ONCE = 20


@frozen
class FuzzReport:
    """How many runs of how many actions were tried, and the first broken one, made small.

    `missed` are interesting cases that no run reached; with one the verdict is `vacuous`.
    """

    profile: str
    seed: int
    runs: int = 0
    actions: int = 0
    finding: Finding | None = None
    missed: tuple[str, ...] = ()
    interrupted: bool = False
    why_not: str = ""
    seconds: float = field(default=0.0, eq=False)

    @property
    def verdict(self) -> Verdict:
        if self.why_not:
            return Verdict.NOT_SUPPORTED
        if self.finding is not None:
            return Verdict.VIOLATED
        if self.interrupted:
            return Verdict.INCONCLUSIVE
        if not self.actions:
            return Verdict.NOTHING_CHECKED
        return Verdict.VACUOUS if self.missed else Verdict.HOLDS

    @property
    def exit_code(self) -> int:
        return self.verdict.exit_code

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def _lines(report: FuzzReport) -> Iterator[str]:
    if report.why_not:
        yield f"{report.verdict}: {report.why_not}"
        return
    tried = f"{report.runs:,} runs, {report.actions:,} actions, {report.seconds:.1f} s, seed {report.seed}"
    stopped = "; interrupted" if report.interrupted else ""
    where = " in every run that was tried" if report.verdict is Verdict.HOLDS else ""
    yield f"{report.verdict}{where}: {tried} (profile {report.profile}, Kubernetes 1.36){stopped}"
    yield from (f"  never reached: {name}" for name in report.missed)
    if report.finding is not None:
        yield ""
        yield str(report.finding.trace or report.finding.message).rstrip("\n")


def run_for(
    seconds: float, *, seed: int = 0, profile: str = "intended", watch: Watch = unwatched
) -> FuzzReport:
    """Try random runs until the time is over or one breaks something, which is then made small however long
    that takes, but for a Ctrl-C, after which the runs so far are reported. ValueError for an unknown profile, and for
    no time.
    """
    if not seconds > 0:
        raise ValueError(f"{seconds:g} seconds found, more than 0 expected")
    if known(profile) != "intended":
        why = "single steps are judged, and v1.36.3 commits a gang in steps that no promise speaks of"
        return FuzzReport(profile, seed, why_not=why)
    began = time.perf_counter()
    batches: list[Fuzzed] = []
    interrupted = False
    try:
        while not batches or time.perf_counter() - began < seconds:
            number = len(batches)
            batch = spawn_seeds(seed, number + 1)[number]
            batches.append(fuzz(PROFILES[profile], questions(), runs=RUNS_AT_ONCE, seed=batch))
            watch(f"{sum(b.runs for b in batches):,} runs, {sum(b.steps for b in batches):,} actions")
            if batches[-1].violation is not None or batches[-1].interrupted:
                break
    except KeyboardInterrupt:
        interrupted = True
    missed = set[str]().union(*(b.missed for b in batches[:1])).intersection(*(b.missed for b in batches))
    return FuzzReport(
        profile=profile,
        seed=seed,
        runs=sum(batch.runs for batch in batches),
        actions=sum(batch.steps for batch in batches),
        finding=_finding(batches[-1], profile, seed) if batches else None,
        missed=tuple(sorted(missed)),
        interrupted=interrupted or any(batch.interrupted for batch in batches),
        seconds=time.perf_counter() - began,
    )


def _finding(last: Fuzzed, profile: str, seed: int) -> Finding | None:
    if last.violation is None or last.path is None:
        return None
    meta = Meta(profile, "", "Hypothesis", (("seed", str(seed)),))
    try:
        trace = run_trace(last.violation, last.path, PROFILES[profile], questions(), meta, seconds=60)
    except KeyboardInterrupt:
        trace = make_trace(last.violation, last.path, meta)
    return Finding(last.violation.property, last.violation.message, trace=trace)
