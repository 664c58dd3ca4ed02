"""The exact placement search, against enumeration, against Z3, and on cases that a person can check."""

from __future__ import annotations

import random
from itertools import product

import pytest
import z3

from gangproof.properties.judges.exact import place


def slots(*sizes: int) -> dict[str, dict[str, int]]:
    return {f"n{i}": {"cpu": size} for i, size in enumerate(sizes, 1)}


def pods(*sizes: int) -> dict[str, dict[str, int]]:
    return {f"p{i}": {"cpu": size} for i, size in enumerate(sizes, 1)}


def fits(free, requests, allowed, nodes) -> bool:
    for node, has in free.items():
        for resource in {name for amounts in requests.values() for name in amounts}:
            need = sum(requests[pod].get(resource, 0) for pod in nodes if nodes[pod] == node)
            if need > 0 and need > has.get(resource, 0):
                return False
    return all(node in allowed.get(pod, free) for pod, node in nodes.items())


def by_enumeration(free, requests, allowed) -> int:
    best = 0
    for choice in product([None, *free], repeat=len(requests)):
        nodes = {pod: node for pod, node in zip(requests, choice, strict=True) if node is not None}
        if len(nodes) > best and fits(free, requests, allowed, nodes):
            best = len(nodes)
    return best


def by_z3(free, requests, allowed) -> int:
    solver = z3.Optimize()
    on = {(pod, node): z3.Bool(f"{pod} on {node}") for pod in requests for node in allowed.get(pod, free)}
    for pod in requests:
        solver.add(z3.PbLe([(on[p, n], 1) for p, n in on if p == pod] or [(z3.BoolVal(False), 1)], 1))
    for node, has in free.items():
        for resource, amount in has.items():
            needs = [(on[p, n], requests[p][resource]) for p, n in on if n == node and requests[p][resource]]
            if needs:
                solver.add(z3.PbLe(needs, max(0, amount)))
    goal = solver.maximize(z3.Sum([z3.If(choice, 1, 0) for choice in on.values()] or [z3.IntVal(0)]))
    assert solver.check() == z3.sat
    return solver.upper(goal).as_long()


def world(seed: int, most_nodes: int, most_pods: int):
    """Free capacities (some overcommitted), requests of a few sizes (zeros among them), allowed nodes."""
    rng = random.Random(seed)
    free = {
        f"n{i}": {"cpu": rng.randint(-1, 9), "memory": rng.randint(0, 9), "pods": rng.randint(0, 4)}
        for i in range(rng.randint(1, most_nodes))
    }
    sizes = [
        {"cpu": rng.randint(0, 6), "memory": rng.randint(0, 6), "pods": 1} for _ in range(rng.randint(1, 4))
    ]
    requests = {f"p{i}": rng.choice(sizes) for i in range(rng.randint(0, most_pods))}
    allowed = {pod: [node for node in free if rng.random() < 0.7] for pod in requests if rng.random() < 0.4}
    return free, requests, allowed


@pytest.mark.parametrize("seed", range(150))
def test_it_agrees_with_enumeration(seed: int) -> None:
    free, requests, allowed = world(seed, 3, 6)
    found = place(free, requests, allowed)
    assert found.optimal
    assert found.bound == by_enumeration(free, requests, allowed)
    assert fits(free, requests, allowed, found.nodes)


@pytest.mark.parametrize("seed", range(60))
def test_it_agrees_with_z3(seed: int) -> None:
    free, requests, allowed = world(1000 + seed, 6, 12)
    found = place(free, requests, allowed)
    assert found.optimal
    assert found.bound == by_z3(free, requests, allowed)
    assert fits(free, requests, allowed, found.nodes)


@pytest.mark.parametrize("seed", range(30))
def test_a_search_cut_short_is_never_wrong(seed: int) -> None:
    free, requests, allowed = world(2000 + seed, 4, 10)
    best = place(free, requests, allowed).bound
    for steps in range(60):
        found = place(free, requests, allowed, steps=steps)
        assert len(found.nodes) <= best <= found.bound
        assert fits(free, requests, allowed, found.nodes)
        for k in range(len(requests) + 2):
            assert found.at_least(k) in ("inconclusive", "yes" if best >= k else "no")


