"""The machinery's steps as a record, and how a deviation, a fault or a what-if replaces some of them.

The machinery reaches a step only through this record. A step is a plain function without hidden input, so
that a `Change` can wrap it: the wrapper gets the old step and gives the new one. Several changes of one step
compose in the order given; nothing is patched, and nothing is written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from attrs import evolve, field, fields, frozen

from gangproof.impl.control import Sync
from gangproof.impl.controllers.job_pods import Plan
from gangproof.impl.gates import FeatureGates, Object
from gangproof.impl.objects import Condition, Job, Node, Pod, PodGroup, ResourceClaim, Workload
from gangproof.impl.table import Table
from gangproof.impl.world import (
    Code,
    Cycle,
    Domain,
    Entry,
    Event,
    Hold,
    InFlight,
    Members,
    NodeInfo,
    Result,
    Round,
    Snapshot,
    World,
)

if TYPE_CHECKING:
    from gangproof.impl.filters.devices import Wanted
    from gangproof.impl.preemption.spare import Sparing, Trial
    from gangproof.impl.preemption.units import Unit

MemberEvent = Literal["added", "assumed", "forgotten", "bound", "finished", "failed", "terminating", "gone"]


Answer = Literal["Success", "Wait", "Error"]
"""What Permit may answer (GANG-06 to GANG-10)."""


@frozen
class Placement:
    """Where one pod may go: the nodes that may win, sorted; or nowhere, and the plugins that said no, or an error.

    `beyond` names what the answer needed and the model does not have.
    """

    nodes: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    error: str = ""


@frozen
class Candidates:
    """The candidate placements of a cycle, by label value; None if there is one, of all nodes (PLACE-01).

    With an `error` there are none to try, and the verdict is Error.
    """

    domains: tuple[Domain, ...] | None = None
    error: str = ""


@frozen
class Wish:
    """A node that a pod without a place may ask for, the victims that have to go, and what is `beyond` the model."""

    node: str
    victims: tuple[str, ...]
    beyond: tuple[str, ...] = ()


class MembersStep(Protocol):
    def __call__(self, sets: Members, event: MemberEvent, pod: str) -> Members: ...


class GateStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: Pod) -> tuple[str, ...]: ...


class ReadyStep(Protocol):
    def __call__(self, world: World) -> Entry | None: ...


class PopStep(Protocol):
    def __call__(self, rules: Rules, world: World) -> World: ...


class OrderStep(Protocol):
    def __call__(self, world: World) -> tuple[World, ...]: ...


class AdmitStep(Protocol):
    def __call__(self, world: World, pods: tuple[str, ...]) -> World: ...


class CheckStep(Protocol):
    def __call__(self, world: World, cycle: Cycle) -> World: ...


class SnapshotStep(Protocol):
    def __call__(self, world: World, cycle: Cycle) -> Snapshot: ...


class DomainsStep(Protocol):
    def __call__(self, world: World, cycle: Cycle) -> tuple[Candidates, ...]: ...


class HeedStep(Protocol):
    def __call__(self, world: World, pod: Pod, nominated: Pod) -> bool: ...


class PlaceStep(Protocol):
    def __call__(self, rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement: ...


class AssumeStep(Protocol):
    def __call__(self, rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot: ...


class UndoStep(Protocol):
    def __call__(self, rules: Rules, snapshot: Snapshot, pod: Pod, node: str) -> Snapshot: ...


class QuorumStep(Protocol):
    def __call__(self, sets: Members, group: PodGroup, at: Literal["gate", "placed"]) -> bool: ...


class VerdictStep(Protocol):
    def __call__(self, rules: Rules, world: World, cycle: Cycle) -> Code: ...


class VictimsStep(Protocol):
    def __call__(self, world: World, nodes: Table[NodeInfo], preemptor: Pod) -> list[Unit]: ...


class SpareStep(Protocol):
    def __call__(
        self, snapshot: Snapshot, candidates: Sequence[Unit], trial: Trial
    ) -> tuple[Sparing | None, ...]: ...


class AskStep(Protocol):
    def __call__(self, rules: Rules, world: World, cycle: Cycle, pod: Pod) -> tuple[Wish, ...]: ...


class AskAsGroupStep(Protocol):
    def __call__(self, rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]: ...


class DisplaceStep(Protocol):
    def __call__(self, snapshot: Snapshot, victims: tuple[str, ...]) -> Snapshot: ...


class HoldStep(Protocol):
    def __call__(self, wanted: Wanted, pod: Pod, node: Node, group: PodGroup | None) -> Table[Hold]: ...


class ReserveStep(Protocol):
    def __call__(self, in_flight: Table[InFlight], holds: Table[Hold]) -> Table[InFlight]: ...


class FreeStep(Protocol):
    def __call__(
        self, rules: Rules, world: World, cycle: Cycle, pod: Pod
    ) -> tuple[tuple[World, bool], ...]: ...


class WriteStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: Pod, key: str, held: Hold) -> World | None: ...


class ConcludeStep(Protocol):
    def __call__(self, in_flight: Table[InFlight], held: Hold, ok: bool) -> Table[InFlight]: ...


class RelinquishStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: Pod | None, holds: Table[Hold]) -> World: ...


class ReleasedStep(Protocol):
    def __call__(self, rules: Rules, world: World) -> World: ...


class GroupClaimsStep(Protocol):
    def __call__(self, rules: Rules, world: World, group: PodGroup) -> World: ...


class PodClaimsStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: Pod) -> World: ...


class SettleClaimStep(Protocol):
    def __call__(self, rules: Rules, world: World, claim: ResourceClaim) -> World: ...


class RecordStep(Protocol):
    def __call__(self, kept: dict[str, str], found: dict[str, str]) -> dict[str, str]: ...


class EvictStep(Protocol):
    def __call__(self, rules: Rules, world: World, cycle: Cycle) -> World: ...


class NominateStep(Protocol):
    def __call__(self, world: World, cycle: Cycle) -> World: ...


class StaleStep(Protocol):
    def __call__(self, rules: Rules, world: World) -> World: ...


class PreemptStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: str) -> World: ...


class RejoinStep(Protocol):
    def __call__(self, rules: Rules, world: World, group: str | None) -> World: ...


class ResumeStep(Protocol):
    def __call__(self, rules: Rules, world: World, over: Round) -> World: ...


class SubmitStep(Protocol):
    def __call__(self, rules: Rules, world: World, cycle: Cycle) -> World: ...


class RoomStep(Protocol):
    def __call__(self, world: World, pod: Pod, node: str, holds: Table[Hold]) -> bool: ...


class PermitStep(Protocol):
    def __call__(self, rules: Rules, world: World, sets: Members, pod: Pod) -> tuple[World, Answer]: ...


class BindStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: str, ok: bool) -> World: ...


class FailStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: Pod, result: Result) -> World: ...


class ConditionStep(Protocol):
    def __call__(self, world: World, group: PodGroup, code: Code, message: str) -> Condition | None: ...


class StoreStep(Protocol):
    def __call__(self, world: World, group: PodGroup) -> World: ...


class TerminateStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: Pod) -> World: ...


class AppearStep(Protocol):
    def __call__(self, rules: Rules, world: World, pod: Pod) -> World: ...


class RecoverStep(Protocol):
    def __call__(self, rules: Rules, world: World) -> World: ...


class HintStep(Protocol):
    def __call__(self, plugin: str, pod: Pod, event: Event) -> bool: ...


class WakeStep(Protocol):
    def __call__(self, rules: Rules, world: World, event: Event) -> World: ...


class CoolingStep(Protocol):
    def __call__(self, world: World) -> tuple[str, ...]: ...


class ExpireStep(Protocol):
    def __call__(self, rules: Rules, world: World, entity: str) -> World: ...


class AdmissionStep(Protocol):
    def __call__(self, world: World, obj: Object, old: Object | None) -> str | None: ...


class RegistryStep(Protocol):
    def __call__(self, stored: Object, written: Object) -> Object: ...


class EligibleStep(Protocol):
    def __call__(self, gates: FeatureGates, job: Job) -> bool: ...


class WindowStep(Protocol):
    def __call__(self, job: Job, pods: tuple[Pod, ...]) -> bool: ...


class FindStep(Protocol):
    def __call__(self, world: World, kind: str, wanted: Callable[[Any], bool]) -> tuple[Any, ...]: ...


class TemplateStep(Protocol):
    def __call__(self, job: Job) -> str: ...


class ManageStep(Protocol):
    def __call__(self, job: Job, pods: Sequence[Pod], resting: bool) -> Plan: ...


class BreakOffStep(Protocol):
    def __call__(self, rules: Rules, world: World, sync: Sync) -> World: ...


class ConcernsStep(Protocol):
    def __call__(self, workload: Workload, job: Job) -> bool: ...


class TargetStep(Protocol):
    def __call__(self, pod: Pod | None, uid: int) -> bool: ...


class ControllersStep(Protocol):
    def __call__(self, rules: Rules, world: World) -> World: ...


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
