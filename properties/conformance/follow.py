"""Following a recorded run: the set of everything that the model may have done so far, step by step.

Each step of the recorder moves the whole set. What the log does not show is left open: how often somebody was
tried in vain, whose backoff ran out first, which of several equal choices was made. A stand that the log or a
look contradicts drops out; if none is left, the run differs, and the furthest stands tell what the model would
have done instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from math import prod

from attrs import evolve, frozen

from gangproof.impl.actions import Action, permit_timeouts
from gangproof.impl.api import ApiError
from gangproof.impl.deviations import DEVIATIONS
from gangproof.impl.profiles import INTENDED
from gangproof.impl.queue import asks_early
from gangproof.impl.restart import restart
from gangproof.impl.rules import Rules, profile
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.conformance.agreement import Unlike, unlike
from gangproof.properties.conformance.events import Observed
from gangproof.properties.conformance.followed import Difference, Followed
from gangproof.properties.conformance.kinds import thing_of
from gangproof.properties.conformance.outside import Outside, changes
from gangproof.properties.conformance.recording import (
    Advance,
    Attempt,
    Cycles,
    Look,
    Recording,
    Refuse,
    Restart,
    Settle,
    Step,
)
from gangproof.properties.conformance.shown import told
from gangproof.properties.conformance.standing import BeyondError, Reader, Stand, together
from gangproof.properties.conformance.turns import Turn, Turns, active, cooled

LONGEST_BACKOFF = 10
"""Seconds (SEMANTICS 0.4)."""
PERMIT_TIMEOUT = 300
"""Seconds that a member waits at Permit (BIND-09)."""
ORDER = "DEV-11"
LATE_GROUP = "a group that comes after a pod with a claim from a template"
MOST_EXPECTED = 4
MOST_STANDS = 10_000
"""Ways to stand within one step, unless said otherwise; a run that needs more is not followed to its end."""


@cache
def rules_for(pinned: bool) -> Rules:
    """Version 1.36.3, races included, of which none strikes here: whatever may be late is over before a cycle.

    The recorder may have pinned the order of members (QUEUE-19d).
    """
    return profile(INTENDED, *(d.change for d in DEVIATIONS if not (pinned and d.id == ORDER)))


class _TooMuchError(Exception):
    """More may have happened in one step than is looked at."""


def follow(
    recording: Recording, most: int = MOST_STANDS, rules: Callable[[bool], Rules] | None = None
) -> Followed:
    """Follow one run to its end, or to the first thing that the model would not have done.

    It is cut where the model may stand in more than so many ways within one step. `rules` gives the model, told
    whether the order of members is pinned: version 1.36.3, unless somebody asks whether the run would notice
    another. Turns that are rare are looked at only in a second reading: the others explain nearly everything and are
    far fewer.
    """
    if recording.needs:
        return Followed(recording.name, needs=recording.needs)
    model = (rules or rules_for)(recording.pinned)
    found = _follow(recording, most, model, rare=False)
    return found if found.difference is None else _follow(recording, most, model, rare=True)


def _follow(recording: Recording, most: int, rules: Rules, *, rare: bool) -> Followed:
    reader = Reader(
        rules, recording.log, recording.inner, recording.claims, recording.controlled, recording.pinned
    )
    follower = _Follower(recording, reader, Turns(reader, rare), most)
    try:
        return follower.run()
    except BeyondError as beyond:
        return Followed(recording.name, needs=(str(beyond),))
    except _TooMuchError:
        return Followed(recording.name, cut=True)


@frozen
class _Follower:
    """One run on its way."""

    recording: Recording
    reader: Reader
    turns: Turns
    most: int

    def run(self) -> Followed:
        stands = [Stand(World(settings=self.recording.settings))]
        for number, step in enumerate(self.recording.steps):
            after = self.after(step, stands, self.known_until(number))
            if not after:
                return self.differs(self.difference(step, stands))
            stands = after
        last = self.recording.cycles
        if not any(self.reader.next(stand) is None and stand.may_have_begun(last) for stand in stands):
            return self.differs(self.left_over(stands))
        return Followed(self.recording.name, len(self.recording.log))

    def differs(self, difference: Difference) -> Followed:
        """The run differs, unless what it did may be among the ways that were left out."""
        if self.reader.frontier.left_out:
            raise BeyondError(", ".join(sorted(self.reader.frontier.left_out)))
        return Followed(self.recording.name, max(self.reader.frontier.index, 0), (), difference)

    def known_until(self, number: int) -> float:
        """The second of the first look from this step on, infinite if there is none."""
        looks = (step.time for step in self.recording.steps[number:] if isinstance(step, Look))
        return next(looks, float("inf"))

    def after(self, step: Step, stands: Sequence[Stand], until: float) -> list[Stand]:
        """Every stand after the step."""
        if isinstance(step, Look):
            seen = (s for stand in stands for late in self.at_a_look(stand) for s in self.seen(late, step))
            return together(seen)
        if isinstance(step, Settle):
            return self.settled(step, stands, until)
        if isinstance(step, Advance):
            return together(s for stand in stands if (s := self.later(stand, step.seconds)) is not None)
        rested = together(late for stand in stands for late in self.late(stand))
        if isinstance(step, Cycles):
            return self.cycled(step.limit, rested)
        if isinstance(step, Attempt):
            return self.attempted(step, rested)
        if isinstance(step, Restart):
            return together(map(self.restarted, rested))
        if isinstance(step, Refuse):
            return together(s for stand in rested if (s := self.refused(step.step, stand)) is not None)
        return together(s for stand in rested if (s := self.changed(step, stand)) is not None)

    def later(self, stand: Stand, seconds: float) -> Stand | None:
        """The stand after so much time, in which those that wait at Permit may give up; None if the log says no."""
        now: Stand | None = evolve(stand, timely=True)
        while now is not None and seconds >= PERMIT_TIMEOUT:
            timeout = next(permit_timeouts(now.world, self.reader.rules), None)
            if timeout is None:
                break
            now = self.reader.advance(now, (timeout,))
        return now

    def late(self, stand: Stand) -> Iterator[Stand]:
        """The stand with any of the backoffs over that may have run out since the scheduler had its turn."""
        if not stand.timely:
            yield stand
            return
        stand = evolve(stand, timely=False)
        choices = [self.turns.any_over(stand.world, clocks) for clocks in self.turns.clocks(stand.world)]
        if prod(map(len, choices)) > self.most:
            raise _TooMuchError
        for over in product(*choices):
            yield stand.then(cooled(self.reader.rules, stand.world, chain(*over)))

    def at_a_look(self, stand: Stand) -> Iterable[Stand]:
        """The stand as somebody may see it: who leaves backoff waits still, unless PreEnqueue holds it back."""
        world, rules = stand.world, self.reader.rules
        backing_off = (world.pods[entry.pod] for entry in world.queue if entry.place == "backoff")
        held = not asks_early(world) and any(rules.gate(rules, world, pod) for pod in backing_off)
        return self.late(stand) if held else (stand,)

    def seen(self, stand: Stand, look: Look) -> Iterator[Stand]:
        """The stand, if it is what was seen; with the number of cycles that was noted, if one was."""
        if self.in_time(stand, look) and not any(unlike(stand.world, look)):
            counts = stand.counts if look.cycles is None else stand.counts & 1 << look.cycles
            if counts:
                yield evolve(stand, counts=counts)

    def in_time(self, stand: Stand, look: Look) -> bool:
        """Whether exactly that much of the log is explained which was written before the look."""
        log, index = self.recording.log, stand.index
        if look.events is not None:
            return index == look.events
        before = index == 0 or log[index - 1].time <= look.time
        return before and (index == len(log) or log[index].time >= look.time)

    def changed(self, step: Outside, stand: Stand) -> Stand | None:
        """The stand after what users do; None if the log shows it otherwise."""
        now: Stand | None = stand
        for change in changes(step, stand.world, self.reader.rules):
            if now is None:
                return None
            try:
                action, after, shows = change(now.world)
            except ApiError:
                return None
            if self.recording.controlled and comes_late(now.world, after):
                raise BeyondError(LATE_GROUP)
            now = self.reader.advance(now, ((action, after),), also=shows)
        return now

    def restarted(self, stand: Stand) -> Stand:
        """The stand after a restart; calls that the scheduler before has made might still end."""
        if stand.world.bindings or any(running.calls for running in stand.world.rounds.values()):
            raise BeyondError("a restart in the midst of calls")
        after = restart(self.reader.rules, stand.world)
        if not self.recording.pinned:
            after = evolve(after, admitted=tuple(_let_in_at_once(after)))
        return stand.then(((Action("restart", ("scheduler",)), after),))

    def refused(self, step: Step, stand: Stand) -> Stand | None:
        """The stand after what went before a refusal; None if the model would not refuse."""
        if not isinstance(step, Outside):
            raise BeyondError(f"a refusal of the step {type(step).__name__.lower()}")
        now: Stand | None = stand
        for change in changes(step, stand.world, self.reader.rules):
            if now is None:
                return None
            try:
                action, after, shows = change(now.world)
            except ApiError:
                return now
            now = self.reader.advance(now, ((action, after),), also=shows)
        return None

    # the scheduler's turns

    def settled(self, step: Settle, stands: Sequence[Stand], until: float) -> list[Stand]:
        """Every stand in which the scheduler may come to rest."""
        found: dict[Stand, int] = {}
        waiting = [late for stand in stands for late in self.late(stand)]
        while waiting:
            stand = waiting.pop()
            new = stand.counts & ~found.get(stand, 0)
            if new:
                self.reader.frontier.met(stand)
                found[stand] = found.get(stand, 0) | new
                if len(found) > self.most:
                    raise _TooMuchError
                waiting.extend(self.moves(evolve(stand, counts=new), self.turns.after(stand, until)))
        return together(
            _rested(evolve(stand, counts=counts), step.idle)
            for stand, counts in found.items()
            if self.at_rest(stand, step.idle)
        )

    def cycled(self, limit: int, stands: Sequence[Stand]) -> list[Stand]:
        """Every stand after so many cycles, or after fewer where nobody is left to be tried."""
        ended: list[Stand] = []
        for _ in range(limit):
            turns = [(stand, self.turns.after(stand, 0)) for stand in stands]
            ended.extend(stand for stand, possible in turns if not possible)
            stands = together(after for stand, possible in turns for after in self.moves(stand, possible))
        return together((*ended, *stands))

    def attempted(self, step: Attempt, stands: Sequence[Stand]) -> list[Stand]:
        """Every stand after one cycle, for which time passed if it had to; the same if nobody is to be tried."""
        begun: list[Stand] = []
        ended: list[Stand] = []
        for stand in stands:
            turns = self.turns.beginnings(stand)
            for turn in turns:
                if not turn.tried:
                    ended.extend(self.attempted(step, list(self.moves(stand, (turn,)))))
                else:
                    begun.extend(self.moves(stand, (turn,)))
            if not turns:
                ended.append(stand)
        seen = together(begun)
        placing = [stand for stand in seen if _places(stand.world)]
        over = [s for stand in seen if not _places(stand.world) for s in self.ended(stand)]
        for during in step.during:
            placing = self.after(during, placing, 0)
            over = self.after(during, over, 0)
        return together((*ended, *over, *(s for stand in placing for s in self.ended(stand))))

    def ended(self, stand: Stand) -> Iterator[Stand]:
        """The stands after the end of the cycle that runs, if one does."""
        return self.moves(stand, self.turns.ends(stand)) if stand.world.cycle is not None else iter((stand,))

    def moves(self, stand: Stand, turns: Iterable[Turn]) -> Iterator[Stand]:
        """The stands after one turn more, as far as the log allows it."""
        logged = self.reader.next(stand)
        latest = self.recording.cycles if logged is None else logged.cycle
        for turn in turns:
            counts = stand.counts << len(turn.tried) & (2 << latest) - 1
            now = counts & 1 << latest if logged is not None else 0
            if turn.quiet and counts & ~now:
                yield stand.then(turn.way, counts=counts & ~now)
            rest = now if turn.quiet else counts
            if rest and (after := self.reader.advance(evolve(stand, counts=rest), turn.way)) is not None:
                yield after

    def at_rest(self, stand: Stand, idle: int) -> bool:
        """Whether the recorder may have stopped here: who waits has been tried once more, and nothing showed."""
        if stand.world.settings.backoff and active(stand.world):
            return False
        if idle < 2 * LONGEST_BACKOFF:
            return True
        in_vain: dict[tuple[str, ...], bool] = {}
        for turn in self.turns.after(stand, 1):
            in_vain[turn.tried] = in_vain.get(turn.tried, False) or self.in_vain(stand.world, turn)
        return all(in_vain.values())

    def in_vain(self, world: World, turn: Turn) -> bool:
        """Whether somebody was tried, and nothing in the API changes by it."""
        if not turn.tried or turn.open:
            return False
        return not turn.shows or not told(self.reader.rules, world, turn.way, Table(), inner=False)[0]

    # what is wrong

    def difference(self, step: Step, stands: Sequence[Stand]) -> Difference:
        """Why no stand is left after the step."""
        timely = [s for s in stands if self.in_time(s, step)] if isinstance(step, Look) else []
        if not isinstance(step, Look) or not timely:
            return self.left_over(stands)
        stand = min(timely, key=lambda s: sum(1 for _ in unlike(s.world, step)))
        cycles = Unlike("cycles", f"{stand.cycles} cycles", f"{step.cycles} cycles")
        first = next(unlike(stand.world, step), cycles)
        where, things = f"a look at {step.time:g} s", (first.thing, frozenset({first.thing}))
        return Difference(where, stand.index, (first.expected,), first.found, things, stand.path)

    def left_over(self, stands: Sequence[Stand]) -> Difference:
        """The first event of the log, or its end, that no stand explains."""
        frontier, log = self.reader.frontier, self.recording.log
        for stand in stands:
            frontier.met(stand)
        expected: dict[str, str] = {}
        for stand, shows in frontier.stands:
            for event in shows if shows is not None else self.next_shown(stand):
                expected[f"{event} (cycle {stand.cycles + (shows is None)})"] = thing_of(event)
        at, place = frontier.stands[0][0], frontier.index
        logged = log[place] if place < len(log) else None
        things = (thing_of(logged and logged.event), frozenset(expected.values()))
        where, found = f"event {place + 1} of {len(log)}", str(logged or "nothing more")
        return Difference(where, place, tuple(expected)[:MOST_EXPECTED], found, things, at.path)

    def next_shown(self, stand: Stand) -> Iterator[Observed]:
        """What the model may show next, whatever the log says."""
        for turn in self.turns.after(stand, 1):
            yield from turn.shows[:1]


def comes_late(before: World, after: World) -> bool:
    """Whether a group comes on whose pods the claim controller gave up: it looks at them again after some time."""
    new = after.groups.keys() - before.groups.keys()
    return any(
        entry.resource_claim_template_name is not None
        for pod in before.pods.values()
        if pod.group in new
        for entry in pod.resource_claims
    )


def _places(world: World) -> bool:
    """Whether a cycle runs that is about to look for a place for its first member."""
    return world.cycle is not None and world.cycle.stage == "placing"


def _let_in_at_once(world: World) -> Iterator[tuple[int, ...]]:
    """The uids of the members of each group: in which order those come that are let in at once, no recorder tells."""
    admitted = set(chain(*world.admitted))
    groups: dict[str, list[int]] = {}
    for pod in world.pods.values():
        if pod.group is not None and pod.uid in admitted:
            groups.setdefault(pod.group, []).append(pod.uid)
    yield from (tuple(sorted(uids)) for uids in groups.values())


def _rested(stand: Stand, idle: int) -> Stand:
    """The stand after the wait for something to happen; who was not tried in it has cooled down."""
    queue = stand.world.queue
    if idle < 2 * LONGEST_BACKOFF or not any(entry.place == "backoff" for entry in queue):
        return evolve(stand, timely=True)
    cooled = tuple(evolve(e, cooling=False) if e.place in ("pool", "gated") else e for e in queue)
    return evolve(stand, timely=True, world=evolve(stand.world, queue=cooled))
