"""Where a follower may stand: a world of the model, how far the log has been explained, and how it came there.

A cycle and the calls that it starts run side by side, so within a cycle the log fixes no order but that of
events about one thing. A stand therefore takes a whole cycle of the model, and what this shows is then found
in the log in whatever order it stands there; binds and evictions end in the order of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from attrs import define, evolve, field, frozen

from gangproof.impl.actions import Action, Step, successors
from gangproof.impl.controllers.claims import passes
from gangproof.impl.limits import FEWER_WAYS
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import World
from gangproof.properties.conformance.agreement import holds, same
from gangproof.properties.conformance.events import Bound, Claimed, Logged, Observed, about
from gangproof.properties.conformance.shown import Shown, eviction, taken_back, told, writes
from gangproof.properties.search.system import Path

CONTROLLER = "claim-controller"
MOST_PASSES = 50
"""More passes of the claim controller than these one after another go round in a circle."""
RESTLESS = "a claim controller that comes to no rest"

Way = tuple[Step, ...]
"""Steps of the model, one after another."""


class BeyondError(Exception):
    """The run needs what the model does not have; its text says what."""


@frozen(cache_hash=True)
class Stand:
    """The model in this world explains the first `index` events of the log.

    `shown` is what was last shown of each object. `timely` says that time has passed since the scheduler last
    had its turn, so that any backoff may have run out unnoticed. `counts` are the numbers of cycles that may
    have begun by now, as bits: bit n is set if there may have been n. Stands that differ in their counts alone
    are equal, and `together` they have the counts of all.
    """

    world: World
    index: int = 0
    shown: Shown = Table()
    timely: bool = False
    counts: int = field(default=1, eq=False)
    before: Stand | None = field(default=None, eq=False, repr=False)
    way: Way = field(default=(), eq=False, repr=False)

    def since(self, start: Stand | None) -> Way:
        """The steps from an earlier stand to this one, from the empty cluster if it is None."""
        parts: list[Way] = []
        stand: Stand | None = self
        while stand is not None and stand is not start:
            parts.append(stand.way)
            stand = stand.before
        return tuple(step for part in reversed(parts) for step in part)

    @property
    def path(self) -> Path[World, Action]:
        """Everything that happened, from the empty cluster."""
        return Path(World(settings=self.world.settings), self.since(None))

    @property
    def cycles(self) -> int:
        """The lowest number of cycles that may have begun."""
        return (self.counts & -self.counts).bit_length() - 1

    def may_have_begun(self, cycles: int) -> bool:
        return bool(self.counts >> cycles & 1)

    def then(self, way: Way, **changes: object) -> Stand:
        """The stand after these steps of the model, if there are any."""
        world = way[-1][1] if way else self.world
        return evolve(self, world=world, before=self, way=way, **changes)


def together(stands: Iterable[Stand]) -> list[Stand]:
    """The stands, equal ones once with the counts of all, in the order in which they first came."""
    found: dict[Stand, Stand] = {}
    for stand in stands:
        first = found.get(stand)
        if first is None:
            found[stand] = stand
        elif stand.counts & ~first.counts:
            found[stand] = evolve(first, counts=first.counts | stand.counts)
    return list(found.values())


@define
class Frontier:
    """The stands at the furthest place in the log that was reached, in the order in which they came.

    Each is there with what the model would have shown next in the midst of a cycle; None between cycles. `left_out` is
    why the model may not have gone every way that there is.
    """

    index: int = -1
    stands: list[tuple[Stand, tuple[Observed, ...] | None]] = field(
        factory=list[tuple[Stand, tuple[Observed, ...] | None]]
    )
    left_out: set[str] = field(factory=set[str])

    def met(self, stand: Stand, expected: tuple[Observed, ...] | None = None) -> None:
        if stand.index > self.index:
            self.index = stand.index
            self.stands.clear()
        if stand.index == self.index:
            self.stands.append((stand, expected))


@frozen
class Reader:
    """The log of one run, and the rules by which it is read.

    `inner` if the scheduler tells of its inner steps, `claims` if what is written to claims is in the log, `controlled`
    if the claim controller is at work, `pinned` if the order of members is.
    """

    rules: Rules
    log: Sequence[Logged]
    inner: bool
    claims: bool
    controlled: bool = False
    pinned: bool = True
    frontier: Frontier = field(factory=Frontier, eq=False)

    def tells(self, event: Observed) -> bool:
        """Whether the log tells of such events."""
        return self.claims or not isinstance(event, Claimed)

    def calls(self, world: World) -> Iterator[tuple[Step, tuple[Observed, ...]]]:
        """The calls that may end now, and what the log tells of each; one that shows nothing has ended at once."""
        for step, shows in calls(world, self.rules):
            yield step, tuple(filter(self.tells, shows))
        for thing, after in passes(self.rules, world) if self.controlled else ():
            shows = tuple(filter(self.tells, taken_back(world, after)))
            yield (Action(CONTROLLER, (thing,)), after), shows

    def next(self, stand: Stand) -> Logged | None:
        """The next event of the log that has no explanation yet."""
        return self.log[stand.index] if stand.index < len(self.log) else None

    def taken(self, stand: Stand, way: Way) -> tuple[Stand, list[Observed]]:
        """The stand after these steps and the calls that end unseen, and what they show; BeyondError."""
        pending: list[Observed] = []
        turns, admitted = 0, len(stand.world.admitted)
        while way:
            turns += way[-1][0].name == CONTROLLER
            if turns > MOST_PASSES:
                raise BeyondError(RESTLESS)
            seen, shown = told(self.rules, stand.world, way, stand.shown, inner=self.inner)
            pending.extend(event for event in seen if self.tells(event))
            stand = stand.then(way, shown=shown)
            beyond = set(stand.world.ghost.beyond)
            self.frontier.left_out |= beyond & FEWER_WAYS
            if beyond - FEWER_WAYS:
                raise BeyondError(", ".join(sorted(beyond)))
            way = next(((step,) for step, shows in self.calls(stand.world) if not shows), ())
        if turns and not self.pinned:
            stand = evolve(stand, world=let_in_at_once(stand.world, admitted))
        return stand, pending

    def advance(self, stand: Stand, way: Way, also: Iterable[Observed] = ()) -> Stand | None:
        """The stand after these steps and everything that they set going; None if the log says otherwise.

        All that the steps show, and what the recorder `also` shows of them, must be in the log, in the cycle
        that is then the latest.
        """
        stand, shows = self.taken(stand, way)
        pending = [*also, *shows]
        turns = 0
        while True:
            logged = self.next(stand)
            if logged is None or not stand.may_have_begun(logged.cycle):
                break
            explained = self._explained(stand, pending, logged)
            if explained is None:
                break
            turns += any(action.name == CONTROLLER for action, _ in explained.since(stand))
            if turns > MOST_PASSES:
                raise BeyondError(RESTLESS)
            stand = explained
        waits = [shows[0] for _, shows in self.calls(stand.world) if shows]
        if pending or waits:
            self.frontier.met(stand, (*_heads(pending), *waits))
            return None
        return stand

    def _explained(self, stand: Stand, pending: list[Observed], logged: Logged) -> Stand | None:
        """The stand after this event: it is pending, a call ends by it, or it says nothing new."""
        event, counts = logged.event, 1 << logged.cycle
        after = stand.then((), index=stand.index + 1, counts=counts)
        for place, expected in enumerate(pending):
            if about(expected) == about(event):
                if not same(expected, event):
                    return None
                del pending[place]
                return after
        ended = [(step, shows) for step, shows in self.calls(stand.world) if shows and shows[0] == event]
        if not ended:
            return after if holds(stand.world, event) else None
        step, shows = min(
            ended, key=lambda call: self._when(stand, (*call[1][1:], *_next(stand.world, call[0])))
        )
        after, seen = self.taken(after, (step,))
        pending.extend(shows[1:])
        pending.extend(other for other in seen if other not in shows)
        return after

    def _when(self, stand: Stand, events: Sequence[Observed]) -> int:
        """Where the first of the events is in the rest of the log: of several calls, that one ended now."""
        places = range(stand.index + 1, len(self.log))
        return next((place for place in places if self.log[place].event in events), len(self.log))


def let_in_at_once(world: World, since: int) -> World:
    """The world in which no moment tells apart who was let in since then: a recorder puts them in any order."""
    late = world.admitted[since:]
    if len(late) < 2:
        return world
    return evolve(world, admitted=(*world.admitted[:since], tuple(sorted(chain(*late)))))


def _next(world: World, call: Step) -> tuple[Observed, ...]:
    """What will be seen of the pod when its claims are written: siblings may write the same."""
    match call[0]:
        case Action(name="prebind", args=(pod,)):
            return (Bound(pod, world.bindings[pod].node),)
        case _:
            return ()


def _heads(pending: Iterable[Observed]) -> list[Observed]:
    """The first event about each thing: those that may come next."""
    first: dict[tuple[str, ...], Observed] = {}
    for event in pending:
        first.setdefault(about(event), event)
    return list(first.values())


def calls(world: World, rules: Rules) -> Iterator[tuple[Step, tuple[Observed, ...]]]:
    """The calls that may end now, and what each shows by itself."""
    if not (
        world.bindings or world.control.behind or any(running.calls for running in world.rounds.values())
    ):
        return
    for step in successors(world, rules, "fine"):
        action = step[0]
        match action.name, action.args:
            case "bind", (pod,):
                yield step, (Bound(pod, world.bindings[pod].node),)
            case "evict", (victim, entity, *asker):
                yield step, eviction(rules, world, victim, entity, *asker)
            case (("prebind" | "prebind-fails"), _):
                yield step, writes(world, step[1])
            case (("bind-fails" | "permit-fails" | "evict-fails" | "last-call" | "see"), _):
                yield step, ()
            case _:
                pass
