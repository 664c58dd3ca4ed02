"""What a deviation is: a promise, what v1.36.3 does instead, and the change that makes the machinery do it."""

from __future__ import annotations

from attrs import frozen

from gangproof.impl.rules import Change


@frozen
class Deviation:
    """A row of SEMANTICS section 14 that v1.36.3 does otherwise than *intended*.

    `breaks` are the properties that it breaks, `race` whether it strikes or not by relative timing alone
    (SEMANTICS 0.5), `scenario` a scenario that shows it, if there is one.
    """

    change: Change
    promise: str
    intended: str
    breaks: tuple[str, ...]
    rules: tuple[str, ...]
    race: bool = False
    scenario: str = ""

    @property
    def id(self) -> str:
        return self.change.id

    @property
    def shipped(self) -> str:
        """What v1.36.3 does."""
        return self.change.text
