"""Preemption: one decision names whole units of weaker victims, and the round that it opens waits for them.

The eviction calls themselves are `delete_pod` for a pod that runs and `send_back` for one that is only
promised.
"""

from __future__ import annotations

from gangproof.spec.contract import Step, a_map, a_set, action, chosen
from gangproof.spec.cycle import loses_promise
from gangproof.spec.state import State
from gangproof.spec.terms import (
    NOBODY,
    And,
    Group,
    If,
    Not,
    Or,
    Pod,
    Term,
    becomes,
    clause,
    g,
    p,
    some,
    v,
    w,
)


@action(
    "PREEMPT-12 PREEMPT-20 PREEMPT-21 PREEMPT-27 PREEMPT-33",
    g=Group,
    victims=a_set(Pod),
    asker=a_map(Pod, Pod),
)
def evict(now: State, g: Term, victims: Term, asker: Term) -> Step:
    """One preemption decision of a group names its victims, each for a member in flight that asks for it."""
    return Step(
        when=[
            clause("no round of the group runs", Not(now.round(g))),
            clause("a group with a topology key evicts nobody", Not(now.constrained(g))),
            clause("victims are on a node", now.on_node(v), when=[victims(v)]),
            clause("the group spares its own members", now.group(v) != g, when=[victims(v)]),
            clause(
                "a member in flight asks for each victim",
                And(now.in_flight(asker(v)), now.group(asker(v)) == g),
                when=[victims(v)],
            ),
            clause(
                "victims are weaker than who asks",
                now.strength(v) < now.strength(asker(v)),
                when=[victims(v)],
            ),
            clause(
                "a unit goes as a whole",
                Or(victims(w), now.terminating(w)),
                when=[
                    now.workload_aware(),
                    victims(v),
                    now.group(w) == now.group(v),
                    now.whole(now.group(v)),
                    now.on_node(w),
                    now.node_exists(now.node(w)),
                ],
            ),
        ],
        then=[
            becomes(now.victim(v, g), Or(now.victim(v, g), victims(v))),
            becomes(now.round(g), some(v, victims(v))),
        ],
    )


@action(
    "PREEMPT-30",
    pod=Pod,
    active=chosen(State.active, "pod"),
    backoff=chosen(State.backoff, "pod"),
    pool=chosen(State.pool, "pod"),
)
def send_back(now: State, pod: Term, active: Term, backoff: Term, pool: Term) -> Step:
    """A victim that is only promised loses its promise instead of its life."""
    step = loses_promise(now, pod, active, backoff, pool)
    return Step(
        when=[clause("the pod is a victim", some(g, now.victim(pod, g))), *step.when],
        then=[*step.then, becomes(now.victim(pod, g), False)],
    )


@action("PREEMPT-31", pod=Pod, g=Group)
def call_off(now: State, pod: Term, g: Term) -> Step:
    """An eviction call fails for good or is not made: the round does not wait for that victim."""
    return Step(
        when=[
            clause("the pod is a victim", now.victim(pod, g)),
            clause("nobody deletes it", Not(now.terminating(pod))),
        ],
        then=[becomes(now.victim(pod, g), False)],
    )


@action("PREEMPT-31", g=Group)
def end_round(now: State, g: Term) -> Step:
    """A round is over when no victim of it is left."""
    return Step(
        when=[
            clause("a round of the group runs", now.round(g)),
            clause("no victim of it is left", Not(now.victim(v, g))),
        ],
        then=[becomes(now.round(g), False)],
    )


@action("PREEMPT-41 BIND-03", plan=a_set(Pod), at=chosen(State.nomination))
def nominate(now: State, plan: Term, at: Term) -> Step:
    """Members are nominated to the nodes of a plan: while their round runs, or once they are promised."""
    return Step(
        when=[
            clause(
                "who is nominated waits or is promised",
                Or(now.unscheduled(p), now.assumed(p)),
                when=[plan(p)],
            ),
            clause(
                "a nomination is part of a round or of a promise",
                Or(now.round(now.group(p)), now.assumed(p)),
                when=[plan(p)],
            ),
        ],
        then=[
            becomes(now.nominated(p), Or(now.nominated(p), plan(p))),
            becomes(now.nomination(p), If(plan(p), at(p), now.nomination(p))),
        ],
    )


@action("CYCLE-49", cleared=a_set(Pod))
def denominate(now: State, cleared: Term) -> Step:
    """Nominations are removed, and leave no entry."""
    return Step(
        when=[clause("they were nominated", now.nominated(p), when=[cleared(p)])],
        then=[
            becomes(now.nominated(p), And(now.nominated(p), Not(cleared(p)))),
            becomes(now.nomination(p), If(cleared(p), NOBODY["Node"], now.nomination(p))),
        ],
    )
