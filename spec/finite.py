"""The same contract in a small world: a few things of each sort, sums added up exactly.

Two questions are asked here. Does every action keep each counter what it should count? And what does a
counterexample look like in a world that a person can read, with no number that nothing counts?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import z3
from attrs import frozen

from gangproof.spec.contract import Action, Contract
from gangproof.spec.structure import SORT_NAMES, Structure
from gangproof.spec.terms import NOBODY, And, Clause, If, Not, Or, Sum, Term
from gangproof.spec.transition import after, primed

_z3: Any = z3

SCOPES: tuple[Mapping[str, int], ...] = tuple(
    dict(zip(SORT_NAMES, sizes, strict=True))
    for sizes in ((2, 1, 1, 1, 1, 1, 1, 1, 1), (3, 2, 2, 1, 1, 1, 2, 1, 1), (4, 2, 2, 2, 1, 1, 2, 2, 2))
)
"""The small worlds, by how many things there are of each sort."""

_LETTERS: Mapping[str, str] = dict(
    zip(SORT_NAMES, ("p", "n", "g", "c", "r", "k", "d", "dev", "e"), strict=True)
)


@frozen(eq=False, slots=False)
class World:
    """A scope with a contract in it: everything said of it is free of quantifiers."""

    contract: Contract
    scope: Mapping[str, int]

    @cached_property
    def universe(self) -> dict[str, tuple[str, ...]]:
        """The names of the things, `p1`, `p2`, and so on."""
        return {
            sort: tuple(f"{_LETTERS[sort]}{i + 1}" for i in range(size)) for sort, size in self.scope.items()
        }

    @cached_property
    def things(self) -> dict[str, list[Term]]:
        """The constants that stand for the things."""
        return {
            sort: [z3.Const(f"{name}!", NOBODY[sort].sort()) for name in names]
            for sort, names in self.universe.items()
        }

    def tuples(self, sorts: Iterable[z3.SortRef]) -> list[tuple[Term, ...]]:
        """All choices of one thing for each sort."""
        return list(product(*(self.things[str(sort)] for sort in sorts)))

    def expand(self, term: Term) -> Term:
        """The term with each quantifier written out over the things."""
        if not _quantified(term):
            return term
        if not z3.is_quantifier(term):
            return _rebuilt(term, [self.expand(child) for child in term.children()])
        sorts = [term.var_sort(i) for i in range(term.num_vars())]
        body, flat = term.body(), not _quantified(term.body())
        parts = [_z3.substitute_vars(body, *reversed(things)) for things in self.tuples(sorts)]
        if not flat:
            parts = [self.expand(part) for part in parts]
        return And(*parts) if term.is_forall() else Or(*parts)

    def clause(self, clause: Clause) -> Term:
        """A clause, written out."""
        return self.expand(clause.formula)

    def value_of(self, sum_: Sum, index: Sequence[Term], body: Term | None = None) -> Term:
        """What the sum adds up to at an index, with `body` in the place of its own."""
        one = sum_.body if body is None else body
        if sum_.counts:
            one = If(one, 1, 0)
        pairs = list(zip(sum_.index, index, strict=True))
        things = self.things[str(sum_.over.sort())]
        return _z3.Sum([z3.substitute(one, (sum_.over, thing), *pairs) for thing in things])

    def counted(self, sums: Iterable[Sum]) -> list[Term]:
        """Each sum is what it adds up to."""
        return [
            sum_(*index) == self.value_of(sum_, index)
            for sum_ in sums
            for index in self.tuples(variable.sort() for variable in sum_.index)
        ]

    def closed(self, action: Action) -> list[Term]:
        """All things are different, and every value is one of them or nobody."""
        facts: list[Term] = []
        for sort, things in self.things.items():
            facts.append(_z3.Distinct(*things, NOBODY[sort]))
        functions = [(symbol.function(), symbol.args, symbol.result) for symbol in self.contract.symbols]
        functions += [(p.term, p.args, p.result) for p in action.params]
        for function, args, result in functions:
            if str(result) not in self.things:
                continue
            values = [*self.things[str(result)], NOBODY[str(result)]]
            for things in self.tuples(args):
                place = function(*things) if args else function
                facts.append(Or(*(place == value for value in values if args or value is not values[-1])))
        return [*facts, *self.nothing_of_nobody(action)]

    def nothing_of_nobody(self, action: Action) -> Iterator[Term]:
        """Every symbol and every sum has its default where an argument is nobody."""
        functions = [(s.function(), s.args, s.default_term) for s in self.contract.symbols if s.args]
        functions += [
            (s.function, tuple(v.sort() for v in s.index), z3.IntVal(0)) for s in action.sums if s.index
        ]
        for function, args, default in functions:
            with_nobody = ([*self.things[str(sort)], NOBODY[str(sort)]] for sort in args)
            for things in product(*with_nobody):
                if any(thing is NOBODY[str(sort)] for thing, sort in zip(things, args, strict=True)):
                    yield function(*things) == default

    @cached_property
    def _promised(self) -> list[Term]:
        """The state invariants hold, and the counters count."""
        clauses = [c for i in self.contract.invariants if i.kind == "state" for c in i.clauses]
        return [*map(self.clause, clauses), *self.counted(self.contract.counters)]

    def before(self, action: Action) -> list[Term]:
        """A state in which the state invariants hold and the action may happen, with all sums right."""
        guard = map(self.clause, action.guard)
        return [*self.closed(action), *self._promised, *guard, *self.counted(action.sums)]

    def miscount(self, action: Action, counter: Sum) -> Term:
        """After the action the counter is not what it should count."""
        wrong: list[Term] = []
        body = primed(counter.body)
        for index in self.tuples(variable.sort() for variable in counter.index):
            function = z3.Function(counter.name + "'", *(t.sort() for t in index), z3.IntSort())
            wrong.append(
                self.expand(after(action, function(*index)))
                != self.value_of(counter, index, after(action, body))
            )
        return Or(*wrong)

    def unfactual(self, action: Action) -> Term:
        """Some fact that the proofs take for granted of a sum does not hold of it."""
        facts = [self.clause(c) for s in (*self.contract.counters, *action.sums) for c in s.axioms()]
        return Not(And(*facts))

    def structure(self, model: Term) -> Structure:
        """The state of a model."""
        values = {s.name: self.table(model, s.function(), s.args) for s in self.contract.symbols}
        return Structure.of(self.universe, values)

    def table(self, model: Term, function: Term, args: tuple[z3.SortRef, ...]) -> Any:
        """The value of a symbol or a parameter in a model, as `Structure` keeps it."""
        if not args:
            return self._read(model, function() if isinstance(function, z3.FuncDeclRef) else function)
        names = product(*(self.universe[str(sort)] for sort in args))
        entries: dict[Any, Any] = {
            key[0] if len(key) == 1 else key: self._read(model, function(*things))
            for key, things in zip(names, self.tuples(args), strict=True)
        }
        if function.range() == z3.BoolSort():
            return frozenset(key for key, holds in entries.items() if holds)
        return entries

    def _read(self, model: Term, term: Term) -> bool | int | str:
        value: Term = model.eval(term, model_completion=True)
        if z3.is_bool(term):
            return z3.is_true(value)
        if z3.is_int(term):
            return int(value.as_long())
        sort = str(term.sort())
        for name, thing in zip(self.universe[sort], self.things[sort], strict=True):
            if model.eval(thing, model_completion=True).eq(value):
                return name
        return ""


@lru_cache(maxsize=8)
def small_world(contract: Contract, size: int) -> World:
    """The contract in one of `SCOPES`."""
    return World(contract, SCOPES[size])


def _quantified(term: Term) -> bool:
    """Whether there is a quantifier in the term."""
    seen: set[int] = set()
    stack = [term]
    while stack:
        part = stack.pop()
        if z3.is_quantifier(part):
            return True
        if part.get_id() not in seen:
            seen.add(part.get_id())
            stack.extend(part.children())
    return False


def _rebuilt(term: Term, children: list[Term]) -> Term:
    if z3.is_and(term):
        return And(*children)
    if z3.is_or(term):
        return Or(*children)
    return term.decl()(*children)
