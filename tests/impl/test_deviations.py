"""Each deviation of v1.36.3: with its change what is shipped occurs, and without it what is promised.

Most are shown by a pair of scenarios, one of which holds with the change alone and the other without it. Some
can be seen only in the scheduler's memory; they are shown here. Run this file to print `docs/deviations.md`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from clusters import required, term
from racks import places, there, verdicts

from gangproof.deviation_page import page, rows, same
from gangproof.impl.actions import successors
from gangproof.impl.api import create, delete, update
from gangproof.impl.controllers.claims import one_pass
from gangproof.impl.controllers.job_sync import again
from gangproof.impl.cycle import UNKNOWN_NAME
from gangproof.impl.cycle_state import Event
from gangproof.impl.deviations import DEVIATIONS, Deviation
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import Consumer, Job, PodGroupClaim
from gangproof.impl.objects.claim import Owner
from gangproof.impl.profiles import INTENDED, only
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import Environment, Settings, World
from gangproof.load import load_scenarios
from gangproof.properties.scenarios.devices import allocated
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.report import check_scenario
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.system import Questions
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds import claim_worlds
from gangproof.properties.worlds.claim_worlds import (
    BY_NAME,
    BY_TEMPLATE,
    claim,
    devices,
    sharing,
    template,
    using,
)
from gangproof.properties.worlds.named import HOSTNAME, gang, node, pod
from gangproof.rulebook import reasons

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "deviations.md"
SCENARIOS = {d.id: d for file in sorted(ROOT.glob("scenarios/*.yaml")) for d in load_scenarios(file)}
BY_ID = {deviation.id: deviation for deviation in DEVIATIONS}
PAIRS = [deviation for deviation in DEVIATIONS if deviation.scenario]
NEEDS = {
    "DEV-19": ("DEV-52",),
    "DEV-22": ("DEV-12",),
    "DEV-24": ("DEV-19", "DEV-52"),
    "DEV-41": ("DEV-19", "DEV-44", "DEV-52", "DEV-56"),
    "DEV-42": ("DEV-56",),
    "DEV-44": ("DEV-19", "DEV-52"),
    "DEV-45": ("DEV-19", "DEV-52"),
    "DEV-52": ("DEV-19",),
    "DEV-54": ("DEV-19", "DEV-44", "DEV-45", "DEV-52"),
    "DEV-55": ("DEV-53",),
    "DEV-60": ("DEV-42", "DEV-56"),
}
"""Deviations that show themselves only beside others: who commits alone waits, and only an early retry sees a
copy of its group that lags."""
PLAIN = Settings()
WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)
SHARED = claim_worlds.SETTINGS
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))


def holds(document: Scenario, rules: Rules) -> bool:
    """Whether what the scenario says of the runs is so; promises are not asked."""
    report = check_scenario(document, "v1.36.3", rules, Questions(), Limits(states=20_000))
    assert report.verdict in (Verdict.HOLDS, Verdict.VIOLATED), str(report)
    return report.verdict is Verdict.HOLDS


@pytest.mark.parametrize("deviation", PAIRS, ids=lambda deviation: deviation.id)
def test_a_pair_of_scenarios_tells_the_profiles_apart(deviation: Deviation) -> None:
    shipped = SCENARIOS[deviation.scenario]
    promised = SCENARIOS[deviation.scenario.removesuffix("-shipped")]
    changed = only(*NEEDS.get(deviation.id, ()), deviation.id)
    assert holds(shipped, changed)
    assert not holds(shipped, INTENDED)
    assert holds(promised, INTENDED)
    assert not holds(promised, changed)


@pytest.mark.parametrize(
    ("name", "others"),
    [("DEV-24", NEEDS["DEV-24"]), ("DEV-53", ("DEV-55",)), ("DEV-60", NEEDS["DEV-60"])],
)
def test_beside_others_it_is_this_one_that_makes_the_difference(name: str, others: tuple[str, ...]) -> None:
    shipped = SCENARIOS[BY_ID[name].scenario or "ASY-12-shipped"]
    assert holds(shipped, only(*others, name))
    assert not holds(shipped, only(*others))


def test_every_deviation_is_shown() -> None:
    shown_here = {name[5:11].replace("_", "-").upper() for name in globals() if name.startswith("test_dev_")}
    assert shown_here == {deviation.id for deviation in DEVIATIONS if not deviation.scenario}


def test_dev_02_a_sibling_assumed_before_keeps_nobody_away() -> None:
    """DEV-02, CYCLE-33, OBS-12: a keeps pods like b away, and b is tried after it on the only node."""
    apart = required(term(HOSTNAME, app="b"))
    a = evolve(pod("a", "g"), pod_anti_affinity=apart)
    b = evolve(pod("b", "g"), labels=a.labels.put("app", "b"))
    world = there(node("n", 2), gang("g", 2), a, b, options=PLAIN)
    assert [cycle.code for cycle in verdicts(world)] == ["Unschedulable"]
    assert [places(cycle) for cycle in verdicts(world, only("DEV-02"))] == [{"a": "n", "b": "n"}]


def test_dev_10_a_member_bound_by_others_is_in_two_sets() -> None:
    """DEV-10, QUEUE-05."""

    def bound_elsewhere(rules: Rules) -> World:
        world = there(node("n", 1), gang("g", 2), pod("p", "g"), rules=rules, options=PLAIN)
        p = evolve(world.pods["default/p"], node_name="n", phase="Running")
        return update(rules, world, p)

    assert bound_elsewhere(INTENDED).members["default/g"].unsched == ()
    overlapping = bound_elsewhere(only("DEV-10")).members["default/g"]
    assert overlapping.unsched == overlapping.assigned == ("default/p",)


def test_dev_14_an_unknown_scheduler_name_is_not_told() -> None:
    """DEV-14, CYCLE-51: the profile of the members is gone when their cycle begins."""

    def condition(rules: Rules) -> object:
        world = there(node("n", 1), gang("g", 1), pod("p", "g"), rules=rules, options=PLAIN)
        world = evolve(world, settings=evolve(PLAIN, profiles=("another",)))
        ((action, after),) = successors(world, rules)
        assert action.args[1] == "Error"
        return after.groups["default/g"].condition

    told = condition(INTENDED)
    assert told is not None
    assert (told.reason, told.message) == ("SchedulerError", UNKNOWN_NAME)
    assert condition(only("DEV-14")) is None


def test_dev_18_a_cleared_nomination_names_no_node() -> None:
    """DEV-18, CYCLE-49: of a gang that falls short, whoever had a place is nominated to nowhere."""

    def nominations(rules: Rules) -> dict[str, str]:
        world = there(node("n", 1), gang("g", 2), pod("p1", "g"), pod("p2", "g"), rules=rules, options=AWARE)
        ((_, after),) = successors(world, rules)
        return dict(after.nominations)

    assert nominations(INTENDED) == {}
    assert nominations(only("DEV-18")) == {"default/p1": ""}


def test_dev_35_a_member_that_was_feasible_is_not_woken() -> None:
    """DEV-35, PREEMPT-34: p1 had room and no plugin rejected it; p2 needed the victim's."""

    def after_the_round(rules: Rules) -> dict[str, str]:
        members = [pod(f"p{i}", "g", selector={HOSTNAME: f"n{i}"}, preempts=True) for i in (1, 2)]
        group = evolve(gang("g", 2), priority=9)
        world = there(
            node("n1", 1), node("n2", 1), pod("v", node="n2"), group, *members, rules=rules, options=AWARE
        )
        ((_, waiting),) = successors(world, rules)
        ((action, over),) = [step for step in successors(waiting, rules) if step[0].name == "evict"]
        assert action.args[0] == "default/v"
        assert not over.rounds
        return {entry.pod.removeprefix("default/"): entry.place for entry in over.queue}

    assert after_the_round(INTENDED) == {"p1": "active", "p2": "active"}
    assert after_the_round(only("DEV-35")) == {"p1": "gated", "p2": "active"}


