"""INV-30 to INV-35 and LIVE-15: each is kept, and by a mistake of the API server or the controller broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from gangproof.impl.actions import Action
from gangproof.impl.api import update, write_status
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.objects import Job, Pod, PodGroup, PodGroupClaim, PodGroupTemplate, Workload
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.steps import AdmissionStep, GateStep, RegistryStep
from gangproof.impl.table import Table
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.judges.neutrality import neutral
from gangproof.properties.judges.stored import spec_kept
from gangproof.properties.search.explore import Limits, explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import NAMED, gang, node, pod, world

CHANGES = {deviation.id: deviation.change for deviation in DEVIATIONS}
WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)
LIMITS = Limits(states=10_000)
WORKLOAD = Workload("default", "w", pod_group_templates=(PodGroupTemplate("t", min_count=2),))
REFERRING = evolve(gang("g", 2), workload_name="w", pod_group_template_name="t")


def changed(**wraps: Callable[[Any], Any]) -> Rules:
    return profile(INTENDED, Change("x", "a mistake", wraps))


def nothing_is_refused(_: AdmissionStep) -> AdmissionStep:
    def admission(world: World, obj: Object, old: Object | None) -> None:
        return None

    return admission


def takes_all(_: RegistryStep) -> RegistryStep:
    def registry(stored: Object, written: Object) -> Object:
        return stored

    return registry


def holding(whom: Callable[[World, Pod], bool]) -> Callable[[GateStep], GateStep]:
    """A PreEnqueue that holds these pods back."""

    def change(old: GateStep) -> GateStep:
        def gate(rules: Rules, world: World, pod: Pod) -> tuple[str, ...]:
            return ("GangScheduling",) if whom(world, pod) else old(rules, world, pod)

        return gate

    return change


def broken(start: World, rules: Rules) -> set[str]:
    found = explore(Machine(rules, [start]), questions(), LIMITS)
    assert found.stop == "exhausted"
    return set(found.counterexamples)


def test_a_status_write_that_takes_over_the_spec() -> None:
    """INV-30: the registry stores the writer's object and not its status alone."""
    before = World(groups=Table({"default/g": evolve(gang("g", 2), uid=1)}), births=1)
    written = evolve(before.groups["default/g"], min_count=1)
    for rules, breaks in ((INTENDED, False), (changed(registry=takes_all), True)):
        after = write_status(rules, before, written)
        assert (spec_kept(before, Action("write"), after) is not None) is breaks


def test_what_may_change_of_a_group() -> None:
    """INV-30: its labels and its status; and another object of its name has a spec of its own."""
    before = World(groups=Table({"default/g": evolve(gang("g", 2), uid=1)}), births=1)
    labelled = update(INTENDED, before, evolve(before.groups["default/g"], labels=Table({"a": "b"})))
    again = evolve(before, groups=Table({"default/g": evolve(gang("g", 1), uid=2)}))
    for after in (labelled, again):
        assert after.groups != before.groups
        assert spec_kept(before, Action("update"), after) is None


CLAIMS = tuple(PodGroupClaim(f"c{number}", resource_claim_name="c") for number in range(5))


@pytest.mark.parametrize(
    "beyond",
    [
        evolve(gang("g", 2), min_count=0),
        evolve(gang("g", 2), topology_keys=("zone", "rack")),
        evolve(gang("g", 2), resource_claims=CLAIMS),
        evolve(gang("g", 2), priority=1_000_000_001),
        evolve(WORKLOAD, pod_group_templates=tuple(PodGroupTemplate(f"t{n}") for n in range(9))),
        evolve(WORKLOAD, pod_group_templates=(PodGroupTemplate("t", min_count=0),)),
    ],
)
def test_an_api_server_that_refuses_nothing(beyond: PodGroup | Workload) -> None:
    """INV-31: each limit by itself."""
    gates = evolve(
        SCENARIO_GATES, topology_aware_workload_scheduling=True, workload_aware_preemption=True,
        dra_workload_resource_claims=True,
    )  # fmt: skip
    start = world(node("n", 1), beyond, settings=Settings(gates=gates))
    assert "INV-31" in broken(start, changed(admission=nothing_is_refused))


