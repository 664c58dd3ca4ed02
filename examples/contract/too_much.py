"""The contract with one promise more, as one would write it first; it cannot be kept."""

from gangproof.properties.check import Openness
from gangproof.spec import CONTRACT, State, Witness, clause, invariant, mutants, some, witnesses
from gangproof.spec.terms import Or, g, p

runs = Witness("a gang of two is bound", witnesses.RUNNING, some(p, State().bound(p)))


@invariant("MINE-01", "CYCLE-26", witness=runs, mutant=mutants.bind_below_minimum)
def all_or_nothing_for_ever(now):
    """A started gang has nobody placed, or with those done its minimum, whatever happens."""
    yield clause(
        "all or nothing",
        Or(now.placed(g) == 0, now.placed(g) + now.done(g) >= now.minimum(g)),
        when=[now.gang(g), now.started(g)],
    )


contract = CONTRACT.with_invariant(all_or_nothing_for_ever)
left_open = Openness(deletions=1)
