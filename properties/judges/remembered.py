"""What judges remember, so that what many of them ask about one step is found out once.

Worlds are large, and to find that two are equal takes a look at everything in them. So the first of equal
worlds stands for all, and whoever has it is recognized at a glance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from operator import is_
from typing import ParamSpec, TypeVar

from gangproof.impl.world import World

P = ParamSpec("P")
T = TypeVar("T")


@lru_cache(maxsize=1 << 13)
def same(world: World) -> World:
    """The first of equal worlds."""
    return world


def latest(function: Callable[P, T]) -> Callable[P, T]:
    """The function, which gives its latest answer again to whoever asks about the very same things.

    For functions of immutable values. What was asked about last is kept alive.
    """
    known: tuple[tuple[object, ...], T] | None = None

    @wraps(function)
    def ask(*args: P.args, **kwargs: P.kwargs) -> T:
        nonlocal known
        last = known
        if last is not None and not kwargs and len(last[0]) == len(args) and all(map(is_, last[0], args)):
            return last[1]
        answer = function(*args, **kwargs)
        known = None if kwargs else (args, answer)
        return answer

    return ask
