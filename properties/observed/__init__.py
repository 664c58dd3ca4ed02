"""Promises judged on what a scheduler was seen to do: its steps, its log and looks at the cluster, and no model."""

from gangproof.properties.observed.judging import PROMISES, Broken, judge, reached
from gangproof.properties.observed.promise import Case, Promise

__all__ = ["PROMISES", "Broken", "Case", "Promise", "judge", "reached"]
