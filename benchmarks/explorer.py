"""A campaign of independent explorations on two processes against the same on one."""

from __future__ import annotations

from benchmarks.registry import Row, benchmark, ratio
from gangproof.properties.campaign import local_processes, run
from gangproof.properties.search.explore import explore
from tests.properties.classics import TwoPhase

EXPLORATIONS = 8


def states(n: int) -> int:
    """One job: the number of states of two-phase commit with n managers."""
    return explore(TwoPhase(n)).states


@benchmark("campaign")
def rows() -> list[Row]:
    tasks = [6] * EXPLORATIONS
    with local_processes(1) as one, local_processes(2) as two:
        if run(one, states, tasks) != run(two, states, tasks):
            raise AssertionError("the results depend on the number of processes")
        times = ratio(lambda: run(one, states, tasks), lambda: run(two, states, tasks))
    what = f"a campaign of {EXPLORATIONS} worlds on two processes, speed on one = 1"
    return [Row(what, "at least", must=1.6, aim=1.9, measured=times, unit="×")]
