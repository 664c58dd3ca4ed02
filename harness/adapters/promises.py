"""Running a scenario document on any scheduler, judged by the promises alone, whatever the document expects.

What a document expects is what Kubernetes v1.36 does; another scheduler may do otherwise and keep every promise.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator

from attrs import evolve

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
from gangproof.adapters.pictures import recording_of
from gangproof.adapters.protocol import Adapter
from gangproof.adapters.translate import NotRunnableError, Translation, translate
from gangproof.properties.conformance.events import Conditioned
from gangproof.properties.conformance.recording import Look, Recording
from gangproof.properties.observed import PROMISES, judge, reached
from gangproof.properties.observed.condition import CONDITION
from gangproof.properties.observed.judging import alive
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.verdict import Verdict

NAMES = tuple(promise.id for promise in PROMISES if promise is not alive)
"""The ids of the promises; that a run comes to its end is seen without them."""
SILENT = tuple(name for name in NAMES if name not in {promise.id for promise in CONDITION})
"""Those that a scheduler is asked which writes no conditions of groups."""
PLAIN = Mode(order="")
"""The one mode of a scheduler that has no options."""


def run_by_promises(
    adapter: Adapter, document: Scenario, can: Collection[str], watch: Watch = lambda _: None
) -> DocumentResult:
    """Run the document in each mode that the adapter has, and judge every run by the promises.

    Only the options in `can` are set. Conditions of groups are asked for if the scheduler writes any. A crash, a
    hang or an answer that is none is a difference.
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
    recordings = {id(one): recording_of(one.run) for one in played if not one.error}
    asked = set(NAMES if any(map(_tells_conditions, recordings.values())) else SILENT)

    def broken(one: Played) -> Iterator[tuple[str, str]]:
        for found in judge(recordings[id(one)]) if id(one) in recordings else ():
            if found.promise.id in asked:
                yield found.kind, found.case.words

    differences = (*failures(played), *differences_of(played, broken))
    came_to = {name for recording in recordings.values() for name in reached(recording) if name in asked}
    return DocumentResult(
        document,
        verdict_of(differences),
        len(played),
        differences,
        reached=tuple(sorted(came_to)),
        seconds=time.perf_counter() - began,
    )


def _within(translation: Translation, can: Collection[str]) -> Translation:
    """The document without options that the adapter does not have, and without attempts if it makes none.

    It ends with a look at the cluster at rest, or most promises could not be judged.
    """
    known = ALWAYS | set(can)
    setup = {name: value for name, value in translation.setup.items() if name in known}
    steps = translation.steps if "attempt" in can else translation.free
    steps = translation.steps if steps is None else steps
    if "snapshot" not in steps[-1]:
        steps = (*steps, {"settle": True}, {"snapshot": True})
    return evolve(translation, setup=setup, steps=steps)


def _tells_conditions(recording: Recording) -> bool:
    """Whether the condition of some group was ever seen."""
    looks = (step for step in recording.steps if isinstance(step, Look))
    written = any(isinstance(entry.event, Conditioned) for entry in recording.log)
    return written or any(condition is not None for look in looks for condition in look.groups.values())
