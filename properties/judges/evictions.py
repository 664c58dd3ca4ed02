"""Who may be evicted: nobody in vain, nobody where it is refused, and no more than the preemptor needs.

Whether victims are weaker, whether units stay whole and whether a round runs already, the contract says
(INV-16, INV-17, INV-20). Here a decision is repeated on a snapshot made anew, by the intended rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.cycle import group_object, holds_of
from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.impl.filters import prepare, rejection
from gangproof.impl.preemption.group import trial
from gangproof.impl.preemption.units import Unit, importance
from gangproof.impl.profiles import INTENDED
from gangproof.impl.snapshot import seen, with_pod, without_pod
from gangproof.impl.store import stored
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.quiescence import beyond_exact, kind
from gangproof.properties.search.system import Violation


def as_decided(before: World, action: Action, after: World) -> Violation | None:
    """INV-18: nobody is evicted but whom a cycle decided on; another pod of the victim's name is not the victim."""
    for then, now in fine_steps(before, action, after):
        made = _calls_open(then)
        ended = made - _calls_open(now) if made else Counter[str]()
        for key in ended:
            was, left = stored(then, "pod").get(key), stored(now, "pod").get(key)
            if was is None or (key, was.uid) in _victims(then):
                continue
            if left is None or left.uid != was.uid or left.disruption_target != was.disruption_target:
                return Violation("INV-18", f"{key} is evicted, and is not whom a cycle decided on", (key,))
    return None


def _calls_open(world: World) -> Counter[str]:
    """How many eviction calls are on their way to a pod of each name, those from before a restart included."""
    calls = Counter(victim for running in world.rounds.values() for victim, _ in running.calls)
    calls.update(sent.pod for sent in world.control.sent if sent.call == "delete")
    return calls


def _victims(world: World) -> set[tuple[str, int]]:
    """Whom cycles decided on: the victims of the rounds that run, and of calls from before a restart."""
    sent = {(call.pod, call.uid) for call in world.control.sent if call.call == "delete"}
    return sent | {victim for running in world.rounds.values() for victim in running.victims}


def useful(before: World, action: Action, after: World) -> Violation | None:
    """INV-18: who is evicted makes room for a group that is placed then, and nobody else is evicted.

    When victims are chosen the preemptor must be placed with exactly these gone: where its cycle plans to, or, tried
    once more, anywhere. When their round begins its cycle must have ended by waiting for them.
    """
    for then, now in fine_steps(before, action, after):
        cycle, decided = then.cycle, _decided(then, now)
        if decided is not None and decided.code == "Waiting" and decided.victims:
            victims = _named(decided)
            if not (_as_planned(then, decided, victims) or _placed(then, decided, victims)):
                message = f"{decided.entity} has no place with {', '.join(victims)} gone"
                return Violation("INV-18", message, (decided.entity, *victims))
        evicted = _evicted(then, now)
        if not evicted:
            continue
        code = now.cycle.code if now.cycle is not None else None
        if cycle is None or code != "Waiting" or not set(evicted) <= set(_named(cycle)):
            message = f"{', '.join(evicted)} is evicted by a cycle that does not wait for it ({code})"
            return Violation("INV-18", message, evicted)
    return None


def refused(before: World, action: Action, after: World) -> Violation | None:
    """INV-19: where preemption is refused nobody is chosen as a victim, and nobody is newly nominated.

    That is: the policy is Never, the group has a topology constraint, or the trial without all the weaker
    ones fails (PREEMPT-02, PREEMPT-04, PREEMPT-11, PREEMPT-13, PREEMPT-23). That nobody is chosen where
    nobody is weaker follows from INV-16; a scheduler without the plugin is not modelled.
    """
    for then, now in fine_steps(before, action, after):
        decided = _decided(then, now)
        if decided is not None and decided.victims:
            reason = _reason(then, decided)
            if reason:
                victims = _named(decided)
                message = f"{decided.entity} chooses {', '.join(victims)} although {reason}"
                return Violation("INV-19", message, (decided.entity, *victims))
        cycle, done = then.cycle, now.cycle
        if cycle is None or done is None or (cycle.stage, done.stage) != ("submitting", "reporting"):
            continue
        if done.code not in ("Unschedulable", "Error"):
            continue
        for pod in cycle.members:
            node = now.nominations.get(pod.key)
            if node and node != then.nominations.get(pod.key) and pod.key not in now.assumed:
                message = f"{pod.key} is nominated to {node} by a cycle that found nothing for its group"
                return Violation("INV-19", message, (pod.key, node))
    return None


def needed(before: World, action: Action, after: World) -> Violation | None:
    """THM-13 and PREEMPT-26, for a group of equal members whose places depend on single nodes alone.

    No unit may be left out of the victims of a group step, so there are no more than needed; and none has to
    go that could stay if all the weaker ones went, so it is the weakest that go. In general neither is
    promised, since one trial of a mixed group may miss what another finds.
    """
    for then, now in fine_steps(before, action, after):
        decided = _decided(then, now)
        if (
            decided is None
            or decided.code != "Waiting"
            or not decided.victims
            or not _as_a_whole(then, decided)
        ):
            continue
        found = next(_needless(then, decided), None) if _uniform(then, decided) else None
        if found is not None:
            return found
    return None


