"""Obligations as SMT-LIB 2 text, so that nobody has to take Z3's word for them."""

from __future__ import annotations

from typing import Any

import z3

from gangproof.spec.proofs import Obligation


def smtlib(obligation: Obligation) -> str:
    """A self-contained script whose answer is `unsat` iff the obligation holds (a mutant's is `sat`).

    ValueError for an obligation of which the solver was asked nothing: a witness, or a trivial one.
    """
    if not obligation.assertions:
        raise ValueError(f"{obligation}: nothing was asked of a solver")
    solver: Any = z3.Solver()
    solver.add(*obligation.assertions)
    lines = str(solver.to_smt2()).splitlines()
    script = [line for line in lines if not line.startswith((";", "(set-info"))]
    quantified = any("(forall " in line or "(exists " in line for line in script)
    logic = "UFLIA" if quantified else "QF_UFLIA"
    return "\n".join([f"; {obligation}", f"(set-logic {logic})", *script]) + "\n"
