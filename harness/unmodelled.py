"""Why some rules of docs/semantics.md are carried by no function or held by no test.

One place for all of them; `gangproof rules` shows the reason beside the rule, and a test asks that every rule
of the modelled sections is either kept or named here, and never both.
"""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "CHO-11": "not modelled: a generated name is one that nobody has, and which one decides nothing",
    "COND-06": "no rule of its own: it points to CYCLE-50 to 57",
    "QUEUE-19c": "cannot occur: what shows that a pod is gone takes it out of its group and the queue in one step,"
    " so no pod without member state is popped",
    "CYCLE-10": "not modelled: a step is a plain function of the snapshot, so there is no state of a pod's cycle that"
    " could be stale",
    "CYCLE-34, FILT-18": "not modelled: volumes, extenders, declared node features and image names",
    "CYCLE-54": "not modelled: groups have no generation, since every field of their spec is immutable (API-44)",
    "SCORE-11": "nothing to test: both plugins give every node 0, so they are left out of the total",
    "GANG-04": "cannot occur: a look-up finds the group or not, and has no other way to fail",
    "PLACE-07": "nothing to test: there is one generator of placements, and none can be added",
    "PREEMPT-29": "derived from PREEMPT-20 to 28: what is guaranteed is asked of every run as INV-16, INV-17 and"
    " INV-18",
    "PREEMPT-35": "nothing to do: the nominations that it would clear are those on no node (DEV-36)",
    "ACT-31": "nothing to do: a controller remembers only for whom it waits, and reads the rest anew each time",
    "DEV-16": "not modelled: status writes are synchronous, and where nobody lags a nomination is in memory and in the"
    " status, or in neither",
    "DEV-21": "no change of its own: that members are lost after the verdict and True is written all the same follows"
    " from the commit member by member (DEV-19, DEV-52)",
}
"""By ids, as in the document: why the rule is not implemented, or not tested."""
