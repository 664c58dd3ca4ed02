"""An immutable map with text keys: the one container that worlds are made of.

Worlds are compared, hashed and shared millions of times, and nothing may depend on the order in which
something was inserted. So a table keeps its keys sorted, caches its hash, and gives a changed copy instead
of changing itself.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Generic, TypeVar, overload

V = TypeVar("V")
T = TypeVar("T")


class Table(Mapping[str, V], Generic[V]):
    """A sorted immutable mapping from text to V; equal contents are equal, whatever their history."""

    __slots__ = ("_data", "_hash")
    _data: dict[str, V]
    _hash: int | None

    def __init__(self, items: Mapping[str, V] | Iterable[tuple[str, V]] = ()) -> None:
        entries = dict(items)
        self._data = {key: entries[key] for key in sorted(entries)}
        self._hash = None

    @classmethod
    def _of(cls, data: dict[str, V]) -> Table[V]:
        table = cls.__new__(cls)
        table._data = data
        table._hash = None
        return table

    def put(self, key: str, value: V) -> Table[V]:
        """This table with key mapped to value."""
        data = self._data
        if key in data:
            if data[key] is value:
                return self
            changed = data.copy()
            changed[key] = value
            return self._of(changed)
        return Table({**data, key: value})

    def drop(self, key: str) -> Table[V]:
        """This table without key; the same table if key is not in it."""
        if key not in self._data:
            return self
        changed = self._data.copy()
        del changed[key]
        return self._of(changed)

    def __getitem__(self, key: str) -> V:
        return self._data[key]

    @overload
    def get(self, key: str) -> V | None: ...
    @overload
    def get(self, key: str, default: V) -> V: ...
    @overload
    def get(self, key: str, default: T) -> V | T: ...
    def get(self, key: str, default: object = None) -> object:
        return self._data.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def keys(self) -> KeysView[str]:
        return self._data.keys()

    def values(self) -> ValuesView[V]:
        return self._data.values()

    def items(self) -> ItemsView[str, V]:
        return self._data.items()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Table) and self._data == other._data

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self._data.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Table({self._data!r})"


def added(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The sorted names with one more."""
    return names if name in names else tuple(sorted((*names, name)))


def removed(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The sorted names without one."""
    return tuple(n for n in names if n != name) if name in names else names
