"""The contract itself: all actions in the KEP's order, and all promises."""

from __future__ import annotations

from gangproof.spec import claims, cycle, preemption, surroundings
from gangproof.spec.contract import Action, Contract
from gangproof.spec.invariants import INVARIANTS
from gangproof.spec.state import SYMBOLS

ACTIONS: tuple[Action, ...] = tuple(
    value
    for room in (surroundings, cycle, preemption, claims)
    for value in vars(room).values()
    if isinstance(value, Action)
)
"""Every action: what others do, the cycle, preemption, claims."""

CONTRACT = Contract(SYMBOLS, ACTIONS, INVARIANTS)
"""The PodGroup rules of Kubernetes v1.36 as they are intended."""
