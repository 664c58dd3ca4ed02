"""The contract: the KEP's rules as formulas, proved for every cluster size and judging concrete states.

Read `state` (what is spoken of), then `surroundings`, `cycle`, `preemption` and `claims` (what may happen),
then `invariants` (what is promised). `prove` proves it, `judge` and `explain_step` hold a concrete world
against it.
"""

from gangproof.spec.catalogue import ACTIONS, CONTRACT, INVARIANTS
from gangproof.spec.contract import (
    Action,
    Call,
    Contract,
    Invariant,
    Mutant,
    Param,
    Step,
    Witness,
    a_map,
    a_set,
    action,
    chosen,
    invariant,
    load,
)
from gangproof.spec.export import smtlib
from gangproof.spec.judging import (
    Broken,
    Refusal,
    apply,
    explain_step,
    explain_steps,
    judge,
    judge_step,
    miscounted,
)
from gangproof.spec.proofs import Obligation, obligations, prove
from gangproof.spec.state import COUNTERS, SYMBOLS, State
from gangproof.spec.structure import Structure
from gangproof.spec.terms import Becomes, Clause, Sum, Symbol, becomes, clause, every, some

__all__ = [
    "ACTIONS",
    "CONTRACT",
    "COUNTERS",
    "INVARIANTS",
    "SYMBOLS",
    "Action",
    "Becomes",
    "Broken",
    "Call",
    "Clause",
    "Contract",
    "Invariant",
    "Mutant",
    "Obligation",
    "Param",
    "Refusal",
    "State",
    "Step",
    "Structure",
    "Sum",
    "Symbol",
    "Witness",
    "a_map",
    "a_set",
    "action",
    "apply",
    "becomes",
    "chosen",
    "clause",
    "every",
    "explain_step",
    "explain_steps",
    "invariant",
    "judge",
    "judge_step",
    "load",
    "miscounted",
    "obligations",
    "prove",
    "smtlib",
    "some",
]
