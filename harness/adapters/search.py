"""Looking for broken promises on a scheduler that is run: random worlds, or given ones, each run judged from its log.

Every kind of breaking a promise is counted, and of each the smallest world is kept, made smaller by trying what is
left out on the scheduler itself. Where runs differ a world counts as breaking a promise if enough of its runs do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count

from attrs import field, frozen

from gangproof.adapters import answers
from gangproof.adapters.protocol import Adapter, Data
from gangproof.adapters.record import Run, record
from gangproof.counterexamples import Trace
from gangproof.load.recorded import load_recorded_text
from gangproof.properties.conformance.recording import Recording
from gangproof.properties.observed import PROMISES, judge, reached
from gangproof.properties.observed.judging import judge_history
from gangproof.properties.observed.shrinking import smallest, world_of
from gangproof.properties.observed.tracing import trace_of
from gangproof.properties.observed.writing import history_of
from gangproof.properties.verdict import Verdict

Watch = Callable[[str], None]
CANDIDATES = 3
"""So many of the smallest worlds of a kind are tried for being made smaller."""
SAMPLE = 8
"""Runs that tell how often a world breaks a promise."""
QUESTIONS = 300
"""At most so many smaller worlds are tried."""


@frozen
class Found:
    """A kind of breaking a promise: how many of the worlds showed it, and the smallest one that does.

    `broken` of `runs` reruns of `world` broke it so; `trace` is one of them, None if none did.
    """

    kind: str
    worlds: int
    world: Data = field(eq=False, repr=False)
    broken: int = 0
    runs: int = 0
    trace: Trace | None = field(default=None, eq=False, repr=False)

    def __str__(self) -> str:
        share = f"; {self.world['name']} breaks it in {self.broken} of {self.runs} runs" if self.runs else ""
        return f"{self.kind}: {self.worlds} world{'s' if self.worlds != 1 else ''}{share}"


@frozen
class Searched:
    """What judging many runs came to; `unusable` counts the runs that failed, by why.

    `interrupted` says that there were to be more runs.
    """

    scheduler: str
    worlds: int
    found: tuple[Found, ...]
    reached: Mapping[str, int]
    unusable: Mapping[str, int]
    runs: int = 0
    interrupted: bool = False

    @property
    def vacuous(self) -> tuple[str, ...]:
        """The promises whose interesting case no run came to."""
        return tuple(one.id for one in PROMISES if not self.reached.get(one.id))

    @property
    def verdict(self) -> Verdict:
        if self.found:
            return Verdict.VIOLATED
        if self.interrupted:
            return Verdict.INCONCLUSIVE
        if self.runs <= sum(self.unusable.values()):
            return Verdict.NOTHING_CHECKED
        return Verdict.INCONCLUSIVE if self.unusable else Verdict.HOLDS

    def __str__(self) -> str:
        failed = sum(self.unusable.values())
        lines = [
            f"{self.verdict}: {self.worlds} worlds on {self.scheduler}, {self.runs} runs: "
            f"{len(self.found)} kinds of broken promises"
            + (f"; {failed} runs could not be judged" if failed else "")
        ]
        lines += ["  interrupted: there was more to do"] if self.interrupted else []
        lines += [f"  broken: {found}" for found in self.found]
        lines += [f"  not judged: {number} × {why}" for why, number in self.unusable.items()]
        if self.vacuous:
            lines.append(f"  never put to the test: {', '.join(self.vacuous)}")
        return "\n".join(lines)


def play(adapter: Adapter, world: Data, seed: int | None = None) -> Run:
    """A recorded run of the world, with another seed if one is given."""
    setup = {name: value for name, value in world.items() if name != "steps"}
    return record(adapter, setup if seed is None else {**setup, "seed": seed}, world["steps"])


def recording_of(run: Run) -> Recording | None:
    """The run as the promises take it; None if it could not be finished."""
    if run["result"].get("error"):
        return None
    (recording,) = load_recorded_text(json.dumps(run), run["scenario"]["name"])
    return recording


def kinds_of(run: Run) -> frozenset[str]:
    """The kinds of broken promises that a run shows; none if it failed."""
    recording = recording_of(run)
    return frozenset(broken.kind for broken in judge(recording)) if recording is not None else frozenset()


def measure(adapter: Adapter, world: Data, kind: str, seeds: Iterable[int]) -> tuple[int, int]:
    """In how many of the runs, one for each seed, the world shows that kind; and how many runs could be judged."""
    broken = judged = 0
    for seed in seeds:
        recording = recording_of(play(adapter, world, seed))
        if recording is not None:
            judged += 1
            broken += any(one.kind == kind for one in judge(recording))
    return broken, judged


def search(
    adapter: Adapter, worlds: Iterable[Data], *, shrink: bool = True, watch: Watch = lambda _: None
) -> Searched:
    """Run and judge each world once; keep, and make smaller, the smallest world of each kind that was found.

    Ctrl-C ends with what there is, made no smaller. Raises AdapterError if the adapter does not even say who it is.
    """
    who = answers.hello(adapter.hello())
    name = " ".join(filter(None, (who["name"], who.get("version"))))
    seen: dict[str, list[Data]] = {}
    cases, unusable, number, interrupted = Counter[str](), Counter[str](), 0, False
    try:
        for world in worlds:
            watch(f"world {number + 1}, {len(seen)} kinds")
            run = play(adapter, world)
            recording = recording_of(run)
            number += 1
            if recording is None:
                unusable[_why(run["result"]["error"])] += 1
                continue
            cases.update(reached(recording))
            for broken in judge(recording):
                seen.setdefault(broken.kind, []).append(world)
    except KeyboardInterrupt:
        interrupted = True
    seeds = count(1_000)
    found: list[Found] = []
    for kind in sorted(seen, key=lambda kind: (-len(seen[kind]), kind)):
        best = _bare(kind, seen[kind])
        if shrink and not interrupted:
            watch(f"{kind}: making it smaller")
            try:
                best = _kept(adapter, kind, seen[kind], seeds, name)
            except KeyboardInterrupt:
                interrupted = True
        found.append(best)
    return Searched(
        name, number, tuple(found), dict(cases), dict(sorted(unusable.items())), number, interrupted
    )


def repeat(adapter: Adapter, worlds: Sequence[Data], runs: int, *, watch: Watch = lambda _: None) -> Searched:
    """Run each of the worlds so many times, each time with another seed, and judge every run.

    Ctrl-C ends with what there is. Raises AdapterError if the adapter does not even say who it is.
    """
    who = answers.hello(adapter.hello())
    name = " ".join(filter(None, (who["name"], who.get("version"))))
    cases, unusable = Counter[str](), Counter[str]()
    found: list[Found] = []
    begun = played = 0
    interrupted = False
    for world in worlds:
        if interrupted:
            break
        begun += 1
        counts, traces, judged = Counter[str](), dict[str, Trace | None](), 0
        try:
            for seed in range(1, runs + 1):
                watch(f"{world['name']}, run {seed} of {runs}")
                run = play(adapter, world, seed)
                recording = recording_of(run)
                played += 1
                if recording is None:
                    unusable[_why(run["result"]["error"])] += 1
                    continue
                judged += 1
                cases.update(reached(recording))
                for broken in judge(recording):
                    counts[broken.kind] += 1
                    if broken.kind not in traces:
                        traces[broken.kind] = trace_of_kind(recording, broken.kind, name)
        except KeyboardInterrupt:
            interrupted = True
        found += [
            Found(kind, 1, world, number, judged, traces[kind])
            for kind, number in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        ]
    return Searched(
        name, begun, tuple(found), dict(cases), dict(sorted(unusable.items())), played, interrupted
    )


def _why(error: str) -> str:
    """A failure without what tells one run from another: its kind, and the step."""
    kind, _, rest = error.partition(": ")
    return f"{kind} at {rest.partition('(')[2].partition(')')[0] or rest[:40]}"


def _size(world: Data) -> int:
    return len(json.dumps(world["steps"]))


def _bare(kind: str, worlds: Sequence[Data]) -> Found:
    return Found(kind, len(worlds), min(worlds, key=_size))


def _kept(adapter: Adapter, kind: str, worlds: Sequence[Data], seeds: Iterator[int], name: str) -> Found:
    """The smallest of the worlds that show the kind again, made smaller."""
    best = _bare(kind, worlds)
    for world in sorted(worlds, key=_size)[:CANDIDATES]:
        broken, _ = measure(adapter, world, kind, _some(seeds, SAMPLE))
        if not broken:
            continue
        small = shrunk(adapter, world, kind, broken / SAMPLE, seeds)
        again, of = measure(adapter, small, kind, _some(seeds, SAMPLE))
        if again and (best.trace is None or _size(small) < _size(best.world)):
            best = Found(kind, len(worlds), small, again, of, picture(adapter, small, kind, seeds, name))
    return best


def _some(seeds: Iterator[int], number: int) -> Iterator[int]:
    return (next(seeds) for _ in range(number))


def shrunk(adapter: Adapter, world: Data, kind: str, share: float, seeds: Iterator[int]) -> Data:
    """The world made smaller, as long as at least half of that share of its runs still show the kind.

    The same seed is never tried twice, so that what is left does not rest on a lucky one.
    """
    runs = 4 if share >= 0.5 else min(round(4 / share), 40)
    wanted = 2

    def breaks(candidate: Data) -> bool:
        met = 0
        for left in range(runs - 1, -1, -1):
            met += kind in kinds_of(play(adapter, candidate, next(seeds)))
            if met >= wanted:
                return True
            if met + left < wanted:
                return False
        return False

    try:
        return world_of(smallest(world, breaks, budget=QUESTIONS).parts, world)
    except ValueError:
        return world


def picture(adapter: Adapter, world: Data, kind: str, seeds: Iterable[int], name: str) -> Trace | None:
    """The first run that shows the kind, as a trace; None if none of the runs does within as many as are sampled."""
    for seed, _ in zip(seeds, range(SAMPLE * 4), strict=False):
        recording = recording_of(play(adapter, world, seed))
        if recording is not None:
            trace = trace_of_kind(recording, kind, name)
            if trace is not None:
                return trace
    return None


def trace_of_kind(recording: Recording, kind: str, name: str, title: str = "") -> Trace | None:
    """The run as a trace of how it breaks the promise so; None if it does not."""
    history = history_of(recording)
    mode = "cycles side by side" if recording.eager else "cycle by cycle"
    gates = str(recording.settings.gates) or "the defaults"
    meta = (("scheduler", name), ("gates", gates), ("mode", mode))
    for broken in judge_history(history):
        if broken.kind == kind:
            return trace_of(history, broken, meta, title)
    return None
