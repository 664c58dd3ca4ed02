"""Counterexamples: what happened, made small, explained and drawn, free of the engine that found it.

`Trace` is the data; `explain` tells it, `draw` shows it in any of `FORMATS`, `shrink` makes the run behind
it small, and the modules `json` and `itf` write and read it.
"""

from gangproof.counterexamples import itf, json
from gangproof.counterexamples.changes import Change, changes
from gangproof.counterexamples.draw import DrawingError, picture
from gangproof.counterexamples.explain import explain
from gangproof.counterexamples.forms import FORMATS, draw
from gangproof.counterexamples.json import TraceFormatError, dumps, loads
from gangproof.counterexamples.reproduce import NoScenarioError, as_pytest, as_scenario
from gangproof.counterexamples.shrink import Shrunk, minimise, shrink, smaller
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
    "FORMATS",
    "Action",
    "Amounts",
    "Argument",
    "Change",
    "ClaimView",
    "DrawingError",
    "Event",
    "Frame",
    "GroupView",
    "Labels",
    "NoScenarioError",
    "NodeView",
    "PodState",
    "PodView",
    "Shrunk",
    "Trace",
    "TraceFormatError",
    "Verdict",
    "View",
    "Wait",
    "as_pytest",
    "as_scenario",
    "changes",
    "draw",
    "dumps",
    "explain",
    "itf",
    "json",
    "loads",
    "minimise",
    "picture",
    "shrink",
    "smaller",
]
