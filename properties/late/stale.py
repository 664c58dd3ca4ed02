"""The shortest runs that break a promise of what is stored only because somebody goes by an old view.

In each world here something happens beside a component of which one view may be a change or more behind. The same world
with every view prompt keeps every promise, which is searched too; so a run that breaks one takes at least one
stale read, and since the search is breadth first, a run with one stale read that it finds first is a shortest one in
both measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from attrs import evolve, frozen

from gangproof.counterexamples import Trace
from gangproof.impl.actions import Action
from gangproof.impl.gates import SCENARIO_GATES
from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import Settings, World
from gangproof.properties.late.lag import ASKED, lagging, of_the_store, stale_reads
from gangproof.properties.search.explore import Exploration, Limits, deferred_interrupts, explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.system import Path, Violation
from gangproof.properties.telling.promises import promise
from gangproof.properties.telling.traces import Meta, make_trace
from gangproof.properties.verdict import Verdict, combine
from gangproof.properties.worlds.claim_worlds import BY_NAME, SETTINGS, claim, devices, sharing, using
from gangproof.properties.worlds.named import HOSTNAME, gang, node, pod, world

LIMITS = Limits(states=20_000)
_AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
_UNIT = evolve(gang("v", 1), disruption_mode="PodGroup")
_STRONG = evolve(gang("g", 1), priority=9)


@frozen
class Case:
    """A world in which one view may be a change, or `most` of them, behind: what is seen late, and what comes of it.

    `breaks` are the promises that such runs break in the store.
    """

    name: str
    world: World
    view: str
    late: str
    happens: str
    breaks: tuple[str, ...]
    most: int = 1


CASES = (
    Case(
        "a-member-is-deleted",
        world(node("n", 2), gang("g", 2), pod("a", "g"), pod("b", "g"), deletions=1),
        "scheduler/pod",
        "the scheduler sees late that a user deleted a member",
        "the gang is decided for with a member that is gone",
        ("INV-01", "INV-02"),
    ),
    Case(
        "a-pod-is-bound-by-others",
        world(node("n", 1), pod("a"), pod("b"), foreign_binds=1),
        "scheduler/pod",
        "the scheduler sees late that another scheduler bound a pod",
        "it promises the same room again",
        ("INV-05",),
    ),
    Case(
        "the-node-is-lost",
        world(node("n", 1), gang("g", 1), pod("a", "g"), lost_nodes=1),
        "scheduler/node",
        "the scheduler sees late that the node is lost",
        "it promises room on a node that is gone",
        ("INV-05",),
    ),
    Case(
        "a-unit-has-grown",
        world(
            node("n", 2),
            node("m", 3),
            _UNIT,
            pod("v1", "v", cpu=2, node="n"),
            evolve(pod("v2", "v", cpu=3), scheduler_name="other"),
            _STRONG,
            evolve(pod("p", "g", cpu=2, preempts=True, selector={HOSTNAME: "n"}), priority=9),
            settings=_AWARE,
            kubelet=True,
            foreign_binds=1,
        ),
        "scheduler/pod",
        "the scheduler sees late that another scheduler bound a pod of a group that is evicted as a whole",
        "it names the victims that it knows, and that pod stays behind",
        ("INV-17",),
    ),
    Case(
        "a-pod-comes-to-a-group-that-goes",
        world(node("n", 1), gang("g", 1), pod("a", "g"), deletions=1),
        "protection-controller/pod",
        "the protection controller sees late that a pod of the group came",
        "it lets the group go under its pod",
        ("INV-29",),
    ),
    Case(
        "a-user-of-a-claim-is-deleted",
        world(
            *(node("n", 1), *devices({"n": 1}), claim(), using(pod("a"), BY_NAME)),
            settings=SETTINGS,
            deletions=1,
        ),
        "scheduler/pod",
        "the scheduler sees late that a user deleted the pod of a claim",
        "devices are chosen for a pod that is gone",
        ("INV-26",),
    ),
    Case(
        "the-node-of-a-device-is-lost",
        world(
            *(node("n", 1), *devices({"n": 1}), claim(), using(pod("a"), BY_NAME)),
            settings=SETTINGS,
            lost_nodes=1,
        ),
        "scheduler/node",
        "the scheduler sees late that the node of a device is lost",
        "it chooses the device on a node that is gone",
        ("INV-05", "INV-26"),
    ),
    Case(
        "a-group-with-a-claim-comes-again",
        world(
            *(node("n", 1), *devices({"n": 1}), claim()),
            *(sharing(evolve(gang("g", 1), finalizers=()), BY_NAME), using(pod("a", "g"), BY_NAME)),
            settings=evolve(SETTINGS, protection=False),
            recreations=1,
        ),
        "claim-controller/podGroup",
        "the claim controller sees late that a group was deleted and created again",
        "it takes the entry of the new group for one of the old, and gives back the claim of a pod that runs",
        ("INV-28",),
        most=3,
    ),
)
"""Every way that is known in which a stale read breaks a promise that holds where views are prompt."""


@frozen
class Run:
    """A shortest run that breaks a promise in the store, and how often in it somebody decided by an old view."""

    case: Case
    promise: str
    violation: Violation
    path: Path[World, Action]

    @property
    def stale_reads(self) -> int:
        return stale_reads(self.path)

    def trace(self) -> Trace:
        """The run as a trace; its frames show what is stored, and tell what was not seen yet."""
        meta = Meta(
            "intended",
            str(self.case.world.settings.gates),
            "explorer",
            (("lag", self.case.name), ("staleReads", str(self.stale_reads))),
        )
        trace = make_trace(self.violation, self.path, meta, title=self.case.late)
        return evolve(trace, qualifier=_count(self.stale_reads, "stale read"))


@frozen
class Looked:
    """What the searches of one case came to: where nobody lags, and where its view may be behind."""

    case: Case
    prompt: Exploration[World, Action]
    late: Exploration[World, Action]

    @property
    def runs(self) -> tuple[Run, ...]:
        """A shortest run for each promise that is broken, by promise."""
        found = sorted(self.late.counterexamples.items())
        return tuple(Run(self.case, id, example.violation, example.path) for id, example in found)

    @property
    def verdict(self) -> Verdict:
        """Holds if all promises hold where nobody lags and just those break that the case is about."""
        cut = [one.stop != "exhausted" for one in (self.prompt, self.late)]
        if self.prompt.counterexamples or {run.promise for run in self.runs} != set(self.case.breaks):
            return Verdict.INCONCLUSIVE if any(cut) else Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if any(cut) else Verdict.HOLDS


@frozen
class Stale:
    """What was looked at, in the order of the cases; its text is a line for each promise and case."""

    looked: tuple[Looked, ...]
    asked: tuple[str, ...] = ASKED

    @property
    def verdict(self) -> Verdict:
        parts = [one.verdict for one in self.looked]
        return combine([*parts, Verdict.INCONCLUSIVE] if len(parts) < len(CASES) else parts)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The shortest runs that break one of the promises that are asked about, by promise."""
        runs = (run for one in self.looked for run in one.runs if run.promise in self.asked)
        return tuple(sorted(runs, key=lambda run: run.promise))

    @property
    def kept(self) -> tuple[str, ...]:
        """The promises that are asked about and that no case breaks; none as long as not all was looked at."""
        if self.verdict is Verdict.INCONCLUSIVE:
            return ()
        return tuple(id for id in self.asked if all(run.promise != id for run in self.runs))

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def look(ids: Sequence[str] = (), limits: Limits = LIMITS) -> Stale:
    """Search every case, and tell of these promises, or of all. Raises KeyError with what is no such promise.

    After a Ctrl-C the searches so far are told, the last one cut short.
    """
    wanted = tuple(dict.fromkeys(id.upper() for id in ids))
    for id in wanted:
        if id not in ASKED:
            raise KeyError(id)
    looked: list[Looked] = []
    with suppress(KeyboardInterrupt), deferred_interrupts() as interrupts:
        for case in CASES:
            looked.append(look_at(case, limits))
            if interrupts:
                break
    return Stale(tuple(looked), wanted or ASKED)


