"""A concrete state: what each symbol is in one world, as plain sets, dicts and truth values.

The formulas are compiled to Python over these values (see `compile`), so that the same sentence that is
proved for every cluster also judges the one at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from gangproof.spec.compile import totals
from gangproof.spec.contract import SIGNATURE
from gangproof.spec.terms import Symbol

Universe = Mapping[str, tuple[str, ...]]
"""The things of each sort, by the sort's name; none of them is the empty text, which stands for nobody."""

Value = Any
"""A bool (no arguments), a set (a relation) or a dict (a function), with tuples for several arguments."""


@frozen(eq=False, slots=True)
class Structure:
    """One state: the things that there are, and for each symbol its value.

    `values` has an entry for every symbol. A relation is a set of names, or of tuples of names if it has
    several arguments; a function is a dict without the entries that have the default (0 or `""`). Whatever a
    value mentions has to be in the universe. Values are shared between states and are never changed.
    """

    universe: Universe
    values: Mapping[str, Value] = field(repr=False)

    @staticmethod
    def of(universe: Mapping[str, tuple[str, ...]], values: Mapping[str, Value]) -> Structure:
        """A state with the given values; what is not given has its default, counters are added up.

        KeyError for a name that is no symbol.
        """
        complete = {name: _empty(symbol) for name, symbol in SIGNATURE.items()}
        for name, value in values.items():
            complete[name] = _normal(SIGNATURE[name], value)
        everything = {sort: universe.get(sort, ()) for sort in SORT_NAMES}
        counted = {n: t for n, t in totals(complete, everything).items() if n not in values}
        return Structure(everything, {**complete, **counted})

    @staticmethod
    def empty(universe: Mapping[str, tuple[str, ...]] | None = None) -> Structure:
        """The state before anything exists."""
        return Structure.of(universe or {}, {})

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def at(self, name: str, *args: str) -> bool | int | str:
        """The value of a symbol at some things; its default where nothing is said."""
        symbol, value = SIGNATURE[name], self.values[name]
        if not symbol.args:
            return value
        key = args[0] if len(args) == 1 else args
        return key in value if symbol.default is False else value.get(key, symbol.default)

    def with_values(self, values: Mapping[str, Value], universe: Universe | None = None) -> Structure:
        """This state with other values for some symbols, and perhaps more things."""
        return Structure(universe or self.universe, {**self.values, **values})


SORT_NAMES = ("Pod", "Node", "Group", "Claim", "Resource", "Key", "Domain", "Device", "Entry")
"""The names of the sorts, in the order of `terms.SORTS`."""


def merged(one: Universe, other: Universe) -> Universe:
    """The things of both universes."""
    if one is other:
        return one
    return {
        sort: one[sort] if one[sort] == other[sort] else tuple(sorted({*one[sort], *other[sort]}))
        for sort in SORT_NAMES
    }


def _empty(symbol: Symbol) -> Value:
    if not symbol.args:
        return symbol.default
    return frozenset[str]() if symbol.default is False else {}


def _normal(symbol: Symbol, value: Value) -> Value:
    if not symbol.args:
        return value
    if symbol.default is False:
        return frozenset(value)
    return {key: entry for key, entry in value.items() if entry != symbol.default}
