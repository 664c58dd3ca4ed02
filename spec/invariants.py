"""The promises, in the order of SEMANTICS section 12 (those of claims: `claim_invariants`): each one sentence,
the same sentence as a formula, and its proof's two controls, a witness that the interesting case can be
reached and a mutant that must break it.

A state invariant holds of every reachable state and is inductive together with the others; a step invariant
relates the state before a step to the state after it. Variables that are left free mean *for every*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from gangproof.spec import mutants, witnesses
from gangproof.spec.contract import invariant
from gangproof.spec.state import SYMBOLS, State
from gangproof.spec.terms import (
    NOBODY,
    And,
    Bool,
    Clause,
    Implies,
    Not,
    Or,
    Pod,
    Term,
    c,
    clause,
    every,
    g,
    h,
    n,
    p,
    q,
    r,
    some,
    v,
    w,
)


def newly_promised(now: State, then: State, pod: Term) -> list[Term]:
    """The pod is promised a node in this step."""
    return [then.assumed(pod), Not(now.assumed(pod))]


def newly_named(now: State, then: State, pod: Term, group: Term) -> list[Term]:
    """The pod is named as a victim for the group in this step."""
    return [then.victim(pod, group), Not(now.victim(pod, group))]


def same(now: State, then: State, *names: str) -> Iterator[tuple[str, Term]]:
    """For each symbol named, at its free variables: that the step leaves it as it was."""
    for name in names:
        symbol = next(s for s in SYMBOLS if s.name == name)
        args = [
            {"Pod": q, "Node": n, "Group": h, "Claim": c, "Resource": r}[str(sort)] for sort in symbol.args
        ]
        yield name, getattr(then, name)(*args) == getattr(now, name)(*args)


@invariant("INV-01", "CYCLE-26 CYCLE-27", witness=witnesses.exact_fit, mutant=mutants.bind_below_minimum)
def all_or_nothing_decision(now: State, then: State) -> Iterable[Clause]:
    """A decision keeps no member of a gang, or with those placed and done before at least its minimum."""
    group = now.group(p)
    kept = then.placed(group) - now.placed(group)
    yield clause(
        "members placed before and kept now reach the minimum",
        now.placed(group) + now.done(group) + kept >= now.minimum(group),
        when=[*newly_promised(now, then, p), now.gang(group)],
    )


@invariant("INV-02", "GANG-09 GANG-10", witness=witnesses.late_member, mutant=mutants.leaving_members_count)
def all_or_nothing_release(now: State, then: State) -> Iterable[Clause]:
    """When a gang's member passes Permit, at least the minimum is placed or done, it included."""
    group = then.group(p)
    yield clause(
        "the minimum is met when a member is let through",
        then.placed(group) + then.done(group) >= then.minimum(group),
        when=[*newly_promised(now, then, p), then.gang(group)],
    )


@invariant("INV-03", "BIND-07 BIND-08", witness=witnesses.one_is_owed, mutant=mutants.failed_bind_forgotten)
def gang_whole_or_owed(now: State) -> Iterable[Clause]:
    """A started gang has nobody placed or owed, or with those done its minimum, less the members it lost."""
    up = now.placed(g) + now.owing(g)
    least = now.minimum(g) - now.lost(g)
    yield clause(
        "a started gang is whole, or what it lacks is owed or lost",
        Or(up == 0, up + now.done(g) >= least),
        when=[now.gang(g), now.started(g)],
    )
    yield clause(
        "before its first decision this scheduler has placed none of a gang",
        now.started(now.group(p)),
        when=[now.own(p), now.gang(now.group(p))],
    )
    yield clause(
        "whom a decision counted still stands, or is owed",
        up + now.done(g) - now.late(g) >= least,
        when=[now.gang(g), now.started(g)],
    )
    yield clause("nothing lost is less than nothing", now.lost(g) >= 0)
    yield clause("only a gang is started", now.gang(g), when=[now.started(g)])
    yield clause(
        "who counted at a decision is placed, done or owed",
        And(now.started(now.group(p)), Or(now.is_placed(p), now.finished(p), now.owed(p))),
        when=[now.stood(p)],
    )
    yield clause("who is owed counted, and waits", And(now.stood(p), now.unscheduled(p)), when=[now.owed(p)])
    yield clause(
        "a place belongs to a group that is there",
        now.group_exists(now.group(p)),
        when=[now.own(p), now.gang_scheduling()],
    )
    yield clause(
        "a group that is gone leaves no policy and no history",
        Not(Or(now.gang(g), now.started(g), now.scheduled_true(g))),
        when=[Not(now.group_exists(g))],
    )
    yield clause("gangs need their gate", now.gang_scheduling(), when=[now.gang(g)])


