"""The CEL expressions by which device classes and requests select devices, in the part that selectors use.

A selector is compiled to a function of a device. What lies outside of the part (regular expressions, macros over
lists, arithmetic) is `beyond`: a claim that depends on it is not judged. What is no CEL at all is `malformed`. An
expression that fails on a device, say for an attribute that the device lacks, is an error there, as in CEL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from gangproof.impl.claims.cel_meaning import (
    BeyondCelError,
    CelError,
    Expression,
    MalformedCelError,
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
    r"""\s*(?:(?!\"{3}|'{3})(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<number>[0-9]+)(?![0-9.eExXuU])"""
    r"""|(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?![A-Za-z0-9_"'])"""
    r"""|(?P<sign>&&|\|\||==|!=|<=|>=|/(?!/)|[-+*%!<>().,\[\]?:]))"""
)
_NEVER = "#$@;~^&|=\\"
"""Signs that no CEL expression holds outside of its texts, standing alone."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\", "/": "/"}


def beyond(expression: str) -> str:
    """What of the expression is not modelled, "" if all of it is or if it is malformed."""
    try:
        _compiled(expression)
    except BeyondCelError as error:
        return str(error)
    except MalformedCelError:
        pass
    return ""


def malformed(expression: str) -> str:
    """What keeps the expression from being CEL at all, "" if nothing does or if it holds pieces not known here."""
    try:
        _compiled(expression)
    except MalformedCelError as error:
        return str(error)
    except BeyondCelError:
        pass
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
    """The function that the expression is. Raises BeyondCelError and MalformedCelError."""
    if len(expression) > LONGEST:
        raise BeyondCelError(f"an expression of {len(expression)} characters")
    parser = _Parser(list(_tokens(expression)))
    found = parser.conditional(0)
    parser.expect("")
    if parser.beyond:
        raise BeyondCelError(parser.beyond[-1])
    return found


def _tokens(expression: str) -> Iterator[tuple[str, str]]:
    place, end = 0, len(expression.rstrip())
    while place < end:
        found = _TOKEN.match(expression, place)
        if found is None:
            rest = expression[place:].strip()
            if rest[0] in _NEVER or (rest[0] in "\"'" and not _special_text(rest)):
                raise MalformedCelError(f"with {rest[:20]!r} out of place")
            raise BeyondCelError(f"{rest[:20]!r}")
        place = found.end()
        kind = found.lastgroup or ""
        yield kind, found[kind]
    yield "end", ""


def _special_text(rest: str) -> bool:
    """Whether the text is of a form that is not read here: in three quotes, or with escapes."""
    return rest.startswith(('"""', "'''")) or "\\" in rest


class _Parser:
    """Recursive descent with a bounded depth; each method gives the function that the piece compiles to.

    What is not modelled is put down in `beyond`, and the rest is read all the same: it may be malformed.
    """

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.place = tokens, 0
        self.beyond: list[str] = []

    def taken(self, *signs: str) -> str:
        """The next token if it is one of these, which is then behind us; else ""."""
        kind, text = self.tokens[self.place]
        if kind in ("sign", "name") and text in signs:
            self.place += 1
            return text
        return ""

    def expect(self, sign: str) -> None:
        kind, text = self.tokens[self.place]
        if text != sign or kind not in ("sign", "end"):
            raise _unexpected(kind, text)
        self.place += 1

    def outside(self, what: str) -> Expression:
        """Stands for a piece that is not modelled."""
        self.beyond.append(what)
        return constant(False)

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
        found = self.sum(depth)
        while sign := self.taken("==", "!=", "<", "<=", ">", ">=", "in"):
            found = related(sign, found, self.sum(depth))
        return found

    def sum(self, depth: int) -> Expression:
        found = self.prefixed(depth)
        while sign := self.taken("+", "-", "*", "/", "%"):
            self.prefixed(depth)
            found = self.outside(f"{sign!r}")
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
            if self.taken("?"):
                self.outside("an optional field")
            if sign == "[":
                index = self.conditional(depth + 1)
                self.expect("]")
                found = at_index(found, index)
                continue
            kind, name = self.tokens[self.place]
            if kind != "name":
                raise _unexpected(kind, name)
            self.place += 1
            if self.taken("("):
                found = self.called(method, name, found, self.arguments(depth))
            else:
                found = field_of(name, found)
        return found

    def called(self, what: Callable[..., Expression], *parts: object) -> Expression:
        """A call of a method or a function, or what stands for it if it is none that is modelled."""
        try:
            return what(*parts)
        except BeyondCelError as error:
            return self.outside(str(error))

    def arguments(self, depth: int, end: str = ")") -> tuple[Expression, ...]:
        found: list[Expression] = []
        while not self.taken(end):
            if found:
                self.expect(",")
                if end == "]" and self.taken(end):
                    break
            if end == "]" and self.taken("?"):
                self.outside("an optional item")
            found.append(self.conditional(depth + 1))
        return tuple(found)

    def primary(self, depth: int) -> Expression:
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "text":
            return constant(_unquoted(text))
        if kind == "number":
            return constant(int(text)) if len(text) < 20 else self.outside(f"the number {text[:20]}…")
        if (kind, text) == ("sign", "("):
            found = self.conditional(depth + 1)
            self.expect(")")
            return found
        if (kind, text) == ("sign", "["):
            return list_of(self.arguments(depth, "]"))
        if (kind, text) == ("sign", "."):
            self.primary(depth)
            return self.outside("a point at the start")
        if kind != "name":
            raise _unexpected(kind, text)
        if text in ("true", "false"):
            return constant(text == "true")
        if self.taken("("):
            return self.called(function, text, self.arguments(depth))
        if text == "device":
            return lambda subject: subject
        return self.outside(repr(text))


def _unexpected(kind: str, text: str) -> MalformedCelError:
    return MalformedCelError("which breaks off" if kind == "end" else f"with {text!r} out of place")


def _unquoted(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise BeyondCelError(f"the escape {found[0]!r}")
        return _ESCAPES[found[1]]

    return re.sub(r"\\(.)", plain, text[1:-1])
