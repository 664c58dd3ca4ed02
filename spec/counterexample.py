"""Counterexamples to induction that a person can read: the smallest world, the fewest facts, before and
after.

The solver answers for every size at once, and its models are of no use to a reader. So the same question is
asked again in small worlds where all sums are added up, and of the state that is found as much as possible is
set back to nothing. What is left is run by the compiled action and judged by the compiled promise, which must
agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, cast

import z3
from attrs import frozen

from gangproof.spec.contract import SIGNATURE, Action, Contract, Invariant
from gangproof.spec.finite import SCOPES, World, small_world
from gangproof.spec.judging import Broken, Refusal, apply, judge, judge_step
from gangproof.spec.structure import Structure
from gangproof.spec.terms import Not, Symbol, Term
from gangproof.spec.transition import after, over_two_states, symbols_in


@frozen
class Counterexample:
    """A step that an action allows, from a state that keeps all promises, and what it breaks."""

    args: Mapping[str, Any]
    before: Structure
    after: Structure
    broken: tuple[Broken, ...]


def smallest(contract: Contract, action: Action, invariant: Invariant) -> Counterexample | None:
    """A counterexample in the smallest of the worlds that has one, None if no world has."""
    for size in range(len(SCOPES)):
        world = small_world(contract, size)
        solver: Any = z3.Solver()
        solver.add(*world.before(action))
        solver.add(Not(z3.And(*(world.expand(after(action, f)) for f in over_two_states(invariant)))))
        if solver.check() == z3.sat:
            return _read(world, action, invariant, _sparse(world, action, solver))
    return None


def _sparse(world: World, action: Action, solver: Any) -> Term:
    """A model in which as little as possible differs from the defaults; the solver keeps what was decided."""
    model = solver.model()
    for place, default in _places(world, action):
        wanted = place == default
        if z3.is_true(model.eval(wanted, model_completion=True)):
            solver.add(wanted)
        elif solver.check(wanted) == z3.sat:
            model = solver.model()
            solver.add(wanted)
    return model


def _places(world: World, action: Action) -> list[tuple[Term, Term]]:
    """Every symbol at every choice of things, and every set of the action, each with its default."""
    counters = {counter.name for counter in world.contract.counters}
    symbols = [s for s in world.contract.symbols if s.name not in counters]
    places = [(s.function()(*t), s.default_term) for s in reversed(symbols) for t in world.tuples(s.args)]
    for param in action.params:
        if param.args and param.result == z3.BoolSort():
            places += [(param.term(*things), z3.BoolVal(False)) for things in world.tuples(param.args)]
    return places


def _read(world: World, action: Action, invariant: Invariant, model: Term) -> Counterexample:
    before = world.structure(model)
    args = {param.name: world.table(model, param.term, param.args) for param in action.params}
    changed = world.contract.with_action(action)
    came = apply(before, action.name, args, changed)
    if isinstance(came, Refusal):
        raise RuntimeError(f"the solver and the compiled action disagree: {came}")
    if invariant.kind == "state":
        broken = judge(came, world.contract)
    else:
        broken = judge_step(before, came, world.contract)
    return Counterexample(args, before, came, tuple(b for b in broken if b.invariant.id == invariant.id))


def shown(contract: Contract, action: Action, invariant: Invariant, found: Counterexample) -> str:
    """The counterexample as text: the action, what it changes, and what else the promise reads."""
    matter = {name.rstrip("'") for name in symbols_in(over_two_states(invariant))} | action.touches
    rows = [row for symbol in contract.symbols if symbol.name in matter for row in _rows(symbol, found)]
    width = max((len(row[0]) for row in rows), default=0)
    left = max((len(row[1]) for row in rows), default=0)
    args = ", ".join(f"{name} = {_text(value)}" for name, value in found.args.items())
    return "\n".join(
        [
            f"{action.name}({args})",
            *(f"  {name:<{width}}  {old:<{left}}  {new}".rstrip() for name, old, new in rows),
            *(f"  {broken}" for broken in found.broken),
        ]
    )


def _rows(symbol: Symbol, found: Counterexample) -> list[tuple[str, str, str]]:
    """What the symbol is before, and after if that is something else."""
    universe = found.before.universe
    rows: list[tuple[str, str, str]] = []
    for things in product(*(universe[str(sort)] for sort in SIGNATURE[symbol.name].args)):
        old, new = found.before.at(symbol.name, *things), found.after.at(symbol.name, *things)
        if old != symbol.default or new != symbol.default:
            name = f"{symbol.name}({', '.join(things)})" if things else symbol.name
            rows.append((name, _text(old), "" if old == new else f"→ {_text(new)}"))
    return rows


def _text(value: Any) -> str:
    kind = cast(type[object], type(value))
    if kind is bool:
        return "yes" if value else "no"
    if kind is frozenset:
        return "{" + ", ".join(sorted(map(_text, value))) + "}"
    if kind is dict:
        entries = (f"{_text(key)}: {_text(entry)}" for key, entry in sorted(value.items()) if entry != "")
        return "{" + ", ".join(entries) + "}"
    if kind is tuple:
        return "/".join(value)
    return "nobody" if value == "" else str(value)
