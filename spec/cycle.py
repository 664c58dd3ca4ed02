"""The scheduler's own doing, in the order of a member's life: gate, queue, cycle, decision, binding,
condition.

The contract decides once: `decide` promises a place to a set of members in one step, and `bind` and `lose`
follow one member at a time. What a real scheduler does in between (assume, reserve, count, undo) is not seen
here.
"""

from __future__ import annotations

from gangproof.spec.contract import Step, a_set, action, chosen
from gangproof.spec.state import State
from gangproof.spec.surroundings import frees, is_late
from gangproof.spec.terms import (
    NOBODY,
    And,
    Bool,
    Clause,
    Group,
    If,
    Not,
    Or,
    Pod,
    Sum,
    Term,
    becomes,
    c,
    clause,
    g,
    n,
    p,
    q,
    r,
    some,
)


def gate(now: State, *when: Term) -> list[Clause]:
    """What the gang plugin asks of the pod `p` before it may enter the queue (GANG-01 to GANG-03)."""
    group = now.group(p)
    return [
        clause("the group is there", now.group_exists(group), when=[*when, now.gang_scheduling()]),
        clause(
            "enough members of the gang exist",
            now.members(group) + now.done(group) >= now.minimum(group),
            when=[*when, now.gang(group)],
        ),
    ]


@action("QUEUE-07 QUEUE-14 QUEUE-24 GANG-01 GANG-03", ready=a_set(Pod), resting=a_set(Pod))
def enqueue(now: State, ready: Term, resting: Term) -> Step:
    """Pods leave the pool, or their backoff ends; those that still have to wait rest in backoff."""
    moved = Or(ready(p), resting(p))
    return Step(
        when=[
            clause("ready pods waited in pool or backoff", Or(now.pool(p), now.backoff(p)), when=[ready(p)]),
            clause("resting pods waited in the pool", now.pool(p), when=[resting(p)]),
            clause("no pod is both ready and resting", Not(resting(p)), when=[ready(p)]),
            *gate(now, now.pool(p), moved),
        ],
        then=[
            becomes(now.active(p), Or(now.active(p), ready(p))),
            becomes(now.backoff(p), And(Or(now.backoff(p), resting(p)), Not(ready(p)))),
            becomes(now.pool(p), And(now.pool(p), Not(moved))),
        ],
    )


@action("QUEUE-07 QUEUE-14 PREEMPT-33", held=a_set(Pod))
def hold(now: State, held: Term) -> Step:
    """A plugin gates pods that stood in the queue: they wait in the pool."""
    return Step(
        when=[clause("held pods are in the queue", now.queued(p), when=[held(p)])],
        then=[
            becomes(now.active(p), And(now.active(p), Not(held(p)))),
            becomes(now.backoff(p), And(now.backoff(p), Not(held(p)))),
            becomes(now.pool(p), Or(now.pool(p), held(p))),
        ],
    )


@action("QUEUE-18 QUEUE-19a QUEUE-19b CYCLE-01", head=Pod, taken=a_set(Pod))
def pop(now: State, head: Term, taken: Term) -> Step:
    """A cycle begins: an active pod is taken in flight, and with it such siblings as may be tried."""
    return Step(
        when=[
            clause("no other cycle runs", Not(now.in_flight(p))),
            clause("the head is active", now.active(head)),
            clause("the head is taken", taken(head)),
            clause("taken pods wait in the queue", now.queued(p), when=[taken(p)]),
            clause("taken pods are of one group", now.group(p) == now.group(head), when=[taken(p)]),
            *gate(now, now.pool(p), taken(p)),
        ],
        then=[
            becomes(now.in_flight(p), taken(p)),
            *(
                becomes(place(p), And(place(p), Not(taken(p))))
                for place in (now.active, now.backoff, now.pool)
            ),
        ],
    )


@action(
    "CYCLE-44 QUEUE-20 QUEUE-22", resting=a_set(Pod), ready=a_set(Pod), held=a_set(Pod), cleared=a_set(Pod)
)
def give_back(now: State, resting: Term, ready: Term, held: Term, cleared: Term) -> Step:
    """A cycle gives back members that it does not commit: to backoff, to the active queue, or gated."""
    returned = Or(resting(p), ready(p), held(p))
    return Step(
        when=[
            clause("they are in flight", now.in_flight(p), when=[returned]),
            clause("they are still to be scheduled", now.unscheduled(p), when=[returned]),
            clause("none goes to two places", Not(Or(ready(p), held(p))), when=[resting(p)]),
            clause("none is both ready and held", Not(held(p)), when=[ready(p)]),
            clause("only they lose a nomination", returned, when=[cleared(p)]),
            *gate(now, Or(resting(p), ready(p))),
        ],
        then=[
            becomes(now.in_flight(p), And(now.in_flight(p), Not(returned))),
            becomes(now.backoff(p), Or(now.backoff(p), resting(p))),
            becomes(now.active(p), Or(now.active(p), ready(p))),
            becomes(now.pool(p), Or(now.pool(p), held(p))),
            becomes(now.nominated(p), And(now.nominated(p), Not(cleared(p)))),
            becomes(now.nomination(p), If(cleared(p), NOBODY["Node"], now.nomination(p))),
        ],
    )


