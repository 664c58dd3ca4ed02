"""Running a scenario document on an adapter, in many modes, and saying whether it holds there."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from attrs import evolve, field, frozen

from gangproof.adapters import answers
from gangproof.adapters.judge import at_rest, wrong
from gangproof.adapters.modes import MODES, Mode, more
from gangproof.adapters.protocol import Adapter
from gangproof.adapters.races import struck
from gangproof.adapters.record import Run, record
from gangproof.adapters.translate import Check, NotRunnableError, Translation, translate
from gangproof.properties.scenarios.document import Attempt, Expect, Possible, Scenario
from gangproof.properties.verdict import Verdict

ALWAYS = frozenset({"name", "gates", "create", "delete"})
"""The setup options and steps that every adapter has, or may leave unheeded."""
MODES_SHOWN = 3
PLAIN = (Mode(order="arrival"), Mode(seed=1))
"""The modes of runs that are recorded for the model to follow."""
Watch = Callable[[str], None]


@frozen
class Difference:
    """What a scheduler should do and does not do.

    `kind` is `expect`, `possible` or `attempt` of the document, the id of a promise, or how a run failed:
    `crash`, `hang`, `answer`. `found` says what was found instead, `modes` in which of the `of` runs, `line` where
    the document says otherwise (0 if it does not). `run` is the first recorded run that shows it, `look` the number of
    the look in it where it does.
    """

    kind: str
    found: str
    line: int
    modes: tuple[Mode, ...]
    of: int
    run: Run = field(eq=False, repr=False)
    look: int | None = None

    @property
    def message(self) -> str:
        """What was found, and in which runs."""
        names = ", ".join(map(str, self.modes[:MODES_SHOWN]))
        rest = len(self.modes) - MODES_SHOWN
        others = f" and {rest} more" if rest > 0 else ""
        return f"{self.found} (in {len(self.modes)} of {self.of} runs: {names}{others})"


@frozen
class DocumentResult:
    """What running one document came to; `why_not` tells why it was not run, if it was not.

    `raced` are differences in runs that a race of v1.36.3 has struck, with its id as their kind. `reached`
    are the promises whose interesting case some run came to, where promises are what is judged.
    """

    document: Scenario
    verdict: Verdict
    runs: int = 0
    differences: tuple[Difference, ...] = ()
    raced: tuple[Difference, ...] = ()
    reached: tuple[str, ...] = ()
    why_not: str = ""
    seconds: float = field(default=0.0, eq=False)


@frozen
class Played:
    """One recorded run of a document, in its mode."""

    mode: Mode
    run: Run

    @property
    def error(self) -> str:
        return self.run["result"].get("error") or ""


def run_document(
    adapter: Adapter,
    document: Scenario,
    can: Collection[str],
    watch: Watch = lambda _: None,
    modes: Sequence[Mode] = MODES,
) -> DocumentResult:
    """Run the document in these modes, and in more if something that must be possible was not met.

    `can` is what the adapter says it has. `expect` and `attempt` must be met in every run, `possible` in at least
    one; attempts are judged where cycles do not run side by side. A crash, a hang or an answer that is none is a
    difference. In a document that names no profile, what a race explains is none.
    """
    began = time.perf_counter()
    try:
        if document.profile == "intended":
            raise NotRunnableError("profile intended")
        translation = translate(document)
        check_steps(translation, can)
        played = [play(adapter, translation, mode, watch) for mode in usable(translation, modes)]
        check_refusals(played)
    except NotRunnableError as error:
        return DocumentResult(document, Verdict.NOT_SUPPORTED, why_not=str(error))
    missed = [check for check in translation.checks if _is_missed(check, played)]
    for mode in more(freely=translation.free is not None) if missed else ():
        one = play(adapter, translation, mode, watch)
        played.append(one)
        missed = [check for check in missed if one.error or _found(check, one) is not None]
        if not missed:
            break
    differences = [d for check in translation.checks for d in _unmet(check, document, played)]
    raced = tuple(d for d in differences if d.kind.startswith("DEV"))
    differences = (*failures(played), *(d for d in differences if d not in raced))
    return DocumentResult(
        document,
        verdict_of(differences),
        len(played),
        differences,
        raced,
        seconds=time.perf_counter() - began,
    )


def plain_runs(
    adapter: Adapter, documents: Iterable[Scenario], watch: Watch = lambda _: None
) -> Iterator[Run]:
    """Runs that the model can follow, of each document that can be run: cycle by cycle, without inner steps.

    With the order of members pinned, and with the scheduler's own. A run that failed, or never came to rest, is left
    out.
    """
    can = frozenset(answers.hello(adapter.hello()).get("can") or ())
    for document in documents:
        watch(f"recording {document.id}")
        try:
            translation = translate(document)
            check_steps(translation, can)
        except NotRunnableError:
            continue
        told = evolve(translation, setup={**translation.setup, "trace": False, "restless": False})
        for mode in PLAIN:
            one = play(adapter, told, mode, watch)
            if not one.error:
                name = {"name": f"{document.id} ({mode})"}
                yield {**one.run, "scenario": {**one.run["scenario"], **name}}


def usable(translation: Translation, modes: Iterable[Mode]) -> Iterator[Mode]:
    """The modes in which what is done means what the document says."""
    return (mode for mode in modes if mode.stepwise or translation.free is not None)


def check_steps(translation: Translation, can: Collection[str]) -> None:
    """Raises NotRunnableError if a step is not among those that the adapter says it has."""
    needed = {name for step in translation.steps for name in step} - {"settle", "snapshot", "during"}
    lacking = sorted(needed - ALWAYS - set(can))
    if lacking:
        raise NotRunnableError(f"the adapter has no step {', '.join(lacking)}")


def check_refusals(played: Iterable[Played]) -> None:
    """Raises NotRunnableError if a run was refused."""
    for one in played:
        if one.error.startswith("refused"):
            raise NotRunnableError(one.error)


def verdict_of(differences: Collection[Difference]) -> Verdict:
    """Violated, unless all that is wrong is the form of an answer: that says nothing about the scheduler."""
    if not differences:
        return Verdict.HOLDS
    alone = all(difference.kind == "answer" for difference in differences)
    return Verdict.INCONCLUSIVE if alone else Verdict.VIOLATED


def play(adapter: Adapter, translation: Translation, mode: Mode, watch: Watch) -> Played:
    """One run."""
    watch(str(mode))
    steps = translation.steps if mode.stepwise else translation.free
    assert steps is not None, "a mode in which the document cannot be run"
    return Played(mode, record(adapter, {**translation.setup, **mode.options}, steps))


def failures(played: Sequence[Played]) -> Iterator[Difference]:
    """The ways in which runs failed, each once."""
    yield from differences_of(
        played, lambda one: [(one.error.partition(":")[0], one.error)] if one.error else []
    )


def differences_of(
    played: Sequence[Played],
    told: Callable[[Played], Iterable[tuple[str, str]]],
    line: int = 0,
    look: int | None = None,
) -> Iterator[Difference]:
    """What is told of runs, as pairs of kind and text: each pair once, with the runs of which it is told."""
    those: dict[tuple[str, str], list[Played]] = {}
    for one in played:
        for pair in told(one):
            those.setdefault(pair, []).append(one)
    for (kind, text), some in those.items():
        modes = tuple(one.mode for one in some)
        yield Difference(kind, text, line, modes, len(played), some[0].run, look)


def _found(check: Check, one: Played) -> str | None:
    """What is wrong with a run by this check; None too for a run that failed, and for an attempt side by side."""
    if one.error or (isinstance(check.step, Attempt) and not one.mode.stepwise):
        return None
    return wrong(check, one.run)


def _is_missed(check: Check, played: Iterable[Played]) -> bool:
    """Whether what must be possible was met in none of the runs that came to their ends."""
    ended = [one for one in played if not one.error]
    return isinstance(check.step, Possible) and all(_found(check, one) is not None for one in ended)


def _unmet(check: Check, document: Scenario, played: Sequence[Played]) -> Iterator[Difference]:
    """How runs do not meet the check, or which race has struck them; nothing if what must be possible was met."""
    if isinstance(check.step, Possible) and not _is_missed(check, played):
        return

    def told(one: Played) -> Iterator[tuple[str, str]]:
        text = _found(check, one)
        if text is not None:
            race = None
            if isinstance(check.step, Expect) and document.profile is None and not one.mode.stepwise:
                race = struck(*at_rest(check, one.run))
            yield race or check.kind, text

    yield from differences_of(played, told, check.step.line, check.looks[-1])
