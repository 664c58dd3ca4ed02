"""Everything that can happen next, and the worlds it leads to (SEMANTICS 10.3).

`successors` is the transition relation. All nondeterminism is in the actions: ties, completion orders,
failures, arrivals; so a list of actions replays. In the *fine* grain the steps of a cycle are single actions
and anything may happen between them; in the *coarse* grain a whole cycle is one action, whose runs are among
the fine ones by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Literal

from attrs import evolve, field, frozen

from gangproof.impl.api import afterwards
from gangproof.impl.claims.binding import prebind
from gangproof.impl.commit import bindable
from gangproof.impl.condition import report
from gangproof.impl.control import NO_CONTROL
from gangproof.impl.controllers.claims import one_pass, passes
from gangproof.impl.controllers.collect import collections
from gangproof.impl.controllers.job_sync import again, sync_calls, syncs
from gangproof.impl.controllers.protection import let_go, prompt, unneeded
from gangproof.impl.cycle import begin, try_member, weigh
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.ghost import remember
from gangproof.impl.outside import outside
from gangproof.impl.preemption.calls import (
    Call,
    call_in_cycle,
    calls_come_first,
    calls_of_cycle,
    end_call,
    open_calls,
)
from gangproof.impl.preemption.rounds import begin as begin_call
from gangproof.impl.preemption.rounds import end_rounds, held_by_a_cycle
from gangproof.impl.queue import freed
from gangproof.impl.restart import landings
from gangproof.impl.rules import Rules
from gangproof.impl.sent import without_moot
from gangproof.impl.store import unseen
from gangproof.impl.table import removed
from gangproof.impl.views import deliver, deliverable, overdue
from gangproof.impl.world import Move, World

Grain = Literal["fine", "coarse"]
Step = tuple["Action", World]


@frozen(cache_hash=True)
class Action:
    """Something that happens: its name and, as text, everything that was left open.

    A coarse action knows the fine steps that it is made of (`via`); they take no part in equality.
    """

    name: str
    args: tuple[str, ...] = ()
    via: tuple[Step, ...] = field(default=(), eq=False, repr=False)

    def __str__(self) -> str:
        return " ".join((self.name, *self.args))


def successors(world: World, rules: Rules, grain: Grain = "coarse") -> list[Step]:
    """All actions that are possible now, each with the world it leads to; in a fixed order."""
    return list(_steps(world, rules, grain, sights))


def acts(world: World, rules: Rules, grain: Grain = "coarse") -> Iterator[Step]:
    """As `successors`, without those in which somebody sees something; each is found when it is asked for."""
    return _steps(world, rules, grain, lambda world, rules: iter(()))


def _steps(
    world: World, rules: Rules, grain: Grain, looks: Callable[[World, Rules], Iterator[Step]]
) -> Iterator[Step]:
    if world.cycle is not None and grain == "coarse":
        yield from _finish_cycle(rules, world, ())
        return
    if world.control is not NO_CONTROL and (late := overdue(world)):
        hurried = {name.partition("/")[0] for name in late}
        yield from (step for step in looks(world, rules) if step[0].args[0] in hurried)
        return
    moved = False
    for step in chain(
        _of_the_scheduler(world, rules, grain), looks(world, rules), _of_controllers(world, rules, grain)
    ):
        moved = True
        yield step
    if not moved and not any(deliverable(world)):
        yield from clock(world, rules)
    yield from _actions(outside(rules, world))


def _of_the_scheduler(world: World, rules: Rules, grain: Grain) -> Iterator[Step]:
    yield from cycle_steps(world, rules) if grain == "fine" else _whole_cycles(world, rules)
    yield from _calls(world, rules, grain)
    yield from _claim_controller(world, rules, grain)
    yield from _evictions(world, rules)


def _actions(moves: Iterable[Move]) -> Iterator[Step]:
    for name, args, after in moves:
        yield Action(name, args), after


def clock(world: World, rules: Rules) -> Iterator[Step]:
    """What only time brings about: the end of a backoff, and of the wait of a Job after a failure (ACT-24).

    It happens when nothing else can, and whoever goes on waiting comes to it some time.
    """
    for entity in rules.cooling(world):
        yield Action("backoff-over", (entity,)), rules.expire(rules, world, entity)
    control = world.control
    for key in sorted({*control.retrying, *control.resting}):
        yield Action("backoff-over", (f"job/{key}",)), again(rules, world, key)


def _of_controllers(world: World, rules: Rules, grain: Grain) -> Iterator[Step]:
    """What the components beside the scheduler may do (ACT-27 to ACT-29)."""
    if world.control is NO_CONTROL:
        return
    if grain == "fine":
        yield from _actions(syncs(rules, world))
        yield from _actions(sync_calls(rules, world))
    else:
        yield from _whole_syncs(world, rules)
    yield from _actions(collections(rules, world))
    yield from _actions(landings(rules, world))
    if not prompt(world):
        for key in unneeded(world):
            after = let_go(rules, world, key)
            if after is not world:
                yield Action("let-go", (f"podGroup/{key}",)), afterwards(rules, world, after)


def _whole_syncs(world: World, rules: Rules) -> Iterator[Step]:
    """Every way in which a sync may go, as one action; equal outcomes once."""
    begun = list(_actions(syncs(rules, world))) or list(_actions(sync_calls(rules, world)))
    for first in begun:
        outcomes: dict[World, tuple[Step, ...]] = {}
        stack: list[tuple[Step, ...]] = [(first,)]
        while stack:
            so_far = stack.pop()
            now = so_far[-1][1]
            if now.control.sync is None:
                outcomes.setdefault(now, so_far)
            else:
                stack.extend((*so_far, step) for step in reversed(list(_actions(sync_calls(rules, now)))))
        name = first[0].args[0] if world.control.sync is None else f"job/{world.control.sync.job.key}"
        for ended, via in outcomes.items():
            told = (str(action) for action, _ in via if action.name != "sync")
            yield Action("sync", (name, *told), via), ended


def cycle_steps(world: World, rules: Rules) -> Iterator[Step]:
    """The next step of the running cycle, or the pop that starts one (ACT-11 to ACT-17)."""
    cycle = world.cycle
    if cycle is None:
        if rules.ready(world) is not None:
            popped = rules.order(rules.pop(rules, world))
            for ordered in popped:
                tried = ordered.cycle.members if ordered.cycle is not None and len(popped) > 1 else ()
                entity = ordered.cycle.entity if ordered.cycle is not None else ""
                yield Action("pop", (entity, *(pod.key for pod in tried))), ordered
        return
    match cycle.stage:
        case "popped":
            begun = begin(rules, world)
            for seen in begun:
                found = _domains(seen.cycle) if len(begun) > 1 else ()
                yield Action("snapshot", (cycle.entity, *found)), seen
        case "placing":
            pod = cycle.members[len(cycle.results)].key
            for tried in try_member(rules, world):
                yield Action("place", (pod, *_where(tried.cycle))), tried
        case "weighing":
            domain = cycle.domain.value if cycle.domain else ""
            for weighed in weigh(rules, world):
                yield Action("weigh", (cycle.entity, domain, *_favoured(weighed.cycle))), weighed
        case "submitting" if calls_come_first(world, cycle):
            for number, begun in enumerate(_made_way(rules, world, cycle)):
                yield Action("preempt", (cycle.entity, *("unnoticed",)[:number])), begun
        case "submitting" if calls := calls_of_cycle(world, cycle):
            yield _evicted(world, rules, cycle.preemptor, calls[0])
        case "submitting":
            after = remember(world, freed(rules, world, rules.submit(rules, world, cycle)))
            code = after.cycle.code if after.cycle else None
            yield Action("submit", (cycle.entity, code or "")), after
        case "reporting":
            after = report(rules, world)
            if held_by_a_cycle(world, cycle.preemptor):
                after = remember(world, end_rounds(rules, after))
            yield Action("report", (cycle.entity, cycle.code or "")), after


def _made_way(rules: Rules, world: World, cycle: Cycle) -> tuple[World, ...]:
    """The evictions are called, and weaker nominations cleared (PREEMPT-35).

    That room was freed may be seen while the pod is still being tried, or only when it is back (QUEUE-22, QUEUE-30).
    """
    begun = call_in_cycle(rules, world, cycle)
    seen = freed(rules, world, begun)
    later = evolve(seen, cycle=begun.cycle)
    return tuple(remember(world, after) for after in dict.fromkeys((seen, later)))


def _where(cycle: Cycle | None) -> Iterator[str]:
    """Where the last member went and whom it asks to go; after the verdict, whom the group asks to go."""
    if cycle is not None:
        result = cycle.results[-1]
        yield result.node or "nowhere"
        yield from (f"for {victim}" for victim in result.victims)
        if not result.victims and cycle.stage == "submitting":
            yield from (f"for {victim}" for victim, _ in cycle.victims)


def _domains(cycle: Cycle | None) -> Iterator[str]:
    """The domains that there are to try, or the error instead."""
    if cycle is not None:
        yield from (domain.value for domain in cycle.domains or ())
        yield from (cycle.message,) if cycle.code == "Error" else ()


def _favoured(cycle: Cycle | None) -> Iterator[str]:
    """The domains that may still win, or the one that won or is reported."""
    if cycle is not None and cycle.domains:
        numbers = [visit.domain for visit in cycle.ahead] or [cycle.visited]
        yield from (cycle.domains[number].value for number in sorted(numbers))


def _whole_cycles(world: World, rules: Rules) -> Iterator[Step]:
    for step in cycle_steps(world, rules):
        yield from _finish_cycle(rules, step[1], (step,))


def _finish_cycle(rules: Rules, world: World, begun: tuple[Step, ...]) -> Iterator[Step]:
    """Every way in which the open cycle may end, as one action; equal outcomes once, the first kept.

    So are equal comparisons of domains: there are many ways to come out worse than another domain.
    """
    entity = world.cycle.entity if world.cycle else ""
    outcomes: dict[World, tuple[Step, ...]] = {}
    compared: set[World] = set()
    stack: list[tuple[tuple[Step, ...], World]] = [(begun, world)]
    while stack:
        so_far, now = stack.pop()
        if now.cycle is None:
            outcomes.setdefault(now, so_far)
            continue
        if now.cycle.domains and (now.cycle.stage == "submitting" or not now.cycle.results):
            if now in compared:
                continue
            compared.add(now)
        steps = [*cycle_steps(now, rules), *_written_meanwhile(now, rules)]
        stack.extend(((*so_far, step), step[1]) for step in reversed(steps))
    for ended, via in outcomes.items():
        yield Action("cycle", (entity, *_told(via)), via), ended


def _written_meanwhile(world: World, rules: Rules) -> Iterator[Step]:
    """A claim is written before a later member of the same commit reserves it (CLAIM-17): by the first who is to.

    That it may be another one, and may end sooner or later, shows in the fine grain alone.
    """
    cycle = world.cycle
    if cycle is None or cycle.stage != "submitting" or not cycle.submitted:
        return
    later = {pod.key for pod in cycle.members[cycle.submitted :]}
    shared = {
        held.slot
        for result in cycle.results
        if result.pod in later
        for held in result.holds.values()
        if held.allocation is not None
    }
    for pod, binding in world.bindings.items() if shared else ():
        if binding.call == "prebind" and any(
            held.slot in shared and held.slot in world.claims_in_flight for held in binding.holds.values()
        ):
            yield from (step for step in _calls(world, rules, "fine") if step[0] == Action("prebind", (pod,)))
            return


def _told(via: tuple[Step, ...]) -> Iterator[str]:
    """The verdict of a whole cycle, "skipped" if it had none, and where each member went in the end."""
    actions = [action for action, _ in via]
    yield next((action.args[1] for action in actions if action.name == "submit"), "skipped")
    cycles = [world.cycle for _, world in via if world.cycle and world.cycle.stage == "submitting"]
    results = cycles[0].results if cycles else ()
    decided = {result.pod: result.node or "nowhere" for result in results}
    places = [action for action in actions if action.name == "place"]
    yield from dict.fromkeys(
        " ".join((f"{action.args[0]}→{action.args[1]}", *action.args[2:]))
        for action in places
        if decided.get(action.args[0]) == action.args[1]
    )


def _calls(world: World, rules: Rules, grain: Grain) -> Iterator[Step]:
    """Open binding calls that may end now: well, or badly if told so or allowed to (ACT-20, ACT-21).

    In the coarse grain a PreBind that has claims to write and the bind after it are one action.
    """
    environment = world.environment
    for pod, binding in world.bindings.items():
        call = f"{binding.call}/{pod}"
        waits = binding.call == "permit" and pod in world.assumed
        if waits or call in environment.held:
            continue
        if not bindable(world, pod):
            yield Action(f"{binding.call}-fails", (pod,)), _ended(rules, world, pod, False)
        elif call in environment.failing:
            told = evolve(world, environment=evolve(environment, failing=removed(environment.failing, call)))
            yield Action(f"{binding.call}-fails", (pod,)), _ended(rules, told, pod, False)
        else:
            written = _ended(rules, world, pod, True)
            if binding.holds and not prebind(rules, world, world.pods[pod], True)[1]:
                yield Action("prebind-fails", (pod,)), written
            elif binding.holds and grain == "coarse" and f"bind/{pod}" not in environment.held:
                yield from _bound_at_once(((Action("prebind", (pod,)), written),), rules, pod)
            else:
                yield Action(binding.call, (pod,)), written
            if environment.failures:
                spent = evolve(world, environment=evolve(environment, failures=environment.failures - 1))
                yield Action(f"{binding.call}-fails", (pod,)), _ended(rules, spent, pod, False)


def _bound_at_once(so_far: tuple[Step, ...], rules: Rules, pod: str) -> Iterator[Step]:
    """A claim is written, and with that the whole binding cycle of the pod ends, well or badly."""
    for action, after in _calls(so_far[-1][1], rules, "fine"):
        if action.args == (pod,):
            via = (*so_far, (action, after))
            if action.name == "prebind":
                yield from _bound_at_once(via, rules, pod)
            else:
                yield Action(action.name, (pod,), via), after


def _claim_controller(world: World, rules: Rules, grain: Grain) -> Iterator[Step]:
    """A pass of the claim controller; in the coarse grain one round of them, each object in turn (ACT-26, ACT-29)."""
    found = list(passes(rules, world))
    if grain == "fine" or not found:
        yield from ((Action("claim-controller", (about,)), after) for about, after in found)
        return
    via: list[Step] = []
    for about, _ in found:
        after = one_pass(rules, via[-1][1] if via else world, about)
        if after != (via[-1][1] if via else world):
            via.append((Action("claim-controller", (about,)), after))
    yield Action("claim-controller", tuple(action.args[0] for action, _ in via), tuple(via)), via[-1][1]


def _evictions(world: World, rules: Rules) -> Iterator[Step]:
    """Open eviction calls that may end now, well or, if told so, badly (ACT-22)."""
    for entity, running in world.rounds.items():
        if held_by_a_cycle(world, entity):
            continue
        for caller in running.unbegun:
            if len(running.called(caller)) == 1:
                action = Action("last-call", (*filter(None, [caller]), entity))
                yield action, begin_call(world, entity, caller)
        for open_call in open_calls(running):
            if f"delete/{open_call[0]}" not in world.environment.held:
                yield _evicted(world, rules, entity, open_call)


def _evicted(world: World, rules: Rules, entity: str, open_call: Call) -> Step:
    """The call ends: well, or badly if it was told to."""
    (victim, caller), environment = open_call, world.environment
    call = f"delete/{victim}"
    ok = call not in environment.failing
    if not ok:
        world = evolve(world, environment=evolve(environment, failing=removed(environment.failing, call)))
    action = Action("evict" if ok else "evict-fails", (victim, entity, *filter(None, [caller])))
    return action, end_call(rules, world, entity, open_call, ok)


def sights(world: World, rules: Rules) -> Iterator[Step]:
    """What somebody has not seen yet and may see now (ACT-10)."""
    for name in deliverable(world):
        yield sight(world, rules, name)


def sight(world: World, rules: Rules, name: str) -> Step:
    """The view sees the oldest change that it has not seen."""
    component, _, kind = name.partition("/")
    seen = Action("see", (component, f"{kind}/{unseen(world, name)[0].key}"))
    return seen, afterwards(rules, world, deliver(rules, world, name))


def permit_timeouts(world: World, rules: Rules) -> Iterator[Step]:
    """What happens when the wait at Permit has lasted five minutes: each waiting pod is rejected (ACT-19, BIND-07)."""
    for pod, binding in world.bindings.items():
        if binding.call == "permit":
            yield Action("permit-timeout", (pod,)), _ended(rules, world, pod, False)


def _ended(rules: Rules, world: World, pod: str, ok: bool) -> World:
    after = freed(rules, world, rules.bind(rules, world, pod, ok))
    return remember(world, without_moot(rules, after))
