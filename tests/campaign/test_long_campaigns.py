"""The same results on one process and on two, and whatever the hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gangproof.impl.profiles import V1_36_3
from gangproof.properties.campaign import local_processes, run
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import explore
from gangproof.properties.search.machine import Machine
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.worlds.named import NAMED

pytestmark = pytest.mark.campaign


def told(name: str) -> str:
    """All that a search of a named world in v1.36.3 finds, each counterexample with its actions."""
    found = explore(Machine(V1_36_3, [NAMED[name].world], key=Symmetry()), questions())
    runs = (" ".join(map(str, example.path.actions)) for example in found.counterexamples.values())
    return "\n".join([name, str(found), *runs])


def test_the_results_are_the_same_on_one_process_and_on_two_and_whatever_the_hash_seed() -> None:
    with local_processes(1) as one, local_processes(2) as two:
        results = [run(executor, told, list(NAMED)).results for executor in (one, two)]
    assert results[0] == results[1]
    assert len(results[0]) == len(NAMED)
    assert any("violated" in text for text in results[0].values())
    whole = "\n".join(results[0].values()) + "\n"
    for seed in ("1", "2"):
        again = subprocess.run(
            [sys.executable, Path(__file__)],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            timeout=600,
        )
        assert again.stdout.decode() == whole
    print(f"{len(NAMED)} worlds, {len(whole):,} characters, the same four times")


if __name__ == "__main__":
    for world in NAMED:
        print(told(world))
