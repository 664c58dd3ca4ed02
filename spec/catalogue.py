"""The contract itself: all actions in the KEP's order, and all promises."""

from __future__ import annotations

from gangproof.spec import claim_invariants, claims, cycle, invariants, preemption, surroundings
from gangproof.spec.contract import Action, Contract, Invariant
from gangproof.spec.state import SYMBOLS

ACTIONS: tuple[Action, ...] = tuple(
    value
    for room in (surroundings, cycle, preemption, claims)
    for value in vars(room).values()
    if isinstance(value, Action)
)
"""Every action: what others do, the cycle, preemption, claims."""

INVARIANTS: tuple[Invariant, ...] = tuple(
    sorted(
        (
            v
            for page in (invariants, claim_invariants)
            for v in vars(page).values()
            if isinstance(v, Invariant)
        ),
        key=lambda promise: promise.id,
    )
)
"""Every promise, by its id."""

CONTRACT = Contract(SYMBOLS, ACTIONS, INVARIANTS)
"""The PodGroup rules of Kubernetes v1.36 as they are intended."""
