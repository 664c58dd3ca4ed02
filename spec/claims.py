"""ResourceClaims: one allocation, and in `reservedFor` one entry for a pod or for all members of a group.

The scheduler chooses an allocation when it promises a place, and it is in flight until it is written: by whoever
comes first of those who hold the claim.
"""

from __future__ import annotations

from gangproof.spec.contract import Step, a_set, action, chosen
from gangproof.spec.state import State
from gangproof.spec.terms import (
    And,
    Becomes,
    Claim,
    Clause,
    Device,
    Group,
    Node,
    Not,
    Or,
    Pod,
    Term,
    becomes,
    c,
    clause,
    d,
    e,
    g,
    n,
    p,
    q,
    some,
)

RESERVED_FOR_MAX = 256
"""How many entries `reservedFor` may have (CLAIM-26)."""


def room_for_an_entry(now: State, claim: Term) -> list[Clause]:
    """What the API asks of a claim before one more entry is added (CLAIM-26)."""
    entries = now.pod_entries(claim) + now.group_entries(claim)
    return [
        clause("the claim is allocated", now.allocated(claim)),
        clause("there is room for an entry", entries < RESERVED_FOR_MAX),
    ]


def unreserved(now: State, claim: Term) -> list[Clause]:
    """Nobody has an entry in the claim."""
    return [
        clause("no pod has an entry", Not(now.reserved_pod(claim, p))),
        clause("no group has an entry", Not(now.reserved_group(claim, g))),
    ]


def nobody_elses(now: State, claim: Term, devices: Term) -> Clause:
    """Each of the devices is free, or the claim's own (CLAIM-12)."""
    return clause("its devices are nobody else's", Not(now.device(c, d)), when=[devices(d), c != claim])


def without_devices(now: State, claim: Term, kept: Term) -> list[Becomes]:
    """The claim has devices no more, unless they are `kept`."""
    return [
        becomes(now.device(claim, d), And(now.device(claim, d), kept)),
        becomes(now.reach(n, claim), And(now.reach(n, claim), kept)),
    ]


@action("ACT-01 CLAIM-02 CLAIM-03", claim=Claim, generated=chosen(State.generated, "claim"))
def create_claim(now: State, claim: Term, generated: Term) -> Step:
    """A ResourceClaim is created, by a user, or by the claim controller for an entry of a group."""
    return Step(
        when=[
            clause("the claim is new", Not(now.claim_exists(claim))),
            clause(
                "no claim was made for the entry before",
                Not(now.generated(c, g, e)),
                when=[now.claim_exists(c), generated(g, e)],
            ),
        ],
        then=[
            becomes(now.claim_exists(claim), True),
            becomes(now.generated(claim, g, e), generated(g, e)),
        ],
    )


@action("CLAIM-02 CLAIM-04", g=Group, named=chosen(State.named, "g"))
def name_claims(now: State, g: Term, named: Term) -> Step:
    """The claim controller names the claims that were made for a group in its status."""
    return Step(
        when=[
            clause("the group is there", now.group_exists(g)),
            clause(
                "each is the group's, and made for its entry",
                now.generated(c, g, e),
                when=[named(e, c)],
            ),
            clause("what was named and is there stays named", named(e, c), when=[now.named(g, e, c)]),
        ],
        then=[becomes(now.named(g, e, c), named(e, c))],
    )


@action("CLAIM-22", claim=Claim, devices=a_set(Device), nodes=a_set(Node))
def allocate(now: State, claim: Term, devices: Term, nodes: Term) -> Step:
    """The claim gets its allocation, which then stays until it is cleared."""
    return Step(
        when=[
            clause("the claim is there", now.claim_exists(claim)),
            clause("it is not allocated yet", Not(now.allocated(claim))),
            nobody_elses(now, claim, devices),
        ],
        then=[
            becomes(now.allocated(claim), True),
            becomes(now.device(claim, d), devices(d)),
            becomes(now.reach(n, claim), nodes(n)),
        ],
    )


@action("CLAIM-12 CLAIM-13 CLAIM-18", pod=Pod, claim=Claim, devices=a_set(Device), nodes=a_set(Node))
def reserve_claim(now: State, pod: Term, claim: Term, devices: Term, nodes: Term) -> Step:
    """A promised pod holds a claim: the first one chooses the allocation, the others of its group share it."""
    return Step(
        when=[
            clause("the pod is promised", now.assumed(pod)),
            clause("the pod uses the claim", now.uses(pod, claim)),
            clause("it does not hold it yet", Not(now.holding(pod, claim))),
            clause("the claim is there", now.claim_exists(claim)),
            clause(
                "what is allocated or in flight is shared as it is",
                And(devices(d) == now.device(claim, d), nodes(n) == now.reach(n, claim)),
                when=[Or(now.chosen(claim), now.allocated(claim))],
            ),
            nobody_elses(now, claim, devices),
            clause("the pod's node is there", now.node_exists(now.node(pod))),
            clause("the node reaches its devices", nodes(now.node(pod))),
        ],
        then=[
            becomes(now.holding(pod, claim), True),
            becomes(now.chosen(claim), True),
            becomes(now.sharers(claim), now.sharers(claim) + 1),
            becomes(now.holders(claim), now.holders(claim) + 1),
            becomes(now.device(claim, d), devices(d)),
            becomes(now.reach(n, claim), nodes(n)),
        ],
    )


