"""Reserve and Unreserve: allocations that are chosen and not yet written, and how many pods reckon with each.

The same pair serves the simulation of a cycle and its commit. `unreserve` is the exact inverse of `reserve`
(CLAIM-17), and INV-07 compares.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.claims.references import consumer, reserved
from gangproof.impl.filters.devices import Wanted, allocations
from gangproof.impl.filters.nodes import Rejection
from gangproof.impl.memory import Hold, InFlight
from gangproof.impl.objects import Node, Pod, PodGroup
from gangproof.impl.table import Table

NO_HOLDS: Table[Hold] = Table()


def hold(wanted: Wanted, pod: Pod, node: Node, group: PodGroup | None) -> Table[Hold]:
    """What the pod, with its place on the node, has yet to write (CLAIM-12, CLAIM-13; intended: DEV-42, DEV-43).

    Each claim with the allocation that was chosen for it, and with the consumer that its entry says.
    """
    if wanted.refused:
        return NO_HOLDS
    found = allocations(wanted, node)
    chosen = (
        {} if isinstance(found, Rejection) else dict(zip((c.key for c in wanted.unmet), found, strict=True))
    )
    chosen.update(wanted.reused)
    workload = wanted.seen.workload
    return Table(
        (
            claim.key,
            Hold(claim.slot, consumer(pod, group if workload else None, entry), chosen.get(claim.key)),
        )
        for entry, claim in reversed(wanted.claims)
        if not reserved(claim, pod, workload)
    )


def reserve(in_flight: Table[InFlight], holds: Table[Hold]) -> Table[InFlight]:
    """One pod more reckons with each allocation that it holds (CLAIM-12, CLAIM-13, CLAIM-18)."""
    for held in holds.values():
        if held.allocation is not None:
            entry = in_flight.get(held.slot)
            more = InFlight(held.allocation) if entry is None else evolve(entry, sharers=entry.sharers + 1)
            in_flight = in_flight.put(held.slot, more)
    return in_flight


def unreserve(in_flight: Table[InFlight], holds: Table[Hold]) -> Table[InFlight]:
    """One pod fewer does; an entry lives until its last sharer has finished (CLAIM-17; intended: DEV-45)."""
    for held in holds.values():
        entry = in_flight.get(held.slot) if held.allocation is not None else None
        if entry is not None:
            fewer = evolve(entry, sharers=entry.sharers - 1)
            in_flight = in_flight.put(held.slot, fewer) if fewer.sharers else in_flight.drop(held.slot)
    return in_flight
