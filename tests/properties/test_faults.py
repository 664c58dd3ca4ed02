"""Every known fault is caught by a property that is named for it, and with the fault off nothing is.

The table below is what each fault has to come to: the property that catches it, the length of the run, and the
states that were looked at. Run this file to print `docs/faults.md`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, profile
from gangproof.load import load_scenarios_text
from gangproof.properties.faults import (
    FAULTS,
    Fault,
    FaultResult,
    Unfaulted,
    cases_text,
    run_fault,
    without_fault,
)
from gangproof.properties.faults.fault import PROMISES
from gangproof.properties.faults.page import page
from gangproof.properties.faults.queueing import counting, members_now, members_tried
from gangproof.properties.judges.everything import questions
from gangproof.properties.refinement.steps import REFINEMENT
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.search.explore import explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.worlds.named import NAMED

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
NUMBERS = [
    *(1, 2, 3, 4, 6, 7, 8, 10, *range(12, 31), *range(32, 38), 39, 40, *range(42, 56)),
    *(*range(58, 63), 64, 66, 67, *range(69, 74), *range(76, 92)),
]
"""The faults that are known. Of the ids up to 91 the others are behaviour that breaks no promise."""

CAUGHT = {
    "F-01": ("INV-03", 5, 3),
    "F-02": ("THM-13", 8, 4),
    "F-03": ("INV-14", 6, 3),
    "F-04": ("LIVE-14", 5, 4),
    "F-06": ("LIVE-14", 6, 4),
    "F-07": ("INV-18", 6, 3),
    "F-08": ("INV-18", 6, 3),
    "F-10": ("PREEMPT-26", 7, 3),
    "F-12": ("INV-17", 7, 3),
    "F-13": ("THM-13", 7, 3),
    "F-14": ("INV-21", 7, 3),
    "F-15": ("INV-07", 8, 3),
    "F-16": ("LIVE-14", 7, 4),
    "F-17": ("LIVE-14", 7, 4),
    "F-18": ("INV-17", 12, 3),
    "F-19": ("INV-05", 8, 4),
    "F-20": ("INV-05", 6, 3),
    "F-21": ("INV-05", 5, 3),
    "F-22": ("LIVE-13", 5, 3),
    "F-23": ("INV-13", 9, 9),
    "F-24": ("INV-08", 5, 3),
    "F-25": ("LIVE-02", 10, 10),
    "F-26": ("INV-11", 6, 4),
    "F-27": ("LIVE-14", 18, 1441),
    "F-28": ("INV-09", 10, 144),
    "F-29": ("INV-38", 6, 3),
    "F-30": ("INV-08", 7, 5),
    "F-32": ("INV-37", 3, 3),
    "F-33": ("LIVE-06", 11, 10),
    "F-34": ("LIVE-06", 10, 10),
    "F-35": ("INV-11", 6, 4),
    "F-36": ("INV-03", 7, 6),
    "F-37": ("INV-20", 12, 11),
    "F-39": ("INV-37", 16, 17),
    "F-40": ("INV-37", 8, 5),
    "F-42": ("INV-04", 7, 7),
    "F-43": ("LIVE-08", 7, 7),
    "F-44": ("LIVE-14", 10, 16),
    "F-45": ("LIVE-09", 7, 3),
    "F-46": ("INV-37", 6, 3),
    "F-47": ("INV-03", 8, 3),
    "F-48": ("LIVE-01", 4, 4),
    "F-49": ("LIVE-08", 10, 11),
    "F-50": ("INV-13", 8, 7),
    "F-51": ("INV-03", 5, 5),
    "F-52": ("INV-01", 11, 10),
    "F-53": ("INV-04", 8, 7),
    "F-54": ("INV-05", 11, 14),
    "F-55": ("INV-11", 4, 2),
    "F-58": ("LIVE-14", 8, 4),
    "F-59": ("INV-23", 11, 3),
    "F-60": ("INV-03", 10, 7),
    "F-61": ("INV-24", 14, 11),
    "F-62": ("INV-26", 9, 3),
    "F-64": ("INV-25", 11, 3),
    "F-66": ("LIVE-14", 5, 4),
    "F-67": ("INV-07", 12, 3),
    "F-69": ("LIVE-14", 9, 4),
    "F-70": ("INV-05", 6, 3),
    "F-71": ("INV-03", 10, 9),
    "F-72": ("INV-06", 9, 7),
    "F-73": ("LIVE-14", 5, 4),
    "F-76": ("INV-13", 7, 4),
    "F-77": ("INV-22", 8, 3),
    "F-78": ("LIVE-10", 11, 7),
    "F-79": ("LIVE-15", 20, 86),
    "F-80": ("LIVE-15", 3, 3),
    "F-81": ("INV-13", 6, 5),
    "F-82": ("INV-29", 6, 5),
    "F-83": ("LIVE-12", 10, 9),
    "F-84": ("INV-29", 8, 13),
    "F-85": ("LIVE-15", 4, 4),
    "F-86": ("INV-32", 3, 5),
    "F-87": ("INV-11", 6, 4),
    "F-88": ("refinement", 4, 1),
    "F-89": ("INV-08", 5, 4),
    "F-90": ("INV-33", 9, 11),
    "F-91": ("INV-11", 12, 202),
}


@cache
def case(id: str) -> Scenario:
    return {document.id: document for document in load_scenarios_text(cases_text(), "cases")}[id]


@cache
def results() -> dict[str, FaultResult]:
    return {fault.id: run_fault(fault, case(fault.id)) for fault in FAULTS}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_the_fault_is_caught_by_a_property_that_is_named_for_it(fault: Fault) -> None:
    found = results()[fault.id]
    assert found.killed_by is not None, str(found)
    assert found.killed_by == REFINEMENT or found.killed_by in fault.properties
    assert (found.killed_by, found.depth, found.states) == CAUGHT[fault.id]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_the_run_that_shows_it_is_a_run_of_the_faulty_rules_from_the_empty_cluster(fault: Fault) -> None:
    found = results()[fault.id]
    path = found.path
    assert path is not None and len(path) == found.depth
    assert not path.initial.pods and not path.initial.nodes
    assert [action.name for action in path.actions].count("create") >= 2


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_with_the_fault_off_its_case_holds(fault: Fault) -> None:
    assert without_fault(fault, case(fault.id)) == Unfaulted()


def test_every_known_fault_is_built() -> None:
    built = [fault.id for fault in FAULTS]
    assert len(NUMBERS) == 78
    assert sorted(built) == [f"F-{number:02}" for number in NUMBERS]
    assert [document.id for document in load_scenarios_text(cases_text(), "cases")] == built


def test_faults_change_few_steps_and_name_promises_that_exist() -> None:
    for fault in FAULTS:
        assert 1 <= len(fault.steps) <= 4, fault.id
        assert set(fault.caught_by) <= PROMISES.keys(), fault.id
        profile(INTENDED, fault.change)


def test_a_change_that_changes_nothing_survives() -> None:
    """So the verdict comes from what the fault does, not from the case."""
    for fault in FAULTS:
        harmless = Fault(Change(fault.id, "as before"), "none", "T1", fault.caught_by, "", "", "")
        assert run_fault(harmless, case(fault.id)).killed_by is None, fault.id


def test_a_fault_is_not_caught_by_a_property_that_is_not_named_for_it() -> None:
    """Capacity breaks when pod slots are not charged; who asks about the order of the queue hears nothing."""
    (slots,) = (fault for fault in FAULTS if fault.id == "F-20")
    deaf = Fault(slots.change, slots.name, slots.tier, ("queue order",), "", "", "")
    assert run_fault(deaf, case("F-20")).killed_by is None


def test_members_and_total_of_one_instant_leave_nobody_behind() -> None:
    """F-27 is not that members wait for room: the same scheduler, with both numbers of one instant, is right."""
    assert run_fault(counting(members_now), case("F-27")).killed_by == "LIVE-14"
    right = run_fault(counting(members_tried), case("F-27"))
    assert (right.killed_by, right.states) == (None, 1423)


def test_a_shipped_deviation_from_the_backoff_breaks_its_property() -> None:
    """DEV-12: an idle queue is popped before the backoff is over (LIVE-09)."""
    (deviation,) = (deviation for deviation in DEVIATIONS if deviation.id == "DEV-12")
    short = NAMED["short"].world
    intended = explore(Machine(INTENDED, [short]), questions())
    shipped = explore(Machine(profile(INTENDED, deviation.change), [short]), questions())
    assert list(intended.counterexamples) == []
    assert "LIVE-09" in shipped.counterexamples


def test_the_page_says_what_was_found() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(FAULTS, results())


if __name__ == "__main__":
    print(page(FAULTS, results()), end="")
