"""Driving an adapter through steps, and keeping what came of it as a recorded run.

A run that could not be finished is recorded as well: `result.error` says why, and what was seen up to there is
kept as far as the adapter still tells.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from gangproof.adapters import answers
from gangproof.adapters.protocol import Adapter, AdapterError, Data
from gangproof.load.schema import is_mapping

IDLE = 25
"""Simulated seconds without a change after which a cluster has settled: more than two of the longest backoffs."""
Run = dict[str, Any]
"""A recorded run as plain data: a line of a file that `gangproof conform recorded` reads."""


def record(adapter: Adapter, setup: Data, steps: Sequence[Data]) -> Run:
    """The recorded run of these steps, `settle` and `snapshot` included, on a fresh cluster.

    `result.marks` tells for each step how many events of the log came before it. An AdapterError ends the run
    and becomes its `result.error`; then there are fewer marks and looks, and a log only if the adapter goes on.
    """
    result: dict[str, Any] = {"name": setup.get("name") or "", "snapshots": [], "log": [], "cycles": 0}
    result["marks"] = []
    where = "load"
    try:
        adapter.load(setup)
        for number, step in enumerate(steps, 1):
            where = f"step {number} ({', '.join(step)})"
            result["marks"].append(answers.length(adapter.log()))
            _take(adapter, step, result["snapshots"])
        where = "log"
        _keep_log(adapter, result)
    except AdapterError as error:
        result["error"] = f"{error.kind}: {where}: {error.message}"
        if error.kind == "refused":
            with contextlib.suppress(AdapterError):
                _keep_log(adapter, result)
    return {"scenario": {**setup, "steps": list(steps)}, "result": result}


def _take(adapter: Adapter, step: Data, looks: list[Data]) -> None:
    if "settle" in step:
        wanted = step["settle"]
        adapter.settle(wanted.get("idle") or IDLE if is_mapping(wanted) else IDLE)
    elif "snapshot" in step:
        looks.append(answers.look(adapter.observe()))
    else:
        adapter.do(step)


def _keep_log(adapter: Adapter, result: dict[str, Any]) -> None:
    log = answers.log(adapter.log())
    result["log"] = list(log.get("events") or ())
    result["cycles"] = log.get("cycles") or 0
    result.update({name: log[name] for name in ("hotLoop", "errors") if log.get(name)})
