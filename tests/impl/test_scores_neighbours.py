"""SCORE-09 and SCORE-10: spreading and preferred neighbours, worked on paper from the rules."""

from __future__ import annotations

import pytest
from attrs import evolve
from clusters import HOST, cluster, node, pod, preferred, required, selector, term

from gangproof.impl.cycle_state import Snapshot
from gangproof.impl.objects import NodeAffinity, NodeSelectorTerm, Pod, Requirement, TopologySpreadConstraint
from gangproof.impl.scores.interpod import inter_pod_affinity
from gangproof.impl.scores.spread import pod_topology_spread

X = {"app": "x"}


def evenly(key: str, skew: int = 1, **other: object) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(key, skew, "ScheduleAnyway", **{"selector": selector(app="x"), **other})  # pyright: ignore[reportArgumentType]


def spread(
    seen: Snapshot, *constraints: TopologySpreadConstraint, only: str = "", **other: object
) -> list[int] | None:
    """The scores of the named nodes, of all by default."""
    asking = pod("p", labels=X, topology_spread_constraints=constraints, **other)
    infos = [info for name, info in seen.nodes.items() if not only or name in only.split()]
    return pod_topology_spread(asking, infos, seen.nodes)


def xs(number: int, prefix: str) -> list[Pod]:
    return [pod(f"{prefix}{i}", labels=X) for i in range(number)]


