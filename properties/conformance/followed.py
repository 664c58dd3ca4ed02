"""What following a recorded run came to: it agrees, parts with the model at some event, or cannot be followed."""

from __future__ import annotations

from attrs import field, frozen

from gangproof.impl.actions import Action
from gangproof.impl.world import World
from gangproof.properties.conformance.kinds import kind_of, rules_of
from gangproof.properties.search.system import Path


@frozen
class Difference:
    """The first thing in a run that the model would not have done.

    `event` says where: at an event of the log, or at a look; `index` is how many events of the log come
    before it. `things` are what was found and what is expected there, as `kinds` calls them. `path` is one run
    of the model that explains everything before it.
    """

    event: str
    index: int
    expected: tuple[str, ...]
    found: str
    things: tuple[str, frozenset[str]]
    path: Path[World, Action] = field(repr=False)

    @property
    def kind(self) -> str:
        """In which way the two part: what was found, and what sort of thing was expected in its place."""
        found, expected = self.things
        return kind_of(expected, found)

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules that decide about what was found and what was expected."""
        found, expected = self.things
        return rules_of(found, *sorted(expected))

    def __str__(self) -> str:
        return f"{self.event}: found {self.found}, expected {' or '.join(self.expected) or 'nothing'}"


@frozen
class Followed:
    """What following one run came to: it agrees, or `difference` tells where not, or it `needs` more.

    `events` is how much of the log was explained; `cut` says that more was possible than is looked at.
    """

    name: str
    events: int = 0
    needs: tuple[str, ...] = ()
    difference: Difference | None = None
    cut: bool = False

    @property
    def agrees(self) -> bool:
        return not self.needs and self.difference is None and not self.cut
