"""LIVE-15 in every fair run: a Job's gang that fits is bound, however often calls fail and the scheduler restarts."""

from __future__ import annotations

from math import inf

import pytest
from attrs import evolve

from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import Job
from gangproof.impl.profiles import INTENDED, V1_36_3
from gangproof.impl.rules import Change, Rules, profile
from gangproof.impl.steps import RecoverStep
from gangproof.impl.world import Settings, World
from gangproof.properties.faults.control import F79, F80, F85
from gangproof.properties.faults.fault import Fault
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.lasso import Lassos
from gangproof.properties.search.liveness import fair_runs
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.named import gang, node, pod, world

WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)
AWARE = evolve(WITH_JOBS, gates=evolve(WITH_JOBS.gates, workload_aware_preemption=True))
LONG = evolve(JOB, name="j" * 60)
DEV_46 = next(deviation.change for deviation in DEVIATIONS if deviation.id == "DEV-46")


def start(job: Job = JOB, nodes: int = 1, cpu: int = 2, **environment: object) -> World:
    places = [node(f"n{number}", cpu) for number in range(nodes)]
    return world(*places, job, settings=WITH_JOBS, kubelet=True, **environment)


def asked(begun: World, rules: Rules = INTENDED) -> Lassos:
    return fair_runs(begun, rules, Limits(states=5_000))


@pytest.mark.parametrize(
    ("begun", "states"),
    [
        (start(), 38),
        (start(restarts=1), 211),
        (start(restarts=2), 384),
        (start(nodes=2, cpu=1, restarts=1), 337),
        (start(crashes=1), 80),
        (start(deletions=1), 448),
        (start(LONG), 38),
        (start(cpu=1), 28),
    ],
    ids=[
        "alone",
        "a restart",
        "two restarts",
        "two nodes",
        "a pod fails",
        "a deletion",
        "a long name",
        "no room",
    ],
)
def test_a_job_gets_everything_in_the_end(begun: World, states: int) -> None:
    """Calls to the API server and binds fail any number of times, and each ends well some time."""
    found = asked(begun)
    assert (found.verdict, found.exploration.states) == (Verdict.HOLDS, states), str(found)


@pytest.mark.parametrize(("restarts", "states"), [(0, 130), (1, 686)])
def test_v1_36_3_keeps_it_for_a_job_with_a_short_name(restarts: int, states: int) -> None:
    found = asked(start(restarts=restarts), V1_36_3)
    assert (found.verdict, found.exploration.states) == (Verdict.HOLDS, states), str(found)


@pytest.mark.parametrize("rules", [profile(INTENDED, DEV_46), V1_36_3], ids=["DEV-46", "v1.36.3"])
def test_a_name_that_is_too_long_is_asked_for_ever(rules: Rules) -> None:
    """CTRL-08: one refused creation after the other, and never a pod."""
    found = asked(start(LONG), rules)
    assert list(found.found) == ["LIVE-15"]
    lasso = found.found["LIVE-15"]
    assert (found.exploration.states, len(lasso.path), lasso.loop) == (4, 4, 2)
    assert [action.name for action in lasso.path.actions[2:]] == ["sync", "backoff-over"]


@pytest.mark.parametrize(
    ("fault", "job", "states", "steps", "loop"),
    [
        (F79, JOB, 82, 9, None),
        (F80, evolve(JOB, parallelism=0, completions=0), 4, 4, 2),
        (F85, JOB, 16, 4, None),
    ],
    ids=["F-79", "F-80", "F-85"],
)
def test_the_faults_of_the_controller(
    fault: Fault, job: Job, states: int, steps: int, loop: int | None
) -> None:
    found = asked(start(job), profile(INTENDED, fault.change))
    assert list(found.found) == ["LIVE-15"], str(found)
    lasso = found.found["LIVE-15"]
    assert (found.exploration.states, len(lasso.path), lasso.loop) == (states, steps, loop)


def _queues_nobody(old: RecoverStep) -> RecoverStep:
    def recover(rules: Rules, before: World) -> World:
        return evolve(old(rules, before), queue=())

    return recover


FORGETFUL = profile(
    INTENDED, Change("forgetful", "who waits is not queued again", {"recover": _queues_nobody})
)


def test_a_gang_that_waits_at_a_restart_must_be_tried_again() -> None:
    """The second half: everything is made, and the gang, which fits, is never bound."""
    found = asked(start(restarts=1), FORGETFUL)
    lasso = found.found["LIVE-15"]
    assert lasso.violation.message == "default/j has a gang that fits and is never bound"
    assert (found.exploration.states, len(lasso.path), lasso.loop) == (166, 4, None)
    assert lasso.path.actions[-1].name == "restart"


def test_without_room_nothing_is_promised() -> None:
    """A gang that does not fit is no concern of LIVE-15."""
    assert "LIVE-15" not in asked(start(cpu=1, restarts=1), FORGETFUL).found


def test_failures_without_end_are_one_world() -> None:
    """Each more failure is the same world again, so that a search ends; a number of them is not."""
    endless = start(refusals=inf, failures=inf)
    assert asked(endless) == asked(start())


def test_a_weak_job_beside_a_gang_that_is_tried_again_and_again() -> None:
    """LIVE-15, ACT-24: its pods are evicted, its sync fails; that wait ends while the gang is tried for ever."""
    strong = [evolve(pod(f"s{number}", "strong", preempts=True), priority=9) for number in range(2)]
    gang_of_two = evolve(gang("strong", 2), priority=9)
    slow = evolve(JOB, template=evolve(pod(""), termination_grace_period_seconds=30))
    begun = world(node("n", 2), slow, gang_of_two, *strong, settings=AWARE, kubelet=True)
    found = asked(begun)
    assert (found.verdict, found.exploration.states) == (Verdict.HOLDS, 1_375), str(found)
