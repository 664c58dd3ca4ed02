"""From a formula to Python: the Z3 expressions of the contract, turned into functions of concrete states.

Quantifiers become loops. A loop runs over the smallest set that the sentence itself offers: "whenever p is
assumed" loops over the assumed pods, "p assumed now and not before" over the difference of two sets, "whose
node is n" over nothing at all. What is generated is plain source text, one small function for each clause,
sum and change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import count, product
from typing import Any

import z3

from gangproof.spec.contract import SIGNATURE, Action, Param
from gangproof.spec.state import COUNTERS
from gangproof.spec.terms import NOBODY, Becomes, Clause, Sum, Term, is_variable

Function = Callable[..., Any]
"""Compiled, of `(now, then, args, U)`: values before and after, arguments by name, the universe."""

_INFIX = {
    z3.Z3_OP_EQ: "==",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
    z3.Z3_OP_DISTINCT: "!=",
}
_NOBODY = {term.get_id() for term in NOBODY.values()}
Names = dict[int, str]
"""The Python name of each Z3 constant that is bound, by the constant's id."""


class _Text:
    """Source text of terms, and which values of the state it reads."""

    def __init__(self) -> None:
        self.locals: dict[str, str] = {}
        self._fresh = count()

    def of(self, term: Term, names: Names) -> str:
        """A Python expression for the term."""
        if term.get_id() in names:
            return names[term.get_id()]
        if z3.is_quantifier(term):
            return self._quantifier(term, names)
        kind, children = term.decl().kind(), term.children()
        if kind in (z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_RECURSIVE):
            return self._application(term, names)
        if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
            return str(kind == z3.Z3_OP_TRUE)
        if kind == z3.Z3_OP_ANUM:
            return str(term.as_long())
        parts = [self.of(child, names) for child in children]
        if kind == z3.Z3_OP_NOT:
            return f"(not {parts[0]})"
        if kind == z3.Z3_OP_IMPLIES:
            return f"(not {parts[0]} or {parts[1]})"
        if kind == z3.Z3_OP_ITE:
            return f"({parts[1]} if {parts[0]} else {parts[2]})"
        if kind == z3.Z3_OP_UMINUS:
            return f"(-{parts[0]})"
        return "(" + f" {_INFIX[kind]} ".join(parts) + ")"

    def _application(self, term: Term, names: Names) -> str:
        if term.get_id() in _NOBODY:
            return '""'
        name, args = term.decl().name(), [self.of(child, names) for child in term.children()]
        value = self.value(name)
        if not args:
            return value
        key = args[0] if len(args) == 1 else f"({', '.join(args)})"
        if z3.is_bool(term):
            return f"({key} in {value})"
        return f"{value}.get({key}, {0 if z3.is_int(term) else repr('')})"

    def value(self, name: str) -> str:
        """The local name of the value that a symbol, a parameter or a sum has."""
        base = name.rstrip("'")
        if base in SIGNATURE:
            state = "then" if name.endswith("'") else "now"
            local, source = f"{state}_{base}", f"{state}[{base!r}]"
        else:
            local, source = base, f"args[{base!r}]"
        self.locals[local] = source
        return local

    def universe(self, sort: z3.SortRef) -> str:
        """The local name of all things of a sort."""
        self.locals[f"U_{sort}"] = f"U[{str(sort)!r}]"
        return f"U_{sort}"

    def _quantifier(self, term: Term, names: Names) -> str:
        consts, inner = self.opened(term, names)
        body: Term = z3.substitute_vars(term.body(), *reversed(consts))
        if term.is_exists():
            return f"any(True {self.loops(consts, conjuncts(body), inner)})"
        when, holds = (conjuncts(body.arg(0)), body.arg(1)) if z3.is_implies(body) else ([], body)
        loops = self.loops(consts, when, inner)
        return f"all({self.of(holds, inner)} {loops})"

    def opened(self, term: Term, names: Names) -> tuple[list[Term], Names]:
        """Fresh constants for the variables of a quantifier, and their names."""
        consts: list[Term] = []
        inner = dict(names)
        for i in range(term.num_vars()):
            name = f"{term.var_name(i)}{next(self._fresh)}"
            consts.append(z3.Const(name, term.var_sort(i)))
            inner[consts[-1].get_id()] = name
        return consts, inner

    def loops(self, variables: Iterable[Term], when: Iterable[Term], names: Names) -> str:
        """`for ... if ...` over the variables, restricted to where all of `when` hold."""
        unbound = {variable.get_id(): variable for variable in variables}
        waiting = list(when)
        parts: list[str] = []
        while True:
            for condition in [c for c in waiting if not _mentions(c, unbound)]:
                waiting.remove(condition)
                parts.append(f"if {self.of(condition, names)}")
            if not unbound:
                once = [] if parts and parts[0].startswith("for") else ["for _ in (0,)"]
                return " ".join([*once, *parts])
            parts.extend(self._driver(unbound, waiting, names))

    def _driver(self, unbound: dict[int, Term], waiting: list[Term], names: Names) -> list[str]:
        """The cheapest loop that binds at least one more variable, which it takes out of `unbound`."""
        for condition in waiting:
            if z3.is_eq(condition):
                for one, other in (condition.children(), condition.children()[::-1]):
                    if one.get_id() in unbound and not _mentions(other, unbound):
                        del unbound[one.get_id()]
                        waiting.remove(condition)
                        name = names[one.get_id()]
                        return [f"for {name} in ({self.of(other, names)},) if {name}"]
        negated = {
            c.arg(0).decl().name().rstrip("'"): c.arg(0)
            for c in waiting
            if z3.is_not(c) and _is_atom(c.arg(0))
        }
        atoms = [c for c in waiting if _is_atom(c) and any(a.get_id() in unbound for a in c.children())]
        atoms.sort(key=lambda atom: (atom.decl().name().rstrip("'") not in negated, atom.num_args()))
        for atom in atoms:
            args = atom.children()
            if len({a.get_id() for a in args}) < len(args):
                continue
            source = self.value(atom.decl().name())
            opposite = negated.get(atom.decl().name().rstrip("'"))
            if opposite is not None and [a.get_id() for a in opposite.children()] == [
                a.get_id() for a in args
            ]:
                source = f"({source} - {self.value(opposite.decl().name())})"
            targets, checks = self._targets(args, unbound, names)
            if targets is None:
                continue
            waiting.remove(atom)
            return [f"for {targets} in {source}", *checks]
        first = next(iter(unbound))
        variable = unbound.pop(first)
        return [f"for {names[first]} in {self.universe(variable.sort())}"]

    def _targets(
        self, args: list[Term], unbound: dict[int, Term], names: Names
    ) -> tuple[str | None, list[str]]:
        """What a loop over a relation binds, and what it must compare because it is bound already."""
        if any(a.get_id() not in unbound and _mentions(a, unbound) for a in args):
            return None, []
        targets: list[str] = []
        checks: list[str] = []
        for arg in args:
            if arg.get_id() in unbound:
                del unbound[arg.get_id()]
                targets.append(names[arg.get_id()])
            else:
                targets.append(f"x{next(self._fresh)}")
                checks.append(f"if {targets[-1]} == {self.of(arg, names)}")
        return ", ".join(targets), checks

    def function(self, lines: list[str]) -> Function:
        """The function whose body is `lines`, in which every value that they read is a local name."""
        loads = [f"{local} = {source}" for local, source in sorted(self.locals.items())]
        source = "\n    ".join(["def compiled(now, then, args, U):", *loads, *lines])
        scope: dict[str, Any] = {}
        exec(source, scope)
        return scope["compiled"]