@action("QUEUE-29 CYCLE-06", closed=a_set(Pod))
def close(now: State, closed: Term) -> Step:
    """A cycle drops pods that there is nothing more to do for: terminating, gone, or bound meanwhile."""
    return Step(
        when=[
            clause("they are in flight", now.in_flight(p), when=[closed(p)]),
            clause("they are not to be scheduled any more", Not(now.unscheduled(p)), when=[closed(p)]),
        ],
        then=[becomes(now.in_flight(p), And(now.in_flight(p), Not(closed(p))))],
    )


@action(
    "CYCLE-25 CYCLE-27 CYCLE-31 CYCLE-43 PLACE-03 BIND-01", g=Group, kept=a_set(Pod), at=chosen(State.node)
)
def decide(now: State, g: Term, kept: Term, at: Term) -> Step:
    """A cycle decides for a group: every kept member is promised its node, all at once."""
    size = Sum("size", p, (), kept(p))
    repaid = Sum(
        "repaid",
        p,
        (),
        And(kept(p), now.owed(p)),
        facts=(
            clause("who is repaid was owed", Sum.of("repaid") <= now.owing(g)),
            clause("who is repaid is kept", Sum.of("repaid") <= Sum.of("size")),
        ),
    )
    room = Sum("room", p, (n, r), If(And(kept(p), at(p) == n), now.request(p, r), 0))
    where = If(kept(q), at(q), now.node(q))
    key = now.key(g)
    return Step(
        when=[
            clause("somebody is kept", some(p, kept(p))),
            clause("kept members are in flight", now.in_flight(p), when=[kept(p)]),
            clause("kept members are still to be scheduled", now.unscheduled(p), when=[kept(p)]),
            clause("kept members are the group's", now.group(p) == g, when=[kept(p)]),
            clause("the group is there", now.group_exists(g), when=[now.gang_scheduling()]),
            clause(
                "the gang reaches its minimum",
                now.placed(g) + now.done(g) + size() >= now.minimum(g),
                when=[now.gang(g)],
            ),
            clause("the nodes are there", now.node_exists(at(p)), when=[kept(p)]),
            clause(
                "there is room for all of them",
                now.used(at(p), r) + room(at(p), r) <= now.capacity(at(p), r),
                when=[kept(p), now.request(p, r) > 0],
            ),
            clause(
                "each of their allocated claims can be reached",
                now.reach(at(p), c),
                when=[kept(p), now.uses(p, c), now.seen_allocated(c), now.allocated(c)],
            ),
            clause(
                "all members are in one domain",
                And(
                    now.labelled(at(p), key),
                    now.labelled(where, key),
                    now.label(at(p), key) == now.label(where, key),
                ),
                when=[
                    now.constrained(g),
                    kept(p),
                    now.group(q) == g,
                    Or(kept(q), And(now.on_node(q), Not(now.overlooked(q)))),
                ],
            ),
        ],
        then=[
            becomes(now.assumed(p), Or(now.assumed(p), kept(p))),
            becomes(now.node(p), If(kept(p), at(p), now.node(p))),
            becomes(now.own(p), Or(now.own(p), kept(p))),
            *(
                becomes(old(p), And(old(p), Not(kept(p))))
                for old in (now.unscheduled, now.in_flight, now.owed)
            ),
            becomes(now.started(g), Or(now.started(g), now.gang(g))),
            becomes(
                now.stood(p),
                Or(
                    now.stood(p),
                    And(
                        now.gang(g),
                        now.group(p) == g,
                        Or(kept(p), now.is_placed(p), now.finished(p)),
                    ),
                ),
            ),
            becomes(now.placed(g), now.placed(g) + size()),
            becomes(now.owing(g), now.owing(g) - repaid()),
            becomes(now.late(g), If(now.gang(g), 0, now.late(g) + size())),
            becomes(now.used(n, r), now.used(n, r) + room(n, r)),
        ],
        sums=(size, repaid, room),
    )


@action("CYCLE-08 PLACE-03", seen=a_set(Pod))
def look(now: State, seen: Term) -> Step:
    """These pods are overlooked no more: they went or ended, or the next cycle will look again at who is where."""
    return Step(when=[], then=[becomes(now.overlooked(p), And(now.overlooked(p), Not(seen(p))))])


@action("BIND-05 BIND-06 QUEUE-04 CLAIM-22", pod=Pod)
def bind(now: State, pod: Term) -> Step:
    """A promised pod is bound to its node."""
    return Step(
        when=[
            clause("the pod is promised", now.assumed(pod)),
            clause(
                "each of its claims is reserved for it or its group",
                now.holds_claim(pod, c),
                when=[now.uses(pod, c)],
            ),
        ],
        then=[
            becomes(now.bound(pod), True),
            becomes(now.assumed(pod), False),
            becomes(now.assigned(pod), True),
            becomes(now.nominated(pod), False),
            becomes(now.nomination(pod), NOBODY["Node"]),
        ],
    )


