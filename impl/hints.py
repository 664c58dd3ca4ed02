"""Which event is worth another try for a pod that a plugin held back or rejected (QUEUE-14, 16, 17).

A hint answers for one plugin: could this event have made that plugin say yes? It looks at the event's object
alone, never at what else runs there, so it may wake in vain but never sleeps through a chance.
"""

from __future__ import annotations

from collections.abc import Callable

from gangproof.impl.filters.nodes import node_affinity, node_name, node_unschedulable, taint_toleration
from gangproof.impl.objects import Pod
from gangproof.impl.world import Event, NodeInfo

NODE_EVENTS = ("NodeAdded", "NodeUpdated")


def gang_scheduling(pod: Pod, event: Event) -> bool:
    """QUEUE-16, QUEUE-17: a new member of the same group, or the group object itself."""
    if event.kind in ("PodAdded", "AssignedPodAdded"):
        return event.pod is not None and event.pod.group == pod.group and event.pod.key != pod.key
    return event.kind == "PodGroupAdded" and event.group == pod.group


def scheduling_gates(pod: Pod, event: Event) -> bool:
    """The pod's own update may have taken its gates away."""
    return _own_update(pod, event)


def node_resources_fit(pod: Pod, event: Event) -> bool:
    """A pod left a node, or a node came or changed that the pod alone would fit."""
    if event.kind in NODE_EVENTS and event.node is not None:
        whole = event.node.allocatable
        return (whole.get("pods", 0) or 0) > 0 and all(
            amount <= (whole.get(resource, 0) or 0) for resource, amount in pod.requests.items()
        )
    return event.kind == "AssignedPodDeleted" or _own_update(pod, event)


def node_ports(pod: Pod, event: Event) -> bool:
    """A pod left a node and its ports with it, or a node came: the pod alone fits every node's ports."""
    return event.kind in ("AssignedPodDeleted", "NodeAdded") or _own_update(pod, event)


def pod_topology_spread(pod: Pod, event: Event) -> bool:
    """Anything that changes which nodes and pods count: where the emptiest domain is decides everywhere."""
    if event.kind in NODE_EVENTS or event.kind == "NodeDeleted":
        return True
    return _of_placed_pods(event) and (event.pod is None or event.pod.namespace == pod.namespace)


def inter_pod_affinity(pod: Pod, event: Event) -> bool:
    """A pod that may be wanted came or changed, one that may be in the way left, or domains changed."""
    return event.kind in NODE_EVENTS or event.kind == "NodeDeleted" or _of_placed_pods(event)


def _of_placed_pods(event: Event) -> bool:
    """Whether the event may change what runs where, and how it is labelled.

    An assumed pod has no node in the event, so updates of pods without one count too.
    """
    return event.kind in ("AssignedPodAdded", "AssignedPodDeleted", "PodUpdated")


def _node_only(check: Callable[[Pod, NodeInfo], object]) -> Callable[[Pod, Event], bool]:
    def hint(pod: Pod, event: Event) -> bool:
        if event.kind in NODE_EVENTS:
            return check(pod, NodeInfo(event.node)) is None
        return _own_update(pod, event)

    return hint


def _own_update(pod: Pod, event: Event) -> bool:
    return event.kind == "PodUpdated" and event.pod is not None and event.pod.key == pod.key


def default_preemption(pod: Pod, event: Event) -> bool:
    """PREEMPT-34: no event by itself; the end of the round wakes the preemptor."""
    return False


HINTS: dict[str, Callable[[Pod, Event], bool]] = {
    "DefaultPreemption": default_preemption,
    "GangScheduling": gang_scheduling,
    "InterPodAffinity": inter_pod_affinity,
    "NodeAffinity": _node_only(node_affinity),
    "NodeName": _node_only(node_name),
    "NodePorts": node_ports,
    "NodeResourcesFit": node_resources_fit,
    "NodeUnschedulable": _node_only(node_unschedulable),
    "PodTopologySpread": pod_topology_spread,
    "SchedulingGates": scheduling_gates,
    "TaintToleration": _node_only(taint_toleration),
}


REGISTERED: dict[str, tuple[str, ...]] = {
    "DefaultPreemption": ("AssignedPodDeleted",),
    "GangScheduling": ("PodAdded", "AssignedPodAdded", "PodGroupAdded"),
    "SchedulingGates": ("PodUpdated",),
}
"""The events for which a plugin that gates pods is registered (QUEUE-14a, QUEUE-16, QUEUE-17, PREEMPT-34)."""


def reaches(plugins: tuple[str, ...], event: Event) -> bool:
    """Whether the event is one for which some plugin that gates the pod is registered (QUEUE-14a)."""
    gating = [plugin for plugin in plugins if plugin in REGISTERED]
    return event.kind == "Flush" or not gating or any(event.kind in REGISTERED[plugin] for plugin in gating)


def worth_it(pod: Pod, plugins: tuple[str, ...], event: Event) -> bool:
    """Whether some of the plugins hints at another try; without any plugin every event does (QUEUE-14)."""
    return event.kind == "Flush" or not plugins or any(HINTS[plugin](pod, event) for plugin in plugins)
