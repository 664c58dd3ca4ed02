"""Deviations in topology-aware placement: the empty label value."""

from __future__ import annotations

from gangproof.impl.cycle_state import Cycle
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.placement import SEVERAL, by_value, scheduled_values, topology
from gangproof.impl.rules import Change
from gangproof.impl.steps import Candidates, DomainsStep
from gangproof.impl.world import World


def empty_means_unseen(old: DomainsStep) -> DomainsStep:
    """While members are looked at, in any order, the empty value also means that none was seen yet (PLACE-06).

    So one in the empty domain is overlooked if it comes before all of another domain, and is a conflict if it
    comes later (CHO-14).
    """

    def domains(world: World, cycle: Cycle) -> tuple[Candidates, ...]:
        found = topology(world, cycle)
        if isinstance(found, Candidates):
            return old(world, cycle)
        key, snapshot = found
        values = scheduled_values(snapshot, key)
        if isinstance(values, str) or len(set(values)) != 2 or "" not in values:
            return old(world, cycle)
        named = [value for value in values if value]
        return Candidates(by_value(snapshot, key, named)), Candidates(error=SEVERAL.format(key))

    return domains


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-25",
            "a member in the domain of the empty label value may be overlooked, and the group goes to another",
            {"domains": empty_means_unseen},
        ),
        promise="scheduled members in two domains are an error",
        intended="the empty label value is a value like any other, whatever the order",
        breaks=("INV-21",),
        rules=("PLACE-03", "PLACE-06"),
        scenario="DEV-25-shipped",
    ),
)
