"""Owner references: for whom an object was made, and with whom it goes (GC-07, GC-10)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen


@frozen(cache_hash=True)
class OwnerReference:
    """One owner by kind, name in the same namespace, and uid: one of the same name is another owner.

    At most one of an object's owners is its controller.
    """

    kind: str
    name: str
    uid: int
    controller: bool = False


def controlled_by(owners: Iterable[OwnerReference], kind: str, uid: int) -> bool:
    """Whether the object of that kind and uid is the controller among the owners."""
    return any(o.controller and (o.kind, o.uid) == (kind, uid) for o in owners)
