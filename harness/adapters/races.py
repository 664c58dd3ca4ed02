"""The races of v1.36.3, told by what they leave behind in a run.

A document that names no profile leaves races out: they strike a small share of runs in almost any document of
their kind. A real scheduler has them wherever cycles run side by side, so a run that one of them has struck says
nothing about such a document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]
WAITS = "gated by DefaultPreemption"
SCHEDULED = "PodGroupScheduled=True"


def struck(look: Data, events: Sequence[Data]) -> str | None:
    """The id of the race that has struck in the run up to this look at a cluster at rest, None if none has."""
    if any(pod.get("queue") == WAITS for pod in look["pods"].values()):
        return "DEV-55"  # it waits for an eviction, and none is under way any more
    scheduled: set[str] = set()
    for event in events:
        if event.get("ev") != "groupCondition":
            continue
        if (event.get("msg") or "").startswith(SCHEDULED):
            scheduled.add(event["obj"])
        elif event["obj"] in scheduled:
            return "DEV-22"  # True is final, but for a write from a copy older than the scheduler's own last write
    return None
