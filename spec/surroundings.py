"""What happens to the objects without the scheduler's doing: users, kubelets, nodes, other schedulers.

Nothing here is a promise; these are the actions that every promise has to survive. `delete_pod` is the
request that sets the deletion timestamp, whoever makes it (an eviction call does the same); `remove_pod` is
the end of the object.
"""

from __future__ import annotations

from gangproof.spec.contract import Step, action, chosen
from gangproof.spec.state import COUNTERS, SYMBOLS, State
from gangproof.spec.terms import (
    NOBODY,
    VARIABLES,
    And,
    Becomes,
    Group,
    If,
    Node,
    Not,
    Or,
    Pod,
    Term,
    becomes,
    c,
    clause,
    e,
    k,
    n,
    p,
    r,
)


def leaves_the_scheduler(now: State, pod: Term) -> list[Becomes]:
    """The pod is in no member set and in no queue any more, and nominated to nothing (QUEUE-06, QUEUE-28)."""
    memory = (now.known, now.unscheduled, now.assumed, now.assigned, now.active, now.backoff, now.pool)
    group = now.group(pod)
    return [
        *(becomes(relation(pod), False) for relation in memory),
        becomes(now.nominated(pod), False),
        becomes(now.nomination(pod), NOBODY["Node"]),
        becomes(now.node(pod), If(now.bound(pod), now.node(pod), NOBODY["Node"])),
        becomes(now.own(pod), And(now.own(pod), now.bound(pod))),
        becomes(now.members(group), now.members(group) - If(now.known(pod), 1, 0)),
        becomes(now.placed(group), now.placed(group) - If(now.is_placed(pod), 1, 0)),
    ]


def room_of(now: State, pod: Term) -> Term:
    """How much of the resource `r` the pod takes on its node."""
    return If(now.on_node(pod), now.request(pod, r), 0)


def frees(now: State, pod: Term, room: Term) -> Becomes:
    """The pod's node has so much more of each resource `r` free."""
    return becomes(now.used(now.node(pod), r), now.used(now.node(pod), r) - room)


def is_late(now: State, pod: Term) -> Term:
    """The pod is placed or done, and no decision counted it."""
    return And(Or(now.is_placed(pod), now.finished(pod)), Not(now.stood(pod)))


def stops_counting(now: State, pod: Term) -> list[Becomes]:
    """The pod counts no longer; if a decision counted it, its gang has lost it (SEMANTICS 0.5, lost)."""
    group = now.group(pod)
    return [
        becomes(now.owed(pod), False),
        becomes(now.stood(pod), False),
        becomes(now.owing(group), now.owing(group) - If(now.owed(pod), 1, 0)),
        becomes(now.lost(group), now.lost(group) + If(now.stood(pod), 1, 0)),
        becomes(now.done(group), now.done(group) - If(now.finished(pod), 1, 0)),
        becomes(now.late(group), now.late(group) - If(is_late(now, pod), 1, 0)),
    ]


NOT_FORGOTTEN = {counter.name for counter in COUNTERS} | {"reserved_pod", "reserved_group", "holding"}
"""Counters change by their own clauses; what other objects say of a thing stays when the thing goes."""


def forgotten(now: State, thing: Term) -> list[Becomes]:
    """Every symbol that the thing is an argument of falls back to its default there."""
    changes: list[Becomes] = []
    for symbol in SYMBOLS:
        if thing.sort() not in symbol.args or symbol.name in NOT_FORGOTTEN:
            continue
        args = [thing if sort == thing.sort() else _any(sort) for sort in symbol.args]
        changes.append(becomes(getattr(now, symbol.name)(*args), symbol.default_term))
    return changes


def _any(sort: object) -> Term:
    return next(variable for variable in VARIABLES if variable.sort() == sort)


@action(
    "ACT-01 API-33",
    g=Group,
    protected=chosen(State.protected, "g"),
    gang=chosen(State.gang, "g"),
    minimum=chosen(State.minimum, "g"),
    group_priority=chosen(State.group_priority, "g"),
    whole=chosen(State.whole, "g"),
    constrained=chosen(State.constrained, "g"),
    key=chosen(State.key, "g"),
)
def create_group(now: State, g: Term, **spec: Term) -> Step:
    """A PodGroup is created, or the group that a new plain pod is."""
    return Step(
        when=[
            clause("the group is new", Not(now.group_exists(g))),
            clause("a gang's minimum is at least one", spec["minimum"] >= 1, when=[spec["gang"]]),
            clause("gangs need their gate", now.gang_scheduling(), when=[spec["gang"]]),
        ],
        then=[
            becomes(now.group_exists(g), True),
            *(becomes(getattr(now, name)(g), value) for name, value in spec.items()),
        ],
    )


