"""One group or one pod, explained in one world: gate, queue, quorum, nodes, evictions, and what would help.

The next cycle of the asked one is played, after the turns of those before it; what it comes to is told with the
numbers that decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from attrs import evolve

from gangproof.counterexamples.names import bare
from gangproof.impl.cycle import kept_and_minimum
from gangproof.impl.members import count
from gangproof.impl.objects import Pod
from gangproof.impl.queue import missing_claim
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.explanation.attempts import (
    Attempt,
    Trying,
    entity_of,
    play_ahead,
    standing,
    trying,
)
from gangproof.properties.explanation.claims import claims_of
from gangproof.properties.explanation.domains import domains_tried, no_domain
from gangproof.properties.explanation.evictions import evictions
from gangproof.properties.explanation.members import members_of, names_of, number_of, summary
from gangproof.properties.explanation.model import Explanation, Queue, Quorum, State
from gangproof.properties.explanation.refusals import refusals
from gangproof.properties.explanation.suggestions import Goal, exact_note, suggestions

Kind = Literal["podGroup", "pod"]
GROUPS_NAMED = 5


class UnknownNameError(LookupError):
    """There is no such group or pod; the text says so and names some that there are."""


def explain(world: World, rules: Rules, kind: Kind, key: str) -> Explanation:
    """Why the PodGroup or pod of this key is where it is. Raises UnknownNameError."""
    entity, focus = _asked(world, kind, key)
    asked = f"{'podgroup' if kind == 'podGroup' else 'pod'}/{bare(key)}"
    pods = _pods(world, entity)
    queue = standing(world, entity)
    claims = claims_of(world, [focus] if focus is not None else pods)
    base = Explanation(asked, "placed", "", queue=queue, gate=_gate(world, entity, pods), claims=claims)
    group = world.groups.get(entity)
    if group is not None and group.condition is not None:
        message = f": {group.condition.message}" if group.condition.message else ""
        base = evolve(base, condition=f"{group.condition}{message}")
    if focus is not None and (over := _over(world, focus)) is not None:
        state, words = over
        return evolve(base, state=state, sentence=f"{asked} {words}", members=members_of(world, pods, rules))
    pending = [pod for pod in pods if _waits(world, pod)]
    if not pending:
        state, words = _nobody_waits(world, entity, pods)
        return evolve(base, state=state, sentence=f"{asked} {words}", members=members_of(world, pods, rules))
    now, queue = play_ahead(world, rules, entity, queue)
    way = trying(now, rules, entity, pending)
    attempts = way.attempts(now, entity)
    base = evolve(base, queue=queue)
    if not attempts:
        return _held(base, now, rules, way, entity, pods)
    return _tried(base, world, now, rules, way, entity, pods, attempts, focus)


def _asked(world: World, kind: Kind, key: str) -> tuple[str, Pod | None]:
    """What is tried when the asked one is, and the pod if one was asked for."""
    if kind == "pod":
        pod = world.pods.get(key)
        if pod is None:
            raise UnknownNameError(f"no pod {bare(key)}, found {_some(list(world.pods), 'pods')}")
        return entity_of(world, pod), pod
    known = dict.fromkeys((*world.groups, *sorted({p.group for p in world.pods.values() if p.group})))
    if key not in known:
        raise UnknownNameError(f"no PodGroup {bare(key)}, found {_some(list(known), 'PodGroups')}")
    return key, None


def _some(names: Sequence[str], what: str) -> str:
    if not names:
        return f"no {what} at all"
    more = f" and {len(names) - GROUPS_NAMED} more" if len(names) > GROUPS_NAMED else ""
    return ", ".join(map(bare, names[:GROUPS_NAMED])) + more


def _pods(world: World, entity: str) -> list[Pod]:
    """The members of the group, or the plain pod, in the order of their names."""
    own = world.pods.get(entity)
    members = [pod for pod in world.pods.values() if entity_of(world, pod) == entity and pod is not own]
    return members if own is None or entity_of(world, own) != entity else [own, *members]


def _waits(world: World, pod: Pod) -> bool:
    mine = pod.scheduler_name in world.settings.profiles
    return (
        mine
        and pod.node_name is None
        and pod.key not in world.assumed
        and not (pod.terminal or pod.terminating)
    )


def _over(world: World, pod: Pod) -> tuple[State, str] | None:
    """Why nothing is to be done for the asked pod; None if something is."""
    if pod.terminal:
        return "ended", f"has ended: {pod.phase}"
    if pod.terminating:
        return "terminating", "is being deleted" + (
            f" from node {bare(pod.node_name)}" if pod.node_name else ""
        )
    if pod.node_name is not None:
        return "placed", f"is bound to {bare(pod.node_name)}"
    if pod.key in world.assumed:
        return "placed", f"is promised to {bare(world.assumed[pod.key])}: its binding is on the way (BIND-03)"
    if pod.scheduler_name not in world.settings.profiles:
        return "foreign", f"is for the scheduler {pod.scheduler_name}, which is not this one (QUEUE-06c)"
    return None


def _nobody_waits(world: World, entity: str, pods: Sequence[Pod]) -> tuple[State, str]:
    sets = world.members_of(entity)
    placed, minimum = count(sets, "placed"), _minimum(world, entity)
    if not pods:
        return (
            "gated",
            (f"has no members yet, at least {minimum} are needed (GANG-03)" if minimum else "has no members")
            + _suspended(world, entity),
        )
    if placed >= max(1, minimum):
        of = f", at least {minimum} are needed" if minimum else ""
        return "placed", f"is placed: {number_of(placed, 'member')} have a place{of}, and nobody waits"
    if any(pod.scheduler_name not in world.settings.profiles and pod.node_name is None for pod in pods):
        return "foreign", "has only members of other schedulers waiting (QUEUE-06c)"
    short = (
        f"{placed} of at least {minimum} members have a place, and nobody waits"
        if minimum
        else "has nobody waiting"
    )
    return ("gated", f"falls short: {short} (GANG-03)") if minimum else ("ended", short)


def _suspended(world: World, entity: str) -> str:
    """Says that the Job that would make the members is suspended (CTRL-13), "" if there is none."""
    group = world.groups.get(entity)
    makers = {owner.uid for owner in group.owners if owner.kind == "Job"} if group is not None else set[int]()
    job = next((job for job in world.jobs.values() if job.uid in makers and job.suspend), None)
    return f": Job {bare(job.key)} is suspended (CTRL-13)" if job is not None else ""


def _minimum(world: World, entity: str) -> int:
    group = world.groups.get(entity)
    return (group.min_count or 0) if group is not None and world.settings.gates.gang_scheduling else 0


def _gate(world: World, entity: str, pods: Sequence[Pod]) -> str:
    """What the queue's gate says, with its numbers: of the group, and of pods that it holds for their own sake."""
    held = _held_alone(world, pods)
    closed = [f"closed for {names_of(keys)}: {why}" for why, keys in held.items()]
    grouped = entity in world.groups or any(pod.group == entity for pod in pods)
    if not grouped or not world.settings.gates.gang_scheduling:
        return "; ".join(closed) or "open"
    group_lets, words = _group_gate(world, entity)
    if not group_lets:
        return "; ".join((f"closed: {words}", *closed))
    waiting = {pod.key for pod in pods if _waits(world, pod)}
    if closed and waiting <= {key for keys in held.values() for key in keys}:
        return "; ".join((*closed, words))
    return ", but ".join(filter(None, (f"open: {words}", "; ".join(closed))))


