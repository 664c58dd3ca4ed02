"""Faults that are known and not built, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

CLAIMS = "claims are not modelled yet"

LEFT_OUT: Mapping[str, tuple[str, str]] = {
    "F-58": ("sibling-blocked-by-pending-claim", CLAIMS),
    "F-59": ("pending-entry-has-no-sharers", CLAIMS),
    "F-60": ("sibling-allocation-looks-foreign", CLAIMS),
    "F-61": ("undo-restores-an-older-claim", CLAIMS),
    "F-62": ("pending-reach-ignored", CLAIMS),
    "F-64": ("shared-counter-charged-once", CLAIMS),
    "F-67": ("simulated-device-survives-undo", CLAIMS),
    "F-69": ("shared-claim-charged-per-member", CLAIMS),
    "F-77": ("claim-made-per-member", CLAIMS),
    "F-78": ("first-entry-ends-the-loop", CLAIMS),
    "F-86": (
        "admission-needs-a-ready-group",
        "a pod that is refused leaves no trace in the world, so no property can speak of it",
    ),
}
"""Name and reason of each fault that is known and not built, by id."""
