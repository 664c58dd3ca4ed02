"""Deliveries right before the act: the claim is tried step by step, and the reduced search agrees with the full one."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import pytest
from attrs import evolve, frozen

from gangproof.impl.actions import Action, Step, successors
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.objects import Job
from gangproof.impl.profiles import INTENDED, V1_36_3
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.properties.judges.everything import questions
from gangproof.properties.late import deliveries
from gangproof.properties.late.deliveries import explore_reduced, readers, reducible
from gangproof.properties.late.lag import as_if_prompt, lagging, of_the_store, stale_reads, views
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.machine import Machine, Settled, settle
from gangproof.properties.search.system import Path, Questions
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.worlds.claim_worlds import (
    BY_NAME,
    BY_TEMPLATE,
    SETTINGS,
    claim,
    devices,
    sharing,
    template,
    using,
)
from gangproof.properties.worlds.named import NAMED, gang, node, pod, world

AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
WITH_JOBS = Settings(gates=evolve(SCENARIO_GATES, workload_with_job=True))
JOB = Job("default", "j", pod(""), parallelism=2, completions=2, indexed=True)
STRONG = evolve(gang("g", 1), priority=9)
PREEMPTOR = evolve(pod("p", "g", preempts=True), priority=9)
EVICTION = (node("n", 1), pod("v", node="n"), STRONG, PREEMPTOR)
PAIR = (node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"))
ONE = (node("n", 1), gang("g", 1), pod("a", "g"))
CLAIMING = (
    *(node("n", 1), *devices({"n": 1}), template()),
    *(sharing(gang("g", 1), BY_TEMPLATE), using(pod("a", "g"), BY_TEMPLATE)),
)
CLAIMED = (node("n", 1), *devices({"n": 1}), claim(), using(pod("a"), BY_NAME))
GENERATED = (node("n", 1), *devices({"n": 1}), template(), using(pod("a"), BY_TEMPLATE))
TWO_CLAIM = (node("n", 2), *devices({"n": 1}), claim(), using(pod("a"), BY_NAME), using(pod("b"), BY_NAME))
BUDGETS = (
    "deletions", "foreign_binds", "lost_nodes", "failures", "successes", "crashes", "restarts", "refusals", "pod_gc",
    "recreations"
)  # fmt: skip
SEES = "see"


def of(start: World, *components: str) -> list[str]:
    """The views of these components."""
    return [name for name in views(start) if name.partition("/")[0] in components]


# The claim, step by step.


@frozen
class Pair:
    """Something that a component sees, an action of another, and what was found wrong about their order."""

    sight: Action
    act: Action
    wrong: str


def drawn(random: Random) -> World:
    """A world in which much may happen, and every view, or those of some components, may be far behind."""
    objects, settings = random.choice(
        [
            ((node("n", 2), JOB), WITH_JOBS),
            ((*ONE, JOB), WITH_JOBS),
            ((*PAIR, node("m", 1), pod("c")), None),
            (EVICTION, AWARE),
            (CLAIMING, SETTINGS),
            (TWO_CLAIM, SETTINGS),
        ]
    )
    environment = {name: random.randrange(2) for name in BUDGETS}
    start = world(*objects, settings=settings, any_order=random.random() < 0.3, kubelet=True, **environment)
    some = random.choice(
        [
            ("scheduler",),
            ("job-controller", "admission"),
            ("protection-controller", "scheduler"),
            ("claim-controller", "protection-controller"),
        ]
    )
    return lagging(start, 99, None if random.random() < 0.6 else of(start, *some))


def pairs(
    rules: Rules,
    seed: int,
    length: int,
    asked: Questions[World, Action],
    reads: Callable[[Action], frozenset[str]],
) -> Iterator[Pair]:
    """Along a random run each sight with each action that does not read it, in both orders."""
    random = Random(seed)
    here = drawn(random)
    taking = reducible(here)
    for _ in range(length):
        steps = successors(here, rules)
        acts = {action: (action, after) for action, after in steps if action.name != SEES}
        for sight, seen in steps:
            if sight.name != SEES or sight.args[0] not in taking:
                continue
            later = {action: (action, after) for action, after in successors(seen, rules)}
            for act in dict.fromkeys((*acts, *(a for a in later if a.name != SEES))):
                if sight.args[0] not in reads(act):
                    yield Pair(
                        sight, act, _wrong(rules, here, (sight, seen), acts.get(act), later.get(act), asked)
                    )
        if not steps:
            return
        here = random.choice(list(acts.values()) if acts and random.random() < 0.6 else steps)[1]


def _wrong(
    rules: Rules,
    here: World,
    sight: Step,
    act: Step | None,
    later: Step | None,
    asked: Questions[World, Action],
) -> str:
    if act is None or later is None:
        return "one makes the other possible, or impossible"
    then = dict(successors(act[1], rules)).get(sight[0])
    if then is None or then != later[1]:
        return "they lead to different worlds"
    if told(asked, here, *act) != told(asked, sight[1], *later):
        return "the act is judged otherwise"
    if told(asked, here, *sight) != told(asked, act[1], sight[0], then):
        return "the sight is judged otherwise"
    return ""


def told(asked: Questions[World, Action], before: World, action: Action, after: World) -> set[str]:
    return {wrong.property for judge in asked.steps if (wrong := judge(before, action, after)) is not None}


@pytest.mark.parametrize("rules", [INTENDED, V1_36_3], ids=["intended", "v1.36.3"])
@pytest.mark.parametrize("asking", [questions, of_the_store])
def test_what_a_component_sees_commutes_with_what_others_do(
    rules: Rules, asking: Callable[[], Questions[World, Action]]
) -> None:
    """ACT-10: neither hinders nor changes the other, and both are judged alike in both orders."""
    tried = [pair for seed in range(12) for pair in pairs(rules, seed, 40, asking(), readers)]
    assert [pair for pair in tried if pair.wrong] == []
    assert len(tried) > 500
    assert {pair.sight.args[0] for pair in tried} == set(deliveries.ORDER)


def named(tree: ast.AST) -> Iterator[str]:
    """The names of actions that a module makes: the first argument of an `Action`, or the first part of a move."""
    for part in ast.walk(tree):
        name: ast.expr | None = None
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "Action":
            name = part.args[0]
        elif isinstance(part, ast.Yield | ast.Return) and isinstance(part.value, ast.Tuple):
            parts = part.value.elts
            name = parts[0] if len(parts) == 3 and isinstance(parts[1], ast.Tuple) else None
        found = ast.walk(name) if name is not None and not isinstance(name, ast.JoinedStr) else ()
        yield from (c.value for c in found if isinstance(c, ast.Constant) and isinstance(c.value, str))


def test_of_every_action_it_is_said_what_it_reads() -> None:
    """Nothing is taken for the scheduler's because nobody has said otherwise; what nobody has told of is an error."""
    impl = pathlib.Path(__file__).parents[2] / "impl"
    modules = (*impl.glob("*.py"), *(impl / "controllers").glob("*.py"))
    said = {name for module in modules for name in named(ast.parse(module.read_text()))}
    assert said >= {"cycle", "evict", "evict-fails", "sync", "create", "collect", "lands", SEES}
    assert said - {SEES} - deliveries.READERS.keys() == set()
    with pytest.raises(KeyError):
        readers(Action("something new"))


