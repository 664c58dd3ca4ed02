"""How a long search is watched from outside: how far it has come, and that it ends when its time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from attrs import frozen

from gangproof.impl.world import World

Watch = Callable[[str], None]
"""Told now and then, in a few words, how far it has come."""


def unwatched(_: str) -> None:
    """A watch that does not look."""


class OutOfTimeError(Exception):
    """The time for a check is over."""


@frozen
class Clock:
    """When a check has to end, in seconds of the monotonic clock; None is never."""

    ends: float | None

    @classmethod
    def until(cls, seconds: float | None) -> Clock:
        return cls(None if seconds is None else time.monotonic() + seconds)

    @property
    def left(self) -> float | None:
        """The seconds that are left, at least 0."""
        return None if self.ends is None else max(self.ends - time.monotonic(), 0.0)

    @property
    def over(self) -> bool:
        return self.ends is not None and time.monotonic() >= self.ends


class Pulse:
    """A key of worlds that also tells twice a second how often it was asked for, and stops when time is over.

    A search asks for the key of every world that it meets, so this is where it can be watched from outside.
    """

    def __init__(self, key: Callable[[World], Hashable], watch: Watch, clock: Clock) -> None:
        self.key, self.watch, self.clock = key, watch, clock
        self.count = 0
        self.next = time.monotonic() + 0.5

    def __call__(self, world: World) -> Hashable:
        self.count += 1
        if not self.count % 256 and time.monotonic() >= self.next:
            if self.clock.over:
                raise OutOfTimeError
            self.next = time.monotonic() + 0.5
            self.watch(f"{self.count:,} steps looked at")
        return self.key(world)
