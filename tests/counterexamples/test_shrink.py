"""The minimiser: what is left fails, and nothing of it can be left out or made simpler."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangproof.counterexamples import minimise, shrink, smaller

NEEDS = st.sets(st.integers(0, 30), max_size=5)


def removals(parts: Sequence[int]) -> list[tuple[int, ...]]:
    return [(*parts[:i], *parts[i + 1 :]) for i in range(len(parts))]


@given(st.lists(st.integers(0, 30), max_size=40), NEEDS)
def test_exactly_the_needed_parts_are_left(parts: list[int], needed: set[int]) -> None:
    needed &= set(parts)
    found = shrink(parts, lambda kept: needed <= set(kept))
    assert sorted(found) == sorted(needed)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=25), st.integers(2, 7))
def test_one_minimal_for_a_question_that_is_not_monotone(parts: list[int], modulus: int) -> None:
    def fails(kept: Sequence[int]) -> bool:
        return bool(kept) and sum(kept) % modulus == sum(parts) % modulus

    found = shrink(parts, fails)
    assert fails(found)
    assert not any(fails(less) for less in removals(found))
    rest = iter(parts)
    assert all(part in rest for part in found), "the order is kept"


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=12), st.integers(1, 300))
def test_values_are_made_as_simple_as_can_be(parts: list[int], limit: int) -> None:
    parts = [*parts, limit + 7]

    def fails(kept: Sequence[int]) -> bool:
        return any(value >= limit for value in kept)

    assert shrink(parts, fails, simplify=smaller) == (limit,)


@given(st.integers(-(10**9), 10**9))
def test_smaller_numbers_are_nearer_to_zero_and_include_the_next(number: int) -> None:
    found = smaller(number)
    assert all(abs(simpler) < abs(number) for simpler in found)
    assert list(found) == sorted(found, key=abs)
    if number:
        assert found[0] == 0 and abs(found[-1]) == abs(number) - 1


def test_what_does_not_fail_cannot_be_shrunk() -> None:
    with pytest.raises(ValueError, match="does not fail"):
        shrink([1, 2], lambda kept: False)


def test_nothing_at_all_may_be_left() -> None:
    assert shrink([1, 2, 3], lambda kept: True) == ()


def counted(needed: set[int]) -> tuple[list[tuple[int, ...]], Callable[[Sequence[int]], bool]]:
    asked: list[tuple[int, ...]] = []

    def fails(kept: Sequence[int]) -> bool:
        asked.append(tuple(kept))
        return needed <= set(kept)

    return asked, fails


@pytest.mark.parametrize("budget", range(1, 40, 3))
def test_a_budget_is_kept_and_the_best_so_far_is_given(budget: int) -> None:
    asked, fails = counted({3, 17})
    found = minimise(range(20), fails, budget=budget)
    assert found.calls == len(asked) <= budget
    assert {3, 17} <= set(found.parts)
    assert found.parts == (3, 17) or not found.minimal


def test_a_budget_that_runs_out_is_told() -> None:
    found = minimise(range(20), lambda kept: 3 in kept, budget=2)
    assert not found.minimal
    assert minimise(range(20), lambda kept: 3 in kept).minimal


def test_no_question_is_asked_twice_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    asked, fails = counted({3, 17})
    found = minimise(range(20), fails, progress=lambda calls, size: told.append((calls, size)))
    assert len(set(asked)) == len(asked) == found.calls
    assert told == [(i, len(kept)) for i, kept in enumerate(asked, start=1)]


def test_large_pieces_go_first() -> None:
    asked, fails = counted({500})
    assert shrink(range(1000), fails) == (500,)
    assert len(asked) < 60


def test_parts_need_not_be_hashable_and_equal_ones_are_two() -> None:
    assert shrink([[1], [1], [2]], lambda kept: sum(part == [1] for part in kept) == 2) == ([1], [1])
