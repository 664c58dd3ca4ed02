"""Every rule and property of docs/semantics.md: its text, and who implements, proves and tests it.

The text is read from the document itself, which travels with the package. Who implements a rule is read off
the docstrings of the sources, so the list cannot claim what the code does not say. Tests and scenarios are
not part of an installed package; where the sources are a checkout, they are found beside it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from attrs import frozen

import gangproof

ID = re.compile(r"\b([A-Z]{2,8})-(\d{2})([a-z]?)\b")
_RANGE = re.compile(r"\b([A-Z]{2,8})-(\d{2})[a-z]?(?:\s+to\s+(?:\1-)?|…)(\d{2})\b")
_SERIES = re.compile(r"\b([A-Z]{2,8})-(\d{2})[a-z]?((?:,\s*\d{2}\b(?![-\w]))+)")
_ROW = re.compile(r"^\|\s*\**([A-Z]{2,8}-\d{2}[a-z]?)\**[^|]*\|")
_SENTENCE = re.compile(r"^\**([A-Z]{2,8}-\d{2}[a-z]?)\**\.\s+(.*)$")
_CELL = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"^(#{2,3})\s+(.*)$")
ROOMS = ("impl", "load")
"""The parts of the package whose functions implement rules."""


@frozen
class Rule:
    """A rule or property: its id, the section it stands in, and its cells by column."""

    id: str
    section: str
    cells: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The first cell that says something."""
        return next((text for _, text in self.cells if text), "")


@frozen
class Standing:
    """What becomes of a rule: functions that carry it, invariants that cite it, tests that name it."""

    rule: Rule
    implemented: tuple[str, ...] = ()
    proved: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()


def document() -> str:
    """The text of docs/semantics.md."""
    return (files("gangproof") / "docs" / "semantics.md").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def rules() -> Mapping[str, Rule]:
    """Every rule by id, in the order of the document."""
    found: dict[str, Rule] = {}
    section, header = "", ()
    previous = ""
    for line in document().splitlines():
        heading = _HEADING.match(line)
        if heading:
            section = heading.group(2).strip()
        elif line.startswith("|---"):
            header = _cells(previous)
        elif row := _ROW.match(line):
            name = row.group(1)
            cells = zip(header[1:], _cells(line)[1:], strict=False)
            found.setdefault(name, Rule(name, section, tuple((k, v) for k, v in cells if v)))
        elif sentence := _SENTENCE.match(line):
            name, text = sentence.groups()
            found.setdefault(name, Rule(name, section, (("rule", text),)))
        previous = line
    return found


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL.split(line.strip().strip("|")))


def cited(text: str) -> frozenset[str]:
    """The ids that a text names, series (`INV-02, 03`) spelt out, of a range (`API-30 to API-45`) all the
    rules that there are, and for the item of a list within a rule (`CYCLE-24a`) the rule."""
    names: set[str] = set()
    for kind, number, letter in ID.findall(text):
        rule = f"{kind}-{number}"
        item_of_a_list = letter and f"{rule}{letter}" not in rules() and rule in rules()
        names.add(rule if item_of_a_list else f"{rule}{letter}")
    for kind, first, last in _RANGE.findall(text):
        following = (f"{kind}-{number:02}" for number in range(int(first) + 1, int(last) + 1))
        names.update(name for name in following if name in rules())
    for kind, _, rest in _SERIES.findall(text):
        names.update(f"{kind}-{number}" for number in re.findall(r"\d{2}", rest))
    return frozenset(names)


def standing(rule_id: str) -> Standing:
    """Who implements, proves and tests the rule. KeyError for an unknown id."""
    return Standing(
        rules()[rule_id],
        implementations().get(rule_id, ()),
        proofs().get(rule_id, ()),
        tests().get(rule_id, ()),
    )


def _gathered(pairs: Iterator[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Places by rule id, each once, in the order found."""
    found: dict[str, dict[str, None]] = {}
    for rule_id, place in pairs:
        found.setdefault(rule_id, {})[place] = None
    return {rule_id: tuple(places) for rule_id, places in found.items()}


@lru_cache(maxsize=1)
def implementations() -> Mapping[str, tuple[str, ...]]:
    """By rule id the functions and classes whose docstring names it, as `module.function`."""
    return _gathered(_named_in_docstrings())


def _named_in_docstrings() -> Iterator[tuple[str, str]]:
    package = Path(gangproof.__file__).parent
    for room in ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            module = ".".join(("gangproof", *path.relative_to(package).with_suffix("").parts))
            for name, docstring in _docstrings(ast.parse(path.read_text(encoding="utf-8"))):
                place = f"{module}.{name}" if name else module
                for rule_id in sorted(cited(docstring)):
                    yield rule_id, place


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The docstrings in a module by dotted name: its own, then those of classes, functions and methods."""
    yield "", ast.get_docstring(tree) or ""
    waiting: list[tuple[str, ast.stmt]] = [("", node) for node in reversed(tree.body)]
    while waiting:
        prefix, node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + node.name, ast.get_docstring(node) or ""
            if isinstance(node, ast.ClassDef):
                waiting.extend((f"{prefix}{node.name}.", inner) for inner in reversed(node.body))


@lru_cache(maxsize=1)
def proofs() -> Mapping[str, tuple[str, ...]]:
    """By rule id the invariants of the contract that are it or cite it."""
    from gangproof.spec import INVARIANTS

    return _gathered(
        (rule_id, f"{invariant.id} {invariant.name}")
        for invariant in INVARIANTS
        for rule_id in dict.fromkeys((invariant.id, *invariant.rules))
    )


def checkout() -> Path | None:
    """The folder of the sources with their tests and scenarios, None for an installed package."""
    root = Path(gangproof.__file__).resolve().parent.parent
    return root if (root / "tests").is_dir() and (root / "scenarios").is_dir() else None


@lru_cache(maxsize=1)
def tests() -> Mapping[str, tuple[str, ...]]:
    """By rule id the test files and the scenarios that name it; none where the sources are no checkout."""
    root = checkout()
    return {} if root is None else _gathered(_named_in_tests(root))


def _named_in_tests(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((root / "tests").rglob("*.py")):
        for rule_id in sorted(cited(path.read_text(encoding="utf-8"))):
            yield rule_id, path.relative_to(root).as_posix()
    for path in sorted((root / "scenarios").glob("*.scenario.yaml")):
        for document_text in re.split(r"(?m)^---.*$", path.read_text(encoding="utf-8")):
            name = re.search(r"(?m)^scenario:\s*(\S+)", document_text)
            for rule_id in sorted(cited(document_text)):
                yield rule_id, f"scenario {name.group(1)}" if name else path.relative_to(root).as_posix()
