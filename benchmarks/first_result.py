"""From nothing to the first answer: a fresh process checks the manifests of the README's example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.registry import Row, benchmark, seconds

PROGRAM = Path(sys.executable).with_name("gangproof")
EXAMPLE = Path(__file__).parents[1] / "examples" / "training"
REPEATS = 3


@benchmark("first-result")
def rows() -> list[Row]:
    files = sorted(map(str, EXAMPLE.glob("*.yaml")))

    def check() -> None:
        command = [PROGRAM, "check", *files, "--profile", "intended"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)

    fastest = min(seconds(check) for _ in range(REPEATS))
    what = f"first result: `gangproof check` on {len(files)} small files, a fresh process"
    return [Row(what, "at most", must=5, aim=2, measured=fastest, unit="s")]
