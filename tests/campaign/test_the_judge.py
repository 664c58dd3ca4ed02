"""How much the real scheduler's recorded runs are worth: which mistakes of the model would they notice?

The model of v1.36.3 follows every recorded run. Here it has one mistake more: a deviation is left out, or a fault is
switched on. Some run should then part with it. The mistakes that no run notices are named, each with what it would
take. What concerns claims, Jobs, lag and restarts is not asked about: no run that is followed has those.
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
    "DEV-10": "a group whose minimum hangs on a member that another scheduler binds",
    "DEV-14": "a look at the condition of a group whose cycle ended for another reason than want of room",
    "DEV-18": "nothing would do: an entry under no node is memory that decides nothing",
    "DEV-22": "a retry that reads an old condition: views are prompt in every run that is followed",
    "DEV-35": "a member that no plugin of its own wakes, while no sibling is woken for another reason",
    "DEV-53": "a gated pod that would pass its gate at the flush, and no event before it",
    "F-08": "a group that fails although one member alone could evict somebody",
    "F-12": "a plain pod for which one pod of a group that goes as a whole would do",
    "F-14": "a node whose topology label is empty, with members on it and in another domain",
    "F-15": "a trial that fails on a node that the same cycle places somebody on afterwards",
    "F-20": "a node on which pod slots run out within one cycle, before its CPUs",
    "F-25": "a gang that is at its minimum only with a member that succeeded",
    "F-26": "members that are deleted between their decision and their bind, and a gate that their ghosts would open",
    "F-28": "a member that goes when its cycle begins and comes again under its name",
    "F-32": "nothing would do: an entry under no node is memory that decides nothing",
    "F-33": "a pod that is gated for its preemption when the last victim goes, and no event after that",
    "F-34": "a round whose victims are all gone before its last call ends",
    "F-37": "a group that is woken while its victims go, and weaker pods that would do as well",
    "F-42": "a victim that holds room and is not bound yet",
    "F-53": "a controller that clears a gang away: controllers do nothing of themselves in a recorded run",
    "F-54": "a bind that is taken after the eviction of its pod: calls end in a recorded run as they did",
    "F-55": "a member that was never placed, is going, and without which the minimum does not exist",
    "F-66": "a group that evicts for a device that its victim has",
}
"""Mistakes that no recorded run notices, and what a run would have to have to notice each."""
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
