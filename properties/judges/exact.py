"""The most pods that any placement can place: an exact answer to hold the scheduler's against.

The scheduler places pods one after another and never takes one back, so it can miss a placement that exists.
Whether one exists is a question of its own, and is answered here from plain numbers, by a method that shares
nothing with the scheduler's: node by node instead of pod by pod, every choice tried.

Pods with equal requests and equal nodes are of one kind, and a node takes a number of each kind. Some best
placement fills every node until nothing that is left fits there, since a pod may always be moved to an
earlier node with room for it; so only such fillings are tried. What is left after the first i nodes decides
how many were placed, so that no rest is looked at twice at the same node.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from attrs import frozen

Amounts = Mapping[str, int]
Answer = Literal["yes", "no", "inconclusive"]


@frozen
class Placement:
    """The best placement found: pods to nodes, and `bound`, a number that no placement can exceed."""

    nodes: Mapping[str, str]
    bound: int

    @property
    def optimal(self) -> bool:
        """Whether no placement places more; otherwise the search was cut short."""
        return len(self.nodes) == self.bound

    def at_least(self, k: int) -> Answer:
        """Whether some placement places k pods or more."""
        if len(self.nodes) >= k:
            return "yes"
        return "no" if self.bound < k else "inconclusive"

    def __str__(self) -> str:
        pods = ", ".join(f"{pod} on {node}" for pod, node in self.nodes.items())
        count = str(self.bound) if self.optimal else f"between {len(self.nodes)} and {self.bound}"
        return f"at most {count} placeable" + (f": {pods}" if pods else "")


def place(
    free: Mapping[str, Amounts],
    requests: Mapping[str, Amounts],
    allowed: Mapping[str, Collection[str]] | None = None,
    *,
    enough: int | None = None,
    steps: int = 200_000,
) -> Placement:
    """The largest placement of the pods, at most one node each, that fits every node in every resource.

    `free` is what each node has left and `requests` what each pod asks for, in the same units; a pod slot is
    a resource like any other (`pods: 1`). What a node does not name it has none of; a request of zero always
    fits. `allowed` names the nodes that a pod may go to, all of them if the pod is not in it. The search ends
    early once `enough` pods are placed, and unfinished after so many steps (a step adds pods of a kind to a
    node); then the bound says what is still open. Raises ValueError on a negative request.
    """
    problem = _problem(free, requests, allowed or {})
    found, bound = _search(problem, len(requests) if enough is None else enough, steps)
    members = [list(kind.pods) for kind in problem.kinds]
    nodes: dict[str, str] = {}
    for (node, kind), count in zip(problem.pairs, found, strict=False):
        nodes.update((members[kind].pop(0), problem.nodes[node]) for _ in range(count))
    return Placement({pod: nodes[pod] for pod in sorted(nodes)}, bound)


_Numbers = tuple[int, ...]


@frozen
class _Kind:
    """Pods that nothing tells apart: what each needs, and the nodes where one fits."""

    need: _Numbers
    allowed: frozenset[int]
    pods: tuple[str, ...]

    def most(self, room: _Numbers) -> int:
        """How many fit into the room, on a node where one fits; all of them if they need nothing."""
        return min(
            (has // need for has, need in zip(room, self.need, strict=True) if need),
            default=len(self.pods),
        )


@frozen
class _Problem:
    """Nodes and kinds by number. `pairs` are the choices in the order in which they are made: node by node,
    each kind that fits there. `later[i]` sums up the nodes from i on: the room, the most pods of each kind by
    itself, the most pods."""

    nodes: tuple[str, ...]
    rooms: tuple[_Numbers, ...]
    kinds: tuple[_Kind, ...]
    pairs: tuple[tuple[int, int], ...]
    later: tuple[tuple[_Numbers, _Numbers, int], ...]

    def bound(self, node: int, left: _Numbers) -> int:
        """No more pods of those left than this fit on the nodes from this one on."""
        room, most, pods = self.later[node]
        counts = [min(a, b) for a, b in zip(left, most, strict=True)]
        return min(pods, _fit(self.kinds, counts, room))


def _fit(kinds: Sequence[_Kind], counts: Sequence[int], room: _Numbers) -> int:
    """No more pods fit into the room than this, with so many of each kind: the smallest first."""
    best = sum(counts)
    for resource, has in enumerate(room):
        fit = 0
        for need, count in sorted((kind.need[resource], n) for kind, n in zip(kinds, counts, strict=True)):
            number = min(count, has // need) if need else count
            fit, has = fit + number, has - number * need
            if number < count:
                break
        best = min(best, fit)
    return best


def _problem(
    free: Mapping[str, Amounts], requests: Mapping[str, Amounts], allowed: Mapping[str, Collection[str]]
) -> _Problem:
    for pod, amounts in requests.items():
        for resource, amount in amounts.items():
            if amount < 0:
                raise ValueError(f"{pod} requests {amount} of {resource}; a request is at least 0")
    resources = sorted({name for amounts in requests.values() for name, amount in amounts.items() if amount})
    rooms = {node: tuple(free[node].get(resource, 0) for resource in resources) for node in free}
    nodes = sorted(free, key=lambda node: (rooms[node], node))
    alike: dict[tuple[_Numbers, frozenset[int]], list[str]] = {}
    for pod in sorted(requests):
        need = tuple(requests[pod].get(resource, 0) for resource in resources)
        fits = frozenset(
            number
            for number, node in enumerate(nodes)
            if node in allowed.get(pod, free)
            and all(n == 0 or n <= has for n, has in zip(need, rooms[node], strict=True))
        )
        if fits:
            alike.setdefault((need, fits), []).append(pod)
    kinds = [_Kind(need, fits, tuple(pods)) for (need, fits), pods in alike.items()]
    kinds.sort(key=lambda kind: (kind.need, kind.pods), reverse=True)
    return _Problem(
        nodes=tuple(nodes),
        rooms=tuple(rooms[node] for node in nodes),
        kinds=tuple(kinds),
        pairs=tuple(
            (node, number)
            for node in range(len(nodes))
            for number, kind in enumerate(kinds)
            if node in kind.allowed
        ),
        later=_later([rooms[node] for node in nodes], kinds, len(resources)),
    )


def _later(
    rooms: Sequence[_Numbers], kinds: Sequence[_Kind], width: int
) -> tuple[tuple[_Numbers, _Numbers, int], ...]:
    later = [((0,) * width, (0,) * len(kinds), 0)]
    for node, free in reversed(list(enumerate(rooms))):
        room, most, pods = later[-1]
        here = tuple(max(0, has) for has in free)
        fits = tuple(kind.most(here) if node in kind.allowed else 0 for kind in kinds)
        later.append(
            (
                tuple(a + b for a, b in zip(room, here, strict=True)),
                tuple(a + b for a, b in zip(most, fits, strict=True)),
                pods + _fit(kinds, fits, here),
            )
        )
    return tuple(reversed(later))


def _search(problem: _Problem, enough: int, steps: int) -> tuple[_Numbers, int]:
    """The best choices found, a number of pods for each of the first pairs, and a bound on any sum."""
    kinds, end = problem.kinds, len(problem.nodes)
    node_at = (*(node for node, _ in problem.pairs), end)
    here = [[kind for at, kind in problem.pairs if at == node] for node in range(end)]
    everyone = tuple(len(kind.pods) for kind in kinds)
    best: _Numbers = ()
    placed = 0
    seen: set[tuple[int, _Numbers]] = set()
    stack: list[tuple[_Numbers, _Numbers, _Numbers]] = [((), everyone, ())]

    def reach(chosen: _Numbers, left: _Numbers) -> int:
        return sum(chosen) + problem.bound(node_at[len(chosen)], left)

    while stack and steps > 0 and placed < enough:
        steps -= 1
        chosen, left, room = stack.pop()
        at = len(chosen)
        node = node_at[at]
        if at == 0 or node_at[at - 1] != node:
            if sum(chosen) > placed:
                best, placed = chosen, sum(chosen)
            if (node, left) in seen or reach(chosen, left) <= placed:
                continue
            seen.add((node, left))
            room = problem.rooms[node]
        _, number = problem.pairs[at]
        kind = kinds[number]
        for count in range(min(left[number], kind.most(room)) + 1):
            rest = (*left[:number], left[number] - count, *left[number + 1 :])
            space = tuple(has - count * need for has, need in zip(room, kind.need, strict=True))
            filled = node_at[at + 1] != node
            if not filled or not any(rest[other] and kinds[other].most(space) for other in here[node]):
                stack.append(((*chosen, count), rest, space))
    return best, max([placed, *(reach(chosen, left) for chosen, left, _ in stack)])