ZONED = (node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"))


@pytest.mark.parametrize(
    ("skew", "expected"),
    [
        # 3 in a, 1 in b; w = ln 4 = 1.386; raw 4.16 → 4 and 1; 100·(4+1−4)/4 and 100·(4+1−1)/4
        (1, [25, 25, 100]),
        # raw 6.16 → 6 and 3.39 → 3; 100·(6+3−6)/6 = 50
        (3, [50, 50, 100]),
    ],
)
def test_score_09_by_zone(skew: int, expected: list[int]) -> None:
    seen = cluster(*ZONED, n1=xs(2, "a"), n2=xs(1, "b"), n3=xs(1, "c"))
    assert spread(seen, evenly("zone", skew)) == expected


def test_score_09_by_host() -> None:
    # 2, 1, 1; w = ln 5 = 1.609; raw 3.22 → 3 and 2; 100·(3+2−3)/3 = 66.7
    seen = cluster(*ZONED, n1=xs(2, "a"), n2=xs(1, "b"), n3=xs(1, "c"))
    assert spread(seen, evenly(HOST)) == [66, 100, 100]


def test_score_09_nodes_that_share_a_host_name_are_counted_one_by_one() -> None:
    # three nodes, so w = ln 5 as above, not ln 3; and each has its own pods
    same = [evolve(each, labels=each.labels.put(HOST, "h")) for each in ZONED]
    seen = cluster(*same, n1=xs(2, "a"), n2=xs(1, "b"), n3=xs(1, "c"))
    assert spread(seen, evenly(HOST)) == [66, 100, 100]


def test_score_09_size_is_that_of_the_scored_nodes_and_counts_are_of_all() -> None:
    seen = cluster(*ZONED, node("n4", zone="c"), n1=xs(1, "a"), n2=xs(5, "b"), n3=xs(2, "c"), n4=xs(9, "d"))
    # n1 and n3 are scored: two zones, w = ln 4; 6 in a: 8.32 → 8; 2 in b: 2.77 → 3; 100·(8+3−8)/8 = 37.5
    assert spread(seen, evenly("zone"), only="n1 n3") == [37, 100]
    # by host: w = ln 4; 1: 1.39 → 1; 2: 2.77 → 3; 100·(3+1−3)/3 = 33.3
    assert spread(seen, evenly(HOST), only="n1 n3") == [100, 33]


def test_score_09_nothing_and_nobody() -> None:
    seen = cluster(*ZONED, node("n4"), n4=xs(3, "a"))
    # raw 0 everywhere: 100; n4 lacks the key: ignored
    assert spread(seen, evenly("zone")) == [100, 100, 100, 0]
    assert spread(seen, evenly("rack")) == [0, 0, 0, 0]
    # two constraints: n4 is ignored for both, and so are its pods
    assert spread(seen, evenly("zone"), evenly(HOST)) == [100, 100, 100, 0]
    assert spread(seen) is None
    hard = TopologySpreadConstraint("zone", 1, "DoNotSchedule", selector(app="x"))
    assert spread(seen, hard) is None


def test_score_09_two_constraints_add_up() -> None:
    # zone a: 2, b: 1, w = ln 4; host 2, 0, 1, w = ln 5
    # n1: 2.77 + 3.22 = 5.99 → 6; n2: 2.77 → 3; n3: 1.39 + 1.61 = 3.0 (2.996) → 3
    # most 6, least 3: 100·3/6 = 50, 100, 100
    seen = cluster(*ZONED, n1=xs(2, "a"), n3=xs(1, "c"))
    assert spread(seen, evenly("zone"), evenly(HOST)) == [50, 100, 100]


def test_score_09_who_counts() -> None:
    strangers = [
        pod("q", labels=X, terminating=True),
        pod("r", labels=X, namespace="other"),
        pod("s", labels={"app": "y"}),
    ]
    assert spread(cluster(*ZONED, n1=strangers), evenly("zone")) == [100, 100, 100]
    seen = cluster(*ZONED, n1=xs(1, "a"))
    # raw 1 and 0
    assert spread(seen, evenly("zone")) == [0, 0, 100]
    assert spread(seen, evenly("zone", selector=None)) == [100, 100, 100]
    assert spread(seen, evenly("zone", selector=selector())) == [100, 100, 100]


def test_score_09_inclusion_policies_decide_for_domains_not_for_hosts() -> None:
    no_n2 = NodeAffinity(required=(NodeSelectorTerm((Requirement(HOST, "NotIn", ("n2",)),)),))
    seen = cluster(*ZONED, n2=xs(3, "a"))
    # n2 is not eligible, so nobody counts in a
    assert spread(seen, evenly("zone"), only="n1 n3", node_affinity=no_n2) == [100, 100]
    ignoring = evenly("zone", node_affinity_policy="Ignore")
    # 3 in a: raw 4.16 → 4, b: 0
    assert spread(seen, ignoring, only="n1 n3", node_affinity=no_n2) == [0, 100]
    assert spread(seen, evenly(HOST), only="n1 n2", node_affinity=no_n2) == [100, 0]


DB, WEB, MINE = {"app": "db"}, {"app": "web"}, {"app": "p"}
PLACES = (node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"))


def pulled(asking: Pod, seen: Snapshot) -> list[int] | None:
    return inter_pod_affinity(asking, list(seen.nodes.values()), seen)


def test_score_10_own_preferences() -> None:
    asking = pod(
        "p",
        pod_affinity=preferred((50, term("zone", app="db"))),
        pod_anti_affinity=preferred((20, term(HOST, app="web"))),
    )
    # n1: 50; n2: 50 − 20 = 30; n3: 0
    seen = cluster(*PLACES, n1=[pod("q", labels=DB)], n2=[pod("r", labels=WEB)])
    assert pulled(asking, seen) == [100, 60, 0]
    # each matching pod counts: n1 100, n2 80, n3 0
    seen = cluster(*PLACES, n1=[pod("q", labels=DB), pod("s", labels=DB)], n2=[pod("r", labels=WEB)])
    assert pulled(asking, seen) == [100, 80, 0]


def test_score_10_the_terms_of_others() -> None:
    asking = pod("p", labels=MINE)
    wants = pod("q", pod_affinity=required(term("zone", app="p")))  # n1, n2: + 1
    likes = pod("r", pod_affinity=preferred((2, term(HOST, app="p"))))  # n2: + 2
    shuns = pod("s", pod_anti_affinity=preferred((3, term("zone", app="p"))))  # n3: − 3
    never = pod("t", pod_anti_affinity=required(term(HOST, app="nobody")))  # required: no score
    # raw 1, 3, −3: (1 + 3)/6 = 0.667, 1, 0
    assert pulled(asking, cluster(*PLACES, n1=[wants], n2=[likes], n3=[shuns, never])) == [66, 100, 0]
    assert pulled(pod("p", labels=WEB), cluster(*PLACES, n1=[wants], n2=[likes])) is None
    # own required terms do not score, those of others about the pod do
    own = pod("p", pod_affinity=required(term("zone", app="db")))
    assert pulled(own, cluster(*PLACES, n1=[pod("q", labels=DB)])) is None


def test_score_10_nothing_to_tell_them_apart() -> None:
    everywhere = pod("p", pod_affinity=preferred((5, term("region", app="db"))))
    nodes = [node("n1", region="r"), node("n2", region="r")]
    assert pulled(everywhere, cluster(*nodes, n1=[pod("q", labels=DB)])) == [0, 0]
    assert pulled(everywhere, cluster(*nodes)) is None
    assert pulled(everywhere, cluster(node("n1"), n1=[pod("q", labels=DB)])) is None  # the key is missing


def test_score_10_the_quotient_comes_first() -> None:
    # raw 100, 29, 0: in floating point 29/100 · 100 = 28.999999999999996
    asking = pod("p", pod_affinity=preferred((100, term(HOST, app="db")), (29, term(HOST, app="web"))))
    seen = cluster(*PLACES, n1=[pod("q", labels=DB)], n2=[pod("r", labels=WEB)])
    assert pulled(asking, seen) == [100, 28, 0]
