"""SCORE-01 to SCORE-08 and SCORE-12 to SCORE-14: worked on paper from the rules."""

from __future__ import annotations

from itertools import combinations

import pytest
from attrs import evolve
from clusters import MIB, cluster, node, pod, preferred, selector, term

from gangproof.impl.cycle import place, try_member
from gangproof.impl.cycle_state import Cycle, Snapshot
from gangproof.impl.limits import EARLY_STOP
from gangproof.impl.memory import NodeInfo
from gangproof.impl.objects import (
    Node,
    NodeAffinity,
    NodeSelectorTerm,
    Pod,
    PreferredNodes,
    Requirement,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from gangproof.impl.objects.requests import Container, scoring_requests
from gangproof.impl.profiles import INTENDED
from gangproof.impl.scores import best, independent, search_limit, totals_of
from gangproof.impl.scores.nodes import (
    balanced_allocation,
    least_allocated,
    node_affinity,
    normalised,
    reversed_normalised,
    taint_toleration,
)
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World


def scored(snapshot: Snapshot) -> list[NodeInfo]:
    return list(snapshot.nodes.values())


def feasible(snapshot: Snapshot) -> list[tuple[str, NodeInfo]]:
    return list(snapshot.nodes.items())


@pytest.mark.parametrize(
    ("raw", "plain", "reverse"),
    [
        ([0, 0], [0, 0], [100, 100]),
        ([0, 1, 3], [0, 33, 100], [100, 67, 0]),  # 100/3 = 33.3
        ([5, 5], [100, 100], [0, 0]),
        ([2, 7], [28, 100], [72, 0]),  # 200/7 = 28.6
    ],
)
def test_score_03_normalisation(raw: list[int], plain: list[int], reverse: list[int]) -> None:
    assert normalised(raw) == plain
    assert reversed_normalised(raw) == reverse


def soft(*keys: str) -> list[Taint]:
    return [Taint(key, "PreferNoSchedule") for key in keys]


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (None, [100, 67, 0]),  # raw 0, 1, 3
        (Toleration("a", "Exists"), [100, 100, 0]),  # raw 0, 0, 2
        (Toleration("a", "Exists", effect="PreferNoSchedule"), [100, 100, 0]),
        (Toleration("a", "Exists", effect="NoSchedule"), [100, 67, 0]),  # not for soft taints
        (Toleration("", "Exists"), [100, 100, 100]),
    ],
)
def test_score_04_taints(toleration: Toleration | None, expected: list[int]) -> None:
    seen = cluster(
        node("n1", taints=[Taint("z", "NoSchedule")]),  # hard taints do not count here
        node("n2", taints=soft("a")),
        node("n3", taints=soft("a", "b", "c")),
    )
    asking = pod("p", tolerations=(toleration,) if toleration else ())
    assert taint_toleration(asking, scored(seen)) == expected


def test_score_05_node_affinity() -> None:
    zone_a = NodeSelectorTerm((Requirement("zone", "In", ("a",)),))
    ssd = NodeSelectorTerm((Requirement("disk", "In", ("ssd",)),))
    nodes = [node("n1"), node("n2", zone="a"), node("n3", disk="ssd"), node("n4", zone="a", disk="ssd")]
    wishes = (
        PreferredNodes(10, zone_a),
        PreferredNodes(30, ssd),
        PreferredNodes(0, zone_a),
        PreferredNodes(99, NodeSelectorTerm()),  # an empty term matches nothing
    )
    asking = pod("p", node_affinity=NodeAffinity(preferred=wishes))
    # raw 0, 10, 30, 40
    assert node_affinity(asking, scored(cluster(*nodes))) == [0, 25, 75, 100]
    # raw 0, 10, 30: 100 · 10 / 30 = 33.3
    assert node_affinity(asking, scored(cluster(*nodes[:3]))) == [0, 33, 100]
    assert node_affinity(asking, scored(cluster(nodes[0]))) == [0]
    assert node_affinity(pod("p"), scored(cluster(*nodes))) is None


@pytest.mark.parametrize(
    ("containers", "cpu", "memory"),
    [
        ([{}], 100, 200 * MIB),
        ([{"cpu": 0, "memory": 0}], 0, 0),  # a stated 0 stays 0
        ([{"cpu": 500}], 500, 200 * MIB),
        ([{"memory": MIB}], 100, MIB),
        ([{"cpu": 500}, {}], 600, 400 * MIB),
    ],
)
def test_score_06_scoring_requests(containers: list[dict[str, int]], cpu: int, memory: int) -> None:
    total = scoring_requests([Container(requests) for requests in containers], [], {})
    assert (total.get("cpu"), total.get("memory")) == (cpu, memory)
    # the same as the first initial container, beside which nothing runs
    first = scoring_requests([Container({"cpu": 0, "memory": 0})], [Container(containers[0])], {})
    assert first.get("cpu") == containers[0].get("cpu", 100)


