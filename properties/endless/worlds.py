"""The smallest worlds in which a deviation of v1.36.3 breaks a promise of liveness."""

from __future__ import annotations

from attrs import evolve, frozen

from gangproof.impl.gates import SCENARIO_GATES, Object
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.profiles import only
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.properties.search.lasso import Lasso, Lassos, lassos
from gangproof.properties.search.liveness import LIVENESS, Beside, ending, replacing
from gangproof.properties.worlds.named import gang, node, pod, world

AWARE = Settings(gates=evolve(SCENARIO_GATES, workload_aware_preemption=True))
TWO_NAMES = Settings(profiles=("default-scheduler", "other"))


@frozen
class Endless:
    """A promise, and the smallest world in which a fair run breaks it.

    Each set of `deviations` alone breaks it, the first is the one that is shown; `told` says how. Of each of the
    `replaced` a controller keeps one pod, under one of its names; with a `kubelet` pods that are to go do go. Of pods a
    user may delete so many as `deletions` says.
    """

    promise: str
    title: str
    told: str
    deviations: tuple[tuple[str, ...], ...]
    objects: tuple[Object, ...]
    settings: Settings = Settings()
    deletions: int = 0
    replaced: tuple[tuple[Pod, ...], ...] = ()
    kubelet: bool = False

    @property
    def name(self) -> str:
        """Its name among the others."""
        return f"{self.promise}-{self.deviations[0][0]}".lower()

    @property
    def start(self) -> World:
        """The world as it begins."""
        return world(*self.objects, settings=self.settings, deletions=self.deletions)

    def without(self, obj: Object) -> Endless:
        """The same without an object, and without the controller that would make it."""
        kept = tuple(other for other in self.objects if other is not obj)
        others = tuple(pods for pods in self.replaced if obj.key not in [pod.key for pod in pods])
        return evolve(self, objects=kept, replaced=others)

    def search(self, rules: Rules) -> Lassos:
        """Every promise of liveness, asked of every fair run under the rules."""
        neighbours = (*([ending] if self.kubelet else []), *(replacing(*pods) for pods in self.replaced))
        return lassos(Beside(rules, self.start, neighbours), LIVENESS)

    def shown(self) -> tuple[Lassos, Lasso]:
        """What is found under the deviations that are shown, and the lasso that breaks the promise."""
        found = self.search(only(*self.deviations[0]))
        return found, found.found[self.promise]


def strong(name: str, minimum: int) -> PodGroup:
    return evolve(gang(name, minimum), priority=5)


def going(name: str) -> Pod:
    """A weak pod that takes its time to end."""
    return evolve(pod(name), termination_grace_period_seconds=1)


def on(node: str, pod: Pod) -> Pod:
    """The pod as it runs on the node."""
    return evolve(pod, node_name=node)


_WEAK = (going("w1"), going("w2"))
_A = tuple(pod(name, "g1", preempts=True) for name in ("a1", "a2"))
_B = tuple(pod(name, "g2", preempts=True) for name in ("b1", "b2"))

HOT = Endless(
    "LIVE-09",
    "A group that fails is tried without a pause",
    "A gang of one and a node without room. Its member fails, is put into backoff, and is taken out of it at once, "
    "since nobody else waits.",
    (("DEV-12",),),
    (node("n1", 0), gang("g1", 1), pod("p1", "g1")),
)
UNTOLD = Endless(
    "LIVE-13",
    "No condition tells why a group is not placed",
    "Two members name different schedulers. Each cycle ends with that error, and nothing is written to the group.",
    (("DEV-13",),),
    (gang("g1", 1), pod("p1", "g1"), evolve(pod("p2", "g1"), scheduler_name="other")),
    TWO_NAMES,
)
ASLEEP = Endless(
    "LIVE-06",
    "A preemptor sleeps on after its victim is gone",
    "A pod asks for an eviction. A user deletes the victim before the call is made; the call finds it gone, and wakes "
    "nobody.",
    (("DEV-55",),),
    (node("n1", 1), pod("v1", node="n1"), pod("p1", priority=5, preempts=True)),
    deletions=1,
)
DEPENDENT = Endless(
    "LIVE-06",
    "Members that depend on a sibling sleep on without it",
    "A gang has a pod evicted. Those of its members that no filter rejected are woken only by way of a sibling that "
    "one did; when a user deletes that sibling, nobody wakes them.",
    (("DEV-35",),),
    (
        node("n1", 2), pod("v1", node="n1"), strong("g1", 2),
        pod("p1", "g1", preempts=True), pod("p2", "g1", preempts=True),
        pod("p3", "g1", preempts=True, gates=["wait"]),
    ),
    AWARE,
    deletions=1,
)  # fmt: skip
TAKEN = Endless(
    "LIVE-07",
    "The room that a preemptor makes is taken, over and over",
    "A gang has a weak pod evicted, and a controller replaces it. The room is reserved for nobody, since nominations "
    "come from the attempt that failed: the replacement takes it while the gang is in backoff, and the gang "
    "evicts again.",
    (("DEV-37",),),
    (
        node("n1", 2), on("n1", _WEAK[0]), strong("g1", 1),
        pod("p1", "g1", cpu=2, preempts=True),
    ),
    AWARE,
    replaced=(_WEAK,),
    kubelet=True,
)  # fmt: skip
MUTUAL = Endless(
    "LIVE-07",
    "Two groups evict each other, over and over",
    "Two gangs of the same priority, whose pods have none of their own, and room for one of them. The group's priority "
    "counts for the preemptor and the pod's own for the victim, so either is stronger than the other; controllers "
    "replace what is evicted.",
    (("DEV-30",),),
    (node("n1", 1), strong("g1", 1), strong("g2", 1), on("n1", _A[0]), _B[0]),
    AWARE,
    replaced=(_A, _B),
)

ENDLESS = (HOT, UNTOLD, ASLEEP, DEPENDENT, TAKEN, MUTUAL)
"""In the order of the page."""
