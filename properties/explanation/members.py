"""The members of a group one by one, and how names and numbers of them are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gangproof.counterexamples.names import bare
from gangproof.impl.cycle_state import Result
from gangproof.impl.objects import Pod
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.explanation.attempts import Attempt
from gangproof.properties.explanation.model import Member, Refused

PODS_NAMED = 3
GATES = {
    "GangScheduling": ("the group's gate is closed", "GANG-03"),
    "DefaultPreemption": ("its evictions are on their way", "PREEMPT-33"),
    "DynamicResources": ("one of its claims cannot be used yet", "CLAIM-10"),
}


def members_of(
    world: World,
    pods: Sequence[Pod],
    rules: Rules,
    attempt: Attempt | None = None,
    refused: Sequence[Refused] = (),
) -> tuple[Member, ...]:
    """Each pod as it stands, or as the attempt leaves it."""
    results = {result.pod: result for result in attempt.cycle.results} if attempt is not None else {}
    if attempt is not None and attempt.cycle.code == "Waiting":
        victims = tuple(victim for victim, _ in attempt.cycle.victims)
        planned = {pod: Result(pod, node, victims=victims) for pod, node in attempt.cycle.plan.items()}
        results = {**results, **{pod: one for pod, one in planned.items() if not results[pod].kept}}
    why = {pod: (summary(one), _rule(one)) for one in refused for pod in one.pods}
    return tuple(_member(world, pod, rules, results, why) for pod in pods)


def _member(
    world: World, pod: Pod, rules: Rules, results: Mapping[str, Result], why: Mapping[str, tuple[str, str]]
) -> Member:
    if pod.terminal:
        return Member(pod.key, "ended", why=pod.phase, rule="API-50")
    if pod.terminating:
        return Member(pod.key, "terminating", pod.node_name, "is being deleted", "CYCLE-06")
    if pod.node_name is not None:
        return Member(pod.key, "bound", pod.node_name)
    if pod.key in world.assumed:
        return Member(pod.key, "promised", world.assumed[pod.key], "its binding is on the way", "BIND-03")
    if pod.scheduler_name not in world.settings.profiles:
        return Member(pod.key, "foreign", why=f"is for the scheduler {pod.scheduler_name}", rule="QUEUE-06c")
    result = results.get(pod.key)
    if result is not None and result.node is not None:
        gone = "is gone" if len(result.victims) == 1 else "are gone"
        told = f"once {names_of(result.victims)} {gone}" if result.victims else ""
        return Member(pod.key, "place found", result.node, told, "CYCLE-18" if told else "CYCLE-16")
    if result is not None:
        reason, rule = why.get(pod.key, ("", ""))
        return Member(pod.key, "no place", why=result.error or reason, rule=rule)
    held = rules.gate(rules, world, pod)
    if held:
        return Member(
            pod.key, "gated", why="; ".join(_gated(pod, plugin) for plugin in held), rule=_first(held)
        )
    return Member(pod.key, "no place", why="is not tried")


def _gated(pod: Pod, plugin: str) -> str:
    if plugin == "SchedulingGates":
        return f"scheduling gates {', '.join(pod.scheduling_gates)}"
    return GATES[plugin][0] if plugin in GATES else plugin


def _first(held: Sequence[str]) -> str:
    return next((GATES[plugin][1] for plugin in held if plugin in GATES), "QUEUE-09")


def summary(refused: Refused) -> str:
    """How many nodes refuse the pod and why, in the scheduler's words."""
    if not refused.nodes:
        return "there are no nodes"
    told = ", ".join(f"{reason.count} {reason.reason}" for reason in refused.reasons)
    return f"0/{refused.nodes} nodes are available: {told}"


def _rule(refused: Refused) -> str:
    return refused.reasons[0].rule if refused.reasons else "CYCLE-11"


def number_of(number: int, word: str) -> str:
    """The number with the word, in the plural if need be."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def names_of(keys: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(keys) - PODS_NAMED} more" if len(keys) > PODS_NAMED else ""
    return ", ".join(map(bare, keys[:PODS_NAMED])) + more
