"""The differences of a report as traces: the run that the scheduler made, up to where it went wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from gangproof.adapters.documents import Difference, DocumentResult
from gangproof.counterexamples import Trace
from gangproof.load.recorded import load_recorded_text
from gangproof.properties.conformance.recording import Look, Recording
from gangproof.properties.observed.history import History, UnmarkedError
from gangproof.properties.observed.judging import Broken, judge_history
from gangproof.properties.observed.promise import Case, Promise
from gangproof.properties.observed.tracing import trace_of
from gangproof.properties.observed.writing import history_of


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
            meta = (
                ("scheduler", scheduler),
                ("scenario", result.document.id),
                ("mode", str(difference.modes[0])),
            )
            yield trace_of(history, _broken(history, difference, result), meta, result.document.title)


def _broken(history: History, difference: Difference, result: DocumentResult) -> Broken:
    """The promise that broke; what a document expects is promised by it, at the look where it was judged."""
    for broken in judge_history(history):
        if broken.kind == difference.kind:
            return broken
    looks = [moment.index for moment in history.moments if isinstance(moment.what, Look)]
    at = looks[difference.look] if difference.look is not None else len(history.moments) - 1
    expected = Promise(difference.kind, result.document.title, (), lambda _: iter(()))
    return Broken(expected, Case(at, False, difference.found))
