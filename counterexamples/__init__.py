"""Counterexamples: what happened, made small, explained and drawn, free of the engine that found it."""

from gangproof.counterexamples.trace import (
    Action,
    Amounts,
    Argument,
    ClaimView,
    Event,
    Frame,
    GroupView,
    Labels,
    NodeView,
    PodState,
    PodView,
    Trace,
    Verdict,
    View,
    Wait,
)

__all__ = [
    "Action",
    "Amounts",
    "Argument",
    "ClaimView",
    "Event",
    "Frame",
    "GroupView",
    "Labels",
    "NodeView",
    "PodState",
    "PodView",
    "Trace",
    "Verdict",
    "View",
    "Wait",
]
