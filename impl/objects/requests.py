"""What a pod requests, from what its containers request (FILT-09, SCORE-06)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from gangproof.impl.table import Table

# What a container that does not state its cpu (milli-CPU) or memory (bytes) counts as when nodes are scored.
UNSTATED: Mapping[str, int] = {"cpu": 100, "memory": 200 * 1024 * 1024}


@frozen
class Container:
    """The requests of one container in base units; `restartable` is an init container that keeps running."""

    requests: Mapping[str, int]
    restartable: bool = False


def pod_requests(
    containers: Iterable[Container], init_containers: Iterable[Container], overhead: Mapping[str, int]
) -> Table[int]:
    """FILT-09: what the filters add up, in base units."""
    running: dict[str, int] = {}
    for container in containers:
        _add(running, container.requests)
    staying: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in init_containers:
        if container.restartable:
            _add(staying, container.requests)
            continue
        use = dict(staying)
        _add(use, container.requests)
        for resource, amount in use.items():
            peak[resource] = max(peak.get(resource, 0), amount)
    _add(running, staying)
    for resource, amount in peak.items():
        running[resource] = max(running.get(resource, 0), amount)
    _add(running, overhead)
    return Table(running)


def scoring_requests(
    containers: Iterable[Container], init_containers: Iterable[Container], overhead: Mapping[str, int]
) -> Table[int]:
    """SCORE-06: the same, each container counting with `UNSTATED` for what it does not state."""
    return pod_requests(map(_stated, containers), map(_stated, init_containers), overhead)


def _stated(container: Container) -> Container:
    return Container({**UNSTATED, **container.requests}, container.restartable)


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for resource, amount in more.items():
        total[resource] = total.get(resource, 0) + amount
