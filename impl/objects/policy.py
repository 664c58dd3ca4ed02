"""Priority classes: how a name becomes a number (ADM-10)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen


@frozen(cache_hash=True)
class PriorityClass:
    """A priority class; with several global defaults the lowest value decides."""

    name: str
    value: int
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"

    @property
    def key(self) -> str:
        return self.name


# Every cluster has these two.
SYSTEM_CLASSES = (
    PriorityClass("system-cluster-critical", 2_000_000_000),
    PriorityClass("system-node-critical", 2_000_001_000),
)
NO_CLASS = PriorityClass("", 0)


def deciding_class(name: str, classes: Iterable[PriorityClass]) -> PriorityClass | None:
    """The class that gives a PodGroup or pod its priority (ADM-10, ADM-15); None if the named one is missing.

    Without a name it is the global default, of several the one with the lowest value, or else `NO_CLASS`.
    """
    if name:
        return next((c for c in (*classes, *SYSTEM_CLASSES) if c.name == name), None)
    return min((c for c in classes if c.global_default), key=lambda c: (c.value, c.name), default=NO_CLASS)
