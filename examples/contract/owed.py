"""The contract with a promise more, which holds."""

from gangproof.spec import CONTRACT, Mutant, State, clause, invariant, witnesses
from gangproof.spec.terms import Not, p

room_is_kept = Mutant(
    "a bind that fails leaves its promise standing",
    CONTRACT.action("lose").sparing(State.assumed),
)


@invariant("MINE-02", "BIND-07", witness=witnesses.one_is_owed, mutant=room_is_kept)
def who_is_owed_holds_nothing(now):
    """A member that is owed a place has none now."""
    yield clause("no place is held", Not(now.is_placed(p)), when=[now.owed(p)])


contract = CONTRACT.with_invariant(who_is_owed_holds_nothing)
