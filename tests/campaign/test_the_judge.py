"""How much the real scheduler's recorded runs are worth: which mistakes of the model would they notice?

The model of v1.36.3 follows every recorded run. Here it has one mistake more: a deviation is left out, or a fault is
switched on. Some run should then part with it. The mistakes that no run notices are named. What concerns
claims, Jobs, lag and restarts is not asked about: no run that is followed has those.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, Rules, profile
from gangproof.load.recorded import load_recorded
from gangproof.properties.conformance.follow import ORDER, follow
from gangproof.properties.conformance.recording import Recording
from gangproof.properties.faults import FAULTS

pytestmark = pytest.mark.campaign

DATA = Path(__file__).parents[1] / "data"
FILES = ("differences", "findings", "scenarios", "recorded")
LONGEST = 40
"""Events of the longest runs that are asked: longer ones are mostly retries."""
UNNOTICED = {
    *("DEV-10", "DEV-14", "DEV-18", "DEV-22", "DEV-35", "DEV-53"),
    *("F-08", "F-12", "F-14", "F-15", "F-20", "F-66"),
    *("F-25", "F-26", "F-28", "F-32", "F-33", "F-34", "F-37", "F-42", "F-53", "F-54", "F-55"),
}
"""Mistakes that no recorded run notices, for want of a run in which they matter."""
SHIPPED = tuple(deviation.change for deviation in DEVIATIONS)
ASKED = [d for d in DEVIATIONS if not any(rule.startswith(("CLAIM-", "CTRL-")) for rule in d.rules)]
LEFT_OUT = {d.id: (tuple(change for change in SHIPPED if change is not d.change), ()) for d in ASKED}
ADDED = {f.id: (SHIPPED, (f.change,)) for f in FAULTS if f.tier in ("T1", "T2")}
MISTAKES: dict[str, tuple[tuple[Change, ...], tuple[Change, ...]]] = {**LEFT_OUT, **ADDED}


@lru_cache
def recorded() -> tuple[Recording, ...]:
    """The runs that the model follows to their ends, short ones first."""
    runs = [run for name in FILES for run in load_recorded(DATA / f"{name}.jsonl") if len(run.log) <= LONGEST]
    return tuple(run for run in sorted(runs, key=lambda run: len(run.log)) if follow(run).agrees)


def noticed(mistake: str) -> str | None:
    """The first run that the model with the mistake would not make, None if it would make them all."""
    shipped, fault = MISTAKES[mistake]

    def rules(pinned: bool) -> Rules:
        return profile(INTENDED, *(c for c in shipped if not (pinned and c.id == ORDER)), *fault)

    for run in recorded():
        try:
            parted = follow(run, rules=rules).difference is not None
        except ValueError:
            parted = True
        if parted:
            return run.name
    return None


@pytest.mark.parametrize("mistake", MISTAKES)
def test_recorded_runs_notice_the_mistake(mistake: str) -> None:
    run = noticed(mistake)
    print(f"{mistake}: {run or 'not noticed'}")
    assert (run is None) == (mistake in UNNOTICED)
