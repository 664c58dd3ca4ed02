"""Worlds taken apart, put together and made smaller; the question whether one still breaks is answered here by hand."""

from __future__ import annotations

from typing import Any

import pytest
from handmade import gang, node, pod

from gangproof.properties.observed.shrinking import parts_of, smallest, world_of
from gangproof.properties.observed.worlds import world

Data = dict[str, Any]


def cluster() -> Data:
    return {
        "name": "a world",
        "gates": {"GenericWorkload": True, "GangScheduling": True, "WorkloadAwarePreemption": True},
        "seed": 7,
        "hotLimit": 3,
        "eager": True,
        "callDelay": 20,
        "steps": [
            {
                "create": [
                    node("n", 4, zone="a"),
                    gang("g", 3),
                    pod("v", on="n"),
                    *(pod(p, group="g") for p in "abc"),
                ]
            },
            {"hold": ["bind/a"]},
            {"settle": {"idle": 25}},
            {"snapshot": True},
            {"delete": ["Pod/default/a", "Pod/default/b"]},
            {"settle": {"idle": 25}},
            {"snapshot": True},
        ],
    }


def names(found: Data) -> set[str]:
    return {each["metadata"]["name"] for step in found["steps"] for each in step.get("create", [])}


def test_taken_apart_and_put_together_a_world_is_the_same() -> None:
    for number in range(50):
        made = world(number)
        assert world_of(parts_of(made), made) == made


def test_only_what_is_needed_is_left() -> None:
    small = world_of(smallest(cluster(), lambda found: {"g", "b"} <= names(found)).parts, cluster())
    assert small == {
        "name": "a world",
        "seed": 7,
        "hotLimit": 3,
        "gates": {},
        "steps": [{"create": [gang("g", 1), plain("b")]}, {"snapshot": True}],
    }


def plain(name: str) -> Data:
    made = pod(name)
    del made["metadata"]["labels"]
    return made


def test_what_is_left_makes_sense() -> None:
    """No step names what is not there: the node of a running pod stays, and so does a pod that is deleted."""
    small = world_of(
        smallest(cluster(), lambda found: "v" in names(found) and "delete" in str(found)).parts, cluster()
    )
    assert {"n", "v"} <= names(small)
    for step in small["steps"]:
        for deleted in step.get("delete", []):
            assert deleted.rpartition("/")[2] in names(small)


def test_options_go_before_they_are_made_smaller() -> None:
    small = world_of(smallest(cluster(), lambda found: found.get("callDelay", 0) >= 4).parts, cluster())
    assert (small["callDelay"], "eager" in small) == (4, False)


def test_a_world_that_does_not_break_is_no_beginning() -> None:
    with pytest.raises(ValueError, match="does not fail"):
        smallest(cluster(), lambda _: False)


def test_the_same_seed_gives_the_same_world() -> None:
    assert [world(n) for n in range(20)] == [world(n) for n in range(20)]
    assert world(1)["steps"] != world(2)["steps"]
