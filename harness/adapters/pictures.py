"""The differences of a report as traces: the run that the scheduler made, up to where it went wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from gangproof.adapters.documents import Difference, DocumentResult
from gangproof.counterexamples import Trace
from gangproof.load.recorded import load_recorded_text
from gangproof.properties.conformance.recording import Look, Recording
from gangproof.properties.observed.history import History, UnmarkedError, history_of
from gangproof.properties.observed.judging import judge_history
from gangproof.properties.observed.pictures import Story, draw


def recording_of(run: object, name: str = "run") -> Recording:
    """A recorded run as plain data, read like one from a file. Raises InputError."""
    (recording,) = load_recorded_text(json.dumps(run), name)
    return recording


def traces(results: Iterable[DocumentResult], scheduler: str) -> Iterator[Trace]:
    """A trace for each difference whose run came to its end."""
    for result in results:
        for difference in result.differences:
            try:
                history = history_of(recording_of(difference.run, result.document.id))
            except UnmarkedError:
                continue
            yield _trace(history, difference, result, scheduler)


def _trace(history: History, difference: Difference, result: DocumentResult, scheduler: str) -> Trace:
    meta = (
        ("scheduler", scheduler),
        ("scenario", result.document.id),
        ("mode", str(difference.modes[0])),
    )
    title = result.document.title
    broken = next((b for b in judge_history(history) if b.kind == difference.kind), None)
    if broken is not None:
        case, promise = broken.case, broken.promise
        story = Story(
            promise.id, title, case.words, promise.claim, promise.cites, case.about, case.numbers, meta
        )
        return draw(history, case.at, story)
    looks = [moment.index for moment in history.moments if isinstance(moment.what, Look)]
    at = looks[difference.look] if difference.look is not None else len(history.moments) - 1
    return draw(history, at, Story(difference.kind, title, difference.found, meta=meta))
