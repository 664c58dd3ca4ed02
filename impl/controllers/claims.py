"""The claim controller: it makes claims from templates, names them to their users, and takes back what is over.

For a group it makes one claim for each template entry, for all members (SEMANTICS 8.1, 8.5; ACT-26). A pass looks at
one object and is tried again as long as there is something to do, so a call that fails is made again. Generated claims
whose owner is gone are collected (ACT-29).

It goes by its views of pods, PodGroups, claims and templates. A claim that it made itself it knows before it sees it.
What it writes of a claim is refused if it read another version than is stored; what it says in a status is written
whatever else the object has become, as it is applied by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import evolve

from gangproof.impl.api import afterwards, create, delete
from gangproof.impl.claims.references import NOT_NEEDED, consumer, made_for, reserved, shared
from gangproof.impl.claims.store import accepts, cleared, store_claim, unprotected, without
from gangproof.impl.control import Revision
from gangproof.impl.objects import Consumer, Pod, PodGroup, PodGroupClaim, ResourceClaim
from gangproof.impl.objects.claim import CLAIM_FINALIZER, Owner
from gangproof.impl.rules import Rules
from gangproof.impl.store import patch, seen, stored, unseen, view
from gangproof.impl.table import Table, removed
from gangproof.impl.views import write
from gangproof.impl.world import World

COMPONENT = "claim-controller"
LONGEST_BASE = 57
"""Characters of a generated name before its suffix (CLAIM-03)."""

Pass = tuple[str, World]
"""What a pass was about, as `kind/key`, and the world after it."""


def passes(rules: Rules, world: World) -> Iterator[Pass]:
    """Every pass that has something to do now: for groups, pods and claims, and collections."""
    if not (stored(world, "claim") or stored(world, "claimTemplate") or world.control.log):
        return
    for about in _objects(world):
        after = one_pass(rules, world, about)
        if after != world:
            yield about, after


def _objects(world: World) -> Iterator[str]:
    yield from (f"podGroup/{key}" for key, group in _sees(world, "podGroup").items() if group.resource_claims)
    yield from (f"pod/{key}" for key, pod in _sees(world, "pod").items() if pod.resource_claims)
    yield from (f"claim/{key}" for key in _sees(world, "claim"))


def _sees(world: World, kind: str) -> Table[Any]:
    return seen(world, COMPONENT, kind)


def one_pass(rules: Rules, world: World, about: str) -> World:
    """The world after the controller looked at the object, the same if it has nothing to do there."""
    kind, _, key = about.partition("/")
    found = _sees(world, kind).get(key)
    match found:
        case PodGroup():
            after = rules.claims_of_group(rules, world, found)
        case Pod():
            after = rules.claims_of_pod(rules, world, found)
        case ResourceClaim():
            after = rules.settle_claim(rules, world, found)
        case _:
            return world
    return world if after == world else afterwards(rules, world, after)


def claims_of_group(rules: Rules, world: World, group: PodGroup) -> World:
    """One claim for each template entry is found or made, and named in the status (CLAIM-02 to CLAIM-06, CLAIM-09).

    A missing template ends the pass before anything is named. A group that is going gets none.
    """
    if group.terminating or not world.settings.shares_claims("claim-controller"):
        return world
    kept, wanted = _named(world, group, lambda claim: _of(claim, "podGroup", group.uid))
    found: dict[str, str] = {}
    for entry in wanted:
        world, made = _generated(
            rules, world, Owner("podGroup", group.name, group.uid, entry.name), group, entry
        )
        if made is None:
            return world
        found[entry.name] = made.name
    if not found:
        return world
    stopped = _stopped(world, f"record/{group.key}")
    if stopped is not None:
        return stopped
    statuses = Table(rules.record_claims(kept, found))
    return patch(world, "podGroup", group.key, resource_claim_statuses=statuses)


def claims_of_pod(rules: Rules, world: World, pod: Pod) -> World:
    """The pod's status names its claims: those of its group, and those made for it alone (CLAIM-08, CLAIM-35).

    Until the group's claim is there nothing is named, and no claim is made for the pod in its place. A bound pod whose
    claims were not reserved by a scheduler gets that done (CLAIM-33; intended: DEV-61).
    """
    workload = world.settings.shares_claims("claim-controller")
    group: PodGroup | None = _sees(world, "podGroup").get(pod.group or "") if workload else None
    if pod.terminating or pod.terminal or (workload and pod.group is not None and group is None):
        return world
    kept, wanted = _named(world, pod, lambda claim: made_for(claim, pod, workload))
    found: dict[str, str] = {}
    for entry in wanted:
        if group is not None and shared(group, entry):
            made = made_before(world, "podGroup", group.uid, entry.name)
            if made is None:
                continue
        else:
            world, made = _generated(rules, world, Owner("pod", pod.name, pod.uid, entry.name), pod, entry)
            if made is None:
                return world
        found[entry.name] = made.name
    if found:
        stopped = _stopped(world, f"record/{pod.key}")
        if stopped is not None:
            return stopped
        statuses = Table(rules.record_claims(kept, found))
        there: Pod | None = stored(world, "pod").get(pod.key)
        if there is None or there.resource_claim_statuses == statuses:
            return world
        told = evolve(there, resource_claim_statuses=statuses)
        return write(rules, world, Revision("pod", pod.key, there, told, COMPONENT))
    return reserved_for_bound(rules, world, pod) if pod.node_name is not None else world


def _named(
    world: World, user: Pod | PodGroup, right: Callable[[ResourceClaim], bool]
) -> tuple[dict[str, str], list[PodGroupClaim]]:
    """What the user's status names rightly, and the entries that mean a template and have no such name yet."""
    kept: dict[str, str] = {}
    wanted: list[PodGroupClaim] = []
    for entry in user.resource_claims:
        if entry.resource_claim_template_name is None:
            continue
        named = user.resource_claim_statuses.get(entry.name)
        claim: ResourceClaim | None = _sees(world, "claim").get(f"{user.namespace}/{named}")
        if named == NOT_NEEDED or (claim is not None and right(claim)):
            kept[entry.name] = named or NOT_NEEDED
        else:
            wanted.append(entry)
    return kept, wanted


