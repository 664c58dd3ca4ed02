"""The victims that are chosen, against the best: where they fall short, and in how small a world.

Run this file to print `docs/victims.md`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gangproof.impl.profiles import INTENDED
from gangproof.impl.world import Settings
from gangproof.properties.theorems import Case, Size
from gangproof.properties.theorems.crowds import AWARE, BY_MEMBERS, against, alone
from gangproof.properties.theorems.gap_page import HEAD, page, section
from gangproof.properties.theorems.gaps import CHOOSERS, KINDS, Chooser, gaps, sufficient
from gangproof.properties.worlds.named import node, pod

PAGE = Path(__file__).parents[2] / "docs" / "victims.md"
NOBODY, NEEDLESS, UNITS, PODS, STRONGER = (kind.name for kind in KINDS)
EXPECTED = {
    "a group of equal members, as a whole": (1996, {UNITS: Size(7, 4, 5), PODS: Size(7, 4, 5)}),
    "a group of unequal members, as a whole": (
        998,
        {
            NOBODY: Size(6, 3, 4), NEEDLESS: Size(7, 4, 5), UNITS: Size(8, 5, 7), PODS: Size(8, 5, 7),
            STRONGER: Size(7, 4, 5),
        },
    ),
    "members of a group, one by one": (
        1160,
        {
            NOBODY: Size(6, 3, 4), NEEDLESS: Size(6, 3, 5), UNITS: Size(8, 4, 6), PODS: Size(8, 4, 6),
            STRONGER: Size(7, 4, 5),
        },
    ),
    "a plain pod": (1188, {UNITS: Size(6, 4, 5), PODS: Size(6, 4, 5)}),
}  # fmt: skip
"""How many worlds are looked at, and the size of the smallest with each kind of gap that there is."""


@pytest.mark.parametrize("chooser", CHOOSERS, ids=lambda chooser: chooser.name)
def test_the_gaps_are_those_of_the_page(chooser: Chooser) -> None:
    found = gaps(chooser)
    assert (found.cases, {name: gap.case.size for name, gap in found.found.items()}) == EXPECTED[chooser.name]
    assert section(chooser, found) in PAGE.read_text(encoding="utf-8")


def test_the_page_has_nothing_else() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        f"## Chosen for {chooser.name}" for chooser in CHOOSERS
    ]


# The search can fail: a choice that is not the machinery's is seen.

CROWDED = [node("n1", 2), *(pod(f"v{i}", node="n1", priority=1) for i in (1, 2))]


def judged(case: Case, *names: str) -> dict[str, list[str]]:
    """Each kind of gap that the choice of these pods would have, with what would do instead."""
    start = case.world()
    pending = next(p for p in start.pods.values() if p.node_name is None)
    units = INTENDED.victims(start, start.cache, pending)
    chosen = frozenset(unit for unit in units if set(unit.keys) & {f"default/{name}" for name in names})
    enough = sufficient(case, units)
    found = {kind.name: kind.better(chosen, enough) for kind in KINDS}
    return {name: sorted(k for unit in better for k in unit.keys) for name, better in found.items() if better}


@pytest.mark.parametrize("options", [AWARE, BY_MEMBERS], ids=["as a group", "by members"])
def test_a_choice_that_falls_short_is_seen(options: Settings) -> None:
    case = against(CROWDED, (1,), options)
    assert judged(case, "v1") == {}
    assert judged(case) == {NOBODY: ["default/v1"]}
    assert judged(case, "v1", "v2") == {NEEDLESS: ["default/v1"]}


def test_fewer_and_weaker_ones_are_seen() -> None:
    beside = [
        node("n1", 2), pod("v1", node="n1", cpu=2, priority=1),
        node("n2", 2), *(pod(f"v{i}", node="n2", priority=2) for i in (2, 3)),
    ]  # fmt: skip
    case = alone(beside, 2, BY_MEMBERS)
    assert judged(case, "v1") == {}
    assert judged(case, "v2", "v3") == {name: ["default/v1"] for name in (UNITS, PODS, STRONGER)}


if __name__ == "__main__":
    print(page([section(chooser, gaps(chooser)) for chooser in CHOOSERS]), end="")