def _group_gate(world: World, entity: str) -> tuple[bool, str]:
    """Whether the group's gate lets members in, and why (GANG-01 to GANG-03)."""
    group = world.groups.get(entity)
    if group is None:
        return False, f"PodGroup {bare(entity)} does not exist (GANG-01)"
    if group.min_count is None:
        return True, "the basic policy has no minimum (GANG-02)"
    known = count(world.members_of(entity), "gate")
    return known >= group.min_count, f"{known} of at least {group.min_count} members exist (GANG-03)"


def _held_alone(world: World, pods: Sequence[Pod]) -> dict[str, list[str]]:
    """The pods that are held at the gate whatever their group is, by the reason."""
    held: dict[str, list[str]] = {}
    for pod in pods:
        if _waits(world, pod) and (why := missing_claim(world, pod)):
            held.setdefault(f"{why} (CLAIM-10)", []).append(pod.key)
    gated = [pod for pod in pods if pod.scheduling_gates and pod.node_name is None]
    if gated:
        names = ", ".join(sorted({gate for pod in gated for gate in pod.scheduling_gates}))
        held[f"scheduling gates {names} (QUEUE-09)"] = [pod.key for pod in gated]
    return held


def _held(
    base: Explanation, world: World, rules: Rules, way: Trying, entity: str, pods: Sequence[Pod]
) -> Explanation:
    """Nobody may be tried: the gate is closed, or evictions are on their way."""
    members = members_of(world, pods, rules)
    running = world.rounds.get(entity) or world.rounds.get(f"={entity}")
    if running is not None:
        victims = names_of([victim for victim, _ in running.victims])
        words = f"waits while its evictions are on their way: {victims} (PREEMPT-33)"
        return evolve(base, state="evicting", sentence=f"{base.asked} {words}", members=members)
    return evolve(
        base,
        state="gated",
        sentence=f"{base.asked} is held at the gate, which is {base.gate}",
        quorum=_quorum_at_gate(world, entity),
        members=members,
        suggestions=suggestions(world, way, rules, Goal(entity), None),
    )


def _quorum_at_gate(world: World, entity: str) -> Quorum | None:
    minimum = _minimum(world, entity)
    sets = world.members_of(entity)
    return Quorum(count(sets, "gate"), count(sets, "placed"), 0, minimum) if minimum else None


