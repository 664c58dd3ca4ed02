"""Faults that are known and not built, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

CLAIMS = "claims are not modelled yet"
JOBS = "Jobs and their controller are not modelled yet"
LAG = "the scheduler sees every pod at once, so no list of members is old"

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
    "F-79": ("window-closed-by-the-first-try", JOBS),
    "F-80": ("zero-minimum-from-parallelism", JOBS),
    "F-84": ("member-failure-recreates-group", JOBS),
    "F-85": ("creator-waits-for-first-member", JOBS),
    "F-86": (
        "admission-needs-a-ready-group",
        "a pod that is refused leaves no trace in the world, so no property can speak of it",
    ),
    "F-87": ("restart-admits-dying-pod", "the scheduler does not restart yet"),
    "F-89": ("member-list-older-than-group", LAG),
    "F-90": ("recreate-for-a-dying-group", JOBS),
}
"""Name and reason of each fault that is known and not built, by id."""
