"""Refinement: every step of the machinery is allowed by the contract.

What a step did is read off the two abstract states, not off the step's name, and told as contract actions in
a fixed order: first what others did, then the cycle, then the queue, then the condition. The contract must
allow each in turn, and together they must lead exactly to the state that the machinery reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

from gangproof.impl.actions import Action
from gangproof.impl.world import World
from gangproof.properties.judges.remembered import latest, same
from gangproof.properties.refinement import claim_steps
from gangproof.properties.refinement.abstraction import abstract
from gangproof.properties.search.system import Violation
from gangproof.spec.contract import Call, Contract
from gangproof.spec.judging import Refusal, explain_steps
from gangproof.spec.structure import Structure

REFINEMENT = "refinement"
LABELS = ("labelled", "label")


@lru_cache(maxsize=1024)
def calls(pre: Structure, post: Structure) -> tuple[Call, ...]:
    """The contract actions that lead from one state to the other, as far as that can be seen."""
    return (
        *_nodes(pre, post),
        *claim_steps.that_go(pre, post),
        *_groups_that_come(pre, post),
        *_protection(pre, post),
        *claim_steps.that_come(pre, post),
        *_pods_that_come(pre, post),
        *claim_steps.references(pre, post),
        *claim_steps.writes(pre, post),
        *_fates(pre, post),
        *departures(pre, post),
        *_rounds_that_end(pre, post),
        *_cycle(pre, post),
        *_labels(pre, post),
        *claim_steps.holds(pre, post),
        *_queue(pre, post),
        *_nominations_that_fall(pre, post),
        *_conditions(pre, post),
    )


def refuse(pre: Structure, post: Structure, contract: Contract, restarts: bool = False) -> Refusal | None:
    """Why the contract does not allow the step; None if it does, or if nothing that it speaks of changed."""
    if pre is post:
        return None
    return explain_steps(pre, (_restart if restarts else calls)(pre, post), post, contract)


def _restart(pre: Structure, post: Structure) -> tuple[Call, ...]:
    """What a restart of the scheduler is to the contract: a cycle and what it holds are given up, memory is lost."""
    flying = pre["in_flight"] & post["pod_exists"]
    waiting, rest = flying & pre["unscheduled"], flying - pre["unscheduled"]
    nobody = frozenset[str]()
    given_up: list[Call] = []
    if waiting:
        given_up.append(
            ("give_back", {"resting": waiting, "ready": nobody, "held": nobody, "cleared": nobody})
        )
    if rest:
        given_up.append(("close", {"closed": rest}))
    return (*given_up, *claim_steps.given_up(pre, post), ("restart", {}))


BY_ANOTHERS_VIEW = {
    "release_pod": "the pod is not running",
    "release_group": "the PodGroup is gone or no member holds the claim",
    "bind": "each of its claims is reserved for it or its group",
}
"""By action: the clause of its guard that rests on what the claim controller sees, and not the scheduler."""


def late(contract: Contract) -> Contract:
    """The contract where somebody may lag: an entry of a claim may go while the scheduler sees its user run still."""
    for name, words in BY_ANOTHERS_VIEW.items():
        if any(action.name == name for action in contract.actions):
            contract = contract.with_action(contract.action(name).without(words))
    return contract


def refinement(contract: Contract) -> Any:
    """The judge of steps: the contract, `late` where somebody may lag, must allow each fine step of an action."""
    loose = late(contract)

    def judge(before: World, action: Action, after: World) -> Violation | None:
        for then, world in fine_steps(before, action, after):
            asked = loose if then.environment.lag else contract
            refusal = refuse(abstract(then), abstract(world), asked, action.name == "restart")
            if refusal is not None:
                return Violation(REFINEMENT, str(refusal), refusal)
        return None

    return judge


@latest
def fine_steps(before: World, action: Action, after: World) -> tuple[tuple[World, World], ...]:
    """The pairs of worlds that a step goes through: itself, or the steps that a coarse one is made of.

    Of equal worlds it is always the same one.
    """
    passed = [world for _, world in action.via] or [after]
    return tuple(pairwise(map(same, (before, *passed))))


def _new(pre: Structure, post: Structure, name: str) -> list[Any]:
    return sorted(post[name] - pre[name])


def _old(pre: Structure, post: Structure, name: str) -> list[Any]:
    return sorted(pre[name] - post[name])


def _at(state: Structure, name: str, thing: str) -> dict[Any, Any] | frozenset[Any]:
    """A symbol of two arguments at its first one."""
    value: Any = state[name]
    if isinstance(value, dict):
        entries = cast("dict[tuple[str, str], Any]", value)
        return {other: entry for (one, other), entry in entries.items() if one == thing}
    pairs = cast("frozenset[tuple[str, str]]", value)
    return frozenset(other for one, other in pairs if one == thing)


def _nodes(pre: Structure, post: Structure) -> Iterator[Call]:
    for node in _old(pre, post, "node_exists"):
        yield "remove_node", {"node": node}
    moved = claim_steps.nodes_that_changed(pre, post)
    if not moved and all(pre[name] == post[name] for name in ("node_exists", "capacity")):
        return
    for node in sorted(post["node_exists"]):
        if node not in pre["node_exists"] or node in moved or _changed(pre, post, node, "capacity"):
            yield "set_node", {"node": node}


def _labels(pre: Structure, post: Structure) -> Iterator[Call]:
    """Labels alone that are new to the scheduler: a cycle goes by those of its snapshot until it is over."""
    if all(pre[name] == post[name] for name in LABELS):
        return
    told = {arguments["node"] for _, arguments in _nodes(pre, post)}
    for node in sorted(post["node_exists"] - told):
        if _changed(pre, post, node, *LABELS):
            yield "set_node", {"node": node}


def _changed(pre: Structure, post: Structure, node: str, *names: str) -> bool:
    return any(_at(pre, name, node) != _at(post, name, node) for name in names)


def _groups_that_come(pre: Structure, post: Structure) -> Iterator[Call]:
    for group in _new(pre, post, "group_exists"):
        yield "create_group", {"g": group}


def _protection(pre: Structure, post: Structure) -> Iterator[Call]:
    for group in sorted(pre["group_exists"] & post["group_exists"]):
        if (group in pre["protected"]) != (group in post["protected"]):
            yield "set_protection", {"g": group}


def _pods_that_come(pre: Structure, post: Structure) -> Iterator[Call]:
    for pod in _new(pre, post, "pod_exists"):
        yield "create_pod", {"pod": pod}


def _fates(pre: Structure, post: Structure) -> Iterator[Call]:
    """What became of single pods that still exist: bound, ended, told to go, thrown back."""
    there = post["pod_exists"]
    for pod in _new(pre, post, "bound"):
        ours = pod in pre["assumed"] and pre.at("node", pod) == post.at("node", pod) and pod in post["own"]
        yield ("bind", {"pod": pod}) if ours else ("foreign_bind", {"pod": pod, "node": post.at("node", pod)})
    for pod in _new(pre, post, "succeeded"):
        yield "finish_pod", {"pod": pod}
    for pod in _new(pre, post, "failed"):
        yield "fail_pod", {"pod": pod}
    for pod in _new(pre, post, "terminating"):
        yield "delete_pod", {"pod": pod}
    for pod in _old(pre, post, "assumed"):
        if pod in there and not {pod} & (post["bound"] | post["terminating"] | post["failed"]):
            was_victim = any(victim == pod for victim, _ in pre["victim"] - post["victim"])
            yield ("send_back" if was_victim else "lose"), {"pod": pod}


def departures(pre: Structure, post: Structure) -> Iterator[Call]:
    """Who goes in a step: pods first, since a prompt controller lets a group go with the last of them."""
    for pod in _old(pre, post, "pod_exists"):
        yield "remove_pod", {"pod": pod}
    for group in _old(pre, post, "group_exists"):
        yield "remove_group", {"g": group}


def _rounds_that_end(pre: Structure, post: Structure) -> Iterator[Call]:
    sent_back = pre["assumed"] - post["assumed"]
    gone = pre["group_exists"] - post["group_exists"]
    for pod, group in _old(pre, post, "victim"):
        if (
            group not in gone
            and pod in post["pod_exists"]
            and pod not in post["terminating"]
            and pod not in sent_back
        ):
            yield "call_off", {"pod": pod, "g": group}
    for group in _old(pre, post, "round"):
        if group in post["group_exists"]:
            yield "end_round", {"g": group}


def _preemption(pre: Structure, post: Structure) -> Iterator[Call]:
    """Who is named as a victim now, and by whom, and the plan that is nominated."""
    groups: dict[str, str] = post["group"]
    named = _new(pre, post, "victim")
    for group in sorted({group for _, group in named}):
        members = [pod for pod in pre["in_flight"] if groups.get(pod) == group]
        strongest = max(sorted(members), key=lambda pod: pre["priority"].get(pod, 0), default="")
        victims = frozenset(pod for pod, other in named if other == group)
        yield "evict", {"g": group, "victims": victims, "asker": dict.fromkeys(victims, strongest)}
    plan = {
        pod
        for pod in post["nominated"]
        if pod not in pre["nominated"] or pre["nomination"][pod] != post["nomination"][pod]
    }
    if plan:
        yield "nominate", {"plan": frozenset(plan)}


def _nominations_that_fall(pre: Structure, post: Structure) -> Iterator[Call]:
    """Nominations that nothing else took away: of members that are promised, of groups below their minimum."""
    gone = set(_old(pre, post, "nominated")) & post["pod_exists"]
    gone -= post["terminating"] | (post["bound"] - pre["bound"]) | (pre["assumed"] - post["assumed"])
    gone -= pre["in_flight"] - post["in_flight"] - post["assumed"]
    if gone:
        yield "denominate", {"cleared": frozenset(gone)}


def _cycle(pre: Structure, post: Structure) -> Iterator[Call]:
    taken = frozenset(_new(pre, post, "in_flight"))
    if taken:
        heads = sorted(taken & pre["active"]) or sorted(taken)
        yield "pop", {"head": heads[0], "taken": taken}
    yield from _preemption(pre, post)
    kept = frozenset(_new(pre, post, "assumed"))
    groups: dict[str, str] = post["group"]
    for group in sorted({groups[pod] for pod in kept}):
        yield "decide", {"g": group, "kept": frozenset(pod for pod in kept if groups[pod] == group)}
    left = (frozenset(_old(pre, post, "in_flight")) & post["pod_exists"]) - kept
    returned = left & (post["active"] | post["backoff"] | post["pool"])
    if returned:
        yield (
            "give_back",
            {
                "ready": returned & post["active"],
                "resting": returned & post["backoff"],
                "held": returned & post["pool"],
                "cleared": returned & frozenset(_old(pre, post, "nominated")),
            },
        )
    if left - returned:
        yield "close", {"closed": left - returned}
    seen = frozenset(_old(pre, post, "overlooked"))
    if seen:
        yield "look", {"seen": seen}


def _queue(pre: Structure, post: Structure) -> Iterator[Call]:
    """Moves within the queue; a pod that just came stands in the pool first."""
    waiting = (pre["pool"] | (post["pod_exists"] - pre["pod_exists"])) & post["unscheduled"]
    ready = post["active"] & (waiting | pre["backoff"]) - pre["active"]
    resting = post["backoff"] & waiting - pre["backoff"]
    if ready or resting:
        yield "enqueue", {"ready": frozenset(ready), "resting": frozenset(resting)}
    held = post["pool"] & (pre["active"] | pre["backoff"]) - pre["pool"]
    if held:
        yield "hold", {"held": frozenset(held)}


def _conditions(pre: Structure, post: Structure) -> Iterator[Call]:
    for group in sorted(post["group_exists"]):
        for name, decided in (("scheduled_true", True), ("scheduled_false", False)):
            if group in post[name] and group not in pre[name]:
                yield "write_condition", {"g": group, "decided": decided}