@pytest.mark.parametrize("name", ["cycle", "sync", "let-go", "restart", "backoff-over"])
def test_an_action_that_reads_what_is_seen_would_be_found(name: str) -> None:
    """The test above can fail: for each of these actions it does if it were taken for one that reads nothing."""

    def careless(action: Action) -> frozenset[str]:
        return frozenset() if action.name == name else readers(action)

    found = (pair for seed in range(60) for pair in pairs(INTENDED, seed, 40, Questions(), careless))
    assert any(pair.wrong and pair.act.name == name for pair in found)


# Reduced against full.

LIMITS = Limits(states=20_000)


@frozen
class Case:
    """A world, by how many changes which views lag, and the states of the full and of the reduced search."""

    start: World
    most: int
    full: int
    reduced: int
    views: tuple[str, ...] | None = None
    rules: Rules = INTENDED


JOBS = ("job-controller/job", "job-controller/pod", "job-controller/workload", "job-controller/podGroup")
OF_THE_CLAIM = ("scheduler/claim", "scheduler/pod", "claim-controller/claim", "claim-controller/pod")
CASES = {
    "fits": Case(NAMED["fits"].world, 1, 365, 81),
    "fits, by two": Case(NAMED["fits"].world, 2, 521, 102),
    "short": Case(NAMED["short"].world, 1, 263, 35),
    "plain pods": Case(world(node("n", 1), pod("a"), pod("b"), deletions=1), 1, 262, 271),
    "a pod is bound by others": Case(world(node("n", 1), pod("a"), pod("b"), foreign_binds=1), 1, 279, 282),
    "the node is lost": Case(world(*ONE, lost_nodes=1, pod_gc=True), 1, 522, 131),
    "an eviction": Case(world(*EVICTION, settings=AWARE, kubelet=True), 1, 356, 90),
    "a failure": Case(world(*ONE, failures=1), 2, 250, 56),
    "a restart": Case(world(*ONE, restarts=1), 1, 350, 135),
    "a pod succeeds": Case(world(*ONE, successes=1), 2, 281, 48),
    "any order": Case(world(*ONE, any_order=True), 1, 185, 57),
    "a member is lost": Case(world(*PAIR, deletions=1), 1, 2412, 574),
    "a group is deleted, v1.36.3": Case(world(*ONE, deletions=1), 1, 884, 239, rules=V1_36_3),
    "a Job": Case(
        world(node("n", 1), evolve(JOB, parallelism=1, completions=1), settings=WITH_JOBS), 1, 116, 29
    ),
    "a Job whose pod crashes": Case(
        world(node("n", 2), JOB, settings=WITH_JOBS, crashes=1), 1, 420, 238, JOBS
    ),
    "a claim by name": Case(world(*CLAIMED, settings=SETTINGS), 1, 350, 85),
    "a claim from a template": Case(world(*GENERATED, settings=SETTINGS), 1, 414, 90),
    "a claim, a failure": Case(world(*CLAIMED, settings=SETTINGS, failures=1), 1, 649, 163),
    "a claim, v1.36.3": Case(world(*CLAIMED, settings=SETTINGS, failures=1), 1, 743, 194, rules=V1_36_3),
    "a claim of a group": Case(world(*CLAIMING, settings=SETTINGS), 1, 99, 73, OF_THE_CLAIM),
    "two pods, one claim": Case(
        world(*TWO_CLAIM, settings=SETTINGS, deletions=1, kubelet=True), 1, 1191, 535, OF_THE_CLAIM
    ),
}


