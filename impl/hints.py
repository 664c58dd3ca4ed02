"""Which event is worth another try for a pod that a plugin held back or rejected (QUEUE-14, 16, 17, 31).

A hint answers for one plugin: could this event have made that plugin say yes? It looks at the event's objects
alone, as they were and as they are, never at what else runs there. Those of v1.36.3 (`HINTS`) sleep through some
changes that do make room; *intended* wakes for these too (`OVERLOOKED`, DEV-57).
"""

from __future__ import annotations

from collections.abc import Callable

from gangproof.impl.claims.references import references
from gangproof.impl.cycle_state import Event
from gangproof.impl.filters.interpod import all_match
from gangproof.impl.filters.nodes import UNSCHEDULABLE_TAINT, selects, untolerated
from gangproof.impl.filters.spread import Wanted, wanted
from gangproof.impl.objects import Node, Pod, tolerates
from gangproof.impl.rules import Rules
from gangproof.impl.world import World

Hint = Callable[[Pod, Event], bool]


# what an event changed


def own_update(pod: Pod, event: Event) -> bool:
    """Whether the event is that this pod, which has no node, was changed."""
    return event.kind == "PodUpdated" and event.pod is not None and event.pod.key == pod.key


def _tolerates_more(pod: Pod, event: Event) -> bool:
    """Whether the pod itself got a toleration: they can only be added, so their number tells."""
    new, old = event.pod, event.old_pod
    return bool(own_update(pod, event) and new and old and len(new.tolerations) != len(old.tolerations))


def _labels_changed(event: Event) -> bool:
    return event.old_pod is not None and event.pod is not None and event.old_pod.labels != event.pod.labels


def _asks_less(pod: Pod, event: Event) -> bool:
    """Whether the pod itself, or one on a node, asks for less of what the pod asks for."""
    new, old = event.pod, event.old_pod
    if event.kind not in ("PodUpdated", "AssignedPodUpdated") or new is None or old is None:
        return False
    less = {r for r, amount in old.requests.items() if amount > new.requests.get(r, 0)}
    return bool(less if own_update(pod, event) else less & pod.requests.keys() and new.node_name)


def _moved(pod: Pod, event: Event, matches: Callable[[Pod], bool]) -> bool:
    """Whether some pod that the matcher means came, went, or became or ceased to be such a pod by its labels.

    Only the pod itself and pods that have, or are promised, a place count.
    """
    versions = [version for version in (event.old_pod, event.pod) if version is not None]
    if not versions or not all(_counts_for(pod, version) for version in versions):
        return False
    if event.kind in ("AssignedPodAdded", "AssignedPodDeleted"):
        return matches(versions[0])
    return len({matches(version) for version in versions}) > 1


def _counts_for(pod: Pod, other: Pod) -> bool:
    placed = other.node_name is not None or other.nominated_node_name is not None
    return other.key == pod.key or (placed and other.namespace == pod.namespace)


def _grown(pod: Pod, node: Node, old: Node) -> bool:
    """Whether the node has more of something that the pod asks for."""
    return any(
        node.allocatable.get(resource, 0) > old.allocatable.get(resource, 0)
        for resource in ("pods", *(r for r, amount in pod.requests.items() if amount))
    )


# the hints of v1.36.3


def gang_scheduling(pod: Pod, event: Event) -> bool:
    """QUEUE-16, QUEUE-17: a new member of the same group, or the group object itself."""
    if event.kind in ("PodAdded", "AssignedPodAdded"):
        return event.pod is not None and event.pod.group == pod.group and event.pod.key != pod.key
    return event.kind == "PodGroupAdded" and event.group == pod.group


def scheduling_gates(pod: Pod, event: Event) -> bool:
    """The pod lost the last of its gates."""
    new, old = event.pod, event.old_pod
    gone = new is not None and old is not None and old.scheduling_gates and not new.scheduling_gates
    return own_update(pod, event) and bool(gone)


def node_resources_fit(pod: Pod, event: Event) -> bool:
    """A pod left a node or asks for less; or a node that the pod alone would fit came, or has more of what it needs."""
    node, old = event.node, event.old_node
    if event.kind in ("NodeAdded", "NodeUpdated") and node is not None:
        amounts = (("pods", 1), *pod.requests.items())
        fits = all(amount <= node.allocatable.get(resource, 0) for resource, amount in amounts)
        return fits and (old is None or _grown(pod, node, old))
    return event.kind == "AssignedPodDeleted" or _asks_less(pod, event)


def node_ports(pod: Pod, event: Event) -> bool:
    """A pod left a node, and a port with it that the pod wants; or a node came."""
    if event.kind == "AssignedPodDeleted" and event.pod is not None:
        return any(mine.conflicts(port) for mine in pod.host_ports for port in event.pod.host_ports)
    return event.kind == "NodeAdded"


def node_name(pod: Pod, event: Event) -> bool:
    """A node came."""
    return event.kind == "NodeAdded"


