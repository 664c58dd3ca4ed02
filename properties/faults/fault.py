"""What a fault is: a change of one or two steps, and the promises that must catch it.

A fault is a scheduler's mistake in its smallest form. It keeps the model and the properties honest: with the
fault on, a property that is named here has to break; with the fault off, none may.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from gangproof.impl.rules import Change
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import REFINEMENT
from gangproof.properties.search.system import Violation
from gangproof.spec.judging import Refusal

PROMISES: Mapping[str, tuple[str, ...]] = {
    "all-or-nothing": ("INV-01", "INV-02", "INV-03"),
    "no eviction of bound members": ("INV-04",),
    "disruptionMode atomicity": ("INV-17",),
    "reservedFor sharing": ("INV-22", "INV-23", "INV-27"),
    "no early unreserve": ("INV-28", "LIVE-11"),
    "capacity": ("INV-05", "INV-25"),
    "exact undo": ("INV-07",),
    "queue conservation": ("INV-08", "INV-09", "INV-12"),
    "quorum counts": ("INV-02", "INV-10", "INV-11"),
    "nominations": ("INV-19", "INV-37", "LIVE-07"),
    "victim minimality": ("INV-18", "INV-20", "THM-13", "PREEMPT-26"),
    "victim strength": ("INV-16", "INV-19"),
    "topology domain": ("INV-21",),
    "condition": ("INV-13", "INV-14", "INV-15", "LIVE-13"),
    "quiescence": (
        "LIVE-01", "LIVE-02", "LIVE-03", "LIVE-04", "LIVE-06", "LIVE-08", "LIVE-09", "LIVE-14",
    ),
    "determinism": ("INV-36",),
    "ownership and GC": ("INV-29", "INV-33", "INV-34", "LIVE-10", "LIVE-12", "LIVE-15"),
    "placement rules": ("INV-06", "INV-26"),
    "queue order": ("INV-38",),
    "validation": ("INV-30", "INV-31", "INV-32"),
    "version monotone": ("INV-24",),
    "restart equivalence": ("INV-39",),
}  # fmt: skip
"""The properties behind the names by which faults refer to them."""

Wrapper = Callable[[Any], Any]
"""Takes the old step and gives the new one."""


@frozen
class Fault:
    """A named mistake: what changes, what must catch it, and what it looks like.

    `caught_by` are names of `PROMISES`, the main one first. `clauses` are clauses of the contract's actions
    that say the same promise; a refinement that they refuse counts as caught. `wrong` and `right` tell what
    the smallest case shows with the fault and without. `world` is one to be searched in the fine grain,
    for what only shows between the steps of a cycle; without it the case is followed.
    """

    change: Change
    name: str
    tier: str
    caught_by: tuple[str, ...]
    wrong: str
    right: str
    seen_in: str
    clauses: tuple[str, ...] = ()
    world: World | None = None

    @property
    def id(self) -> str:
        return self.change.id

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that it changes, by the names that `Rules` gives them."""
        return tuple(self.change.wraps)

    @property
    def properties(self) -> tuple[str, ...]:
        """The ids of the properties that may catch it."""
        return tuple(dict.fromkeys(id for name in self.caught_by for id in PROMISES[name]))

    def catches(self, violation: Violation) -> bool:
        """Whether the violation is one of those that must catch this fault."""
        if violation.property == REFINEMENT:
            refusal = violation.evidence
            return isinstance(refusal, Refusal) and refusal.clause in self.clauses
        return violation.property in self.properties

    def __str__(self) -> str:
        return f"{self.id} {self.name}"


def fault(
    id: str,
    name: str,
    tier: str,
    text: str,
    *,
    caught_by: str,
    wrong: str,
    right: str,
    seen_in: str,
    clauses: tuple[str, ...] = (),
    world: World | None = None,
    **wraps: Wrapper,
) -> Fault:
    """A fault whose `wraps` are given by step; `caught_by` are names of promises, separated by commas.

    Raises KeyError for a promise that nobody made.
    """
    promises = tuple(caught_by.split(", "))
    for promise in promises:
        PROMISES[promise]
    return Fault(Change(id, text, wraps), name, tier, promises, wrong, right, seen_in, clauses, world)
