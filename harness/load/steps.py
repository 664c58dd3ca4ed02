"""The steps of a scenario, from plain data whose shape holds to values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast, get_args

from attrs import define

from gangproof.impl.objects.checks import shown
from gangproof.impl.objects.validation import Path
from gangproof.load.creations import Creations
from gangproof.load.expected import expectations
from gangproof.load.names import UnreadableError, all_refs, keys, milliseconds, refs
from gangproof.load.scenario_fields import KIND_OF
from gangproof.load.updates import change
from gangproof.properties.scenarios import document as doc
from gangproof.properties.scenarios.records import Created, Ref

CALLS = ("permit", "prebind", "bind", "delete", "generate", "record")


@define
class Steps:
    """Reads the steps of one document; `line` gives the line of a path, `tell` takes what cannot be meant."""

    creations: Creations
    line: Callable[[Path], int]
    tell: Callable[[UnreadableError], None]

    def read(self, steps: Any, path: Path) -> tuple[doc.Step, ...]:
        """The steps that can be read; the others are told."""
        found: list[doc.Step] = []
        for place, data in enumerate(steps):
            at = (*path, place)
            try:
                if len(data) != 1:
                    names = " and ".join(data) or "nothing"
                    raise UnreadableError(at, names, "one step", "each step is an entry of its own")
                ((name, value),) = data.items()
                if value is None:
                    raise UnreadableError((*at, name), "nothing", "a value")
                found.append(self._step(name, value, (*at, name)))
            except UnreadableError as error:
                self.tell(error)
        return tuple(found)

    def _step(self, name: str, value: Any, path: Path) -> doc.Step:
        line = self.line(path)
        match name:
            case "create":
                return doc.Create(tuple(self._created(value, path)), line)
            case "delete":
                return doc.Delete(all_refs(value, path), line)
            case "update":
                return doc.Update(tuple(self._changes(value, path)), line)
            case "finish" | "crash":
                return doc.Finish(_pods(value, path), "Succeeded" if name == "finish" else "Failed", line)
            case "settle" | "flush":
                if value is not True:
                    raise UnreadableError(path, shown(value), "true")
                return doc.Settle(line) if name == "settle" else doc.Flush(line)
            case "expect" | "possible":
                found = tuple(self._expectations(value, path))
                return doc.Expect(found, line) if name == "expect" else doc.Possible(found, line)
            case "attempt":
                return self._attempt(value, path, line)
            case "hold":
                return doc.Hold(_calls(value, path), line)
            case "release":
                return doc.Release(_calls(value, path), line)
            case "fail":
                return doc.Fail(_calls(value, path), line)
            case "advance":
                return doc.Advance(milliseconds(value, path), line)
            case "restart":
                if value != "scheduler":
                    raise UnreadableError(path, shown(value), "scheduler")
                return doc.Restart("scheduler", line)
            case "lag":
                return doc.Lag(tuple(_views(value, path)), line)
            case _:
                return doc.CatchUp(tuple(_views(value, path)), line)

    def _created(self, value: Any, path: Path) -> Iterator[Created]:
        for plural, entries in value.items():
            for place, entry in enumerate(entries or ()):
                try:
                    yield from self.creations.created(plural, entry, (*path, plural, place))
                except UnreadableError as error:
                    self.tell(error)

    def _changes(self, value: Any, path: Path) -> Iterator[doc.Change]:
        for name, fields in value.items():
            for ref in refs(name, (*path, name)):
                yield change(ref, fields, (*path, name))

    def _expectations(self, value: Any, path: Path) -> Iterator[Any]:
        for key, expected in value.items():
            at = (*path, key)
            if expected is None:
                self.tell(UnreadableError(at, "nothing", "a value"))
                continue
            try:
                yield from expectations(key, expected, at, self.line(at))
            except UnreadableError as error:
                self.tell(error)

    def _attempt(self, value: Any, path: Path, line: int) -> doc.Attempt:
        kinds = [kind for kind in ("pod", "group") if value.get(kind) is not None]
        if len(kinds) != 1:
            raise UnreadableError(path, " and ".join(kinds) or "neither", "either pod or group")
        result = value.get("result")
        if result not in get_args(doc.Result):
            names = ", ".join(get_args(doc.Result))
            raise UnreadableError((*path, "result"), shown(result), f"one of {names}")
        named = keys(value[kinds[0]], (*path, kinds[0]))
        if len(named) != 1:
            raise UnreadableError((*path, kinds[0]), f"{len(named)} names", "one name")
        during = self.read(value.get("during") or [], (*path, "during"))
        entity = Ref("pod" if kinds[0] == "pod" else "podGroup", named[0])
        changes = cast("tuple[doc.Create | doc.Delete | doc.Update, ...]", during)
        return doc.Attempt(entity, result, changes, line)


def _pods(texts: list[str], path: Path) -> tuple[str, ...]:
    found = all_refs(texts, path)
    for ref in found:
        if ref.kind != "pod":
            raise UnreadableError(path, str(ref), "pod/name")
    return tuple(ref.key for ref in found)


def _calls(texts: list[str], path: Path) -> tuple[doc.Call, ...]:
    found: list[doc.Call] = []
    for place, text in enumerate(texts):
        kind, slash, name = text.partition("/")
        if kind not in CALLS or not slash:
            expected = f"call/pod, the call one of {', '.join(CALLS)}"
            raise UnreadableError((*path, place), shown(text), expected)
        found.extend(doc.Call(kind, key) for key in keys(name, (*path, place)))
    return tuple(found)


def _views(texts: list[str], path: Path) -> Iterator[doc.View]:
    for place, text in enumerate(texts):
        component, _, plural = text.partition("/")
        if component not in get_args(doc.Component) or plural not in KIND_OF:
            components, plurals = ", ".join(get_args(doc.Component)), ", ".join(KIND_OF)
            expected = f"component/kinds, of {components} and {plurals}"
            raise UnreadableError((*path, place), shown(text), expected)
        yield doc.View(cast(Any, component), cast(Any, KIND_OF[plural]))