@action("GC-01 GC-02", g=Group, protected=chosen(State.protected, "g"))
def set_protection(now: State, g: Term, protected: Term) -> Step:
    """Somebody puts the protection finalizer on a PodGroup, or takes it away by hand."""
    return Step(
        when=[clause("the group is there", now.group_exists(g))],
        then=[becomes(now.protected(g), protected)],
    )


@action("ACT-02 ACT-27 GC-02", g=Group)
def remove_group(now: State, g: Term) -> Step:
    """The group object goes, and its history with it; a protected one only after its pods."""
    return Step(
        when=[
            clause("the group is there", now.group_exists(g)),
            clause(
                "a protected group has no active pod",
                Or(now.succeeded(p), now.failed(p)),
                when=[now.protected(g), now.pod_exists(p), now.group(p) == g],
            ),
        ],
        then=[
            *forgotten(now, g),
            *(
                becomes(history(p), And(history(p), now.group(p) != g))
                for history in (now.own, now.stood, now.owed)
            ),
            becomes(now.owing(g), 0),
            becomes(now.late(g), now.placed(g) + now.done(g)),
            becomes(now.pod_named(p, e, c), And(now.pod_named(p, e, c), now.group(p) != g)),
        ],
    )


@action(
    "ACT-01 QUEUE-01 QUEUE-07",
    pod=Pod,
    group=chosen(State.group, "pod"),
    ours=chosen(State.ours, "pod"),
    priority=chosen(State.priority, "pod"),
    request=chosen(State.request, "pod"),
    uses=chosen(State.uses, "pod"),
    pod_named=chosen(State.pod_named, "pod"),
)
def create_pod(
    now: State,
    pod: Term,
    group: Term,
    ours: Term,
    priority: Term,
    request: Term,
    uses: Term,
    pod_named: Term,
) -> Step:
    """A pod appears; if it asks for this scheduler it stands in the pool, and may enter the queue."""
    return Step(
        when=[
            clause("the pod is new", Not(now.pod_exists(pod))),
            clause("the pod has a group", group != NOBODY["Group"]),
            clause(
                "a claim of the group was made for the group, and for that entry",
                now.generated(c, group, e),
                when=[pod_named(e, c)],
            ),
        ],
        then=[
            becomes(now.pod_exists(pod), True),
            becomes(now.group(pod), group),
            becomes(now.ours(pod), ours),
            becomes(now.priority(pod), priority),
            becomes(now.request(pod, r), request(r)),
            becomes(now.uses(pod, c), uses(c)),
            becomes(now.pod_named(pod, e, c), pod_named(e, c)),
            *(becomes(relation(pod), ours) for relation in (now.known, now.unscheduled, now.pool)),
            becomes(now.members(group), now.members(group) + If(ours, 1, 0)),
        ],
    )


@action(
    "CLAIM-02 CLAIM-08", pod=Pod, uses=chosen(State.uses, "pod"), pod_named=chosen(State.pod_named, "pod")
)
def refer(now: State, pod: Term, uses: Term, pod_named: Term) -> Step:
    """The pod's status is given the names of its generated claims, of its group's or its own."""
    return Step(
        when=[
            clause("the pod is there", now.pod_exists(pod)),
            clause("it does not run here yet", Not(And(now.own(pod), now.assigned(pod)))),
            clause(
                "a claim of the group was made for the group, and for that entry",
                now.generated(c, now.group(pod), e),
                when=[pod_named(e, c)],
            ),
        ],
        then=[becomes(now.uses(pod, c), uses(c)), becomes(now.pod_named(pod, e, c), pod_named(e, c))],
    )


@action("ACT-03 ACT-22 QUEUE-28 BIND-10", pod=Pod)
def delete_pod(now: State, pod: Term) -> Step:
    """Somebody deletes the pod: it leaves sets and queue at once, and its node only when it ends."""
    return Step(
        when=[
            clause("the pod is there", now.pod_exists(pod)),
            clause("it is not terminating yet", Not(now.terminating(pod))),
        ],
        then=[
            becomes(now.terminating(pod), True),
            *leaves_the_scheduler(now, pod),
            *stops_counting(now, pod),
            frees(now, pod, If(now.assumed(pod), now.request(pod, r), 0)),
        ],
    )


