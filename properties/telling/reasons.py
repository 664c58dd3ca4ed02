"""Why a pod of a settled world is pending, in a sentence that names the numbers that decide."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from gangproof.impl.cycle import kept_and_minimum, refusal
from gangproof.impl.filters import prepare
from gangproof.impl.members import count
from gangproof.impl.objects import Pod
from gangproof.impl.placement import within
from gangproof.impl.queue import missing_claim
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.explanation.attempts import Attempt, alone, entity_of, verdicts
from gangproof.properties.explanation.domains import no_domain
from gangproof.properties.explanation.refusals import seen_by
from gangproof.properties.scenarios.judge import short


def why_pending(world: World, pod: Pod, rules: Rules) -> str:
    """Why the pod has no node: what gates it, or what the next cycle would find."""
    entry = world.entry(pod.key)
    if pod.terminating:
        return "is being deleted"
    if entry is None:
        return "is on its way" if pod.key in world.assumed else "is not this scheduler's to place"
    going = _victims_to_come(world, pod)
    if going:
        return f"waits until what it evicts has ended: {', '.join(going)}"
    if entry.place == "gated":
        gates = rules.gate(rules, world, pod)
        return (
            "; ".join(_gating(world, pod, plugin) for plugin in gates)
            or "is held back, and no event lets it in"
        )
    return _after_a_cycle(world, pod, rules)


def _victims_to_come(world: World, pod: Pod) -> list[str]:
    """The victims of the pod's round, or of its group's, that are still there (SEMANTICS 0.5, round)."""
    running = world.rounds.get(pod.group or f"={pod.key}")
    return (
        [short(victim) for victim, _ in running.victims if victim in world.pods]
        if running is not None
        else []
    )


def _gating(world: World, pod: Pod, plugin: str) -> str:
    if plugin == "SchedulingGates":
        return f"has scheduling gates: {', '.join(pod.scheduling_gates)}"
    if plugin == "DefaultPreemption":
        return "waits while its evictions are on their way (PREEMPT-33)"
    if plugin == "DynamicResources":
        return f"{missing_claim(world, pod)} (CLAIM-10)"
    group = world.groups.get(pod.group or "")
    if group is None:
        return f"PodGroup {short(pod.group or '')} does not exist (GANG-01)"
    known = count(world.members_of(group.key), "gate")
    return f"{known} of at least {group.min_count} members of {short(group.key)} exist (GANG-03)"


def _after_a_cycle(world: World, pod: Pod, rules: Rules) -> str:
    """What a cycle of the pod's entity comes to, from here, with everybody else left alone."""
    attempt = _next_attempt(world, entity_of(world, pod), rules)
    if attempt is None:
        return "is not tried"
    cycle = attempt.cycle
    result = next((r for r in cycle.results if r.pod == pod.key), None)
    own = _refusals(attempt, pod, rules)
    if cycle.group is None:
        return own
    before, kept, minimum = kept_and_minimum(attempt.world, cycle)
    quorum = f"{before + kept} of at least {minimum} members have a place (CYCLE-26)"
    if result is not None and result.kept:
        return quorum
    if cycle.code == "Success" or not minimum:
        return own
    return f"{own}; {quorum}"


@lru_cache(maxsize=16)
def _next_attempt(world: World, entity: str, rules: Rules) -> Attempt | None:
    """The first way in which the entity's next cycle may come to its verdict; its members ask one after the other."""
    verdict = next(verdicts(alone(world, entity), rules), None)
    return None if verdict is None else Attempt(*verdict)


def _refusals(attempt: Attempt, pod: Pod, rules: Rules) -> str:
    """How many nodes refuse the pod and why, with the members that were tried before it in their places."""
    world, cycle = attempt.world, attempt.cycle
    if cycle.taken is None or not cycle.results:
        return no_domain(world, cycle) or cycle.message
    seen = seen_by(attempt, rules, pod.key)
    nodes = within(cycle, seen.nodes)
    where = f"in domain {cycle.domain.value!r} " if cycle.domain is not None else ""
    prepared = prepare(pod, seen)
    reasons = Counter(
        refused.reason
        for info in nodes.values()
        if (refused := refusal(rules, world, prepared, info)) is not None
    )
    if not nodes:
        return "there are no nodes"
    told = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
    return f"{where}0/{len(nodes)} nodes are available: {told}"
