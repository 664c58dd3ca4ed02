"""The proofs: every promise by every action, for every number of pods, nodes, groups and claims.

A state invariant holds at the start, and after each action if all held before; a step invariant holds of each
action that starts where the state invariants hold. Beside these stand the controls: every witness is reached
by running its story, every mutant is caught, and in small worlds every counter counts what it should.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from time import perf_counter
from typing import Any, Literal

import z3
from attrs import field, frozen

from gangproof.spec.catalogue import CONTRACT
from gangproof.spec.compile import holds
from gangproof.spec.contract import Action, Contract, Invariant
from gangproof.spec.counterexample import shown, smallest
from gangproof.spec.finite import small_world
from gangproof.spec.judging import Refusal, apply, judge, judge_step
from gangproof.spec.structure import Structure
from gangproof.spec.terms import Not, Term, clause
from gangproof.spec.transition import after, initially, over_two_states, reads, stuttering, symbols_in
from gangproof.spec.witnesses import SETTINGS, WORLD

Verdict = Literal["holds", "violated", "inconclusive", "vacuous"]
Question = Literal["initially", "action", "stutter", "witness", "mutant", "counter", "facts"]

TIMEOUT_MS = 10_000
"""How long one obligation may take, in milliseconds, before it is inconclusive."""


@frozen
class Obligation:
    """One question and its answer.

    `subject` is an invariant's id, a counter's name or, for `facts`, the word itself; `action` is the name of the
    action (empty where there is none). `trivial` says that the action changes nothing that the invariant reads, so
    that nothing was asked of the solver. `expected` is "violated" for a mutant. `counterexample` is a small state
    before and after the step, which need not be reachable. `assertions` are what the solver was asked: the answer
    is "holds" iff together they cannot be satisfied.
    """

    question: Question
    subject: str
    action: str
    verdict: Verdict
    seconds: float
    expected: Verdict = "holds"
    trivial: bool = False
    counterexample: str | None = None
    assertions: tuple[Term, ...] = field(default=(), repr=False, eq=False)

    @property
    def fine(self) -> bool:
        """Whether the answer is the expected one."""
        return self.verdict == self.expected

    def __str__(self) -> str:
        where = f" by {self.action}" if self.action else ""
        return f"{self.question} {self.subject}{where}: {self.verdict}"


def prove(
    contract: Contract = CONTRACT,
    *,
    invariants: Collection[str] = (),
    actions: Collection[str] = (),
    mutants: bool = True,
    witnesses: bool = True,
    counters: bool = True,
) -> tuple[Obligation, ...]:
    """Discharge all obligations of the contract, or those of some invariants (ids) and actions (names).

    `mutants`, `witnesses` and `counters` say whether those controls are run too. KeyError for an unknown id
    or name.
    """
    return tuple(
        obligations(
            contract,
            invariants=invariants,
            actions=actions,
            mutants=mutants,
            witnesses=witnesses,
            counters=counters,
        )
    )


def obligations(
    contract: Contract = CONTRACT,
    *,
    invariants: Collection[str] = (),
    actions: Collection[str] = (),
    mutants: bool = True,
    witnesses: bool = True,
    counters: bool = True,
) -> Iterator[Obligation]:
    """The same as `prove`, one obligation after the other."""
    promises = [contract.invariant(i) for i in invariants] or list(contract.invariants)
    steps = [contract.action(name) for name in actions] or list(contract.actions)
    for invariant in promises:
        yield _at_rest(invariant)
    for action in steps:
        yield from _kept(contract, action, promises)
    if witnesses:
        for invariant in promises:
            yield _witnessed(contract, invariant)
    if mutants:
        for invariant in promises:
            yield _caught(contract, invariant)
    if counters:
        for action in steps:
            yield from _counted(contract, action)


def _at_rest(invariant: Invariant) -> Obligation:
    """A state invariant holds where nothing exists; a step invariant holds where nothing happens."""
    formulas = [c.formula for c in invariant.clauses]
    if invariant.kind == "state":
        return _asked("initially", invariant.id, "", [Not(initially(z3.And(*formulas)))])
    return _asked("stutter", invariant.id, "", [Not(stuttering(z3.And(*formulas)))])


@lru_cache(maxsize=8)
def _assumed(contract: Contract) -> tuple[Term, ...]:
    """What holds before any step: the state invariants, and that counters count."""
    invariants = [c.formula for i in contract.invariants if i.kind == "state" for c in i.clauses]
    return (*invariants, *(c.formula for counter in contract.counters for c in counter.axioms()))


def _before(contract: Contract, action: Action) -> list[Term]:
    facts = [c.formula for sum_ in action.sums for c in sum_.axioms()]
    return [*_assumed(contract), *(c.formula for c in action.guard), *facts]


def _goal(action: Action, invariant: Invariant) -> list[Term]:
    """What the action owes the invariant: its clauses that read something that the action changes."""
    pairs = zip(over_two_states(invariant), reads(invariant), strict=True)
    return [after(action, formula) for formula, read in pairs if read & action.touches]


def _kept(contract: Contract, action: Action, promises: list[Invariant]) -> Iterator[Obligation]:
    before = _before(contract, action)
    solver = _solver(before)
    for invariant in promises:
        start = perf_counter()
        goal = _goal(action, invariant)
        if not goal:
            yield Obligation("action", invariant.id, action.name, "holds", 0.0, trivial=True)
            continue
        negated = Not(z3.And(*goal))
        answer = _answer(solver, negated)
        verdict, text = _verdict(contract, action, invariant, answer)
        seconds = perf_counter() - start
        yield Obligation(
            "action",
            invariant.id,
            action.name,
            verdict,
            seconds,
            counterexample=text,
            assertions=(*before, negated),
        )


def _caught(contract: Contract, invariant: Invariant) -> Obligation:
    """The mutant breaks the invariant, and a small state shows how."""
    start = perf_counter()
    action = invariant.mutant.action
    before = _before(contract, action)
    negated = Not(z3.And(*_goal(action, invariant)))
    verdict, text = _verdict(contract, action, invariant, _answer(_solver(before), negated))
    return Obligation(
        "mutant",
        invariant.id,
        action.name,
        verdict,
        perf_counter() - start,
        expected="violated",
        counterexample=text,
        assertions=(*before, negated),
    )


def _verdict(
    contract: Contract, action: Action, invariant: Invariant, answer: z3.CheckSatResult
) -> tuple[Verdict, str | None]:
    if answer == z3.unsat:
        return "holds", None
    found = smallest(contract, action, invariant)
    if found is None:
        return "inconclusive", None
    return "violated", shown(contract, action, invariant, found)


def _witnessed(contract: Contract, invariant: Invariant) -> Obligation:
    """The story runs, every promise holds all along, and in the end it shows what it should."""
    start = perf_counter()
    pre = post = Structure.of(WORLD, SETTINGS)
    verdict: Verdict = "holds"
    text = None
    for name, args in invariant.witness.story:
        came = apply(post, name, args, contract)
        if isinstance(came, Refusal):
            verdict, text = "vacuous", str(came)
            break
        pre, post = post, came
        broken = (*judge(post, contract), *judge_step(pre, post, contract))
        if broken:
            verdict, text = "violated", "\n".join(map(str, broken))
            break
    if verdict == "holds":
        if invariant.kind == "state":
            pre = post
        shows = holds(clause(invariant.witness.words, invariant.witness.shows))
        if not shows(pre.values, post.values, {}, post.universe):
            verdict, text = "vacuous", f"the story does not show it: {invariant.witness.words}"
    seconds = perf_counter() - start
    return Obligation("witness", invariant.id, "", verdict, seconds, counterexample=text)


def _counted(contract: Contract, action: Action) -> Iterator[Obligation]:
    """In a small world each counter stays what it counts, and what is taken for granted of sums is so."""
    world = small_world(contract, 1)
    before: list[Term] = []
    solver = None
    questions: list[tuple[Question, str, Callable[[], Term]]] = []
    if action.sums:
        questions.append(("facts", "sums", lambda: world.unfactual(action)))
    for counter in contract.counters:
        if action.touches & {counter.name, *symbols_in([counter.body])}:
            questions.append(
                ("counter", counter.name, lambda counter=counter: world.miscount(action, counter))
            )
        else:
            yield Obligation("counter", counter.name, action.name, "holds", 0.0, trivial=True)
    for question, subject, wrong in questions:
        start = perf_counter()
        if solver is None:
            before = world.before(action)
            solver = _solver(before)
        negated = wrong()
        answer = _answer(solver, negated)
        verdict: Verdict = "inconclusive"
        if answer != z3.unknown:
            verdict = "holds" if answer == z3.unsat else "violated"
        seconds = perf_counter() - start
        yield Obligation(question, subject, action.name, verdict, seconds, assertions=(*before, negated))


def _solver(assertions: list[Term]) -> Any:
    solver: Any = z3.Solver()
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*assertions)
    return solver


def _answer(solver: Any, negated: Term) -> z3.CheckSatResult:
    solver.push()
    solver.add(negated)
    answer = solver.check()
    solver.pop()
    return answer


def _asked(question: Question, subject: str, action: str, assertions: list[Term]) -> Obligation:
    start = perf_counter()
    answer = _solver(assertions).check()
    verdict: Verdict = (
        "holds" if answer == z3.unsat else "inconclusive" if answer == z3.unknown else "violated"
    )
    return Obligation(
        question, subject, action, verdict, perf_counter() - start, assertions=tuple(assertions)
    )