def _decided(then: World, now: World) -> Cycle | None:
    """The cycle whose verdict falls in this step."""
    cycle, after = then.cycle, now.cycle
    if cycle is None or after is None or after.stage != "submitting" or cycle.stage == "submitting":
        return None
    return after


def _named(cycle: Cycle) -> tuple[str, ...]:
    return tuple(dict.fromkeys(victim for victim, _ in cycle.victims))


def _evicted(then: World, now: World) -> tuple[str, ...]:
    """Who is a victim of some round now and was not before; in what goes on for nobody none is new."""
    if then.rounds is now.rounds:
        return ()
    return tuple(
        pod
        for entity, running in now.rounds.items()
        for pod, uid in (running.victims if running.askers else ())
        if entity not in then.rounds or (pod, uid) not in then.rounds[entity].victims
    )


def _as_a_whole(world: World, cycle: Cycle) -> bool:
    return cycle.group is not None and world.settings.gates.workload_aware_preemption


def _reason(world: World, cycle: Cycle) -> str:
    """Why the cycle may choose no victims, "" if it may."""
    group = world.groups.get(cycle.group or "")
    policies = {pod.key: pod.preemption_policy for pod in cycle.members}
    if not _as_a_whole(world, cycle):
        if group is not None and group.topology_keys is not None:
            return "its group has scheduling constraints"
        never = sorted(asker for _, asker in cycle.victims if policies.get(asker) == "Never")
        return f"the preemptionPolicy of {never[0]} is Never" if never else ""
    if group is not None and group.topology_keys:
        return "it has a topology constraint"
    if "Never" in policies.values():
        return "a preemptionPolicy in it is Never"
    gone = (*_keys(_units(world, cycle)), *_named(cycle))
    return "" if _placed(world, cycle, gone) else "it is not placed with all weaker ones gone"


def _units(world: World, cycle: Cycle) -> list[Unit]:
    """Whom the cycle may evict at all, as units."""
    return INTENDED.victims(world, _taken(cycle).nodes, cycle.members[0])


def _uniform(world: World, cycle: Cycle) -> bool:
    alike = len({kind(pod) for pod in cycle.members}) == 1
    return alike and not any(beyond_exact(pod) for pod in cycle.members) and not world.budgets


def _needless(world: World, cycle: Cycle) -> Iterator[Violation]:
    units, named = _units(world, cycle), set(_named(cycle))
    victims = [unit for unit in units if named & set(unit.keys)]
    spared = [unit for unit in units if unit not in victims]
    for unit in victims:
        evidence = (cycle.entity, *unit.keys)
        others = [other for other in victims if other != unit]
        if _placed(world, cycle, _keys(others)):
            yield Violation("THM-13", f"{cycle.entity} has a place although {_told(unit)} stays", evidence)
        weaker = [other for other in spared if importance(other) > importance(unit)]
        if _placed(world, cycle, _keys([*others, *weaker])):
            message = f"{_told(unit)} has to go although {cycle.entity} has a place if weaker ones go"
            yield Violation("PREEMPT-26", message, evidence)


def _keys(units: Iterable[Unit]) -> tuple[str, ...]:
    return tuple(key for unit in units for key in unit.keys)


def _told(unit: Unit) -> str:
    return ", ".join(unit.keys)


def _taken(cycle: Cycle) -> Snapshot:
    assert cycle.taken is not None
    return cycle.taken


def _without(taken: Snapshot, gone: Iterable[str]) -> Snapshot:
    """What the cycle saw, with these pods gone and the indexes made anew."""
    nodes = taken.nodes
    for name, info in taken.nodes.items():
        for pod in gone:
            info = without_pod(info, pod)
        nodes = nodes.put(name, info)
    return seen(nodes, taken.members, taken.claims)


def _as_planned(world: World, cycle: Cycle, gone: Iterable[str]) -> bool:
    """Whether the members that the cycle would place may be there, one after the other, and are enough (CYCLE-26)."""
    snapshot, sets = _without(_taken(cycle), gone), _taken(cycle).members
    for pod in cycle.members:
        name = cycle.plan.get(pod.key)
        if name is None:
            continue
        if rejection(prepare(pod, snapshot), snapshot.nodes[name]) is not None:
            return False
        nodes = snapshot.nodes.put(name, with_pod(snapshot.nodes[name], pod))
        in_flight = INTENDED.reserve(
            snapshot.claims.in_flight, holds_of(INTENDED, world, snapshot, pod, name)
        )
        snapshot = seen(nodes, snapshot.members, evolve(snapshot.claims, in_flight=in_flight))
        sets = INTENDED.members(sets, "assumed", pod.key)
    group = group_object(world, cycle)
    if group is not None and world.settings.gates.gang_scheduling:
        return bool(cycle.plan) and INTENDED.quorum(sets, group, "placed")
    return bool(cycle.plan)


def _placed(world: World, cycle: Cycle, gone: Iterable[str]) -> bool:
    """Whether the cycle's members may be placed with these pods gone from what it saw."""
    snapshot = _without(_taken(cycle), gone)
    return any(plan is not None for plan in trial(INTENDED, world, cycle, snapshot))
