"""Recorded runs of a real scheduler: one JSON object a run, with all that was done and all that was seen.

A run holds whole Kubernetes objects, created in a cluster without admission: a field whose gate is off is
dropped, everything else is taken as it stands. What the model does not have makes a run unsupported, by name;
what cannot be a run is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Literal, TypeVar

from attrs import define, evolve, field

from gangproof.errors import InputError, Problem
from gangproof.impl.gates import NAMES, FeatureGates, Object, keep_enabled
from gangproof.impl.objects import Node, Pod, PodGroup, PriorityClass
from gangproof.impl.objects.checks import entries_of, fields_of
from gangproof.impl.objects.policy import deciding_class
from gangproof.impl.objects.validation import Path, violations
from gangproof.impl.table import Table
from gangproof.impl.world import Settings
from gangproof.load.decode import DECODERS
from gangproof.load.fields import SHAPES
from gangproof.load.files import read
from gangproof.load.recorded_fields import RUN, UNTOLD
from gangproof.load.recorded_log import READERS, event, key_of, look
from gangproof.load.report import Item, Report
from gangproof.load.schema import Misfit, is_mapping, walk
from gangproof.load.text import Document, documents
from gangproof.properties.conformance.events import Claimed, Logged
from gangproof.properties.conformance.recording import (
    Advance,
    Alter,
    Attempt,
    Calls,
    Cycles,
    End,
    Look,
    Reap,
    Recording,
    Refuse,
    Remove,
    Restart,
    Settle,
    Step,
)
from gangproof.properties.scenarios.document import Create, Delete
from gangproof.properties.scenarios.records import Kind, Ref

Data = Mapping[str, Any]
Ranked = TypeVar("Ranked", Pod, PodGroup)
_REFUSED = re.compile(r"refused: step (\d+) ")
START = 946_684_800
"""The recorder's clock begins with the year 2000; the n-th pod starts n seconds later, once it is bound."""
IDLE = 25
PODS_ON_A_NODE = 110
CALLS: tuple[Literal["hold", "release", "fail"], ...] = ("hold", "release", "fail")
REFERENCES: Mapping[str, Kind] = {
    "Pod": "pod",
    "PodGroup": "podGroup",
    "Node": "node",
    "Workload": "workload",
    "ResourceClaim": "claim",
    "ResourceClaimTemplate": "claimTemplate",
    "ResourceSlice": "slice",
    "DeviceClass": "deviceClass",
}
MISSING_OPTIONS: Mapping[str, str] = {
    "eager": "cycles side by side",
    "watchDelay": "late views",
    "callDelay": "slow calls",
}


def load_recorded(path: str | FilePath) -> tuple[Recording, ...]:
    """The runs in a file, or in standard input (`-`). Raises InputError if one cannot be read."""
    name, text = read(path)
    return load_recorded_text(text, name)


def load_recorded_text(text: str, name: str = "<text>") -> tuple[Recording, ...]:
    """The runs in a text. Raises InputError if one cannot be read."""
    report = Report()
    found: list[Recording] = []
    try:
        for document in documents(name, text):
            run = _run(document, report)
            if run is not None:
                found.append(run.recording())
        if not found and not report.failed():
            raise InputError((Problem(name, 0, "", "no run", "a JSON object for each recorded run"),))
    except InputError as error:
        report.broken.append(error)
    report.check()
    return tuple(found)


def _run(document: Document, report: Report) -> _Run | None:
    """The run in the document, None if it has not the shape of one."""
    data = document.data
    told = data.get("scenario") if is_mapping(data) else None
    scenario = told if is_mapping(told) else {}
    item = Item(document, (), f"run {scenario.get('name') or document.number + 1}", data)
    before = report.error_count

    def tell(misfit: Misfit) -> None:
        without_conditions = len(misfit.path) == 5 and misfit.path[-2] == "podGroups"
        if not (without_conditions and misfit.found == "nothing"):
            report.error(item, misfit.path, misfit.found, misfit.expected, misfit.hint)

    walk(RUN, data, tell)
    if report.error_count == before:
        for path in (("scenario", "name"), ("scenario", "steps"), ("result",)):
            if _at(data, path) is None:
                report.error(item, path, "nothing", f"the {path[-1]} of a recorded run")
    if report.error_count > before:
        return None
    run = _Run(scenario, fields_of(data["result"]), item, report)
    run.read()
    return run if report.error_count == before else None


