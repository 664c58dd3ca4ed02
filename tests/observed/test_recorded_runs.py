"""Which recorded runs of the real scheduler v1.36.3 break which promises. Each was read before it was listed.

The runs are told by the first word of their name.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gangproof.load.recorded import load_recorded
from gangproof.properties.conformance.recording import Recording
from gangproof.properties.observed import judge, reached
from gangproof.properties.observed.history import UnmarkedError

FILE = Path(__file__).parents[1] / "data" / "recorded.jsonl"
UNMARKED = {"F21p"}
"""Runs that were recorded without telling where in the log each step begins."""
HOT = 37
"""So many runs show a group that is tried without pause; they are told by their number alone."""
BROKEN = {
    "condition-meaning (True, and too few bound)": "j2 j3 F9",
    "evicted-once (by a member)": "k22 k22b F11 F22",
    "freed-room (made by a group, taken by a weaker one)": "F6 r072 r104 r240 r299",
    "freed-room (made by a group, taken by an equal one)": "F6b F6d r087 r183",
    "freed-room (made by a member, taken by a weaker one)": "r390",
    "needed-victims (by a group)": "F21t",
    "no-own-eviction (by a group)": "r008",
    "no-own-eviction (by a member)": "F3 r032 r128 r201 r207",
    "nomination-ends (a group, it keeps others from room)": "F3 F4 F4b",
    "nomination-ends (a group, left over)": "F3",
    "one-round (by a group)": "F21t",
    "room-is-made (a gang)": "F8b",
    "strongest-first (a basic group, for which it has to go again)": "r072 r299 r325",
    "strongest-first (a gang, for which it has to go again)": "F5 F5p F6 r104 r240 r340",
    "strongest-first (a gang, which waits on)": "F5n",
    "useful-eviction (by a member)": "k7 k24 F2 F3 F4b F23 r001 r004 r021 r070 r089 r120 r165 r168 r206 r298 "
    "r315 r350 r379 r391",
    "useful-eviction (by a member, again and again)": "F2 r070 r379",
    "whole-gang": "j2 j3 F9",
    "whole-gang (beside members on their way out)": "F32",
    "whole-unit (by a plain pod)": "k9 F7 r277",
    "work-conserving (a gang of unequal members)": "i1 i1",
}


@pytest.fixture(scope="module")
def runs() -> list[Recording]:
    return [run for run in load_recorded(FILE) if run.marks]


def test_most_runs_can_be_judged(runs: list[Recording]) -> None:
    others = [run for run in load_recorded(FILE) if not run.marks]
    assert {run.name.split()[0] for run in others} == UNMARKED
    assert len(runs) == 383 - len(UNMARKED)
    with pytest.raises(UnmarkedError):
        judge(others[0])


def test_what_the_real_scheduler_breaks(runs: list[Recording]) -> None:
    found: dict[str, list[str]] = {}
    for run in runs:
        for broken in judge(run):
            found.setdefault(broken.kind, []).append(run.name.split()[0])
    hot = found.pop("backoff (a group)")
    assert len(hot) == HOT
    assert {kind: " ".join(names) for kind, names in found.items()} == BROKEN


def test_what_the_real_scheduler_was_asked(runs: list[Recording]) -> None:
    """Promises whose interesting case comes in at least five of the runs, so that keeping them says something."""
    cases = Counter(name for run in runs for name in reached(run))
    often = {name for name, number in cases.items() if number >= 5}
    assert often >= {
        "room",
        "whole-gang",
        "refused",
        "one-domain",
        "woken",
        "condition-final",
        "strongest-first",
    }
    assert cases["alive"] == len(runs)
