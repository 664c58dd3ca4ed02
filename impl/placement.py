"""Topology-aware placement: the domains that a group may go to, and which of them is best (SEMANTICS 6).

A group with a topology key goes to one domain: the nodes with one value of that label. Members placed before
decide which (PLACE-03); otherwise each domain is tried as a whole, and the best one wins.
"""

from __future__ import annotations

from collections.abc import Iterable

from gangproof.impl.cycle_state import Code, Cycle, Domain, Snapshot, Visit
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import Node
from gangproof.impl.scores.nodes import SCORED
from gangproof.impl.steps import Candidates
from gangproof.impl.table import Table
from gangproof.impl.world import World

NO_DOMAIN = "no feasible placements found"
NO_GROUP = "podgroup {} not found"
NO_NODE = "scheduled members are on nodes that are gone"
NO_LABEL = "scheduled members are on nodes without the label {}"
SEVERAL = "scheduled members are in several domains of {}"


def domains(world: World, cycle: Cycle) -> tuple[Candidates, ...]:
    """The domains that the group may go to, in the order of their values (PLACE-01 to PLACE-09, CYCLE-04).

    Without the gate, or a topology key, all nodes are one placement (API-05). Members that are leaving still pin
    the domain (PLACE-08). The empty label value is a value like any other
    (intended: DEV-25).
    """
    found = topology(world, cycle)
    if isinstance(found, Candidates):
        return (found,)
    key, snapshot = found
    values = scheduled_values(snapshot, key)
    if isinstance(values, str):
        return (Candidates(error=values),)
    if len(set(values)) > 1:
        return (Candidates(error=SEVERAL.format(key)),)
    return (Candidates(by_value(snapshot, key, values)),)


def topology(world: World, cycle: Cycle) -> tuple[str, Snapshot] | Candidates:
    """The topology key that the cycle has to respect, with its snapshot; or what there is to try without one."""
    if cycle.group is None or not world.settings.gates.topology_aware_workload_scheduling:
        return Candidates()
    group = world.groups.get(cycle.group)
    if group is None:
        return Candidates(error=NO_GROUP.format(cycle.group))
    if not group.topology_keys or cycle.taken is None:
        return Candidates()
    return group.topology_keys[0], cycle.taken


def scheduled_values(snapshot: Snapshot, key: str) -> tuple[str, ...] | str:
    """The label value under each member placed before; why there is no saying, if one has none (PLACE-04).

    Whoever placed them there: for all later members they fix the domain (PLACE-30, PLACE-34).
    """
    members = {*snapshot.members.scheduled, *snapshot.members.leaving}
    if not members:
        return ()
    under = {
        pod: info.node for info in snapshot.nodes.values() if info.node for pod in members & info.pods.keys()
    }
    if under.keys() != members:
        return NO_NODE
    if not all(key in node.labels for node in under.values()):
        return NO_LABEL.format(key)
    return tuple(node.labels[key] for _, node in sorted(under.items()))


def by_value(snapshot: Snapshot, key: str, only: Iterable[str] = ()) -> tuple[Domain, ...]:
    """The domains of the key, those with these values only if any are given (PLACE-02, PLACE-03)."""
    wanted = set(only)
    nodes: dict[str, list[str]] = {}
    for name, info in snapshot.nodes.items():
        value = _label(info.node, key)
        if value is not None and (not wanted or value in wanted):
            nodes.setdefault(value, []).append(name)
    return tuple(Domain(value, tuple(names)) for value, names in sorted(nodes.items()))


def _label(node: Node | None, key: str) -> str | None:
    return node.labels.get(key) if node is not None else None


def within(cycle: Cycle, nodes: Table[NodeInfo]) -> Table[NodeInfo]:
    """The nodes that the cycle's members may go to now: those of the domain that is visited (PLACE-10)."""
    domain = cycle.domain
    return nodes if domain is None else Table({name: nodes[name] for name in domain.nodes})


def visit(cycle: Cycle, code: Code) -> Visit:
    """What came of the domain just tried, with its members still assumed in the snapshot (PLACE-20, PLACE-21).

    Nominations have no part in it (PLACE-23).
    """
    domain, seen, taken = cycle.domain, cycle.snapshot, cycle.taken
    assert domain is not None and seen is not None and taken is not None
    placed = len(taken.members.scheduled) + sum(result.kept for result in cycle.results)
    packing = most_allocated([seen.nodes[name] for name in domain.nodes])
    return Visit(cycle.visited, cycle.results, code, packing, placed)


def most_allocated(infos: Iterable[NodeInfo]) -> int:
    """The share of the nodes' room that is asked for, in percent, cpu and memory alike (PLACE-20)."""
    infos = list(infos)
    shares: list[int] = []
    for resource in SCORED:
        asked = sum(info.nonzero.get(resource, 0) for info in infos)
        room = sum(info.node.allocatable.get(resource, 0) for info in infos if info.node is not None)
        if room:
            shares.append(100 * min(asked, room) // room)
    return sum(shares) // len(shares) if shares else 0


def ahead(so_far: tuple[Visit, ...], new: Visit, rank: bool) -> tuple[tuple[Visit, ...], ...]:
    """Who may still win after one more visit, or is to be reported; one answer for each free choice.

    Of two visits that weigh the same either may be kept (CHO-07), and of those that do not fit either may have
    been the first (PLACE-13, CHO-06). With `rank` the earlier domain wins (SCORE-14). One that is less packed
    and holds no more members than another has the lower total, whatever else comes (PLACE-22).
    """
    if not so_far:
        return ((new,),)
    if so_far[0].fits != new.fits:
        return (so_far if so_far[0].fits else (new,),)
    if rank:
        return (so_far,)
    if not new.fits:
        return (so_far, (new,))
    if any(_loses(new, old) for old in so_far):
        return (so_far,)
    left = tuple(old for old in so_far if not _loses(old, new))
    same = tuple(old for old in left if (old.packing, old.placed) == (new.packing, new.placed))
    others = tuple(old for old in left if old not in same)
    return tuple((*others, one) for one in (*same, new))


def _loses(one: Visit, other: Visit) -> bool:
    return one.packing < other.packing and one.placed <= other.placed


def winners(candidates: tuple[Visit, ...]) -> tuple[Visit, ...]:
    """The visits of highest total (PLACE-21, PLACE-22)."""
    most = max((one.placed for one in candidates), default=0)
    totals = [one.packing + (100 * one.placed // most if most else 0) for one in candidates]
    return tuple(one for one, total in zip(candidates, totals, strict=True) if total == max(totals))
