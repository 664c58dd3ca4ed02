"""Scenario files: each document, held against the format, as a `Scenario`.

What cannot be meant is an error with its line: unknown keys, patterns that run backwards, names of objects
that the document never creates. Lines of steps and expectations are kept, so that a verdict can point at
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any, cast, get_args

from gangproof.errors import InputError
from gangproof.impl.gates import NAMES, SCENARIO_GATES, FeatureGates
from gangproof.impl.objects import Job, Pod, PodGroup
from gangproof.impl.objects.checks import entries_of, fields_of, shown
from gangproof.impl.objects.validation import Path
from gangproof.impl.table import Table
from gangproof.load.creations import Creations, reference
from gangproof.load.files import read
from gangproof.load.lines import Place, lines
from gangproof.load.names import UnreadableError, milliseconds, refs
from gangproof.load.report import Item, Report
from gangproof.load.scenario_fields import SCENARIO
from gangproof.load.schema import Misfit, is_mapping, walk
from gangproof.load.steps import Steps
from gangproof.load.text import Document, Text, documents
from gangproof.properties.scenarios import document as doc
from gangproof.properties.scenarios.expectations import (
    Allocated,
    ConditionIs,
    Exists,
    Expectation,
    InState,
    OnNode,
    ReservedFor,
    Together,
)
from gangproof.properties.scenarios.features import created
from gangproof.properties.scenarios.records import Created, Ref

VERSION = "1.36"
HIGHEST_SCORE = 100


def load_scenarios(path: str | FilePath) -> tuple[doc.Scenario, ...]:
    """The scenarios in a file, or in standard input (`-`); InputError if anything is wrong with one."""
    name, text = read(path)
    return load_scenarios_text(text, name)


def load_scenarios_text(text: str, name: str = "<text>") -> tuple[doc.Scenario, ...]:
    """The scenarios in a text; InputError if anything is wrong with one."""
    report = Report()
    found: list[Document] = []
    try:
        found.extend(documents(name, text))
    except InputError as error:
        report.broken.append(error)
    wanted = [place for item in found for place in _places(item)]
    known = lines(Text(name, text, json=found[0].text.json), wanted) if found else dict[Place, int]()
    scenarios = [_scenario(document, known, report) for document in found]
    first: dict[str, doc.Scenario] = {}
    for document, scenario in zip(found, scenarios, strict=True):
        if scenario is not None and first.setdefault(scenario.id, scenario) is not scenario:
            report.error(_item(document), ("scenario",), f"{shown(scenario.id)} again", "a unique id")
    report.check()
    return tuple(scenario for scenario in scenarios if scenario is not None)


def _item(document: Document) -> Item:
    data = document.data
    name = data.get("scenario") if is_mapping(data) else None
    return Item(document, (), f"scenario {name}" if isinstance(name, str) else "scenario", data)


def _places(document: Document) -> Iterator[tuple[int, Path]]:
    """Where the lines are wanted that a scenario keeps: of itself, its steps, its expectations."""
    yield document.number, ()
    if not is_mapping(document.data) or not isinstance(document.data.get("steps"), list):
        return
    for path, step in _nested(document.data["steps"], ("steps",)):
        for name, value in step.items():
            yield document.number, (*path, name)
            if name in ("expect", "possible") and is_mapping(value):
                yield from ((document.number, (*path, name, key)) for key in value)


def _nested(steps: Iterable[Any], path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for place, step in enumerate(steps):
        if not is_mapping(step):
            continue
        yield (*path, place), step
        attempt = step.get("attempt")
        if is_mapping(attempt) and isinstance(attempt.get("during"), list):
            yield from _nested(attempt["during"], (*path, place, "attempt", "during"))


def _scenario(
    document: Document, known: Mapping[tuple[int, Path], int], report: Report
) -> doc.Scenario | None:
    item, data = _item(document), document.data
    before = report.error_count

    def misfit(found: Misfit) -> None:
        report.error(item, found.path, found.found, found.expected or "what is modelled", found.hint)

    def tell(error: UnreadableError) -> None:
        report.error(item, error.path, error.found, error.expected, error.hint)

    def line(path: Path) -> int:
        return known.get((document.number, path), 0)

    walk(SCENARIO, data, misfit)
    if report.error_count > before:
        return None
    for key in ("scenario", "title", "steps"):
        if not data.get(key):
            report.error(item, (key,), "nothing", f"a scenario with {key}")
    try:
        gates, scheduler, profile = _gates(data), _scheduler(data), _profile(data)
        rejected = frozenset(_rejected(data))
    except UnreadableError as error:
        tell(error)
        return None
    steps = Steps(Creations(gates, rejected), line, tell).read(entries_of(data.get("steps")), ("steps",))
    if report.error_count > before:
        return None
    scenario = doc.Scenario(
        id=data["scenario"],
        title=data["title"],
        steps=steps,
        gates=gates,
        scheduler=scheduler,
        profile=profile,
        source=data.get("source") or "",
        verified=bool(data.get("verified")),
        unverified=bool(data.get("unverified")),
        file=document.text.name,
        line=line(()),
    )
    _check_names(scenario, item, report)
    return scenario


def _profile(data: Mapping[str, Any]) -> doc.Profile | None:
    version = data.get("kubernetes")
    if version is not None and str(version) != VERSION:
        raise UnreadableError(("kubernetes",), shown(version), f'"{VERSION}"')
    if data.get("verified") not in (None, "v1.36.3"):
        raise UnreadableError(("verified",), shown(data["verified"]), "v1.36.3")
    profile = data.get("profile")
    if profile is not None and profile not in get_args(doc.Profile):
        raise UnreadableError(("profile",), shown(profile), f"one of {', '.join(get_args(doc.Profile))}")
    return profile


def _gates(data: Mapping[str, Any]) -> FeatureGates:
    changes = fields_of(data.get("gates"))
    for name in changes:
        if name not in NAMES:
            close = get_close_matches(name, NAMES, n=1) if len(name) <= 64 else []
            hint = f"did you mean {close[0]}?" if close else ""
            raise UnreadableError(("gates", name), shown(name), f"one of {', '.join(NAMES)}", hint)
    gates = SCENARIO_GATES.switched(changes)
    for gate, need in gates.unmet():
        path = ("gates", gate if gate in changes else need)
        raise UnreadableError(path, f"{gate} without {need}", f"{need} on as well (API-02)")
    return gates


def _scheduler(data: Mapping[str, Any]) -> doc.SchedulerOptions:
    options = fields_of(data.get("scheduler"))
    scores, rank = options.get("nodeScores"), options.get("scores")
    for node, score in fields_of(scores).items():
        if not 0 <= score <= HIGHEST_SCORE:
            path = ("scheduler", "nodeScores", node)
            raise UnreadableError(path, shown(score), f"a score from 0 to {HIGHEST_SCORE}")
    if rank not in (None, "rank") or (rank and scores is not None):
        found = shown(rank) if rank != "rank" else "rank beside nodeScores"
        raise UnreadableError(("scheduler", "scores"), found, "rank, and then no nodeScores")
    if options.get("profiles") == []:
        raise UnreadableError(("scheduler", "profiles"), "no profile", "at least one")
    backoff = fields_of(options.get("backoff"))
    path: Path = ("scheduler", "backoff")
    initial = milliseconds(backoff.get("initial") or "1s", (*path, "initial"))
    longest = milliseconds(backoff.get("max") or "10s", (*path, "max"))
    if initial > longest:
        raise UnreadableError((*path, "initial"), f"{initial} ms", f"at most the maximum, {longest} ms")
    return doc.SchedulerOptions(
        node_scores=None if scores is None else Table(scores),
        rank=rank is not None,
        backoff_initial=initial,
        backoff_max=longest,
        profiles=tuple(options.get("profiles") or ("default-scheduler",)),
    )


def _rejected(data: Mapping[str, Any]) -> Iterator[Ref]:
    for place, step in enumerate(entries_of(data.get("steps"))):
        for name in ("expect", "possible"):
            for text in fields_of(fields_of(step.get(name)).get("rejected")):
                yield from refs(text, ("steps", place, name, "rejected", text))


def _generated(objects: Iterable[Created]) -> Iterator[str]:
    """How the keys of claims begin that are made from templates: with their user and its entry (CLAIM-03)."""
    for value in objects:
        if isinstance(value, Pod | PodGroup):
            names = (e.name for e in value.resource_claims if e.resource_claim_template_name)
            yield from (f"{value.key}-{name}-" for name in names)


def _check_names(scenario: doc.Scenario, item: Item, report: Report) -> None:
    """Every object that a step or an expectation names must be created somewhere in the document."""
    objects = created(scenario)
    known = {reference(value) for value in objects}
    jobs = [value.key for value in objects if isinstance(value, Job)]
    known |= {Ref(cast(Any, kind), job) for job in jobs for kind in ("workload", "podGroup")}
    claims = tuple(_generated(objects))
    for path, ref in _named(scenario):
        made = ref.kind == "pod" and any(ref.key.startswith(f"{job}-") for job in jobs)
        made = made or (ref.kind == "claim" and ref.key.startswith(claims))
        if ref in known or made:
            continue
        names = [str(other) for other in sorted(known, key=str) if other.kind == ref.kind]
        close = get_close_matches(str(ref), names, n=1) if len(ref.key) <= 253 else []
        hint = f"did you mean {close[0]}?" if close else ""
        report.error(item, path, str(ref), "an object that the scenario creates", hint)


def _named(scenario: doc.Scenario) -> Iterator[tuple[Path, Ref]]:
    for place, step in enumerate(scenario.steps):
        yield from _named_in(step, ("steps", place))


def _named_in(step: doc.Step, path: Path) -> Iterator[tuple[Path, Ref]]:
    match step:
        case doc.Create(objects=objects):
            nodes = (value.node_name for value in objects if isinstance(value, Pod))
            yield from (((*path, "create", "pods"), Ref("node", node)) for node in nodes if node is not None)
        case doc.Delete(objects=refs_):
            yield from (((*path, "delete"), ref) for ref in refs_)
        case doc.Update(changes=changes):
            yield from (((*path, "update"), change.ref) for change in changes)
        case doc.Finish(pods=pods, phase=phase):
            name = "finish" if phase == "Succeeded" else "crash"
            yield from (((*path, name), Ref("pod", pod)) for pod in pods)
        case doc.Hold(calls=calls) | doc.Release(calls=calls) | doc.Fail(calls=calls):
            name = type(step).__name__.lower()
            for call in calls:
                kind = "podGroup" if call.kind in ("generate", "record") else "pod"
                yield (*path, name), Ref(kind, call.pod)
        case doc.Attempt(entity=entity, during=during):
            yield (*path, "attempt"), entity
            for place, inner in enumerate(during):
                yield from _named_in(inner, (*path, "attempt", "during", place))
        case doc.Expect(expectations=found) | doc.Possible(expectations=found):
            name = type(step).__name__.lower()
            for expectation in found:
                yield from (((*path, name, key), ref) for key, ref in _expected(expectation))
        case _:
            return


def _expected(expectation: Expectation) -> Iterator[tuple[str, Ref]]:
    match expectation:
        case InState(state=state, pods=pods):
            yield from ((state, Ref("pod", pod)) for pod in pods.of)
        case OnNode(state=state, pod=pod, node=node):
            yield state, Ref("pod", pod)
            yield state, Ref("node", node)
        case Together(value=value, pods=pods):
            yield from (("together" if value is None else "within", Ref("pod", pod)) for pod in pods)
        case ConditionIs(group=group):
            yield "conditions", Ref("podGroup", group)
        case ReservedFor(claim=claim, consumers=consumers):
            yield "reservedFor", Ref("claim", claim)
            yield from (("reservedFor", ref) for ref in consumers)
        case Allocated(claim=claim, node=node):
            yield "allocated", Ref("claim", claim)
            if node is not None:
                yield "allocated", Ref("node", node)
        case Exists(ref=ref, exists=True):
            yield "exists", ref
        case _:
            return
