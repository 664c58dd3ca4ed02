"""What a pod requests: FILT-09 and SCORE-06."""

from gangproof.impl.objects.requests import UNSTATED, Container, pod_requests, scoring_requests
from gangproof.impl.table import Table


def test_containers_add_up() -> None:
    assert pod_requests([Container({"cpu": 1}), Container({"cpu": 2, "gpu": 1})], [], {}) == Table(
        {"cpu": 3, "gpu": 1}
    )


def test_the_largest_init_container_counts_if_it_is_larger() -> None:
    init = [Container({"cpu": 5}), Container({"cpu": 4, "memory": 7})]
    assert pod_requests([Container({"cpu": 3})], init, {}) == Table({"cpu": 5, "memory": 7})
    assert pod_requests([Container({"cpu": 6})], init, {}) == Table({"cpu": 6, "memory": 7})


def test_restartable_init_containers_stay() -> None:
    sidecar = Container({"cpu": 2}, restartable=True)
    assert pod_requests([Container({"cpu": 3})], [sidecar], {}) == Table({"cpu": 5})


def test_an_init_container_runs_beside_the_restartable_ones_before_it_only() -> None:
    sidecar = Container({"cpu": 2}, restartable=True)
    large = Container({"cpu": 4})
    assert pod_requests([Container({"cpu": 1})], [sidecar, large], {}) == Table({"cpu": 6})
    assert pod_requests([Container({"cpu": 1})], [large, sidecar], {}) == Table({"cpu": 4})


def test_overhead_comes_on_top() -> None:
    assert pod_requests([Container({"cpu": 1})], [Container({"cpu": 3})], {"cpu": 1, "memory": 2}) == Table(
        {"cpu": 4, "memory": 2}
    )


def test_scoring_counts_a_default_for_what_is_not_stated() -> None:
    both = [Container({}), Container({"cpu": 0, "memory": 1})]
    assert scoring_requests(both, [], {}) == Table({"cpu": UNSTATED["cpu"], "memory": UNSTATED["memory"] + 1})
    assert UNSTATED == {"cpu": 100, "memory": 209715200}


def test_scoring_counts_init_containers_with_the_default_too() -> None:
    assert scoring_requests([Container({"cpu": 1, "memory": 1})], [Container({})], {}) == Table(UNSTATED)
