"""The pictures on the pages are those that the tool makes, byte for byte.

If one is meant to change, look at the new one, whose path the failing test tells, and copy it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import PAGES, ROOT, run

PICTURES = {
    "bind-below-minimum.svg": ("gangproof faults F-01 --draw out", "out/F-01.svg"),
    "shared-claim.svg": ("gangproof faults F-62 --draw out", "out/F-62.svg"),
    "careless.svg": (
        "python examples/contract/what_if.py examples/contract/careless.py out examples/two-gangs || [ $? = 1 ]",
        "out/INV-01.svg",
    ),
}
"""The command that makes each picture, in the checkout's folder, and where it saves it."""

MADE_WITH_THEIR_PAGE = ("limit-", "finding-", "lag-", "endless-")
"""The pictures of limits, findings, late views and endless runs are made, and tested, with their page."""


@pytest.mark.parametrize("name", PICTURES)
def test_the_tool_draws_it_so(name: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    command, saved = PICTURES[name]
    ended = run(command, tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    drawn = tmp_path / saved
    assert drawn.read_bytes() == (ROOT / "docs" / "pictures" / name).read_bytes(), f"now: {drawn}"


def test_every_picture_is_made_and_shown() -> None:
    there = sorted(path.name for path in (ROOT / "docs" / "pictures").iterdir())
    others = [name for name in there if name.startswith(MADE_WITH_THEIR_PAGE)]
    assert sorted((*PICTURES, *others)) == there
    shown = {
        Path(link).name for page in PAGES for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text())
    }
    assert shown == {*PICTURES, *others}
