"""Priority classes: how a name becomes a number (ADM-10)."""

from __future__ import annotations

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
