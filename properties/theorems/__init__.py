"""The documented limits as theorems (SEMANTICS 11): each shown in a stated scope, or refuted by a smallest world."""

from gangproof.properties.theorems import (
    arrivals,
    completeness,
    condition,
    gangs,
    gaps,
    neighbours,
    preempting,
    victims,
)
from gangproof.properties.theorems.theorem import Answer, Case, Size, Theorem

THEOREMS: tuple[Theorem, ...] = tuple(
    sorted(
        (
            *completeness.THEOREMS,
            *neighbours.THEOREMS,
            *gangs.THEOREMS,
            *condition.THEOREMS,
            *preempting.THEOREMS,
            *victims.THEOREMS,
            *gaps.THEOREMS,
            *arrivals.THEOREMS,
        ),
        key=lambda theorem: (theorem.id, theorem.expected != "refuted"),
    )
)
"""Every theorem that is judged here, by id; where one is refuted, what holds instead stands behind it."""

__all__ = ["THEOREMS", "Answer", "Case", "Size", "Theorem"]