def _tried(
    base: Explanation,
    before: World,
    now: World,
    rules: Rules,
    way: Trying,
    entity: str,
    pods: Sequence[Pod],
    attempts: Sequence[Attempt],
    focus: Pod | None,
) -> Explanation:
    """What the next cycle comes to."""
    good = sum(attempt.helps for attempt in attempts)
    attempt = next((one for one in attempts if not one.helps), attempts[0])
    state: State = "fits"
    if 0 < good < len(attempts):
        state = "varies"
    elif attempt.cycle.code == "Error":
        state = "error"
    elif not good:
        state = "pending"
    elif not attempt.fits:
        state = "evicts"
    told = evictions(attempt, way, rules)
    first = focus.key if focus is not None else None
    refused = refusals(attempt, rules, first) if attempt.cycle.taken is not None else ()
    numbers = kept_and_minimum(attempt.world, attempt.cycle) if attempt.cycle.taken is not None else (0, 0, 0)
    quorum = None
    if attempt.cycle.group is not None:
        quorum = Quorum(count(now.members_of(entity), "gate"), *numbers)
    beyond = {name for one in attempts for name in one.world.ghost.beyond}
    if told is not None and told.unknown and not attempt.helps:
        beyond.add(told.unknown)
    explanation = evolve(
        base,
        state=state,
        quorum=quorum,
        members=members_of(now, pods, rules, attempt, refused),
        refused=refused,
        evictions=told,
        domains=domains_tried(attempt, rules),
        depends=_depends(good, len(attempts)) if state == "varies" else "",
        notes=tuple(_notes(base.queue, before, now, way, entity, pods, attempt)),
        beyond=tuple(sorted(beyond)),
    )
    left_out = first is not None and not any(r.pod == first and r.kept for r in attempt.cycle.results)
    if left_out or not attempt.fits:
        goal = Goal(entity, first if left_out and attempt.fits else None, at_once=attempt.helps)
        explanation = evolve(explanation, suggestions=suggestions(now, way, rules, goal, attempt))
    return evolve(explanation, sentence=f"{base.asked} {_sentence(explanation, attempt, focus)}")


def _depends(good: int, ways: int) -> str:
    return f"{good} of {ways} ways in which ties may go lead to a place"


def _notes(
    queue: Queue, before: World, now: World, way: Trying, entity: str, pods: Sequence[Pod], attempt: Attempt
) -> Iterator[str]:
    if attempt.helps:
        return
    if before is not now and (alone := way.attempt(before, entity)) is not None and alone.fits:
        yield f"without the turns of the {queue.entities_ahead} before it in the queue it would be placed"
    missed = exact_note(now, entity, [pod for pod in pods if _waits(now, pod)], attempt)
    if missed:
        yield missed


def _sentence(told: Explanation, attempt: Attempt, focus: Pod | None) -> str:
    own = next((m for m in told.members if focus is not None and m.pod == focus.key), None)
    turn = "at its next turn" if not told.queue.entities_ahead else _after(told.queue)
    number = sum(result.kept for result in attempt.cycle.results)
    match told.state:
        case "fits" if own is not None and own.state == "gated":
            return f"is held at the gate ({own.why}), while its group is placed {turn}"
        case "fits" if own is not None and own.state != "place found":
            return f"finds no place{_reasons(told)}, while its group is placed {turn}"
        case "fits" if own is not None:
            return f"would be placed on {bare(own.node or '')} {turn}"
        case "fits" if told.quorum is None:
            return f"would be placed on {bare(attempt.cycle.results[0].node or '')} {turn}"
        case "fits":
            tried = len(attempt.cycle.members)
            of = f"all {tried}" if number == tried else f"{number} of {tried}"
            return f"would be placed {turn}: {of} waiting members find a place"
        case "evicts":
            victims = told.evictions.victims if told.evictions is not None else ()
            return (
                f"would evict {number_of(len(victims), 'pod')} {turn} and then be placed: {names_of(victims)}"
            )
        case "varies":
            return f"may or may not be placed {turn}: {told.depends}"
        case "error":
            return f"would fail {turn} with an error: {attempt.cycle.message}"
        case _:
            return f"is pending{_why(told, attempt)}"


def _after(queue: Queue) -> str:
    them = number_of(queue.pods_ahead, "pod")
    return (
        f"after the {them} before it in the queue"
        if queue.simulated
        else f"if the {them} before it leave room"
    )


def _why(told: Explanation, attempt: Attempt) -> str:
    quorum = told.quorum
    if quorum is None:
        return _reasons(told)
    if not attempt.cycle.results:
        return f": {no_domain(attempt.world, attempt.cycle) or attempt.cycle.message}"
    if not quorum.minimum:
        return f": no member finds a place (CYCLE-28){_reasons(told)}"
    placed = quorum.before + quorum.kept
    if placed >= quorum.minimum:
        return f": no more member finds a place (CYCLE-29){_reasons(told)}"
    return f": {placed} of at least {quorum.minimum} members have a place (CYCLE-26){_reasons(told)}"


def _reasons(told: Explanation) -> str:
    if not told.refused:
        return ""
    first = told.refused[0]
    who = (
        ""
        if told.quorum is None or told.asked == f"pod/{bare(first.pods[0])}"
        else f"; {bare(first.pods[0])} finds none"
    )
    return f"{who}: {summary(first)}"
