"""Names against identities: objects are deleted and created again under their name at any moment (GC-09)."""

from __future__ import annotations

import pytest
from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.memory import Members
from gangproof.impl.objects import Job, PodGroup, PodGroupTemplate, ResourceClaim, Workload
from gangproof.impl.objects.claim import Consumer
from gangproof.impl.objects.podgroup import Condition
from gangproof.impl.profiles import INTENDED
from gangproof.impl.recreate import fresh
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.steps import BindStep, MemberEvent, MembersStep
from gangproof.impl.world import Settings, World
from gangproof.properties.check import find
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import Counterexample, Limits, explore_graph
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.quotient import compare
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.telling.frames import tell
from gangproof.properties.worlds.named import gang, node, pod, world

WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)
CHANGES = {deviation.id: deviation.change for deviation in DEVIATIONS}


def slow(obj: Object) -> Object:
    """A pod that takes its time to end."""
    return evolve(obj, termination_grace_period_seconds=1)


STRONG = evolve(pod("p", preempts=True), priority=9)
VICTIM = (node("n", 1), slow(pod("v", node="n")))
WORLDS = {
    "a gang": world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), recreations=1, kubelet=True),
    "twice": world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), recreations=2, kubelet=True),
    "slow pods": world(
        node("n", 2), gang("g", 2), slow(pod("a", "g")), slow(pod("b", "g")), recreations=1, kubelet=True
    ),
    "plain pods": world(node("n", 1), pod("a"), pod("b"), recreations=2, kubelet=True),
    "a victim": world(*VICTIM, STRONG, recreations=1, kubelet=True),
    "a victim of a group": world(
        *VICTIM, evolve(gang("g", 1), priority=9), evolve(pod("p", "g", preempts=True), priority=9),
        settings=AWARE, recreations=1, kubelet=True,
    ),
    "a job": world(node("n", 2), JOB, settings=WITH_JOBS, recreations=1, kubelet=True),
}  # fmt: skip
STATES = {
    "a gang": (55, 204),
    "twice": (223, None),
    "slow pods": (57, 210),
    "plain pods": (252, None),
    "a victim": (122, 606),
    "a victim of a group": (140, 658),
    "a job": (266, None),
}
"""Coarse, and fine where that is small enough."""
SEARCHES = [
    (name, grain, states)
    for name, both in STATES.items()
    for grain, states in zip(("coarse", "fine"), both, strict=True)
    if states is not None
]


def broken(start: World, rules: Rules, grain: str = "coarse") -> dict[str, Counterexample]:
    machine = Machine(rules, [start], "fine" if grain == "fine" else "coarse", key=Symmetry())
    found, examples = find(machine, questions(), Limits(states=20_000))
    assert found.exploration.stop == "exhausted"
    return dict(examples)


@pytest.mark.parametrize(("name", "grain", "states"), SEARCHES)
def test_every_promise_is_kept(name: str, grain: str, states: int) -> None:
    machine = Machine(INTENDED, [WORLDS[name]], "fine" if grain == "fine" else "coarse", key=Symmetry())
    found, examples = find(machine, questions(), Limits(states=20_000))
    assert (found.exploration.stop, dict(examples)) == ("exhausted", {})
    assert found.exploration.states == states
    assert not {name for state in found.graph.states for name in state.ghost.beyond}


@pytest.mark.parametrize("name", ["a gang", "slow pods", "a victim"])
def test_a_key_without_names_agrees_with_the_full_search(name: str) -> None:
    found = compare(Machine(INTENDED, [WORLDS[name]]), Symmetry(), questions())
    assert found.differences == ()


def actions(example: Counterexample) -> list[str]:
    return [str(action) for action in example.path.actions]


def test_v1_36_3_evicts_whoever_has_the_name_of_the_victim() -> None:
    """DEV-59: v is a victim, a user replaces it before the call is made, and the new v is deleted."""
    rules = profile(INTENDED, CHANGES["DEV-59"])
    found = broken(WORLDS["a victim"], rules)
    assert "INV-18" in found
    assert (
        str(found["INV-18"].violation) == "INV-18: default/v is evicted, and is not whom a cycle decided on"
    )
    assert actions(found["INV-18"])[-4:] == [
        "delete pod/default/v",
        "end pod/default/v",
        "create pod/default/v",
        "evict default/v =default/p default/p",
    ]
    assert not broken(evolve_recreations(WORLDS["a victim"], 0), rules)


