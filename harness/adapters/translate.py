"""A scenario document as what an adapter is told: the setup, the steps with whole objects, and where to look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from attrs import define, evolve, field, frozen

from gangproof.adapters.manifests import Manifest, NotWrittenError, manifest
from gangproof.impl.gates import NAMES, FeatureGates
from gangproof.impl.objects import Job, Pod, PodGroup, ResourceClaim, ResourceClaimTemplate, Workload
from gangproof.impl.table import Table
from gangproof.load.creations import reference
from gangproof.properties.scenarios import document as doc
from gangproof.properties.scenarios.expectations import Rejected
from gangproof.properties.scenarios.records import Created, Ref, Refused
from gangproof.properties.scenarios.requests import QUANTITIES
from gangproof.properties.scenarios.run import FLUSH_AFTER

Step = dict[str, Any]
KINDS = {
    "node": "Node",
    "podGroup": "PodGroup",
    "pod": "Pod",
    "workload": "Workload",
    "claim": "ResourceClaim",
    "claimTemplate": "ResourceClaimTemplate",
    "deviceClass": "DeviceClass",
    "slice": "ResourceSlice",
    "priorityClass": "PriorityClass",
    "pdb": "PodDisruptionBudget",
}
PARALLEL = 16
"""How many threads a scheduler needs so that calls can be held open."""


class NotRunnableError(Exception):
    """Why a scheduler alone cannot show what a document says, in a few words."""


@frozen
class Check:
    """An expectation or an attempt of the document, with the places of the looks that it is judged by.

    `objects` are those that users have made by then (when an attempt begins), as they last wrote them.
    """

    step: doc.Expect | doc.Possible | doc.Attempt
    looks: tuple[int, ...]
    objects: Table[Created]

    @property
    def kind(self) -> str:
        return type(self.step).__name__.lower()


@frozen
class Translation:
    """One document for an adapter: `setup` and `steps` for `record`, and what to judge afterwards."""

    setup: dict[str, Any]
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]

    @property
    def free(self) -> tuple[Step, ...] | None:
        """The steps for cycles side by side: an attempt is the beginning of the settling that follows.

        None if the document singles out a cycle that is more than that.
        """
        steps = [step for step in self.steps if "snapshot" not in step]
        following = zip(steps, [*steps[1:], {}], strict=True)
        if any("during" in step or "settle" not in then for step, then in following if "attempt" in step):
            return None
        return tuple(step for step in self.steps if "attempt" not in step)


def translate(document: doc.Scenario) -> Translation:
    """The document in the terms of an adapter. Raises NotRunnableError."""
    if document.gates.workload_with_job:
        raise NotRunnableError("it needs the Job controller")
    translator = _Translator(document.gates)
    for step in document.steps:
        translator.step(step)
    setup = _setup(document)
    if translator.claims:
        setup["claimController"] = True
    return Translation(setup, tuple(translator.steps), tuple(translator.checks))


def _setup(document: doc.Scenario) -> dict[str, Any]:
    options = document.scheduler
    setup: dict[str, Any] = {
        "name": document.id,
        "gates": {name: document.gates.enabled(name) for name in NAMES},
        "score": "rank" if options.rank else "default",
        "atomic": True,
        "trace": True,
        "restless": True,
    }
    if options.node_scores is not None:
        setup |= {"score": "fixed", "nodeScores": dict(options.node_scores)}
    if options.backoff_max == 0:
        setup["noBackoff"] = True
    elif (options.backoff_initial, options.backoff_max) != (1000, 10000):
        raise NotRunnableError("another backoff than 1 s to 10 s, or none")
    if options.profiles != ("default-scheduler",):
        setup["profiles"] = list(options.profiles)
    if any(isinstance(step, doc.Hold) for step in document.steps):
        setup["parallelism"] = PARALLEL
    return setup


@define
class _Translator:
    gates: FeatureGates
    steps: list[Step] = field(factory=list[Step])
    checks: list[Check] = field(factory=list[Check])
    objects: Table[Created] = Table()
    claims: bool = False
    looks: int = 0

    def step(self, step: doc.Step) -> None:
        match step:
            case doc.Create() | doc.Delete() | doc.Update():
                self.steps.extend(self.change(step))
            case doc.Finish(pods=pods, phase=phase):
                name = "finish" if phase == "Succeeded" else "crash"
                self.steps.append({name: [name_of(pod) for pod in pods]})
            case doc.Settle():
                self.steps.append({"settle": True})
            case doc.Flush():
                self.advance(FLUSH_AFTER + 1000)
            case doc.Advance(milliseconds=milliseconds):
                self.advance(milliseconds)
            case doc.Hold(calls=calls) | doc.Release(calls=calls) | doc.Fail(calls=calls):
                self.steps.append({type(step).__name__.lower(): [_call(call) for call in calls]})
            case doc.Restart():
                self.steps.append({"restart": True})
            case doc.Attempt(during=during):
                before, known = self.look(), self.objects
                changes = [change for inner in during for change in self.change(inner)]
                self.steps.append({"attempt": True, "during": changes} if changes else {"attempt": True})
                self.checks.append(Check(step, (before, self.look()), known))
            case doc.Expect(expectations=expected) | doc.Possible(expectations=expected):
                if any(isinstance(one, Rejected) for one in expected):
                    raise NotRunnableError("it needs the API server's validation")
                self.steps.append({"settle": True})
                self.checks.append(Check(step, (self.look(),), self.objects))
            case doc.Lag() | doc.CatchUp():
                raise NotRunnableError("views that stand still")

    def advance(self, milliseconds: int) -> None:
        seconds = milliseconds / 1000
        self.steps += [{"settle": True}, {"advance": seconds}, {"settle": True}]

    def look(self) -> int:
        self.steps.append({"snapshot": True})
        self.looks += 1
        return self.looks - 1

    def change(self, step: doc.Create | doc.Delete | doc.Update) -> Iterator[Step]:
        match step:
            case doc.Create(objects=objects):
                manifests = [written for obj in objects for written in self.created(obj)]
                yield {"create": manifests}
            case doc.Delete(objects=refs):
                yield {"delete": [_reference(ref) for ref in refs]}
                for ref in refs:
                    if not _lasts(self.objects.get(str(ref))):
                        self.objects = self.objects.drop(str(ref))
            case doc.Update(changes=changes):
                yield {"update": [self.updated(change) for change in changes]}

    def created(self, obj: Created) -> Iterator[Manifest]:
        self.objects = self.objects.put(str(reference(obj)), obj)
        yield from self.written(obj)

    def written(self, obj: Created) -> Iterator[Manifest]:
        match obj:
            case Refused():
                raise NotRunnableError("it needs the API server's validation")
            case Job():
                raise NotRunnableError("it needs the Job controller")
            case Workload():
                raise NotRunnableError("it needs the API server's admission")
            case _:
                if isinstance(obj, ResourceClaim | ResourceClaimTemplate):
                    self.claims = True
                try:
                    yield manifest(obj, self.gates)
                except NotWrittenError as error:
                    raise NotRunnableError(str(error)) from None

    def updated(self, change: doc.Change) -> Manifest:
        old = self.objects.get(str(change.ref))
        if old is None or isinstance(old, Refused):
            raise NotRunnableError(f"an update of {change.ref}, which is not there")
        values = dict(change.values)
        for name in QUANTITIES & values.keys():
            values[name] = Table({**getattr(old, name), **cast("Table[int]", values[name])})
        new = evolve(old, **values)
        self.objects = self.objects.put(str(change.ref), new)
        (written,) = self.written(new)
        return written


def _lasts(obj: Created | None) -> bool:
    """Whether the object may still be there after its deletion, so that somebody can update it."""
    grace = isinstance(obj, Pod) and obj.termination_grace_period_seconds
    return bool(grace) or (isinstance(obj, Pod | PodGroup) and bool(obj.finalizers))


def name_of(key: str) -> str:
    """How a look and a log call it: by its key without the namespace `default`."""
    return key.removeprefix("default/")


def _call(call: doc.Call) -> str:
    return f"{call.kind}/{name_of(call.pod)}"


def _reference(ref: Ref) -> str:
    if ref.kind not in KINDS:
        raise NotRunnableError("it needs the Job controller")
    return f"{KINDS[ref.kind]}/{ref.key}" if "/" in ref.key else f"{KINDS[ref.kind]}//{ref.key}"
