"""Explaining one group or pod: files in, one explanation for each world that they describe.

Manifests and dumps are one world, as it stands, with what the controllers would create for it. A scenario is every
world in which its runs settle at its end; worlds with the same explanation are told once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from attrs import evolve, fields, frozen, has

from gangproof import checking
from gangproof.checking import Options, gates_for
from gangproof.counterexamples.names import wrap
from gangproof.impl.bulk import world_of
from gangproof.impl.controllers.creations import with_created
from gangproof.impl.gates import Object, keep_enabled, served
from gangproof.impl.objects import Job, Pod, PodGroup, ResourceClaim
from gangproof.impl.rules import Rules
from gangproof.impl.world import Settings, World
from gangproof.load import Loaded, Unmodelled
from gangproof.properties.explanation import Explanation, UnknownNameError, explain
from gangproof.properties.explanation.attempts import as_dumped
from gangproof.properties.explanation.members import names_of
from gangproof.properties.explanation.text import COLUMNS
from gangproof.properties.scenarios.course import Following
from gangproof.properties.scenarios.document import Expect, Possible, Scenario, Settle
from gangproof.properties.scenarios.features import created, features, object_features
from gangproof.properties.scenarios.report import MISSING
from gangproof.properties.scenarios.run import follow
from gangproof.properties.search.explore import Limits
from gangproof.properties.search.system import Questions
from gangproof.report.machine import document as json_document
from gangproof.watching import Watch, unwatched

KINDS: Mapping[str, Literal["podGroup", "pod"]] = {
    "podgroup": "podGroup", "podgroups": "podGroup", "pg": "podGroup",
    "pod": "pod", "pods": "pod", "po": "pod",
}  # fmt: skip
PAIRS = ("requests", "safe")


@frozen
class Target:
    """What is asked about: a PodGroup or a pod, by key."""

    kind: Literal["podGroup", "pod"]
    key: str

    def means(self, obj: object) -> bool:
        """Whether the object is the target."""
        kind = PodGroup if self.kind == "podGroup" else Pod
        return isinstance(obj, kind) and obj.key == self.key

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.key.removeprefix('default/')}"


def target_of(text: str, namespace: str = "default") -> Target:
    """The target that is written `podgroup/NAME`, `pod/NAME` or with a namespace between. Raises ValueError."""
    kind, _, name = text.partition("/")
    known = KINDS.get(kind.lower().removesuffix(".scheduling.k8s.io"))
    parts = name.split("/")
    if known is None or len(parts) > 2 or not all(parts):
        raise ValueError(f"{text!r} found, podgroup/NAME or pod/NAME expected")
    return Target(known, name if len(parts) == 2 else f"{namespace}/{name}")


@frozen
class Explained:
    """The explanation that so many worlds of a source share; `source` is a scenario's id, "" for manifests."""

    source: str
    worlds: int
    explanation: Explanation


@frozen
class Created:
    """An object that is not in the files: the controller `by` was taken to create it; `name` is its key."""

    kind: str
    name: str
    by: Literal["job-controller", "claim-controller"]


