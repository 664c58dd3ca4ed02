"""Whether a placement obeys the rules, judged anew where it is committed and where it is bound (INV-05, INV-06)."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.claims.reserve import reserve
from gangproof.impl.filters import prepare, rejection
from gangproof.impl.snapshot import seen, with_pod
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.refinement.steps import fine_steps
from gangproof.properties.search.system import Violation


def obeys_the_filters(before: World, action: Action, after: World) -> Violation | None:
    """INV-06: every committed member satisfies every filter beside what its cycle saw and who was committed before.

    All indexes are made anew from the nodes, so one that the machinery keeps wrongly shows.
    """
    for then, now in fine_steps(before, action, after):
        cycle = then.cycle
        if cycle is None or cycle.taken is None or cycle.stage != "submitting" or then.assumed is now.assumed:
            continue
        members = {pod.key: pod for pod in cycle.members}
        nodes, claims = cycle.taken.nodes, cycle.taken.claims
        for result in cycle.results:
            node, pod = result.node, members[result.pod]
            if node is None or pod.key not in now.assumed:
                continue
            info = nodes[node]
            if pod.key not in then.assumed:
                refused = rejection(prepare(pod, seen(nodes, cycle.taken.members, claims)), info)
                if refused is not None:
                    message = f"{pod.key} is committed to {node}, and {refused.plugin} refuses it there"
                    return Violation("INV-06", message, (pod.key, node))
            nodes = nodes.put(node, with_pod(info, pod))
            if result.holds:
                claims = evolve(claims, in_flight=reserve(claims.in_flight, result.holds))
    return None


def bound_where_room_is(before: World, action: Action, after: World) -> Violation | None:
    """INV-05: a bind that ends well finds the room that was kept for the pod, or else room that is free.

    A pod whose promise is gone keeps no room: it may only be bound to a node that holds it all the same.
    """
    if action.name not in ("bind", "bind-fails") or before.pods is after.pods:
        return None
    key = action.args[0]
    then, pod = before.pods.get(key), after.pods.get(key)
    if pod is None or pod.node_name is None or key in before.assumed:
        return None
    if then is not None and then.node_name is not None:
        return None
    info = after.cache[pod.node_name]
    room = info.node.allocatable if info.node is not None else Table[int]()
    for resource, amount in info.used.items():
        if amount > room.get(resource, 0):
            message = f"{key} is bound to {pod.node_name}, which does not hold it: {resource} was given away"
            return Violation("INV-05", message, (key, pod.node_name))
    return None