def record_claims(kept: dict[str, str], found: dict[str, str]) -> dict[str, str]:
    """What the status says after a pass: every entry whose claim exists (intended: DEV-39)."""
    return {**kept, **found}


def made_before(world: World, kind: str, uid: int, entry: str) -> ResourceClaim | None:
    """The claim that was made for this entry of this owner, if there is one (CLAIM-02), be it seen yet or not."""
    claims: Table[ResourceClaim] = _sees(world, "claim")
    for revision in unseen(world, view(COMPONENT, "claim")):
        if revision.by == COMPONENT and isinstance(revision.new, ResourceClaim):
            claims = claims.put(revision.key, revision.new)
    owned = (c for c in claims.values() if _of(c, kind, uid) and c.owner and c.owner.entry == entry)
    return next(owned, None)


def _of(claim: ResourceClaim, kind: str, uid: int) -> bool:
    return claim.owner is not None and (claim.owner.kind, claim.owner.uid) == (kind, uid)


def _generated(
    rules: Rules, world: World, owner: Owner, user: Pod | PodGroup, entry: PodGroupClaim
) -> tuple[World, ResourceClaim | None]:
    """The claim of the entry, made from its template if it is not there (CLAIM-03); None if that cannot be done now."""
    claim = made_before(world, owner.kind, owner.uid, owner.entry)
    if claim is not None:
        return world, claim
    template = _sees(world, "claimTemplate").get(f"{user.namespace}/{entry.resource_claim_template_name}")
    if template is None:
        return world, None
    stopped = _stopped(world, f"generate/{user.key}")
    if stopped is not None:
        return stopped, None
    name = _free_name(world, user, entry.name)
    claim = ResourceClaim(user.namespace, name, spec=template.spec, owner=owner)
    world = create(rules, world, claim, COMPONENT)
    return world, stored(world, "claim")[claim.key]


def _stopped(world: World, call: str) -> World | None:
    """The world in which the call stays open or has failed, if it is told to; None if it goes well."""
    environment = world.environment
    if call in environment.held:
        return world
    if call not in environment.failing:
        return None
    return evolve(world, environment=evolve(environment, failing=removed(environment.failing, call)))


