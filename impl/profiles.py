"""The profiles: which functions are the machinery's steps."""

from __future__ import annotations

from gangproof.impl.admission import admission
from gangproof.impl.api import controllers
from gangproof.impl.commit import bind, permit, submit
from gangproof.impl.condition import condition
from gangproof.impl.cycle import check, place, verdict
from gangproof.impl.members import members, quorum
from gangproof.impl.queue import fail, gate, order, pop, wake
from gangproof.impl.rules import Rules
from gangproof.impl.snapshot import assume, snapshot, undo

INTENDED = Rules(
    members=members,
    gate=gate,
    pop=pop,
    order=order,
    check=check,
    snapshot=snapshot,
    place=place,
    assume=assume,
    undo=undo,
    quorum=quorum,
    verdict=verdict,
    submit=submit,
    permit=permit,
    bind=bind,
    fail=fail,
    condition=condition,
    wake=wake,
    controllers=controllers,
    admission=admission,
)
"""The profile *intended*: it keeps every promise (SEMANTICS 0.5)."""
