"""From text to plain data: YAML and JSON documents, guarded against what hostile text does to a reader.

YAML is built from the parser's events, which keeps no second copy of the text in memory and lets every guard
strike early: on depth, on what aliases expand to, on the length of numbers, on duplicate keys. Plain scalars
mean what Kubernetes takes them for; times stay text. `gangproof.load.lines` finds lines again when it must.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any

import yaml
from attrs import field, frozen

from gangproof.errors import InputError, Problem
from gangproof.impl.objects.checks import entries_of, shown

LARGEST_JSON = 1 << 30
LARGEST_YAML = 1 << 28
DEEPEST = 64
MOST_EXPANDED = 100_000
LONGEST_NUMBER = 40

_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **{form: True for word in ("true", "yes", "on") for form in (word, word.title(), word.upper())},
    **{form: False for word in ("false", "no", "off") for form in (word, word.title(), word.upper())},
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED = re.compile(r"[-+]?0(?:x[0-9a-fA-F]+|o?[0-7]+|b[01]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_STRING = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_TOKEN = re.compile(rf"{_STRING}(\s*:)?|[{{}}\[\]]", re.DOTALL)
_TAG = "tag:yaml.org,2002:"


@frozen
class Text:
    """One input: its name as the user knows it, and its text."""

    name: str
    text: str = field(repr=False)
    json: bool = False

    def line_at(self, place: int) -> int:
        """The line, from 1, of a character."""
        return self.text.count("\n", 0, place) + 1

    def line_of(self, token: str) -> int:
        """The line of JSON in which a token first stands outside of strings; 0 if it does not."""
        for match in re.finditer(rf"{_STRING}|{re.escape(token)}", self.text, re.DOTALL):
            if match.group() == token:
                return self.line_at(match.start())
        return 0

    def error(self, line: int, found: str, expected: str, hint: str = "") -> InputError:
        return InputError((Problem(self.name, line, "", found, expected, hint),))


@frozen(eq=False)
class Document:
    """One document of a text, by number from 0, as plain data."""

    text: Text
    number: int
    data: Any = field(repr=False)


def decode(name: str, data: bytes) -> str:
    """The text that the bytes spell in UTF-8; InputError if they do not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x}, which is no UTF-8"
        raise InputError((Problem(name, line, "", found, "text in UTF-8"),)) from None


def documents(name: str, text: str) -> Iterator[Document]:
    """The documents of a text that are not empty; InputError where it is not YAML or JSON."""
    start = text.lstrip()[:1]
    if start in ("{", "["):
        source = Text(name, text, json=True)
        if len(text) > LARGEST_JSON:
            raise source.error(0, f"{len(text)} characters", f"at most {LARGEST_JSON}")
        try:
            found = list(_json_documents(source))
        except JSONDecodeError as error:
            if name.endswith((".json", ".jsonl")):
                wrong = error.msg[:1].lower() + error.msg[1:]
                raise source.error(
                    error.lineno, f"text that is not JSON (column {error.colno}: {wrong})", "well-formed JSON"
                ) from None
        else:
            yield from found
            return
    source = Text(name, text)
    if len(text) > LARGEST_YAML:
        hint = "as JSON it may be larger: kubectl get -o json"
        raise source.error(0, f"{len(text)} characters of YAML", f"at most {LARGEST_YAML}", hint)
    yield from _yaml_documents(source)


class _DuplicateKeyError(Exception):
    pass


def _json_documents(source: Text) -> Iterator[Document]:
    """JSON objects one after another, as kubectl takes them."""

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) != len(pairs):
            raise _DuplicateKeyError
        return entries

    def integer(digits: str) -> int:
        if len(digits) > LONGEST_NUMBER:
            found = f"an integer of {len(digits)} digits"
            raise source.error(source.line_of(digits), found, f"at most {LONGEST_NUMBER} digits")
        return int(digits)

    def constant(word: str) -> float:
        raise source.error(source.line_of(word), word, "a number")

    text = source.text
    decoder = json.JSONDecoder(object_pairs_hook=mapping, parse_int=integer, parse_constant=constant)
    skip = re.compile(r"\s*")
    place = _end(skip, text, 0)
    number = 0
    while place < len(text):
        try:
            data, place = decoder.raw_decode(text, place)
        except RecursionError:
            line = _line_too_deep(source, place)
            raise source.error(line, "text nested too deeply", f"at most {DEEPEST} levels") from None
        except _DuplicateKeyError:
            raise _duplicate_in_json(source, place) from None
        yield Document(source, number, data)
        number += 1
        place = _end(skip, text, place)


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match else place


def _line_too_deep(source: Text, start: int) -> int:
    """The line in which JSON goes deeper than it may."""
    depth = 0
    for match in _TOKEN.finditer(source.text, start):
        depth += (match.group() in "{[") - (match.group() in "}]")
        if depth > DEEPEST:
            return source.line_at(match.start())
    return 0


def _duplicate_in_json(source: Text, start: int) -> InputError:
    """The error for the first key that occurs twice in one object, found by reading again as YAML does."""
    seen: list[set[str]] = []
    place = start
    for match in _TOKEN.finditer(source.text, start):
        token = match.group()
        place = match.start()
        if token == "{":
            seen.append(set())
        elif token == "}":
            if seen:
                seen.pop()
        elif match.group(2) and seen:
            key = json.loads(f'"{match.group(1)}"', strict=False)
            if key in seen[-1]:
                return source.error(
                    source.line_at(place), f"the key {shown(key)} a second time", "each key once"
                )
            seen[-1].add(key)
    return source.error(0, "a key a second time", "each key once")


