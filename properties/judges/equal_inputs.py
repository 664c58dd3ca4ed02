"""Equal inputs, equal verdict (INV-36): what happens depends on the world, on nothing behind it, and not on names.

A step is decided twice and must come out the same; and once more in a world in which pods and nodes have other
names, where it must come out the same up to these names. Names are what a hidden order of iteration would
show in; the order in which tables were filled is the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from attrs import fields, has

from gangproof.impl.actions import Grain, successors
from gangproof.impl.cycle_state import Domain, Snapshot
from gangproof.impl.memory import Members
from gangproof.impl.rules import Rules
from gangproof.impl.table import Table
from gangproof.impl.world import Ghost, World
from gangproof.properties.search.system import Violation

SORTED: Mapping[Any, tuple[str, ...]] = {
    Domain: ("nodes",),
    Members: ("unsched", "assumed", "assigned", "done", "leaving"),
    Snapshot: ("nodes_with_affinity", "nodes_with_required_anti_affinity"),
    Ghost: ("started", "owed", "placed", "evicted", "sent_back"),
}
"""What is kept as sorted names, and has to be sorted again when the names are others."""


def equal_inputs(
    world: World, rules: Rules, names: Mapping[str, str], grain: Grain = "coarse"
) -> Violation | None:
    """INV-36 in this world: a second decision, and one under these other names, must be the first one.

    `names` maps keys of pods, names of pods and names of nodes, one to one. A world that ranks nodes by name
    has to keep theirs.
    """
    first = successors(world, rules, grain)
    again = successors(renamed(world, {}), rules, grain)
    if first != again:
        return Violation("INV-36", "the same world goes on otherwise the second time")
    here = Counter(renamed(after, names) for _, after in first)
    there = Counter(after for _, after in successors(renamed(world, names), rules, grain))
    if here != there:
        changed = ", ".join(f"{old} is called {new}" for old, new in sorted(names.items()) if old != new)
        return Violation("INV-36", f"the world goes on otherwise where {changed}", tuple(sorted(names)))
    return None


def exchange(*names: str, namespace: str = "default") -> dict[str, str]:
    """The names passed on round the circle, each to the one before it, as names and as keys."""
    passed = dict(zip(names, (*names[1:], *names[:1]), strict=True))
    keys = {f"{namespace}/{old}": f"{namespace}/{new}" for old, new in passed.items()}
    return {**passed, **keys}


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The value built anew with other names for whatever is called by one of these."""
    if isinstance(value, str):
        return _name(value, names)
    if isinstance(value, Table):
        table = cast("Table[Any]", value)
        entries = reversed(list(table.items()))
        return Table({_name(key, names): renamed(entry, names) for key, entry in entries})
    if isinstance(value, tuple):
        return tuple(renamed(entry, names) for entry in cast("tuple[Any, ...]", value))
    kind = cast("Any", type(value))
    if not has(kind):
        return value
    parts = {f.name: renamed(getattr(value, f.name), names) for f in fields(kind) if f.init}
    for name in SORTED.get(kind, ()):
        parts[name] = tuple(sorted(parts[name]))
    if isinstance(value, Ghost):
        parts["counted"] = Table({group: tuple(sorted(pods)) for group, pods in parts["counted"].items()})
    return kind(**parts)


def _name(text: str, names: Mapping[str, str]) -> str:
    """The text with another name, also where it names a plain pod's own round or a call for a pod."""
    if text in names:
        return names[text]
    mark, name = (text[:1], text[1:]) if text.startswith("=") else text.partition("/")[::2]
    between = "" if text.startswith("=") else "/"
    return f"{mark}{between}{names[name]}" if name in names else text
