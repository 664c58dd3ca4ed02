"""Members that want to be near each other, or apart: what one pass over them, in order, does not see."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attrs import evolve

from gangproof.impl.objects import LabelSelector, Pod, PodAffinity, PodAffinityTerm, Requirement
from gangproof.impl.profiles import INTENDED, V1_36_3
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.properties.theorems.theorem import (
    Answer,
    Case,
    Refutation,
    Theorem,
    decisions,
    first,
    kept,
    verdict,
)
from gangproof.properties.worlds.named import HOSTNAME, gang, node, pod

LABELS = Table({"app": "x"})
TO_X = PodAffinity(
    required=(
        PodAffinityTerm(
            HOSTNAME, LabelSelector((Requirement("app", "In", ("x",)),)), namespaces=("default",)
        ),
    )
)


def _member(labelled: bool, near: bool, apart: bool) -> Pod:
    return evolve(
        pod("p", "g1"),
        labels=LABELS if labelled else Table(),
        pod_affinity=TO_X if near else PodAffinity(),
        pod_anti_affinity=TO_X if apart else PodAffinity(),
    )


def _cases(kinds: list[Pod]) -> Iterator[Case]:
    for nodes in (combo for number in (1, 2) for combo in product((1, 2, 3), repeat=number)):
        for members in (combo for number in (1, 2, 3) for combo in product(kinds, repeat=number)):
            yield Case(
                (
                    *(node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1)),
                    gang("g1", len(members)),
                    *(evolve(member, name=f"p{i}") for i, member in enumerate(members, 1)),
                )
            )


def apart_cases() -> Iterator[Case]:
    """Up to two nodes of 1 to 3 CPUs, all of up to three members needed; each with the label or not, and keeping
    away from it or not."""
    return _cases([_member(labelled, False, apart) for labelled, apart in product((False, True), repeat=2)])


def near_cases() -> Iterator[Case]:
    """The same with members that each want to be near the label or not."""
    return _cases([_member(labelled, near, False) for labelled, near in product((False, True), repeat=2)])


def _at_odds(case: Case, nodes: dict[str, str]) -> str | None:
    """Two pods on one node of which one keeps away from the other, read off their labels and terms."""
    for one, other in product(case.pods, repeat=2):
        if one.key == other.key or nodes.get(one.key) is None or nodes.get(one.key) != nodes.get(other.key):
            continue
        if one.pod_anti_affinity.required and other.labels == LABELS:
            return f"{one.name} keeps away from {other.name}, and both are placed on {nodes[one.key]}"
    return None


def at_odds(rules: Rules) -> Answer:
    """THM-05: the first world in which members are kept that must not be together."""

    def refutes(case: Case) -> Refutation | None:
        for path in decisions(case.world(rules), rules):
            cycle = verdict(path)
            wrong = _at_odds(case, kept(cycle)) if cycle.code == "Success" else None
            if wrong is not None:
                return path, wrong
        return None

    return first(apart_cases(), refutes)


def _placeable(case: Case) -> bool:
    """Whether all members fit somewhere with each wish granted, by trying every placement."""
    names = [each.name for each in case.nodes]
    rooms = {each.name: each.allocatable["cpu"] // 1000 for each in case.nodes}
    for choice in product(names, repeat=len(case.pods)):
        if any(choice.count(name) > rooms[name] for name in names):
            continue
        if all(
            not member.pod_affinity.required
            or any(
                place == there and other.labels == LABELS
                for other, there in zip(case.pods, choice, strict=True)
            )
            for member, place in zip(case.pods, choice, strict=True)
        ):
            return True
    return False


def never_near() -> Answer:
    """THM-06: the first group that fits with every wish granted, and that no way of any cycle places."""

    def refutes(case: Case) -> Refutation | None:
        if not _placeable(case):
            return None
        ends = list(decisions(case.world()))
        if not ends or any(verdict(path).code == "Success" for path in ends):
            return None
        return ends[
            0
        ], f"{len(kept(verdict(ends[0])))} of {len(case.pods)} members are placed, although all fit"

    return first(near_cases(), refutes)


def wishes_first() -> Answer:
    """THM-06, for every cluster: whether a gang whose first member waits for the second is ever placed."""
    one, two = _member(False, True, False), _member(True, False, False)

    def refutes(case: Case) -> Refutation | None:
        placed = [path for path in decisions(case.world()) if verdict(path).code == "Success"]
        return (placed[0], "both members are placed") if placed else None

    clusters = [
        (*(node(f"n{i}", cpu) for i, cpu in enumerate(nodes, 1)), *running)
        for nodes in (combo for number in (0, 1, 2, 3) for combo in product((1, 2, 3), repeat=number))
        for running in ([(), (pod("q", node="n1"),)] if nodes else [()])
    ]
    members = (evolve(one, name="p1"), evolve(two, name="p2"))
    return first((Case((*there, gang("g1", 2), *members)) for there in clusters), refutes)


THEOREMS = (
    Theorem(
        "THM-05",
        "kept members may be together",
        "On Success no kept member is where another one keeps it away (anti-affinity).",
        "up to two nodes of 1 to 3 CPUs, gangs of up to three members, all needed, each with the label or not and "
        "keeping away from it or not, every tie",
        "refuted",
        lambda: at_odds(V1_36_3),
        profile="v1.36.3",
    ),
    Theorem(
        "THM-05",
        "kept members may be together, as intended",
        "The same where the indexes of the snapshot know of members assumed in the cycle (without DEV-02).",
        "the same worlds",
        "shown",
        lambda: at_odds(INTENDED),
    ),
    Theorem(
        "THM-06",
        "a group that fits is placed some time",
        "If all members fit with each of their wishes to be near another one granted, some way of trying them "
        "places them. (The order of members never changes, so what one cycle misses in every way, all miss.)",
        "up to two nodes of 1 to 3 CPUs, gangs of up to three members, all needed, each with the label or not and "
        "wanting to be near it or not, every tie",
        "refuted",
        never_near,
    ),
    Theorem(
        "THM-06",
        "who wishes first is never placed",
        "A gang of two whose first member wants to be near the second, and does not meet its own wish, is placed "
        "by no cycle in any cluster where nobody else meets it.",
        "up to three nodes of 1 to 3 CPUs, with and without another pod, every tie",
        "shown",
        wishes_first,
    ),
)
