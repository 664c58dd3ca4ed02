"""The words that the contract is written in: sorts, symbols, clauses, and what becomes of a symbol.

Everything here is a thin name for something of Z3, chosen so that a formula reads like the sentence that it
stands for. Two conventions carry the whole room. A *variable* (`p`, `g`, `n`, ...) that is left free in a
clause means *for every*; and a symbol is asked of a state: `now.assumed(p)` before a step, `then.assumed(p)`
after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeAlias, overload

import z3
from attrs import field, frozen

Term: TypeAlias = Any
"""A Z3 expression; Z3's own types do not tell a pod from a number, so neither does this name."""

Pod = z3.DeclareSort("Pod")
Node = z3.DeclareSort("Node")
Group = z3.DeclareSort("Group")
Claim = z3.DeclareSort("Claim")
Resource = z3.DeclareSort("Resource")
Key = z3.DeclareSort("Key")
Domain = z3.DeclareSort("Domain")
Device = z3.DeclareSort("Device")
Entry = z3.DeclareSort("Entry")
Bool = z3.BoolSort()
Int = z3.IntSort()

_z3: Any = z3
And: Callable[..., Term] = _z3.And
Or: Callable[..., Term] = _z3.Or
Not: Callable[..., Term] = _z3.Not
Implies: Callable[..., Term] = _z3.Implies
If: Callable[..., Term] = _z3.If
_forall: Callable[..., Term] = _z3.ForAll
_exists: Callable[..., Term] = _z3.Exists

SORTS: tuple[z3.SortRef, ...] = (Pod, Node, Group, Claim, Resource, Key, Domain, Device, Entry)
"""The sorts of things that a cluster has any number of."""

p, q, v, w = z3.Consts("p q v w", Pod)
g, h = z3.Consts("g h", Group)
n, m = z3.Consts("n m", Node)
c, b = z3.Consts("c b", Claim)
r = z3.Const("r", Resource)
k = z3.Const("k", Key)
d = z3.Const("d", Device)
e, f = z3.Consts("e f", Entry)
VARIABLES: tuple[Term, ...] = (p, q, v, w, g, h, n, m, c, b, r, k, d, e, f)
_VARIABLE_IDS = frozenset(variable.get_id() for variable in VARIABLES)

NOBODY: dict[str, Term] = {str(sort): z3.Const(f"no{sort}", sort) for sort in SORTS}
"""For each sort the thing that stands for none, `""` in a concrete state."""


@frozen(eq=False)
class Symbol:
    """A symbol of the state: its argument sorts, the sort of its value, and one sentence of what it means.

    A symbol whose value is a Bool is a relation and holds of nothing by default; a number is 0 and a thing is
    nobody by default. `args` may be empty: such a symbol is a setting of the whole cluster.
    """

    args: tuple[z3.SortRef, ...]
    result: z3.SortRef
    means: str
    name: str = field(default="", init=False)

    def __set_name__(self, owner: type, name: str) -> None:
        object.__setattr__(self, "name", name)

    @overload
    def __get__(self, state: None, owner: type) -> Symbol: ...
    @overload
    def __get__(self, state: object, owner: type) -> Callable[..., Term]: ...
    def __get__(self, state: object | None, owner: type) -> Symbol | Callable[..., Term]:
        return self if state is None else self.function(primed=getattr(state, "primed", False))

    def function(self, *, primed: bool = False) -> z3.FuncDeclRef:
        """The Z3 function of this symbol, before a step or (`primed`) after it."""
        return z3.Function(self.name + "'" * primed, *self.args, self.result)

    @cached_property
    def default(self) -> bool | int | str:
        """The value where nothing else is said: False, 0 or `""`."""
        if self.result == Bool:
            return False
        return 0 if self.result == Int else ""

    @property
    def default_term(self) -> Term:
        """The default as a Z3 expression."""
        if self.result == Bool:
            return z3.BoolVal(False)
        return z3.IntVal(0) if self.result == Int else NOBODY[str(self.result)]


def relation(*args: z3.SortRef, means: str) -> Symbol:
    """A symbol that holds of some things and not of others."""
    return Symbol(args, Bool, means)


