"""Fewer interleavings where views lag: a component sees things right before it acts, and not at other times.

That a view sees the next change is an action of its own (`see`), and where every view may be behind there are as
many orders of these as there are ways to mix them with everything else. Most of the orders differ in nothing: what
the Job controller sees while a pod is bound changes neither the bind nor what it comes to.

*The claim.* Let `c` be a component all of whose views lag, and `b` an action that does not read what `c` sees or
remembers (`readers`). Then `b` and a `see` of `c` commute: in whatever order, both stay possible and lead to the same
world, and what is asked of the two steps is answered alike. A test tries it at every step of random worlds.

*What follows.* In a run that ends at rest every `see` can be moved past the actions that do not read it, up to one that
does, or to the end. A change that takes a view beyond its bound does not hinder that: then the component has to see
something, of whichever view, before anything else happens. So these runs suffice: once a component has seen
something, it goes on seeing or acts; and it begins only if that leads to an act of it. Everything is seen
where the clock moves, which waits for everybody, and where the run rests. Such a set of actions is persistent in the
sense of partial-order reduction: no run leads from outside of it to something that depends on it. No `see` is put off
for ever, since the logs are finite and nothing settles before they are empty.

Kept are the worlds in which runs settle, each act with what is stored and with what its actor sees and remembers, and
so whatever these break, at the same depth. Not visited are worlds that differ only in what others have seen meanwhile.

Among what one component sees the order matters, since a handler looks at other views too: a pod that is seen before
its group waits. Where a component must see something, or sees all that is left, one sight is enough if it is tried
out, and found, that it commutes with all others that are waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

from attrs import frozen

from gangproof.impl.actions import Action, sight
from gangproof.impl.store import late, view
from gangproof.impl.views import deliverable, overdue
from gangproof.impl.world import World
from gangproof.properties.late.lag import views
from gangproof.properties.search.explore import Counterexample, Exploration, Graph, Limits, explore_graph
from gangproof.properties.search.machine import CLOCK, Machine
from gangproof.properties.search.system import Path, Questions, Transitions

T = TypeVar("T")

Step = tuple[Action, World]

SEE = "see"
SCHEDULER, ADMISSION, JOBS, PROTECTION = "scheduler", "admission", "job-controller", "protection-controller"
CLAIMS = "claim-controller"
ORDER = (SCHEDULER, ADMISSION, JOBS, PROTECTION, CLAIMS)
"""The order in which components see things where it makes no difference."""
NOBODY, EVERYBODY = (), ("everybody",)
CYCLE = ("cycle", "pop", "snapshot", "place", "weigh", "preempt", "submit", "report")
CALLS = ("permit", "prebind", "bind", "evict")
OF_THE_SCHEDULER = frozenset({SCHEDULER})
READERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys((*CYCLE, *CALLS, *(f"{call}-fails" for call in CALLS)), OF_THE_SCHEDULER),
    **dict.fromkeys(("last-call", "permit-timeout", "restart"), OF_THE_SCHEDULER),
    **dict.fromkeys(
        ("end", "delete", "finish", "crash", "foreign-bind", "lose", "collect"), frozenset[str]()
    ),
    **dict.fromkeys(("create", "create-fails", "lands"), frozenset[str]()),
    **dict.fromkeys(("sync", "make", "make-fails", "remove", "remove-fails"), frozenset({JOBS})),
    **dict.fromkeys(("write", "write-fails"), frozenset({JOBS})),
    "let-go": frozenset({PROTECTION}),
    "claim-controller": frozenset({CLAIMS}),
    CLOCK: frozenset(ORDER),
}
"""By name of every action but `see` the components by whose views and memory it goes."""
TOGETHER = (OF_THE_SCHEDULER, frozenset({ADMISSION, JOBS}), frozenset({PROTECTION}), frozenset({CLAIMS}))
"""Who may be read by one action that is not the clock's."""
FROM_OUTSIDE = (
    "create",
    "create-fails",
    "delete",
    "end",
    "finish",
    "crash",
    "foreign-bind",
    "lose",
    "collect",
    "restart",
)
"""Actions for which the clock need not wait."""
HANDLED: Mapping[str, tuple[str, ...]] = {
    SCHEDULER: ("node", "pod", "podGroup", "claim", "deviceClass", "slice"),
    JOBS: ("job", "pod"),
}
"""By component the kinds of which it does something as soon as it sees a change; the others only remember it."""


