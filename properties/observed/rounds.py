"""Promises about what evictions come to: they help, they are not too many, and nobody else takes the room.

The evictions of one preemptor up to the moment at which it has its place, or at which all victims are gone and the
cluster is at rest, are one *round*.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from gangproof.impl.objects import Pod
from gangproof.properties.conformance.events import Bound, Deleted, Nominated, short
from gangproof.properties.conformance.recording import Calls, Restart
from gangproof.properties.observed.cluster import (
    Cluster,
    askers,
    best_placement,
    can_place,
    domains,
    entity_of,
    holds_room,
    members,
    minimum,
    placed,
    reservations,
    strength,
    strength_of,
    untroubled,
)
from gangproof.properties.observed.evicting import manner, preemptors
from gangproof.properties.observed.history import (
    Ended,
    Eviction,
    Gone,
    History,
    Made,
    Moment,
    Rest,
    evictions,
)
from gangproof.properties.observed.promise import Case, promise


@frozen
class Round:
    """The evictions for one preemptor, and the first rest at which none of the victims is left."""

    by: str
    evictions: tuple[Eviction, ...]
    rest: Rest

    @property
    def first(self) -> int:
        return self.evictions[0].at

    @property
    def victims(self) -> tuple[Pod, ...]:
        """The victims, each once."""
        return tuple({e.victim.uid: e.victim for e in self.evictions}.values())


def rounds(history: History) -> Iterator[Round]:
    """The rounds of a run that came to their end."""
    open_rounds: dict[str, list[Eviction]] = {}
    told = list(evictions(history))
    for rest in history.rests:
        while told and told[0].at < rest.at:
            eviction = told.pop(0)
            if eviction.by is not None:
                open_rounds.setdefault(eviction.by, []).append(eviction)
        for by in sorted(open_rounds):
            found = open_rounds[by]
            leaving = {pod.uid for pod in rest.cluster.pods.values() if holds_room(pod)}
            if not any(eviction.victim.uid in leaving for eviction in found):
                yield Round(by, tuple(found), rest)
                del open_rounds[by]


def newly_placed(history: History, made: Round) -> list[Pod]:
    """The preemptor's pods that were bound since its first eviction, as they were before."""
    return [pod for _, pod in history.binds(made.first, made.rest.at) if entity_of(pod) == made.by]


def succeeded(history: History, made: Round) -> bool:
    """Whether the preemptor came to what it made room for, even if somebody took it away afterwards."""
    own = [moment for moment, pod in history.binds(made.first, made.rest.at) if entity_of(pod) == made.by]
    least = minimum(made.rest.cluster, made.by) or 1
    return any(sum(map(placed, members(moment.after, made.by))) >= least for moment in own)


def undisturbed(history: History, made: Round) -> bool:
    """Whether nothing happened since that could excuse the scheduler.

    No user changed anything but by creating pods, or by ending victims, and nobody stronger was bound.
    """
    victims = {pod.key for pod in made.victims}
    return not any(
        _excuses(moment, made.by, victims) for moment in history.moments[made.first : made.rest.at]
    )


def _excuses(moment: Moment, entity: str, victims: set[str]) -> bool:
    match moment.what:
        case Made(obj=obj, anew=anew):
            return anew or not isinstance(obj, Pod)
        case Gone(kind=kind, key=key):
            return kind == "node" or (kind == "pod" and key not in victims)
        case Ended(pod=key):
            return key not in victims
        case Deleted(pod=key):
            return moment.by_user and key not in victims
        case Calls() | Restart():
            return True
        case Bound(pod=key):
            pod = moment.before.pods.get(key)
            return pod is not None and entity_of(pod) != entity and _stronger(moment.before, pod, entity)
        case _:
            return False


def _stronger(cluster: Cluster, pod: Pod, entity: str) -> bool:
    mine = strength_of(cluster, entity)
    return mine is not None and strength(cluster, pod) > mine


def _others(history: History, made: Round) -> bool:
    """Whether somebody else was bound where victims had been."""
    nodes = {pod.node_name for pod in made.victims}
    return any(
        entity_of(pod) != made.by and isinstance(moment.what, Bound) and moment.what.node in nodes
        for moment, pod in history.binds(made.first, made.rest.at)
    )


