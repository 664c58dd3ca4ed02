"""What the pages say happens: every command is run, every file that they show is the one that is there."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest
from pages import PAGES, ROOT, blocks, commands, missing, run

FOLDERS = ("benchmarks", "docs", "examples", "scenarios", "spec", "tests")
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
WITH_COMMANDS = [name for name in NAMES if any(b.language == "console" for b in blocks(ROOT / name))]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like the checkout, in which files may be written."""
    for folder in FOLDERS:
        (tmp_path / folder).symlink_to(ROOT / folder)
    return tmp_path


def test_the_readme_and_the_tutorial_have_commands() -> None:
    assert {"README.md", "docs/tutorial.md"} <= set(WITH_COMMANDS)


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_commands_print_what_the_page_says(name: str, checkout: Path) -> None:
    for block in blocks(ROOT / name):
        if block.title is not None:
            write(checkout / block.title, block.text)
        for command in commands(block) if block.language == "console" else ():
            ended = run(command.typed, checkout)
            where = f"{name}:{block.line}: {command.typed}"
            assert ended.returncode == command.exit_code, f"{where}\n{ended.stdout}{ended.stderr}"
            # Hints and progress go to standard error and are quoted only where the answer is not.
            lacking = missing(command.printed, ended.stdout)
            assert lacking is None, f"{where}: not as printed:\n{lacking}\n\n{ended.stdout}{ended.stderr}"


def write(path: Path, text: str) -> None:
    """Write a file that a page tells the reader to write; one of the checkout's must be the same already."""
    if path.exists():
        assert path.read_text(encoding="utf-8").rstrip("\n") == text, path
    else:
        path.write_text(text + "\n", encoding="utf-8")


@pytest.mark.parametrize("block", [b for b in blocks(ROOT / "README.md") if b.language == "python"])
def test_python_of_the_readme_runs(block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "it.py"
    script.write_text(block.text)
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(script))


def test_the_tutorial_quotes_the_contract() -> None:
    (quoted,) = [b for b in blocks(ROOT / "docs/tutorial.md") if b.language == "python" and b.title is None]
    assert quoted.text in (ROOT / "spec" / "cycle.py").read_text()


def test_demo_tells_an_outcome_and_draws_a_picture(tmp_path: Path) -> None:
    """The recipe of `make demo`, without setting up what is set up."""
    ended = subprocess.run(
        ["make", "--no-print-directory", "-o", "install", "demo", f"OUT={tmp_path}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "default/llm-workers is True/Scheduled" in ended.stdout
    assert "INV-03 violated: bind-below-minimum (F-01)" in ended.stdout
    drawn = tmp_path / "F-01.svg"
    assert f"saved: {drawn}" in ended.stdout + ended.stderr
    assert drawn.read_bytes().startswith(b"<")


@pytest.mark.parametrize(
    ("quoted", "printed", "lacking"),
    [
        ("a\nb", "a\nb", None),
        ("a", "a\nb", "b"),
        ("a\n…", "a\nb", None),
        ("b", "a\nb", "b"),
        ("…\nb", "a\nb", None),
        ("a\n…\nc\nd", "a\nb\nc\nx\nd", "c\nd"),
        ("…\nb\n…\na\n…", "a\nb", "a"),
        ("took 0.4 s", "took 12 ms", None),
        ("4 states", "5 states", "4 states"),
        ("", "anything", None),
    ],
)
def test_what_counts_as_printed(quoted: str, printed: str, lacking: str | None) -> None:
    assert missing(quoted.splitlines(), printed) == lacking
