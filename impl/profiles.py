"""The profiles: which functions are the machinery's steps."""

from __future__ import annotations

from gangproof.impl.admission import admission, registry
from gangproof.impl.claims.binding import conclude, released, relinquish, write
from gangproof.impl.claims.postfilter import free, let_go
from gangproof.impl.claims.reserve import hold, reserve, unreserve
from gangproof.impl.claims.store import tally
from gangproof.impl.commit import bind, permit, room, submit
from gangproof.impl.condition import condition, store
from gangproof.impl.controllers.claims import claims_of_group, claims_of_pod, record_claims, settle_claim
from gangproof.impl.controllers.job_objects import template_name
from gangproof.impl.controllers.job_pods import plan
from gangproof.impl.controllers.job_sync import break_off, concerns, eligible, find, only_with_work, window
from gangproof.impl.controllers.protection import controllers
from gangproof.impl.cycle import check, displace, heed, place, verdict
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.handlers import appear, terminate
from gangproof.impl.hints import hint
from gangproof.impl.members import members, quorum
from gangproof.impl.placement import domains
from gangproof.impl.preemption.ask import ask, ask_as_group
from gangproof.impl.preemption.calls import preempt, target
from gangproof.impl.preemption.nominate import drop_stale, nominate
from gangproof.impl.preemption.rounds import evict
from gangproof.impl.preemption.spare import spare
from gangproof.impl.preemption.units import weaker_units
from gangproof.impl.queue import (
    admit,
    cooling,
    end_group_backoff,
    expire,
    fail,
    gate,
    order,
    pop,
    ready,
    resume,
    wake,
)
from gangproof.impl.restart import recover
from gangproof.impl.rules import Rules, profile
from gangproof.impl.sent import moot
from gangproof.impl.snapshot import assume, snapshot, undo

INTENDED = Rules(
    members=members,
    appear=appear,
    terminate=terminate,
    gate=gate,
    admit=admit,
    ready=ready,
    pop=pop,
    order=order,
    check=check,
    snapshot=snapshot,
    domains=domains,
    heed=heed,
    place=place,
    assume=assume,
    undo=undo,
    hold=hold,
    reserve=reserve,
    unreserve=unreserve,
    free=free,
    quorum=quorum,
    verdict=verdict,
    ask=ask,
    ask_as_group=ask_as_group,
    victims=weaker_units,
    spare=spare,
    displace=displace,
    nominate=nominate,
    stale=drop_stale,
    evict=evict,
    target=target,
    moot=moot,
    preempt=preempt,
    resume=resume,
    recover=recover,
    submit=submit,
    let_go=let_go,
    room=room,
    permit=permit,
    bind=bind,
    write=write,
    conclude=conclude,
    relinquish=relinquish,
    released=released,
    tally=tally,
    fail=fail,
    condition=condition,
    store=store,
    hint=hint,
    wake=wake,
    rejoin=end_group_backoff,
    cooling=cooling,
    expire=expire,
    controllers=controllers,
    eligible=eligible,
    window=window,
    concerns=concerns,
    find=find,
    template=template_name,
    manage=plan,
    break_off=break_off,
    idle=only_with_work,
    claims_of_group=claims_of_group,
    claims_of_pod=claims_of_pod,
    record_claims=record_claims,
    settle_claim=settle_claim,
    admission=admission,
    registry=registry,
)
"""The profile *intended*: it keeps every promise (SEMANTICS 0.5)."""

V1_36_3 = profile(INTENDED, *(deviation.change for deviation in DEVIATIONS))
"""The profile *v1.36.3*, races included: the base with every deviation that is modelled."""

V1_36_3_PROMPT = profile(INTENDED, *(d.change for d in DEVIATIONS if not d.race))
"""The profile *v1.36.3* without the deviations that are races."""


def only(*ids: str) -> Rules:
    """The profile *intended* with these deviations alone, in this order; KeyError for an unknown id."""
    changes = {deviation.id: deviation.change for deviation in DEVIATIONS}
    return profile(INTENDED, *(changes[name] for name in ids))
