"""The explorer, on models whose state spaces are known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path as FilePath

import pytest
from classics import Peterson, Philosophers, TwoPhase, consistent

from gangproof.properties.search.explore import (
    Exploration,
    Limits,
    NotReplayableError,
    Progress,
    deferred_interrupts,
    explore,
    explore_graph,
)
from gangproof.properties.search.system import Path, Questions, Transitions, Violation, stepwise
from gangproof.properties.verdict import Verdict


def counting(top: int, *, by: tuple[int, ...] = (1,)) -> Transitions[int, int]:
    """Numbers from 0 to top; each action adds to the number."""

    def successors(n: int) -> list[tuple[int, int]]:
        return [(step, n + step) for step in by if n + step <= top]

    return Transitions(lambda: [0], successors, lambda n: n)


def below(n: int, name: str = "below"):
    def judge(state: int) -> Violation | None:
        return Violation(name, f"{state} is not below {n}", state) if state >= n else None

    return judge


# Published for TwoPhase; of the 2,744,706 states generated with 7 managers one is the initial state.
@pytest.mark.parametrize(("n", "states"), [(3, 288), (4, 1_568), (5, 8_832), (6, 50_816)])
def test_two_phase_commit_has_the_published_number_of_states(n: int, states: int) -> None:
    found = explore(TwoPhase(n), Questions(invariants=[consistent]))
    assert (found.states, found.stop, found.verdict) == (states, "exhausted", Verdict.HOLDS)


def test_two_phase_commit_with_seven_managers() -> None:
    found = explore(TwoPhase(7), Questions(invariants=[consistent]))
    assert (found.states, found.transitions, found.verdict) == (296_448, 2_744_705, Verdict.HOLDS)


@pytest.mark.parametrize(("n", "states"), [(2, 6), (3, 14), (4, 34), (5, 82), (6, 198)])
def test_philosophers_are_pell_lucas_and_deadlock_when_all_hold_a_left_fork(n: int, states: int) -> None:
    def stuck(state: str) -> Violation:
        return Violation("deadlock", state)

    found = explore(stepwise(Philosophers(n)), Questions(terminal=[stuck]))
    assert found.states == states
    assert found.terminal == ("l" * n,)
    assert len(found.counterexamples["deadlock"].path) == n
    assert found.counterexamples["deadlock"].path.last == "l" * n


def exclusive(state: tuple[int, int, int]) -> Violation | None:
    return Violation("exclusion", "both are in") if state[:2] == (3, 3) else None


def test_peterson_excludes_in_twenty_states() -> None:
    found = explore(stepwise(Peterson()), Questions(invariants=[exclusive]))
    assert (found.states, found.verdict, found.terminal) == (20, Verdict.HOLDS, ())


def test_careless_peterson_fails_in_six_steps() -> None:
    found = explore(stepwise(Peterson(careless=True)), Questions(invariants=[exclusive]))
    assert found.verdict is Verdict.VIOLATED
    assert found.stop == "exhausted"
    assert sorted(found.counterexamples["exclusion"].path.actions) == [0, 0, 0, 1, 1, 1]


def test_a_path_is_a_run_of_the_system() -> None:
    model = Peterson(careless=True)
    path = explore(stepwise(model), Questions(invariants=[exclusive])).counterexamples["exclusion"].path
    state = path.initial
    assert [state] == list(model.initial())
    for action, after in path.steps:
        assert action in model.enabled(state)
        state = model.step(state, action)
        assert state == after
    assert path.states == (path.initial, *(after for _, after in path.steps))
    assert path.last == state


def test_counterexamples_are_shortest() -> None:
    system = counting(100, by=(1, 7))
    found = explore(system, Questions(invariants=[below(50)]))
    assert len(found.counterexamples["below"].path) == 8  # 7 sevens and a one: 50
    assert found.counterexamples["below"].violation.evidence == found.counterexamples["below"].path.last


def test_every_property_is_judged_to_the_end_and_its_first_violation_kept() -> None:
    found = explore(counting(20), Questions(invariants=[below(3, "three"), below(9, "nine")]))
    assert {name: len(example.path) for name, example in found.counterexamples.items()} == {
        "three": 3,
        "nine": 9,
    }
    assert (found.stop, found.states) == ("exhausted", 21)


def test_one_judge_may_answer_for_several_properties() -> None:
    def judge(n: int) -> Violation | None:
        return Violation("even" if n % 2 == 0 else "odd", str(n)) if n >= 5 else None

    found = explore(counting(9), Questions(invariants=[judge]))
    assert [(name, example.path.last) for name, example in found.counterexamples.items()] == [
        ("odd", 5),
        ("even", 6),
    ]


def test_it_stops_at_so_many_violated_properties() -> None:
    questions = Questions(invariants=[below(3, "three"), below(9, "nine")])
    first = explore(counting(20), questions, Limits(violations=1))
    assert (first.stop, first.states, list(first.counterexamples)) == ("violation", 4, ["three"])
    both = explore(counting(20), questions, Limits(violations=2))
    assert (both.stop, both.states, list(both.counterexamples)) == ("violation", 10, ["three", "nine"])


def test_an_initial_state_may_violate() -> None:
    found = explore(counting(3), Questions(invariants=[below(0)]), Limits(violations=1))
    assert (found.stop, found.states, found.transitions) == ("violation", 1, 0)
    assert found.counterexamples["below"].path == Path(0)


def test_a_step_is_judged_even_if_it_leads_to_a_known_state() -> None:
    ring = Transitions(lambda: [0], lambda n: [("on", (n + 1) % 3)], lambda n: n)

    def grows(before: int, _action: str, after: int) -> Violation | None:
        return None if after > before else Violation("grows", f"{before} to {after}")

    found = explore(ring, Questions(steps=[grows]))
    assert found.counterexamples["grows"].path == Path(0, (("on", 1), ("on", 2), ("on", 0)))
    assert (found.states, found.transitions) == (3, 3)


def test_witnesses_tell_vacuity() -> None:
    questions = Questions(
        witnesses={"four": lambda n: n == 4, "forty": lambda n: n == 40},
        step_witnesses={"from two": lambda before, _a, _b: before == 2, "by five": lambda _b, a, _a: a == 5},
    )
    found = explore(counting(10, by=(1, 2)), questions)
    assert found.verdict is Verdict.VACUOUS
    assert found.missed == ("forty", "by five")
    assert {name: len(path) for name, path in found.witnesses.items()} == {"four": 2, "from two": 2}
    assert found.witnesses["from two"].states[-2] == 2
    assert explore(counting(40), Questions(witnesses={"forty": lambda n: n == 40})).verdict is Verdict.HOLDS


def test_several_initial_states_count_once_each() -> None:
    system = Transitions(lambda: [3, 5, 3], lambda n: [("down", n - 1)] if n else [], lambda n: n)
    found = explore(system, Questions(invariants=[lambda n: Violation("one", "") if n == 1 else None]))
    assert (found.states, found.depth, found.terminal) == (6, 3, (0,))
    assert found.counterexamples["one"].path.states == (3, 2, 1)


def test_a_system_without_states_checks_nothing() -> None:
    found = explore(Transitions(list, lambda _: [], lambda n: n))
    assert (found.states, found.depth, found.verdict) == (0, 0, Verdict.NOTHING_CHECKED)


def test_states_budget_is_exact() -> None:
    short = explore(counting(20), limits=Limits(states=20))
    assert (short.stop, short.states, short.verdict) == ("states budget", 20, Verdict.INCONCLUSIVE)
    enough = explore(counting(20), limits=Limits(states=21))
    assert (enough.stop, enough.states, enough.verdict) == ("exhausted", 21, Verdict.HOLDS)


def test_depth_budget_looks_at_all_states_within_it() -> None:
    found = explore(counting(20, by=(1, 2)), Questions(witnesses={"six": lambda n: n == 6}), Limits(depth=3))
    assert (found.stop, found.states, found.depth) == ("depth budget", 7, 3)
    assert found.missed == ()
    assert found.verdict is Verdict.INCONCLUSIVE
    assert explore(counting(3), limits=Limits(depth=4)).stop == "exhausted"


def test_time_budget_stops_an_endless_system() -> None:
    endless = Transitions(lambda: [0], lambda n: [("on", n + 1)], lambda n: n)
    found = explore(endless, limits=Limits(seconds=0.05))
    assert (found.stop, found.verdict) == ("time budget", Verdict.INCONCLUSIVE)
    assert found.states > 1


def test_violated_beats_a_search_cut_short() -> None:
    found = explore(counting(20), Questions(invariants=[below(2)]), Limits(states=5))
    assert (found.stop, found.verdict) == ("states budget", Verdict.VIOLATED)


def interrupting(at: int, interrupt) -> Transitions[int, str]:
    def successors(n: int) -> list[tuple[str, int]]:
        if n == at:
            interrupt()
        return [("on", n + 1)]

    return Transitions(lambda: [0], successors, lambda n: n)


def send_interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def raise_interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("interrupt", [send_interrupt, raise_interrupt])
def test_an_interrupt_in_the_middle_of_a_step_loses_nothing(interrupt) -> None:
    replayed = False

    def once() -> None:
        nonlocal replayed
        if not replayed:
            replayed = True
            interrupt()

    questions = Questions(invariants=[below(30)], witnesses={"ten": lambda n: n == 10})
    found = explore(interrupting(40, once), questions)
    assert (found.stop, found.verdict) == ("interrupted", Verdict.VIOLATED)
    assert found.counterexamples["below"].path.last == 30
    assert found.witnesses["ten"].last == 10
    assert found.states == (42 if interrupt is send_interrupt else 41)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_in_a_judge_loses_nothing() -> None:
    def judge(n: int) -> Violation | None:
        if n == 7:
            raise KeyboardInterrupt
        return below(5)(n)

    found = explore(counting(20), Questions(invariants=[judge]))
    assert (found.stop, found.states, found.transitions) == ("interrupted", 8, 7)
    assert found.counterexamples["below"].path.last == 5


def test_an_interrupt_does_not_wait_for_the_other_steps_of_a_state() -> None:
    def successors(n: int) -> Iterator[tuple[str, int]]:
        for target in range(1, 10 if n == 0 else 1):
            if target == 3:
                send_interrupt()
            yield "to", target

    found = explore(Transitions(lambda: [0], successors, lambda n: n))
    assert (found.stop, found.transitions) == ("interrupted", 3)


def test_the_time_is_looked_at_between_the_steps_of_a_state() -> None:
    def successors(n: int) -> Iterator[tuple[str, int]]:
        for target in range(1, 1000 if n == 0 else 1):
            time.sleep(0.01)
            yield "to", target

    found = explore(Transitions(lambda: [0], successors, lambda n: n), limits=Limits(seconds=0.05))
    assert found.stop == "time budget"
    assert 0 < found.transitions < 100


def test_an_interrupt_in_the_very_last_step_is_told() -> None:
    def last(_state: int) -> None:
        send_interrupt()

    found = explore(counting(3), Questions(terminal=[last]))
    assert (found.stop, found.states) == ("interrupted", 4)


def test_a_second_interrupt_does_not_wait() -> None:
    def twice() -> None:
        send_interrupt()
        send_interrupt()
        time.sleep(60)

    began = time.monotonic()
    found = explore(interrupting(4, twice))
    assert (found.stop, found.states) == ("interrupted", 5)
    assert time.monotonic() - began < 30


def test_an_interrupt_of_one_search_ends_those_that_follow_it() -> None:
    with deferred_interrupts() as interrupts:
        first = explore(interrupting(4, send_interrupt))
        second = explore(counting(1000))
        assert (first.stop, second.stop, second.states) == ("interrupted", "interrupted", 1)
        assert interrupts
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert explore(counting(3)).stop == "exhausted"


def test_a_foreign_handler_of_interrupts_stays() -> None:
    def foreign(_number: int, _frame: object) -> None:
        return

    before = signal.signal(signal.SIGINT, foreign)
    try:
        explore(counting(3))
        assert signal.getsignal(signal.SIGINT) is foreign
    finally:
        signal.signal(signal.SIGINT, before)


def test_it_runs_in_any_thread() -> None:
    found: list[Exploration[int, int]] = []
    thread = threading.Thread(target=lambda: found.append(explore(counting(5))))
    thread.start()
    thread.join()
    assert found[0].states == 6


def test_progress_is_told_at_most_so_often() -> None:
    def slow(n: int) -> list[tuple[str, int]]:
        time.sleep(0.002)
        return [("on", n + 1)] if n < 100 else []

    told: list[Progress] = []
    explore(Transitions(lambda: [0], slow, lambda n: n), progress=told.append, progress_every=0.05)
    assert told
    assert all(b.seconds - a.seconds >= 0.05 for a, b in pairwise(told))
    # A chain: the one state that waits is met but not expanded, and has come by as many steps as it is deep.
    assert all((p.states, p.waiting, p.transitions) == (p.depth + 1, 1, p.depth) for p in told)
    silent: list[Progress] = []
    explore(counting(1000), progress=silent.append, progress_every=60)
    assert silent == []


def test_a_system_that_changes_its_answers_is_found_out() -> None:
    calls = 0

    def successors(n: int) -> list[tuple[str, int]]:
        nonlocal calls
        calls += 1
        return [("on", n + calls)]

    system = Transitions(lambda: [0], successors, lambda n: n)
    with pytest.raises(NotReplayableError, match="another state"):
        explore(system, Questions(invariants=[below(5)]), Limits(states=9))


def test_a_system_that_gives_fewer_answers_is_found_out() -> None:
    answers = [[("on", 1)]]
    system = Transitions(lambda: [0], lambda _: answers.pop() if answers else [], lambda n: n)
    with pytest.raises(NotReplayableError, match="fewer now"):
        explore(system, Questions(invariants=[below(1)]))


def test_the_graph_has_every_state_and_step() -> None:
    found, graph = explore_graph(counting(3, by=(1, 2)))
    assert graph.states == (0, 1, 2, 3)
    assert graph.edges == ((0, 1, 1), (0, 2, 2), (1, 1, 2), (1, 2, 3), (2, 1, 3))
    assert (found.states, found.transitions) == (len(graph.states), len(graph.edges))


def test_the_report() -> None:
    questions = Questions(
        invariants=[below(3)], witnesses={"two": lambda n: n == 2, "ten": lambda n: n == 10}
    )
    assert str(explore(counting(4), questions)) == (
        "violated: 5 states, 4 steps, depth 4, 1 terminal (exhausted)\n"
        "  violated after 3 steps: below: 3 is not below 3\n"
        "  reached after 2 steps: two\n"
        "  never reached: ten"
    )
    assert str(Path("a", (("go", "b"),))) == "a\n  go\nb"


SCRIPT = """
from classics import Peterson
from test_explore import exclusive
from gangproof.properties.search.explore import explore
from gangproof.properties.search.system import Questions, stepwise
questions = Questions(invariants=[exclusive], witnesses={str(i): lambda s, i=i: s[0] == i for i in range(4)})
found = explore(stepwise(Peterson(careless=True)), questions)
print(found, found.counterexamples, found.witnesses)
"""


def test_the_hash_seed_does_not_matter() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(FilePath(__file__).parent)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
