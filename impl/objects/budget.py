"""Disruption budgets: how many of the pods that a selector chooses may be away at once (PREEMPT-25)."""

from __future__ import annotations

from attrs import frozen

from gangproof.impl.objects.affinity import LabelSelector
from gangproof.impl.objects.pod import Pod


@frozen(cache_hash=True)
class Bound:
    """A number of pods, or, with `percent`, a share of those that are expected."""

    number: int
    percent: bool = False

    def of(self, expected: int) -> int:
        """The number of pods that it comes to, a share rounded up."""
        return -(-expected * self.number // 100) if self.percent else self.number

    def __str__(self) -> str:
        return f"{self.number}%" if self.percent else str(self.number)


@frozen(cache_hash=True)
class PodDisruptionBudget:
    """A budget; at most one of `min_available` and `max_unavailable` is set.

    `disruptions_allowed` is what its controller wrote in a dump, and stands as it is; None if nothing is written.
    `disrupted_pods` are the names of pods whose eviction is on its way already.
    """

    namespace: str
    name: str
    uid: int = 0
    selector: LabelSelector = LabelSelector()
    min_available: Bound | None = None
    max_unavailable: Bound | None = None
    disruptions_allowed: int | None = None
    disrupted_pods: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def covers(self, pod: Pod) -> bool:
        """Whether the scheduler charges the pod to this budget: an empty selector covers nobody (PREEMPT-25)."""
        return (
            pod.namespace == self.namespace
            and bool(self.selector.requirements and pod.labels)
            and self.selector.matches(pod.labels)
        )
