"""Nodes, their taints, and what it takes to tolerate one."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from gangproof.impl.objects.affinity import NodeSelectorTerm
from gangproof.impl.table import Table

NAME_FIELD = "metadata.name"


@frozen(cache_hash=True)
class Taint:
    """A mark on a node that keeps away pods without a matching toleration."""

    key: str
    effect: str
    value: str = ""


@frozen(cache_hash=True)
class Toleration:
    """A pod's permission to ignore certain taints; an empty key or effect matches every one."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@frozen(cache_hash=True)
class Node:
    """A node; `allocatable` holds cpu in milli-CPU, memory in bytes, `pods`, and whole extended units."""

    name: str
    allocatable: Table[int]
    labels: Table[str] = Table()
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False

    @property
    def key(self) -> str:
        return self.name


def node_term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """Whether the node meets every condition of the term; an empty term matches nothing (FILT-07)."""
    if not term.expressions and not term.fields:
        return False
    name = {NAME_FIELD: node.name}
    return all(wanted.matches(node.labels) for wanted in term.expressions) and all(
        wanted.matches(name) for wanted in term.fields
    )


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether one of the tolerations matches the taint (FILT-06)."""
    return any(
        t.effect in ("", taint.effect)
        and t.key in ("", taint.key)
        and (t.operator == "Exists" or (t.operator in ("", "Equal") and t.value == taint.value))
        for t in tolerations
    )
