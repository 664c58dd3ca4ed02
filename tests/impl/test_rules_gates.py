"""The objects and the gates of section 1: what a gate switches, what conditions say, what is not there."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, fields
from racks import TAS, kept_to, places, racks, there, verdicts
from runs import AWARE, NO_GANGS, NO_GROUPS, PLAIN, cycle, queued, running, step, steps

from gangproof.errors import InputError
from gangproof.impl.condition import condition
from gangproof.impl.gates import FeatureGates, keep_enabled, served
from gangproof.impl.objects import Condition, PodGroup, PodGroupTemplate, Workload
from gangproof.impl.objects.changes import refused_changes
from gangproof.impl.profiles import INTENDED
from gangproof.impl.restart import restart
from gangproof.impl.table import Table
from gangproof.load import load_manifests_text
from gangproof.properties.worlds.named import basic, gang, node, pod


def test_generic_workload_serves_the_kinds() -> None:
    """API-03."""
    for item in (gang("g", 2), Workload("default", "w")):
        assert not served(item, FeatureGates())
        assert served(item, FeatureGates(generic_workload=True))


def test_without_generic_workload_members_are_plain_pods() -> None:
    """API-51: no field on new pods; a pod that still has it is tried alone, and nothing is said of a group."""
    assert keep_enabled(pod("p", "g"), FeatureGates()) == pod("p")
    assert there(pod("p", "g"), options=NO_GROUPS).pods["default/p"].scheduling_group is None
    before = there(node("n", 1), pod("p", "g"), options=PLAIN)
    world = restart(INTENDED, evolve(before, settings=NO_GROUPS))
    assert world.pods["default/p"].scheduling_group == "g"
    world = evolve(world, groups=Table({"default/g": gang("g", 3)}))
    assert queued(world) == {"p": "active"}
    popped = step(world, "pop")
    assert (running(popped).group, running(popped).entity) == (None, "default/p")
    ended = cycle(world)
    assert dict(ended.assumed) == {"default/p": "n"}
    assert ended.groups["default/g"].condition is None


def test_without_gang_scheduling_a_gang_is_like_a_basic_group() -> None:
    """API-04, API-55, CYCLE-28: no gate and no minimum, and the cycle is still that of the group."""
    members = [pod("p1", "g"), pod("p2", "g")]
    world = there(node("n", 1), gang("g", 3), *members, options=NO_GANGS)
    assert queued(world) == {"p1": "active", "p2": "active"}
    assert running(step(world, "pop")).group == "default/g"
    ended = cycle(world)
    assert dict(ended.assumed) == {"default/p1": "n"}
    assert ended.groups["default/g"].condition == Condition("True", "Scheduled")
    assert queued(there(node("n", 1), gang("g", 3), *members, options=PLAIN)) == {
        "p1": "gated",
        "p2": "gated",
    }


def test_without_gang_scheduling_a_missing_group_holds_nobody_back() -> None:
    """API-04, CYCLE-02, CYCLE-04: its members are bound; with a topology gate on it is an error instead."""
    world = there(node("n", 1), pod("p", "g"), options=NO_GANGS)
    assert running(step(world, "pop")).group == "default/g"
    assert dict(cycle(world).assumed) == {"default/p": "n"}
    gates = evolve(NO_GANGS.gates, topology_aware_workload_scheduling=True)
    constrained = there(node("n", 1), pod("p", "g"), options=evolve(NO_GANGS, gates=gates))
    assert [ended.code for ended in verdicts(constrained)] == ["Error"]


def test_topology_is_a_matter_of_its_gate() -> None:
    """API-05, API-52: two racks with room for one each, and a gang of two that is kept to one rack."""
    objects = [*racks(("r1", 1), ("r2", 1)), kept_to(gang("g", 2)), pod("p1", "g"), pod("p2", "g")]
    (tried,) = {(ended.code, ended.domains is None) for ended in verdicts(there(*objects, options=TAS))}
    assert tried == ("Unschedulable", False)
    (ignored,) = {(e.code, e.domains is None) for e in verdicts(there(*objects, options=PLAIN))}
    assert ignored == ("Success", True)


def test_who_preempts_is_a_matter_of_its_gate() -> None:
    """API-06, API-53, CYCLE-40: with the gate the group evicts as a whole, without it the member does."""
    objects = [node("n", 1), pod("v", node="n"), evolve(gang("g", 1), priority=9)]
    weak_member = pod("p", "g", preempts=True)
    (aware,) = verdicts(there(*objects, weak_member, options=AWARE))
    assert (aware.code, dict(aware.victims)) == ("Waiting", {"default/v": "default/p"})
    assert aware.results[0].victims == ()
    (plain,) = verdicts(there(*objects, weak_member, options=PLAIN))
    assert (plain.code, plain.victims) == ("Unschedulable", ())
    (strong,) = verdicts(there(*objects, pod("p", "g", priority=9, preempts=True), options=PLAIN))
    assert strong.results[0].victims == ("default/v",)


@pytest.mark.parametrize(
    "change", [{"topology_keys": ("rack",)}, {"priority": 1}, {"disruption_mode": "PodGroup"}]
)
def test_an_update_cannot_set_what_a_gate_dropped(change: dict[str, Any]) -> None:
    """API-57: the stored group has none of the fields."""
    stored = keep_enabled(evolve(gang("g", 2), **change), FeatureGates(generic_workload=True))
    assert stored == gang("g", 2)
    assert refused_changes(gang("g", 2), evolve(gang("g", 2), **change)) != ()


def test_workloads_are_not_read_by_the_scheduler() -> None:
    """API-21: with or without one the cycle is the same."""
    workload = Workload("default", "w", pod_group_templates=(PodGroupTemplate("t", min_count=5),))
    group = evolve(gang("g", 2), workload_name="w", pod_group_template_name="t")
    objects = [node("n", 1), pod("p1", "g"), pod("p2", "g")]
    without = there(*objects, gang("g", 2))
    among = there(workload, *objects, group)
    assert [(e.code, places(e)) for e in verdicts(among)] == [(e.code, places(e)) for e in verdicts(without)]


def test_only_the_metadata_of_a_workload_changes() -> None:
    """API-22."""
    stored = Workload("default", "w", pod_group_templates=(PodGroupTemplate("t"),))
    assert refused_changes(stored, evolve(stored, labels=Table({"a": "b"}))) == ()
    assert refused_changes(stored, evolve(stored, pod_group_templates=(PodGroupTemplate("u"),))) != ()


@pytest.mark.parametrize("name", ["preemptionPolicy", "parent", "desiredCount", "timeoutSeconds"])
def test_there_is_no_such_field(name: str) -> None:
    """API-42."""
    text = (
        "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: g, namespace: default}\n"
        "spec:\n  schedulingPolicy: {gang: {minCount: 1}}\n"
    )
    assert load_manifests_text(text, "g.yaml")
    with pytest.raises(InputError, match=name):
        load_manifests_text(f"{text}  {name}: x\n", "g.yaml")


STATUS_AND_METADATA = {
    "namespace", "name", "uid", "labels", "finalizers", "owners", "terminating", "condition", "resource_claim_statuses",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted({f.name for f in fields(PodGroup)} - STATUS_AND_METADATA))
def test_no_field_of_a_group_spec_ever_changes(name: str) -> None:
    """API-44."""
    assert refused_changes(gang("g", 2), evolve(gang("g", 2), **{name: object()})) != ()


def test_members_may_differ_from_each_other_and_from_their_group() -> None:
    """API-49: the API asks nothing of that kind."""
    group = evolve(gang("g", 2), priority=5)
    odd = evolve(pod("p2", "g", cpu=3, priority=7), scheduler_name="other", preemption_policy="Never")
    world = there(group, pod("p1", "g", priority=1), odd)
    assert sorted(world.pods) == ["default/p1", "default/p2"]


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        ("Success", "True", "Scheduled"),
        ("Unschedulable", "False", "Unschedulable"),
        ("Waiting", "False", "Unschedulable"),
        ("Error", "False", "SchedulerError"),
    ],
)
def test_the_three_things_a_condition_says(code: Any, status: str, reason: str) -> None:
    """COND-01, COND-02, COND-03, CYCLE-50."""
    written = condition(there(gang("g", 2)), gang("g", 2), code, "why")
    assert written is not None
    assert (written.status, written.reason) == (status, reason)
    assert written.message == ("" if code == "Success" else "why")


def test_nothing_is_said_before_the_first_cycle() -> None:
    """COND-05, GANG-05, OBS-04: a gang below its minimum, or one that is only gated, has no condition."""
    world = there(node("n", 1), gang("g", 2), pod("p1", "g"), pod("p2", "g", gates=["wait"]))
    one = there(node("n", 1), gang("g", 2), pod("p1", "g"))
    assert queued(one) == {"p1": "gated"}
    for now in (world, one):
        assert now.groups["default/g"].condition is None
        assert {p.unscheduled_reason for p in now.pods.values()} == {None}
    assert cycle(world).groups["default/g"].condition is not None


def test_no_condition_tells_of_an_eviction() -> None:
    """COND-04, PREEMPT-36, CYCLE-56: the victims' group says what it said before, and its other pods stay."""
    victims = evolve(gang("victims", 2), condition=Condition("True", "Scheduled"))
    weak = [pod("v1", "victims", node="n1"), pod("v2", "victims", node="n2")]
    strong = [evolve(basic("g"), priority=9), pod("p", "g", preempts=True)]
    world = there(node("n1", 1), node("n2", 1), victims, *weak, *strong, options=AWARE)
    for decided in steps(world, "cycle", grain="coarse"):
        evicted = step(decided, "evict")
        assert len(evicted.ghost.evicted) == 1
        assert len(evicted.members["default/victims"].assigned) == 1
        assert evicted.groups["default/victims"].condition == victims.condition
