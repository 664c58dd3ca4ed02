"""Faults that are known and not built, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

PREEMPTION = "a fault of preemption; those are not written yet"
CLAIMS = "claims are not modelled yet"
JOBS = "Jobs and their controller are not modelled yet"
LAG = "views are prompt, so nothing is judged by an old copy"
IN_FLIGHT = "a member is in flight exactly while its cycle runs, so no mark of it can be left behind"

LEFT_OUT: Mapping[str, tuple[str, str]] = {
    "F-27": (
        "count-and-members-from-two-instants",
        "no rule asks whether the minimum can still be reached, and whoever arrives takes the pending along",
    ),
    "F-28": ("skipped-member-is-not-closed", IN_FLIGHT),
    "F-30": ("half-registered-pop", IN_FLIGHT),
    "F-42": ("waiting-victim-is-deleted", PREEMPTION),
    "F-44": (
        "pop-pulls-only-active-siblings",
        "siblings leave the backoff together and no tried member waits in the pool, so they meet all the same",
    ),
    "F-54": ("late-bind-revives-victim", PREEMPTION),
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
    "F-81": ("main-write-touches-status", "the API's main resource and its status are one value"),
    "F-84": ("member-failure-recreates-group", JOBS),
    "F-85": ("creator-waits-for-first-member", JOBS),
    "F-86": ("admission-needs-a-ready-group", "no property speaks of a pod that was refused in vain yet"),
    "F-87": ("restart-admits-dying-pod", "the scheduler does not restart yet"),
    "F-89": ("member-list-older-than-group", LAG),
    "F-90": ("recreate-for-a-dying-group", JOBS),
}
"""Name and reason of each fault that is known and not built, by id."""
