"""Strongly connected components: where a run that goes on for ever ends up.

A component that no step leaves is a place from which a run does not come back. Quiescence and livelock are
both said in these terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def components(size: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """For each of the `size` nodes the number of its strongly connected component (Tarjan, without recursion).

    Numbers count from 0 so that every edge leads to a component of the same or a lower number.
    """
    following: list[list[int]] = [[] for _ in range(size)]
    for source, target in edges:
        following[source].append(target)
    found = [-1] * size
    index, low = [-1] * size, [0] * size
    stack: list[int] = []
    counter = number = 0
    for root in range(size):
        if index[root] != -1:
            continue
        index[root] = low[root] = counter
        counter += 1
        stack.append(root)
        path = [(root, 0)]
        while path:
            node, position = path.pop()
            if position < len(following[node]):
                path.append((node, position + 1))
                target = following[node][position]
                if index[target] == -1:
                    index[target] = low[target] = counter
                    counter += 1
                    stack.append(target)
                    path.append((target, 0))
                elif found[target] == -1:
                    low[node] = min(low[node], index[target])
                continue
            if low[node] == index[node]:
                while True:
                    member = stack.pop()
                    found[member] = number
                    if member == node:
                        break
                number += 1
            if path:
                parent = path[-1][0]
                low[parent] = min(low[parent], low[node])
    return found


def final(found: Sequence[int], edges: Iterable[tuple[int, int]]) -> frozenset[int]:
    """The components that no edge leaves."""
    left = {found[source] for source, target in edges if found[source] != found[target]}
    return frozenset(set(found) - left)
