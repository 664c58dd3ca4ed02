"""`python -m benchmarks [NAME…]` runs the named benchmarks, or all, and prints the table in Markdown.

Every module of this folder is loaded; those that have benchmarks enter them into the registry.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib import import_module
from pkgutil import iter_modules

import benchmarks
from benchmarks.registry import BENCHMARKS, HEADER


def main(names: list[str]) -> int:
    for module in sorted(module.name for module in iter_modules(benchmarks.__path__)):
        if module != "__main__":
            import_module(f"benchmarks.{module}")
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores\n")
    print(HEADER, flush=True)
    for name in names or BENCHMARKS:
        for row in BENCHMARKS[name]():
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
