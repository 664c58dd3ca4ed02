"""A run is taken again without some of its steps, or is no run any more."""

from __future__ import annotations

from gangproof.impl.actions import Action, successors
from gangproof.impl.api import create, delete
from gangproof.impl.objects import PodGroup
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import World
from gangproof.properties.search.system import Path, Questions, Violation
from gangproof.properties.telling.retake import first_violation, retake, steps_of
from gangproof.properties.worlds.named import node, pod


def a_run() -> Path[World, Action]:
    """A node, a group nobody needs, a pod; the group goes; the pod is tried and bound."""
    world = World()
    steps: list[tuple[Action, World]] = []
    for obj in (node("n", 1), PodGroup("default", "g"), pod("p")):
        world = create(INTENDED, world, obj)
        kind = {"Node": "node", "PodGroup": "podGroup", "Pod": "pod"}[type(obj).__name__]
        steps.append((Action("create", (f"{kind}/{obj.key}",)), world))
    world = delete(INTENDED, world, "podGroup", "default/g")
    steps.append((Action("delete", ("podGroup/default/g",)), world))
    for _ in range(2):
        action, world = successors(world, INTENDED)[0]
        steps.append((action, world))
    return Path(World(), tuple(steps))


def test_the_whole_run_is_the_same_run():
    run = a_run()
    assert [action.name for action in run.actions] == ["create"] * 3 + ["delete", "cycle", "bind"]
    assert retake(run.initial, steps_of(run), INTENDED) == run


def test_what_does_not_matter_can_be_left_out():
    run = a_run()
    parts = steps_of(run)
    shorter = retake(run.initial, [parts[0], parts[2], parts[4], parts[5]], INTENDED)
    assert shorter is not None
    assert shorter.last.pods["default/p"].node_name == "n"


def test_without_its_object_a_step_is_not_possible():
    run = a_run()
    parts = steps_of(run)
    assert retake(run.initial, [*parts[:1], *parts[2:]], INTENDED) is None, "no group to delete"
    assert retake(run.initial, parts[5:], INTENDED) is None, "nothing to bind"


def test_the_first_violation_ends_the_run():
    def nobody(world: World) -> Violation | None:
        return Violation("NOBODY", "there is a pod") if world.pods else None

    found = first_violation(a_run(), Questions(invariants=[nobody]))
    assert found is not None
    violation, path = found
    assert (violation.property, len(path)) == ("NOBODY", 3)
    assert first_violation(a_run(), Questions()) is None
