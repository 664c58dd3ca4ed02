"""One source, two readings: what is compiled says of a state exactly what the solver says of it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest
import z3

from gangproof.spec import CONTRACT, COUNTERS, SYMBOLS, Structure
from gangproof.spec.compile import Compiled, breakers, holds, total
from gangproof.spec.finite import World
from gangproof.spec.terms import NOBODY
from gangproof.spec.transition import successor

WORLD = World(
    CONTRACT,
    {
        "Pod": 2,
        "Node": 2,
        "Group": 2,
        "Claim": 2,
        "Resource": 1,
        "Key": 1,
        "Domain": 2,
        "Device": 1,
        "Entry": 1,
    },
)
NAMES = {str(t): n for s in WORLD.things for t, n in zip(WORLD.things[s], WORLD.universe[s], strict=True)}
NAMES |= {str(term): "" for term in NOBODY.values()}
TERMS = {
    name: term for s in WORLD.things for term, name in zip(WORLD.things[s], WORLD.universe[s], strict=True)
}


def random_value(rng: random.Random, args: tuple[z3.SortRef, ...], result: z3.SortRef) -> Any:
    def one() -> Any:
        if result == z3.BoolSort():
            return rng.random() < 0.5
        if result == z3.IntSort():
            return rng.randrange(-1, 4)
        return rng.choice(["", *WORLD.universe[str(result)]])

    if not args:
        return one()
    keys = [key if len(key) > 1 else key[0] for key in product(*(WORLD.universe[str(a)] for a in args))]
    entries = {key: one() for key in keys}
    if result == z3.BoolSort():
        return frozenset(key for key in keys if entries[key])
    return {key: value for key, value in entries.items() if value not in ("", 0)}


def random_values(rng: random.Random) -> dict[str, Any]:
    return {symbol.name: random_value(rng, symbol.args, symbol.result) for symbol in SYMBOLS}


def said(function: Any, args: tuple[z3.SortRef, ...], value: Any) -> Iterator[z3.BoolRef]:
    """The value as equations, over all things and nobody."""
    result = function.range() if args else function.sort()
    for things in product(*([*WORLD.things[str(a)], NOBODY[str(a)]] for a in args)):
        key = tuple(NAMES[str(thing)] for thing in things)
        short = key[0] if len(key) == 1 else key
        place = function(*things) if args else function
        if result == z3.BoolSort():
            yield place == z3.BoolVal(short in value if args else value)
        elif result == z3.IntSort():
            yield place == z3.IntVal(value.get(short, 0) if args else value)
        else:
            name = value.get(short, "") if args else value
            yield place == (TERMS[name] if name else NOBODY[str(result)])


def equations(values: Mapping[str, Any], *, primed: bool = False) -> list[Any]:
    facts: list[Any] = [z3.Distinct(*things, NOBODY[sort]) for sort, things in WORLD.things.items()]
    for symbol in SYMBOLS:
        function = symbol.function(primed=primed)
        facts += said(function if symbol.args else function(), symbol.args, values[symbol.name])
    return facts


def assert_all(facts: list[Any], claims: dict[str, Any]) -> None:
    """The facts decide every claim, and decide it so."""
    solver = z3.Solver()
    solver.add(*facts)
    assert solver.check() == z3.sat
    for words, claim in claims.items():
        assert solver.check(z3.Not(claim)) == z3.unsat, words


@pytest.mark.parametrize("seed", range(12))
def test_invariants_of_random_states_and_steps(seed: int) -> None:
    rng = random.Random(seed)
    now, then = random_values(rng), random_values(rng)
    claims = {}
    verdicts = set()
    for invariant in CONTRACT.invariants:
        for clause in invariant.clauses:
            verdict = holds(clause)(now, then, {}, WORLD.universe)
            assert verdict == (breakers(clause)(now, then, {}, WORLD.universe) == [])
            verdicts.add(verdict)
            claims[f"{invariant.id} {clause.words}"] = WORLD.clause(clause) == z3.BoolVal(verdict)
    assert verdicts == {True, False}
    assert_all([*equations(now), *equations(then, primed=True)], claims)


@pytest.mark.parametrize("seed", range(12))
def test_counters_of_random_states(seed: int) -> None:
    now = random_values(random.Random(seed))
    claims = {}
    for counter in COUNTERS:
        counted = total(counter)(now, now, {}, WORLD.universe)
        for things in WORLD.tuples(v.sort() for v in counter.index):
            key = tuple(NAMES[str(thing)] for thing in things)
            number = counted.get(key[0] if len(key) == 1 else key, 0)
            claims[f"{counter.name}{key}"] = WORLD.value_of(counter, things) == number
    assert_all(equations(now), claims)


@pytest.mark.parametrize("action", CONTRACT.actions, ids=lambda a: a.name)
@pytest.mark.parametrize("seed", range(2))
def test_actions_on_random_states(action, seed: int) -> None:
    rng = random.Random(f"{action.name}{seed}")
    now = random_values(rng)
    compiled = Compiled(action)
    args: dict[str, Any] = {}
    facts = equations(now)
    for param in action.params:
        value = random_value(rng, param.args, param.result)
        if value == "":
            value = WORLD.universe[str(param.result)][0]
        args[f"the_{param.name}"] = value
        facts += said(param.term, param.args, value)
    for sum_, (name, add_up) in zip(action.sums, compiled.sums, strict=True):
        args[name] = add_up(now, now, args, WORLD.universe)
        facts += said(
            sum_.function if sum_.index else sum_.function(), tuple(v.sort() for v in sum_.index), args[name]
        )
    claims: dict[str, Any] = {str(equation): equation for equation in WORLD.counted(action.sums)}
    for clause, fine in compiled.guard:
        verdict = fine(now, now, args, WORLD.universe)
        claims[clause.words] = WORLD.clause(clause) == z3.BoolVal(verdict)
    new = dict(now)
    for name, change in compiled.changes:
        new[name] = change(now, now, {**args, "so_far": new[name]}, WORLD.universe)
    state = Structure(WORLD.universe, new)
    bodies = {function.name().rstrip("'"): body for function, body in successor(action)}
    for symbol in SYMBOLS:
        for things in WORLD.tuples(symbol.args):
            names = [NAMES[str(thing)] for thing in things]
            body = z3.substitute_vars(bodies[symbol.name], *things)
            found = state.at(symbol.name, *names)
            if isinstance(found, str):
                expected = TERMS[found] if found else NOBODY[str(symbol.result)]
            else:
                expected = z3.BoolVal(found) if isinstance(found, bool) else z3.IntVal(found)
            claims[f"{symbol.name}{names}"] = WORLD.expand(body) == expected
    assert_all(facts, claims)