def test_naming_one_claim_of_a_group_anew_drops_the_other_name() -> None:
    """DEV-39, CLAIM-04: one of two generated claims is deleted; afterwards the two names take turns for ever."""

    def names(rules: Rules) -> list[list[str]]:
        entries = [PodGroupClaim(name, resource_claim_template_name="template") for name in ("x", "y")]
        group = sharing(gang("g", 1), *entries)
        world = there(node("n", 1), *devices({"n": 2}), template(), group, rules=rules, options=SHARED)
        world = one_pass(rules, world, "podGroup/default/g")
        made = world.groups["default/g"].resource_claim_statuses
        assert sorted(made) == ["x", "y"]
        world = delete(rules, world, "claim", f"default/{made['x']}")
        found: list[list[str]] = []
        for _ in range(3):
            world = one_pass(rules, world, "podGroup/default/g")
            found.append(sorted(world.groups["default/g"].resource_claim_statuses))
        return found

    assert names(INTENDED) == [["x", "y"]] * 3
    assert names(only("DEV-39")) == [["x"], ["y"], ["x"]]


def test_dev_40_a_claim_of_somebody_else_brings_the_scheduler_down() -> None:
    """DEV-40, CLAIM-11: p names a claim that was not made for it; q has nothing to do with that."""

    def tried(rules: Rules) -> str | None:
        foreign = evolve(claim("foreign"), owner=Owner("pod", "q", 0, "dev"))
        p = evolve(using(pod("p"), BY_TEMPLATE), resource_claim_statuses=Table({"dev": "foreign"}))
        world = there(node("n", 1), *devices({"n": 1}), foreign, pod("q"), p, rules=rules, options=SHARED)
        first = rules.ready(world)
        return first.pod if first else None

    assert tried(INTENDED) == "default/q"
    assert tried(only("DEV-40")) is None


