"""What a contract consists of: actions, invariants, and the decorators that turn a function into one.

An action says *when* it may happen (named clauses over the state before) and what each symbol *becomes*;
whatever it does not name stays. An invariant speaks of one state, or of the state before and the state after
a step. Both are written as one function each, whose docstring is the claim, and are frozen values afterwards.
"""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import z3
from attrs import evolve, field, frozen

from gangproof.spec.state import COUNTERS, SYMBOLS, State
from gangproof.spec.terms import And, Becomes, Bool, Clause, Sum, Symbol, Term

Kind = Literal["state", "step"]


@frozen(eq=False)
class Param:
    """What an action is about: a thing, a number, a set of things or a map.

    `chosen` names the symbol whose value *after* the step is meant, at the things that the parameters `at`
    name; such an argument need not be given with a concrete step, it is read off.
    """

    name: str
    args: tuple[z3.SortRef, ...]
    result: z3.SortRef
    chosen: str = ""
    at: tuple[str, ...] = ()

    @cached_property
    def term(self) -> Term:
        """The constant or function that stands for the parameter in formulas."""
        name = f"the_{self.name}"
        return z3.Function(name, *self.args, self.result) if self.args else z3.Const(name, self.result)


def a_set(*sorts: z3.SortRef) -> Param:
    """A parameter that is a set of things, or of tuples of things."""
    return Param("", sorts, Bool)


def a_map(*args_and_result: z3.SortRef) -> Param:
    """A parameter that gives each thing a value."""
    return Param("", args_and_result[:-1], args_and_result[-1])


def chosen(symbol: Symbol, *at: str) -> Param:
    """A parameter that is the value of `symbol` after the step, at the things that parameters name."""
    return Param("", symbol.args[len(at) :], symbol.result, symbol.name, at)


@frozen(eq=False)
class Step:
    """What an action's function returns: when it may happen, what becomes of what, and its sums."""

    when: tuple[Clause, ...] = field(converter=tuple[Clause, ...])
    then: tuple[Becomes, ...] = field(converter=tuple[Becomes, ...])
    sums: tuple[Sum, ...] = ()


@frozen(eq=False)
class Action:
    """Something that may happen: a guard (named clauses) and an update (what becomes of which symbol)."""

    name: str
    claim: str
    rules: tuple[str, ...]
    params: tuple[Param, ...]
    step: Step

    @property
    def guard(self) -> tuple[Clause, ...]:
        """When the action may happen."""
        return self.step.when

    @property
    def update(self) -> tuple[Becomes, ...]:
        """What becomes of the symbols; later ones win; all values are read before the step."""
        return self.step.then

    @property
    def sums(self) -> tuple[Sum, ...]:
        """Numbers over the parameters, which a concrete step adds up for itself."""
        return self.step.sums

    @cached_property
    def touches(self) -> frozenset[str]:
        """The names of the symbols that the action may change."""
        return frozenset(change.symbol for change in self.update)

    def without(self, words: str) -> Action:
        """The same action without the clause of its guard called `words`; KeyError if there is none."""
        kept = tuple(clause for clause in self.guard if clause.words != words)
        if len(kept) == len(self.guard):
            raise KeyError(f"{self.name} has no clause {words!r}")
        return evolve(self, step=evolve(self.step, when=kept))

    def also(self, *changes: Becomes) -> Action:
        """The same action with more changes, which win over those that it has."""
        return evolve(self, step=evolve(self.step, then=(*self.update, *changes)))

    def sparing(self, *symbols: Symbol) -> Action:
        """The same action, which leaves the symbols as they are."""
        names = {symbol.name for symbol in symbols}
        kept = tuple(change for change in self.update if change.symbol not in names)
        return evolve(self, step=evolve(self.step, then=kept))

    def term(self, name: str) -> Term:
        """The term of the parameter called `name`; KeyError if there is none."""
        for param in self.params:
            if param.name == name:
                return param.term
        raise KeyError(f"{self.name} has no parameter {name!r}")

    def __str__(self) -> str:
        return f"{self.name}: {self.claim}"


def action(rules: str, **params: z3.SortRef | Param) -> Callable[[Callable[..., Step]], Action]:
    """Make an action of a function of the state and the parameters; its docstring is the claim.

    A parameter is a sort (a thing or a number), or `a_set`, `a_map`, `chosen`.
    """

    def make(build: Callable[..., Step]) -> Action:
        declared = tuple(
            evolve(kind, name=name) if isinstance(kind, Param) else Param(name, (), kind)
            for name, kind in params.items()
        )
        step = build(State(), **{param.name: param.term for param in declared})
        return Action(build.__name__, _claim(build), tuple(rules.split()), declared, step)

    return make