def _had_room(history: History, made: Round) -> bool:
    """Whether the preemptor had a place when its last victim was chosen, if nobody else had come."""
    cluster = history.moments[made.evictions[-1].at].before
    waiting, gone = askers(cluster, made.by), [pod.key for pod in cluster.pods.values() if pod.terminating]
    known = bool(waiting) and untroubled(cluster, waiting)
    return not known or can_place(
        cluster, made.by, waiting, without=[*gone, *(pod.key for pod in made.victims)]
    )


def _seen_as_it_was(history: History, made: Round) -> bool:
    """Whether the log shows what the scheduler saw when it chose: nobody else was on his way to a node."""
    if history.stepwise:
        return True
    others = (
        moment.before.pods.get(moment.what.pod)
        for moment in history.moments[history.since_rest(made.first) : made.rest.at]
        if isinstance(moment.what, Bound | Nominated)
    )
    return not any(pod is not None and entity_of(pod) != made.by for pod in others)


@promise("useful-eviction", "KEP-4671 KEP-5710 INV-18 THM-12")
def useful_eviction(history: History) -> Iterator[Case]:
    """Whoever has others evicted gets a place by it: nobody is evicted for a pod or a gang that stays pending."""
    vain: set[str] = set()
    for made in rounds(history):
        kept = succeeded(history, made)
        if not undisturbed(history, made) or (
            not kept and _others(history, made) and _had_room(history, made)
        ):
            continue
        gone = ", ".join(short(pod.key) for pod in made.victims)
        words = f"{gone} had to go, and {short(made.by)} has no place by it"
        again = ", again and again" if made.by in vain else ""
        aspect = manner(history.moments[made.first].before, made.evictions[0]) + again
        about = (made.by, *(pod.key for pod in made.victims))
        yield Case(made.rest.at, kept, words, about, aspect, (("evicted", len(made.victims)),))
        if not kept:
            vain.add(made.by)


@promise("needed-victims", "KEP-5710 THM-13")
def needed_victims(history: History) -> Iterator[Case]:
    """No victim could have stayed: without any one unit of them the preemptor would not have its place."""
    for made in rounds(history):
        cluster = history.moments[made.first].before
        fresh = newly_placed(history, made)
        known = [pod for pod in fresh if pod.key in cluster.pods]
        if (
            not succeeded(history, made)
            or not undisturbed(history, made)
            or _others(history, made)
            or not _seen_as_it_was(history, made)
            or known != fresh
            or any(pod.node_name is None for pod in made.victims)
            or cluster.budgets
            or not untroubled(cluster, fresh)
        ):
            continue
        needless = [unit for unit in _units(cluster, made) if _suffices(cluster, made, unit, fresh)]
        named = ", ".join(short(pod.key) for pod in needless[0]) if needless else ""
        gone = len(made.victims)
        words = f"{short(made.by)} has {gone} evicted, and {named} could have stayed"
        aspect = manner(cluster, made.evictions[0])
        about = (made.by, *(pod.key for unit in needless[:1] for pod in unit))
        numbers = (("evicted", gone), ("enough", _fewest(cluster, made, fresh) if needless else gone))
        yield Case(made.rest.at, not needless, words, about, aspect, numbers)


def _units(cluster: Cluster, made: Round) -> list[tuple[Pod, ...]]:
    """The victims as units: pods of a group with disruptionMode PodGroup together."""
    units: dict[str, list[Pod]] = {}
    for pod in made.victims:
        group = cluster.groups.get(pod.group or "")
        whole = group is not None and group.disruption_mode == "PodGroup"
        units.setdefault(group.key if group is not None and whole else pod.key, []).append(pod)
    return [tuple(unit) for unit in units.values()]


def _suffices(cluster: Cluster, made: Round, spared: tuple[Pod, ...], fresh: list[Pod]) -> bool:
    """Whether all that were newly placed have a place with the spared ones staying."""
    stay = {pod.key for pod in spared}
    return _has_room(cluster, made.by, fresh, {pod.key for pod in made.victims if pod.key not in stay})