@frozen
class Explanations:
    """The answer to one `explain`.

    `created` are the objects that controllers were taken to create before. `undecided` tells what could change the
    answer and is not modelled, or was not looked at.
    """

    asked: str
    profile: str
    gates: str
    found: tuple[Explained, ...]
    undecided: tuple[str, ...] = ()
    created: tuple[Created, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if it is explained, 3 if what decides is not modelled."""
        beyond = any(one.explanation.beyond for one in self.found)
        return 3 if self.undecided or beyond or not self.found else 0

    def __str__(self) -> str:
        parts = [_told(one, alone=len(self.found) == 1) for one in self.found]
        if self.created:
            parts.append(
                "\n".join(wrap(f"created by controllers: {_names(self.created)}", COLUMNS, "  ", first=""))
            )
        if self.undecided:
            parts.append("\n".join(["not modelled, and it may decide:", *(f"  {i}" for i in self.undecided)]))
        return "\n\n".join(parts)

    def json(self) -> str:
        """The document of kind `Explanation`; docs/explain.md describes it."""
        return json_document(
            "Explanation",
            {
                "asked": self.asked,
                "profile": self.profile,
                "featureGates": self.gates,
                "exitCode": self.exit_code,
                "explanations": [
                    {"scenario": one.source or None, "worlds": one.worlds, **_plain(one.explanation)}
                    for one in self.found
                ],
                "created": [_plain(one) for one in self.created],
                "undecided": list(self.undecided),
            },
        )


def _names(created: Sequence[Created]) -> str:
    """The objects by kind, the first of each by name."""
    kinds: dict[str, list[str]] = {}
    for one in created:
        kinds.setdefault(one.kind, []).append(one.name)
    return "; ".join(
        f"{kind if len(names) == 1 else f'{len(names)} {kind}s'} {names_of(names)}"
        for kind, names in kinds.items()
    )


def _told(one: Explained, alone: bool) -> str:
    """One explanation in full, or in a sentence if it is one of several and nobody waits for anything."""
    if not one.source:
        return str(one.explanation)
    head = f"scenario {one.source}, {one.worlds} settled world{'s' if one.worlds > 1 else ''}:"
    if not alone and one.explanation.state in ("placed", "bound", "ended"):
        return f"{head} {one.explanation.sentence}"
    return f"{head}\n\n{one.explanation}"


def _plain(value: Any) -> Any:
    """Plain data with the names of the fields in the writing of JSON."""
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    kind: type[Any] = value.__class__
    if not has(kind):
        return value
    return {
        _camel(field.name): dict(part) if field.name in PAIRS else _plain(part)
        for field in fields(kind)
        for part in (getattr(value, field.name),)
    }


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def explain_loaded(loaded: Loaded, target: Target, options: Options) -> Explanations:
    """The explanation in the world of manifests or of a dump.

    Raises UnknownNameError if it does not hold the target, ValueError for gates or a profile that cannot be.
    """
    rules, gates = _rules(options.profile), gates_for(loaded, options)
    objects = [keep_enabled(obj, gates) for obj in loaded.objects if served(obj, gates)]
    settings = Settings(gates=gates)
    complete = with_created(rules, objects, settings)
    created = tuple(map(_created, complete.made))
    world = as_dumped(world_of(rules, (*complete.given, *complete.made), settings))
    try:
        found = explain(world, rules, target.kind, target.key)
    except UnknownNameError:
        if not complete.beyond:
            raise
        return Explanations(str(target), options.profile, str(gates), (), complete.beyond, created)
    concerned = _concerned(world, target)
    undecided = tuple(
        [*complete.beyond, *_unmodelled(loaded.unmodelled, concerned, found)]
        if found.state not in ("placed", "ended")
        else []
    )
    missing = sorted({name for obj in concerned for name in object_features(obj)} & MISSING)
    return Explanations(
        str(target),
        options.profile,
        str(gates),
        (Explained("", 1, found),),
        (*undecided, *missing),
        created,
    )


def _created(obj: Object) -> Created:
    by = "claim-controller" if isinstance(obj, ResourceClaim) else "job-controller"
    return Created(type(obj).__name__, obj.key, by)


def _rules(profile: str) -> Rules:
    return checking.PROFILES[checking.known(profile)]


def _concerned(world: World, target: Target) -> list[Pod | PodGroup | Job]:
    """The asked objects, those of the group, and the Jobs that they belong to."""
    pod = world.pods.get(target.key) if target.kind == "pod" else None
    group = target.key if target.kind == "podGroup" else pod.group if pod is not None else None
    found: list[Pod | PodGroup | Job] = [
        p for p in world.pods.values() if p is pod or (group and p.group == group)
    ]
    stored = world.groups.get(group or "")
    if stored is not None:
        found.insert(0, stored)
    makers = {owner.uid for obj in found for owner in obj.owners if owner.kind == "Job"}
    return [*found, *(job for job in world.jobs.values() if job.uid in makers)]


def _unmodelled(
    items: Sequence[Unmodelled], concerned: Sequence[Object], found: Explanation
) -> Iterator[str]:
    """What was left out of the asked objects themselves; budgets only if somebody would be evicted."""
    names = {(type(obj).__name__, name) for obj in concerned for name in (obj.key, obj.key.partition("/")[2])}
    for item in items:
        evicting = item.kind == "PodDisruptionBudget" and found.state in ("evicts", "varies")
        if item.decisive and ((item.kind, item.name) in names or evicting):
            where = f"{item.file}:{item.line}" if item.line else item.file
            yield f"{item.kind} {item.name} ({where}): {item.why}"


def explain_scenarios(
    documents: Sequence[Scenario],
    target: Target,
    options: Options,
    step: int | None = None,
    watch: Watch = unwatched,
) -> Explanations:
    """The explanations at the end of each scenario in which the target is there, or after so many steps.

    Raises UnknownNameError if it is in none, ValueError for a profile that there is not.
    """
    found: list[Explained] = []
    undecided: list[str] = []
    unknown: UnknownNameError | None = None
    stop = "exhausted"
    for number, scenario in enumerate(documents, 1):
        watch(f"scenario {number} of {len(documents)}, {scenario.id}")
        missing = sorted(features(scenario) & MISSING)
        if missing:
            if any(target.means(obj) for obj in created(scenario)):
                undecided.append(f"scenario {scenario.id}: {', '.join(missing)}")
            continue
        rules = _rules(scenario.profile or options.profile)
        worlds, stop = _ends(scenario, rules, options, step)
        if stop != "exhausted":
            undecided.append(f"scenario {scenario.id}: not all runs were followed: {stop}")
        try:
            told = [explain(world, rules, target.kind, target.key) for world in worlds]
        except UnknownNameError as error:
            unknown = error
            continue
        except KeyboardInterrupt:
            told, stop = [], "interrupted"
            undecided.append(f"scenario {scenario.id}: not explained: interrupted")
        found.extend(Explained(scenario.id, told.count(one), one) for one in dict.fromkeys(told))
        if stop == "interrupted":
            undecided += [f"scenario {rest.id}: not followed: interrupted" for rest in documents[number:]]
            break
    if unknown is not None and not found and stop != "interrupted":
        raise unknown
    return Explanations(str(target), options.profile, "", tuple(found), tuple(undecided))


def _ends(scenario: Scenario, rules: Rules, options: Options, step: int | None) -> tuple[list[World], str]:
    """The worlds in which the scenario's runs settle, or those after so many of its steps."""
    steps = tuple(Settle() if isinstance(s, Expect | Possible) else s for s in scenario.steps)
    steps = (*steps, Settle()) if step is None else steps[:step]
    limits = Limits(options.max_states, seconds=options.seconds)
    course = follow(evolve(scenario, steps=steps), Following(rules, Questions(), limits))
    stop = course.failures[0].violation.message if course.failures else course.stop
    return list(dict.fromkeys(run.world for run in course.runs)), stop
