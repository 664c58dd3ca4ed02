"""The findings on the real scheduler: their recorded runs are judged again, and page and pictures are made of them.

Nothing here runs a scheduler; `make findings` does, and writes all that is compared with here.
"""

from __future__ import annotations

import json

import pytest

from gangproof.findings.catalogue import FINDINGS
from gangproof.findings.finding import PAGE, ROOT, RUNS, WORLDS, Finding, shares, world_of
from gangproof.findings.page import page, picture_of, recorded, trace_of
from gangproof.properties.observed import PROMISES, judge

IDS = [finding.id for finding in FINDINGS]


@pytest.mark.parametrize("finding", FINDINGS, ids=IDS)
def test_the_recorded_run_breaks_the_promise(finding: Finding) -> None:
    assert finding.kind in {broken.kind for broken in judge(recorded()[finding.id])}
    assert trace_of(finding).property_id == finding.kind.partition(" ")[0]


@pytest.mark.parametrize("finding", FINDINGS, ids=IDS)
def test_the_picture_is_that_of_the_recorded_run(finding: Finding) -> None:
    assert (ROOT / finding.picture_file).read_text(encoding="utf-8") == picture_of(finding)


def test_the_page_is_made_of_all_this() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page()


def test_the_recorded_runs_are_runs_of_the_worlds() -> None:
    """Whoever runs the file that the page names sees the same: only name and seed are a run's own."""
    runs = [json.loads(line) for line in (ROOT / RUNS).read_text(encoding="utf-8").splitlines()]
    for finding, run in zip(FINDINGS, runs, strict=True):
        own = {"name": finding.id, "seed": run["scenario"]["seed"]}
        assert {**world_of(finding), **own} == run["scenario"]


def test_every_finding_was_measured_and_shows() -> None:
    assert list(shares()) == IDS
    for finding in FINDINGS:
        broken, judged = shares()[finding.id]
        assert 0 < broken <= judged, finding.id
        assert judged >= 40, finding.id


def test_the_catalogue_is_whole() -> None:
    assert {path.name for path in (ROOT / WORLDS).glob("*.world.yaml")} == {
        f.world_file.name for f in FINDINGS
    }
    promises = {promise.id for promise in PROMISES}
    assert {finding.kind.partition(" ")[0] for finding in FINDINGS} <= promises
    for finding in FINDINGS:
        assert bool(finding.see) or finding.status in ("no public report found", "documented limit"), (
            finding.id
        )
    order = ["no public report found", "reported", "repaired in v1.37", "documented limit"]
    found = [order.index(finding.status) for finding in FINDINGS]
    assert found == sorted(found), "the strongest come first"