@invariant(
    "INV-04",
    "QUEUE-06d CYCLE-30 PREEMPT-21",
    witness=witnesses.weaker_sibling,
    mutant=mutants.evicts_own_member,
)
def no_undoing(now: State, then: State) -> Iterable[Clause]:
    """A group's own handling never takes a bound member away: it neither evicts it nor puts it back."""
    yield clause(
        "a group's round names none of its own members",
        now.group(v) != g,
        when=newly_named(now, then, v, g),
    )
    yield clause(
        "a bound member leaves by deletion or at its end",
        Or(then.terminating(p), then.succeeded(p), then.failed(p), Not(then.pod_exists(p))),
        when=[now.assigned(p), Not(then.assigned(p))],
    )


@invariant("INV-05", "BIND-01", witness=witnesses.last_unit, mutant=mutants.room_ignored)
def capacity(now: State, then: State) -> Iterable[Clause]:
    """When a pod is promised a node, all that is asked of that node fits on it."""
    yield clause(
        "the node holds what is bound and promised there",
        then.used(then.node(p), r) <= then.capacity(then.node(p), r),
        when=[*newly_promised(now, then, p), then.request(p, r) > 0],
    )


@invariant(
    "INV-07",
    "CYCLE-09 CYCLE-23 CYCLE-24",
    witness=witnesses.nobody_kept,
    mutant=mutants.claims_released_in_vain,
)
def frame_of_the_simulation(now: State, then: State) -> Iterable[Clause]:
    """A cycle that commits nothing gives its members back and changes nothing else."""
    group = now.group(p)
    fruitless = [
        now.in_flight(p),
        Not(then.in_flight(p)),
        then.queued(p),
        every(w, Implies(And(now.group(w) == group, then.assumed(w)), now.assumed(w))),
    ]
    others = [*fruitless, Not(And(now.in_flight(q), now.group(q) == group))]
    frame = ("known", "unscheduled", "assumed", "assigned", "bound", "node", "used")
    for name, stays in same(now, then, *frame, "allocated", "reserved_pod", "reserved_group"):
        yield clause(f"{name} is as before", stays, when=fruitless)
    for name, stays in same(now, then, "active", "backoff", "pool", "in_flight", "nominated", "nomination"):
        yield clause(f"{name} of pods outside the cycle is as before", stays, when=others)
    for name, stays in same(now, then, "victim", "round"):
        yield clause(f"{name} of other groups is as before", stays, when=[*fruitless, h != group])


@invariant(
    "INV-08", "QUEUE-07 QUEUE-22 BIND-10", witness=witnesses.deleted_in_backoff, mutant=mutants.lost_on_return
)
def one_place(now: State) -> Iterable[Clause]:
    """A pod that this scheduler has to place is in exactly one place: queued, in flight, or promised."""
    places = {
        "active": now.active(p),
        "backoff": now.backoff(p),
        "pool": now.pool(p),
        "in flight": now.in_flight(p),
        "assumed": now.assumed(p),
    }
    yield clause(
        "a pod to be placed is somewhere",
        Or(*places.values()),
        when=[now.to_be_placed(p)],
    )
    for (one, is_there), (other, is_here) in combinations(places.items(), 2):
        yield clause(f"no pod is both {one} and {other}", Not(is_here), when=[is_there])
    yield clause("only what waits to be scheduled is queued", now.unscheduled(p), when=[now.queued(p)])
    yield clause(
        "what is in flight is of one cycle",
        now.group(p) == now.group(q),
        when=[now.in_flight(p), now.in_flight(q)],
    )


@invariant("INV-10", "QUEUE-05 QUEUE-06a", witness=witnesses.bound_by_another, mutant=mutants.overlap)
def partition(now: State) -> Iterable[Clause]:
    """Unsched(g), Assumed(g) and Assigned(g) are disjoint, and together they are All(g)."""
    sets = {"unscheduled": now.unscheduled(p), "assumed": now.assumed(p), "assigned": now.assigned(p)}
    for (one, is_in), (other, is_also) in combinations(sets.items(), 2):
        yield clause(f"no pod is both {one} and {other}", Not(is_also), when=[is_in])
    yield clause("every member is in one of the sets", Or(*sets.values()), when=[now.known(p)])
    yield clause("the sets hold members only", now.known(p), when=[Or(*sets.values())])


