"""What the scheduler may do next: a cycle, with what time does before it and the calls that end unseen after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations

from attrs import evolve, field, frozen

from gangproof.impl.actions import Action, cycle_steps, sights, successors
from gangproof.impl.cycle_state import Event
from gangproof.impl.memory import Entry
from gangproof.impl.queue import asks_early, group_of, notice
from gangproof.impl.rules import Rules
from gangproof.impl.store import SCHEDULER, view
from gangproof.impl.world import World
from gangproof.properties.conformance.events import Observed
from gangproof.properties.conformance.shown import Shown
from gangproof.properties.conformance.standing import BeyondError, Reader, Stand, Way
from gangproof.properties.search.machine import CLOCK

Cycles = Callable[[World, Way], Iterator[Way]]
"""From a world in which somebody may be tried, and the way there, to the ways on from it."""

PREEMPTION = "DefaultPreemption"
POD_VIEW = view(SCHEDULER, "pod")
CALLS_END = ("evict", "evict-fails", "last-call")
MOST_APART = 3
"""Of more backoffs than these not every set that may have run out is looked at."""
MOST_AT_ONCE = 5
"""Of more groups and plain pods in backoff than these not every set that may come out at once is looked at."""
FLUSH_AFTER = 300
"""Seconds after which an entry of the pool may meet the flush (QUEUE-26)."""


@frozen
class Turn:
    """What the scheduler may do next, with what time does before it and the calls that end unseen after it.

    `shows` is what it shows. It is `open` if calls are left whose end shows.
    """

    way: Way
    shows: tuple[Observed, ...]
    open: bool

    @property
    def quiet(self) -> bool:
        """Whether nothing of it is seen."""
        return not self.shows and not self.open

    @property
    def tried(self) -> tuple[str, ...]:
        """For whom cycles begin."""
        return tuple(action.args[0] for action, _ in self.way if action.name == "pop")


@frozen
class Turns:
    """The turns of the scheduler whose log is read, remembered by world: a failing group is tried over and over.

    `rare` says whether what is rare is looked at too: backoffs of a group's members that end one by one, those of
    several groups that end at once, evictions that the scheduler sees later than they end.
    """

    reader: Reader
    rare: bool = False
    known: dict[tuple[World, Shown, bool], tuple[Turn, ...]] = field(
        factory=dict[tuple[World, Shown, bool], tuple[Turn, ...]]
    )

    def after(self, stand: Stand, until: float) -> tuple[Turn, ...]:
        """Every turn from the stand; time passes only when nobody can be tried at once, and if `until` is not 0.

        With SchedulerPopFromBackoffQ the scheduler need not wait: who comes first out of backoff is a matter
        of time, and time is left open (QUEUE-19).
        """
        key = (stand.world, stand.shown, until > 0)
        if key not in self.known:
            self.known[key] = tuple(self.turn(stand, way) for way in self.ways(stand.world, until > 0))
        if until < FLUSH_AFTER or active(stand.world):
            return self.known[key]
        return (*self.known[key], *(self.turn(stand, way) for way in self.flushed(stand.world)))

    def turn(self, stand: Stand, way: Way) -> Turn:
        after, shows = self.reader.taken(stand, way)
        return Turn(after.since(stand), tuple(shows), any(self.reader.calls(after.world)))

    def beginnings(self, stand: Stand) -> tuple[Turn, ...]:
        """Every way in which the next cycle takes its members and its snapshot; time passes if it has to."""
        for timely in (False, True):
            ways = tuple(self.ways(stand.world, timely, self.begun))
            if ways:
                return tuple(self.turn(stand, way) for way in ways)
        return ()

    def ends(self, stand: Stand) -> tuple[Turn, ...]:
        """Every way in which the cycle that runs comes to its end."""
        return tuple(self.turn(stand, way) for way in self.endings(stand.world))

    def ways(self, world: World, timely: bool, cycles: Cycles | None = None) -> Iterator[Way]:
        cycles = cycles or self.cycles
        if active(world):
            yield from cycles(world, ())
            return
        early = asks_early(world)
        for clocks in self.over_next(world, timely):
            over = cooled(self.reader.rules, world, clocks)
            after = over[-1][1]
            back = [
                old
                for old, new in zip(world.queue, after.queue, strict=True)
                if old.place == "backoff" != new.place
            ]
            if back and (timely or (early and any(entry.plugins for entry in back))):
                if active(after):
                    yield from cycles(after, over)
                else:
                    yield over

    def clocks(self, world: World) -> list[tuple[str, ...]]:
        """The backoffs that still run, those of a group's members together."""
        found: dict[str, list[str]] = {}
        for clock in self.reader.rules.cooling(world):
            entry = world.entry(clock)
            found.setdefault((entry and group_of(world, entry)) or clock, []).append(clock)
        return list(map(tuple, found.values()))

    def over_next(self, world: World, timely: bool) -> Iterator[tuple[str, ...]]:
        """Which backoffs may run out next: those of one group, and where time passes also those of several at once."""
        groups = self.clocks(world)
        yield from chain.from_iterable(map(self.next_over, groups))
        if timely and self.rare and len(groups) > 1:
            sizes = range(2, len(groups) + 1)
            if len(groups) > MOST_AT_ONCE:
                self.reader.frontier.left_out.add("backoffs that end at once")
                sizes = (2, len(groups))
            for size in sizes:
                yield from (tuple(chain(*some)) for some in combinations(groups, size))

    def next_over(self, clocks: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Which of a group's backoffs may run out next: who is still in backoff comes along with the first."""
        alone = [(clock,) for clock in clocks] if self.rare and len(clocks) > 1 else []
        return [clocks, *alone]

    def any_over(self, world: World, clocks: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Which of a group's backoffs may have run out some time ago.

        It matters who was let in by PreEnqueue then, and who will be asked later, when a sibling is popped.
        """
        if asks_early(world) or not self.rare or len(clocks) == 1:
            return [(), *self.next_over(clocks)]
        sizes = range(len(clocks) + 1)
        if len(clocks) > MOST_APART:
            self.reader.frontier.left_out.add("backoffs that end apart")
            sizes = (0, 1, len(clocks) - 1, len(clocks))
        return [some for size in sizes for some in combinations(clocks, size)]

    def flushed(self, world: World) -> Iterator[Way]:
        after = notice(self.reader.rules, world, Event("Flush"))
        if after != world:
            yield from self.cycles(after, ((Action("flush"), after),))

    def begun(self, world: World, way: Way) -> Iterator[Way]:
        for popped in cycle_steps(world, self.reader.rules):
            for seen in cycle_steps(popped[1], self.reader.rules):
                yield (*way, popped, seen)

    def cycles(self, world: World, way: Way) -> Iterator[Way]:
        yield from ((*way, *ended) for ended in self.endings(world))

    def endings(self, world: World) -> Iterator[Way]:
        """The cycle that is next, or that runs, to its end; with what may be over by then, and how it is noted."""
        for action, _ in successors(world, self.reader.rules):
            if action.name == "cycle":
                self.refuse_contest(action.via)
                for ended in self.evicting(action.via):
                    yield from ((*ended, *noted) for noted in as_noted(world, ended[-1][1]))

    def evicting(self, via: Way) -> Iterator[Way]:
        """The cycle as it is, and with evictions that end while its members are still put back one by one."""
        place = next((n for n, (_, after) in enumerate(via) if _may_end_calls(after)), None)
        if place is None:
            yield via
            return
        yield from self.meanwhile(via[: place + 1])
        if self.rare:
            yield from self.meanwhile(_seen_later(via[: place + 1]))

    def meanwhile(self, begun: Way) -> Iterator[Way]:
        """How the cycle may go on while evictions end; what they changed is seen by its end at the latest."""
        rules, lag = self.reader.rules, begun[0][1].environment.lag
        outcomes: dict[World, Way] = {}
        met: set[World] = set()
        stack = [begun]
        while stack:
            so_far = stack.pop()
            now = so_far[-1][1]
            if now in met:
                continue
            met.add(now)
            steps = list(sights(now, rules))
            if now.cycle is not None:
                ended = (s for s in successors(now, rules, "fine") if s[0].name in CALLS_END)
                steps = [*ended, *cycle_steps(now, rules), *steps]
            elif not steps:
                prompt = evolve(now, environment=evolve(now.environment, lag=lag))
                outcomes.setdefault(prompt, (*so_far[:-1], (so_far[-1][0], prompt)))
            stack.extend((*so_far, step) for step in reversed(steps))
        yield from outcomes.values()

    def refuse_contest(self, via: Way) -> None:
        """A recorder that takes nodes by name weighs domains that fit by scores of its own, not those of SCORE-14."""
        for _, after in via if via[-1][1].settings.rank else ():
            cycle = after.cycle
            weighed = cycle is not None and cycle.stage == "weighing" and cycle.ahead and cycle.ahead[0].fits
            if cycle is None or not weighed:
                continue
            if self.reader.rules.verdict(self.reader.rules, after, cycle) in ("Success", "Waiting"):
                raise BeyondError("several topology domains that fit")


def as_noted(before: World, after: World) -> Iterator[Way]:
    """The ways in which it may be noted who holds back the pods that a cycle left behind (CHO-04).

    Of a preemption under way and another plugin the queue may note the preemption alone, whose events wake nobody.
    """
    yield ()
    noted = tuple(
        evolve(entry, plugins=(PREEMPTION,)) if _held_twice(entry) and entry not in before.queue else entry
        for entry in after.queue
    )
    if noted != after.queue:
        yield ((Action("note", (PREEMPTION,)), evolve(after, queue=noted)),)


def _held_twice(entry: Entry) -> bool:
    return entry.place == "gated" and PREEMPTION in entry.plugins and entry.plugins != (PREEMPTION,)


def cooled(rules: Rules, world: World, clocks: Iterable[str]) -> Way:
    """These backoffs run out, one after another."""
    way: Way = ()
    for clock in clocks:
        way = (*way, (Action(CLOCK, (clock,)), rules.expire(rules, way[-1][1] if way else world, clock)))
    return way


def _may_end_calls(world: World) -> bool:
    """Whether a cycle is being submitted that has evictions on their way."""
    submitting = world.cycle is not None and world.cycle.stage == "submitting"
    return submitting and any(running.calls for running in world.rounds.values())


def _seen_later(way: Way) -> Way:
    """The way, at whose end the scheduler begins to see late what becomes of pods."""
    action, world = way[-1]
    unhurried = evolve(world.environment, lag=world.environment.lag.put(POD_VIEW, len(world.pods)))
    return (*way[:-1], (action, evolve(world, environment=unhurried)))


def active(world: World) -> bool:
    return any(entry.place == "active" for entry in world.queue)