def test_v1_36_3_takes_the_workload_of_an_earlier_job_for_its_own() -> None:
    """DEV-58: a Job is replaced while its Workload is there; the new one never has a group."""
    rules = profile(INTENDED, CHANGES["DEV-58"])
    found = broken(WORLDS["a job"], rules)
    assert list(found) == ["LIVE-15"]
    assert found["LIVE-15"].violation.message == "default/j has no Workload for good"
    assert actions(found["LIVE-15"]).count("create job/default/j") == 2
    assert not broken(evolve_recreations(WORLDS["a job"], 0), rules)


def evolve_recreations(start: World, number: int) -> World:
    return evolve(start, environment=evolve(start.environment, recreations=number))


def _to_whoever_is_called_so(old: BindStep) -> BindStep:
    """A bind that was meant for a pod that is gone binds the one that has its name."""

    def bind(rules: Rules, before: World, key: str, ok: bool) -> World:
        binding = before.bindings[key]
        after = old(rules, before, key, ok)
        there = after.pods.get(key)
        if ok or there is None or there.node_name is not None or key in before.assumed:
            return after
        return after.with_pod(evolve(there, node_name=binding.node, phase="Running"))

    return bind


def _never_leaves(old: MembersStep) -> MembersStep:
    """Who is gone stays in the member sets, for the next one of its name."""

    def members(sets: Members, event: MemberEvent, key: str) -> Members:
        return sets if event in ("gone", "forgotten") else old(sets, event, key)

    return members


@pytest.mark.parametrize(
    ("change", "name", "caught"),
    [
        (Change("bind", "", {"bind": _to_whoever_is_called_so}), "a gang", "INV-11"),
        (Change("members", "", {"members": _never_leaves}), "a gang", "INV-11"),
    ],
    ids=["a bind lands on the new pod", "the old pod stays a member"],
)
def test_what_compares_names_is_caught(change: Change, name: str, caught: str) -> None:
    assert caught in broken(WORLDS[name], profile(INTENDED, change))


def test_what_comes_again_is_as_a_user_made_it() -> None:
    told = Condition("True", "Scheduled")
    group = evolve(gang("g", 2), uid=7, condition=told, terminating=True)
    assert fresh(group) == gang("g", 2)
    ran = evolve(pod("a", "g", node="n"), uid=3, nominated_node_name="m", disruption_target=True)
    assert fresh(ran) == pod("a", "g")
    assert fresh(evolve(JOB, uid=9, started=True, failed=2, succeeded=(0,), suspended=False)) == JOB
    claim = ResourceClaim("default", "c")
    assert fresh(evolve(claim, uid=2, reserved_for=(Consumer("pod", "a", 1),), finalizers=("f",))) == claim
    assert fresh(node("n", 1)) == node("n", 1)
    assert isinstance(fresh(group), PodGroup)


def test_a_group_whose_workload_is_away_is_refused() -> None:
    """ADM-21, ADM-22: the Workload may be gone, or going, when the group comes; then it does not come."""
    workload = Workload("default", "w", pod_group_templates=(PodGroupTemplate("t", min_count=1),))
    referring = evolve(gang("g", 1), workload_name="w", pod_group_template_name="t")
    start = world(node("n", 1), workload, referring, pod("a", "g"), recreations=1, kubelet=True)
    found, graph = explore_graph(
        Machine(INTENDED, [start], key=Symmetry()), questions(), Limits(states=1_000)
    )
    assert (found.stop, dict(found.counterexamples), found.states) == ("exhausted", {}, 45)
    refused = {action for _, action, _ in graph.edges if action.name == "create-fails"}
    assert refused == {Action("create-fails", ("podGroup/default/g", "workload default/w not found"))}
    assert tell(*refused).text == "refuses podGroup g: workload default/w not found"
