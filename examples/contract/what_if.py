"""What if the scheduler, or what is asked of it, were otherwise?

    python examples/contract/what_if.py FILE.py DIR MANIFEST…

FILE.py defines a `change` of the machinery, a `contract` to judge it by, what is `left_open`, or several of these.
Every run of the manifests is explored; each promise that breaks is told in its smallest run and drawn into DIR.
"""

import runpy
import sys
from pathlib import Path

import gangproof
from gangproof.counterexamples import draw, explain
from gangproof.impl.profiles import INTENDED
from gangproof.impl.rules import Change, profile
from gangproof.impl.world import Settings
from gangproof.properties.check import Openness, check, initial_world
from gangproof.properties.judges.everything import questions
from gangproof.properties.search.explore import Limits
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.telling.traces import Meta, cluster_trace
from gangproof.spec import CONTRACT


def main(file, folder, *manifests):
    """Explore and tell; the exit code is that of the verdict."""
    defined = runpy.run_path(file)
    rules = profile(INTENDED, defined.get("change", Change("unchanged", "")))
    asked = questions(defined.get("contract", CONTRACT))
    left_open = defined.get("left_open", Openness())
    loaded = gangproof.load_manifests(manifests)
    settings = Settings(gates=loaded.gates)
    world = initial_world(loaded.objects, rules, settings, left_open)
    found = check(world, rules, asked, Limits(50_000), Symmetry())
    print(f"{found.verdict}: {found.exploration.states:,} states")
    meta = Meta("intended", str(loaded.gates), "explorer", (("file", Path(file).name),))
    for name, example in sorted(found.counterexamples.items()):
        trace = cluster_trace(example, loaded.objects, rules, settings, left_open, asked, meta)
        picture = Path(folder, f"{name}.svg")
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_text(draw(trace, "svg"), encoding="utf-8")
        print(f"\n{explain(trace)}saved: {picture}")
    return found.verdict.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