Call = tuple[str, dict[str, Any]]
"""One step of a story: the name of an action and its arguments."""


@frozen(eq=False)
class Witness:
    """The interesting case: a story from the empty cluster, after whose last step `shows` holds."""

    words: str
    story: tuple[Call, ...]
    shows: Term


@frozen(eq=False)
class Mutant:
    """A broken variant of an action, which must break the invariant that it belongs to."""

    words: str
    action: Action


@frozen(eq=False)
class Invariant:
    """A promise: of each state (`kind` "state"), or of the states before and after each step ("step")."""

    id: str
    name: str
    claim: str
    rules: tuple[str, ...]
    kind: Kind
    clauses: tuple[Clause, ...]
    witness: Witness
    mutant: Mutant

    @property
    def formula(self) -> Term:
        """The invariant as one closed Z3 formula."""
        return And(*(clause.formula for clause in self.clauses))

    def __str__(self) -> str:
        return f"{self.id} {self.name}: {self.claim}"


def invariant(
    identity: str, rules: str, *, witness: Witness, mutant: Mutant
) -> Callable[[Callable[..., Iterable[Clause]]], Invariant]:
    """Make an invariant of a function of one state (`now`) or of two (`now, then`); the docstring claims."""

    def make(build: Callable[..., Iterable[Clause]]) -> Invariant:
        states = (State(), State(primed=True))[: len(inspect.signature(build).parameters)]
        return Invariant(
            id=identity,
            name=build.__name__.replace("_", " "),
            claim=_claim(build),
            rules=tuple(rules.split()),
            kind="state" if len(states) == 1 else "step",
            clauses=tuple(build(*states)),
            witness=witness,
            mutant=mutant,
        )

    return make


def _claim(build: Callable[..., object]) -> str:
    text = inspect.getdoc(build)
    if text is None:
        raise ValueError(f"{build.__name__} needs a docstring: it is the claim")
    return " ".join(text.split("\n\n")[0].split())


@frozen(eq=False)
class Contract:
    """Symbols, actions, invariants; every function of this room takes one, by default `CONTRACT`."""

    symbols: tuple[Symbol, ...]
    actions: tuple[Action, ...]
    invariants: tuple[Invariant, ...]
    counters: tuple[Sum, ...] = COUNTERS

    def action(self, name: str) -> Action:
        """The action called `name`; KeyError if there is none."""
        for candidate in self.actions:
            if candidate.name == name:
                return candidate
        raise KeyError(f"no action {name!r}; there are {', '.join(a.name for a in self.actions)}")

    def invariant(self, identity: str) -> Invariant:
        """The invariant with this id; KeyError if there is none."""
        for candidate in self.invariants:
            if candidate.id == identity:
                return candidate
        raise KeyError(f"no invariant {identity!r}; there are {', '.join(i.id for i in self.invariants)}")

    def with_action(self, changed: Action) -> Contract:
        """This contract with `changed` in the place of the action of its name, or as one more."""
        if all(a.name != changed.name for a in self.actions):
            return evolve(self, actions=(*self.actions, changed))
        return evolve(self, actions=tuple(changed if a.name == changed.name else a for a in self.actions))

    def with_invariant(self, changed: Invariant) -> Contract:
        """This contract with `changed` in the place of the invariant of its id, or as one more."""
        if all(i.id != changed.id for i in self.invariants):
            return evolve(self, invariants=(*self.invariants, changed))
        return evolve(self, invariants=tuple(changed if i.id == changed.id else i for i in self.invariants))


def load(path: Path) -> Contract:
    """The contract that a Python file calls `contract`; ValueError if it calls nothing so, or does not run."""
    try:
        found = runpy.run_path(str(path)).get("contract")
    except (Exception, SystemExit) as error:  # whatever somebody's own file may end in
        ended = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{path}: found a file that ends in {ended}; expected one that defines 'contract'"
        ) from error
    if not isinstance(found, Contract):
        raise ValueError(f"{path}: expected a Contract named 'contract', found {type(found).__name__}")
    return found


SIGNATURE = {symbol.name: symbol for symbol in SYMBOLS}
"""The symbols by name."""
