"""Judging concrete states and steps by the contract: which promise is broken, which action allows a step.

Everything here runs compiled formulas; a verdict names the clause in words and the things for which it fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from attrs import frozen

from gangproof.spec.catalogue import CONTRACT
from gangproof.spec.compile import Compiled, Function, breakers, holds, totals
from gangproof.spec.contract import SIGNATURE, Action, Call, Contract, Invariant, Kind
from gangproof.spec.structure import Structure, Universe, merged
from gangproof.spec.terms import Clause

Binding = tuple[tuple[str, str], ...]
"""Variables with the things that they stand for, as in `(("p", "default/a"), ("n", "n1"))`."""


@frozen
class Broken:
    """A promise that does not hold: the clause in words, and the first things for which it fails."""

    invariant: Invariant
    clause: str
    binding: Binding

    def __str__(self) -> str:
        return f"{self.invariant.id} {self.invariant.name}: not so: {self.clause}{_where(self.binding)}"


@frozen
class Refusal:
    """Why an action does not allow a step: a clause of its guard, or a symbol that it leaves otherwise.

    In the second case `found` and `expected` are the symbol's values at the things that `binding` names.
    """

    action: str
    clause: str
    binding: Binding = ()
    found: str = ""
    expected: str = ""

    def __str__(self) -> str:
        compared = f": found {self.found}, expected {self.expected}" if self.found or self.expected else ""
        return f"{self.action} does not allow it: {self.clause}{_where(self.binding)}{compared}"


def judge(state: Structure, contract: Contract = CONTRACT) -> tuple[Broken, ...]:
    """The state invariants that do not hold of the state, in the contract's order."""
    return _judge("state", contract, state.values, state.values, state.universe)


def judge_step(pre: Structure, post: Structure, contract: Contract = CONTRACT) -> tuple[Broken, ...]:
    """The step invariants that do not hold of the step, in the contract's order."""
    return _judge("step", contract, pre.values, post.values, merged(pre.universe, post.universe))


def apply(
    pre: Structure, name: str, args: Mapping[str, Any], contract: Contract = CONTRACT
) -> Structure | Refusal:
    """The state after an action, or why it may not happen; every argument has to be given.

    A set is given as a set, a map as a dict. KeyError for an unknown action or a missing argument.
    """
    compiled = _action(contract.action(name))
    given = _arguments(compiled, args, pre.values, pre.universe, post=None)
    return _refused(compiled, pre, given, pre.universe) or pre.with_values(
        _after(compiled, pre, given, pre.universe)
    )


def explain_step(
    pre: Structure, name: str, args: Mapping[str, Any], post: Structure, contract: Contract = CONTRACT
) -> Refusal | None:
    """Why the action does not allow the step from `pre` to `post`; None if it does.

    Arguments that are `chosen` may be left out: they are read off `post`.
    """
    return explain_steps(pre, ((name, dict(args)),), post, contract)


def explain_steps(
    pre: Structure, calls: Sequence[Call], post: Structure, contract: Contract = CONTRACT
) -> Refusal | None:
    """Why the actions, one after the other, do not lead from `pre` to `post`; None if they do.

    No call at all is a stutter. Arguments that are `chosen` may be left out if a later call does not change
    them.
    """
    universe = merged(pre.universe, post.universe)
    state = Structure(universe, pre.values)
    for name, args in calls:
        compiled = _action(contract.action(name))
        given = _arguments(compiled, args, post.values, universe, post=post)
        refused = _refused(compiled, state, given, universe)
        if refused is not None:
            return refused
        state = state.with_values(_after(compiled, state, given, universe))
    return _difference(calls[-1][0] if calls else "stutter", state, post)


def stages(
    pre: Structure, calls: Sequence[Call], post: Structure, contract: Contract = CONTRACT
) -> tuple[Structure, ...]:
    """The states that the actions lead through from `pre`, whatever their guards say; the last one is `post`.

    A step invariant speaks of one action at a time, so a step that is several actions is judged by these.
    """
    universe = merged(pre.universe, post.universe)
    state, found = Structure(universe, pre.values), list[Structure]()
    for name, args in calls[:-1]:
        compiled = _action(contract.action(name))
        given = _arguments(compiled, args, post.values, universe, post=post)
        for total, count in compiled.sums:
            given[total] = count(state.values, state.values, given, universe)
        state = state.with_values(_after(compiled, state, given, universe))
        found.append(state)
    return (*found, post)


