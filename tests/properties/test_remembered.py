"""What is remembered of the latest question is given again to the very same question only."""

from __future__ import annotations

from attrs import evolve

from gangproof.impl.world import World
from gangproof.properties.judges.remembered import latest, same
from gangproof.properties.worlds.named import NAMED


def test_the_same_things_are_looked_at_once_and_others_anew() -> None:
    asked: list[tuple[object, ...]] = []

    @latest
    def count(*things: object) -> int:
        asked.append(things)
        return len(asked)

    one, equal, other = (1, 2), tuple(range(1, 3)), (3,)
    assert one is not equal
    assert [count(one), count(one), count(equal), count(one, other), count(other, one), count(one)] == [
        *(1, 1, 2, 3, 4, 5)
    ]


def test_an_answer_of_none_is_remembered_and_an_error_is_not() -> None:
    asked: list[int] = []

    @latest
    def never_twice(thing: int) -> None:
        asked.append(thing)
        if thing < 0:
            raise ValueError(thing)

    for thing in (1, 1, -1, -1):
        try:
            never_twice(thing)
        except ValueError:
            continue
    assert asked == [1, -1, -1]


def test_of_equal_worlds_the_first_is_given() -> None:
    world = NAMED["mixed"].world
    again = World(settings=world.settings, environment=world.environment)
    assert again is not world
    assert same(again) is same(world) == world
    other = evolve(world, births=7)
    assert same(other) == other
