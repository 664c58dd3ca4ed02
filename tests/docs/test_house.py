"""The repository as a whole: links lead somewhere, packages are listed, and nothing points at one machine."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from pages import PAGES, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
ONE_MACHINE = re.compile(
    r"(?<![\w.])/(?:home|root|tmp|work|Users)/\w|--(?:extra-)?index-url|https?://localhost"
)


def tracked() -> list[Path]:
    """The files of the repository, those not yet committed included."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]


def anchors(page: Path) -> set[str]:
    """The names by which the headings of a page can be linked to."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text))
    return {name.strip().replace(" ", "-") for name in kept}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}"


def test_every_package_is_listed() -> None:
    """A package that pyproject.toml does not list is missing from the wheel."""
    folders = PROJECT["package-dir"]
    found = {
        ".".join((package, *init.parent.relative_to(ROOT / folder).parts))
        for package, folder in folders.items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert found - set(PROJECT["packages"]) == set()
    for package in PROJECT["packages"]:
        base = max((b for b in folders if package == b or package.startswith(f"{b}.")), key=len)
        assert (ROOT / folders[base] / package[len(base) + 1 :].replace(".", "/")).is_dir(), package


def test_nothing_points_at_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if path != Path(__file__) and (match := ONE_MACHINE.search(path.read_text("utf-8", "replace")))
    ]
    assert found == []


def test_modules_open_with_why_they_exist() -> None:
    sources = [path for path in tracked() if path.suffix == ".py" and path.read_text().strip()]
    silent = [p.relative_to(ROOT).as_posix() for p in sources if not p.read_text().startswith('"""')]
    assert silent == []
