"""Random worlds on a scheduler, each run followed by the model: where they part, and the smallest world that shows it.

A world that differs is made smaller by trying what is left out on the scheduler and on the model both, as long as
they part in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import evolve

from gangproof.adapters import answers
from gangproof.adapters.protocol import Adapter
from gangproof.adapters.record import Run, record
from gangproof.load.recorded import load_recorded_text
from gangproof.properties.conformance.follow import Difference, Followed, follow
from gangproof.properties.conformance.report import ConformanceReport
from gangproof.properties.observed.shrinking import parts_of, smallest, world_of

World = Mapping[str, Any]
QUESTIONS = 200
"""At most so many smaller worlds are tried for one that differs."""


def agree(
    adapter: Adapter,
    worlds: Iterable[World],
    watch: Callable[[str], None] = lambda _: None,
    keep: Callable[[Run], None] = lambda _: None,
) -> ConformanceReport:
    """Follow each world's run; `keep` gets the recorded runs, of those that differ the smallest.

    Ctrl-C ends with what there is. Raises AdapterError if the adapter does not even say who it is.
    """
    answers.hello(adapter.hello())
    report = ConformanceReport((), what="random worlds")
    try:
        for world in worlds:
            watch(f"{world['name']}, {len(report.differ)} differ")
            run, followed = _followed(adapter, world)
            if followed.difference is not None:
                watch(f"{world['name']} differs: making it smaller")
                run, followed = _smallest(adapter, world, followed.difference) or (run, followed)
            keep(run)
            report = evolve(report, runs=(*report.runs, followed))
    except KeyboardInterrupt:
        return evolve(report, interrupted=True)
    return report


def _followed(adapter: Adapter, world: World) -> tuple[Run, Followed]:
    setup = {name: value for name, value in world.items() if name != "steps"}
    run = record(adapter, setup, world["steps"])
    if run["result"].get("error"):
        return run, Followed(str(world["name"]), needs=(run["result"]["error"],))
    (recording,) = load_recorded_text(json.dumps(run), str(world["name"]))
    return run, follow(recording)


def _smallest(adapter: Adapter, world: World, difference: Difference) -> tuple[Run, Followed] | None:
    """The run of the smallest world in which scheduler and model part in the same way.

    None if it does not differ so again once it is taken apart and put together.
    """

    def still(smaller: World) -> bool:
        other = _followed(adapter, smaller)[1].difference
        return other is not None and other.kind == difference.kind

    if not still(world_of(parts_of(world), world)):
        return None
    return _followed(adapter, world_of(smallest(world, still, budget=QUESTIONS).parts, world))