def node_affinity(pod: Pod, event: Event) -> bool:
    """A node came, or was relabelled, that the pod selects now and did not select before."""
    return _now_only(event, lambda node: selects(pod, node))


def node_unschedulable(pod: Pod, event: Event) -> bool:
    """A node came that is not cordoned, or was uncordoned; or the pod tolerates cordons now."""
    if _tolerates_more(pod, event):
        return tolerates(pod.tolerations, UNSCHEDULABLE_TAINT)
    return _now_only(event, lambda node: not node.unschedulable)


def taint_toleration(pod: Pod, event: Event) -> bool:
    """A node came, or lost taints, so that the pod tolerates all that are left; or the pod tolerates more."""
    return _tolerates_more(pod, event) or _now_only(event, lambda node: untolerated(pod, node) is None)


def _now_only(event: Event, accepts: Callable[[Node], bool]) -> bool:
    if event.kind not in ("NodeAdded", "NodeUpdated") or event.node is None:
        return False
    return accepts(event.node) and not (event.old_node is not None and accepts(event.old_node))


def pod_topology_spread(pod: Pod, event: Event) -> bool:
    """A matching pod came, went or was relabelled; or a node with all keys came, went, or changed keys or taints."""
    constraints = wanted(pod, "DoNotSchedule")
    if event.node is not None:
        return _domains_changed(constraints, event.node, event.old_node)
    honours_taints = any(c.constraint.node_taints_policy == "Honor" for c in constraints)
    if honours_taints and _tolerates_more(pod, event):
        return True
    return any(_moved(pod, event, constraint.matches) for constraint in constraints)


def _domains_changed(constraints: tuple[Wanted, ...], node: Node, old: Node | None) -> bool:
    keys = {constraint.key for constraint in constraints}
    if old is None:
        return keys <= node.labels.keys()
    if (keys <= node.labels.keys()) != (keys <= old.labels.keys()):
        return True
    relabelled = any(node.labels.get(key) != old.labels.get(key) for key in keys)
    return keys <= node.labels.keys() and (relabelled or node.taints != old.taints)


def inter_pod_affinity(pod: Pod, event: Event) -> bool:
    """A pod came that is wanted near, or left that kept the pod away; or the domains of its own terms changed.

    A pod is wanted, or in the way, if it matches all terms together.
    """
    near, far = pod.pod_affinity.required, pod.pod_anti_affinity.required
    if event.kind in ("NodeAdded", "NodeUpdated") and event.node is not None:
        return _joined(pod, event.node, event.old_node)
    new, old = event.pod, event.old_pod
    if own_update(pod, event):
        return _labels_changed(event)
    if new is None or (new.node_name is None and new.nominated_node_name is None):
        return False
    match event.kind:
        case "AssignedPodAdded":
            return all_match(near, new)
        case "AssignedPodDeleted":
            return all_match(far, new) or all_match(new.pod_anti_affinity.required, pod)
        case "AssignedPodUpdated" if old is not None and _labels_changed(event):
            wanted_now = all_match(near, new) and not all_match(near, old)
            return wanted_now or (all_match(far, old) and not all_match(far, new))
        case _:
            return False


def _joined(pod: Pod, node: Node, old: Node | None) -> bool:
    """Whether the node has another value of a key of the pod's terms: one more to be near, one less to be far from."""
    near = {term.topology_key for term in pod.pod_affinity.required}
    far = {term.topology_key for term in pod.pod_anti_affinity.required}
    if old is None:
        return bool(far) or any(key in node.labels for key in near)
    changed = {key for key in near | far if node.labels.get(key) != old.labels.get(key)}
    return any(key in node.labels for key in changed & near) or any(
        key in old.labels for key in changed & far
    )


def default_preemption(pod: Pod, event: Event) -> bool:
    """PREEMPT-34: no event by itself; the end of the round wakes the preemptor."""
    return False


def dynamic_resources(pod: Pod, event: Event) -> bool:
    """A claim of the pod came or changed, any claim gave up its devices, or nodes, devices or classes did (OBS-09)."""
    new, old = event.pod, event.old_pod
    if own_update(pod, event):
        return bool(new and old and new.resource_claim_statuses != old.resource_claim_statuses)
    if event.kind in ("ClaimAdded", "ClaimUpdated"):
        named = (entry.resource_claim_name for entry in pod.resource_claims)
        mine = (f"{pod.namespace}/{name}" for name in (*named, *pod.resource_claim_statuses.values()) if name)
        return event.claim in set(mine)
    if event.kind == "NodeUpdated" and event.node is not None and event.old_node is not None:
        node, before = event.node, event.old_node
        return node.labels != before.labels or node.allocatable != before.allocatable
    return event.kind in ("NodeAdded", "ClaimFreed", "DeviceClassChanged", "SliceChanged")


