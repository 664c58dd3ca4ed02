"""The Python interface: files, text or objects in, a report out.

These are the functions behind the command line; `import gangproof` offers them by name. Input that cannot be
used is an `InputError` whose text tells file, line, field, what was found and what is expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from gangproof.checking import Options, check_loaded, check_scenarios
from gangproof.counterexamples import Trace
from gangproof.counterexamples import draw as draw_trace
from gangproof.errors import InputError, Problem
from gangproof.explaining import Explanations, Target, explain_loaded, explain_scenarios, target_of
from gangproof.impl.gates import Object, gates_needed
from gangproof.load import (
    Loaded,
    is_scenario_file,
    load_manifests,
    load_manifests_text,
    load_scenarios,
    load_scenarios_text,
)
from gangproof.load.files import read
from gangproof.proofs import ProofReport
from gangproof.proofs import prove as prove_contract
from gangproof.properties.scenarios.document import Scenario
from gangproof.report import Report
from gangproof.spec import CONTRACT
from gangproof.spec import load as load_contract
from gangproof.watching import Watch, unwatched

Source = str | Path | Object
_SCENARIO = re.compile(r"^(?:\{\s*)?[\"']?scenario[\"']?\s*:", re.MULTILINE)


def check(
    what: Source | Iterable[Source],
    *,
    profile: str = "intended",
    namespace: str = "default",
    feature_gates: Mapping[str, bool] | None = None,
    any_order: bool = False,
    failures: int = 0,
    deletions: int = 0,
    lag: int = 0,
    restarts: int = 0,
    recreate: int = 0,
    liveness: bool = False,
    max_states: int | None = 200_000,
    timeout: float | None = None,
    processes: int = 1,
) -> Report:
    """Judge files, folders, standard input (`-`) or objects of `gangproof.impl.objects`.

    Scenario files (`*.scenario.yaml`) are judged document by document. All other files, and objects, make one
    cluster, of which every run is explored: `any_order` lets its pods and groups arrive in any order,
    `failures` binds may fail, `deletions` pods or groups may be deleted at any moment, each view may be
    `lag` changes behind, and the scheduler may start anew `restarts` times, `recreate`
    objects may be deleted and created again under their name. `liveness` asks
    its promises of every fair run too, in which calls may fail any number of times. `feature_gates` switches gates, by
    default the least set that keeps every field is on. A search ends at `max_states` states or after `timeout`
    seconds, and says so. Raises InputError; ValueError for an unknown profile or gate.
    """
    options = Options(
        profile=profile,
        gates=tuple(sorted((feature_gates or {}).items())),
        any_order=any_order,
        failures=failures,
        deletions=deletions,
        lag=lag,
        restarts=restarts,
        recreations=recreate,
        liveness=liveness,
        max_states=max_states,
        seconds=timeout,
        processes=processes,
    )
    sources = [what] if isinstance(what, str | Path | Object) else list(what)
    return check_sources(collect(sources, namespace), options)


def check_text(text: str, *, profile: str | None = None, max_states: int | None = 200_000) -> Report:
    """Judge the text of scenarios or of manifests. Raises InputError; ValueError for an unknown profile."""
    return check_text_with(text, Options(profile=profile or "intended", max_states=max_states))


def check_text_with(text: str, options: Options) -> Report:
    """As `check_text`, with options that are at hand already."""
    return check_sources(collect_text(text, "<text>"), options)


def explain(
    what: Source | Iterable[Source],
    target: str,
    *,
    namespace: str = "default",
    profile: str = "intended",
    feature_gates: Mapping[str, bool] | None = None,
    step: int | None = None,
    max_states: int | None = 200_000,
) -> Explanations:
    """Tell why a PodGroup or a pod (`podgroup/NAME`, `pod/NAME`) is where it is, and what would help.

    Sources are those of `check`. Manifests and dumps are taken as they stand; scenarios are followed to their
    end, or for the first `step` steps. Raises InputError; ValueError for a target that cannot be read, an
    unknown profile or gate; LookupError if the sources do not hold the target.
    """
    options = Options(
        profile=profile, gates=tuple(sorted((feature_gates or {}).items())), max_states=max_states
    )
    sources = [what] if isinstance(what, str | Path | Object) else list(what)
    return explain_sources(collect(sources, namespace), target_of(target, namespace), options, step)


def explain_sources(
    collected: Collected, target: Target, options: Options, step: int | None = None, watch: Watch = unwatched
) -> Explanations:
    """Explain the target in the manifests that were collected, or in the scenarios if there are none.

    ValueError for options that would have no effect, else as `explain`.
    """
    _heeded(collected, options)
    if collected.manifests is not None:
        if step is not None:
            raise ValueError(f"step {step} found with manifests, none expected: only scenarios have steps")
        return explain_loaded(collected.manifests, target, options)
    return explain_scenarios(collected.scenarios, target, options, step, watch)


def prove(*, invariants: Sequence[str] = (), contract: str | Path | None = None) -> ProofReport:
    """Prove the contract, or some of its invariants by id, or the changed contract of a Python file.

    KeyError for an unknown id, ValueError for a file that defines no contract.
    """
    return prove_contract(
        invariants, contract=CONTRACT if contract is None else load_contract(Path(contract))
    )


def draw(trace: Trace, format: str = "svg", frame: int | None = None) -> str | bytes:
    """The trace in one of `gangproof.counterexamples.FORMATS`; raises as `counterexamples.draw` does."""
    return draw_trace(trace, format, frame)


@frozen
class Collected:
    """What there is to judge: scenarios, and manifests if there were any."""

    scenarios: tuple[Scenario, ...] = ()
    manifests: Loaded | None = None


def collect_text(text: str, name: str, namespace: str = "default") -> Collected:
    """Scenarios or manifests, whichever the text holds. Raises InputError."""
    if _SCENARIO.search(text):
        return Collected(scenarios=load_scenarios_text(text, name))
    return Collected(manifests=load_manifests_text(text, name, namespace))


def collect(sources: Sequence[Source], namespace: str = "default") -> Collected:
    """Everything that the sources hold; objects that name no namespace are in this one. Raises InputError."""
    scenarios: list[Scenario] = []
    paths: list[str | Path | tuple[str, str]] = []
    objects: list[Object] = []
    for source in sources:
        if not isinstance(source, str | Path):
            objects.append(source)
        elif str(source) == "-":
            name, text = read(source)
            if _SCENARIO.search(text):
                scenarios.extend(load_scenarios_text(text, name))
            else:
                paths.append((name, text))
        elif Path(source).is_dir():
            files = _scenario_files(Path(source))
            scenarios.extend(document for file in files for document in load_scenarios(str(file)))
            if not files or _has_manifests(Path(source)):
                paths.append(source)
        elif is_scenario_file(source):
            scenarios.extend(load_scenarios(str(source)))
        else:
            paths.append(source)
    loaded = load_manifests(paths, namespace) if paths else None
    return Collected(tuple(scenarios), _together(loaded, objects))


def _scenario_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file() and is_scenario_file(file))


def _has_manifests(folder: Path) -> bool:
    return any(
        file.suffix in (".yaml", ".yml", ".json") and file.is_file() and not is_scenario_file(file)
        for file in folder.iterdir()
    )


def _together(loaded: Loaded | None, objects: Sequence[Object]) -> Loaded | None:
    """What was loaded, and the objects after it. InputError for two of one kind and name."""
    if not objects:
        return loaded
    whole = (*(loaded.objects if loaded is not None else ()), *objects)
    seen: set[tuple[str, str]] = set()
    for obj in whole:
        kind = type(obj).__name__
        if (kind, obj.key) in seen:
            problem = Problem("<objects>", 0, "", f"a second {kind} {obj.key}", "each object once")
            raise InputError((problem,))
        seen.add((kind, obj.key))
    needed = gates_needed(objects)
    if loaded is None:
        return Loaded(whole, (), (), needed)
    return evolve(loaded, objects=whole, gates=loaded.gates.switched(dict.fromkeys(needed.on, True)))


def _heeded(collected: Collected, options: Options) -> None:
    """ValueError if options for manifests are in use and there are scenarios only."""
    if collected.manifests is None and collected.scenarios and options.for_manifests:
        used = ", ".join(options.for_manifests)
        raise ValueError(f"{used} found with scenarios alone, none expected: a scenario names its own")


def check_sources(collected: Collected, options: Options, watch: Watch = unwatched) -> Report:
    """Judge what was collected. ValueError for options that would have no effect, else as `check`."""
    _heeded(collected, options)
    report = Report(profile=options.profile)
    if collected.manifests is not None:
        report = check_loaded(collected.manifests, options, watch)
    documents = collected.scenarios
    results = () if report.interrupted else check_scenarios(documents, options, watch)
    judged = {(result.file, result.line, result.id) for result in results}
    unfinished = tuple(d.id for d in documents if (d.file, d.line, d.id) not in judged)
    return evolve(report, scenarios=results, unfinished=unfinished)
