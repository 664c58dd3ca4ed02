"""Running a scenario document on any scheduler, judged by the promises alone, whatever the document expects.

What a document expects is what Kubernetes v1.36 does; another scheduler may do otherwise and keep every promise.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator

from gangproof.adapters.documents import (
    ALWAYS,
    DocumentResult,
    Played,
    Watch,
    check_refusals,
    check_steps,
    differences_of,
    failures,
    play,
    usable,
    verdict_of,
)
from gangproof.adapters.modes import MODES, Mode
from attrs import evolve

from gangproof.adapters.protocol import Adapter, Data
from gangproof.adapters.translate import NotRunnableError, Translation, translate
from gangproof.load.recorded import load_recorded_text
from gangproof.properties.conformance.recording import Recording
from gangproof.properties.observed import judge, reached
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.verdict import Verdict

PLAIN = Mode(order="")
"""The one mode of a scheduler that has no options."""


def run_by_promises(
    adapter: Adapter, document: Scenario, can: Collection[str], watch: Watch = lambda _: None
) -> DocumentResult:
    """Run the document in each mode that the adapter has, and judge every run by the promises.

    Only the options in `can` are set. A crash, a hang or an answer that is none is a difference.
    """
    began = time.perf_counter()
    try:
        translation = _within(translate(document), can)
        check_steps(translation, can)
        modes = [mode for mode in usable(translation, MODES) if mode.options.keys() <= set(can)] or [PLAIN]
        played = [play(adapter, translation, mode, watch) for mode in modes]
        check_refusals(played)
    except NotRunnableError as error:
        return DocumentResult(document, Verdict.NOT_SUPPORTED, why_not=str(error))
    recordings = {id(one): _recording(one.run) for one in played if not one.error}

    def broken(one: Played) -> Iterator[tuple[str, str]]:
        for found in judge(recordings[id(one)]) if id(one) in recordings else ():
            yield found.kind, found.case.words

    differences = (*failures(played), *differences_of(played, broken))
    came_to = {name for recording in recordings.values() for name in reached(recording)}
    return DocumentResult(
        document,
        verdict_of(differences),
        len(played),
        differences,
        tuple(sorted(came_to)),
        seconds=time.perf_counter() - began,
    )


def _within(translation: Translation, can: Collection[str]) -> Translation:
    """The document without options that the adapter does not have, and without attempts if it makes none."""
    known = ALWAYS | set(can)
    setup = {name: value for name, value in translation.setup.items() if name in known}
    steps = translation.steps if "attempt" in can else translation.free
    return evolve(translation, setup=setup, steps=steps or translation.steps)


def _recording(run: Data) -> Recording:
    (recording,) = load_recorded_text(json.dumps(run), str(run["scenario"].get("name")))
    return recording
