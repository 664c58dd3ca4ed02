"""Runs of a cluster that go on for ever: whether each fair one keeps every promise of liveness.

What a run settles into is asked of every check; this is the search behind `check --liveness`, in which calls to the
API server may fail any number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from attrs import evolve

from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.search.explore import Limits, deferred_interrupts
from gangproof.properties.search.lasso import Lassos
from gangproof.properties.search.liveness import fair_runs
from gangproof.properties.search.shipped import to_blame
from gangproof.properties.telling.traces import Meta
from gangproof.properties.verdict import Verdict, combine
from gangproof.report import ClusterResult, Finding, ForEver
from gangproof.watching import Clock, OutOfTimeError, Pulse, Watch


def asked_for_ever(
    result: ClusterResult,
    start: Callable[[Rules], World],
    rules: Rules,
    meta: Meta,
    max_states: int | None,
    watch: Watch,
    clock: Clock,
) -> ClusterResult:
    """The result of a cluster, with what the search for lassos adds; `start` is the cluster under certain rules.

    A promise that the result says is broken already is not told again. In v1.36.3 each is traced to the deviations
    that break it alone.
    """
    limits = Limits(max_states, seconds=clock.left)
    try:
        found = fair_runs(start(rules), rules, limits, partial(Pulse, watch=watch, clock=clock))
    except OutOfTimeError:
        return _cut_short(result, "time budget")
    except KeyboardInterrupt:
        return _cut_short(result, "interrupted")
    known = {finding.property for finding in result.findings}
    with deferred_interrupts():
        findings = tuple(_findings(found, known, start, rules, meta, limits))
    return evolve(
        result,
        verdict=combine([result.verdict, found.verdict]),
        findings=(*result.findings, *findings),
        beyond=tuple(sorted({*result.beyond, *found.beyond})),
        for_ever=ForEver(found.exploration.states, found.exploration.transitions, found.exploration.stop),
    )


def _cut_short(result: ClusterResult, stop: str) -> ClusterResult:
    verdict = combine([result.verdict, Verdict.INCONCLUSIVE])
    return evolve(result, verdict=verdict, for_ever=ForEver(0, 0, stop))


def _findings(
    found: Lassos,
    known: set[str],
    start: Callable[[Rules], World],
    rules: Rules,
    meta: Meta,
    limits: Limits,
) -> Iterator[Finding]:
    def breaks(property_id: str) -> Callable[[Rules], bool]:
        return lambda other: property_id in fair_runs(start(other), other, limits).found

    for property_id, lasso in found.found.items():
        if property_id not in known:
            blamed = () if rules is INTENDED else to_blame(property_id, breaks(property_id))
            trace = evolve(lasso.trace(meta), qualifier=", ".join(blamed))
            yield Finding(property_id, lasso.violation.message, trace=trace, deviations=blamed)
