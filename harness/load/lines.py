"""Where a field stands in its text: found by reading the text once more, and only when somebody must be told.

A path that is not there itself, such as a missing field, stands where the part of it that is there begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress

import yaml
from attrs import define

from gangproof.impl.objects.validation import Path
from gangproof.load.text import Text

Place = tuple[int, Path]
_SPACE = re.compile(r"\s*")


def lines(text: Text, wanted: Iterable[Place]) -> Mapping[Place, int]:
    """The line, from 1, of each path in the document of that number."""
    asked = set(wanted)
    inner = {(number, path[:length]) for number, path in asked for length in range(len(path))}
    known: dict[Place, int] = {}
    counted, line = 0, 1
    places = _json_places(text, inner) if text.json else _yaml_places(text)
    # What could be read before the text breaks off is known, and nobody asks for more.
    with suppress(yaml.YAMLError, UnicodeEncodeError):
        for place, at in places:
            if place in known or not (place in asked or place in inner):
                continue
            line += text.text.count("\n", counted, at)
            counted = at
            known[place] = line
    answer: dict[Place, int] = {}
    for number, path in asked:
        prefixes = ((number, path[:length]) for length in range(len(path), -1, -1))
        answer[number, path] = next((known[prefix] for prefix in prefixes if prefix in known), 1)
    return answer


@define
class _Open:
    """A collection that is being read: the key or the index of its current entry."""

    step: str | int
    awaits_key: bool


def _yaml_places(text: Text) -> Iterator[tuple[Place, int]]:
    number = -1
    stack: list[_Open] = []
    for event in yaml.parse(text.text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.DocumentStartEvent):
            number += 1
            stack = []
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
        elif isinstance(event, yaml.NodeEvent):
            top = stack[-1] if stack else None
            if top is not None and top.awaits_key:
                top.step = event.value if isinstance(event, yaml.ScalarEvent) else ""
                top.awaits_key = False
            elif top is not None:
                if isinstance(top.step, int):
                    top.step += 1
                else:
                    top.awaits_key = True
            at = event.start_mark.index if event.start_mark is not None else 0
            yield (number, tuple(entry.step for entry in stack)), at
            if isinstance(event, yaml.MappingStartEvent):
                stack.append(_Open("", awaits_key=True))
            elif isinstance(event, yaml.SequenceStartEvent):
                stack.append(_Open(-1, awaits_key=False))


def _json_places(text: Text, inner: Set[Place]) -> Iterator[tuple[Place, int]]:
    """The places of what `inner` leads to; everything else is stepped over at full speed."""
    source = text.text
    decoder = json.JSONDecoder()

    def after_space(at: int) -> int:
        match = _SPACE.match(source, at)
        return match.end() if match else at

    def walk(place: Place, at: int) -> Iterator[tuple[Place, int]]:
        yield place, at
        if place not in inner or source[at] not in "{[":
            ends.append(decoder.raw_decode(source, at)[1])
            return
        number, path = place
        closing = "}" if source[at] == "{" else "]"
        index = 0
        at = after_space(at + 1)
        while source[at] != closing:
            step: str | int = index
            start = at
            if closing == "}":
                step, at = decoder.raw_decode(source, at)
                at = after_space(after_space(at) + 1)
                yield (number, (*path, step)), start
            inside = (number, (*path, step))
            if inside in inner or closing == "]":
                yield from walk(inside, at)
                at = ends.pop()
            else:
                at = decoder.raw_decode(source, at)[1]
            index += 1
            at = after_space(at)
            if source[at] == ",":
                at = after_space(at + 1)
        ends.append(at + 1)

    ends: list[int] = []
    at = after_space(0)
    number = 0
    while at < len(source):
        yield from walk((number, ()), at)
        at = after_space(ends.pop())
        number += 1