def readers(action: Action) -> frozenset[str]:
    """The components by whose views and memory the action goes; admission where somebody makes a PodGroup.

    A KeyError for an action that nobody has said that of.
    """
    found = READERS[action.name]
    if action.name in ("create", "create-fails", "sync", "make", "make-fails") and any(
        "podGroup/" in a for a in action.args
    ):
        return found | {ADMISSION}
    return found


def view_of(sight: Action) -> str:
    """The view that sees something in an action `see`."""
    component, what = sight.args
    return view(component, what.partition("/")[0])


@frozen(cache_hash=True)
class Delivering:
    """A world, and who is just seeing things: some components, in their order, or nobody.

    It is everybody where all see what is left, so that the clock may move or the run rests.
    """

    world: World
    seeing: tuple[str, ...] = NOBODY


def reducible(world: World) -> frozenset[str]:
    """The components to which the claim applies: nothing happens to them but by what they see late.

    What a prompt Job controller has to do is looked at again after each action, so that then nothing is reduced.
    """
    at_once = {name.partition("/") for name in views(world) if not late(world, name)}
    mixed = {who for who, _, kind in at_once if kind in HANDLED.get(who, ())}
    if JOBS in mixed:
        return frozenset()
    return frozenset(ORDER) - mixed


def reduced(machine: Machine) -> Transitions[Delivering, Action]:
    """The machine, with every component seeing things right before it acts."""
    taking = frozenset(ORDER).intersection(*map(reducible, machine.worlds))

    @lru_cache(maxsize=1 << 14)
    def sees(world: World, component: str) -> tuple[Step, ...]:
        names = [name for name in deliverable(world) if name.startswith(f"{component}/")]
        return tuple(sight(world, machine.rules, name) for name in names)

    def acts(world: World, seeing: tuple[str, ...]) -> Iterator[Step]:
        for step in machine.acts(world):
            if readers(step[0]).issuperset(seeing):
                yield step

    @lru_cache(maxsize=1 << 14)
    def leads(world: World, seeing: tuple[str, ...]) -> bool:
        """Whether those who have seen something come to an act that goes by it, if they see more or not."""
        return any(acts(world, seeing)) or any(going_on(world, seeing))

    def going_on(world: World, seeing: tuple[str, ...]) -> Iterator[tuple[Action, Delivering]]:
        """What those who have seen something may see next on the way to an act."""
        last = seeing[-1]
        for component in ORDER[ORDER.index(last) :]:
            now = seeing if component == last else (*seeing, component)
            if any(reads.issuperset(now) for reads in TOGETHER):
                for action, after in sees(world, component):
                    if leads(after, now):
                        yield action, Delivering(after, now)

    @lru_cache(maxsize=1 << 14)
    def rests(world: World) -> bool:
        """Whether everything can be seen so that then the clock may move, or nothing can happen."""
        behind = {name.partition("/")[0] for name in deliverable(world)}
        if not behind:
            names = {action.name for action, _ in acts(world, NOBODY)}
            return not names or CLOCK in names
        for action, _ in acts(world, NOBODY):
            if action.name not in FROM_OUTSIDE and behind.isdisjoint(readers(action)):
                return False
        return any(seeing_the_rest(world))

    def seeing_the_rest(world: World) -> Iterator[tuple[Action, Delivering]]:
        component = next((who for who in ORDER if sees(world, who)), None)
        if component is None:
            return
        for action, after in enough(world, component, sees(world, component)):
            if rests(after):
                yield action, Delivering(after, EVERYBODY if any(deliverable(after)) else NOBODY)

    def enough(world: World, component: str, wanted: Iterable[Step]) -> Iterable[Step]:
        """One of the wanted sights that commutes with all else that the component sees; without one all of its."""
        return next(
            ((step,) for step in wanted if commutes(world, component, step[0])), sees(world, component)
        )

    @lru_cache(maxsize=1 << 14)
    def commutes(world: World, component: str, sight: Action) -> bool:
        """Whether it makes no difference when that is seen, among what else the component sees."""
        if component not in HANDLED:
            return True
        reached, waiting = {world}, [world]
        for here in waiting:
            every = dict(sees(here, component))
            for other, after in every.items():
                if other != sight:
                    later = dict(sees(after, component)).get(sight)
                    if later is None or later != dict(sees(every[sight], component)).get(other):
                        return False
                    if after not in reached:
                        reached.add(after)
                        waiting.append(after)
        return True

    def successors(now: Delivering) -> Iterator[tuple[Action, Delivering]]:
        world, seeing = now.world, now.seeing
        if seeing == EVERYBODY:
            yield from seeing_the_rest(world)
            return
        if late := overdue(world):
            first = min((name.partition("/")[0] for name in late), key=ORDER.index)
            hurried = [step for step in sees(world, first) if view_of(step[0]) in late]
            yield from ((action, Delivering(after)) for action, after in enough(world, first, hurried))
            return
        yield from ((action, Delivering(after)) for action, after in acts(world, seeing))
        if seeing != NOBODY:
            yield from going_on(world, seeing)
            return
        for component in ORDER:
            for action, after in sees(world, component):
                if component not in taking:
                    yield action, Delivering(after)
                elif leads(after, (component,)):
                    yield action, Delivering(after, (component,))
        if rests(world):
            yield from seeing_the_rest(world)

    return Transitions(
        lambda: map(Delivering, machine.initial()),
        successors,
        lambda now: (machine.key(now.world), now.seeing),
    )