HINTS: dict[str, Hint] = {
    "DefaultPreemption": default_preemption,
    "DynamicResources": dynamic_resources,
    "GangScheduling": gang_scheduling,
    "InterPodAffinity": inter_pod_affinity,
    "NodeAffinity": node_affinity,
    "NodeName": node_name,
    "NodePorts": node_ports,
    "NodeResourcesFit": node_resources_fit,
    "NodeUnschedulable": node_unschedulable,
    "PodTopologySpread": pod_topology_spread,
    "SchedulingGates": scheduling_gates,
    "TaintToleration": taint_toleration,
}


NEWS_OF_CLAIMS = ("ClaimAdded", "ClaimUpdated", "ClaimFreed", "PodUpdated")
TAINTS_WAKE = (
    "DynamicResources", "InterPodAffinity", "NodeAffinity", "NodeName", "NodePorts", "NodeResourcesFit",
)  # fmt: skip
"""The plugins that ask for new nodes and not for taints: the queue wakes for taints in their name."""


def taints_changed(event: Event) -> bool:
    """Whether a node got other taints or was uncordoned."""
    node, old = event.node, event.old_node
    if node is None or old is None:
        return False
    return node.taints != old.taints or (old.unschedulable and not node.unschedulable)


# what they overlook


def spread_changes(pod: Pod, event: Event) -> bool:
    """A matching pod begins to go and counts no longer; or a node is in or out by another label than the keys."""
    if event.kind == "NodeUpdated":
        return (
            event.node is not None
            and event.old_node is not None
            and event.node.labels != event.old_node.labels
        )
    new, old = event.pod, event.old_pod
    begins_to_go = new is not None and old is not None and new.terminating and not old.terminating
    return event.kind == "AssignedPodUpdated" and begins_to_go


def neighbour_changes(pod: Pod, event: Event) -> bool:
    """The last pod that was wanted went, so that a series may start; or one of several that were in the way did.

    Or a node went, or changed the domain of pods that keep the pod away.
    """
    if event.kind == "NodeUpdated":
        return (
            event.node is not None
            and event.old_node is not None
            and event.node.labels != event.old_node.labels
        )
    relabelled = event.kind == "AssignedPodUpdated" and _labels_changed(event)
    return event.kind in ("AssignedPodDeleted", "NodeDeleted") or relabelled


def devices_released(pod: Pod, event: Event) -> bool:
    """A binding failed, and what it had in flight is free again; or a claim went with the devices that it had."""
    return event.kind == "AllocationReleased"


OVERLOOKED: dict[str, Hint] = {
    "DynamicResources": devices_released,
    "InterPodAffinity": neighbour_changes,
    "PodTopologySpread": spread_changes,
}


REGISTERED: dict[str, tuple[str, ...]] = {
    "DefaultPreemption": ("AssignedPodDeleted",),
    "DynamicResources": (
        "NodeAdded",
        "NodeUpdated",
        "ClaimAdded",
        "ClaimUpdated",
        "ClaimFreed",
        "PodUpdated",
        "DeviceClassChanged",
        "SliceChanged",
    ),
    "GangScheduling": ("PodAdded", "AssignedPodAdded", "PodGroupAdded"),
    "SchedulingGates": ("PodUpdated",),
}
"""The events for which a plugin that gates pods is registered (QUEUE-14a, QUEUE-16, QUEUE-17, PREEMPT-34)."""


def reaches(plugins: tuple[str, ...], event: Event) -> bool:
    """Whether the event is one for which some plugin that gates the pod is registered (QUEUE-14a)."""
    gating = [plugin for plugin in plugins if plugin in REGISTERED]
    return event.kind == "Flush" or not gating or any(event.kind in REGISTERED[plugin] for plugin in gating)


def shipped_hint(plugin: str, pod: Pod, event: Event) -> bool:
    """What v1.36.3 answers: the plugin's hint, or for some plugins any change of taints (QUEUE-31)."""
    return HINTS[plugin](pod, event) or (plugin in TAINTS_WAKE and taints_changed(event))


def hint(plugin: str, pod: Pod, event: Event) -> bool:
    """Whether the event may have changed the plugin's mind about the pod; no chance is slept through (LIVE-08)."""
    overlooked = plugin in OVERLOOKED and OVERLOOKED[plugin](pod, event)
    return shipped_hint(plugin, pod, event) or overlooked


def worth_it(rules: Rules, world: World, pod: Pod, plugins: tuple[str, ...], event: Event) -> bool:
    """Whether some of the plugins hints at another try; without any plugin every event does (QUEUE-14).

    As long as one of the pod's claims cannot be used, no news of claims is worth it (QUEUE-31).
    """
    if event.kind == "Flush" or not plugins:
        return True
    if (
        event.kind in NEWS_OF_CLAIMS
        and references(pod, world.claims, world.settings.shares_claims("scheduler")).missing
    ):
        plugins = tuple(plugin for plugin in plugins if plugin != "DynamicResources")
    return any(rules.hint(plugin, pod, event) for plugin in plugins)
