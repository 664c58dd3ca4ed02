"""Whether a race explains what cycles side by side brought about.

A document that names no profile leaves the races of v1.36.3 out: they strike a small share of runs in almost any
document of their kind. A real scheduler has them, so what it does otherwise in such a run is held against the
model with each race put in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import profile
from gangproof.properties.explore import Limits
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.report import check_scenario
from gangproof.properties.system import Questions

LIMITS = Limits(states=20_000)


def explaining(document: Scenario, lines: Collection[int]) -> Iterator[tuple[int, str]]:
    """The lines that the model does not meet with a race put in, each with the id of the deviation."""
    races = [deviation for deviation in DEVIATIONS if deviation.race]
    for race in races:
        rules = profile(INTENDED, *(d.change for d in DEVIATIONS if not d.race or d is race))
        found = check_scenario(document, "v1.36.3", rules, Questions(), LIMITS)
        yield from ((failure.line, race.id) for failure in found.failures if failure.line in lines)