def explore_reduced(
    machine: Machine, questions: Questions[World, Action] | None = None, limits: Limits | None = None
) -> tuple[Exploration[World, Action], Graph[World, Action]]:
    """As `explore_graph`, reduced. A state is then a world and who is seeing things; its paths are the machine's."""
    found, graph = explore_graph(reduced(machine), _of_the_worlds(questions or Questions()), limits)
    worlds = Graph(tuple(state.world for state in graph.states), graph.edges, graph.roots)
    examples = {
        name: Counterexample(example.violation, _path(example.path))
        for name, example in found.counterexamples.items()
    }
    return (
        Exploration(
            states=found.states,
            transitions=found.transitions,
            depth=found.depth,
            stop=found.stop,
            counterexamples=examples,
            witnesses={name: _path(path) for name, path in found.witnesses.items()},
            missed=found.missed,
            terminal=tuple(state.world for state in found.terminal),
        ),
        worlds,
    )


def _path(path: Path[Delivering, Action]) -> Path[World, Action]:
    return Path(path.initial.world, tuple((action, now.world) for action, now in path.steps))


def _of_the_worlds(asked: Questions[World, Action]) -> Questions[Delivering, Action]:
    return Questions(
        invariants=[_of_the_world(judge) for judge in asked.invariants],
        steps=[_of_step(judge) for judge in asked.steps],
        terminal=[_of_the_world(judge) for judge in asked.terminal],
        witnesses={name: _of_the_world(reached) for name, reached in asked.witnesses.items()},
        step_witnesses={name: _of_step(reached) for name, reached in asked.step_witnesses.items()},
    )


def _of_the_world(ask: Callable[[World], T]) -> Callable[[Delivering], T]:
    return lambda now: ask(now.world)


def _of_step(ask: Callable[[World, Action, World], T]) -> Callable[[Delivering, Action, Delivering], T]:
    return lambda before, action, after: ask(before.world, action, after.world)
