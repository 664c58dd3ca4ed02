"""Documents on an adapter, one after the other: what `gangproof conform` does, without the command line.

A failure in one document never ends the others; an interruption ends with what there is by then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from gangproof.adapters import answers
from gangproof.adapters.documents import DocumentResult, Watch, run_document
from gangproof.adapters.protocol import Adapter
from gangproof.adapters.report import AdapterReport
from gangproof.properties.scenarios.document import Scenario

Runner = Callable[[Adapter, Scenario, Collection[str], Watch], DocumentResult]


def conform(
    adapter: Adapter,
    documents: Sequence[Scenario],
    runner: Runner = run_document,
    watch: Watch = lambda _: None,
    promises: tuple[str, ...] = (),
) -> AdapterReport:
    """The report on the documents, each run by the runner; `promises` are the ids of those that it judges.

    Raises AdapterError if the adapter does not even say who it is.
    """
    who = answers.hello(adapter.hello())
    scheduler = " ".join(filter(None, (who["name"], who.get("version"))))
    can = frozenset(who.get("can") or ())
    results: list[DocumentResult] = []
    unfinished: tuple[str, ...] = ()
    for number, document in enumerate(documents, 1):
        told = f"scenario {number} of {len(documents)}, {document.id}"
        watch(told)
        try:
            results.append(runner(adapter, document, can, lambda what, told=told: watch(f"{told}: {what}")))
        except KeyboardInterrupt:
            unfinished = tuple(rest.id for rest in documents[len(results) :])
            break
    return AdapterReport(scheduler, tuple(results), unfinished, promises)