def test_an_object_at_each_limit_is_within_them() -> None:
    """INV-31."""
    at_the_limit = evolve(
        gang("g", 1), topology_keys=("zone",), resource_claims=CLAIMS[:4], priority=1_000_000_000
    )
    templates = tuple(PodGroupTemplate(f"t{number}", min_count=1) for number in range(8))
    start = world(node("n", 1), evolve(WORKLOAD, pod_group_templates=templates), at_the_limit)
    assert broken(start, INTENDED) == set()


@pytest.mark.parametrize("there", [(), (evolve(WORKLOAD, pod_group_templates=(PodGroupTemplate("u"),)),)])
def test_a_reference_that_nobody_looked_up(there: tuple[Workload, ...]) -> None:
    """INV-32: the Workload is not there, or has no such template."""
    assert "INV-32" in broken(world(*there, REFERRING), changed(admission=nothing_is_refused))
    assert broken(world(WORKLOAD, REFERRING), INTENDED) == set()


def test_a_workload_that_the_plugin_has_seen_is_enough() -> None:
    """INV-32, ADM-25, DEV-08: it may be gone by now."""
    start = world(WORKLOAD, REFERRING, lag=Table({"admission/workload": 1}), stale=("admission/workload",))
    start = evolve(start, environment=evolve(start.environment, deletions=1))
    assert broken(start, INTENDED) == set()


def stale(**more: Any) -> World:
    """A Job whose controller does not see the Workload that it makes, and one of its calls fails."""
    return world(
        node("n", 2), JOB, settings=WITH_JOBS, stale=("job-controller/workload",), refusals=1, **more
    )


def test_a_job_whose_controller_sees_too_little() -> None:
    """INV-34, DEV-48: some pods have the group and some have none."""
    assert broken(stale(), INTENDED) == set()
    assert "INV-34" in broken(stale(), profile(INTENDED, CHANGES["DEV-48"]))


def test_a_job_from_nothing_to_pods_whatever_call_fails() -> None:
    """INV-33, INV-34, LIVE-15: in every interleaving with its scheduler, each call failing at any time."""
    start = world(node("n", 2), JOB, settings=WITH_JOBS, refusals=1, failures=1)
    found = explore(Machine(INTENDED, [start], "fine"), questions(), LIMITS)
    assert (found.stop, dict(found.counterexamples)) == ("exhausted", {})


PLAIN = {
    "failing": world(node("n", 1), pod("a"), pod("b"), failures=1),
    "preemption": NAMED["preemption"].world,
    "late node": NAMED["late-node"].world,
    "names of groups": world(node("n", 1), pod("a", "g"), pod("b", "g")),
    "names of groups, and an eviction": world(
        node("n", 1), pod("v", node="n"), pod("a", "g", priority=5, preempts=True), pod("b", "h")
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_who_has_no_group_is_scheduled_as_if_there_were_none(name: str) -> None:
    """INV-35, API-51."""
    assert neutral(PLAIN[name], INTENDED, LIMITS) == (Verdict.HOLDS, None)


def test_a_gate_that_holds_plain_pods_back() -> None:
    """INV-35: a PreEnqueue plugin that takes every pod for a member."""
    holds = changed(gate=holding(lambda now, _: now.settings.gates.generic_workload))
    verdict, violation = neutral(PLAIN["failing"], holds, LIMITS)
    assert verdict is Verdict.VIOLATED
    assert violation is not None and "GenericWorkload" in violation.message


def test_a_name_that_counts_with_the_gates_off() -> None:
    """INV-35, API-51."""
    holds = changed(gate=holding(lambda _, one: one.group is not None))
    verdict, violation = neutral(PLAIN["names of groups"], holds, LIMITS)
    assert verdict is Verdict.VIOLATED
    assert violation is not None and "name of a group" in violation.message
