"""Why some rules of docs/semantics.md are carried by no function or held by no test.

One place for all of them; `gangproof rules` shows the reason beside the rule, and a test asks that every rule
of the modelled sections is either kept or named here, and never both.
"""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {}
"""By ids, ranges allowed as in the document: why the rule is not implemented, or not tested."""
