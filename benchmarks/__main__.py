"""`python -m benchmarks [--write FILE] [NAME…]` runs the named benchmarks, or all, and prints the table in Markdown.

With `--write` the table takes the place of what stands in the file between the marks. Every module of this
folder is loaded; those that have benchmarks enter them into the registry.
"""

from __future__ import annotations

import os
import platform
import sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import benchmarks
from benchmarks.registry import BENCHMARKS, HEADER, between_marks


def main(arguments: list[str]) -> int:
    for module in sorted(module.name for module in iter_modules(benchmarks.__path__)):
        if module != "__main__":
            import_module(f"benchmarks.{module}")
    parser = ArgumentParser(prog="python -m benchmarks", description="measure, and print the table")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="also write the table between FILE's marks"
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; without any, all"
    )
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    page: str | None = given.write.read_text(encoding="utf-8") if given.write else None
    if page is not None:
        between_marks(page, "")
    machine = f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores"
    lines = [machine, "", *HEADER.splitlines()]
    print("\n".join(lines), flush=True)
    for name in given.names or BENCHMARKS:
        for row in BENCHMARKS[name]():
            lines.append(str(row))
            print(row, flush=True)
    if page is not None:
        given.write.write_text(between_marks(page, "\n".join(lines)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
