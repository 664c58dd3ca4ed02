"""Why a group or a pod is where it is: what holds it, the numbers that decide, and the smallest change that helps."""

from gangproof.properties.explanation.explain import UnknownNameError, explain
from gangproof.properties.explanation.model import Explanation

__all__ = ["Explanation", "UnknownNameError", "explain"]
