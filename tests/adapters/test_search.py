"""Looking for broken promises on a scheduler that is run: here on the naive one of the examples."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gangproof.adapters.in_process import InProcess, find_class
from gangproof.adapters.protocol import AdapterError
from gangproof.adapters.search import Searched, measure, repeat, search
from gangproof.errors import InputError
from gangproof.load.worlds import load_worlds
from gangproof.properties.verdict import Verdict

Data = dict[str, Any]
sys.path.append(str(Path(__file__).parents[2]))
FirstFit: Any = find_class("examples.first_fit:FirstFit")


def pod(name: str, cpu: int, group: str | None = None) -> Data:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}
    spec: Data = {"priority": 0, "containers": [container]}
    if group is not None:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"kind": "Pod", "metadata": {"name": name}, "spec": spec}


def node(name: str, cpu: int) -> Data:
    status = {"capacity": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}}
    return {"kind": "Node", "metadata": {"name": name}, "status": status}


def gang(name: str, least: int) -> Data:
    return {
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": least}}},
    }


def world(*objects: Data) -> Data:
    return {
        "name": "half a gang",
        "gates": {"GenericWorkload": True, "GangScheduling": True},
        "steps": [
            {"create": list(objects)},
            {"settle": {"idle": 25}},
            {"snapshot": True},
            {"delete": ["Pod/default/q"]},
            {"settle": {"idle": 400}},
            {"snapshot": True},
        ],
    }


CROWDED = world(
    node("n1", 3), node("n2", 1), gang("g", 3), pod("q", 1), *(pod(p, 2, "g") for p in ("p1", "p2", "p3"))
)
ROOMY = world(node("n", 7), gang("g", 3), pod("q", 1), *(pod(p, 2, "g") for p in ("p1", "p2", "p3")))
KIND = "whole-gang"


def found_on(*worlds: Mapping[str, Any], **more: Any) -> Searched:
    return search(InProcess(FirstFit), worlds, **more)


def test_the_naive_scheduler_binds_half_a_gang() -> None:
    report = found_on(CROWDED, ROOMY)
    (found,) = [one for one in report.found if one.kind == KIND]
    assert (found.worlds, found.broken, found.runs) == (1, 8, 8)
    assert found.world["steps"] == [
        {"create": [node("n1", 1), gang("g", 2), pod("p3", 1, "g")]},
        {"settle": {"idle": 25}},
        {"snapshot": True},
    ]
    assert found.trace is not None
    assert found.trace.numbers == (("bound", 1), ("minimum", 2))
    assert report.verdict is Verdict.VIOLATED
    assert str(report).startswith("violated: 2 worlds on first-fit 1, 2 runs: ")
    assert "allowed-node" in report.vacuous


def test_a_world_with_room_for_all_breaks_nothing_of_that_kind() -> None:
    assert measure(InProcess(FirstFit), ROOMY, KIND, range(3)) == (0, 3)
    assert measure(InProcess(FirstFit), CROWDED, KIND, range(3)) == (3, 3)


def test_each_run_of_a_given_world_is_counted() -> None:
    report = repeat(InProcess(FirstFit), [CROWDED], 5)
    assert {found.kind: (found.broken, found.runs) for found in report.found}[KIND] == (5, 5)
    assert report.runs == 5


class Crashing(FirstFit):
    """A scheduler that dies of a gang."""

    def settle(self, idle: float) -> None:
        if self.groups:
            raise RuntimeError("no idea")
        super().settle(idle)


def test_a_run_that_fails_is_told_and_never_called_keeping() -> None:
    report = search(InProcess(Crashing), [CROWDED, world(node("n", 1), pod("q", 1))])
    assert (report.runs, dict(report.unusable)) == (2, {"crash at settle": 1})
    assert report.verdict is Verdict.INCONCLUSIVE
    assert search(InProcess(Crashing), [CROWDED]).verdict is Verdict.NOTHING_CHECKED


class Interrupted(FirstFit):
    """A scheduler during whose third run somebody presses Ctrl-C."""

    runs = 0

    def load(self, setup: dict[str, Any]) -> None:
        Interrupted.runs += 1
        if Interrupted.runs == 3:
            raise KeyboardInterrupt
        super().load(setup)


def test_a_ctrl_c_keeps_the_runs_so_far() -> None:
    Interrupted.runs = 0
    report = search(InProcess(Interrupted), [ROOMY] * 5)
    assert (report.worlds, report.runs, report.interrupted) == (2, 2, True)
    assert report.verdict is Verdict.INCONCLUSIVE if not report.found else Verdict.VIOLATED
    assert "interrupted: there was more to do" in str(report)
    Interrupted.runs = 0
    report = repeat(InProcess(Interrupted), [CROWDED, ROOMY], 5)
    assert (report.worlds, report.runs, report.interrupted) == (1, 2, True)
    assert {found.kind: (found.broken, found.runs) for found in report.found}[KIND] == (2, 2)


class Mute(FirstFit):
    """A scheduler that does not say who it is."""

    def hello(self) -> dict[str, Any]:
        raise AdapterError("refused", "nobody")


def test_who_does_not_say_who_it_is_is_not_asked_further() -> None:
    with pytest.raises(AdapterError, match="nobody"):
        search(InProcess(Mute), [CROWDED])


def test_worlds_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "half.world.yaml"
    path.write_text(json.dumps(CROWDED), encoding="utf-8")
    assert load_worlds(path) == (CROWDED,)


def test_a_world_that_is_none_is_told_by_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "bad.world.yaml"
    path.write_text("name: x\nsteps:\n- settel: true\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.world\.yaml:3: .*settel.*did you mean settle"):
        load_worlds(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"bad\.world\.yaml: found no world, expected a document for each world"
    ):
        load_worlds(path)
    path.write_text("name: x\n", encoding="utf-8")
    with pytest.raises(InputError, match="steps: found nothing, expected the steps of a world"):
        load_worlds(path)
