"""Choose from saved runs of random worlds a few that are small and show much: what `worlds.jsonl` was made with.

    gangproof conform kube-scheduler --worlds N --seed S --save runs.jsonl
    python tests/data/choose.py runs.jsonl… > tests/data/worlds.jsonl

A run has traits: what was done, what happened, what was seen, some with the gates that were not as by default. The next
to be taken is the one that adds most for its length; a trait that many have shown already adds little. Only runs with
which the model agrees are taken: it is no place for what is still to be mended.
"""

from __future__ import annotations

import heapq
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from gangproof.load.recorded import load_recorded_text
from gangproof.properties.conformance.follow import follow

FULL = 1_300_000
"""Bytes."""
LONGEST = 10_000
"""Bytes of one run."""


def traits(run: dict[str, Any]) -> Iterator[str]:
    """What the run shows, each trait in words without names and numbers."""
    scenario, result = run["scenario"], run["result"]
    features = scenario["name"].partition("-")[0]
    gates = " ".join(f"{gate}={on}" for gate, on in sorted(scenario["gates"].items()))
    yield f"{features} {gates}"
    yield f"{features} {scenario.get('score')} {scenario.get('order')} {scenario.get('noBackoff')}"
    steps = [next(iter(step)) for step in scenario["steps"]]
    yield from (f"{one} then {other}" for one, other in pairwise(steps))
    if result.get("error"):
        yield "refused"
    events = [f"{event['ev']} {re.sub(r'[0-9]+', 'N', event.get('msg', ''))}" for event in result["log"]]
    yield from (f"{gates}: {event}" for event in events)
    yield from (f"{features}: {one} then {other}" for one, other in pairwise(events))
    for look in result["snapshots"]:
        for pod in look["pods"].values():
            seen = (
                pod.get("cond"),
                pod.get("queue"),
                "nominated" in pod,
                pod.get("deleting"),
                pod.get("plugins"),
            )
            yield f"{features} {seen}"


def chosen(lines: list[str]) -> list[str]:
    """The lines of the runs that are taken, in the order of their names."""
    known = {line: frozenset(traits(json.loads(line))) for line in lines if len(line) <= LONGEST}
    times: Counter[str] = Counter()

    def worth(line: str) -> float:
        return sum(1 / (1 + times[trait]) ** 2 for trait in known[line]) / (500 + len(line))

    heap = [(-worth(line), line) for line in known]
    heapq.heapify(heap)
    taken: list[str] = []
    size = 0
    while heap:
        _, line = heapq.heappop(heap)
        now = worth(line)
        if heap and -now > heap[0][0]:
            heapq.heappush(heap, (-now, line))
        elif size + len(line) <= FULL and follow(load_recorded_text(line)[0]).agrees:
            taken.append(line)
            size += len(line)
            times.update(known[line])
    return sorted(taken, key=lambda line: json.loads(line)["scenario"]["name"])


if __name__ == "__main__":
    every = dict.fromkeys(
        line for file in sys.argv[1:] for line in Path(file).read_text().splitlines(keepends=True)
    )
    sys.stdout.writelines(chosen(list(every)))
