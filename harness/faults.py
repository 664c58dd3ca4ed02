"""Each known mistake of a scheduler switched on and off, and whether a property catches it.

A fault that survives shows a hole in the properties; an alarm while the fault is off shows that they cry wolf.
Both are violations. Where a search was cut short neither is known.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from attrs import field, frozen

from gangproof.counterexamples import Trace
from gangproof.load import load_scenarios_text
from gangproof.properties.campaign import local_processes
from gangproof.properties.campaign import run as run_campaign
from gangproof.properties.faults import (
    FAULTS,
    Fault,
    FaultResult,
    Unfaulted,
    cases_text,
    run_fault,
    without_fault,
)
from gangproof.properties.judges.everything import questions
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.search.explore import deferred_interrupts
from gangproof.properties.search.system import Violation
from gangproof.properties.telling.traces import Meta, make_trace, violation_of
from gangproof.properties.verdict import Verdict, combine
from gangproof.watching import Watch, unwatched


@frozen
class Trial:
    """One fault on and off: what caught it, and what was found while it was off, which is rightly nothing."""

    result: FaultResult
    off: Unfaulted = Unfaulted()

    @property
    def verdict(self) -> Verdict:
        """Holds if the fault is caught and nothing is found without it; inconclusive if not all was looked at."""
        return combine([self.result.verdict, self.off.verdict])


@frozen
class FaultReport:
    """The trials in the order of the faults, and the ids of the faults that an interruption left untried."""

    trials: tuple[Trial, ...]
    unfinished: tuple[str, ...] = ()
    seconds: float = field(default=0.0, eq=False)

    @property
    def verdict(self) -> Verdict:
        parts = [trial.verdict for trial in self.trials]
        return combine([*parts, Verdict.INCONCLUSIVE] if self.unfinished else parts)

    @property
    def exit_code(self) -> int:
        return self.verdict.exit_code

    @property
    def survivors(self) -> tuple[str, ...]:
        """The faults that nothing caught although everything was looked at."""
        return tuple(t.result.id for t in self.trials if t.result.verdict is Verdict.VIOLATED)

    @property
    def caught(self) -> tuple[str, ...]:
        """The faults that something caught."""
        return tuple(t.result.id for t in self.trials if t.result.killed_by is not None)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def _lines(report: FaultReport) -> Iterator[str]:
    alarms = sum(len(trial.off.alarms) for trial in report.trials)
    yield (
        f"{report.verdict}: {len(report.caught)} of {len(report.trials)} faults caught when switched on, "
        f"{alarms} false alarms when off, {report.seconds:.1f} s"
    )
    for trial in report.trials:
        result = trial.result
        engine = f"{result.engine}, depth {result.depth}, {result.states:,} states, {result.seconds:.1f} s"
        yield f"  {result.id:<6} {result.name:<38} {result.fate:<12} {engine}"
        yield from (f"         switched on: {why}" for why in result.unfinished)
        yield from (f"         switched off: {why}" for why in trial.off.unfinished)
        yield from (f"         false alarm: {alarm}" for alarm in trial.off.alarms)
    if report.unfinished:
        yield f"not looked at: {', '.join(report.unfinished)}"


@lru_cache(maxsize=1)
def cases() -> Mapping[str, Scenario]:
    """The smallest case of each fault, by the fault's id."""
    return {case.id: case for case in load_scenarios_text(cases_text(), "cases.scenario.yaml")}


def chosen(ids: Sequence[str]) -> tuple[Fault, ...]:
    """The faults with these ids or names, all if none is given. KeyError for an unknown one."""
    wanted = {text.lower(): text for text in ids}
    for low, text in wanted.items():
        if all(low not in (fault.id.lower(), fault.name) for fault in FAULTS):
            raise KeyError(text)
    return tuple(f for f in FAULTS if not wanted or f.id.lower() in wanted or f.name in wanted)


def try_fault(fault_id: str) -> Trial:
    """Switch one fault on and off."""
    (fault,) = chosen([fault_id])
    case = cases()[fault.id]
    return Trial(run_fault(fault, case), without_fault(fault, case))


def try_faults(ids: Sequence[str] = (), *, processes: int = 1, watch: Watch = unwatched) -> FaultReport:
    """Switch the faults on and off, one by one or several at a time. KeyError for an unknown id.

    After a Ctrl-C the trials so far are reported, the last ones cut short.
    """
    began = time.perf_counter()
    names = [fault.id for fault in chosen(ids)]
    trials = _at_once(names, processes, watch) if processes > 1 else _one_by_one(names, watch)
    ended = {trial.result.id for trial in trials}
    unfinished = tuple(name for name in names if name not in ended)
    return FaultReport(trials, unfinished, time.perf_counter() - began)


def _one_by_one(names: Sequence[str], watch: Watch) -> tuple[Trial, ...]:
    trials: list[Trial] = []
    with suppress(KeyboardInterrupt), deferred_interrupts() as interrupts:
        for number, name in enumerate(names, 1):
            watch(f"{name}, {number} of {len(names)}")
            trials.append(try_fault(name))
            if interrupts:
                break
    return tuple(trials)


def _at_once(names: Sequence[str], processes: int, watch: Watch) -> tuple[Trial, ...]:
    def told(ended: int, of: int) -> None:
        watch(f"{ended} of {of} faults")

    with local_processes(min(processes, max(len(names), 1))) as executor:
        found = run_campaign(executor, try_fault, names, progress=told)
    for error in found.errors.values():
        raise error
    return tuple(found.results[place] for place in sorted(found.results))


def trace_of(trial: Trial) -> Trace | None:
    """The run that caught the fault, None if nothing did. No scenario replays it: without the fault all is well."""
    result = trial.result
    if result.path is None or result.killed_by is None:
        return None
    (fault,) = chosen([result.id])
    violation = violation_of(result.path, questions(), result.killed_by)
    meta = Meta("intended", str(cases()[fault.id].gates), result.engine, (("fault", fault.id),))
    return make_trace(
        violation or Violation(result.killed_by, result.message),
        result.path,
        meta,
        title=f"{fault.name} ({fault.id})",
    )