def test_dev_43_an_entry_without_a_claim_shifts_for_whom_the_next_is_reserved() -> None:
    """DEV-43, CLAIM-20: nothing is needed for the first entry, and the second is the group's."""

    def reserved_for(rules: Rules) -> list[str]:
        alone = PodGroupClaim("none", resource_claim_template_name="template")
        p = evolve(using(pod("p", "g"), alone, BY_NAME), resource_claim_statuses=Table({"none": ""}))
        group = sharing(gang("g", 1), BY_NAME)
        world = there(node("n", 1), *devices({"n": 1}), claim(), group, p, rules=rules, options=SHARED)
        for wanted in ("cycle", "bind"):
            (world,) = [after for action, after in successors(world, rules) if action.name == wanted]
        return [f"{entry.kind}/{entry.name}" for entry in world.claims["default/claim"].reserved_for]

    assert reserved_for(INTENDED) == ["podGroup/g"]
    assert reserved_for(only("DEV-43")) == ["pod/p"]


def test_dev_50_a_member_without_a_place_lets_the_reservation_of_its_group_go() -> None:
    """DEV-50, CLAIM-28, CYCLE-24: large fits nowhere; small, which is tried after it, counts on the reservation.

    It is committed all the same, as nothing is looked at again (DEV-56). If it has seen that the reservation is gone it
    will write it again.
    """

    def outcomes(rules: Rules) -> set[tuple[int, bool, tuple[str, ...]]]:
        on_n1 = evolve(allocated(claim(), "n1", ()), reserved_for=(Consumer("podGroup", "g", 0),))
        members = [using(pod(name, "g", cpu=cpu), BY_NAME) for name, cpu in (("large", 2), ("small", 1))]
        nodes = (node("n1", 1), node("n2", 2), *devices({"n1": 1}))
        group = sharing(gang("g", 1), BY_NAME)
        world = there(*nodes, on_n1, group, *members, rules=rules, options=SHARED)
        return {
            (
                len(after.claims["default/claim"].reserved_for),
                "default/small" in after.assumed,
                tuple(after.bindings["default/small"].holds),
            )
            for action, after in successors(world, rules)
            if action.name == "cycle"
        }

    assert outcomes(INTENDED) == {(1, True, ())}
    assert outcomes(only("DEV-50", "DEV-56")) == {(0, True, ()), (0, True, ("default/claim",))}


def test_a_job_with_a_long_name_never_gets_a_pod() -> None:
    """DEV-46, CTRL-08: the Workload is refused, however often it is asked for."""
    job = evolve(JOB, name="a" * 58)
    refused = there(job, rules=only("DEV-46"), options=WITH_JOBS)
    for _ in range(3):
        ((action, refused),) = successors(refused, only("DEV-46"))
        assert "spec.podGroupTemplates[0].name" in str(action)
        ((_, refused),) = successors(refused, only("DEV-46"))
    assert not refused.pods
    ((_, made),) = successors(there(job, options=WITH_JOBS), INTENDED)
    assert len(made.pods) == 2