@action("ACT-03 ACT-05 QUEUE-06 QUEUE-28", pod=Pod)
def remove_pod(now: State, pod: Term) -> Step:
    """The pod object goes, and with it everything that is said of it."""
    return Step(
        when=[clause("the pod is there", now.pod_exists(pod))],
        then=[
            *leaves_the_scheduler(now, pod),
            *stops_counting(now, pod),
            frees(now, pod, room_of(now, pod)),
            *forgotten(now, pod),
        ],
    )


@action("ACT-06 QUEUE-06", pod=Pod)
def finish_pod(now: State, pod: Term) -> Step:
    """A bound pod succeeds: it holds nothing any more, and counts on unless somebody deletes it."""
    group, counts = now.group(pod), Not(now.terminating(pod))
    was_late = If(is_late(now, pod), 1, 0)
    return Step(
        when=[
            clause("the pod is bound", now.bound(pod)),
            clause("it has not ended yet", Not(Or(now.succeeded(pod), now.failed(pod)))),
        ],
        then=[
            becomes(now.succeeded(pod), True),
            *leaves_the_scheduler(now, pod),
            frees(now, pod, room_of(now, pod)),
            becomes(now.done(group), now.done(group) + If(counts, 1, 0)),
            becomes(now.late(group), now.late(group) - was_late + If(And(counts, Not(now.stood(pod))), 1, 0)),
        ],
    )


@action("ACT-06 QUEUE-06", pod=Pod)
def fail_pod(now: State, pod: Term) -> Step:
    """A pod fails: it holds nothing any more and does not count."""
    return Step(
        when=[
            clause("the pod is there", now.pod_exists(pod)),
            clause("it has not ended yet", Not(Or(now.succeeded(pod), now.failed(pod)))),
        ],
        then=[
            becomes(now.failed(pod), True),
            *leaves_the_scheduler(now, pod),
            *stops_counting(now, pod),
            frees(now, pod, room_of(now, pod)),
        ],
    )


@action("ACT-09 QUEUE-02 QUEUE-05", pod=Pod, node=Node, overlooked=chosen(State.overlooked, "pod"))
def foreign_bind(now: State, pod: Term, node: Term, overlooked: Term) -> Step:
    """Somebody else binds the pod; the event that shows it takes the pod out of every other set.

    A cycle that runs has looked at the nodes before, and may not know of it.
    """
    group, counts = now.group(pod), Not(now.terminating(pod))
    newcomer = And(counts, Not(now.is_placed(pod)))
    return Step(
        when=[
            clause("the pod is there", now.pod_exists(pod)),
            clause("it is not bound", Not(now.bound(pod))),
            clause("it has not ended yet", Not(Or(now.succeeded(pod), now.failed(pod)))),
        ],
        then=[
            *leaves_the_scheduler(now, pod),
            becomes(now.bound(pod), True),
            becomes(now.node(pod), node),
            becomes(now.overlooked(pod), overlooked),
            becomes(now.known(pod), counts),
            becomes(now.assigned(pod), counts),
            becomes(now.members(group), now.members(group) + If(And(counts, Not(now.known(pod))), 1, 0)),
            becomes(now.placed(group), now.placed(group) + If(newcomer, 1, 0)),
            becomes(now.owed(pod), False),
            becomes(now.owing(group), now.owing(group) - If(now.owed(pod), 1, 0)),
            becomes(now.late(group), now.late(group) + If(And(newcomer, Not(now.stood(pod))), 1, 0)),
            becomes(
                now.used(n, r),
                now.used(n, r)
                - If(n == now.node(pod), room_of(now, pod), 0)
                + If(n == node, now.request(pod, r), 0),
            ),
        ],
    )


@action(
    "ACT-07",
    node=Node,
    capacity=chosen(State.capacity, "node"),
    labelled=chosen(State.labelled, "node"),
    label=chosen(State.label, "node"),
    reach=chosen(State.reach, "node"),
)
def set_node(now: State, node: Term, capacity: Term, labelled: Term, label: Term, reach: Term) -> Step:
    """A node is added, resized or relabelled."""
    return Step(
        when=[],
        then=[
            becomes(now.node_exists(node), True),
            becomes(now.capacity(node, r), capacity(r)),
            becomes(now.labelled(node, k), labelled(k)),
            becomes(now.label(node, k), label(k)),
            becomes(now.reach(node, c), reach(c)),
        ],
    )


@action("ACT-07", node=Node)
def remove_node(now: State, node: Term) -> Step:
    """A node goes; its pods stay until somebody deletes them."""
    return Step(when=[clause("the node is there", now.node_exists(node))], then=forgotten(now, node))
