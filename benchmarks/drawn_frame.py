"""One drawn frame: how large it is, and that it has the same bytes each time.

The run that shows the fault F-01, and a cluster with more nodes and pods than fit into one picture. Fresh
processes draw them, each with another hash seed.
"""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.registry import Row, benchmark

DRAWING = """
from gangproof.counterexamples import picture
from gangproof.faults import trace_of, try_fault
from tests.counterexamples.handmade_traces import crowd
trace = {trace}
print(max((picture(trace, frame) for frame in range(len(trace.frames))), key=len), end="")
"""
TRACES = {"of the run that shows F-01": 'trace_of(try_fault("F-01"))', "of a crowded cluster": "crowd()"}


def largest_frame(trace: str, hash_seed: int) -> bytes:
    """The largest frame as SVG, drawn by a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", DRAWING.format(trace=trace)]
    return subprocess.run(command, check=True, capture_output=True, env=environment, timeout=300).stdout


@benchmark("drawn-frame")
def rows() -> list[Row]:
    return [_row(name, trace) for name, trace in TRACES.items()]


def _row(name: str, trace: str) -> Row:
    svg, again = largest_frame(trace, 1), largest_frame(trace, 2)
    if svg != again or not svg.startswith(b"<svg"):
        raise AssertionError(f"{len(svg)} bytes, then {len(again)} other ones")
    what = f"one drawn frame (SVG), the largest {name}, the same bytes each time"
    return Row(what, "at most", must=50, aim=20, measured=len(svg) / 1000, unit="kB")