def loses_promise(now: State, pod: Term, active: Term, backoff: Term, pool: Term) -> Step:
    """A promised pod has to be scheduled again; if it is a started gang's, it is owed."""
    group, owed = now.group(pod), now.stood(pod)
    return Step(
        when=[
            clause("the pod is promised", now.assumed(pod)),
            clause("it goes somewhere", Or(active, backoff, pool)),
            clause("it goes to one place", And(Not(And(active, Or(backoff, pool))), Not(And(backoff, pool)))),
        ],
        then=[
            becomes(now.assumed(pod), False),
            becomes(now.unscheduled(pod), True),
            becomes(now.node(pod), NOBODY["Node"]),
            becomes(now.own(pod), False),
            becomes(now.active(pod), active),
            becomes(now.backoff(pod), backoff),
            becomes(now.pool(pod), pool),
            becomes(now.nominated(pod), False),
            becomes(now.nomination(pod), NOBODY["Node"]),
            becomes(now.placed(group), now.placed(group) - 1),
            becomes(now.owed(pod), owed),
            becomes(now.owing(group), now.owing(group) + If(owed, 1, 0)),
            becomes(now.late(group), now.late(group) - If(is_late(now, pod), 1, 0)),
            frees(now, pod, now.request(pod, r)),
        ],
    )


@action(
    "BIND-07",
    pod=Pod,
    active=chosen(State.active, "pod"),
    backoff=chosen(State.backoff, "pod"),
    pool=chosen(State.pool, "pod"),
)
def lose(now: State, pod: Term, active: Term, backoff: Term, pool: Term) -> Step:
    """The bind of a promised pod fails, and its room is lost: it has to be scheduled again."""
    return loses_promise(now, pod, active, backoff, pool)


@action("CYCLE-50 CYCLE-52 CYCLE-56", g=Group, decided=Bool)
def write_condition(now: State, g: Term, decided: Term) -> Step:
    """The scheduler writes PodGroupScheduled: True after a decision, never False over True."""
    return Step(
        when=[
            clause("the group is there", now.group_exists(g)),
            clause("True tells of a decision", now.started(g), when=[decided, now.gang(g)]),
            clause("True stays", decided, when=[now.scheduled_true(g)]),
        ],
        then=[
            becomes(now.scheduled_true(g), decided),
            becomes(now.scheduled_false(g), Not(decided)),
        ],
    )


@action(
    "ACT-30",
    active=chosen(State.active),
    nominated=chosen(State.nominated),
    nomination=chosen(State.nomination),
    round=chosen(State.round),
    victim=chosen(State.victim),
)
def restart(now: State, active: Term, nominated: Term, nomination: Term, round: Term, victim: Term) -> Step:
    """The scheduler starts anew: promises and queue are gone; pending members of started gangs are owed."""
    pending = Or(now.unscheduled(p), now.assumed(p))
    owed = Or(now.owed(p), And(pending, now.started(now.group(p))))
    back = Sum("back", p, (g,), And(now.assumed(p), now.group(p) == g))
    late = Sum(
        "late_back",
        p,
        (g,),
        And(now.assumed(p), Not(now.stood(p)), now.group(p) == g),
        facts=(clause("late members that come back were late", Sum.of("late_back", g) <= now.late(g)),),
    )
    waiting = Sum(
        "waiting",
        p,
        (g,),
        And(pending, now.group(p) == g),
        facts=(
            clause(
                "who was owed or comes back waits",
                Sum.of("waiting", g) >= now.owing(g) + Sum.of("back", g),
            ),
        ),
    )
    room = Sum("room_back", p, (n, r), If(And(now.assumed(p), now.node(p) == n), now.request(p, r), 0))
    return Step(
        when=[
            clause("no cycle runs: one that ran is given up first", Not(now.in_flight(p))),
            clause("only what waits is queued", pending, when=[active(p)]),
            clause("only what waits is nominated", pending, when=[nominated(p)]),
            *gate(now, active(p)),
            clause("only rounds that ran are found again", now.round(g), when=[round(g)]),
            clause("only victims that were named are found again", now.victim(p, g), when=[victim(p, g)]),
        ],
        then=[
            becomes(now.unscheduled(p), pending),
            becomes(now.node(p), If(now.assumed(p), NOBODY["Node"], now.node(p))),
            becomes(now.own(p), And(now.own(p), Not(now.assumed(p)))),
            *(becomes(lost(p), False) for lost in (now.assumed, now.backoff, now.overlooked)),
            becomes(now.active(p), active(p)),
            becomes(now.pool(p), And(pending, Not(active(p)))),
            becomes(now.nominated(p), nominated(p)),
            becomes(now.nomination(p), nomination(p)),
            becomes(now.round(g), round(g)),
            becomes(now.victim(p, g), victim(p, g)),
            becomes(now.owed(p), owed),
            becomes(now.stood(p), Or(now.stood(p), owed)),
            becomes(now.placed(g), now.placed(g) - back(g)),
            becomes(now.owing(g), If(now.started(g), waiting(g), now.owing(g))),
            becomes(now.late(g), now.late(g) - late(g)),
            becomes(now.used(n, r), now.used(n, r) - room(n, r)),
        ],
        sums=(back, late, waiting, room),
    )
