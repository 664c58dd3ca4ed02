"""The protocol, in process and as JSON lines: every way to fail is told and ends one run, not the next one."""

from __future__ import annotations

import os
import queue
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty import Faulty

from gangproof.adapters import Adapter, AdapterError, answers
from gangproof.adapters.in_process import InProcess, NotAnAdapterError, find_class
from gangproof.adapters.json_lines import JsonLines
from gangproof.adapters.record import record

PROGRAM = [sys.executable, str(Path(__file__).with_name("faulty.py"))]
POD = {"kind": "Pod", "metadata": {"name": "p"}}
FINE = [{"create": [POD]}, {"settle": True}, {"snapshot": True}]


@pytest.fixture(params=["in process", "JSON lines"])
def adapter(request: pytest.FixtureRequest) -> Iterator[Adapter]:
    it = InProcess(Faulty) if request.param == "in process" else JsonLines(PROGRAM, 3.0)
    yield it
    it.close()


@pytest.fixture
def lines() -> Iterator[JsonLines]:
    it = JsonLines(PROGRAM, 3.0)
    yield it
    it.close()


def result(adapter: Adapter, *steps: Any, name: str = "r") -> dict[str, Any]:
    return record(adapter, {"name": name}, steps)["result"]


def assert_goes_on(adapter: Adapter) -> None:
    ended = result(adapter, *FINE)
    assert "error" not in ended
    assert list(ended["snapshots"][0]["pods"]) == ["p"], "of a cluster of its own"


def test_a_run_is_recorded_as_it_is_read_again(adapter: Adapter) -> None:
    run = record(adapter, {"name": "r", "gates": {}}, FINE)
    assert run == {
        "scenario": {"name": "r", "gates": {}, "steps": FINE},
        "result": {
            "name": "r",
            "snapshots": [{"t": 0, "pods": {"p": {}}}],
            "log": [],
            "cycles": 0,
            "marks": [0, 0, 0],
        },
    }


def test_each_load_is_a_fresh_cluster(adapter: Adapter) -> None:
    assert_goes_on(adapter)
    assert result(adapter, {"snapshot": True})["snapshots"][0]["pods"] == {}


def test_a_refused_step_ends_the_run_and_not_the_adapter(adapter: Adapter) -> None:
    ended = result(adapter, {"create": [POD]}, {"restart": True}, {"snapshot": True})
    assert ended["error"] == "refused: step 2 (restart): restart: no such step"
    assert ended["snapshots"] == []
    assert_goes_on(adapter)


def test_a_crash_is_told_and_the_next_run_is_whole(adapter: Adapter) -> None:
    ended = result(adapter, {"create": [POD]}, {"fail": ["crash"]})
    assert ended["error"].startswith("crash: step 2 (fail): ")
    assert "RuntimeError: it is broken" in ended["error"]
    assert "\n" not in ended["error"]
    assert_goes_on(adapter)


def test_a_crash_at_load_is_one_too(adapter: Adapter) -> None:
    ended = result(adapter, name="crash at load")
    assert ended["error"].startswith("crash: load: ")
    assert "no room" in ended["error"]
    assert_goes_on(adapter)


def test_a_wrong_answer_is_told_by_field(adapter: Adapter) -> None:
    ended = result(adapter, {"fail": ["look"]}, {"snapshot": True})
    assert ended["error"] == (
        "answer: step 2 (snapshot): observe: pods.p.node: found the integer 3, expected a string; quote it"
    )
    assert_goes_on(adapter)


def test_a_crash_tells_the_exit_code_and_the_last_words(lines: JsonLines) -> None:
    ended = result(lines, {"fail": ["exit"]})
    assert ended["error"] == (
        "crash: step 1 (fail): it ended with exit code 7 at do; it said: first line | the last words"
    )
    assert_goes_on(lines)


def test_a_hang_is_cut_off_and_the_next_run_is_whole(lines: JsonLines) -> None:
    began = time.monotonic()
    ended = result(lines, {"fail": ["hang"]})
    assert ended["error"] == "hang: step 1 (fail): no answer to do within 3 s"
    assert time.monotonic() - began < 20
    assert_goes_on(lines)


def test_garbage_is_told_and_the_next_run_is_whole(lines: JsonLines) -> None:
    ended = result(lines, {"fail": ["garbage"]})
    assert ended["error"] == "answer: step 1 (fail): do: found 'this is no answer', expected a JSON object"
    assert_goes_on(lines)


def test_a_program_that_is_killed_from_outside_is_a_crash(lines: JsonLines) -> None:
    lines.load({})
    process = lines._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    os.kill(process.process.pid, signal.SIGKILL)
    with pytest.raises(AdapterError, match="it was ended by SIGKILL at observe"):
        lines.observe()
    assert_goes_on(lines)


def test_a_slow_start_is_no_hang() -> None:
    slow = JsonLines([*PROGRAM, "slow"], 10.0)
    assert answers.hello(slow.hello())["name"] == "faulty"
    slow.close()


def test_closing_ends_the_program(lines: JsonLines) -> None:
    lines.load({})
    process = lines._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    lines.close()
    assert process.process.returncode == 0, "it ended by itself, once nothing more was asked"


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="cannot be started: No such file or directory"):
        JsonLines([str(tmp_path / "none")]).hello()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([], "hello: found an empty list, expected a mapping with name, version, protocol, can"),
        ({"name": "s"}, "hello: protocol: found None, expected 1"),
        ({"name": "s", "protocol": 2}, "hello: protocol: found 2, expected 1"),
        ({"protocol": 1}, "hello: name: found nothing, expected the scheduler's name"),
        ({"name": "s", "protocol": 1, "cant": []}, 'found the unknown field "cant", expected a known field'),
    ],
)
def test_who_it_is_must_be_said(answer: Any, said: str) -> None:
    with pytest.raises(AdapterError, match=r"^answer: ") as error:
        answers.hello(answer)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("faulty", "found 'faulty', expected MODULE:CLASS"),
        ("no_such:It", "no_such cannot be imported: ModuleNotFoundError"),
        ("faulty:No", "found no class No in faulty"),
        ("json:JSONDecoder", "json:JSONDecoder: found no hello, load, do"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(name: str, said: str) -> None:
    with pytest.raises(NotAnAdapterError) as error:
        find_class(name)
    assert said in str(error.value)


def test_a_class_is_found_by_its_name() -> None:
    assert isinstance(find_class("faulty:Faulty")(), Faulty)


def test_an_interrupt_leaves_no_answer_for_the_next_request(lines: JsonLines) -> None:
    lines.load({})
    process = lines._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None

    class Interrupted(queue.SimpleQueue[str | None]):
        def get(self, block: bool = True, timeout: float | None = None) -> str | None:
            raise KeyboardInterrupt

    process.answers = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        lines.observe()
    assert process.process.returncode is not None
    assert_goes_on(lines)


def test_starting_the_program_is_its_own_session(lines: JsonLines) -> None:
    """Ctrl-C must reach us alone, or an interrupted run would count as a crash."""
    lines.load({})
    process = lines._process  # pyright: ignore[reportPrivateUsage]
    assert process is not None
    assert os.getsid(process.process.pid) != os.getsid(0)
