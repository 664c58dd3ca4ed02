"""What happens between a decision to preempt and its evictions, and to pods that end while they are going.

Every step is judged by everything that is ever asked.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from gangproof.impl.actions import Action, successors
from gangproof.impl.api import create, delete, finish
from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.objects import Pod
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.worlds.named import gang, node, pod

ASKED = questions()
AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))


class Run:
    """A world that goes on step by step, in the fine grain."""

    def __init__(self, *objects: Object, settings: Settings | None = None) -> None:
        self.world = World(settings=settings or Settings())
        for obj in objects:
            self.create(obj)

    def took(self, action: Action, after: World) -> None:
        before, self.world = self.world, after
        found = [judge(before, action, after) for judge in ASKED.steps]
        found += [judge(after) for judge in ASKED.invariants]
        assert [str(violation) for violation in found if violation is not None] == []

    def create(self, obj: Object) -> None:
        self.took(Action("create", (obj.key,)), create(INTENDED, self.world, obj))

    def delete(self, key: str) -> None:
        self.took(Action("delete", (f"pod/{key}",)), delete(INTENDED, self.world, "pod", key))

    def finish(self, key: str) -> None:
        self.took(Action("finish", (f"pod/{key}",)), finish(INTENDED, self.world, key, True))

    def until(self, reached: Callable[[World], bool]) -> None:
        """The first of the possible steps, again and again."""
        for _ in range(50):
            if reached(self.world):
                return
            self.took(*successors(self.world, INTENDED, "fine")[0])
        raise AssertionError("never reached")

    def decide(self) -> None:
        """On to a verdict that waits for victims and is not carried out yet."""
        self.until(lambda world: world.cycle is not None and world.cycle.code == "Waiting")
        assert self.world.cycle is not None
        assert self.world.cycle.stage == "submitting"
        assert self.world.cycle.victims

    def submit(self) -> None:
        self.until(lambda world: world.cycle is None)


def strong(name: str, group: str | None = None) -> Pod:
    return pod(name, group, priority=10, preempts=True)


def one_for_one() -> Run:
    """A stronger pod is about to evict the one that runs."""
    run = Run(node("n1", 1), pod("v", node="n1"), strong("h"))
    run.decide()
    return run


def two_for_two() -> Run:
    """A stronger gang of two is about to evict the two pods that run."""
    running = [pod(f"v{n}", node=f"n{n}") for n in (1, 2)]
    group = evolve(gang("g", 2), priority=10)
    members = [strong(f"p{n}", "g") for n in (1, 2)]
    run = Run(node("n1", 1), node("n2", 1), *running, group, *members, settings=AWARE)
    run.decide()
    return run


def test_left_alone_the_victims_go() -> None:
    for run in (one_for_one(), two_for_two()):
        run.submit()
        assert len(run.world.rounds) == 1


def test_a_victim_that_ended_meanwhile_is_not_evicted() -> None:
    run = one_for_one()
    run.finish("default/v")
    run.submit()
    assert not run.world.rounds


def test_nobody_is_evicted_for_a_pod_that_was_deleted_meanwhile() -> None:
    run = one_for_one()
    run.delete("default/h")
    run.submit()
    assert not run.world.rounds
    assert not run.world.pods["default/v"].terminating


def test_nobody_is_evicted_for_a_gang_that_lost_a_member_meanwhile() -> None:
    run = two_for_two()
    run.delete("default/p2")
    run.submit()
    assert not run.world.rounds
    assert not run.world.nominations


def test_a_round_outlives_its_preemptor() -> None:
    run = one_for_one()
    run.submit()
    run.delete("default/h")
    run.until(lambda world: "default/v" not in world.pods)
    assert not run.world.rounds


def test_a_pod_that_has_ended_takes_no_room_when_it_is_told_to_go() -> None:
    ended = evolve(pod("v", node="n1"), finalizers=("example.com/keep",))
    run = Run(node("n1", 1), ended)
    run.finish("default/v")
    run.delete("default/v")
    assert run.world.pods["default/v"].terminating
    run.create(pod("p"))
    run.until(lambda world: world.pods["default/p"].node_name == "n1")


def test_a_member_that_ends_while_it_is_going_counts_no_longer() -> None:
    going = evolve(pod("a", "g", node="n1"), termination_grace_period_seconds=30)
    run = Run(node("n1", 2), gang("g", 2), going)
    run.delete("default/a")
    run.finish("default/a")
    assert run.world.members_of("default/g").done == ()
    run.create(pod("b", "g"))
    entry = run.world.entry("default/b")
    assert entry is not None
    assert entry.place == "gated"
