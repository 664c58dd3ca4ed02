"""What a finding is, and where its world, its recorded run and its measured share are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

from gangproof.load.recorded import load_recorded
from gangproof.load.worlds import load_worlds
from gangproof.properties.conformance.recording import Recording

Status = Literal["no public report found", "reported", "repaired in v1.37", "documented limit"]
ROOT = Path(__file__).resolve().parents[2]
WORLDS = Path("scenarios", "findings")
RUNS = Path("tests", "data", "findings.jsonl")
SHARES = WORLDS / "shares.json"
PICTURES = Path("docs", "pictures")
PAGE = Path("docs", "findings.md")


@frozen
class Finding:
    """A kind of breaking a promise on the real scheduler.

    `kind` is the promise's id with the aspect, as the judges tell it. `happens` says what happens, `said` what can
    fairly be said of it: what is documented, reported or repaired. `see` are reports, as `kubernetes#138967`.
    `near` names what is known in docs/semantics.md.
    """

    id: str
    kind: str
    title: str
    status: Status
    happens: str
    said: str
    see: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def world_file(self) -> Path:
        """The world that shows it, from the checkout's folder."""
        return WORLDS / f"{self.id}.world.yaml"

    @property
    def picture_file(self) -> Path:
        """Its picture, from the checkout's folder."""
        return PICTURES / f"finding-{self.id}.svg"


def world_of(finding: Finding, root: Path = ROOT) -> Mapping[str, Any]:
    """The world that shows the finding."""
    (world,) = load_worlds(root / finding.world_file)
    return world


def runs(root: Path = ROOT) -> dict[str, Recording]:
    """The recorded run of each finding, by the finding's id."""
    return {recording.name: recording for recording in load_recorded(root / RUNS)}


def shares(root: Path = ROOT) -> Mapping[str, tuple[int, int]]:
    """For each finding, by its id, in how many of how many measured runs it showed."""
    return {name: tuple(counted) for name, counted in json.loads((root / SHARES).read_text()).items()}