def look_at(case: Case, limits: Limits = LIMITS) -> Looked:
    """Search one case, with prompt views and with the late one."""
    prompt, late = (
        explore(Machine(INTENDED, [start]), of_the_store(), limits)
        for start in (case.world, lagging(case.world, case.most, [case.view]))
    )
    return Looked(case, prompt, late)


def _lines(stale: Stale) -> Iterator[str]:
    broken, verdict = len({run.promise for run in stale.runs}), stale.verdict
    yield (
        f"{'as known' if verdict is Verdict.HOLDS else verdict}: {broken} of {_count(len(stale.asked), 'promise')} "
        f"about what is stored {'holds' if broken == 1 else 'hold'} only where nobody lags"
    )
    for run in stale.runs:
        numbers = f"{_count(run.stale_reads, 'stale read')}, {_count(len(run.path), 'step')}"
        yield f"  {run.promise}  {_name(run.promise)}: broken with {numbers}"
        yield f"          {run.case.late};"
        yield f"          {run.case.happens}"
    yield from (f"  {id}  {_name(id)}: kept in all of these worlds" for id in stale.kept)
    prompt = sum(one.prompt.states for one in stale.looked)
    late = sum(one.late.states for one in stale.looked)
    worlds = f"{len(stale.looked)} of {_count(len(CASES), 'world')}"
    yield f"looked at {worlds}: {prompt:,} states where nobody lags, {late:,} where a view does"
    for one in stale.looked:
        for stop in dict.fromkeys(
            found.stop for found in (one.prompt, one.late) if found.stop != "exhausted"
        ):
            yield f"  {one.case.name}: the search stopped: {stop}"


def _name(id: str) -> str:
    said = promise(id)
    return said.name if said is not None else id


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