def asked() -> Questions[World, Action]:
    """Everything that is asked of what is seen and of what is stored, and who is ever seen to go by an old view."""
    return Questions(
        invariants=questions().invariants,
        steps=(*questions().steps, *of_the_store().steps),
        step_witnesses={
            name: partial(_stale, name) for name in ("cycle", "sync", "let-go", "claim-controller")
        },
    )


def _stale(name: str, before: World, action: Action, after: World) -> bool:
    return action.name == name and stale_reads(Path(before, ((action, after),))) == 1


def summary(found: Settled) -> tuple[object, ...]:
    """What was violated and reached, after how many steps, and where the runs settle, or go round for ever."""
    exploration, states, key = found.exploration, found.graph.states, Symmetry()
    return (
        exploration.stop,
        {name: len(example.path) for name, example in exploration.counterexamples.items()},
        {name: len(path) for name, path in exploration.witnesses.items()},
        {key(as_if_prompt(states[place])) for place in found.settled},
        {key(as_if_prompt(states[place])) for place in found.restless},
    )


def test_the_page_tells_these_numbers() -> None:
    """`docs/lag.md` has a row for each world, and no other."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "lag.md").read_text()
    rows = [f"| {name} | {case.most} | {case.full:,} | {case.reduced:,} |" for name, case in CASES.items()]
    table = page.partition("right before an act |\n|---|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == rows


@pytest.mark.parametrize("name", CASES)
def test_the_reduced_search_finds_what_the_full_one_finds(name: str) -> None:
    """The same broken promises and witnesses at the same depths, and the same ends."""
    case = CASES[name]
    machine = Machine(case.rules, [lagging(case.start, case.most, case.views)], key=Symmetry())
    full = settle(machine, asked(), LIMITS)
    reduced = settle(machine, asked(), LIMITS, explore_reduced)
    assert full.exploration.stop == "exhausted"
    assert summary(reduced) == summary(full)
    assert (full.exploration.states, reduced.exploration.states) == (case.full, case.reduced)
