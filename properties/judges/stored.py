"""What is promised of the stored objects themselves: specs stay, limits are kept, references are looked up.

The API server refuses what would break these promises; here they are asked of what is stored in the end, whoever
wrote it (INV-30 to INV-32, and INV-29 where somebody lags).
"""

from __future__ import annotations

from functools import lru_cache

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.controllers.protection import COMPONENT as PROTECTION
from gangproof.impl.objects import PodGroup, PodGroupTemplate, Workload
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.objects.validation import HIGHEST_USER_PRIORITY
from gangproof.impl.outside import name_of
from gangproof.impl.profiles import INTENDED
from gangproof.impl.recreate import created
from gangproof.impl.store import lags, seen, stored
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation

MOST_TEMPLATES, MOST_KEYS, MOST_CLAIMS = 8, 1, 4


def spec_kept(before: World, action: Action, after: World) -> Violation | None:
    """INV-30: the spec of a PodGroup object never changes; another object of its name has its own (API-44, ADM-02)."""
    for then, now in fine_steps(before, action, after):
        if _same_groups(then, now):
            continue
        old = stored(then, "podGroup")
        for key, group in stored(now, "podGroup").items():
            was = old.get(key)
            if was is not None and was.uid == group.uid and _spec(was) != _spec(group):
                return Violation("INV-30", f"the spec of {key} is another one", (key,))
    return None


def _same_groups(then: World, now: World) -> bool:
    return then.groups is now.groups and then.control.log is now.control.log


def _spec(group: PodGroup) -> PodGroup:
    """The group without its metadata and its status."""
    return evolve(
        group, labels=_NOTHING.labels, finalizers=(), owners=(), terminating=False, condition=None,
        resource_claim_statuses=_NOTHING.resource_claim_statuses,
    )  # fmt: skip


_NOTHING = PodGroup("", "")


def within_limits(world: World) -> Violation | None:
    """INV-31: at most so many templates, keys and claims, a minimum of at least 1, no priority of the system's."""
    for table in (stored(world, "podGroup"), stored(world, "workload")):
        for key, obj in table.items():
            beyond = _beyond(obj)
            if beyond:
                return Violation("INV-31", f"{key} has {beyond}", (key,))
    return None


@lru_cache(maxsize=1 << 10)
def _beyond(obj: PodGroup | Workload) -> str:
    """Which limit the object is beyond, "" if it keeps all of them."""
    if isinstance(obj, PodGroup):
        return _policy_beyond(obj)
    if len(obj.pod_group_templates) > MOST_TEMPLATES:
        return f"{len(obj.pod_group_templates)} templates"
    return next((found for template in obj.pod_group_templates if (found := _policy_beyond(template))), "")


def _policy_beyond(policy: PodGroup | PodGroupTemplate) -> str:
    if policy.min_count is not None and policy.min_count < 1:
        return f"the minimum {policy.min_count}"
    if len(policy.topology_keys or ()) > MOST_KEYS:
        return f"{len(policy.topology_keys or ())} topology keys"
    if len(policy.resource_claims) > MOST_CLAIMS:
        return f"{len(policy.resource_claims)} claims"
    if (policy.priority or 0) > HIGHEST_USER_PRIORITY:
        return f"the priority {policy.priority}"
    return ""


def reference_checked(before: World, action: Action, after: World) -> Violation | None:
    """INV-32: a group that refers to a Workload was created when that was there, was not going, and had the template.

    It is enough that the admission plugin saw it so, be it long ago (ADM-25).
    """
    for then, now in fine_steps(before, action, after):
        if _same_groups(then, now):
            continue
        old = stored(then, "podGroup")
        for key, group in stored(now, "podGroup").items():
            new = key not in old or old[key].uid != group.uid
            if new and group.workload_name is not None and not _found(then, group):
                return Violation("INV-32", f"{key} refers to a template that is not there", (key,))
    return None


def accepted_by_the_rules(before: World, action: Action, after: World) -> Violation | None:
    """INV-32: a user is refused only what the rules refuse; a pod may name a group that is not there (API-48)."""
    if action.name != "create-fails":
        return None
    environment = before.environment
    for obj in (*environment.arrivals, *environment.again):
        if name_of(obj) == action.args[0] and created(INTENDED, before, obj)[0] == "create":
            return Violation("INV-32", f"{action.args[0]} is refused, and nothing forbids it", (obj.key,))
    return None


def let_go_as_seen(before: World, action: Action, after: World) -> Violation | None:
    """INV-29, where somebody lags: protection ends only when its controller sees no unfinished pod of the group."""
    if not lags(before):
        return None
    for then, now in fine_steps(before, action, after):
        left = stored(now, "podGroup")
        for key, group in stored(then, "podGroup").items():
            gone = key not in left or left[key].uid != group.uid
            if gone and PROTECTION_FINALIZER in group.finalizers and _needed(then, now, key):
                return Violation("INV-29", f"{key} goes, and its controller sees a pod that needs it", (key,))
    return None


def _needed(then: World, now: World, group: str) -> bool:
    """Whether the controller sees an unfinished pod of the group, also when it has seen what it may of the step."""
    before, after = seen(then, PROTECTION, "pod"), seen(now, PROTECTION, "pod")
    both = (pod for key, pod in before.items() if key in after and after[key].uid == pod.uid)
    return any(pod.group == group and not after[pod.key].terminal for pod in both)


def _found(world: World, group: PodGroup) -> bool:
    name = f"{group.namespace}/{group.workload_name}"
    views = (seen(world, "admission", "workload"), stored(world, "workload"))
    known: list[Workload] = [view[name] for view in views if name in view]
    return any(
        not workload.terminating
        and any(template.name == group.pod_group_template_name for template in workload.pod_group_templates)
        for workload in known
    )
