"""Running a scenario document on an adapter, in many modes, and saying whether it holds there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import field, frozen

from gangproof.adapters.judge import wrong
from gangproof.adapters.modes import MODES, Mode, more
from gangproof.adapters.protocol import Adapter
from gangproof.adapters.record import Run, record
from gangproof.adapters.translate import Check, NotRunnableError, Step, Translation, translate
from gangproof.properties.scenarios.document import Attempt, Possible, Scenario
from gangproof.properties.verdict import Verdict

BUILT_IN = frozenset({"create", "delete"})
"""The steps that every adapter has."""
MODES_SHOWN = 3


@frozen
class Difference:
    """What a document says and the scheduler does not do.

    `kind` is `expect`, `possible` or `attempt`, or how a run failed: `crash`, `hang`, `answer`; `found`
    says what was found instead, in which of the runs, `line` where the document says otherwise. `run` is the
    first recorded run that shows it.
    """

    kind: str
    found: str
    line: int
    modes: tuple[Mode, ...]
    of: int
    run: Run = field(eq=False, repr=False)

    @property
    def message(self) -> str:
        names = ", ".join(map(str, self.modes[:MODES_SHOWN]))
        rest = len(self.modes) - MODES_SHOWN
        others = f" and {rest} more" if rest > 0 else ""
        return f"{self.found} (in {len(self.modes)} of {self.of} runs: {names}{others})"


@frozen
class DocumentResult:
    """What running one document came to; `why_not` tells why it was not run, if it was not."""

    document: Scenario
    verdict: Verdict
    runs: int = 0
    differences: tuple[Difference, ...] = ()
    why_not: str = ""
    seconds: float = field(default=0.0, eq=False)


@frozen
class _Played:
    mode: Mode
    run: Run

    @property
    def error(self) -> str:
        return self.run["result"].get("error") or ""


def run_document(
    adapter: Adapter,
    document: Scenario,
    modes: Sequence[Mode] = MODES,
    watch: Callable[[str], None] = lambda _: None,
) -> DocumentResult:
    """Run the document in these modes, and in more if something that must be possible was not met.

    `expect` and `attempt` must be met in every run, `possible` in at least one. Attempts are judged where
    cycles do not run side by side. A crash, a hang or an answer that is none is a difference.
    """
    began = time.perf_counter()
    try:
        translation = translate(document)
        _check_steps(translation.steps, adapter.hello().get("can"))
    except NotRunnableError as error:
        return DocumentResult(document, Verdict.NOT_SUPPORTED, why_not=str(error))
    played = [_play(adapter, translation, mode, watch) for mode in modes]
    refused = [one for one in played if one.error.startswith("refused")]
    if refused:
        return DocumentResult(
            document, Verdict.NOT_SUPPORTED, len(played), why_not=refused[0].error, seconds=_since(began)
        )
    missed = [check for check in translation.checks if _is_missed(check, played)]
    for mode in more() if missed else ():
        one = _play(adapter, translation, mode, watch)
        played.append(one)
        missed = [check for check in missed if _found(check, one) is not None]
        if not missed:
            break
    differences = (
        *_failures(played),
        *(f for check in translation.checks for f in _differences(check, played)),
    )
    return DocumentResult(
        document,
        Verdict.VIOLATED if differences else Verdict.HOLDS,
        len(played),
        differences,
        seconds=_since(began),
    )


def _since(began: float) -> float:
    return time.perf_counter() - began


def _check_steps(steps: Sequence[Step], can: Any) -> None:
    """Raises NotRunnableError if a step is not among those that the adapter says it has."""
    needed = {name for step in steps for name in step} - BUILT_IN - {"settle", "snapshot", "during"}
    lacking = sorted(needed - set(can or needed))
    if lacking:
        raise NotRunnableError(f"the scheduler's adapter has no step {', '.join(lacking)}")


def _play(adapter: Adapter, translation: Translation, mode: Mode, watch: Callable[[str], None]) -> _Played:
    watch(str(mode))
    setup, steps = translation.in_mode(mode)
    return _Played(mode, record(adapter, setup, steps))


def _found(check: Check, one: _Played) -> str | None:
    """What is wrong with a run by this check; None too for a run that failed, and for an attempt side by side."""
    if one.error or (isinstance(check.step, Attempt) and one.mode.eager):
        return None
    return wrong(check, one.run)


def _is_missed(check: Check, played: Iterable[_Played]) -> bool:
    """Whether nothing of what must be possible was met in any run that came to its end."""
    ended = [one for one in played if not one.error]
    return isinstance(check.step, Possible) and all(_found(check, one) is not None for one in ended)


def _failures(played: Sequence[_Played]) -> Iterable[Difference]:
    by_error: dict[str, list[_Played]] = {}
    for one in played:
        if one.error:
            by_error.setdefault(one.error, []).append(one)
    for error, those in by_error.items():
        yield _difference(error.partition(":")[0], error, 0, those, len(played))


def _differences(check: Check, played: Sequence[_Played]) -> Iterable[Difference]:
    by_text: dict[str, list[_Played]] = {}
    if not isinstance(check.step, Possible) or _is_missed(check, played):
        for one in played:
            text = _found(check, one)
            if text is not None:
                by_text.setdefault(text, []).append(one)
    for text, those in by_text.items():
        yield _difference(check.kind, text, check.step.line, those, len(played))


def _difference(kind: str, text: str, line: int, those: Sequence[_Played], of: int) -> Difference:
    return Difference(kind, text, line, tuple(one.mode for one in those), of, those[0].run)
