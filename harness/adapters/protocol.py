"""What gangproof asks of another scheduler: seven operations on plain data, in process or as JSON lines.

The data are those of a recorded run (`gangproof.load.recorded`): whole Kubernetes objects go in, looks and
events come out. `docs/adapters.md` tells each of them with an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

VERSION = 1
"""The version of the protocol that is spoken here."""

Data = Mapping[str, Any]
Kind = Literal["refused", "answer", "crash", "hang"]


class AdapterError(Exception):
    """That an adapter did not do what it was asked; `kind` says how it failed, `message` why, in a line.

    `refused`: it cannot do this and goes on. `answer`: it answered, but not in the form of the protocol.
    `crash`: it ended in the midst of the request. `hang`: it did not answer in time. After the last three its
    cluster is gone: the next request that helps is `load`.
    """

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(kind, message)
        self.kind: Kind = kind
        self.message = message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Adapter(Protocol):
    """A scheduler with a cluster of its own. Every operation may raise AdapterError."""

    def hello(self) -> Data:
        """Who it is: `name`, `version`, `protocol` (1), and `can`, the setup options and steps that it has."""
        ...

    def load(self, setup: Data) -> None:
        """A fresh, empty cluster and a fresh scheduler, set up like this; the one before ends."""
        ...

    def do(self, step: Data) -> None:
        """One step, a mapping with one of the names in `can`, such as `{"create": [objects]}`."""
        ...

    def settle(self, idle: float) -> None:
        """Let the scheduler work until nothing has changed for so many of its seconds."""
        ...

    def observe(self) -> Data:
        """The look: `t`, `pods`, `podGroups` and what else it shows."""
        ...

    def log(self) -> Data:
        """All `events` since `load`, in order; and `cycles`, `hotLoop`, `errors` if it counts them."""
        ...

    def close(self) -> None:
        """Nothing more is asked."""
        ...
