"""Broken variants of actions, one for each promise: if the proof did not notice them, it would prove nothing.

Most drop one clause of a guard. That is also the experiment that an author of the rules makes: change one
sentence, and see which promise breaks and how.
"""

from __future__ import annotations

from attrs import evolve

from gangproof.spec.claims import create_claim, release_group, reserve_claim, see_claim, unreserve_claim
from gangproof.spec.contract import Mutant
from gangproof.spec.cycle import bind, decide, give_back, lose, write_condition
from gangproof.spec.preemption import evict
from gangproof.spec.state import State
from gangproof.spec.surroundings import finish_pod, foreign_bind, remove_group
from gangproof.spec.terms import And, Sum, becomes, c, clause, g, p

_now = State()
_group = decide.term("g")
_minimum = "the gang reaches its minimum"

bind_below_minimum = Mutant("a decision does not ask for the minimum", decide.without(_minimum))

_leaving = Sum(
    "leaving",
    p,
    (),
    And(_now.on_node(p), _now.terminating(p), _now.group(p) == _group),
)
_with_leaving = clause(
    _minimum,
    _now.placed(_group) + _now.done(_group) + Sum.of("size") + _leaving() >= _now.minimum(_group),
    when=[_now.gang(_group)],
)
leaving_members_count = Mutant(
    "terminating members count for the minimum",
    evolve(
        decide,
        step=evolve(
            decide.step,
            when=(*decide.without(_minimum).guard, _with_leaving),
            sums=(*decide.sums, _leaving),
        ),
    ),
)

_pod = lose.term("pod")
failed_bind_forgotten = Mutant(
    "a failed bind leaves no record",
    lose.sparing(State.owed, State.owing).also(becomes(_now.stood(_pod), False)),
)

evicts_own_member = Mutant(
    "a group may evict its own members", evict.without("the group spares its own members")
)

room_ignored = Mutant(
    "a decision does not ask whether all members fit together",
    decide.without("there is room for all of them"),
)

claims_released_in_vain = Mutant(
    "a cycle that commits nothing drops reservations",
    give_back.also(becomes(_now.reserved_group(c, g), False), becomes(_now.group_entries(c), 0)),
)

lost_on_return = Mutant(
    "a member that fails is not put back into the queue", give_back.sparing(State.backoff)
)

overlap = Mutant(
    "a member that another scheduler binds stays in Unsched", foreign_bind.sparing(State.unscheduled)
)

ended_member_stays = Mutant(
    "a member that ends stays in the sets",
    finish_pod.sparing(State.known, State.assigned, State.members, State.placed),
)

false_over_true = Mutant("a later failure is written over True", write_condition.without("True stays"))

stronger_victim = Mutant("victims need not be weaker", evict.without("victims are weaker than who asks"))

part_of_a_unit = Mutant("a unit may be named in part", evict.without("a unit goes as a whole"))

second_round = Mutant("victims are added while a round runs", evict.without("no round of the group runs"))

domain_ignored = Mutant(
    "a decision does not look at topology domains", decide.without("all members are in one domain")
)

made_twice = Mutant(
    "a claim is made for an entry that has one",
    create_claim.without("no claim was made for the entry before"),
)

_claim = unreserve_claim.term("claim")
counted_off_twice = Mutant(
    "a pod that lets a claim go is counted off twice",
    unreserve_claim.also(becomes(_now.sharers(_claim), _now.sharers(_claim) - 2)),
)
put_back = Mutant(
    "the cache of claims is put back to how it was before the allocation",
    see_claim.also(becomes(_now.seen_allocated(see_claim.term("claim")), False)),
)
device_twice = Mutant(
    "a device is chosen although another claim has it",
    reserve_claim.without("its devices are nobody else's"),
)
reach_ignored = Mutant(
    "a sharer goes where the devices cannot be reached",
    reserve_claim.without("the node reaches its devices"),
)

bound_unreserved = Mutant(
    "a pod is bound before its claims are reserved",
    bind.without("each of its claims is reserved for it or its group"),
)

released_early = Mutant(
    "a group's entry is dropped while members hold the claim",
    release_group.without("the PodGroup is gone or no member holds the claim"),
)

protection_ignored = Mutant(
    "a protected group may go before its pods", remove_group.without("a protected group has no active pod")
)
