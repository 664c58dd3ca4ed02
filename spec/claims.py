"""ResourceClaims: one allocation, and in `reservedFor` one entry for a pod or for all members of a group.

The claim's devices are not part of the contract; who may hold it and when it is let go is.
"""

from __future__ import annotations

from gangproof.spec.contract import Step, action
from gangproof.spec.state import State
from gangproof.spec.terms import (
    And,
    Claim,
    Clause,
    Group,
    Not,
    Or,
    Pod,
    Term,
    becomes,
    clause,
    g,
    p,
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


@action("ACT-01 CLAIM-03", claim=Claim)
def create_claim(now: State, claim: Term) -> Step:
    """A ResourceClaim is created, by a user or by the claim controller."""
    return Step(
        when=[clause("the claim is new", Not(now.claim_exists(claim)))],
        then=[becomes(now.claim_exists(claim), True)],
    )


@action("CLAIM-22", claim=Claim)
def allocate(now: State, claim: Term) -> Step:
    """The claim gets its allocation, which then stays until it is cleared."""
    return Step(
        when=[
            clause("the claim is there", now.claim_exists(claim)),
            clause("it is not allocated yet", Not(now.allocated(claim))),
        ],
        then=[becomes(now.allocated(claim), True)],
    )


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
        then=[becomes(now.allocated(claim), False)],
    )


@action("CLAIM-32", claim=Claim)
def remove_claim(now: State, claim: Term) -> Step:
    """A claim goes once nobody has reserved it."""
    return Step(
        when=[clause("the claim is there", now.claim_exists(claim)), *unreserved(now, claim)],
        then=[becomes(now.claim_exists(claim), False), becomes(now.allocated(claim), False)],
    )