def _at(data: Data, path: tuple[str, ...]) -> Any:
    for name in path:
        data = fields_of(data).get(name)  # pyright: ignore[reportAssignmentType] (only the last value is no mapping)
    return data


@define
class _Run:
    """A run that is being read: what it needs and the model lacks is gathered on the way."""

    scenario: Data
    result: Data
    item: Item
    report: Report
    needs: dict[str, None] = field(factory=dict[str, None])
    pods: int = 0
    classes: dict[str, PriorityClass] = field(factory=dict[str, PriorityClass])
    steps: list[Step] = field(factory=list[Step])
    log: list[Logged] = field(factory=list[Logged])
    before: list[int] = field(
        factory=list[int]
    )  # how much of what is kept of the log comes before each entry
    marks: list[int] = field(factory=list[int])

    def need(self, feature: str) -> None:
        self.needs[feature] = None

    def read(self) -> None:
        """Read all of it; errors go to the report."""
        for option, feature in MISSING_OPTIONS.items():
            if self.scenario.get(option):
                self.need(feature)
        for gate in fields_of(self.scenario.get("gates")):
            if gate not in NAMES:
                self.need(f"gate {gate}")
        if self.scenario.get("trace") and self.gates.workload_aware_preemption:
            self.need("inner steps of group preemption")
        for place, entry in enumerate(entries_of(self.result.get("log"))):
            self.before.append(len(self.log))
            self.entry(entry, ("result", "log", place))
        self.before.append(len(self.log))
        looks = iter(entries_of(self.result.get("snapshots")))
        marks: list[int] = entries_of(self.result.get("marks"))
        error = self.result.get("error") or ""
        refusal = _REFUSED.match(error)
        if error and refusal is None:
            self.need("a recorder without an error")
        done = int(refusal[1]) - 1 if refusal else None
        for place, step in enumerate(entries_of(self.scenario.get("steps"))):
            steps = tuple(self.step(step, looks, ("scenario", "steps", place)))
            if place == done:
                self.steps.extend(map(Refuse, steps))
                break
            if place < len(marks):
                mark = self.before[min(marks[place], len(self.before) - 1)]
                self.marks.extend(mark for _ in steps)
                steps = tuple(evolve(s, events=mark) if isinstance(s, Look) else s for s in steps)
            self.steps.extend(steps)

    def recording(self) -> Recording:
        score = self.scenario.get("score")
        return Recording(
            name=self.scenario["name"],
            settings=Settings(
                gates=self.gates,
                profiles=tuple(entries_of(self.scenario.get("profiles"))) or Settings().profiles,
                node_scores=Table(fields_of(self.scenario.get("nodeScores"))) if score == "fixed" else None,
                rank=score not in ("default", "fixed"),
                backoff=not self.scenario.get("noBackoff"),
                protection=False,
            ),
            steps=tuple(self.steps),
            log=tuple(self.log),
            cycles=self.result.get("cycles") or 0,
            pinned=self.scenario.get("order") != "real",
            inner=bool(self.scenario.get("trace")),
            controlled=bool(self.scenario.get("claimController")),
            claims=any(isinstance(logged.event, Claimed) for logged in self.log),
            eager=any(self.scenario.get(option) for option in MISSING_OPTIONS),
            marks=tuple(self.marks) if len(self.marks) == len(self.steps) else (),
            error=self.result.get("error") or "",
            needs=tuple(sorted(self.needs)),
        )

    @property
    def gates(self) -> FeatureGates:
        on = fields_of(self.scenario.get("gates"))
        return FeatureGates().switched({gate: on[gate] for gate in on if gate in NAMES})

    def step(self, step: Data, looks: Iterator[Data], path: Path) -> Iterator[Step]:
        """The steps that one entry stands for, in the order in which the recorder goes through its fields."""
        if step.get("create"):
            objects = [self.created(data, (*path, "create", n)) for n, data in enumerate(step["create"])]
            yield Create(tuple(value for value in objects if value is not None))
        if step.get("update"):
            objects = [self.read_object(data, (*path, "update", n)) for n, data in enumerate(step["update"])]
            yield Alter(tuple(value for value in objects if value is not None))
        if step.get("delete"):
            yield Delete(tuple(self.references(step["delete"], (*path, "delete"))))
        if step.get("settle"):
            yield Settle(
                fields_of(step["settle"]).get("idle") or IDLE if is_mapping(step["settle"]) else IDLE
            )
        if step.get("cycles"):
            yield Cycles(step["cycles"])
        if step.get("attempt"):
            during = entries_of(step.get("during"))
            yield Attempt(
                tuple(s for n, d in enumerate(during) for s in self.step(d, looks, (*path, "during", n)))
            )
        for what in CALLS:
            if step.get(what):
                yield Calls(what, tuple(step[what]))
        if step.get("finish"):
            yield End(tuple(map(key_of, step["finish"])))
        if step.get("crash"):
            yield End(tuple(map(key_of, step["crash"])), "Failed")
        if step.get("restart"):
            yield Restart()
        if step.get("advance"):
            yield Advance(step["advance"])
        if step.get("kill"):
            yield Remove(tuple(map(key_of, step["kill"])))
        if step.get("reap"):
            yield Reap()
        if step.get("snapshot"):
            seen = next(looks, None)
            if seen is None:
                self.report.error(self.item, (*path, "snapshot"), "no result", "a snapshot in the result")
            else:
                yield look(seen)

    def references(self, names: list[str], path: Path) -> Iterator[Ref]:
        for place, name in enumerate(names):
            kind, _, key = name.partition("/")
            if kind not in REFERENCES or key.count("/") != 1:
                expected = f"{', '.join(REFERENCES)}, a slash, namespace/name"
                self.report.error(self.item, (*path, place), repr(name), expected)
            else:
                yield Ref(REFERENCES[kind], key.removeprefix("/"))

    def created(self, data: Data, path: Path) -> Object | None:
        """A new object as the recorder's cluster stores it, None if it is none of the model's."""
        value = self.read_object(data, path)
        if isinstance(value, Pod):
            self.pods += 1
        if isinstance(value, PriorityClass):
            self.classes[value.name] = value
        return value

    def read_object(self, data: Data, path: Path) -> Object | None:
        kind = str(data.get("kind"))
        if kind not in SHAPES or kind not in DECODERS:
            self.need(f"kind {kind}")
        elif self.readable(kind, data, path):
            return self.stored(keep_enabled(DECODERS[kind](data), self.gates), data)
        return None

    def readable(self, kind: str, data: Data, path: Path) -> bool:
        before = self.report.error_count

        def tell(misfit: Misfit) -> None:
            if misfit.expected:
                self.report.error(
                    self.item, (*path, *misfit.path), misfit.found, misfit.expected, misfit.hint
                )
            else:
                self.need(misfit.found)

        walk(SHAPES[kind], data, tell)
        if self.report.error_count > before:
            return False
        wrong = next(iter(violations(kind, data)), None)
        if wrong is not None:
            self.need(f"an object that the API refuses ({wrong.rule})")
        return wrong is None

    def stored(self, value: Object, data: Data) -> Object:
        metadata, spec = fields_of(data.get("metadata")), fields_of(data.get("spec"))
        match value:
            case Pod():
                value = self.ranked(value, spec)
                grace = spec.get("terminationGracePeriodSeconds") or int(bool(self.scenario.get("graceful")))
                return evolve(
                    value,
                    termination_grace_period_seconds=grace,
                    start_time=START + self.pods if value.start_time is None else value.start_time,
                    phase="Running" if value.node_name and value.phase == "Pending" else value.phase,
                )
            case PodGroup():
                if self.gates.workload_aware_preemption:
                    value = self.ranked(value, spec)
                return evolve(value, finalizers=tuple(entries_of(metadata.get("finalizers"))))
            case Node() if "pods" not in value.allocatable:
                return evolve(value, allocatable=value.allocatable.put("pods", PODS_ON_A_NODE))
            case _:
                return value

    def ranked(self, value: Ranked, spec: Data) -> Ranked:
        """The value with the priority that its class gives, unless it says a number itself."""
        chosen = deciding_class(value.priority_class_name, tuple(self.classes.values()))
        if chosen is None or spec.get("priority") is not None:
            return value
        if isinstance(value, Pod) and not spec.get("preemptionPolicy"):
            value = evolve(value, preemption_policy=chosen.preemption_policy)
        return evolve(value, priority=chosen.value)

    def entry(self, entry: Data, path: Path) -> None:
        name = entry.get("ev") or ""
        if name in UNTOLD:
            return
        if name not in READERS:
            self.need(f"event {name}")
            return
        seen = event(entry)
        if seen is None:
            self.report.error(self.item, path, f"{name} of {entry.get('obj')!r}", "an event that can be read")
        else:
            self.log.append(Logged(seen, entry.get("cycle") or 0, entry.get("t") or 0))