@frozen(eq=False)
class _Frame:
    """A collection that is being built: its data, its size so far, and the anchor it will be known by."""

    data: Any
    anchor: str | None
    before: int
    keys: list[str | None] = field(factory=lambda: [None])
    merges: list[Any] = field(factory=list[Any])


class _Builder:
    """Plain data from the events of one YAML text."""

    def __init__(self, source: Text) -> None:
        self.source = source
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.count = 0
        self.expanded = 0

    def documents(self) -> Iterator[Document]:
        number = 0
        try:
            for event in yaml.parse(self.source.text, Loader=yaml.CSafeLoader):
                kind = type(event)
                if kind is yaml.DocumentStartEvent:
                    self.stack.append(_Frame([], None, 0))
                    self.anchors.clear()
                elif kind is yaml.DocumentEndEvent:
                    (root,) = self.stack.pop().data or [None]
                    if root is not None:
                        yield Document(self.source, number, root)
                    number += 1
                elif self.stack:
                    self.take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark is not None else 0
            told = " ".join(filter(None, (error.problem, error.context))) or "malformed text"
            raise self.source.error(line, f"text that is not YAML ({told})", "well-formed YAML") from None
        except yaml.reader.ReaderError as error:
            line = self.source.text.count("\n", 0, max(error.position, 0)) + 1
            raise self.source.error(line, "a character that YAML does not allow", "text") from None
        except UnicodeEncodeError as error:
            line = self.source.text.count("\n", 0, error.start) + 1
            raise self.source.error(line, "half of a surrogate pair", "text in UTF-8") from None

    def take(self, event: Any) -> None:
        self.count += 1
        kind = event.__class__
        if kind is yaml.ScalarEvent:
            self.put(event, self.scalar(event))
            if event.anchor is not None:
                self.anchors[event.anchor] = (self.scalar(event), 1)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            if len(self.stack) > DEEPEST:
                raise self.error(event, "text nested too deeply", f"at most {DEEPEST} levels")
            if event.tag not in (None, "!", f"{_TAG}map", f"{_TAG}seq"):
                raise self.error(event, f"the tag {shown(event.tag)}", "no tag")
            data: Any = {} if kind is yaml.MappingStartEvent else []
            self.stack.append(_Frame(data, event.anchor, self.count + self.expanded))
        elif kind is yaml.AliasEvent:
            self.alias(event)
        else:
            frame = self.stack.pop()
            for merged in frame.merges:
                for key, value in merged.items():
                    frame.data.setdefault(key, value)
            size = self.count + self.expanded - frame.before
            if frame.anchor is not None:
                self.anchors[frame.anchor] = (frame.data, size)
            self.put(event, frame.data)

    def alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            inside = any(frame.anchor == event.anchor for frame in self.stack)
            found = f"the alias *{event.anchor}" + (" inside of what it stands for" if inside else "")
            raise self.error(event, found, "an alias of something before it")
        value, size = self.anchors[event.anchor]
        self.expanded += size
        if self.expanded > MOST_EXPANDED:
            raise self.error(event, "aliases that expand without end", f"at most {MOST_EXPANDED} values")
        self.put(event, value)

    def put(self, event: Any, value: Any) -> None:
        frame = self.stack[-1]
        if isinstance(frame.data, list):
            frame.data.append(value)
            return
        key = frame.keys[0]
        if key is None:
            frame.keys[0] = self.key(event, frame.data)
            return
        frame.keys[0] = None
        if key == "<<":
            merged = entries_of(value) if isinstance(value, list) else [value]
            if not all(isinstance(part, dict) for part in merged):
                raise self.error(event, "a merge of something else", "a merge (<<) of mappings")
            frame.merges.extend(merged)
            return
        frame.data[key] = value

    def key(self, event: Any, there: dict[str, Any]) -> str:
        if type(event) is not yaml.ScalarEvent:
            raise self.error(event, "a collection as a key", "a text as a key")
        if event.value in there:
            raise self.error(event, f"the key {shown(event.value)} a second time", "each key once")
        return event.value

    def scalar(self, event: Any) -> Any:
        text: str = event.value
        tag = event.tag
        if tag is None or tag == "!":
            return self.plain(event, text) if event.implicit[0] else text
        if tag == f"{_TAG}str":
            return text
        if tag in (f"{_TAG}int", f"{_TAG}float", f"{_TAG}bool", f"{_TAG}null"):
            return self.plain(event, text)
        raise self.error(event, f"the tag {shown(tag)}", "no tag")

    def plain(self, event: Any, text: str) -> Any:
        if text in _WORDS:
            return _WORDS[text]
        if text[0] not in "+-.0123456789":
            return text
        if _INTEGER.fullmatch(text) or _BASED.fullmatch(text):
            if len(text) > LONGEST_NUMBER:
                raise self.error(event, f"a number of {len(text)} digits", f"at most {LONGEST_NUMBER}")
            return _integer(text)
        if _FLOAT.fullmatch(text):
            return float(text)
        return float(text.replace(".", "")) if _NO_NUMBER.fullmatch(text) else text

    def error(self, event: Any, found: str, expected: str) -> InputError:
        return self.source.error(event.start_mark.line + 1, found, expected)


def _integer(text: str) -> int:
    if _INTEGER.fullmatch(text):
        return int(text)
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-")
    return sign * int(digits, 0) if digits[1] in "xob" else sign * int(digits, 8)


def _yaml_documents(source: Text) -> Iterator[Document]:
    return _Builder(source).documents()
