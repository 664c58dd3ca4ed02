"""The verdicts, their exit codes, and how they combine."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from gangproof.properties.verdict import Verdict, combine


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("holds", 0),
        ("violated", 1),
        ("inconclusive", 3),
        ("vacuous", 4),
        ("not supported", 5),
        ("nothing checked", 5),
    ],
)
def test_words_and_exit_codes(word: str, code: int) -> None:
    assert str(Verdict(word)) == word
    assert Verdict(word).exit_code == code


def test_every_verdict_has_an_exit_code() -> None:
    assert {verdict.exit_code for verdict in Verdict} == {0, 1, 3, 4, 5}


def test_the_worst_wins() -> None:
    order = ["violated", "inconclusive", "vacuous", "holds", "not supported", "nothing checked"]
    for worse, better in ((a, b) for i, a in enumerate(order) for b in order[i:]):
        assert combine([Verdict(worse), Verdict(better)]) is Verdict(worse)


def test_order_and_grouping_do_not_matter() -> None:
    for three in product(Verdict, repeat=3):
        whole = combine(three)
        assert {combine(order) for order in permutations(three)} == {whole}
        assert combine([combine(three[:1]), combine(three[1:])]) is whole


def test_no_parts_check_nothing() -> None:
    assert combine([]) is Verdict.NOTHING_CHECKED
    assert all(combine([verdict, combine([])]) is verdict for verdict in Verdict)
