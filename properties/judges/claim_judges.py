"""What is asked of claims beside the contract: names that stay, counters of devices, entries; and what settles.

The contract speaks of single devices. What several devices draw from one counter is judged here (INV-25), like
entries of users who are gone already (INV-27). A generated claim must be named in the end (LIVE-10), and one whose
group is gone must be given back (LIVE-11).
"""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.impl.actions import Action
from gangproof.impl.claims.allocator import overdrawn
from gangproof.impl.claims.references import made_for, shared
from gangproof.impl.claims.store import accepts
from gangproof.impl.filters.devices import devices_in_use
from gangproof.impl.objects import Consumer, Pod, PodGroup, PodGroupClaim, ResourceClaim
from gangproof.impl.objects.claim import Owner
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation


def named_stays(before: World, action: Action, after: World) -> Violation | None:
    """INV-22: a status that names a claim of the group goes on naming it as long as both are there (CLAIM-04)."""
    if before.groups is after.groups:
        return None
    for then, now in fine_steps(before, action, after):
        for key, group in then.groups.items():
            still = now.groups.get(key)
            if still is None or still.uid != group.uid:
                continue
            for entry, name in group.resource_claim_statuses.items():
                claim = now.claims.get(f"{group.namespace}/{name}")
                if claim is None or not _of_group(claim, group):
                    continue
                if still.resource_claim_statuses.get(entry) != name:
                    message = f"the status of {key} does not name {claim.key} any more, which is there"
                    return Violation("INV-22", message, (key, claim.key))
    return None


def counters_hold(before: World, action: Action, after: World) -> Violation | None:
    """INV-25: allocated devices draw no more from a common counter than it has (CLAIM-12)."""
    if before.claims is after.claims and before.claims_in_flight is after.claims_in_flight:
        return None
    if not any(part.counters for part in after.slices.values()):
        return None
    found = set(overdrawn(after.slices, devices_in_use(after.claims, after.claims_in_flight)))
    found -= set(overdrawn(before.slices, devices_in_use(before.claims, before.claims_in_flight)))
    for counter in sorted(found):
        return Violation("INV-25", f"the allocated devices draw more than there is of {counter}", (counter,))
    return None


def entries_in_order(world: World) -> Violation | None:
    """INV-27: at most 256 entries, each once, and none without an allocation, whoever they are for (CLAIM-26)."""
    for key, claim in world.claims.items():
        if not accepts(claim):
            number = len(claim.reserved_for)
            message = f"{key} has {number} entries in reservedFor that do not go together with its allocation"
            return Violation("INV-27", message, (key,))
    return None


def unnamed(world: World) -> Violation | None:
    """LIVE-10: a group or one of its pods has no name for a claim that can be made for it (CLAIM-04, CLAIM-08)."""
    for user, entry in _unnamed(world):
        return Violation("LIVE-10", f"no claim is named to {user} for its entry {entry}", (user,))
    return None


def users_without_a_name(world: World) -> Iterator[str]:
    """The groups and pods of which `unnamed` speaks."""
    yield from dict.fromkeys(user for user, _ in _unnamed(world))


def _unnamed(world: World) -> Iterator[tuple[str, str]]:
    if (
        world.control.behind
        or not world.claim_templates
        or not world.settings.shares_claims("claim-controller")
    ):
        return
    for group in world.groups.values():
        for entry in _to_be_made(world, group) if not group.terminating else ():
            claim = _named(world, group, entry)
            if claim is None or not _of_group(claim, group):
                yield group.key, entry.name
    for pod in world.pods.values():
        if pod.terminating or pod.terminal or (pod.group is not None and pod.group not in world.groups):
            continue
        group = world.groups.get(pod.group or "")
        for entry in _to_be_made(world, pod):
            if group is not None and shared(group, entry) and group.terminating:
                continue
            claim = _named(world, pod, entry)
            if claim is None or not made_for(claim, pod, workload=True):
                yield pod.key, entry.name


def _to_be_made(world: World, user: Pod | PodGroup) -> Iterator[PodGroupClaim]:
    """The entries for which a claim can be made: the templates of all of them are there, and no call is held."""
    names = [entry.resource_claim_template_name for entry in user.resource_claims]
    there = all(f"{user.namespace}/{name}" in world.claim_templates for name in names if name)
    held = {f"generate/{user.key}", f"record/{user.key}"} & set(world.environment.held)
    if there and not held:
        yield from (entry for entry in user.resource_claims if entry.resource_claim_template_name)


def _named(world: World, user: Pod | PodGroup, entry: PodGroupClaim) -> ResourceClaim | None:
    return world.claims.get(f"{user.namespace}/{user.resource_claim_statuses.get(entry.name)}")


def _of_group(claim: ResourceClaim, group: PodGroup) -> bool:
    owner = claim.owner
    return owner is not None and owner.kind == "podGroup" and owner.uid == group.uid


def not_given_back(world: World) -> Violation | None:
    """LIVE-11: a claim is still reserved for, or generated for and allocated to, a group that is gone (CLAIM-30)."""
    for claim in claims_of_the_gone(world):
        return Violation("LIVE-11", f"{claim} is kept for a PodGroup that is gone", (claim,))
    return None


def claims_of_the_gone(world: World) -> Iterator[str]:
    """The claims of which `not_given_back` speaks."""
    if world.control.behind or not world.settings.shares_claims("claim-controller"):
        return
    for key, claim in world.claims.items():
        users: list[Consumer | Owner] = list(claim.reserved_for)
        if claim.owner is not None and claim.allocation is not None and not users:
            users = [claim.owner]
        for user in users:
            group = world.groups.get(f"{claim.namespace}/{user.name}")
            if user.kind == "podGroup" and user.uid and (group is None or group.uid != user.uid):
                yield key
                break
