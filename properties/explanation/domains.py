"""Every domain that a cycle tries, played alone: how far its members get there, and which number decides."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.actions import cycle_steps
from gangproof.impl.cycle import kept_and_minimum
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.placement import topology, visit
from gangproof.impl.rules import Rules
from gangproof.impl.steps import Candidates
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.explanation.attempts import Attempt
from gangproof.properties.explanation.model import Domains, DomainTried

MOST_DOMAINS = 24
MOST_WORK = 200_000
"""Pods times nodes for which the domains are played one by one."""


def domains_tried(attempt: Attempt, rules: Rules) -> Domains | None:
    """The domains in their order with what comes of each; None without a topology key."""
    cycle = attempt.cycle
    if cycle.group is None or cycle.taken is None:
        return None
    found = topology(attempt.world, cycle)
    if isinstance(found, Candidates):
        return None
    domains = cycle.domains or ()
    work = len(cycle.members) * sum(len(domain.nodes) for domain in domains)
    number = min(len(domains), MOST_DOMAINS) if work <= MOST_WORK else 0
    tried = [_tried(attempt, rules, place) for place in range(number)]
    most = max((one.placed for one in tried if one.fits), default=0)
    scored = (
        evolve(
            one, members=100 * one.placed // most if one.fits and most else 0, chosen=_chosen(attempt, place)
        )
        for place, one in enumerate(tried)
    )
    return Domains(found[0], tuple(scored), len(domains))


def missing_key(world: World, cycle: Cycle) -> str:
    """The topology key of the cycle's group if no node has it as a label, so that there is no domain; else ""."""
    if cycle.group is None or cycle.taken is None or cycle.domains != () or cycle.code == "Error":
        return ""
    found = topology(world, cycle)
    return "" if isinstance(found, Candidates) else found[0]


def no_domain(world: World, cycle: Cycle) -> str:
    """Says that no node has the label of the topology key, "" if one has or none is asked for (PLACE-02, PLACE-05)."""
    key = missing_key(world, cycle)
    return f"no node has the label {key} (PLACE-02, PLACE-05)" if key else ""


def _chosen(attempt: Attempt, place: int) -> bool:
    return attempt.helps and attempt.cycle.visited == place


def _tried(attempt: Attempt, rules: Rules, place: int) -> DomainTried:
    """The members tried in this domain, on the snapshot as it was taken, by the first way that is open."""
    cycle = attempt.cycle
    assert cycle.domains is not None
    begun = evolve(
        cycle,
        stage="placing",
        snapshot=cycle.taken,
        results=(),
        code=None,
        visited=place,
        ahead=(),
        victims=(),
        plan=Table(),
    )
    world = _placed(rules, evolve(attempt.world, cycle=begun))
    end = world.cycle
    assert end is not None
    code = rules.verdict(rules, world, end)
    seen = visit(end, code)
    before, kept, minimum = kept_and_minimum(world, end)
    failed = next((result for result in end.results if not result.kept), None)
    return DomainTried(
        value=cycle.domains[place].value,
        nodes=len(cycle.domains[place].nodes),
        tried=len(cycle.members),
        kept=kept,
        before=before,
        minimum=minimum,
        fits=seen.fits,
        packing=seen.packing,
        placed=seen.placed,
        first_without=failed.pod if failed is not None else "",
    )


def _placed(rules: Rules, world: World) -> World:
    while world.cycle is not None and world.cycle.stage == "placing":
        _, world = next(cycle_steps(world, rules))
    return world