def _free_name(world: World, user: Pod | PodGroup, entry: str) -> str:
    """A name that no claim has, and that nobody still calls one that is gone (CLAIM-03, CHO-11)."""
    base, whole = f"{user.name}-{entry}", len(user.name) + len(entry) + 2
    if whole > LONGEST_BASE:
        base = f"{user.name[: len(user.name) * LONGEST_BASE // whole]}-{entry[: len(entry) * LONGEST_BASE // whole]}"
    users = (*stored(world, "podGroup").values(), *stored(world, "pod").values())
    called = {f"{u.namespace}/{name}" for u in users for name in u.resource_claim_statuses.values()}
    number, claims = 0, stored(world, "claim")
    while (key := f"{user.namespace}/{base}-{number}") in called or key in claims:
        number += 1
    return f"{base}-{number}"


def reserved_for_bound(rules: Rules, world: World, pod: Pod) -> World:
    """The world in which the claims of a bound pod, as far as they are allocated, are reserved for it (CLAIM-33)."""
    workload = world.settings.shares_claims("claim-controller")
    group: PodGroup | None = _sees(world, "podGroup").get(pod.group or "") if workload else None
    for entry in pod.resource_claims:
        name = entry.resource_claim_name or pod.resource_claim_statuses.get(entry.name)
        claim: ResourceClaim | None = _sees(world, "claim").get(f"{pod.namespace}/{name}")
        if claim is None or claim.allocation is None or reserved(claim, pod, workload):
            continue
        more = evolve(claim, reserved_for=(*claim.reserved_for, consumer(pod, group, entry)))
        if accepts(more):
            world = _written(rules, world, claim, more)
    return world


def _written(rules: Rules, world: World, read: ResourceClaim, claim: ResourceClaim) -> World:
    """The claim is stored in this version, unless it is no longer as it was read."""
    return store_claim(rules, world, claim) if stored(world, "claim").get(claim.key) == read else world


def settle_claim(rules: Rules, world: World, claim: ResourceClaim) -> World:
    """What nobody uses any more is taken back, and what nobody owns is deleted (CLAIM-30 to CLAIM-32, GC-08).

    With the last entry the allocation goes, and the finalizer. A group's entry stays as long as its PodGroup does.
    """
    over = [entry for entry in claim.reserved_for if _is_over(world, claim.namespace, entry)]
    left = without(claim, over)
    held = CLAIM_FINALIZER in claim.finalizers
    if held and not left.reserved_for and (over or claim.terminating):
        left = unprotected(cleared(left))
    if left != claim:
        return _written(rules, world, claim, left)
    there: ResourceClaim | None = stored(world, "claim").get(claim.key)
    if there is None or there.terminating or there.slot != claim.slot:
        return world
    if not claim.terminating and not claim.reserved_for and _ownerless(world, claim):
        return delete(rules, world, "claim", claim.key)
    return world


def _is_over(world: World, namespace: str, entry: Consumer) -> bool:
    if not entry.uid:
        return False
    if entry.kind == "podGroup":
        group = _found(world, "podGroup", f"{namespace}/{entry.name}")
        return world.settings.shares_claims("claim-controller") and (group is None or group.uid != entry.uid)
    return _done(_found(world, "pod", f"{namespace}/{entry.name}"), entry.uid)


def _found(world: World, kind: str, key: str) -> Any:
    """The object as it is seen; for one that is not seen the API server is asked, since it may just not be seen yet."""
    return _sees(world, kind).get(key) or stored(world, kind).get(key)


def _done(pod: Pod | None, uid: int) -> bool:
    """Whether it is certain that the pod will not run, or run again."""
    if pod is None or pod.uid != uid or pod.terminal:
        return True
    return pod.terminating and pod.node_name is None


def _ownerless(world: World, claim: ResourceClaim) -> bool:
    owner = claim.owner
    if owner is None or not owner.uid:
        return False
    if owner.kind == "pod":
        return _done(_found(world, "pod", f"{claim.namespace}/{owner.name}"), owner.uid)
    group = stored(world, "podGroup").get(f"{claim.namespace}/{owner.name}")
    return group is None or group.uid != owner.uid
