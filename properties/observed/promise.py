"""What a promise is: a name, a sentence, where it is made, and the cases in which a run kept or broke it.

A promise looks for its interesting cases itself, so one function tells both whether it was broken and whether
the run ever came to the point: a promise without a case is vacuous there, not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import frozen

from gangproof.properties.observed.history import History


@frozen
class Case:
    """One time at which a promise was to be kept: the moment at which it is clear, and whether it was.

    `words` says what is not so, of the objects `about`. `aspect` tells kinds of breaking one promise apart
    ("by a plain pod"). `numbers` are those that decide.
    """

    at: int
    kept: bool
    words: str = ""
    about: tuple[str, ...] = ()
    aspect: str = ""
    numbers: tuple[tuple[str, int | str], ...] = ()


Cases = Callable[[History], Iterator[Case]]


@frozen
class Promise:
    """A promise that any scheduler of PodGroups makes; `cites` are KEPs and ids of docs/semantics.md."""

    id: str
    claim: str
    cites: tuple[str, ...]
    cases: Cases


def promise(name: str, cites: str) -> Callable[[Cases], Promise]:
    """Make a promise of a function that finds its cases; its docstring's first sentence is the claim."""

    def of(cases: Cases) -> Promise:
        told = " ".join((cases.__doc__ or "").split("\n\n")[0].split())
        return Promise(name, told, tuple(cites.split()), cases)

    return of