def miscounted(state: Structure) -> tuple[str, ...]:
    """The counters of a state that are not what they should count, each as a sentence."""
    right = totals(state.values, state.universe)
    return tuple(
        f"{name} is {state[name]}, counted {counted}"
        for name, counted in right.items()
        if state[name] != counted
    )


@lru_cache(maxsize=64)
def _clauses(contract: Contract, kind: Kind) -> tuple[tuple[Invariant, Clause, Function], ...]:
    return tuple(
        (invariant, clause, holds(clause))
        for invariant in contract.invariants
        if invariant.kind == kind
        for clause in invariant.clauses
    )


@lru_cache(maxsize=1024)
def _action(action: Action) -> Compiled:
    return Compiled(action)


@lru_cache(maxsize=1024)
def _finder(clause: Clause) -> Function:
    return breakers(clause)


def _judge(
    kind: Kind, contract: Contract, now: Mapping[str, Any], then: Mapping[str, Any], universe: Universe
) -> tuple[Broken, ...]:
    broken = [
        (invariant, clause)
        for invariant, clause, fine in _clauses(contract, kind)
        if not fine(now, then, None, universe)
    ]
    return tuple(Broken(i, c.words, _binding(c, now, then, {}, universe)) for i, c in broken)


def _binding(
    clause: Clause,
    now: Mapping[str, Any],
    then: Mapping[str, Any],
    args: Mapping[str, Any],
    universe: Universe,
) -> Binding:
    ordered = {sort: tuple(sorted(things)) for sort, things in universe.items()}
    first = _finder(clause)(now, then, args, ordered)[0]
    return tuple((str(variable), thing) for variable, thing in zip(clause.variables, first, strict=True))


def _arguments(
    compiled: Compiled,
    args: Mapping[str, Any],
    then: Mapping[str, Any],
    universe: Universe,
    post: Structure | None,
) -> dict[str, Any]:
    given = {f"the_{name}": value for name, value in args.items()}
    if post is not None:
        for name, read in compiled.chosen:
            if name not in given:
                given[name] = read(then, given, universe)
    return given


def _refused(compiled: Compiled, pre: Structure, given: dict[str, Any], universe: Universe) -> Refusal | None:
    now = pre.values
    for name, total in compiled.sums:
        given[name] = total(now, now, given, universe)
    for clause, fine in compiled.guard:
        if not fine(now, now, given, universe):
            binding = _binding(clause, now, now, given, universe)
            return Refusal(compiled.action.name, clause.words, binding)
    return None


def _after(compiled: Compiled, pre: Structure, given: dict[str, Any], universe: Universe) -> dict[str, Any]:
    now, new = pre.values, dict[str, Any]()
    for name, change in compiled.changes:
        given["so_far"] = new.get(name, now[name])
        new[name] = change(now, now, given, universe)
    return new


def _difference(action: str, expected: Structure, post: Structure) -> Refusal | None:
    for name, value in expected.values.items():
        found = post.values[name]
        if found == value:
            continue
        for things in sorted(_arguments_of(name, found) | _arguments_of(name, value)):
            one, other = post.at(name, *things), expected.at(name, *things)
            if one != other:
                binding = tuple((f"#{i + 1}", thing) for i, thing in enumerate(things))
                return Refusal(action, f"{name} is otherwise", binding, str(one), str(other))
    return None


def _arguments_of(name: str, value: Any) -> set[tuple[str, ...]]:
    """All choices of things of which the value of a symbol says something."""
    arity = len(SIGNATURE[name].args)
    if arity == 0:
        return {()}
    return {(key,) for key in value} if arity == 1 else set(value)


def _where(binding: Binding) -> str:
    return "".join(
        f"{', ' if i else ', for '}{variable} = {thing}" for i, (variable, thing) in enumerate(binding)
    )
