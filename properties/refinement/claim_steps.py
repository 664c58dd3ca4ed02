"""What a step did to claims, told as actions of the contract (see `refinement`).

Each function tells one part of a step; `refinement.calls` puts them between what happens to groups, pods and nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from gangproof.spec.contract import Call
from gangproof.spec.structure import Structure


def nodes_that_changed(pre: Structure, post: Structure) -> frozenset[str]:
    """Nodes from which the devices of a claim that keeps its allocation can be reached now, or no longer."""
    if pre["reach"] == post["reach"]:
        return frozenset()
    kept = (pre["allocated"] | pre["chosen"]) & (post["allocated"] | post["chosen"])
    return frozenset(node for node, claim in pre["reach"] ^ post["reach"] if claim in kept)


def that_go(pre: Structure, post: Structure) -> Iterator[Call]:
    """Entries that are dropped, allocations that are cleared, claims that are removed."""
    if pre["reserved_pod"] is not post["reserved_pod"]:
        for claim, pod in sorted(pre["reserved_pod"] - post["reserved_pod"]):
            yield "release_pod", {"claim": claim, "pod": pod}
    if pre["reserved_group"] is not post["reserved_group"]:
        for claim, group in sorted(pre["reserved_group"] - post["reserved_group"]):
            yield "release_group", {"claim": claim, "g": group}
    for claim in sorted(pre["allocated"] - post["allocated"]):
        yield "deallocate", {"claim": claim}
    for claim in sorted(pre["claim_exists"] - post["claim_exists"]):
        yield "remove_claim", {"claim": claim}


def that_come(pre: Structure, post: Structure) -> Iterator[Call]:
    """Claims that are created, and the names of generated claims in the status of groups."""
    for claim in sorted(post["claim_exists"] - pre["claim_exists"]):
        yield "create_claim", {"claim": claim}
    if pre["named"] != post["named"]:
        gone = pre["claim_exists"] - post["claim_exists"]
        before = {
            entry for entry in pre["named"] if entry[2] not in gone and entry[0] in post["group_exists"]
        }
        for group in sorted({group for group, _, _ in before ^ post["named"]}):
            yield "name_claims", {"g": group}


def references(pre: Structure, post: Structure) -> Iterator[Call]:
    """Pods that were there and mean other claims now, or are told so by their status."""
    if pre["uses"] == post["uses"] and pre["pod_named"] == post["pod_named"]:
        return
    gone = pre["claim_exists"] - post["claim_exists"]
    told = {entry for entry in pre["pod_named"] if entry[2] not in gone}
    changed = {pod for pod, _ in pre["uses"] ^ post["uses"]} | {pod for pod, _, _ in told ^ post["pod_named"]}
    for pod in sorted(changed & pre["pod_exists"] & post["pod_exists"]):
        if pre.at("group", pod) in post["group_exists"] or pod in {
            pod for pod, _ in pre["uses"] ^ post["uses"]
        }:
            yield "refer", {"pod": pod}


def writes(pre: Structure, post: Structure) -> Iterator[Call]:
    """Allocations and entries that are written, and who does not hold a claim any more."""
    for claim in sorted(post["allocated"] - pre["allocated"]):
        devices = frozenset(device for other, device in post["device"] if other == claim)
        nodes = frozenset(node for node, other in post["reach"] if other == claim)
        yield "allocate", {"claim": claim, "devices": devices, "nodes": nodes}
    if post["reserved_pod"] is not pre["reserved_pod"]:
        for claim, pod in sorted(post["reserved_pod"] - pre["reserved_pod"]):
            yield "reserve_for_pod", {"claim": claim, "pod": pod}
    if post["reserved_group"] is not pre["reserved_group"]:
        for claim, group in sorted(post["reserved_group"] - pre["reserved_group"]):
            yield "reserve_for_group", {"claim": claim, "pod": _who_wrote(pre, post, claim, group)}
    yield from given_up(pre, post)


def given_up(pre: Structure, post: Structure) -> Iterator[Call]:
    """Claims whose status the scheduler sees anew, and those that a pod does not hold any more."""
    for claim in sorted(pre["seen_allocated"] ^ post["seen_allocated"]):
        if claim in post["claim_exists"]:
            yield "see_claim", {"claim": claim}
    for pod, claim in sorted(pre["holding"] - post["holding"]):
        if claim in post["claim_exists"]:
            yield "unreserve_claim", {"pod": pod, "claim": claim}


def _who_wrote(pre: Structure, post: Structure, claim: str, group: str) -> str:
    """A member that uses the claim on a node: whoever wrote the entry is one, and one is as good as another."""
    users = (pod for pod, other in post["uses"] if other == claim and post.at("group", pod) == group)
    placed = (pod for pod in users if pod in pre["assumed"] or pod in pre["bound"])
    return min(placed, default="")


def holds(pre: Structure, post: Structure) -> Iterator[Call]:
    """Who holds a claim from now on, with the allocation that is in flight for it."""
    for pod, claim in sorted(post["holding"] - pre["holding"]):
        devices = frozenset(device for other, device in post["device"] if other == claim)
        nodes = frozenset(node for node, other in post["reach"] if other == claim)
        yield "reserve_claim", {"pod": pod, "claim": claim, "devices": devices, "nodes": nodes}
