"""Judging what was loaded: a cluster's manifests as one question, each scenario as one more.

This is the way from objects to a report. It chooses the rules of a profile, asks every property, keeps to the
limits, makes a trace of whatever breaks, and turns an interruption into an unfinished answer instead of none.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from attrs import evolve, frozen

from gangproof.forever import asked_for_ever
from gangproof.impl.actions import Action
from gangproof.impl.gates import NAMES, FeatureGates, Object, keep_enabled, served
from gangproof.impl.objects import Pod, PodGroup
from gangproof.impl.profiles import INTENDED, V1_36_3, V1_36_3_PROMPT
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.load import Loaded
from gangproof.properties.campaign import local_processes
from gangproof.properties.campaign import run as run_campaign
from gangproof.properties.check import CheckReport, Openness, check, find, initial_world
from gangproof.properties.judges.everything import ONLY_PROMPT, questions
from gangproof.properties.refinement.steps import REFINEMENT
from gangproof.properties.scenarios.alike import key_of
from gangproof.properties.scenarios.document import Scenario
from gangproof.properties.scenarios.features import object_features
from gangproof.properties.scenarios.report import MISSING, ScenarioReport, check_scenario
from gangproof.properties.search.explore import Limits, deferred_interrupts
from gangproof.properties.search.machine import Machine
from gangproof.properties.search.shipped import shipped_questions, to_blame
from gangproof.properties.search.system import Questions
from gangproof.properties.symmetry import Symmetry
from gangproof.properties.telling.traces import Meta, cluster_trace, except_for, only, scenario_trace
from gangproof.properties.verdict import Verdict
from gangproof.report import ClusterResult, Finding, NotModelled, Report, ScenarioResult
from gangproof.watching import Clock, OutOfTimeError, Pulse, Watch, unwatched

PROFILES: Mapping[str, Rules] = {"intended": INTENDED, "v1.36.3": V1_36_3}
"""The profiles that can be judged by."""
MOST_STATES_TO_BLAME = 20_000
"""How far a deviation alone is explored, to see whether it explains a break."""


@frozen
class Options:
    """What a check leaves open and how far it goes.

    `gates` are feature gates to switch, by Kubernetes name; `failures` and `deletions` say how many binds may
    fail and how many pods or groups users may delete, `lag` by how many changes each view may be behind, `restarts`
    how often the scheduler may start anew, `recreations` how many objects users may delete and create again under
    their name; `liveness` asks its promises of every fair run too; `seconds` (wall
    time) and `max_states` end a search, None not at all; `processes` is how many scenarios are judged at the same
    time.
    """

    profile: str = "intended"
    gates: tuple[tuple[str, bool], ...] = ()
    any_order: bool = False
    failures: int = 0
    deletions: int = 0
    lag: int = 0
    restarts: int = 0
    recreations: int = 0
    liveness: bool = False
    max_states: int | None = 200_000
    seconds: float | None = None
    processes: int = 1

    @property
    def openness(self) -> Openness:
        return Openness(
            self.any_order, self.failures, self.deletions, self.lag, self.restarts, self.recreations
        )

    @property
    def for_manifests(self) -> tuple[str, ...]:
        """The options in use that say something about manifests; a scenario says the same for itself."""
        used = {
            "feature gates": bool(self.gates),
            "any order": self.any_order,
            "failures": bool(self.failures),
            "deletions": bool(self.deletions),
            "lag": bool(self.lag),
            "restarts": bool(self.restarts),
            "recreate": bool(self.recreations),
            "liveness": self.liveness,
        }
        return tuple(name for name, is_used in used.items() if is_used)


def known(profile: str) -> str:
    """The profile, if there is one of that name; ValueError if not."""
    if profile not in PROFILES:
        raise ValueError(f"profile {profile!r} found, one of {', '.join(PROFILES)} expected")
    return profile


def asked_of(profile: str) -> Questions[World, Action]:
    """What is asked of runs in the profile."""
    return questions() if profile == "intended" else shipped_questions()


def check_loaded(loaded: Loaded, options: Options, watch: Watch = unwatched) -> Report:
    """The report on manifests. ValueError for gates that contradict each other or are not known."""
    known(options.profile)
    left_out = tuple(
        NotModelled(item.kind, item.name, item.file, item.line, item.why, item.decisive)
        for item in loaded.unmodelled
    )
    warnings = [str(problem) for problem in loaded.warnings]
    if loaded.more_warnings:
        warnings.append(f"and {loaded.more_warnings} more")
    report = Report(options.profile, not_modelled=left_out, warnings=tuple(warnings))
    gates = gates_for(loaded, options)
    objects = tuple(keep_enabled(obj, gates) for obj in loaded.objects if served(obj, gates))
    kinds = {type(obj).__name__ for obj in objects}
    if not kinds & {"Pod", "Job"}:
        verdict, why = Verdict.NOTHING_CHECKED, "no pods and no groups"
        if "PodGroup" in kinds:
            verdict, why = Verdict.VACUOUS, "no pods, so no group is ever tried"
        if any(n.decisive for n in left_out):
            verdict = Verdict.INCONCLUSIVE
        return evolve(report, cluster=_nothing(loaded, gates, options, why, verdict))
    report = evolve(report, warnings=(*report.warnings, *_without_pods(objects)))
    result = _check_objects(objects, gates, options, watch)
    if any(item.decisive for item in left_out) and result.verdict is not Verdict.VIOLATED:
        result = evolve(result, verdict=Verdict.INCONCLUSIVE)
    return evolve(report, cluster=result)


def _without_pods(objects: Sequence[Object]) -> Iterator[str]:
    """A warning for each group of which nothing can be said, since no pod is of it."""
    named = {obj.group for obj in objects if isinstance(obj, Pod)}
    for obj in objects:
        if isinstance(obj, PodGroup) and obj.key not in named:
            yield f"PodGroup {obj.key}: found no pods of it, expected at least one; it is never tried"


def gates_for(loaded: Loaded, options: Options) -> FeatureGates:
    """The least gates that keep every field, with those of the options. ValueError as `check_loaded`."""
    try:
        gates = loaded.gates.switched(dict(options.gates))
    except KeyError as error:
        known = ", ".join(NAMES)
        raise ValueError(f"feature gate {error.args[0]!r} found, one of {known} expected") from None
    for gate, need in gates.unmet():
        raise ValueError(f"feature gate {gate}=true found with {need}=false, which it needs (API-02)")
    return gates


def _counted(objects: Sequence[Object]) -> tuple[tuple[str, int], ...]:
    counts = Counter(type(obj).__name__ for obj in objects)
    return tuple(sorted(counts.items()))


def _told(options: Options, late: Sequence[str] = ()) -> str:
    """What is left open, in words; `late` are the views that may be behind."""
    parts = ["arrivals in any order" if options.any_order else "arrivals in the order of the files"]
    parts.append("ties and completion orders")
    if options.failures:
        parts.append(f"up to {options.failures} failed binds")
    if options.deletions:
        parts.append(f"up to {options.deletions} deletions by users")
    if options.lag:
        how = f" ({len(late)} views; each sees things right before its owner acts)" if late else ""
        unasked = (
            f", where {' and '.join(ONLY_PROMPT)} are not asked"
            if any(view.endswith("/claim") for view in late)
            else ""
        )
        parts.append(f"every view up to {options.lag} changes behind{how}{unasked}")
    if options.restarts:
        parts.append(f"up to {options.restarts} restarts of the scheduler")
    if options.recreations:
        parts.append(f"up to {options.recreations} objects deleted and created again under their name")
    if options.liveness:
        parts.append("for liveness any number of failed calls")
    return ", ".join(parts)


def _nothing(
    loaded: Loaded, gates: FeatureGates, options: Options, why: str, verdict: Verdict
) -> ClusterResult:
    return ClusterResult(verdict, _counted(loaded.objects), str(gates), _told(options), why)


def _check_objects(
    objects: Sequence[Object], gates: FeatureGates, options: Options, watch: Watch
) -> ClusterResult:
    rules, asked = PROFILES[options.profile], asked_of(options.profile)
    clock = Clock.until(options.seconds)
    settings = Settings(gates=gates)
    empty = ClusterResult(Verdict.INCONCLUSIVE, _counted(objects), str(gates), _told(options))
    missing = tuple(sorted({name for obj in objects for name in object_features(obj)} & MISSING))
    limits = Limits(options.max_states, seconds=options.seconds)

    def start(rules: Rules) -> World:
        return initial_world(objects, rules, settings, options.openness)

    began = time.perf_counter()
    try:
        world = start(rules)
        empty = evolve(empty, open=_told(options, tuple(world.environment.lag)))
        found = check(world, rules, asked, limits, Pulse(Symmetry(), watch, clock))
    except OutOfTimeError:
        return evolve(empty, stop="time budget", seconds=time.perf_counter() - began)
    except KeyboardInterrupt:
        return evolve(empty, stop="interrupted", seconds=time.perf_counter() - began)
    verdict = Verdict.INCONCLUSIVE if missing and found.verdict is Verdict.HOLDS else found.verdict
    interrupted = found.exploration.stop == "interrupted"
    ends = Clock.until(0) if interrupted else clock
    with deferred_interrupts():
        findings = tuple(_cluster_findings(found, objects, settings, options, ends, watch))
    result = evolve(
        empty,
        verdict=verdict,
        states=found.exploration.states,
        transitions=found.exploration.transitions,
        depth=found.exploration.depth,
        stop=found.exploration.stop,
        outcomes=found.outcomes,
        findings=findings,
        beyond=tuple(sorted({*missing, *found.beyond})),
    )
    if options.liveness and not interrupted:
        meta = Meta(options.profile, str(settings.gates), "lasso")
        result = asked_for_ever(result, start, rules, meta, options.max_states, watch, clock)
    return evolve(result, seconds=time.perf_counter() - began)


def _cluster_findings(
    found: CheckReport,
    objects: Sequence[Object],
    settings: Settings,
    options: Options,
    clock: Clock,
    watch: Watch,
) -> Iterator[Finding]:
    rules, asked = PROFILES[options.profile], asked_of(options.profile)
    meta = Meta(options.profile, str(settings.gates), "explorer")
    examples = found.counterexamples.values()
    for example in sorted(examples, key=lambda e: not e.violation.property.startswith(("INV", "LIVE"))):
        watch(f"making the counterexample to {example.violation.property} small")
        trace = cluster_trace(
            example, objects, rules, settings, options.openness, asked, meta, seconds=clock.left
        )
        blamed = _blamed(example.violation.property, objects, settings, options)
        yield Finding(
            example.violation.property,
            example.violation.message,
            trace=evolve(trace, qualifier=", ".join(blamed)),
            deviations=blamed,
        )


def _blamed(
    property_id: str, objects: Sequence[Object], settings: Settings, options: Options
) -> tuple[str, ...]:
    """The deviations of v1.36.3 each of which alone breaks the property here."""
    if options.profile == "intended":
        return ()
    narrowed = only(asked_of(options.profile), property_id)
    limits = Limits(MOST_STATES_TO_BLAME, seconds=options.seconds)

    def breaks(rules: Rules) -> bool:
        world = initial_world(objects, rules, settings, options.openness)
        return property_id in find(Machine(rules, [world], key=Symmetry()), narrowed, limits)[1]

    return to_blame(property_id, breaks)


def check_scenarios(
    documents: Sequence[Scenario], options: Options, watch: Watch = unwatched
) -> tuple[ScenarioResult, ...]:
    """The results of the scenarios that were judged, in order; fewer after an interruption or out of time."""
    clock = Clock.until(options.seconds)
    if options.processes > 1 and len(documents) > 1:
        return _in_processes(documents, options, watch)
    results: list[ScenarioResult] = []
    with suppress(KeyboardInterrupt), deferred_interrupts() as interrupts:
        for number, document in enumerate(documents, 1):
            if clock.over or interrupts:
                break
            told = partial(_tell_scenario, watch, f"scenario {number} of {len(documents)}, {document.id}")
            told("")
            results.append(check_one(document, evolve(options, seconds=clock.left), told))
    return tuple(results)


def _tell_scenario(watch: Watch, which: str, what: str) -> None:
    watch(f"{which}: {what}" if what else which)


def _in_processes(
    documents: Sequence[Scenario], options: Options, watch: Watch
) -> tuple[ScenarioResult, ...]:
    def told(ended: int, of: int) -> None:
        watch(f"{ended} of {of} scenarios")

    with local_processes(min(options.processes, len(documents))) as executor:
        found = run_campaign(executor, partial(check_one, options=options), documents, progress=told)
    for error in found.errors.values():
        raise error
    return tuple(found.results[place] for place in sorted(found.results))


def check_one(document: Scenario, options: Options, watch: Watch = unwatched) -> ScenarioResult:
    """The result of one scenario, in the profile that it names or else in that of the options.

    In v1.36.3 a scenario is judged by its facts alone, without the deviations that are races unless it names the
    profile. A scenario is followed to the first failure. If that is only a step that the contract does not allow, it is
    followed again, to see which promise that breaks.
    """
    profile = known(document.profile or options.profile)
    options = evolve(options, profile=profile)
    empty = ScenarioResult(
        document.id,
        document.title,
        document.file,
        document.line,
        profile,
        Verdict.NOT_SUPPORTED,
    )
    rules, asked = _facts_of(document, profile)
    clock = Clock.until(options.seconds)
    limits = Limits(options.max_states, seconds=options.seconds)
    began = time.perf_counter()
    try:
        key = Pulse(key_of(document), watch, clock)
        found = check_scenario(document, profile, rules, asked, limits, key)  # pyright: ignore[reportArgumentType] (a key of PROFILES)
        if {failure.violation.property for failure in found.failures} == {REFINEMENT}:
            promised = except_for(asked, REFINEMENT)
            again = check_scenario(document, profile, rules, promised, limits, key)  # pyright: ignore[reportArgumentType] (as above)
            found = evolve(found, failures=(*again.failures, *found.failures))
    except OutOfTimeError:
        spent = time.perf_counter() - began
        return evolve(empty, verdict=Verdict.INCONCLUSIVE, stop="time budget", seconds=spent)
    except KeyboardInterrupt:
        spent = time.perf_counter() - began
        return evolve(empty, verdict=Verdict.INCONCLUSIVE, stop="interrupted", seconds=spent)
    return evolve(
        empty,
        verdict=found.verdict,
        states=found.states,
        transitions=found.transitions,
        stop=found.stop,
        findings=tuple(_scenario_findings(found, rules, asked, options, clock, watch)),
        why_not=_why_not(found),
        seconds=found.seconds,
    )


def _facts_of(document: Scenario, profile: str) -> tuple[Rules, Questions[World, Action]]:
    if profile == "intended":
        return PROFILES[profile], questions()
    return (V1_36_3 if document.profile == profile else V1_36_3_PROMPT), Questions()


def _why_not(found: ScenarioReport) -> str:
    if found.verdict is not Verdict.NOT_SUPPORTED:
        return ""
    return f"not modelled yet: {', '.join(found.missing or found.beyond)}"


def _scenario_findings(
    found: ScenarioReport,
    rules: Rules,
    asked: Questions[World, Action],
    options: Options,
    clock: Clock,
    watch: Watch,
) -> Iterator[Finding]:
    if found.verdict is not Verdict.VIOLATED:
        return
    meta = Meta(options.profile, str(found.scenario.gates), "explorer")
    for failure in found.failures:
        violation = failure.violation
        watch(f"making the counterexample to {violation.property} small")
        trace = scenario_trace(failure, found.scenario, rules, asked, meta, seconds=clock.left)
        yield Finding(violation.property, violation.message, failure.line, trace)
