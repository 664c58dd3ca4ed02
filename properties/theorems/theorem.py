"""What a theorem is here: a statement, a scope, and a search that shows it there or finds its smallest refutation.

Refutations are found by going through worlds in the order of their size, so what is found is smallest: no
smaller world of the scope refutes the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from attrs import field, frozen

from gangproof.impl.actions import Action, cycle_steps
from gangproof.impl.bulk import world_of
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.gates import Object
from gangproof.impl.objects import Node, Pod
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.properties.search.system import Path


@frozen
class Size:
    """How small a world is: objects first, then what its nodes have, then what its pods ask for, in CPUs."""

    objects: int
    room: int
    asked: int

    def __str__(self) -> str:
        return f"objects {self.objects}, CPUs of nodes {self.room}, CPUs of pods {self.asked}"


@frozen
class Case:
    """One world of a scope, as the objects that are created in it, in this order."""

    objects: tuple[Object, ...]
    settings: Settings = Settings()

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(obj for obj in self.objects if isinstance(obj, Node))

    @property
    def pods(self) -> tuple[Pod, ...]:
        return tuple(obj for obj in self.objects if isinstance(obj, Pod))

    @property
    def size(self) -> Size:
        room = sum(node.allocatable.get("cpu", 0) for node in self.nodes)
        asked = sum(pod.requests.get("cpu", 0) for pod in self.pods)
        return Size(len(self.objects), room // 1000, asked // 1000)

    def world(self, rules: Rules = INTENDED) -> World:
        """The world in which all this was just created, and nothing was scheduled yet."""
        return world_of(rules, self.objects, self.settings)


@frozen
class Answer:
    """What a search came to: how many cases it looked at, and the run that refutes the statement, if any."""

    cases: int
    case: Case | None = None
    path: Path[World, Action] | None = field(default=None, repr=False)
    why: str = ""


Refutation = tuple[Path[World, Action], str]
"""A run, and what is wrong with its last world."""


@frozen
class Theorem:
    """A row of SEMANTICS section 11 as far as it is judged here.

    `expected` says whether the statement is shown in the scope or refuted; `search` finds out.
    """

    id: str
    name: str
    statement: str
    scope: str
    expected: Literal["shown", "refuted"]
    search: Callable[[], Answer]
    profile: str = "intended"


def first(cases: Iterable[Case], refutes: Callable[[Case], Refutation | None]) -> Answer:
    """The first of the cases, by size, that refutes the statement; or that none does."""
    ordered = sorted(cases, key=_by_size)
    for number, case in enumerate(ordered, 1):
        found = refutes(case)
        if found is not None:
            return Answer(number, case, *found)
    return Answer(len(ordered))


def _by_size(case: Case) -> tuple[int, int, int]:
    size = case.size
    return size.objects, size.room, size.asked


def decisions(world: World, rules: Rules = INTENDED) -> Iterator[Path[World, Action]]:
    """Every way in which the next cycle may come to its verdict; nothing if nobody is ready to be tried."""
    stack: list[Path[World, Action]] = [Path(world)]
    met: set[World] = set()
    while stack:
        path = stack.pop()
        now = path.last
        if now.cycle is not None and now.cycle.stage == "submitting":
            yield path
            continue
        for action, after in reversed(list(cycle_steps(now, rules))):
            if after not in met and after.cycle is not None:
                met.add(after)
                stack.append(Path(world, (*path.steps, (action, after))))


def verdict(path: Path[World, Action]) -> Cycle:
    """The cycle that the run has just decided; a ValueError if it has decided none."""
    cycle = path.last.cycle
    if cycle is None:
        raise ValueError("the run does not end with a verdict")
    return cycle


def kept(cycle: Cycle) -> dict[str, str]:
    """The node of each member that the cycle keeps, by pod."""
    return {result.pod: result.node for result in cycle.results if result.node is not None}
