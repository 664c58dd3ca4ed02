"""The smallest changes that would help, each of them played before it is told.

Candidates are made in order of what holds the asked one: the gate first, then the minimum, then nodes. A change
counts as verified if the cycle in the changed world finds a place. They are ordered by how many objects they
touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, frozen

from gangproof.counterexamples.names import bare
from gangproof.impl.cycle import kept_and_minimum
from gangproof.impl.members import count
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.explanation.attempts import Attempt, Trying
from gangproof.properties.explanation.domains import missing_key
from gangproof.properties.explanation.edits import with_copies, with_group, without_gates
from gangproof.properties.explanation.levers import Need, Proposal, labelling, levers
from gangproof.properties.explanation.model import Outcome, Suggestion
from gangproof.properties.explanation.refusals import seen_by, without_place
from gangproof.properties.search.quiescence import beyond_exact, joint, kind, room

MOST = 5
MOST_COPIES = 100
EXACT_NODES = 50
EXACT_PODS = 20
KINDS = ("uncordon", "taint", "label", "room", "group", "tolerate", "gates", "members", "node", "minimum")


@frozen
class Goal:
    """Whose place is wanted, and how.

    `pod` is one of the entity that gets no place although its group is placed without it; with `at_once` a
    place after evictions is not good enough, as there is one already.
    """

    entity: str
    pod: str | None = None
    at_once: bool = False

    def reached(self, attempt: Attempt) -> bool:
        """Whether the cycle gives what is wanted."""
        if self.pod is not None and not any(r.pod == self.pod and r.kept for r in attempt.cycle.results):
            return False
        return attempt.fits if self.at_once else attempt.helps


def suggestions(
    world: World, way: Trying, rules: Rules, goal: Goal, attempt: Attempt | None
) -> tuple[Suggestion, ...]:
    """At most five changes that help, the smallest first; if none does, what was tried and is not enough."""
    if attempt is None:
        found = list(_in_two(world, way, rules, goal, _at_the_gate(world, rules, goal.entity)))
    elif key := missing_key(attempt.world, attempt.cycle):
        found = list(_in_two(world, way, rules, goal, labelling(_without_domain(world, attempt), key)))
    else:
        later = _after_the_gate(world, rules, goal, attempt)
        found = [_played(proposal, way, goal)[0] for proposal in later]
    helpful = [one for one in found if one.verified]
    return tuple(sorted(helpful or found, key=_size)[:MOST])


def _in_two(
    world: World, way: Trying, rules: Rules, goal: Goal, firsts: Iterable[Proposal]
) -> Iterator[Suggestion]:
    """What has to be done first, alone or, where that is not enough, with what helps afterwards."""
    for first in firsts:
        suggestion, after = _played(first, way, goal)
        yield suggestion
        if after is not None and not goal.reached(after):
            for second in _after_the_gate(first.world, rules, goal, after):
                yield _played(_both(world, first, second, goal.entity), way, goal)[0]


def _size(suggestion: Suggestion) -> tuple[int, int, str]:
    first = suggestion.kind.partition("+")[2] or suggestion.kind
    return (suggestion.objects, KINDS.index(first), suggestion.text)


def _played(proposal: Proposal, way: Trying, goal: Goal) -> tuple[Suggestion, Attempt | None]:
    attempt = way.attempt(proposal.world, goal.entity)
    if attempt is None:
        return _told(proposal, "not enough", "it is still held back at the gate"), None
    if goal.reached(attempt):
        return _told(proposal, "placed" if attempt.fits else "placed after evictions", ""), attempt
    before, kept, minimum = kept_and_minimum(attempt.world, attempt.cycle)
    note = (
        f"then {before + kept} of at least {minimum} members have a place" if minimum else "no node takes it"
    )
    return _told(proposal, "not enough", note), attempt


def _told(proposal: Proposal, outcome: Outcome, note: str) -> Suggestion:
    return Suggestion(proposal.kind, proposal.text, proposal.objects, outcome, note)


def _both(world: World, first: Proposal, second: Proposal, entity: str) -> Proposal:
    """Two changes as one; lowering a minimum twice is lowering it once."""
    group = world.groups.get(entity)
    if first.kind == second.kind == "minimum" and group is not None:
        lowest = second.world.groups[entity].min_count or 0
        return evolve(second, text=_lowered(group, lowest))
    return Proposal(
        f"{first.kind}+{second.kind}",
        f"{first.text}, and {second.text}",
        first.objects + second.objects,
        second.world,
    )


def _at_the_gate(world: World, rules: Rules, entity: str) -> Iterator[Proposal]:
    """What lets the asked one into the queue (GANG-01, GANG-03, scheduling gates)."""
    own = _own(world, entity)
    held = [pod for pod in own if pod.scheduling_gates]
    group = world.groups.get(entity)
    if not own or len(held) > MOST_COPIES:
        return
    if group is None and any(pod.group == entity for pod in own):
        namespace, _, name = entity.partition("/")
        made = with_group(rules, world, PodGroup(namespace, name))
        yield Proposal("group", f"create the PodGroup {bare(entity)} (with the basic policy)", 1, made)
        return
    ungated = _ungated(world, rules, held)
    known = count(world.members_of(entity), "gate")
    missing = (group.min_count or 0) - known if group is not None else 0
    if group is None or missing <= 0:
        yield from ungated
        return
    if missing <= MOST_COPIES:
        like = next((pod for pod in own if not pod.scheduling_gates), own[0])
        text = f"add {missing} more member{'s' if missing > 1 else ''} like {bare(like.key)}"
        more = Proposal("members", text, missing, with_copies(rules, world, like, missing))
        yield more
        for also in _ungated(more.world, rules, held):
            yield _both(world, more, also, entity)
    free = known - len(held)
    if free > 0:
        yield _lower(world, rules, group, free)
    for first in ungated:
        yield _both(world, first, _lower(first.world, rules, group, known), entity)


def _own(world: World, entity: str) -> list[Pod]:
    """The pending pods of the entity."""
    return [pod for pod in world.pods.values() if entity in (pod.group, pod.key) and _pending(pod)]


def _pending(pod: Pod) -> bool:
    return pod.node_name is None and not pod.terminal and not pod.terminating


def _ungated(world: World, rules: Rules, held: Sequence[Pod]) -> list[Proposal]:
    if not held:
        return []
    names = ", ".join(sorted({gate for pod in held for gate in pod.scheduling_gates}))
    which = bare(held[0].key) if len(held) == 1 else f"{len(held)} pods"
    text = f"remove the scheduling gates {names} of {which}"
    return [Proposal("gates", text, len(held), without_gates(rules, world, held))]


def _lower(world: World, rules: Rules, group: PodGroup, minimum: int) -> Proposal:
    changed = with_group(rules, world, evolve(group, min_count=minimum))
    return Proposal("minimum", _lowered(group, minimum), 1, changed)


def _lowered(group: PodGroup, minimum: int) -> str:
    return f"lower minCount from {group.min_count} to {minimum} (by a new PodGroup: the field is immutable, API-33)"


def _after_the_gate(world: World, rules: Rules, goal: Goal, attempt: Attempt) -> Iterator[Proposal]:
    """A minimum that is reached, and what could be done with nodes."""
    if attempt.cycle.taken is None:
        return
    before, kept, minimum = kept_and_minimum(attempt.world, attempt.cycle)
    group = world.groups.get(goal.entity)
    if goal.pod is None and group is not None and kept and before + kept < minimum:
        yield _lower(world, rules, group, before + kept)
    if goal.pod is not None or before + kept < minimum:
        own = [pod for pod in _own(world, goal.entity) if goal.pod in (None, pod.key)]
        yield from _ungated(world, rules, [pod for pod in own if pod.scheduling_gates])
    missing = max(1, minimum - before - kept)
    without = sorted(without_place(attempt), key=_requested)
    if goal.pod is not None:
        without, missing = [pod for pod in without if pod.key == goal.pod], 1
    if len(without) >= missing:
        seen = seen_by(attempt, rules, None)
        need = Need(world, seen, tuple(without), missing)
        yield from levers(need)
        if attempt.cycle.domain is not None and group is not None and group.topology_keys:
            yield from labelling(need, group.topology_keys[0], attempt.cycle.domain.value)


def _without_domain(world: World, attempt: Attempt) -> Need:
    """What a group needs that has found no domain: places for its minimum, beside those placed before."""
    cycle = attempt.cycle
    assert cycle.taken is not None
    before, _, minimum = kept_and_minimum(attempt.world, cycle)
    return Need(world, cycle.taken, tuple(sorted(cycle.members, key=_requested)), max(1, minimum - before))


def _requested(pod: Pod) -> tuple[tuple[str, int], ...]:
    return tuple(pod.requests.items())


def exact_note(world: World, entity: str, members: Sequence[Pod], attempt: Attempt) -> str:
    """Tells of a placement that exists and is missed, as the scheduler takes no placed member back (THM-03)."""
    constrained = any(beyond_exact(pod) for pod in members) or attempt.cycle.domains is not None
    repelled = attempt.cycle.taken is None or attempt.cycle.taken.nodes_with_required_anti_affinity
    if constrained or repelled or len({kind(pod) for pod in members}) < 2:
        return ""
    if len(world.nodes) > EXACT_NODES or len(members) > EXACT_PODS:
        return ""
    before, _, minimum = kept_and_minimum(attempt.world, attempt.cycle)
    found = joint(world, room(world), members)
    if minimum and found.at_least(max(1, minimum - before)) == "yes":
        where = ", ".join(f"{bare(pod)} on {bare(node)}" for pod, node in found.nodes.items())
        return (
            f"a placement for {len(found.nodes)} members exists ({where}), but the scheduler tries members in order "
            "and takes none back (THM-03)"
        )
    return ""
