"""The command line: `gangproof COMMAND`. It parses, asks the room below, prints, and ends in an exit code.

0 holds; 1 violated; 2 usage or unreadable input; 3 inconclusive; 4 vacuous; 5 nothing was checked; 70 an
internal error. A Ctrl-C is never an error: it ends with what was found so far.
"""

from __future__ import annotations

import sys
from typing import NoReturn

INTERRUPTED = 3


def main() -> NoReturn:
    """The entry point of the program `gangproof`."""
    try:
        from gangproof.cli.app import app
        from gangproof.cli.terminal import prepare

        prepare()
        app()
    except KeyboardInterrupt:
        print("inconclusive: interrupted before anything was found", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(0)
