"""`make findings`: every finding measured anew on the real scheduler, its run recorded, its picture and the page made.

A finding that does not show any more in any run is an error: then the page would tell what cannot be seen.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gangproof.adapters.json_lines import JsonLines
from gangproof.adapters.kube_scheduler import NotBuiltError, find
from gangproof.adapters.protocol import Adapter
from gangproof.adapters.record import Run
from gangproof.adapters.search import kinds_of, play
from gangproof.findings.catalogue import FINDINGS
from gangproof.findings.finding import PAGE, ROOT, RUNS, SHARES, Finding, world_of
from gangproof.findings.page import page, picture_of

MEASURED = 50
"""Runs of each world, each with another seed."""
TIMEOUT = 60.0


def measured(adapter: Adapter, finding: Finding, runs: int) -> tuple[int, int, Run | None]:
    """In how many runs the finding showed, in how many it could be judged, and the first run that shows it."""
    world, broken, judged = world_of(finding), 0, 0
    first: Run | None = None
    for seed in range(1, runs + 1):
        run = play(adapter, {**world, "name": finding.id}, seed)
        if not run["result"].get("error"):
            judged += 1
            if finding.kind in kinds_of(run):
                broken += 1
                first = first or run
    return broken, judged, first


def main() -> int:
    """Measure, record, draw; 0 if every finding showed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=MEASURED, help="runs of each world")
    runs: int = options.parse_args().runs
    try:
        adapter = JsonLines([str(find())], TIMEOUT)
    except NotBuiltError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    shares: dict[str, tuple[int, int]] = {}
    recorded: list[Run] = []
    missing: list[str] = []
    for finding in FINDINGS:
        broken, judged, first = measured(adapter, finding, runs)
        shares[finding.id] = (broken, judged)
        sys.stdout.write(f"{finding.id}: {broken} of {judged} runs\n")
        sys.stdout.flush()
        if first is None:
            missing.append(finding.id)
        else:
            recorded.append(first)
    adapter.close()
    if missing:
        sys.stderr.write(f"error: not seen in any run: {', '.join(missing)}; nothing was written\n")
        return 1
    write(ROOT / RUNS, "".join(json.dumps(run) + "\n" for run in recorded))
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(counted)}" for name, counted in shares.items())
    write(ROOT / SHARES, f"{{\n{lines}\n}}\n")
    for finding in FINDINGS:
        write(ROOT / finding.picture_file, picture_of(finding))
    write(ROOT / PAGE, page())
    return 0


def write(path: Path, text: str) -> None:
    """Write a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
