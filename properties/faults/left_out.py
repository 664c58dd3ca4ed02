"""Faults that are known and not built, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

LEFT_OUT: Mapping[str, tuple[str, str]] = {
    "F-86": (
        "admission-needs-a-ready-group",
        "a pod that is refused leaves no trace in the world, so no property can speak of it",
    ),
}
"""Name and reason of each fault that is known and not built, by id."""
