"""Where the program is that runs the real kube-scheduler: on the command line, in the environment, in the checkout."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "GANGPROOF_KUBE_SCHEDULER"
BUILT = Path("adapters", "kube-scheduler", "bin", "kube-scheduler")
VERSION = "v1.36.3"
MISSING = "kube-scheduler adapter not found: run make kube-scheduler (needs Go)"


class NotBuiltError(Exception):
    """There is no such program; the text is the message."""


def find(binary: Path | None = None) -> Path:
    """The program: this one, or that of the environment variable, or the one that `make kube-scheduler` made.

    Raises NotBuiltError.
    """
    named = os.environ.get(VARIABLE)
    for path, origin in ((binary, "--binary"), (Path(named) if named else None, VARIABLE)):
        if path is not None:
            if not _runs(path):
                raise NotBuiltError(f"{origin}: found no program at {path}, expected one")
            return path
    checkout = Path(__file__).resolve().parents[2]
    for folder in (Path.cwd(), checkout):
        if _runs(folder / BUILT):
            return folder / BUILT
    raise NotBuiltError(MISSING)


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
