"""Whether somebody is left behind where a run settles, by the rules themselves.

Nothing more happens there without the clock or somebody outside. So nobody may be held back whom the rules
would let in (LIVE-01, LIVE-02, LIVE-06), nobody may wait whom the rules would place if they were asked once
more, all pending members together, or for whom they would make room (LIVE-08, LIVE-14), and no group may be
kept that nobody needs (LIVE-12), and no Job left without what it is to have (LIVE-15); claims have judges of their
own (LIVE-10, LIVE-11). Members are counted from the objects, not from what the scheduler remembers.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from gangproof.impl.cycle import begin, try_member
from gangproof.impl.cycle_state import Cycle
from gangproof.impl.ghost import counts
from gangproof.impl.members import count
from gangproof.impl.memory import Members
from gangproof.impl.objects import Pod
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.impl.profiles import INTENDED
from gangproof.impl.queue import missing_claim
from gangproof.impl.store import stored
from gangproof.impl.world import World
from gangproof.properties.judges.claim_judges import not_given_back, unnamed
from gangproof.properties.judges.handling import preempts
from gangproof.properties.judges.jobs import unserved
from gangproof.properties.search.system import Violation


def group_kept(world: World) -> Violation | None:
    """LIVE-12: a terminating group that only protection holds, although every pod of it has ended (GC-05)."""
    if any(name.startswith("protection-controller") for name in world.environment.stale):
        return None
    pods = stored(world, "pod").values()
    for group in stored(world, "podGroup").values():
        if group.terminating and group.finalizers == (PROTECTION_FINALIZER,):
            if any(pod.group == group.key and not pod.terminal for pod in pods):
                continue
            return Violation("LIVE-12", f"{group.key} is terminating, and no pod needs it", (group.key,))
    return None


def gated_in_vain(world: World) -> Violation | None:
    """LIVE-01, and LIVE-02 once the gang was started: gated although enough members count (GANG-03)."""
    if not world.settings.gates.gang_scheduling:
        return None
    for entry in world.queue:
        pod = world.pods[entry.pod]
        if entry.place != "gated" or pod.scheduling_gates or pod.group is None:
            continue
        if "DefaultPreemption" in entry.plugins or preempts(world, pod) or missing_claim(world, pod):
            continue
        group = world.groups.get(pod.group)
        if group is None:
            continue
        number, minimum = count(true_members(world, group.key), "gate"), group.min_count or 0
        if number >= minimum:
            rule = "LIVE-02" if group.key in world.ghost.started else "LIVE-01"
            return Violation(
                rule, f"{pod.key} is gated for good with {number} members of {minimum}", (pod.key,)
            )
    return None


def preemptor_asleep(world: World) -> Violation | None:
    """LIVE-06: gated for its own preemption, which is over, and nothing holds it back any more."""
    for entry in world.queue:
        pod = world.pods[entry.pod]
        if entry.place != "gated" or "DefaultPreemption" not in entry.plugins or preempts(world, pod):
            continue
        if not INTENDED.gate(INTENDED, world, pod):
            return Violation("LIVE-06", f"{pod.key} is gated for a preemption that is over", (pod.key,))
    return None


def stuck(world: World) -> Violation | None:
    """LIVE-14 for a group, LIVE-08 for a plain pod: the rules place it or make room for it, and it waits.

    Who is gated is left to others (LIVE-01, LIVE-02, LIVE-06). Verdicts are those of CYCLE-25 to CYCLE-27; room
    is made by victims that somebody has to be (PREEMPT-27).
    Without backoff nothing is promised: whoever fails is tried again at once, and may starve everybody weaker.
    """
    if not world.settings.backoff:
        return None
    waiting: dict[str | None, list[Pod]] = {}
    for pod in world.pods.values():
        if pod.node_name is not None or pod.key in world.assumed or pod.scheduling_gates:
            continue
        if not counts(pod) or pod.terminal or pod.scheduler_name not in world.settings.profiles:
            continue
        entry = world.entry(pod.key)
        if preempts(world, pod) or (entry is not None and entry.place == "gated"):
            continue
        group = pod.group if world.settings.gates.generic_workload else None
        waiting.setdefault(group, []).append(pod)
    for pod in waiting.pop(None, []):
        if _placed(world, None, [pod]):
            return Violation("LIVE-08", f"{pod.key} waits for good although there is a place", (pod.key,))
    for group, members in waiting.items():
        if group is not None and _may_enter(world, group) and _placed(world, group, members):
            names = tuple(pod.key for pod in members)
            return Violation("LIVE-14", f"{group} waits for good although it can be placed", (group, *names))
    return None


def true_members(world: World, group: str) -> Members:
    """The member sets of a group as its objects say, whatever the scheduler remembers."""
    mine = [pod for pod in world.pods.values() if pod.group == group and counts(pod)]
    here = [pod for pod in mine if not pod.terminal]
    pending = [pod for pod in here if pod.node_name is None]
    ours = [pod for pod in pending if pod.scheduler_name in world.settings.profiles]
    return Members(
        unsched=tuple(pod.key for pod in ours if pod.key not in world.assumed),
        assumed=tuple(pod.key for pod in ours if pod.key in world.assumed),
        assigned=tuple(pod.key for pod in here if pod.node_name is not None),
        done=tuple(pod.key for pod in mine if pod.terminal),
    )


def _may_enter(world: World, group: str) -> bool:
    stored = world.groups.get(group)
    if not world.settings.gates.gang_scheduling:
        return True
    return stored is not None and count(true_members(world, group), "gate") >= (stored.min_count or 0)


def _placed(world: World, group: str | None, members: list[Pod]) -> bool:
    """Whether a cycle of the intended rules for these members may end with Success, or by naming victims."""
    sets = world.members if group is None else world.members.put(group, true_members(world, group))
    popped = evolve(world, members=sets, cycle=Cycle(group, tuple(members)))
    begun = [world for ordered in INTENDED.order(popped) for world in begin(INTENDED, ordered)]
    trials = [trial for world in begun for trial in _in_each_domain(world)]
    while trials:
        trial = trials.pop()
        cycle = trial.cycle
        if cycle is None:
            continue
        if cycle.stage == "placing":
            trials.extend(try_member(INTENDED, trial))
            continue
        code = INTENDED.verdict(INTENDED, trial, cycle) if cycle.stage == "weighing" else cycle.code
        if code == "Success" or (code == "Waiting" and cycle.victims):
            return True
    return False


def _in_each_domain(begun: World) -> Iterator[World]:
    """The begun cycle, once for each domain that the group may go to."""
    cycle = begun.cycle
    for number in range(len(cycle.domains) if cycle is not None and cycle.domains else 1):
        yield evolve(begun, cycle=cycle and evolve(cycle, visited=number))


SETTLED = (group_kept, gated_in_vain, preemptor_asleep, stuck, unserved, unnamed, not_given_back)
"""What is asked of every world in which a run settles."""
