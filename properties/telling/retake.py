"""Taking a run again with some of its steps left out: whether the rest is still possible, and what comes of it.

A fuzzer leaves steps in a run that do not matter. A step that the machinery takes by itself is taken again, or
the one most like it that is possible; what users did is done again; a run in which a step is not possible any
more is no run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import evolve, fields_dict, frozen

from gangproof.impl.actions import Action, Step, successors
from gangproof.impl.api import ApiError, create, delete, finish, lookup, update
from gangproof.impl.gates import CLUSTER_WIDE, Object
from gangproof.impl.rules import Rules
from gangproof.impl.world import World
from gangproof.properties.search.system import Path, Questions, Violation


@frozen(eq=False)
class Retaken:
    """A step of a run that can be taken again: what happened, and the worlds before and after it."""

    action: Action
    before: World
    after: World


def steps_of(path: Path[World, Action]) -> tuple[Retaken, ...]:
    """The steps of a run one by one."""
    return tuple(
        Retaken(action, before, after)
        for before, (action, after) in zip(path.states, path.steps, strict=False)
    )


def retake(initial: World, steps: Sequence[Retaken], rules: Rules) -> Path[World, Action] | None:
    """The run of these steps from the world on, None if one of them is not possible."""
    taken: list[Step] = []
    world = initial
    for step in steps:
        again = _again(world, step, rules)
        if again is None:
            return None
        taken.append(again)
        world = again[1]
    return Path(initial, tuple(taken))


def first_violation(
    path: Path[World, Action], asked: Questions[World, Action]
) -> tuple[Violation, Path[World, Action]] | None:
    """The first violation on the way and the run to it, None if there is none."""
    before = path.initial
    for number, (action, after) in enumerate(path.steps, 1):
        for found in _judged(before, action, after, asked):
            return found, Path(path.initial, path.steps[:number])
        before = after
    return None


def _judged(
    before: World, action: Action, after: World, asked: Questions[World, Action]
) -> Iterator[Violation]:
    found = [judge(before, action, after) for judge in asked.steps]
    found += [judge(after) for judge in asked.invariants]
    yield from (violation for violation in found if violation is not None)


def _again(world: World, step: Retaken, rules: Rules) -> Step | None:
    request = _request(step, rules)
    if request is not None:
        try:
            return step.action, request(world)
        except ApiError:
            return None
    grain = "coarse" if step.action.via else "fine"
    possible = [s for s in successors(world, rules, grain) if s[0].name == step.action.name]
    exact = [s for s in possible if s[0].args == step.action.args]
    alike = [s for s in possible if s[0].args[:1] == step.action.args[:1]]
    return next(iter((*exact, *alike)), None)


def _request(step: Retaken, rules: Rules) -> Callable[[World], World] | None:
    """What users did in the step, to be done to another world; None for the machinery's own steps."""
    kind, _, key = step.action.args[0].partition("/") if step.action.args else ("", "", "")
    match step.action.name:
        case "create":
            obj = lookup(step.after, kind, key)
            return None if obj is None else lambda world: create(rules, world, _new(obj))
        case "delete":
            return lambda world: delete(rules, world, kind, key)
        case "finish" | "crash":
            return lambda world: finish(rules, world, key, step.action.name == "finish")
        case "update":
            return lambda world: update(rules, world, _changed(world, step, kind, key))
        case _:
            return None


def _new(obj: Object) -> Object:
    """The object as it was before the API numbered it."""
    return obj if isinstance(obj, CLUSTER_WIDE) else evolve(obj, uid=0)


def _changed(world: World, step: Retaken, kind: str, key: str) -> Object:
    """The object of this world with the fields that the step changed as it left them."""
    now, old, new = (lookup(w, kind, key) for w in (world, step.before, step.after))
    if now is None or old is None or new is None:
        raise ApiError(f"{kind}/{key} not found")
    names = [n for n in fields_dict(type(new)) if getattr(old, n) != getattr(new, n)]
    return evolve(now, **{n: getattr(new, n) for n in names})
