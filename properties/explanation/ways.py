"""One allowed way through a cycle, fast enough for a cluster of thousands of nodes.

Most of what is open in a cycle (which of equally good nodes, where the search for nodes stops, in which order
siblings stand) hardly ever decides whether a group is placed, and following all of it is hopeless in a large
cluster. Each function here is a what-if that keeps one of the answers that a step allows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from attrs import evolve

from gangproof.impl.cycle import group_object
from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.impl.filters import Rejection, prepare, rejection
from gangproof.impl.members import count
from gangproof.impl.memory import NodeInfo, has_affinity
from gangproof.impl.objects import Pod
from gangproof.impl.preemption.spare import Sparing, Trial
from gangproof.impl.preemption.units import Unit
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.scores import best, search_limit
from gangproof.impl.snapshot import with_pod, without_pod
from gangproof.impl.steps import AskAsGroupStep, OrderStep, Placement, PlaceStep
from gangproof.impl.table import Table
from gangproof.impl.world import World

FEW_NODES = 12
FEW_MEMBERS = 6


def few(world: World, members: int) -> bool:
    """Whether the world is small enough to follow everything that is open."""
    return len(world.cache) <= FEW_NODES and members <= FEW_MEMBERS


def one_way(rules: Rules) -> Rules:
    """The rules with one allowed answer wherever several are."""
    return profile(
        rules,
        Change(
            "one way",
            "of several allowed answers the first is taken",
            {"place": first_found, "order": by_age, "ask_as_group": first_order},
        ),
    )


def by_age(_: OrderStep) -> OrderStep:
    """Siblings stand in the order of their age, one of the orders that are allowed (QUEUE-13, QUEUE-19d)."""
    return INTENDED.order


def alike(pod: Pod) -> Hashable:
    """Equal for pods that no filter of a single node tells apart."""
    return (
        pod.requests,
        pod.node_selector,
        pod.node_affinity,
        pod.tolerations,
        pod.host_ports,
        pod.node_name,
    )


def first_found(old: PlaceStep) -> PlaceStep:
    """The first of the best among the first nodes found, where the search stops early (CYCLE-15, SCORE-12).

    What the filters said of a node is kept until the node changes; that is all that they read for a pod
    without constraints on others.
    """
    kept: dict[Hashable, dict[str, tuple[NodeInfo, Rejection | None]]] = {}

    def place(rules: Rules, world: World, cycle: Cycle, pod: Pod) -> Placement:
        snapshot = cycle.snapshot
        if snapshot is None or world.nominations or cycle.domains or not only_nodes_decide(pod, snapshot):
            found = old(rules, world, cycle, pod)
            return Placement(found.nodes[:1], found.plugins)
        prepared = prepare(pod, snapshot)
        answers = kept.setdefault(alike(pod), {})
        enough = search_limit(len(snapshot.nodes))
        feasible: list[tuple[str, NodeInfo]] = []
        plugins: set[str] = set()
        for name, info in snapshot.nodes.items():
            known = answers.get(name)
            if known is None or known[0] is not info:
                known = answers[name] = (info, rejection(prepared, info))
            if known[1] is not None:
                plugins.add(known[1].plugin)
                continue
            feasible.append((name, info))
            if len(feasible) == enough:
                break
        if not feasible:
            return Placement(plugins=tuple(sorted(plugins)))
        return Placement(best(pod, feasible, len(snapshot.nodes), snapshot, world.settings).nodes[:1])

    return place


def only_nodes_decide(pod: Pod, snapshot: Snapshot) -> bool:
    """Whether a node's own state is all that the filters read for the pod, with no node chosen beforehand."""
    if pod.nominated_node_name is not None or pod.topology_spread_constraints or has_affinity(pod):
        return False
    prepared = prepare(pod, snapshot)
    return prepared.named is None and prepared.neighbours is None


def first_order(old: AskAsGroupStep) -> AskAsGroupStep:
    """Candidates of equal importance are judged in one order (CHO-08), and by counting where that is exact.

    The group step asks once for each order of the same candidates, and is told the answer for the first.
    """

    def ask_as_group(rules: Rules, world: World, cycle: Cycle) -> tuple[Cycle, ...]:
        answered: list[tuple[Sparing | None, ...]] = []

        def spare(snapshot: Snapshot, candidates: Sequence[Unit], trial: Trial) -> tuple[Sparing | None, ...]:
            if not answered:
                needed = slots_needed(world, cycle, snapshot)
                answered.append(
                    rules.spare(snapshot, candidates, trial)
                    if needed is None
                    else spare_by_counting(snapshot, candidates, trial, cycle.members[0], needed)
                )
            return answered[0]

        return old(evolve(rules, spare=spare), world, cycle)

    return ask_as_group


def slots_needed(world: World, cycle: Cycle, snapshot: Snapshot) -> int | None:
    """How many members more must find a place; None unless counting places tells whether they do (THM-01)."""
    group = group_object(world, cycle)
    members = cycle.members
    if group is None or world.nominations or cycle.domains is not None:
        return None
    if len({alike(pod) for pod in members}) > 1 or any(pod.host_ports for pod in members):
        return None
    if not all(only_nodes_decide(pod, snapshot) for pod in members):
        return None
    return max(1, (group.min_count or 0) - count(snapshot.members, "placed"))


def spare_by_counting(
    snapshot: Snapshot, candidates: Sequence[Unit], trial: Trial, member: Pod, needed: int
) -> tuple[Sparing | None, ...]:
    """What sparing comes to for members that are all alike (PREEMPT-23, PREEMPT-26).

    They are placed exactly if the nodes have enough places for them, so each unit is judged by the places that
    it takes away. The first and the last trial are played.
    """
    prepared = prepare(member, snapshot)

    def places(info: NodeInfo) -> int:
        if rejection(prepared, info) is not None or info.node is None:
            return 0
        whole, used = info.node.allocatable, info.used
        asked = [(resource, amount) for resource, amount in (*member.requests.items(), ("pods", 1)) if amount]
        return min((whole.get(r, 0) - used.get(r, 0)) // amount for r, amount in asked)

    nodes = dict(snapshot.nodes.items())
    for unit in candidates:
        for pod, node in unit.pods:
            nodes[node] = without_pod(nodes[node], pod)
    if _plan(trial, evolve(snapshot, nodes=Table(nodes))) is None:
        return (None,)
    room = {name: places(info) for name, info in nodes.items()}
    total = sum(room.values())
    victims: list[Unit] = []
    for unit in candidates:
        back = {node: nodes[node] for _, node in unit.pods}
        for pod, node in unit.pods:
            back[node] = with_pod(back[node], snapshot.nodes[node].pods[pod])
        left = {node: places(info) for node, info in back.items()}
        after = total + sum(left[node] - room[node] for node in back)
        if after >= needed:
            nodes.update(back)
            room.update(left)
            total = after
        else:
            victims.append(unit)
    plan = _plan(trial, evolve(snapshot, nodes=Table(nodes)))
    if plan is None:
        raise AssertionError("enough places were counted, and the cycle does not find them")
    return (Sparing(tuple(victims), plan),)


def _plan(trial: Trial, seen: Snapshot) -> Table[str] | None:
    return next((plan for plan in trial(seen) if plan is not None), None)
