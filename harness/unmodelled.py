"""Why some rules of docs/semantics.md are carried by no function or held by no test.

One place for all of them; `gangproof rules` shows the reason beside the rule, and a test asks that every rule
of the modelled sections is either kept or named here, and never both.
"""

from __future__ import annotations

from collections.abc import Mapping

CLAIMS = "not modelled: there are no resource claims, their controller and their plugin"
JOBS = "not modelled: there is no Job and no Job controller"

REASONS: Mapping[str, str] = {
    "DEV-39, DEV-40, DEV-41, DEV-42, DEV-43, DEV-44, DEV-45, DEV-50, DEV-54": CLAIMS,
    "DEV-46, DEV-48": JOBS,
    "DEV-16": "not modelled: status writes are synchronous and pods are seen promptly, so a nomination is in memory"
    " and in the status, or in neither",
    "DEV-21": "no change of its own: that members are lost after the verdict and True is written all the same follows"
    " from the commit member by member (DEV-19, DEV-52)",
}
"""By ids, ranges allowed as in the document: why the rule is not implemented, or not tested."""
