"""The promises of ResourceClaims, INV-22 to INV-28, made and checked like those of `invariants`."""

from __future__ import annotations

from collections.abc import Iterable

from gangproof.spec import mutants, witnesses
from gangproof.spec.claims import RESERVED_FOR_MAX
from gangproof.spec.contract import invariant
from gangproof.spec.invariants import newly_promised
from gangproof.spec.state import State
from gangproof.spec.terms import Clause, Not, Or, b, c, clause, d, e, g, p, some


@invariant(
    "INV-22",
    "CLAIM-02 CLAIM-04 CLAIM-08 CLAIM-09",
    witness=witnesses.made_again,
    mutant=mutants.made_twice,
)
def one_generated_claim(now: State) -> Iterable[Clause]:
    """For an entry of a group there is one generated claim, and whoever names one for it names that one."""
    yield clause(
        "one claim is made for an entry", c == b, when=[now.generated(c, g, e), now.generated(b, g, e)]
    )
    yield clause("what was generated is there", now.claim_exists(c), when=[now.generated(c, g, e)])
    for whose, names, group in (
        ("a group's status", now.named(g, e, c), g),
        ("a member's status", now.pod_named(p, e, c), now.group(p)),
    ):
        yield clause(
            f"what {whose} names was made for the group, and for that entry",
            now.generated(c, group, e),
            when=[names],
        )


@invariant(
    "INV-23",
    "CLAIM-12 CLAIM-17 CLAIM-24",
    witness=witnesses.one_of_two_fails,
    mutant=mutants.counted_off_twice,
)
def sharer_count(now: State) -> Iterable[Clause]:
    """An allocation in flight counts exactly the pods that hold its claim, and lives as long as one does."""
    yield clause("the count is that of the pods", now.sharers(c) == now.holders(c))
    yield clause("what somebody holds is in flight", now.chosen(c), when=[now.holding(p, c)])
    yield clause("what is in flight somebody holds", some(p, now.holding(p, c)), when=[now.chosen(c)])


@invariant(
    "INV-24", "CLAIM-17 CLAIM-24", witness=witnesses.unreserved_after_the_write, mutant=mutants.put_back
)
def claim_cache_never_goes_back(now: State, then: State) -> Iterable[Clause]:
    """The scheduler's cached claim changes only to what is stored, never to a version that was there before."""
    yield clause(
        "what the cache shows stays, or becomes what is stored",
        Or(then.seen_allocated(c) == now.seen_allocated(c), then.seen_allocated(c) == then.allocated(c)),
    )


@invariant(
    "INV-25", "CLAIM-12 CLAIM-19 CLAIM-24", witness=witnesses.all_devices_taken, mutant=mutants.device_twice
)
def device_exclusivity(now: State) -> Iterable[Clause]:
    """No device is in the allocations of two claims, stored or in flight."""
    yield clause("a device is one claim's", c == b, when=[now.device(c, d), now.device(b, d)])


@invariant(
    "INV-26", "CLAIM-13 CLAIM-14 CLAIM-16", witness=witnesses.out_of_reach, mutant=mutants.reach_ignored
)
def device_reach(now: State, then: State) -> Iterable[Clause]:
    """Whoever is promised a node can use the devices of its claims there."""
    yield clause(
        "the node reaches what was allocated before",
        then.reach(then.node(p), c),
        when=[*newly_promised(now, then, p), then.uses(p, c), then.seen_allocated(c), then.allocated(c)],
    )
    yield clause(
        "the node reaches what is chosen now",
        then.reach(then.node(p), c),
        when=[then.holding(p, c), Not(now.holding(p, c))],
    )


@invariant(
    "INV-27", "CLAIM-22 CLAIM-26", witness=witnesses.two_members_one_entry, mutant=mutants.bound_unreserved
)
def reservation(now: State) -> Iterable[Clause]:
    """reservedFor has at most 256 entries, needs an allocation, and names each bound user or its group."""
    yield clause(
        "reservedFor has at most 256 entries",
        now.pod_entries(c) + now.group_entries(c) <= RESERVED_FOR_MAX,
    )
    yield clause("a pod's entry needs an allocation", now.allocated(c), when=[now.reserved_pod(c, p)])
    yield clause("a group's entry needs an allocation", now.allocated(c), when=[now.reserved_group(c, g)])
    yield clause("an allocated claim exists", now.claim_exists(c), when=[now.allocated(c)])
    yield clause(
        "a bound member's claim is reserved for it or for its group",
        now.holds_claim(p, c),
        when=[now.assigned(p), now.own(p), now.uses(p, c)],
    )


@invariant(
    "INV-28", "CLAIM-27 CLAIM-28 CLAIM-30", witness=witnesses.last_member_ends, mutant=mutants.released_early
)
def no_early_release(now: State, then: State) -> Iterable[Clause]:
    """A group's entry leaves reservedFor only if the PodGroup is gone, or nobody of it holds a place."""
    yield clause(
        "no member holds the claim when its group's entry goes",
        Not(now.on_node(p)),
        when=[
            now.reserved_group(c, g),
            Not(then.reserved_group(c, g)),
            now.group_exists(g),
            now.group(p) == g,
        ],
    )