@action("CLAIM-17 CLAIM-24", pod=Pod, claim=Claim)
def unreserve_claim(now: State, pod: Term, claim: Term) -> Step:
    """A pod holds a claim no more: it wrote it, or lost its place. With the last one goes what is in flight."""
    another = some(q, And(q != pod, now.holding(q, claim)))
    return Step(
        when=[clause("the pod holds the claim", now.holding(pod, claim))],
        then=[
            becomes(now.holding(pod, claim), False),
            becomes(now.sharers(claim), now.sharers(claim) - 1),
            becomes(now.holders(claim), now.holders(claim) - 1),
            becomes(now.chosen(claim), another),
            *without_devices(now, claim, Or(another, now.allocated(claim))),
        ],
    )


@action("CLAIM-17 CLAIM-24 ACT-10", claim=Claim)
def see_claim(now: State, claim: Term) -> Step:
    """The scheduler's cache takes over what is stored."""
    return Step(when=[], then=[becomes(now.seen_allocated(claim), now.allocated(claim))])


@action("CLAIM-22 CLAIM-33", claim=Claim, pod=Pod)
def reserve_for_pod(now: State, claim: Term, pod: Term) -> Step:
    """A pod that uses the claim on a node gets an entry of its own."""
    return Step(
        when=[
            *room_for_an_entry(now, claim),
            clause("the pod has no entry yet", Not(now.reserved_pod(claim, pod))),
            clause("the pod uses the claim on a node", And(now.uses(pod, claim), now.on_node(pod))),
        ],
        then=[
            becomes(now.reserved_pod(claim, pod), True),
            becomes(now.pod_entries(claim), now.pod_entries(claim) + 1),
        ],
    )


@action("CLAIM-22 CLAIM-25 CLAIM-33", claim=Claim, pod=Pod)
def reserve_for_group(now: State, claim: Term, pod: Term) -> Step:
    """A pod that uses the claim on a node gets one entry for its whole group."""
    group = now.group(pod)
    return Step(
        when=[
            *room_for_an_entry(now, claim),
            clause("the group has no entry yet", Not(now.reserved_group(claim, group))),
            clause("the pod uses the claim on a node", And(now.uses(pod, claim), now.on_node(pod))),
        ],
        then=[
            becomes(now.reserved_group(claim, group), True),
            becomes(now.group_entries(claim), now.group_entries(claim) + 1),
        ],
    )


@action("CLAIM-27 CLAIM-30", claim=Claim, pod=Pod)
def release_pod(now: State, claim: Term, pod: Term) -> Step:
    """A pod's entry is dropped once the pod does not run with it."""
    return Step(
        when=[
            clause("the pod has an entry", now.reserved_pod(claim, pod)),
            clause("the pod is not running", Or(now.assumed(pod), Not(now.on_node(pod)))),
        ],
        then=[
            becomes(now.reserved_pod(claim, pod), False),
            becomes(now.pod_entries(claim), now.pod_entries(claim) - 1),
        ],
    )


@action("CLAIM-28 CLAIM-30", claim=Claim, g=Group)
def release_group(now: State, claim: Term, g: Term) -> Step:
    """A group's entry is dropped once the PodGroup is gone, or no member is promised or on a node."""
    return Step(
        when=[
            clause("the group has an entry", now.reserved_group(claim, g)),
            clause(
                "the PodGroup is gone or no member holds the claim",
                Not(now.on_node(p)),
                when=[now.group_exists(g), now.group(p) == g],
            ),
        ],
        then=[
            becomes(now.reserved_group(claim, g), False),
            becomes(now.group_entries(claim), now.group_entries(claim) - 1),
        ],
    )


@action("CLAIM-28 CLAIM-31", claim=Claim)
def deallocate(now: State, claim: Term) -> Step:
    """The allocation of a claim that nobody has reserved is cleared."""
    return Step(
        when=[clause("the claim is allocated", now.allocated(claim)), *unreserved(now, claim)],
        then=[
            becomes(now.allocated(claim), False),
            *without_devices(now, claim, now.chosen(claim)),
        ],
    )


@action("CLAIM-32", claim=Claim)
def remove_claim(now: State, claim: Term) -> Step:
    """A claim goes once nobody has reserved it."""
    return Step(
        when=[clause("the claim is there", now.claim_exists(claim)), *unreserved(now, claim)],
        then=[
            *(
                becomes(gone(claim), False)
                for gone in (now.claim_exists, now.allocated, now.seen_allocated, now.chosen)
            ),
            becomes(now.generated(claim, g, e), False),
            becomes(now.named(g, e, claim), False),
            becomes(now.pod_named(p, e, claim), False),
            becomes(now.holding(p, claim), False),
            becomes(now.sharers(claim), 0),
            becomes(now.holders(claim), 0),
            becomes(now.device(claim, d), False),
            becomes(now.reach(n, claim), False),
        ],
    )
