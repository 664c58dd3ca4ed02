"""Random runs by Hypothesis with up to 6 nodes and 12 pods: how many actions a second, how much of it judging."""

from __future__ import annotations

from benchmarks.own_model import cpu_seconds
from benchmarks.registry import Row, benchmark
from gangproof.impl.actions import Action
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import World
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.system import Questions
from gangproof.properties.worlds.stateful import Fuzzed, Size, fuzz

RUNS = 200
SIZE = Size(nodes=6, groups=3, pods=12)


def timed(asked: Questions[World, Action]) -> tuple[Fuzzed, float]:
    """Some random runs, always the same ones, and the seconds of one core that they take."""
    found: list[Fuzzed] = []
    spent = cpu_seconds(lambda: found.append(fuzz(INTENDED, asked, size=SIZE, runs=RUNS)))
    return found[0], spent


@benchmark("stateful")
def rows() -> list[Row]:
    bare, bare_seconds = timed(Questions())
    judged, judged_seconds = timed(questions())
    if bare.steps != judged.steps:
        raise AssertionError(f"{bare.steps:,} actions bare and {judged.steps:,} judged: {judged}")
    what = f"Hypothesis machine, {SIZE.nodes} nodes, {SIZE.pods} pods"
    rate, share = judged.steps / judged_seconds, 100 * (1 - bare_seconds / judged_seconds)
    return [
        Row(f"{what}: with every invariant", "at least", 1_000, 2_000, rate, "actions/s"),
        Row(f"{what}: time spent in invariants and refinement", "at most", 75, 50, share, "%"),
    ]
