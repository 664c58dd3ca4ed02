"""The machinery's steps as a record, and how a deviation, a fault or a what-if replaces some of them.

The machinery reaches a step only through this record. A step is a plain function without hidden input, so
that a `Change` can wrap it: the wrapper gets the old step and gives the new one. Several changes of one step
compose in the order given; nothing is patched, and nothing is written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, field, fields, frozen

from gangproof.impl.steps import (
    AdmissionStep,
    AdmitStep,
    AppearStep,
    AskAsGroupStep,
    AskStep,
    AssumeStep,
    BindStep,
    BreakOffStep,
    CheckStep,
    ConcernsStep,
    ConcludeStep,
    ConditionStep,
    ControllersStep,
    CoolingStep,
    DisplaceStep,
    DomainsStep,
    EligibleStep,
    EvictStep,
    ExpireStep,
    FailStep,
    FindStep,
    FreeStep,
    GateStep,
    GroupClaimsStep,
    HeedStep,
    HintStep,
    HoldStep,
    ManageStep,
    MembersStep,
    MootStep,
    NominateStep,
    OrderStep,
    PermitStep,
    PlaceStep,
    PodClaimsStep,
    PopStep,
    PreemptStep,
    QuorumStep,
    ReadyStep,
    RecordStep,
    RecoverStep,
    RegistryStep,
    RejoinStep,
    ReleasedStep,
    RelinquishStep,
    ReserveStep,
    ResumeStep,
    RoomStep,
    SettleClaimStep,
    SnapshotStep,
    SpareStep,
    StaleStep,
    StoreStep,
    SubmitStep,
    TallyStep,
    TargetStep,
    TemplateStep,
    TerminateStep,
    UndoStep,
    VerdictStep,
    VictimsStep,
    WakeStep,
    WindowStep,
    WriteStep,
)


@frozen
class Rules:
    """The steps, by the names that deviations and faults use; each function carries its rule ids."""

    members: MembersStep
    appear: AppearStep
    terminate: TerminateStep
    gate: GateStep
    admit: AdmitStep
    ready: ReadyStep
    pop: PopStep
    order: OrderStep
    check: CheckStep
    snapshot: SnapshotStep
    domains: DomainsStep
    heed: HeedStep
    place: PlaceStep
    assume: AssumeStep
    undo: UndoStep
    hold: HoldStep
    reserve: ReserveStep
    unreserve: ReserveStep
    free: FreeStep
    quorum: QuorumStep
    verdict: VerdictStep
    ask: AskStep
    ask_as_group: AskAsGroupStep
    victims: VictimsStep
    spare: SpareStep
    displace: DisplaceStep
    nominate: NominateStep
    stale: StaleStep
    evict: EvictStep
    target: TargetStep
    moot: MootStep
    preempt: PreemptStep
    resume: ResumeStep
    recover: RecoverStep
    submit: SubmitStep
    let_go: EvictStep
    room: RoomStep
    permit: PermitStep
    bind: BindStep
    write: WriteStep
    conclude: ConcludeStep
    relinquish: RelinquishStep
    released: ReleasedStep
    tally: TallyStep
    fail: FailStep
    condition: ConditionStep
    store: StoreStep
    hint: HintStep
    wake: WakeStep
    rejoin: RejoinStep
    cooling: CoolingStep
    expire: ExpireStep
    controllers: ControllersStep
    eligible: EligibleStep
    window: WindowStep
    concerns: ConcernsStep
    find: FindStep
    template: TemplateStep
    manage: ManageStep
    break_off: BreakOffStep
    idle: ControllersStep
    claims_of_group: GroupClaimsStep
    claims_of_pod: PodClaimsStep
    record_claims: RecordStep
    settle_claim: SettleClaimStep
    admission: AdmissionStep
    registry: RegistryStep


Step = Callable[..., Any]


@frozen
class Change:
    """A deviation, a fault or a what-if: for some steps, named as in `Rules`, what becomes of the old one."""

    id: str
    text: str
    wraps: Mapping[str, Callable[[Step], Step]] = field(factory=dict[str, Callable[[Step], Step]])


def profile(rules: Rules, *changes: Change) -> Rules:
    """The rules with the changes applied in order; a change of an unknown step is a ValueError."""
    known = {step.name for step in fields(Rules)}
    for change in changes:
        for step, wrap in change.wraps.items():
            if step not in known:
                raise ValueError(f"{change.id} changes {step!r}, which is not a step of the machinery")
            rules = evolve(rules, **{step: wrap(getattr(rules, step))})
    return rules
