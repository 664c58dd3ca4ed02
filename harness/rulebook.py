"""Every rule and property of docs/semantics.md: its text, and who implements, judges, proves and tests it.

The text is read from the document itself, which travels with the package. Who implements a rule, and who asks of
runs whether a promise is kept, is read off the docstrings of the sources, so the list cannot claim what the code
does not say. A test holds the rules that it names, a scenario those whose text names its row (`S:PG-04`). Tests and
scenarios are not part of an installed package; where the sources are a checkout, they are found beside it. A rule
that nobody carries or holds has a reason: in `gangproof.unmodelled`, or in the table of deviations where both
profiles do the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path

from attrs import frozen

import gangproof
from gangproof.unmodelled import REASONS

ID = re.compile(r"\b([A-Z]{2,8})-(\d{2})([a-z]?)\b")
_RANGE = re.compile(r"\b([A-Z]{2,8})-(\d{2})[a-z]?(?:\s+to\s+(?:\1-)?|…)(\d{2})\b")
_SERIES = re.compile(r"\b([A-Z]{2,8})-(\d{2})[a-z]?((?:,\s*\d{2}\b(?![-\w]))+)")
_ROW = re.compile(r"^\|\s*\**([A-Z]{2,8}-\d{2}[a-z]?)\**[^|]*\|")
_SENTENCE = re.compile(r"^\**([A-Z]{2,8}-\d{2}[a-z]?)\**\.\s+(.*)$")
_CELL = re.compile(r"(?<!\\)\|")
_ITEM = r"(?:[A-Z][A-Z0-9]*-)?\d\d(?!\d)"
_ROWS = re.compile(rf"S:({_ITEM}(?:(?:, ?|…){_ITEM})*)")
_HEADING = re.compile(r"^(#{2,3})\s+(.*)$")
ROOMS = ("impl", "load")
"""The parts of the package whose functions implement rules."""
PROMISES = ("INV", "LIVE", "THM")
"""The families that no function carries: functions of `properties` judge by them."""
SAME = "same"
"""How the column *intended* begins in a row of a deviation that does not tell the profiles apart."""
NAMED_AS_DATA = ("counterexamples", "docs", "harness/test_rulebook.py")
"""Below tests/, where ids stand as examples of text, so that naming a rule is no test of it."""


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
    """What becomes of a rule: functions that carry it or judge by it, invariants that cite it, tests that hold it.

    `reason` says why one of these is missing, "" if nothing needs to be said.
    """

    rule: Rule
    implemented: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    proved: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    reason: str = ""

    @property
    def kept(self) -> bool:
        """Whether some function carries the rule, or judges by it, and something would notice if it no longer did."""
        carried = self.implemented or self.judged or (self.proved and self.promised)
        return bool(carried) and bool(self.proved or self.tested)

    @property
    def promised(self) -> bool:
        """Whether it is a promise, about which runs are asked, rather than a rule that functions follow."""
        return self.rule.id.partition("-")[0] in PROMISES


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
        judges().get(rule_id, ()),
        proofs().get(rule_id, ()),
        tests().get(rule_id, ()),
        reasons().get(rule_id, "") or same(rules()[rule_id]),
    )


def same(rule: Rule) -> str:
    """Why both profiles do the same in this row of the table of deviations; "" for a rule that is none."""
    intended = dict(rule.cells).get("intended", "")
    return intended if intended.startswith(SAME) else ""


@lru_cache(maxsize=1)
def reasons() -> Mapping[str, str]:
    """By rule id why it is not implemented or not tested; a ValueError if two reasons speak of one rule."""
    found: dict[str, str] = {}
    for about, reason in REASONS.items():
        for rule_id in sorted(cited(about)):
            if rule_id in found:
                raise ValueError(f"{rule_id} has two reasons")
            found[rule_id] = reason
    return found


def rows(rule: Rule) -> tuple[str, ...]:
    """The rows of the upstream table of scenarios that the rule names, by `S:` or in its column S."""
    named: dict[str, None] = {}
    for column, text in rule.cells:
        for series in _ROWS.findall(f"S:{text.replace(';', ',')}" if column == "S" else text):
            kind, last = "", 0
            for mark, prefix, number in re.findall(r"(…)?(?:([A-Z][A-Z0-9]*)-)?(\d\d)", series):
                kind = prefix or kind
                first = last + 1 if mark else int(number)
                named.update((f"{kind}-{n:02}", None) for n in range(first, int(number) + 1))
                last = int(number)
    return tuple(named)


def _gathered(pairs: Iterator[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Places by rule id, each once, in the order found."""
    found: dict[str, dict[str, None]] = {}
    for rule_id, place in pairs:
        found.setdefault(rule_id, {})[place] = None
    return {rule_id: tuple(places) for rule_id, places in found.items()}


@lru_cache(maxsize=1)
def implementations() -> Mapping[str, tuple[str, ...]]:
    """By rule id the functions and classes whose docstring names it, as `module.function`; the change that makes a
    deviation."""
    from gangproof.impl.deviations import DEVIATIONS

    changes = ((d.id, f"the change of {', '.join(d.change.wraps)} in profile v1.36.3") for d in DEVIATIONS)
    return _gathered(chain(_named_in_docstrings(*ROOMS), changes))


@lru_cache(maxsize=1)
def judges() -> Mapping[str, tuple[str, ...]]:
    """By the id of a promise the functions and classes of `properties` whose docstring names it."""
    found = _named_in_docstrings("properties")
    return _gathered((rule_id, place) for rule_id, place in found if rule_id.partition("-")[0] in PROMISES)


def _named_in_docstrings(*rooms: str) -> Iterator[tuple[str, str]]:
    package = Path(gangproof.__file__).parent
    for room in rooms:
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
    """By rule id the tests and scenarios that name it, the scenario that shows a deviation, and the tests that
    ask every theorem; none where the sources are no checkout."""
    root = checkout()
    return {} if root is None else _gathered(_named_in_tests(root))


def _named_in_tests(root: Path) -> Iterator[tuple[str, str]]:
    from gangproof.impl.deviations import DEVIATIONS
    from gangproof.properties.theorems import THEOREMS

    for path in sorted((root / "tests").rglob("*.py")):
        where = path.relative_to(root / "tests").as_posix()
        if where.startswith(NAMED_AS_DATA):
            continue
        for name, text in _pieces(path.read_text(encoding="utf-8")):
            for rule_id in sorted(cited(text)):
                yield rule_id, f"tests/{where}::{name}" if name else f"tests/{where}"
    for theorem in THEOREMS:
        for rule_id in sorted(cited(f"{theorem.id} {theorem.statement}")):
            yield rule_id, "tests/properties/test_theorems.py"
    yield from ((d.id, f"scenario {d.scenario}") for d in DEVIATIONS if d.scenario)
    by_row = _gathered((row, rule.id) for rule in rules().values() for row in rows(rule))
    for path in sorted((root / "scenarios").glob("*.scenario.yaml")):
        for name in re.findall(r"(?m)^scenario:\s*(\S+)", path.read_text(encoding="utf-8")):
            for rule_id in by_row.get(name.removesuffix("-shipped"), ()):
                yield rule_id, f"scenario {name}"


def _pieces(source: str) -> Iterator[tuple[str, str]]:
    """The text of each function and class of a test module by name, and under no name what is left."""
    lines = source.splitlines()
    left = list(lines)
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min((node.lineno, *(mark.lineno for mark in node.decorator_list))) - 1
            yield node.name, "\n".join(lines[first : node.end_lineno])
            left[first : node.end_lineno] = [""] * ((node.end_lineno or first) - first)
    yield "", "\n".join(left)
