"""Terminals, pipes and interruptions: whatever is on the other side, the answer and its exit code get through."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from front_door import PROGRAM, ROOT, TOO_SMALL

TRAINING = str(ROOT / "examples" / "training")
GANGS = str(ROOT / "examples" / "two-gangs")


def a_big_world() -> str:
    """Manifests with far more runs than anybody waits for: pods that all differ, in any order."""
    nodes = [
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n{i}}},"
        f" status: {{allocatable: {{cpu: {i + 3}, memory: 64Gi, pods: 110}}}}}}"
        for i in range(4)
    ]
    pods = [
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: p{i}}}, spec: {{containers: [{{name: c, image: i,"
        f" resources: {{requests: {{cpu: {100 + i}m}}}}}}]}}}}"
        for i in range(14)
    ]
    return "\n---\n".join([*nodes, *pods])


def spent(process: int) -> float:
    """The processor time that a process has used, in seconds: unlike time itself it does not depend on the load."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until(true: Callable[[], bool], seconds: float = 120) -> None:
    """Wait, for two minutes at most."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.1)


def reads(process: int) -> bool:
    """Whether a process sleeps and has not run for half a second: it waits for its input."""
    before = spent(process)
    time.sleep(0.5)
    asleep = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "S"
    return asleep and before > 0.1 and spent(process) == before


def interrupted(arguments: list[str], text: str, after: float) -> tuple[int, str, str]:
    """Exit code, output and errors of the program after a Ctrl-C, `after` so many seconds of processor time."""
    process = subprocess.Popen(
        [PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.close()
    process.stdin = None
    wait_until(lambda: spent(process.pid) >= after)
    assert process.poll() is None, "it ended before it could be interrupted"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_ctrl_c_ends_with_what_was_found_so_far():
    code, out, err = interrupted(
        ["check", "-", "--any-order", "--max-states", "100000000"], a_big_world(), after=3
    )
    assert code == 3, err
    assert out.startswith("inconclusive: 4 Nodes, 14 Pods")
    assert "stopped: interrupted" in out
    assert "Traceback" not in err


def test_ctrl_c_before_anything_was_found():
    process = subprocess.Popen(
        [PROGRAM, "check", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_until(lambda: reads(process.pid))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert b"inconclusive" in err
    assert b"Traceback" not in err


def test_nobody_reads_the_answer():
    process = subprocess.Popen([PROGRAM, "rules"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def test_standard_output_is_closed():
    done = subprocess.run(
        ["sh", "-c", f'exec "{PROGRAM}" check "{TRAINING}" >&-'], capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_an_encoding_without_the_characters(program, tmp_path: Path, environment):
    path = tmp_path / "a.scenario.yaml"
    path.write_text(TOO_SMALL, encoding="utf-8")
    done = program("check", path, **environment)
    assert done.returncode == 1
    assert b"violated" in done.stdout
    assert b"Traceback" not in done.stderr


def test_no_escape_codes_where_nobody_looks(program):
    done = program("check", TRAINING, NO_COLOR="1")
    assert b"\x1b" not in done.stdout + done.stderr
    assert done.stderr == b""
    assert b"\x1b" not in program("prove", "INV-04").stdout


def test_progress_is_on_standard_error_and_only_on_a_terminal(tmp_path: Path):
    main, other = os.openpty()
    try:
        done = subprocess.run(
            [PROGRAM, "check", TRAINING],
            stdout=subprocess.PIPE,
            stderr=other,
            env={**os.environ, "TERM": "xterm"},
            timeout=60,
            check=False,
        )
        seen = os.read(main, 100_000)
    finally:
        os.close(main)
        os.close(other)
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    assert b"gangproof check" in seen


def test_the_same_bytes_whatever_the_hash_seed(program, tmp_path: Path):
    path = tmp_path / "a.scenario.yaml"
    path.write_text(TOO_SMALL, encoding="utf-8")

    def answers(seed: str) -> list[bytes]:
        picture = program("check", path, "-o", "svg", PYTHONHASHSEED=seed).stdout
        report = program("check", GANGS, "--any-order", "-o", "json", PYTHONHASHSEED=seed).stdout
        return [picture, *(line for line in report.splitlines() if b'"seconds"' not in line)]

    assert answers("1") == answers("2")


def test_importing_gangproof_is_cheap():
    code = "import gangproof, sys; print(sorted({'z3', 'hypothesis', 'typer', 'rich'} & set(sys.modules)))"
    done = subprocess.run(
        [PROGRAM.with_name("python"), "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