def _has_room(cluster: Cluster, entity: str, fresh: list[Pod], gone: set[str]) -> bool:
    kept = reservations(cluster, entity, strength_of(cluster, entity) or 0)
    found = (
        best_placement(cluster, fresh, len(fresh), without=gone, reserved=kept, within=domain)
        for domain in domains(cluster, entity)
    )
    return any(placement.at_least(len(fresh)) == "yes" for placement in found)


def _fewest(cluster: Cluster, made: Round, fresh: list[Pod]) -> int:
    """How many victims are left if one unit after another is spared that can be."""
    left = _units(cluster, made)
    for unit in tuple(left):
        rest = [other for other in left if other != unit]
        if _has_room(cluster, made.by, fresh, {pod.key for other in rest for pod in other}):
            left = rest
    return sum(map(len, left))


@promise("one-round", "KEP-5710 INV-20 PREEMPT-43")
def one_round(history: History) -> Iterator[Case]:
    """While the victims of a preemptor are on their way out it chooses no further ones."""
    told = evictions(history)
    for place, eviction in enumerate(told):
        moment = history.moments[eviction.at]
        running = [
            earlier
            for earlier in told[:place]
            if eviction.by is not None
            and earlier.by == eviction.by
            and earlier.victim.uid != eviction.victim.uid
            and not _same_decision(history, earlier, moment)
            and (pod := moment.before.pods.get(earlier.victim.key)) is not None
            and pod.uid == earlier.victim.uid
            and pod.terminating
        ]
        if eviction.by is not None and running and not eviction.victim.terminating:
            first = short(running[0].victim.key)
            words = f"{short(eviction.by)} has {short(eviction.victim.key)} evicted while {first} is on its way out"
            about = (eviction.by, eviction.victim.key, running[0].victim.key)
            yield Case(eviction.at, False, words, about, manner(moment.before, eviction))
    for rest in history.rests:
        if any(e.at < rest.at and _leaving(rest.cluster, e) for e in told):
            yield Case(rest.at, True)


def _leaving(cluster: Cluster, eviction: Eviction) -> bool:
    pod = cluster.pods.get(eviction.victim.key)
    return pod is not None and pod.uid == eviction.victim.uid and pod.terminating


def _same_decision(history: History, earlier: Eviction, moment: Moment) -> bool:
    """Whether both evictions may stem from one cycle; where cycles overlap, a second apart they do not."""
    before = history.moments[earlier.at]
    if history.stepwise:
        return before.cycle == moment.cycle
    return moment.time - before.time < 1


@promise("freed-room", "KEP-4671 KEP-5710 INV-37 LIVE-07")
def freed_room(history: History) -> Iterator[Case]:
    """The room that was made for a preemptor is not given to anybody else who is not stronger."""
    told = [eviction for eviction in evictions(history) if eviction.by is not None]
    for moment, pod in history.binds():
        assert isinstance(moment.what, Bound)
        for by in sorted({e.by for e in told if e.by is not None and e.at < moment.index}):
            served = [m.index for m, p in history.binds(0, moment.index) if entity_of(p) == by]
            mine = [e for e in told if e.by == by and max([-1, *served]) < e.at < moment.index]
            if not mine or moment.what.node not in {e.victim.node_name for e in mine}:
                continue
            claim = _claim(moment.before, mine[-1])
            if entity_of(pod) == by or strength(moment.before, pod) > claim:
                continue
            waiting = askers(moment.before, by)
            if not waiting or not untroubled(moment.before, (*waiting, pod)):
                continue
            going = [p.key for p in moment.before.pods.values() if p.terminating]
            if not can_place(moment.before, by, waiting, without=going):
                continue
            kept = can_place(moment.after, by, waiting, without=going)
            weaker = strength(moment.before, pod) < claim
            words = f"{short(pod.key)} gets the room on {moment.what.node} that was made for {short(by)}"
            aspect = (
                f"made {manner(moment.before, mine[0])}, taken by {'a weaker' if weaker else 'an equal'} one"
            )
            yield Case(moment.index, kept, words, (pod.key, by), aspect)


def _claim(cluster: Cluster, eviction: Eviction) -> int:
    """The priority with which the room was claimed: of the pod that asked, or of its group."""
    asking = preemptors(cluster, eviction)
    return max((strength(cluster, pod) for pod in asking), default=0)


ROUNDS = (useful_eviction, needed_victims, one_round, freed_room)
