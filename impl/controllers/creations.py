"""What the controllers would create for objects as they stand: for a look at manifests before anything has run.

The Job controller makes Workload, PodGroup and pods, the claim controller makes claims and names them to their users.
Nothing else of what they do is done here, and nothing is removed, so that a cluster's dump stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from gangproof.impl.bulk import world_of
from gangproof.impl.controllers.claims import one_pass
from gangproof.impl.controllers.job_sync import begin, sync_calls
from gangproof.impl.gates import Object
from gangproof.impl.objects import Job, Pod, PodGroup, ResourceClaimTemplate
from gangproof.impl.rules import Rules
from gangproof.impl.store import KINDS, kind_of, stored
from gangproof.impl.world import Settings, World


@frozen
class Completed:
    """The given objects in their order, what the controllers `made`, and what that needs and the model lacks."""

    given: tuple[Object, ...]
    made: tuple[Object, ...] = ()
    beyond: tuple[str, ...] = ()


def with_created(rules: Rules, objects: Sequence[Object], settings: Settings) -> Completed:
    """The objects with what the controllers create for them (CTRL-10, CLAIM-02, CLAIM-08).

    Pods and groups for which claims were made name them. ApiError if two objects have the same key.
    """
    if not any(isinstance(obj, Job | ResourceClaimTemplate) for obj in objects):
        return Completed(tuple(objects))
    nobody_schedules = evolve(settings, profiles=())
    before = world_of(rules, objects, nobody_schedules)
    after = before
    for key in list(_incomplete(rules, before)):
        after = _synced(rules, after, key)
    for about in list(_unnamed(after)):
        after = one_pass(rules, after, about)
    if after == before:
        return Completed(tuple(objects))
    known = {(kind_of(obj), obj.key) for obj in objects}
    made = [
        (getattr(obj, "uid", 0), obj)
        for kind in KINDS
        for key, obj in stored(after, kind).items()
        if (kind, key) not in known
    ]
    return Completed(
        tuple(stored(after, kind_of(obj)).get(obj.key, obj) for obj in objects),
        tuple(obj for _, obj in sorted(made, key=lambda one: one[0])),
        tuple(sorted(after.ghost.beyond)),
    )


def _incomplete(rules: Rules, world: World) -> Iterator[str]:
    """The Jobs for which a sync would create something, as far as can be told without one."""
    mine: dict[int, list[Pod]] = {}
    for pod in world.pods.values():
        for owner in pod.owners:
            if owner.controller and owner.kind == "Job":
                mine.setdefault(owner.uid, []).append(pod)
    for key, job in world.jobs.items():
        if job.finished or job.terminating or job.managed_elsewhere:
            continue
        pods = tuple(mine.get(job.uid, ()))
        new = rules.eligible(world.settings.gates, job) and rules.window(job, pods)
        if new or rules.manage(job, pods, False).create:
            yield key


def _synced(rules: Rules, world: World, key: str) -> World:
    """The world after a sync of the Job, as far as it creates; neither pods are deleted nor is the status written."""
    world = begin(rules, world, key)
    while world.control.sync is not None:
        name, _, after = next(iter(sync_calls(rules, world)))
        if not name.startswith("make"):
            break
        world = after
    return evolve(world, control=evolve(world.control, sync=None))


def _unnamed(world: World) -> Iterator[str]:
    """The groups, and after them the pods, that mean a template and do not name a claim made from it."""
    users: Iterator[PodGroup | Pod] = iter((*world.groups.values(), *world.pods.values()))
    for user in users:
        entries = (e.name for e in user.resource_claims if e.resource_claim_template_name is not None)
        if any(name not in user.resource_claim_statuses for name in entries):
            yield f"{kind_of(user)}/{user.key}"
