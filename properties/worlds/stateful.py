"""Random runs of the machinery as a story: a Hypothesis state machine whose rules are what happens.

For worlds that are too large to exhaust. Hypothesis chooses who comes, who goes, what fails and what the
machinery does next, step by step in the fine grain; every step is judged; and what is left of a broken run
after shrinking is told in words and can be replayed, drawn and explained like any other run.

    from gangproof.properties.worlds.stateful import fuzz

    print(fuzz(INTENDED, questions(), runs=200))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import ClassVar
from unittest.mock import patch

from attrs import evolve, frozen
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from gangproof.impl.actions import Action, Step, successors
from gangproof.impl.api import create, delete, finish, update
from gangproof.impl.gates import Object
from gangproof.impl.outside import name_of
from gangproof.impl.rules import Rules
from gangproof.impl.world import Environment, World
from gangproof.properties.judges.remembered import same
from gangproof.properties.search.explore import deferred_interrupts
from gangproof.properties.search.system import Path, Questions, Violation
from gangproof.properties.telling.stories import shortened, story
from gangproof.properties.verdict import Verdict
from gangproof.properties.worlds.strategies import (
    NODE_KINDS,
    POD_KINDS,
    NodeKind,
    PodKind,
    group_of,
    node_of,
    pod_of,
)


@frozen
class Size:
    """How many objects there may be at once, and how many binds may fail of their own accord in one run."""

    nodes: int = 6
    groups: int = 3
    pods: int = 12
    failures: int = 3


LARGE = Size(nodes=20, groups=6, pods=60)


class BrokenError(AssertionError):
    """A run broke a property; its text is the story of the run."""

    def __init__(self, violation: Violation, path: Path[World, Action]) -> None:
        super().__init__(f"{violation}\n" + "\n".join(story(path)))
        self.violation = violation
        self.path = path


class Tally:
    """What the runs of one machine came to so far: how many, their steps, the witnesses that were reached.

    With the next step after an interrupt the run ends, and so do all.
    """

    def __init__(self) -> None:
        self.runs = 0
        self.steps = 0
        self.reached: set[str] = set()
        self.interrupts: Sequence[int] = ()


class StoryMachine(RuleBasedStateMachine):
    """A run of the machinery; `machine_for` makes the class for certain rules and questions.

    Which object a rule speaks of is a number, counted round among those that are there.
    """

    machinery: ClassVar[Rules]
    questions: ClassVar[Questions[World, Action]]
    size: ClassVar[Size]
    tally: ClassVar[Tally]

    def __init__(self) -> None:
        super().__init__()
        self.begun = World(environment=Environment(failures=self.size.failures))
        self.world = self.begun
        self.steps: list[Step] = []
        self.tally.runs += 1

    @property
    def path(self) -> Path[World, Action]:
        """The run so far."""
        return Path(self.begun, tuple(self.steps))

    def took(self, action: Action, after: World) -> None:
        """One more step; BrokenError if it, or the world after it, breaks a property."""
        before, self.world = self.world, (after := same(after))
        self.steps.append((action, after))
        self.tally.steps += 1
        if self.tally.interrupts:
            raise KeyboardInterrupt
        asked = self.questions
        for judge in asked.steps:
            self.require(judge(before, action, after))
        for judge in asked.invariants:
            self.require(judge(after))
        reached = self.tally.reached
        for name, witness in asked.witnesses.items():
            if name not in reached and witness(after):
                reached.add(name)
        for name, witness in asked.step_witnesses.items():
            if name not in reached and witness(before, action, after):
                reached.add(name)

    def require(self, violation: Violation | None) -> None:
        if violation is not None:
            raise BrokenError(violation, self.path)

    def create(self, obj: Object) -> None:
        self.took(Action("create", (name_of(obj),)), create(self.machinery, self.world, obj))

    def update(self, kind: str, obj: Object, what: str) -> None:
        self.took(Action("update", (f"{kind}/{obj.key}", what)), update(self.machinery, self.world, obj))

    def delete(self, kind: str, key: str) -> None:
        self.took(Action("delete", (f"{kind}/{key}",)), delete(self.machinery, self.world, kind, key))

    @precondition(lambda self: len(self.world.nodes) < self.size.nodes)
    @rule(cpu=st.integers(1, 4), kind=st.sampled_from(NODE_KINDS))
    def node_comes(self, cpu: int, kind: NodeKind) -> None:
        self.create(node_of(kind, _free("n", self.world.nodes), cpu))

    @precondition(lambda self: len(self.world.groups) < self.size.groups)
    @rule(minimum=st.integers(0, 4))
    def group_comes(self, minimum: int) -> None:
        self.create(group_of(_free("g", self.world.groups), minimum))

    @precondition(lambda self: len(self.world.pods) < self.size.pods)
    @rule(
        group=st.integers(0, 3),
        cpu=st.integers(1, 2),
        priority=st.integers(0, 1),
        kind=st.sampled_from(POD_KINDS),
        number=st.integers(1, 4),
    )
    def pods_come(self, group: int, cpu: int, priority: int, kind: PodKind, number: int) -> None:
        """So many pods alike, plain ones if `group` is 0; the group itself may come later or never."""
        whose = f"g{group}" if group else None
        for _ in range(min(number, self.size.pods - len(self.world.pods))):
            self.create(pod_of(kind, _free("p", self.world.pods), whose, cpu, priority))

    @precondition(lambda self: bool(self.world.pods))
    @rule(which=st.integers(0, 11))
    def pod_goes(self, which: int) -> None:
        self.delete("pod", _chosen(self.world.pods, which))

    @precondition(lambda self: bool(self.world.groups))
    @rule(which=st.integers(0, 3))
    def group_goes(self, which: int) -> None:
        self.delete("podGroup", _chosen(self.world.groups, which))

    @precondition(lambda self: bool(self.world.nodes))
    @rule(which=st.integers(0, 5))
    def node_goes(self, which: int) -> None:
        self.delete("node", _chosen(self.world.nodes, which))

    @precondition(lambda self: bool(self.world.nodes))
    @rule(which=st.integers(0, 5))
    def node_is_cordoned_or_not(self, which: int) -> None:
        node = self.world.nodes[_chosen(self.world.nodes, which)]
        what = "uncordoned" if node.unschedulable else "cordoned"
        self.update("node", evolve(node, unschedulable=not node.unschedulable), what)

    @precondition(lambda self: bool(self.world.nodes))
    @rule(which=st.integers(0, 5), cpu=st.integers(1, 4))
    def node_is_resized(self, which: int, cpu: int) -> None:
        node = self.world.nodes[_chosen(self.world.nodes, which)]
        resized = evolve(node, allocatable=node.allocatable.put("cpu", cpu * 1000))
        if resized != node:
            self.update("node", resized, f"{cpu} CPU")

    @precondition(lambda self: any(pod.scheduling_gates for pod in self.world.pods.values()))
    @rule(which=st.integers(0, 11))
    def gate_is_lifted(self, which: int) -> None:
        held = [key for key, pod in self.world.pods.items() if pod.scheduling_gates]
        pod = self.world.pods[_chosen(held, which)]
        self.update("pod", evolve(pod, scheduling_gates=()), "no scheduling gate")

    @precondition(lambda self: bool(self.running))
    @rule(which=st.integers(0, 11), succeeded=st.booleans())
    def pod_ends(self, which: int, succeeded: bool) -> None:
        key = _chosen(self.running, which)
        action = Action("finish" if succeeded else "crash", (f"pod/{key}",))
        self.took(action, finish(self.machinery, self.world, key, succeeded))

    @property
    def running(self) -> Sequence[str]:
        """The pods on nodes that have not ended."""
        return [key for key, pod in self.world.pods.items() if pod.node_name is not None and not pod.terminal]

    @rule(choices=st.lists(st.integers(0, 5), min_size=1, max_size=16))
    def machinery_goes_on(self, choices: Sequence[int]) -> None:
        """So many steps of the machinery; of several possible ones each choice takes one, counted round."""
        for choice in choices:
            if not self.machinery_takes(choice):
                return

    @rule(number=st.integers(1, 30), choice=st.integers(0, 5))
    def machinery_runs(self, number: int, choice: int) -> None:
        """So many steps of the machinery, of several possible ones always the same one, counted round."""
        for _ in range(number):
            if not self.machinery_takes(choice):
                return

    def machinery_takes(self, choice: int) -> bool:
        """One step of the machinery; False if none is possible."""
        steps = successors(self.world, self.machinery, "fine")
        if not steps:
            for judge in self.questions.terminal:
                self.require(judge(self.world))
            return False
        self.took(*steps[choice % len(steps)])
        return True


def _free(letter: str, taken: Iterable[str]) -> str:
    """The first short name that nobody has; that of one who has gone is given out again."""
    names = {key.rpartition("/")[2] for key in taken}
    return next(name for number in count(1) if (name := f"{letter}{number}") not in names)


def _chosen(among: Iterable[str], which: int) -> str:
    keys = list(among)
    return keys[which % len(keys)]


def machine_for(
    rules: Rules, questions: Questions[World, Action] | None = None, size: Size | None = None
) -> type[StoryMachine]:
    """The state machine for certain rules, judged by certain questions; `.TestCase` makes it a unittest."""
    attributes = {
        "machinery": rules,
        "questions": questions or Questions(),
        "size": size or Size(),
        "tally": Tally(),
    }
    return type("Story", (StoryMachine,), attributes)


@frozen
class Fuzzed:
    """What random runs came to: how many there were, and the first broken one, made small.

    `missed` are the witnesses that no run reached; `interrupted` says that there were to be more runs. Random runs
    never show that a property holds, so the verdict is at best `inconclusive`.
    """

    runs: int
    steps: int
    missed: tuple[str, ...] = ()
    violation: Violation | None = None
    path: Path[World, Action] | None = None
    interrupted: bool = False

    @property
    def verdict(self) -> Verdict:
        if self.violation is not None:
            return Verdict.VIOLATED
        return Verdict.VACUOUS if self.missed and not self.interrupted else Verdict.INCONCLUSIVE

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.runs:,} runs, {self.steps:,} steps"]
        if self.violation is not None and self.path is not None:
            lines += [f"  violated after {len(self.path)} steps: {self.violation}", *story(self.path)]
        lines += [f"  never reached: {name}" for name in self.missed]
        return "\n".join(lines)


def fuzz(
    rules: Rules,
    questions: Questions[World, Action] | None = None,
    *,
    size: Size | None = None,
    runs: int = 100,
    length: int = 50,
    seed: int = 0,
) -> Fuzzed:
    """So many random runs of up to `length` rules each; the same for the same seed, whatever else is loaded.

    A broken one is made small: without any one of its steps the property is not broken any more. A Ctrl-C ends with
    what there is by then.
    """
    machine = machine_for(rules, questions, size)
    seeded(seed)(machine)
    found: tuple[Violation, Path[World, Action]] | None = None
    interrupted = False
    try:
        # Hypothesis mixes numbers from the source of whatever modules are loaded into what it draws.
        unmixed = patch.multiple(providers, _get_local_constants=Constants, CONSTANTS_CACHE={})
        with unmixed, deferred_interrupts() as machine.tally.interrupts:
            run_state_machine_as_test(machine, settings=_settings(runs, length))
    except BrokenError as broken:
        found = broken.violation, broken.path
    except KeyboardInterrupt:
        interrupted = True
    if found is not None:
        try:
            found = shortened(*found, rules, machine.questions)
        except KeyboardInterrupt:
            interrupted = True
    asked = (*machine.questions.witnesses, *machine.questions.step_witnesses)
    return Fuzzed(
        runs=machine.tally.runs,
        steps=machine.tally.steps,
        missed=tuple(name for name in asked if name not in machine.tally.reached),
        violation=found[0] if found is not None else None,
        path=found[1] if found is not None else None,
        interrupted=interrupted,
    )


def _settings(runs: int, length: int) -> settings:
    return settings(
        max_examples=runs,
        stateful_step_count=length,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large),
        phases=(Phase.generate,),
    )
