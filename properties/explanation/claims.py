"""The claims of the asked one: where their devices are, who holds them, and which of them keeps it from a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gangproof.counterexamples.names import bare
from gangproof.impl.claims.references import claim_name, made_for, reserved, shared
from gangproof.impl.filters.devices import devices_in_use, reachable
from gangproof.impl.objects import Allocation, Pod, PodGroupClaim, ResourceClaim
from gangproof.impl.objects.claim import MOST_CONSUMERS
from gangproof.impl.world import World
from gangproof.properties.explanation.model import ClaimTold

NAMED_NODES = 3
NAMED_USERS = 3
MOST_CLAIMS = 12


def claims_of(world: World, pods: Sequence[Pod]) -> tuple[ClaimTold, ...]:
    """Each claim that one of the pods means, once, in the order of pods and entries; at most twelve."""
    told: dict[tuple[str, str], ClaimTold] = {}
    for pod in pods:
        for entry in pod.resource_claims:
            key = claim_name(pod, entry)
            about = (key or "", "" if key else entry.name)
            if key != "" and about not in told and len(told) < MOST_CLAIMS:
                told[about] = _told(world, pod, entry, key)
    return tuple(told.values())


def _told(world: World, pod: Pod, entry: PodGroupClaim, key: str | None) -> ClaimTold:
    group = world.groups.get(pod.group or "")
    whose = "group" if shared(group, entry) and world.settings.shares_claims("scheduler") else "pod"
    claim = world.claims.get(key or "")
    if claim is None:
        return ClaimTold(
            key or "", entry.name, whose, blocks=_missing(world, pod, entry, key), rule="CLAIM-10"
        )
    allocation, written = claim.allocation, True
    if allocation is None and (flying := world.claims_in_flight.get(claim.slot)) is not None:
        allocation, written = flying.allocation, False
    nodes = _nodes(world, allocation) if allocation is not None else []
    blocks, rule = _blocks(world, pod, entry, claim, nodes)
    return ClaimTold(
        key or "",
        entry.name,
        whose,
        asks=tuple(_asked(claim)),
        devices=allocation.exclusive if allocation is not None else (),
        written=written,
        nodes=tuple(nodes[:NAMED_NODES]),
        reach=len(nodes),
        holders=tuple(_holders(world, claim)),
        rivals=tuple(_rivals(world, claim)) if allocation is None else (),
        blocks=blocks,
        rule=rule,
    )


def _asked(claim: ResourceClaim) -> Iterator[str]:
    for request in claim.spec.requests:
        yield f"{'all' if request.count is None else request.count} {request.device_class}"


def _nodes(world: World, allocation: Allocation) -> list[str]:
    return [name for name, node in world.nodes.items() if reachable(allocation, node)]


def _missing(world: World, pod: Pod, entry: PodGroupClaim, key: str | None) -> str:
    if key is not None:
        return f"{bare(key)} does not exist"
    template = f"{pod.namespace}/{entry.resource_claim_template_name}"
    if template not in world.claim_templates:
        return f"its template {bare(template)} does not exist"
    return "the claim controller has not made it yet"


def _blocks(
    world: World, pod: Pod, entry: PodGroupClaim, claim: ResourceClaim, nodes: Sequence[str]
) -> tuple[str, str]:
    """Why the claim, as it stands, keeps the pod from a place or from some nodes, and by which rule."""
    workload = world.settings.shares_claims("scheduler")
    if claim.terminating:
        return "is being deleted", "CLAIM-10"
    if entry.resource_claim_name is None and not made_for(claim, pod, workload):
        return "was made for somebody else", "CLAIM-10"
    if claim.allocation is None and claim.slot in world.claims_in_flight:
        return "is being allocated for somebody else", "CLAIM-15"
    full = len(claim.reserved_for) >= MOST_CONSUMERS and not reserved(claim, pod, workload)
    if claim.allocation is not None and full:
        return f"has no room for more than {MOST_CONSUMERS} users", "CLAIM-38"
    if claim.allocation is None:
        classes = (request.device_class for request in claim.spec.requests)
        missing = next((name for name in classes if name not in world.device_classes), None)
        return (f"its device class {missing} does not exist", "CLAIM-12") if missing is not None else ("", "")
    if len(nodes) < len(world.nodes):
        where = ", ".join(map(bare, nodes[:NAMED_NODES])) or "no node"
        return f"can be used on {where}{', …' if len(nodes) > NAMED_NODES else ''} only", "CLAIM-16"
    return "", ""


def _holders(world: World, claim: ResourceClaim) -> Iterator[str]:
    """Who stands in `reservedFor`, and who is about to."""
    for entry in claim.reserved_for:
        yield f"{entry.kind.lower()}/{bare(f'{claim.namespace}/{entry.name}')}"
    for pod, binding in world.bindings.items():
        if any(held.slot == claim.slot for held in binding.holds.values()):
            yield f"pod/{bare(pod)}"


def _rivals(world: World, claim: ResourceClaim) -> Iterator[str]:
    """The claims that have devices of a class for which this one asks."""
    wanted = {request.device_class for request in claim.spec.requests}
    in_use = devices_in_use(world.claims, world.claims_in_flight)
    if not in_use:
        return
    for key, other in world.claims.items():
        asks = {request.device_class for request in other.spec.requests}
        has = other.allocation is not None or other.slot in world.claims_in_flight
        if other is not claim and has and asks & wanted:
            yield key
