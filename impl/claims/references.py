"""Which claims a pod or a group refers to, and for whom each is reserved (CLAIM-01, CLAIM-10, CLAIM-22).

A claim is referred to by its name, or by a template; then the name of the generated claim is in the status. A
generated claim must have been made for the pod or for its group.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from gangproof.impl.objects import Consumer, Pod, PodGroup, PodGroupClaim, ResourceClaim

NOT_NEEDED = ""
"""What a status says of an entry for which no claim is needed (CLAIM-20)."""


@frozen
class References:
    """The claims that a pod refers to, by entry in the order of its spec; or `missing`, why one cannot be used."""

    claims: tuple[tuple[PodGroupClaim, ResourceClaim], ...] = ()
    missing: str = ""


def claim_name(user: Pod | PodGroup, entry: PodGroupClaim) -> str | None:
    """The key of the claim that an entry means, `NOT_NEEDED` if there is to be none, None if it is not known yet."""
    name = entry.resource_claim_name or user.resource_claim_statuses.get(entry.name)
    return f"{user.namespace}/{name}" if name else name


def references(pod: Pod, claims: Mapping[str, ResourceClaim], workload: bool) -> References:
    """The claims of the pod, if all are recorded, there, staying and its own (CLAIM-10).

    `workload` says whether claims that were made for its group are its own too. The group is known by its name alone.
    """
    found: list[tuple[PodGroupClaim, ResourceClaim]] = []
    for entry in pod.resource_claims:
        key = claim_name(pod, entry)
        if key is None:
            return References(missing=f"the claim for {entry.name} is not created yet")
        if key == NOT_NEEDED:
            continue
        claim = claims.get(key)
        if claim is None:
            return References(missing=f"resourceclaim {key} not found")
        if claim.terminating:
            return References(missing=f"resourceclaim {key} is being deleted")
        if entry.resource_claim_name is None and not made_for(claim, pod, workload):
            return References(missing=f"resourceclaim {key} was not created for the pod")
        found.append((entry, claim))
    return References(tuple(found))


def made_for(claim: ResourceClaim, pod: Pod, workload: bool) -> bool:
    """Whether the claim was generated for the pod, or for the group of its name."""
    owner = claim.owner
    if owner is None:
        return False
    if owner.kind == "pod":
        return owner.uid == pod.uid and claim.namespace == pod.namespace
    return workload and owner.name == pod.scheduling_group and claim.namespace == pod.namespace


def shared(group: PodGroup | None, entry: PodGroupClaim) -> bool:
    """Whether the pod's entry belongs to the group: it has the same one (CLAIM-01)."""
    return group is not None and entry in group.resource_claims


def consumer(pod: Pod, group: PodGroup | None, entry: PodGroupClaim) -> Consumer:
    """For whom a claim of the pod is reserved: its group if the entry belongs to it, else itself (CLAIM-22)."""
    if group is not None and shared(group, entry):
        return Consumer("podGroup", group.name, group.uid)
    return Consumer("pod", pod.name, pod.uid)


def reserved(claim: ResourceClaim, pod: Pod, workload: bool) -> bool:
    """Whether the claim is reserved for the pod, or for a group of the name of its own (CLAIM-22, CLAIM-34)."""
    return any(
        entry.uid == pod.uid if entry.kind == "pod" else workload and entry.name == pod.scheduling_group
        for entry in claim.reserved_for
    )
