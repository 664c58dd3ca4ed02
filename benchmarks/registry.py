"""What a benchmark is: a named function that measures something and gives rows of the table.

A number on one machine says little, so a row is a ratio of two things measured in the same run where it can
be, and the repeats of what is compared take turns, so that a machine that slows down slows both.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal

from attrs import frozen


@frozen
class Row:
    """A line of the table: what was measured, in which unit, and what it must and should be.

    `bound` says which side is good: "at most" the numbers, or "at least".
    """

    what: str
    bound: Literal["at most", "at least"]
    must: float
    aim: float
    measured: float
    unit: str

    def reaches(self, number: float) -> bool:
        """Whether the measured number is as good as this one."""
        return self.measured <= number if self.bound == "at most" else self.measured >= number

    @property
    def outcome(self) -> str:
        if self.reaches(self.aim):
            return "aim reached"
        return "must reached" if self.reaches(self.must) else "missed"

    def __str__(self) -> str:
        numbers = (_number(self.must), _number(self.aim), _number(self.measured))
        must, aim, measured = (f"{number} {self.unit}" for number in numbers)
        return f"| {self.what} | {self.bound} {must} | {aim} | {measured} | {self.outcome} |"


HEADER = "| what | must | aim | measured | |\n|---|---|---|---|---|"

Benchmark = Callable[[], Sequence[Row]]
BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(name: str) -> Callable[[Benchmark], Benchmark]:
    """Enter a function under a name by which it can be run alone. Raises ValueError if the name is taken."""

    def enter(function: Benchmark) -> Benchmark:
        if name in BENCHMARKS:
            raise ValueError(f"there is a benchmark named {name} already")
        BENCHMARKS[name] = function
        return function

    return enter


def seconds(function: Callable[[], object]) -> float:
    """The wall time of one call, garbage of what came before collected first."""
    gc.collect()
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def ratio(one: Callable[[], object], other: Callable[[], object], *, repeats: int = 5) -> float:
    """How many times as long the one takes as the other: the median over repeats that take turns."""
    return median(seconds(one) / seconds(other) for _ in range(repeats))


BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"


def between_marks(page: str, table: str) -> str:
    """The page with this table between its marks. ValueError if it does not have both, once, in this order."""
    before, begin, rest = page.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in old + after or END in before + after:
        raise ValueError(f"{BEGIN} and then {END} expected, each once")
    return f"{before}{begin}\n{table}\n{end}{after}"


def _number(number: float) -> str:
    return f"{number:,.2f}" if number < 100 else f"{number:,.0f}"