def test_dev_48_an_old_view_gives_pods_without_a_group() -> None:
    """CTRL-22: the Workload is there, and the sync after the one that made it does not see it."""
    stale = Environment(stale=("job-controller/workload",), failing=("make/pod/default/j-0",))
    for rules, group in ((INTENDED, "j"), (only("DEV-48"), None)):
        now = evolve(there(JOB, rules=rules, options=WITH_JOBS), environment=stale)
        ((_, now),) = (step for step in successors(now, rules) if step[0].name == "sync")
        assert (dict(now.pods), now.jobs["default/j"].started) == ({}, True)
        now = again(rules, now, "default/j")
        ((_, now),) = (step for step in successors(now, rules) if step[0].name == "sync")
        assert {p.scheduling_group for p in now.pods.values()} == {group}


def test_dev_53_the_flush_passes_over_gated_pods() -> None:
    """DEV-53, QUEUE-26: a pod that nothing holds back any more is let in by the flush, or never."""

    def flushed(rules: Rules) -> str:
        world = there(node("n", 1), pod("p"), rules=rules, options=PLAIN)
        (entry,) = world.queue
        forgotten = evolve(world, queue=(evolve(entry, place="gated", plugins=("DefaultPreemption",)),))
        return rules.wake(rules, forgotten, Event("Flush")).queue[0].place

    assert flushed(INTENDED) == "active"
    assert flushed(only("DEV-53")) == "gated"


def test_dev_57_a_node_that_goes_wakes_nobody_who_was_kept_away_by_a_pod_on_it() -> None:
    """DEV-57, QUEUE-31: p stays away from q's rack; q's node goes, the other node of the rack stays."""

    def after_the_node_went(rules: Rules) -> dict[str, str]:
        apart = required(term("rack", app="q"))
        q = evolve(pod("q", node="n1"), labels=Table({"app": "q"}))
        racked = [evolve(node(name, 1), labels=Table({"rack": "r"})) for name in ("n1", "n2")]
        p = evolve(pod("p"), pod_anti_affinity=apart)
        ((_, rejected),) = successors(there(*racked, q, p, rules=rules, options=PLAIN), rules)
        cooled = rules.expire(rules, rejected, "default/p")
        gone = delete(rules, cooled, "node", "n1")
        return {entry.pod.removeprefix("default/"): entry.place for entry in gone.queue}

    assert after_the_node_went(INTENDED) == {"p": "active"}
    assert after_the_node_went(only("DEV-57")) == {"p": "pool"}


def test_dev_58_a_job_of_the_name_of_another_has_no_group() -> None:
    """DEV-58, CTRL-03: the Job is deleted and created again before its Workload is collected."""

    def groups(rules: Rules) -> set[str | None]:
        world = synced(rules, there(JOB, rules=rules, options=WITH_JOBS))
        world = synced(rules, create(rules, delete(rules, world, "job", "default/j"), JOB))
        new = world.jobs["default/j"].uid
        return {pod.scheduling_group for pod in world.pods.values() if pod.owners[0].uid == new}

    assert groups(INTENDED) == {"j-2"}
    assert groups(only("DEV-58")) == {None}


def synced(rules: Rules, world: World) -> World:
    ((_, after),) = (step for step in successors(world, rules) if step[0].name == "sync")
    return after


def test_every_row_is_modelled_or_the_same_or_has_a_reason() -> None:
    modelled, alike = set(BY_ID), {name for name, row in rows().items() if same(row)}
    missing = {name for name in reasons() if name.startswith("DEV-")}
    assert modelled | alike | missing == set(rows())
    assert not modelled & alike
    assert not missing & (modelled | alike)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda deviation: deviation.id)
def test_the_row_says_the_same(deviation: Deviation) -> None:
    """Race and property as in the document; a deviation may break more than its row names."""
    cells = dict(rows()[deviation.id].cells)
    assert deviation.race == (cells["race"] == "yes")
    assert any(name in cells["intended"] for name in deviation.breaks)


def test_the_page_is_in_step() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


if __name__ == "__main__":
    print(page(), end="")