def test_the_bound_counts_on_pods_that_need_different_things() -> None:
    free = {"n1": {"cpu": 2, "memory": 2}}
    requests = {"a": {"cpu": 1}, "b": {"cpu": 1}, "c": {"memory": 1}, "d": {"memory": 1}}
    assert place(free, requests, steps=0).bound == place(free, requests).bound == 4


def test_it_finds_what_one_pod_at_a_time_can_miss() -> None:
    """THM-03: n1 has room for 2, n2 for 1; the pod of size 1 must leave n1 to the one of size 2."""
    found = place(slots(2, 1), pods(1, 2))
    assert found.nodes == {"p1": "n2", "p2": "n1"}
    assert found.at_least(2) == "yes"


def test_equal_pods_fill_what_each_node_holds() -> None:
    """THM-01: of pods all alike the smaller of their number and of the sum over nodes can be placed."""
    assert place(slots(7, 5, 1), pods(*[2] * 9)).bound == 3 + 2 + 0
    assert place(slots(7, 5, 1), pods(*[2] * 4)).bound == 4


def test_enough_room_in_sum_need_not_be_enough() -> None:
    found = place(slots(3, 3), pods(2, 2, 2))
    assert (found.at_least(2), found.at_least(3)) == ("yes", "no")


def test_a_small_pod_is_preferred_to_a_large_one() -> None:
    assert place(slots(4), pods(4, 1, 1, 2)).nodes.keys() == {"p2", "p3", "p4"}


def test_pod_slots_are_a_resource() -> None:
    free = {"n1": {"cpu": 100, "pods": 2}}
    assert place(free, {f"p{i}": {"cpu": 1, "pods": 1} for i in range(5)}).bound == 2


def test_allowed_nodes_are_kept_to() -> None:
    assert place(slots(9, 9), pods(1, 1), {"p1": ["n2"], "p2": []}).nodes == {"p1": "n2"}


def test_pods_that_must_share_a_node_compete() -> None:
    assert place(slots(1, 9), pods(1, 1, 1), {"p1": ["n1"], "p2": ["n1"], "p3": ["n1"]}).bound == 1


def test_a_node_has_nothing_of_what_it_does_not_name() -> None:
    assert place({"n1": {"cpu": 4}}, {"p1": {"cpu": 1, "gpu": 1}}).bound == 0


def test_a_request_of_zero_fits_an_overcommitted_node() -> None:
    free = {"n1": {"cpu": -3, "memory": 2}}
    assert place(free, {"p1": {"cpu": 0, "memory": 2}, "p2": {"cpu": 1}}).nodes == {"p1": "n1"}


def test_a_negative_request_is_refused() -> None:
    with pytest.raises(ValueError, match="p1 requests -1 of cpu"):
        place(slots(1), pods(-1))


def test_no_pods_and_no_nodes() -> None:
    assert place({}, pods(1)).at_least(1) == "no"
    assert place(slots(1), {}).at_least(0) == "yes"


def test_it_ends_early_once_enough_are_placed() -> None:
    free, requests = slots(*[10] * 6), pods(*range(1, 16))
    found = place(free, requests, enough=3)
    assert found.at_least(3) == "yes"
    assert len(found.nodes) < place(free, requests).bound


def test_the_order_in_which_things_are_given_does_not_matter() -> None:
    free, requests, _ = world(7, 5, 10)
    turned = place(dict(reversed(free.items())), dict(reversed(requests.items())))
    assert place(free, requests) == turned
    assert list(place(free, requests).nodes) == list(turned.nodes)


def test_twenty_nodes_and_twenty_pods_of_few_sizes() -> None:
    rng = random.Random(5)
    for _ in range(20):
        free = {
            f"n{i}": {"cpu": rng.randint(2, 12), "memory": rng.randint(2, 12), "pods": rng.randint(1, 3)}
            for i in range(20)
        }
        sizes = [{"cpu": rng.randint(2, 9), "memory": rng.randint(2, 9), "pods": 1} for _ in range(4)]
        assert place(free, {f"p{i}": rng.choice(sizes) for i in range(20)}).optimal


def test_the_report() -> None:
    assert str(place(slots(2, 1), pods(1, 2))) == "at most 2 placeable: p1 on n2, p2 on n1"
    assert str(place(slots(2, 1), pods(1, 2), steps=0)) == "at most between 0 and 2 placeable"