@pytest.mark.parametrize(
    ("at", "used", "asked", "score"),
    [
        # cpu 100·(4000−1500)/4000 = 62.5, memory 100·(8192−1536)/8192 = 81.25; (62 + 81)/2 = 71.5
        (node("n"), (1000, 1024 * MIB), (500, 512 * MIB), 71),
        # cpu is over-committed, so 0; (0 + 81)/2 = 40.5
        (node("n"), (3800, 1024 * MIB), (500, 512 * MIB), 40),
        # filled to the last unit: (0 + 0)/2
        (node("n"), (3500, 8192 * MIB), (500, 0), 0),
        # untouched: (100 + 100)/2
        (node("n"), (0, 0), (0, 0), 100),
        # a resource of which the node has nothing is left out: 81
        (node("n", cpu=0), (0, 1024 * MIB), (500, 512 * MIB), 81),
        (node("n", cpu=0, memory=0), (0, 0), (0, 0), 0),
    ],
)
def test_score_07_least_allocated(
    at: Node, used: tuple[int, int], asked: tuple[int, int], score: int
) -> None:
    seen = cluster(at, n=[pod("q", *used)])
    assert least_allocated(pod("p", *asked), seen.nodes["n"]) == score


def test_score_07_counts_scoring_requests() -> None:
    # what filters add up is 0 for both pods; cpu 100·(1000−200)/1000 = 80, memory all free; (80 + 100)/2
    silent = pod("q", scoring_requests=Table({"cpu": 100}))
    seen = cluster(node("n", cpu=1000), n=[silent])
    assert least_allocated(silent, seen.nodes["n"]) == 90


@pytest.mark.parametrize(
    ("at", "used", "asked", "score"),
    [
        # ¼ and 0: b = 87.5 → 87; with p ¼ and ¼: b = 100; 50 + (50 + 13)/2 = 50 + 31.5
        (node("n"), (1000, 0), (0, 2048 * MIB), 81),
        # ½ and 0: b = 75; 50 + (50 − 12)/2 = 69
        (node("n"), (1000, 0), (1000, 0), 69),
        # nothing changes: 50 + 50/2
        (node("n"), (0, 0), (1000, 2048 * MIB), 75),
        # used 6000 of 4000 counts as 1: b = 50; memory ½: b = 75; 50 + (50 + 25)/2 = 87.5
        (node("n"), (6000, 0), (0, 4096 * MIB), 87),
        # one resource: b = 100 both times
        (node("n", memory=0), (1000, 0), (1000, 0), 75),
        # requests neither: skipped
        (node("n"), (1000, 0), (0, 0), 0),
        # 0.68 and 0: in floating point (1 − 0.34) · 100 = 65.99999999999999, so b = 65; 50 + (50 − 35)/2
        (node("n", cpu=1000), (0, 0), (680, 0), 57),
        # 0.66 and 0: (1 − 0.33) · 100 = 67; 50 + (50 − 33)/2 = 58.5
        (node("n", cpu=1000), (0, 0), (660, 0), 58),
    ],
)
def test_score_08_balanced_allocation(
    at: Node, used: tuple[int, int], asked: tuple[int, int], score: int
) -> None:
    seen = cluster(at, n=[pod("q", *used)])
    assert balanced_allocation(pod("p", *asked), seen.nodes["n"]) == score


def test_score_08_counts_real_requests() -> None:
    asking = pod("p", scoring_requests=Table({"cpu": 100, "memory": 200 * MIB}))
    assert balanced_allocation(asking, cluster(node("n")).nodes["n"]) == 0


def test_score_02_weights() -> None:
    asking = pod(
        "p",
        labels={"app": "x"},
        node_affinity=NodeAffinity(
            preferred=(PreferredNodes(1, NodeSelectorTerm((Requirement("disk", "Exists"),))),)
        ),
        pod_affinity=preferred((1, term("zone", app="db"))),
        topology_spread_constraints=(
            TopologySpreadConstraint("zone", 1, "ScheduleAnyway", selector(app="x")),
        ),
    )
    seen = cluster(
        node("n1", zone="a", disk="ssd"),
        node("n2", zone="b", taints=soft("k")),
        n1=[pod("q", cpu=2000, labels={"app": "x"})],
        n2=[pod("r", labels={"app": "db"})],
    )
    # n1: taints 100, affinity 100, spread: raw 1.39 → 1 of most 1, least 0: 100·(1+0−1)/1 = 0, pods 0,
    #     least allocated (50 + 100)/2 = 75, balanced 0 (p requests nothing): 300 + 200 + 0 + 0 + 75
    # n2: taints 0, affinity 0, spread 100·(1+0−0)/1 = 100, pods 100, least allocated 100: 200 + 200 + 100
    assert totals_of(asking, feasible(seen), seen, Settings()) == [575, 500]


def choose(asking: Pod, seen: Snapshot, settings: Settings | None = None) -> tuple[str, ...]:
    return best(asking, feasible(seen), len(seen.nodes), seen, settings or Settings()).nodes


