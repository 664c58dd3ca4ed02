"""Worlds in files: a setup and steps as an adapter takes them, with whole Kubernetes objects, in YAML or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gangproof.errors import InputError, Problem
from gangproof.load.files import read
from gangproof.load.recorded_fields import SCENARIO
from gangproof.load.report import Item, Report
from gangproof.load.schema import Misfit, is_mapping, walk
from gangproof.load.text import documents


def load_worlds(path: str | Path) -> tuple[Mapping[str, Any], ...]:
    """The worlds in a file, or in standard input (`-`). Raises InputError if one cannot be read."""
    name, text = read(path)
    report = Report()
    found: list[Mapping[str, Any]] = []
    for document in documents(name, text):
        data = document.data
        item = Item(document, (), f"world {document.number + 1}", data)

        def tell(misfit: Misfit, item: Item = item) -> None:
            report.error(item, misfit.path, misfit.found, misfit.expected, misfit.hint)

        walk(SCENARIO, data, tell)
        for needed in ("name", "steps"):
            if is_mapping(data) and not data.get(needed):
                report.error(item, (needed,), "nothing", f"the {needed} of a world")
        if is_mapping(data):
            found.append(data)
    report.check()
    if not found:
        raise InputError((Problem(name, 0, "", "no world", "a document for each world"),))
    return tuple(found)
