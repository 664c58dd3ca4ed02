"""The shape of each step of the machinery: what a function must take and give to stand in the rules under its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from attrs import frozen

from gangproof.impl.control import Sent, Sync
from gangproof.impl.controllers.job_pods import Plan
from gangproof.impl.cycle_state import Code, Cycle, Domain, Event, Result, Snapshot
from gangproof.impl.gates import FeatureGates, Object
from gangproof.impl.memory import Entry, Hold, InFlight, Members, NodeInfo, Round
from gangproof.impl.objects import Condition, Job, Node, Pod, PodGroup, ResourceClaim, Workload
from gangproof.impl.table import Table
from gangproof.impl.world import World

if TYPE_CHECKING:
    from gangproof.impl.filters.devices import Wanted
    from gangproof.impl.preemption.spare import Sparing, Trial
    from gangproof.impl.preemption.units import Unit
    from gangproof.impl.rules import Rules

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


class TallyStep(Protocol):
    def __call__(self, world: World, old: ResourceClaim | None, new: ResourceClaim | None) -> World: ...


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


class MootStep(Protocol):
    def __call__(self, world: World, sent: Sent) -> bool: ...


class ControllersStep(Protocol):
    def __call__(self, rules: Rules, world: World) -> World: ...