def test_score_01_highest_total_wins_and_ties_stay_open() -> None:
    seen = cluster(node("n1"), node("n2"), node("n3"), n1=[pod("q", cpu=1000)])
    assert choose(pod("p", cpu=100), seen) == ("n2", "n3")
    assert choose(pod("p", cpu=100), cluster(node("n1"))) == ("n1",)


def test_score_13_and_14_replace_the_total() -> None:
    seen = cluster(node("n1"), node("n2"), node("n3"), n1=[pod("q", cpu=3000)])
    fixed = Settings(node_scores=Table({"n1": 7, "n2": 7}))
    assert choose(pod("p", cpu=100), seen, fixed) == ("n1", "n2")
    assert choose(pod("p", cpu=100), seen, Settings(rank=True)) == ("n1",)


def test_cycle_13_the_nominated_node_is_taken_without_scores() -> None:
    seen = cluster(node("n1"), node("n2"), n1=[pod("q", cpu=3000)])
    for name, expected in (("n1", ("n1",)), ("n9", ("n2",)), (None, ("n2",))):
        asking = pod("p", cpu=1000, nominated_node_name=name)
        assert place(INTENDED, World(), Cycle(None, (asking,), snapshot=seen), asking).nodes == expected
    too_big = pod("p", cpu=2000, nominated_node_name="n1")
    assert place(INTENDED, World(), Cycle(None, (too_big,), snapshot=seen), too_big).nodes == ("n2",)


@pytest.mark.parametrize(
    ("nodes", "limit"),
    [
        (1, 1),
        (99, 99),
        (100, 100),  # 100·50/100 = 50, but at least 100
        (250, 120),  # 50 − 2 = 48 %
        (1000, 420),  # 50 − 8 = 42 %
        (5000, 500),  # 50 − 40 = 10 %
        (6000, 300),  # 50 − 48 = 2, but at least 5 %
    ],
)
def test_score_12_limit(nodes: int, limit: int) -> None:
    assert search_limit(nodes) == limit


def many(number: int, *marks: int) -> Snapshot:
    """So many nodes, the first of them with so many soft taints each."""
    taints = [soft(*(f"t{i}" for i in range(mark))) for mark in marks]
    taints += [[] for _ in range(number - len(marks))]
    return cluster(*(node(f"n{i:03}", taints=t) for i, t in enumerate(taints)))


def over_all_subsets(asking: Pod, seen: Snapshot, settings: Settings) -> tuple[str, ...]:
    """Who is best in some subset that the search may find, by trying each of them."""
    found: set[str] = set()
    for subset in combinations(feasible(seen), search_limit(len(seen.nodes))):
        totals = totals_of(asking, list(subset), seen, settings)
        found.update(name for (name, _), total in zip(subset, totals, strict=True) if total == max(totals))
    return tuple(sorted(found))


@pytest.mark.parametrize(
    ("nodes", "scores"),
    [
        (100, {"n001": 5}),  # all are found: the best wins
        (101, {"n001": 5}),  # the best may be the one left out
        (101, {"n001": 5, "n002": 4}),
        (102, {"n001": 5, "n002": 4}),
        (102, {"n001": 5, "n002": 4, "n003": 3, "n004": 3}),
        (102, {"n001": 5, "n002": 5, "n003": 5}),
    ],
)
def test_score_12_who_may_win_is_who_wins_in_some_subset(nodes: int, scores: dict[str, int]) -> None:
    seen, settings = many(nodes), Settings(node_scores=Table(scores))
    found = best(pod("p"), feasible(seen), nodes, seen, settings)
    assert found.exact
    assert found.nodes == over_all_subsets(pod("p"), seen, settings)


def test_score_12_with_raw_scores_of_one_kind() -> None:
    # 100 of 101 nodes; the only node without a soft taint is best unless it is the one left out.
    seen = many(101, *[2] * 100)
    found = best(pod("p"), feasible(seen), 101, seen, Settings())
    assert found.exact and len(found.nodes) == 101
    assert found.nodes == over_all_subsets(pod("p"), seen, Settings())


def test_score_12_scores_that_depend_on_the_nodes_found_are_not_decided() -> None:
    seen = many(101, 1, 2)
    assert not independent(pod("p"), feasible(seen), seen)
    cycle = Cycle(None, (pod("p"), pod("q")), stage="placing", snapshot=seen, taken=seen)
    worlds = try_member(INTENDED, World(cycle=cycle))
    assert {world.ghost.beyond for world in worlds} == {(EARLY_STOP,)}
    # Below 100 nodes, and where all feasible ones are found, nothing is left open.
    for small in (many(99, 1, 2), many(100, 1, 2)):
        worlds = try_member(INTENDED, World(cycle=evolve(cycle, snapshot=small, taken=small)))
        assert {world.ghost.beyond for world in worlds} == {()}