@invariant(
    "INV-11",
    "QUEUE-02 QUEUE-06 QUEUE-06c",
    witness=witnesses.foreign_member,
    mutant=mutants.ended_member_stays,
)
def member_truth(now: State) -> Iterable[Clause]:
    """A member exists, is neither terminating nor at its end, and asks for this scheduler or is bound."""
    yield clause("every pod has a group", now.group(p) != NOBODY["Group"], when=[now.pod_exists(p)])
    yield clause("a member exists", now.pod_exists(p), when=[now.known(p)])
    yield clause(
        "a member is neither terminating nor at its end",
        Not(Or(now.terminating(p), now.succeeded(p), now.failed(p))),
        when=[now.known(p)],
    )
    yield clause(
        "a member is bound, or asks for this scheduler", Or(now.ours(p), now.bound(p)), when=[now.known(p)]
    )
    yield clause("whoever is to be placed is a member", now.known(p), when=[now.to_be_placed(p)])
    yield clause("who is assigned is bound", now.bound(p), when=[now.assigned(p)])
    yield clause(
        "who is not assigned is not bound", Not(now.bound(p)), when=[Or(now.unscheduled(p), now.assumed(p))]
    )
    flags = [getattr(now, s.name)(p) for s in SYMBOLS if s.args == (Pod,) and s.result == Bool]
    yield clause(
        "a pod that is gone leaves nothing",
        Not(Or(*flags[1:])),
        when=[Not(now.pod_exists(p))],
    )


@invariant("INV-13", "CYCLE-52 CYCLE-55", witness=witnesses.surplus_fails, mutant=mutants.false_over_true)
def condition_monotone(now: State, then: State) -> Iterable[Clause]:
    """PodGroupScheduled of one PodGroup never changes from True to anything else."""
    yield clause(
        "True stays True while the PodGroup lives",
        then.scheduled_true(g),
        when=[now.scheduled_true(g), then.group_exists(g)],
    )


@invariant(
    "INV-16", "PREEMPT-20 PREEMPT-21", witness=witnesses.group_priority_counts, mutant=mutants.stronger_victim
)
def victims_weaker(now: State, then: State) -> Iterable[Clause]:
    """Every victim is weaker than the preemptor, by effective priority on both sides."""
    yield clause(
        "some member in flight is stronger than the victim",
        some(q, And(now.in_flight(q), now.group(q) == g, now.strength(v) < now.strength(q))),
        when=newly_named(now, then, v, g),
    )


@invariant("INV-17", "PREEMPT-20 PREEMPT-27", witness=witnesses.whole_unit, mutant=mutants.part_of_a_unit)
def disruption_atomicity(now: State, then: State) -> Iterable[Clause]:
    """Of a group with disruptionMode PodGroup, a decision to preempt names all pods on nodes that exist, or none."""
    yield clause(
        "the victim's siblings on nodes go with it",
        Or(then.victim(w, g), now.terminating(w)),
        when=[
            now.workload_aware(),
            *newly_named(now, then, v, g),
            now.group(w) == now.group(v),
            now.whole(now.group(v)),
            now.on_node(w),
            now.node_exists(now.node(w)),
        ],
    )


@invariant(
    "INV-20", "PREEMPT-13 PREEMPT-43", witness=witnesses.tried_while_terminating, mutant=mutants.second_round
)
def no_second_round(now: State, then: State) -> Iterable[Clause]:
    """While a round of a group runs, no new decision of the group adds victims."""
    yield clause("no victim is named during a round", Not(now.round(g)), when=newly_named(now, then, v, g))


@invariant(
    "INV-21",
    "PLACE-03 PLACE-04 PLACE-06",
    witness=witnesses.follows_its_siblings,
    mutant=mutants.domain_ignored,
)
def topology(now: State, then: State) -> Iterable[Clause]:
    """All members that a cycle commits lie in one domain, which is that of the members that it saw on nodes."""
    key = then.key(then.group(p))
    yield clause(
        "members on nodes share the topology domain",
        And(
            now.labelled(then.node(p), key),
            now.labelled(then.node(q), key),
            now.label(then.node(p), key) == now.label(then.node(q), key),
        ),
        when=[
            *newly_promised(now, then, p),
            then.constrained(then.group(p)),
            then.group(q) == then.group(p),
            then.on_node(q),
            Not(now.overlooked(q)),
        ],
    )


@invariant(
    "INV-29", "GC-01 GC-02", witness=witnesses.protected_until_the_end, mutant=mutants.protection_ignored
)
def deletion_protection(now: State, then: State) -> Iterable[Clause]:
    """A protected PodGroup is not removed while a pod that has not ended refers to it."""
    yield clause(
        "every pod of a removed group has ended",
        Or(now.succeeded(p), now.failed(p)),
        when=[
            now.group_exists(g),
            Not(then.group_exists(g)),
            now.protected(g),
            now.pod_exists(p),
            now.group(p) == g,
        ],
    )