def conjuncts(term: Term) -> list[Term]:
    """The parts of a conjunction, however nested."""
    if z3.is_and(term):
        return [part for child in term.children() for part in conjuncts(child)]
    return [] if z3.is_true(term) else [term]


def _disjuncts(term: Term) -> list[Term]:
    return [part for child in term.children() for part in _disjuncts(child)] if z3.is_or(term) else [term]


def _is_atom(term: Term) -> bool:
    return z3.is_app(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED and term.num_args() > 0


def _mentions(term: Term, variables: Mapping[int, Term]) -> bool:
    stack = [term]
    while stack:
        part = stack.pop()
        if part.get_id() in variables:
            return True
        stack.extend([part.body()] if z3.is_quantifier(part) else part.children())
    return False


def _named(variables: Iterable[Term]) -> Names:
    return {variable.get_id(): str(variable) for variable in variables}


def holds(clause: Clause) -> Function:
    """Whether a clause holds."""
    text, names = _Text(), _named(clause.variables)
    when = [part for condition in clause.when for part in conjuncts(condition)]
    if not clause.variables:
        return text.function([f"return bool({text.of(clause.matrix, names)})"])
    loops = text.loops(clause.variables, [*when, z3.Not(clause.holds)], names)
    return text.function([f"return not any(True {loops})"])


def breakers(clause: Clause) -> Function:
    """The values of a clause's variables for which it does not hold, in the universe's order."""
    text, names = _Text(), _named(clause.variables)
    loops = " ".join(f"for {variable} in {text.universe(variable.sort())}" for variable in clause.variables)
    things = "".join(f"{variable}, " for variable in clause.variables)
    return text.function(
        [f"return [({things}) {loops or 'for _ in (0,)'} if not {text.of(clause.matrix, names)}]"]
    )


def total(sum_: Sum) -> Function:
    """What a sum adds up to: a number, or a dict if it has an index."""
    text, names = _Text(), _named((sum_.over, *sum_.index))
    body = sum_.body
    if sum_.counts:
        when, amount = conjuncts(body), "1"
    else:
        when, amount = conjuncts(body.arg(0)), text.of(body.arg(1), names)
    loops = text.loops((sum_.over, *sum_.index), when, names)
    if not sum_.index:
        return text.function([f"return sum([{amount} {loops}])"])
    index = ", ".join(map(str, sum_.index))
    return text.function(
        [
            "found = {}",
            f"for key, amount in [(({index}), {amount}) {loops}]:",
            "    found[key] = found.get(key, 0) + amount",
            "return {key: amount for key, amount in found.items() if amount}",
        ]
    )


def change(become: Becomes) -> Function:
    """The new value of a symbol, given its value so far as `args["so_far"]`."""
    text = _Text()
    free = [arg for arg in become.args if is_variable(arg)]
    names = _named(free)
    args = [text.of(arg, names) for arg in become.args]
    key = args[0] if len(args) == 1 else f"({', '.join(args)})"
    text.locals["so_far"] = "args['so_far']"
    if SIGNATURE[become.symbol].default is not False:
        return _function_change(text, become, free, names, key)
    if not free:
        value = text.of(become.value, names)
        return text.function([f"return so_far | {{{key}}} if {value} else so_far - {{{key}}}"])
    parts = [f"{{{key} {text.loops(free, conjuncts(part), names)}}}" for part in _disjuncts(become.value)]
    if len(free) < len(args):
        places = [f"x{i}" for i in range(len(args))]
        fixed = [
            f"{place} == {arg}"
            for place, arg, term in zip(places, args, become.args, strict=True)
            if not is_variable(term)
        ]
        outside = f"({', '.join(places)}) for {', '.join(places)} in so_far if not ({' and '.join(fixed)})"
        parts.append(f"{{{outside}}}")
    return text.function(["return " + " | ".join(parts)])


def _function_change(text: _Text, become: Becomes, free: list[Term], names: Names, key: str) -> Function:
    place = z3.Function(become.symbol, *(a.sort() for a in become.args), become.value.sort())(*become.args)
    value, when = become.value, list[Term]()
    if z3.is_app_of(value, z3.Z3_OP_ITE) and value.arg(2).eq(place) and free:
        value, when = value.arg(1), conjuncts(value.arg(0))
    default = SIGNATURE[become.symbol].default
    loops = text.loops(free, when, names)
    return text.function(
        [
            "new = dict(so_far)",
            f"for key, value in [({key}, {text.of(value, names)}) {loops}]:",
            f"    if value == {default!r}:",
            "        new.pop(key, None)",
            "    else:",
            "        new[key] = value",
            "return new",
        ]
    )


def slice_of(param: Param) -> Callable[[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]], Any]:
    """How to read a `chosen` parameter off the values after a step."""
    symbol = SIGNATURE[param.chosen]
    sorts = [str(sort) for sort in param.args]

    def read(then: Mapping[str, Any], args: Mapping[str, Any], universe: Mapping[str, Any]) -> Any:
        value = then[param.chosen]
        if not param.at:
            return value
        fixed = tuple(args[f"the_{name}"] for name in param.at)
        if not sorts:
            key = fixed[0] if len(fixed) == 1 else fixed
            return key in value if symbol.default is False else value.get(key, symbol.default)
        found = [rest for rest in product(*(universe[sort] for sort in sorts)) if (*fixed, *rest) in value]
        names = {rest: rest[0] if len(rest) == 1 else rest for rest in found}
        if symbol.default is False:
            return frozenset(names.values())
        return {name: value[(*fixed, *rest)] for rest, name in names.items()}

    return read


@cache
def _counters() -> tuple[tuple[str, Function], ...]:
    return tuple((counter.name, total(counter)) for counter in COUNTERS)


def totals(values: Mapping[str, Any], universe: Mapping[str, tuple[str, ...]]) -> dict[str, dict[Any, int]]:
    """What each counter should be in these values."""
    return {name: compiled(values, values, {}, universe) for name, compiled in _counters()}


class Compiled:
    """An action, compiled: its guard's clauses, its sums and its changes."""

    def __init__(self, action: Action) -> None:
        self.action = action
        self.guard = [(clause, holds(clause)) for clause in action.guard]
        self.sums = [(sum_.name, total(sum_)) for sum_ in action.sums]
        self.changes = [(become.symbol, change(become)) for become in action.update]
        self.chosen = [(f"the_{param.name}", slice_of(param)) for param in action.params if param.chosen]
