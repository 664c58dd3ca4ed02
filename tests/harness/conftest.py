"""What the tests of the front door share: running the command, in this process or as a program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from front_door import PROGRAM
from typer.testing import CliRunner, Result


@pytest.fixture
def gangproof_command() -> Callable[..., Result]:
    """Runs the command in this process, with its standard input if there is any."""
    from gangproof.cli.app import app

    def run(*arguments: object, input: str | None = None) -> Result:
        return CliRunner().invoke(app, [str(a) for a in arguments], input=input, catch_exceptions=False)

    return run


@pytest.fixture
def program() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the installed program, with more environment variables if need be."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [PROGRAM, *(str(a) for a in arguments)],
            capture_output=True,
            env={**os.environ, **environment},
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def scenario_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes documents to a scenario file."""

    def write(*documents: str, name: str = "it.scenario.yaml") -> Path:
        path = tmp_path / name
        path.write_text("---\n".join(documents), encoding="utf-8")
        return path

    return write
