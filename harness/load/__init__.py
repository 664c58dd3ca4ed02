"""From text to objects: manifests, dumps and scenario files.

Text becomes plain data under guards (`text`), is held against the shape of its kind (`schema`, `fields`)
and the rules of the API server, and becomes values (`decode`). Whatever is wrong is an `InputError` that
tells file, line, field, what was found and what is expected.
"""

from gangproof.load.files import is_scenario_file
from gangproof.load.manifests import Loaded, Unmodelled, load_manifests, load_manifests_text
from gangproof.load.scenario import load_scenarios, load_scenarios_text

__all__ = [
    "Loaded",
    "Unmodelled",
    "is_scenario_file",
    "load_manifests",
    "load_manifests_text",
    "load_scenarios",
    "load_scenarios_text",
]
