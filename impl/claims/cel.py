"""The CEL expressions by which device classes and requests select devices, in the part that selectors use.

A selector is compiled to a function of a device. What lies outside of the part (regular expressions, macros over
lists, arithmetic) is `beyond`: a claim that depends on it is not judged. An expression that fails on a device, say
for an attribute that the device lacks, is an error there, as in CEL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gangproof.impl.claims.cel_meaning import (
    BeyondCelError,
    CelError,
    Expression,
    at_index,
    constant,
    either,
    field_of,
    function,
    list_of,
    method,
    minus,
    negated,
    related,
    subject_of,
    truth,
)
from gangproof.impl.objects.device import Device

LONGEST = 10 * 1024
DEEPEST = 40

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<number>[0-9]+)(?![0-9.eExXuU])"""
    r"""|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>&&|\|\||==|!=|<=|>=|[-!<>().,\[\]?:]))"""
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\", "/": "/"}


def beyond(expression: str) -> str:
    """What of the expression is not modelled, "" if all of it is."""
    try:
        _compiled(expression)
    except BeyondCelError as error:
        return str(error)
    return ""


@lru_cache(maxsize=1 << 14)
def matches(expression: str, driver: str, device: Device) -> bool:
    """Whether the device of this driver meets the selector. Raises CelError and BeyondCelError."""
    found = _compiled(expression)(subject_of(driver, device))
    if not isinstance(found, bool):
        raise CelError(f"{expression!r} is no truth value")
    return found


@lru_cache(maxsize=1 << 12)
def _compiled(expression: str) -> Expression:
    if len(expression) > LONGEST:
        raise BeyondCelError(f"an expression of {len(expression)} characters")
    parser = _Parser(list(_tokens(expression)))
    found = parser.conditional(0)
    parser.expect("")
    return found


def _tokens(expression: str) -> Iterator[tuple[str, str]]:
    place, end = 0, len(expression.rstrip())
    while place < end:
        found = _TOKEN.match(expression, place)
        if found is None:
            raise BeyondCelError(f"{expression[place : place + 20].strip()!r}")
        place = found.end()
        kind = found.lastgroup or ""
        yield kind, found[kind]
    yield "end", ""


class _Parser:
    """Recursive descent with a bounded depth; each method gives the function that the piece compiles to."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.place = tokens, 0

    def taken(self, *signs: str) -> str:
        """The next token if it is one of these, which is then behind us; else ""."""
        _, text = self.tokens[self.place]
        if self.tokens[self.place][0] in ("sign", "name") and text in signs:
            self.place += 1
            return text
        return ""

    def expect(self, sign: str) -> None:
        kind, text = self.tokens[self.place]
        if text != sign or kind not in ("sign", "end"):
            raise BeyondCelError(f"{text!r}" if text else "an expression that breaks off")
        self.place += 1

    def conditional(self, depth: int) -> Expression:
        if depth > DEEPEST:
            raise BeyondCelError("deep nesting")
        asked = self.either(depth)
        if not self.taken("?"):
            return asked
        yes = self.conditional(depth + 1)
        self.expect(":")
        no = self.conditional(depth + 1)
        return lambda subject: yes(subject) if truth(asked(subject)) else no(subject)

    def either(self, depth: int) -> Expression:
        sides = [self.both(depth)]
        while self.taken("||"):
            sides.append(self.both(depth))
        return either(sides, True) if len(sides) > 1 else sides[0]

    def both(self, depth: int) -> Expression:
        sides = [self.relation(depth)]
        while self.taken("&&"):
            sides.append(self.relation(depth))
        return either(sides, False) if len(sides) > 1 else sides[0]

    def relation(self, depth: int) -> Expression:
        found = self.prefixed(depth)
        if sign := self.taken("==", "!=", "<", "<=", ">", ">=", "in"):
            found = related(sign, found, self.prefixed(depth))
        return found

    def prefixed(self, depth: int) -> Expression:
        signs: list[str] = []
        while sign := self.taken("!", "-"):
            signs.append(sign)
            if len(signs) > DEEPEST:
                raise BeyondCelError("deep nesting")
        found = self.suffixed(depth)
        for sign in reversed(signs):
            found = negated(found) if sign == "!" else minus(found)
        return found

    def suffixed(self, depth: int) -> Expression:
        found = self.primary(depth)
        steps = 0
        while sign := self.taken(".", "["):
            steps += 1
            if steps > DEEPEST:
                raise BeyondCelError("deep nesting")
            if sign == "[":
                index = self.conditional(depth + 1)
                self.expect("]")
                found = at_index(found, index)
                continue
            kind, name = self.tokens[self.place]
            if kind != "name":
                raise BeyondCelError(f"{name!r}")
            self.place += 1
            if self.taken("("):
                found = method(name, found, self.arguments(depth))
            else:
                found = field_of(name, found)
        return found

    def arguments(self, depth: int, end: str = ")") -> tuple[Expression, ...]:
        found: list[Expression] = []
        while not self.taken(end):
            if found:
                self.expect(",")
            found.append(self.conditional(depth + 1))
        return tuple(found)

    def primary(self, depth: int) -> Expression:
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "text":
            return constant(_unquoted(text))
        if kind == "number":
            return constant(int(text)) if len(text) < 20 else _outside(f"the number {text[:20]}…")
        if (kind, text) == ("sign", "("):
            found = self.conditional(depth + 1)
            self.expect(")")
            return found
        if (kind, text) == ("sign", "["):
            return list_of(self.arguments(depth, "]"))
        if kind != "name":
            return _outside(repr(text) if text else "an expression that breaks off")
        if text in ("true", "false"):
            return constant(text == "true")
        if self.taken("("):
            return function(text, self.arguments(depth))
        if text == "device":
            return lambda subject: subject
        return _outside(repr(text))


def _outside(what: str) -> Expression:
    raise BeyondCelError(what)


def _unquoted(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise BeyondCelError(f"the escape {found[0]!r}")
        return _ESCAPES[found[1]]

    return re.sub(r"\\(.)", plain, text[1:-1])
