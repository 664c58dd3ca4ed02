"""The proof of the contract: every obligation once, in one process, controls left aside."""

from __future__ import annotations

from benchmarks.own_model import cpu_seconds
from benchmarks.registry import Row, benchmark
from gangproof.spec import Obligation, prove


@benchmark("proofs")
def rows() -> list[Row]:
    found: list[Obligation] = []
    spent = cpu_seconds(lambda: found.extend(prove(mutants=False, witnesses=False, counters=False)))
    asked = [obligation for obligation in found if not obligation.trivial]
    unknown = sum(obligation.verdict == "inconclusive" for obligation in found)
    violated = [str(obligation) for obligation in found if obligation.verdict == "violated"]
    if violated:
        raise AssertionError(f"not proved: {', '.join(violated)}")
    what = f"all {len(asked):,} proof obligations, once each, one process"
    apart = f"{len(found) - len(asked):,} more ask nothing of the solver"
    return [
        Row(f"{what} ({apart})", "at most", must=6, aim=2, measured=spent, unit="s"),
        Row(f"{what}: the slowest", "at most", 0.5, 0.5, max(o.seconds for o in asked), "s"),
        Row(f"{what}: without an answer", "at most", 0, 0, unknown, "of them"),
    ]
