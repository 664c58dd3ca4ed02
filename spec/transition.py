"""What a formula says about the state after an action: the primed symbols replaced by what they become.

Nothing but substitution happens here, so an obligation speaks of the state before the step and of the
parameters only.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import z3

from gangproof.spec.contract import SIGNATURE, Action, Invariant
from gangproof.spec.state import SYMBOLS
from gangproof.spec.terms import And, If, Not, Or, Symbol, Term, is_variable

Replacement = tuple[z3.FuncDeclRef, Term]
"""A function and the expression that takes its place, in which `Var(i)` is the i-th argument."""


def _places(symbol: Symbol) -> list[Term]:
    return [z3.Const(f"x!{i}", sort) for i, sort in enumerate(symbol.args)]


def _opened(symbol: Symbol, body: Term) -> Term:
    """The body with argument positions for the constants of `_places`."""
    places = [(place, z3.Var(i, place.sort())) for i, place in enumerate(_places(symbol))]
    return z3.substitute(body, *places) if places else body


@lru_cache(maxsize=1024)
def successor(action: Action) -> tuple[Replacement, ...]:
    """For each primed symbol what it is after the action."""
    bodies: dict[str, Term] = {s.name: s.function()(*_places(s)) for s in SYMBOLS}
    for become in action.update:
        places = _places(SIGNATURE[become.symbol])
        pairs = list(zip(places, become.args, strict=True))
        values = [(arg, place) for place, arg in pairs if is_variable(arg)]
        value = z3.substitute(become.value, *values) if values else become.value
        here = [place == arg for place, arg in pairs if not is_variable(arg)]
        bodies[become.symbol] = _changed(bodies[become.symbol], here, value)
    return tuple((symbol.function(primed=True), _opened(symbol, bodies[symbol.name])) for symbol in SYMBOLS)


def _changed(before: Term, here: list[Term], value: Term) -> Term:
    if not here:
        return value
    if z3.is_false(value):
        return And(before, Not(And(*here)))
    if z3.is_true(value):
        return Or(before, And(*here))
    return If(And(*here), value, before)


_PRIME: tuple[Replacement, ...] = tuple(
    (symbol.function(), _opened(symbol, symbol.function(primed=True)(*_places(symbol)))) for symbol in SYMBOLS
)
_STUTTER: tuple[Replacement, ...] = tuple(
    (symbol.function(primed=True), _opened(symbol, symbol.function()(*_places(symbol)))) for symbol in SYMBOLS
)
_INITIAL: tuple[Replacement, ...] = tuple(
    (symbol.function(), symbol.default_term) for symbol in SYMBOLS if symbol.args
)


def primed(formula: Term) -> Term:
    """The formula, said of the state after the step."""
    return z3.substitute_funs(formula, *_PRIME)


def initially(formula: Term) -> Term:
    """The formula, said of the state in which nothing exists; the gates stay open."""
    return z3.substitute_funs(formula, *_INITIAL)


def stuttering(formula: Term) -> Term:
    """The formula over two states, said of a step that changes nothing."""
    return z3.substitute_funs(formula, *_STUTTER)


def after(action: Action, formula: Term) -> Term:
    """The formula over two states, said of a step of the action."""
    return z3.substitute_funs(formula, *successor(action))


@lru_cache(maxsize=256)
def over_two_states(invariant: Invariant) -> tuple[Term, ...]:
    """The invariant's clauses as formulas about a step: of its end, or of both its sides."""
    return tuple(
        primed(clause.formula) if invariant.kind == "state" else clause.formula
        for clause in invariant.clauses
    )


@lru_cache(maxsize=256)
def reads(invariant: Invariant) -> tuple[frozenset[str], ...]:
    """For each clause the symbols whose value after a step it reads."""
    return tuple(
        frozenset(name[:-1] for name in symbols_in([formula]) if name.endswith("'"))
        for formula in over_two_states(invariant)
    )


def symbols_in(formulas: Iterable[Term]) -> set[str]:
    """The names of the functions and constants in the formulas, primed ones with their prime."""
    seen: set[int] = set()
    found: set[str] = set()
    stack = list(formulas)
    while stack:
        term = stack.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if z3.is_quantifier(term):
            stack.append(term.body())
        elif z3.is_app(term):
            if term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                found.add(term.decl().name())
            stack.extend(term.children())
    return found
