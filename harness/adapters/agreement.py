"""Random worlds on a scheduler, each run followed by the model: where they part, and the smallest world that shows it.

A world that differs is made smaller by trying what is left out on the scheduler and on the model both, as long as
they part in the same way. Worlds are shared out among processes, each with a scheduler of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from attrs import field, frozen

from gangproof.adapters import answers
from gangproof.adapters.json_lines import TIMEOUT, JsonLines
from gangproof.adapters.protocol import Adapter
from gangproof.adapters.record import Run, record
from gangproof.load.recorded import load_recorded_text
from gangproof.properties.campaign import local_processes, run
from gangproof.properties.conformance.follow import follow
from gangproof.properties.conformance.followed import Difference, Followed
from gangproof.properties.conformance.report import ConformanceReport
from gangproof.properties.observed.shrinking import parts_of, smallest, sound, world_of

World = Mapping[str, Any]
QUESTIONS = 200
"""At most so many smaller worlds are tried for one that differs."""


@frozen
class Program:
    """A scheduler to start: its command, and its seconds of wall time for one answer."""

    command: tuple[str, ...]
    timeout: float = TIMEOUT

    def start(self) -> Adapter:
        return JsonLines(self.command, self.timeout)


@frozen
class Agreement:
    """What came of the worlds, in their order: the report and the recorded runs, each of the smallest that differs."""

    report: ConformanceReport
    runs: tuple[Run, ...] = field(repr=False)


def agree(
    program: Program,
    worlds: Sequence[World],
    *,
    processes: int = 1,
    watch: Callable[[str], None] = lambda _: None,
) -> Agreement:
    """Follow each world's run, so many at the same time; whatever their number, the answer is the same.

    Ctrl-C ends with what there is. Raises AdapterError if the program does not even say who it is.
    """
    adapter = program.start()
    try:
        answers.hello(adapter.hello())
        if processes > 1 and len(worlds) > 1:
            found, interrupted = _at_once(program, worlds, processes, watch)
        else:
            found, interrupted = _one_by_one(adapter, worlds, watch)
    finally:
        adapter.close()
    followed = tuple(followed for _, followed in found)
    report = ConformanceReport(followed, what="random worlds", interrupted=interrupted)
    return Agreement(report, tuple(run for run, _ in found))


Found = tuple[Run, Followed]


def _one_by_one(
    adapter: Adapter, worlds: Sequence[World], watch: Callable[[str], None]
) -> tuple[list[Found], bool]:
    found: list[Found] = []
    differ = 0
    try:
        for number, world in enumerate(worlds, 1):
            watch(f"{number} of {len(worlds)} worlds, {differ} differ")
            found.append(judged(adapter, world))
            differ += found[-1][1].difference is not None
    except KeyboardInterrupt:
        return found, True
    return found, False


def _at_once(
    program: Program, worlds: Sequence[World], processes: int, watch: Callable[[str], None]
) -> tuple[list[Found], bool]:
    def told(ended: int, of: int) -> None:
        watch(f"{ended} of {of} worlds")

    with local_processes(min(processes, len(worlds))) as executor:
        campaign = run(executor, partial(_judged_here, program), worlds, progress=told)
    for error in campaign.errors.values():
        raise error
    return [campaign.results[place] for place in sorted(campaign.results)], bool(campaign.unfinished)


def _judged_here(program: Program, world: World) -> Found:
    return judged(_started(program), world)


@cache
def _started(program: Program) -> Adapter:
    """The scheduler of this process; it ends with the process."""
    return program.start()


def judged(adapter: Adapter, world: World) -> Found:
    """The recorded run of a world and what following it came to; if they part, those of the smallest such world."""
    recorded, followed = _followed(adapter, world)
    if followed.difference is None:
        return recorded, followed
    return _smallest(adapter, world, followed.difference) or (recorded, followed)


def _followed(adapter: Adapter, world: World) -> Found:
    setup = {name: value for name, value in world.items() if name != "steps"}
    recorded = record(adapter, setup, world["steps"])
    error = recorded["result"].get("error") or ""
    if error and not error.startswith("refused: step "):
        return recorded, Followed(str(world["name"]), needs=(error,))
    (recording,) = load_recorded_text(json.dumps(recorded), str(world["name"]))
    return recorded, follow(recording)


def _smallest(adapter: Adapter, world: World, difference: Difference) -> Found | None:
    """The run of the smallest world in which scheduler and model part in the same way.

    Each world is run once, since a race may come out otherwise the next time. None if it does not differ so again
    once it is taken apart and put together, or if what it names is not all there.
    """
    found: dict[str, Found] = {}

    def run_once(smaller: World) -> Found:
        key = json.dumps(smaller, sort_keys=True)
        if key not in found:
            found[key] = _followed(adapter, smaller)
        return found[key]

    def still(smaller: World) -> bool:
        other = run_once(smaller)[1].difference
        return other is not None and other.kind == difference.kind

    parts = parts_of(world)
    if not (sound(parts) and still(world_of(parts, world))):
        return None
    return run_once(world_of(smallest(world, still, budget=QUESTIONS).parts, world))