def function(*args_and_result: z3.SortRef, means: str) -> Symbol:
    """A symbol with a value for each choice of its arguments; the last sort is the value's."""
    return Symbol(args_and_result[:-1], args_and_result[-1], means)


@frozen(eq=False)
class Sum:
    """A number that counts or adds up: the sum of `body` over all things `over`, for each choice of `index`.

    A body that is a Bool counts 1 where it holds. Proofs for every size know a sum by its axioms alone;
    concrete states and the proofs at finite scope add it up.
    """

    name: str
    over: Term
    index: tuple[Term, ...]
    body: Term
    facts: tuple[Clause, ...] = ()

    @property
    def function(self) -> z3.FuncDeclRef:
        return z3.Function(self.name, *(variable.sort() for variable in self.index), Int)

    def __call__(self, *index: Term) -> Term:
        return self.function(*index)

    @staticmethod
    def of(name: str, *index: Term) -> Term:
        """The sum called `name` at `index`, for facts that relate sums to each other."""
        return z3.Function(name, *(term.sort() for term in index), Int)(*index)

    @property
    def counts(self) -> bool:
        """Whether this sum counts things, rather than adding up amounts."""
        return self.body.sort() == Bool

    def axioms(self) -> tuple[Clause, ...]:
        """What holds of this sum in any state: a count is not negative, and who is counted is counted."""
        if not self.counts:
            return self.facts
        number = self(*self.index)
        return (
            clause(f"{self.name} is not negative", number >= 0),
            clause(f"who is counted in {self.name} is counted", number >= 1, when=[self.body]),
            *self.facts,
        )


@frozen(eq=False)
class Clause:
    """One named sentence: `holds` whenever all of `when` do, for every value of the free variables."""

    words: str
    when: tuple[Term, ...]
    holds: Term
    variables: tuple[Term, ...]

    @property
    def matrix(self) -> Term:
        """The sentence without its "for every"."""
        return Implies(And(*self.when), self.holds) if self.when else self.holds

    @property
    def formula(self) -> Term:
        """The closed Z3 formula."""
        return _forall(list(self.variables), self.matrix) if self.variables else self.matrix


def clause(words: str, holds: Term | bool, when: Iterable[Term] = ()) -> Clause:
    """The sentence `words`: `holds` whenever all of `when` do, for every value of the free variables."""
    given = tuple(when)
    then = z3.BoolVal(holds) if isinstance(holds, bool) else holds
    return Clause(words, given, then, free_variables(*given, then))


def every(*variables_and_body: Term) -> Term:
    """For every value of the variables, the body (the last argument)."""
    return _forall(list(variables_and_body[:-1]), variables_and_body[-1])


def some(*variables_and_body: Term) -> Term:
    """For some value of the variables, the body (the last argument)."""
    return _exists(list(variables_and_body[:-1]), variables_and_body[-1])


@frozen(eq=False)
class Becomes:
    """A symbol takes a new value at `args`; arguments that are variables stand for every thing."""

    symbol: str
    args: tuple[Term, ...]
    value: Term


def becomes(place: Term, value: Term | bool | int) -> Becomes:
    """After the step `place` (a symbol applied to arguments) has `value`, which is read before the step.

    >>> str(becomes(z3.Function("assumed", Pod, Bool)(p), False).value)
    'False'
    """
    if isinstance(value, bool):
        value = z3.BoolVal(value)
    elif isinstance(value, int):
        value = z3.IntVal(value)
    return Becomes(place.decl().name(), tuple(place.children()), value)


def is_variable(term: Term) -> bool:
    """Whether the term is one of VARIABLES."""
    return term.get_id() in _VARIABLE_IDS


def free_variables(*terms: Term) -> tuple[Term, ...]:
    """The variables that occur free in the terms, in the order of VARIABLES."""
    seen: set[int] = set()
    found: set[int] = set()
    stack = list(terms)
    while stack:
        term = stack.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if is_variable(term):
            found.add(term.get_id())
        elif z3.is_quantifier(term):
            stack.append(term.body())
        else:
            stack.extend(term.children())
    return tuple(variable for variable in VARIABLES if variable.get_id() in found)
