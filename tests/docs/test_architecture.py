"""The list of modules in docs/architecture.md is what the modules say of themselves.

    python tests/docs/test_architecture.py

writes it anew.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
ROOMS = ("spec", "impl", "counterexamples", "properties", "harness")
BEGIN, END = "<!-- modules:begin -->\n", "<!-- modules:end -->\n"


def modules(room: str) -> list[Path]:
    """The modules and packages of a room, packages by their `__init__.py`."""
    found = [path for path in (ROOT / room).iterdir() if not path.name.startswith(("_", "."))]
    packages = [path / "__init__.py" for path in found if (path / "__init__.py").exists()]
    return sorted([path for path in found if path.suffix == ".py"] + packages, key=name)


def name(path: Path) -> str:
    return f"{path.parent.name}/" if path.name == "__init__.py" else path.name


def says(path: Path) -> str:
    """The first sentence of the docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".")


def table(room: str) -> str:
    rows = [f"| `{name(path)}` | {says(path)} |\n" for path in modules(room)]
    return f"### {room}/\n\n| module | in a sentence |\n|---|---|\n{''.join(rows)}\n"


def listed() -> str:
    return BEGIN + "\n" + "".join(map(table, ROOMS)) + END


def page(text: str) -> str:
    """The page with the list as it should be."""
    before, _, rest = text.partition(BEGIN)
    return before + listed() + rest.partition(END)[2]


def test_every_module_says_why_it_is_there() -> None:
    assert not [str(path) for room in ROOMS for path in modules(room) if len(says(path)) < 20]


def test_the_page_lists_every_module() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
