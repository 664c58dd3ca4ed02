"""Write the history of a recorded run: step by step what users did, what the log tells, what a look sets right."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, evolve, field

from gangproof.impl.gates import Object
from gangproof.impl.objects import Node, Pod, PodDisruptionBudget, PodGroup
from gangproof.impl.objects.podgroup import PROTECTION_FINALIZER
from gangproof.properties.conformance.events import (
    Bound,
    Conditioned,
    Deleted,
    Logged,
    Nominated,
    Observed,
)
from gangproof.properties.conformance.recording import (
    Advance,
    Alter,
    Attempt,
    Calls,
    End,
    Look,
    Reap,
    Recording,
    Remove,
    Settle,
    Step,
)
from gangproof.properties.observed.cluster import Cluster
from gangproof.properties.observed.history import (
    REST,
    Ended,
    Gone,
    Happening,
    History,
    Made,
    Moment,
    Rest,
    UnmarkedError,
)
from gangproof.properties.scenarios.document import Create, Delete
from gangproof.properties.scenarios.records import Ref


def history_of(recording: Recording) -> History:
    """The history of a run. Raises UnmarkedError if the run does not tell how steps and log interleave."""
    if len(recording.marks) != len(recording.steps):
        raise UnmarkedError(f"{recording.name} does not tell where in its log each step begins")
    writer = _Writer(recording, Cluster(recording.settings.gates, recording.settings.profiles))
    ends = (*recording.marks[1:], len(recording.log))
    for number, (step, begin, end) in enumerate(zip(recording.steps, recording.marks, ends, strict=False)):
        writer.step(number, step, recording.log[begin:end])
    held = any(isinstance(step, Calls) and step.what == "hold" for step in recording.steps)
    return History(
        recording.name,
        tuple(writer.moments),
        tuple(writer.rests),
        stepwise=not (recording.eager or held),
        backoff=recording.settings.backoff,
        error=recording.error,
    )


@define
class _Writer:
    """The history that is being written, and the cluster as it is by now."""

    recording: Recording
    cluster: Cluster
    moments: list[Moment] = field(factory=list[Moment])
    rests: list[Rest] = field(factory=list[Rest])
    held: set[str] = field(factory=set[str])
    made: int = 0
    number: int = 0
    time: float = 0
    quiet: float = 0  # seconds without a change before the next step
    settled: bool = False

    def add(
        self, what: Happening, after: Cluster, *, by_user: bool = True, entry: Logged | None = None
    ) -> None:
        if entry is not None:
            self.time = entry.time
        cycle = entry.cycle if entry is not None and not by_user else None
        before, self.cluster = self.cluster, after
        self.moments.append(
            Moment(len(self.moments), what, self.number, self.time, cycle, by_user, before, after)
        )

    def step(self, number: int, step: Step, log: Sequence[Logged]) -> None:
        self.number = number
        asked = self.outside(step, log)
        for entry in log:
            event, by_user = entry.event, False
            if isinstance(event, Deleted) and event.pod in asked:
                asked.discard(event.pod)
                by_user = True
            self.add(event, self.seen(event), by_user=by_user, entry=entry)
            self.let_go()
        match step:
            case Look():
                self.look(step)
            case Settle(idle=seconds) | Advance(seconds=seconds):
                self.quiet = seconds + (0 if log else self.quiet)
                self.settled = isinstance(step, Settle) and seconds >= REST
            case _:
                self.quiet, self.settled = 0, False

    def outside(self, step: Step, log: Sequence[Logged]) -> set[str]:
        """What users do in the step; the pods whose deletion by them the log tells."""
        asked: set[str] = set()
        self.add(step, self.cluster)
        match step:
            case Create(objects=objects):
                for obj in objects:
                    if isinstance(obj, Node | Pod | PodGroup | PodDisruptionBudget):
                        self.add(Made(obj), self.stored(obj))
            case Alter(objects=objects):
                for obj in objects:
                    self.add(Made(obj, anew=True), self.stored(obj))
            case Delete(objects=refs):
                told = {entry.event.pod for entry in log if isinstance(entry.event, Deleted)}
                for ref in refs:
                    if ref.kind == "pod" and ref.key in told:
                        asked.add(ref.key)
                    else:
                        self.add(Gone(ref.kind, ref.key), self.without(ref))
            case Remove(pods=pods):
                for pod in pods:
                    self.add(Gone("pod", pod), evolve(self.cluster, pods=self.cluster.pods.drop(pod)))
            case Reap():
                for pod in [pod.key for pod in self.cluster.pods.values() if pod.terminating]:
                    self.add(Gone("pod", pod), evolve(self.cluster, pods=self.cluster.pods.drop(pod)))
            case End(pods=pods, phase=phase):
                for pod in pods:
                    ended = self.cluster.pods.get(pod)
                    if ended is not None:
                        self.add(Ended(pod, phase), self.cluster.put(evolve(ended, phase=phase)))
            case Calls(what=what, calls=calls):
                self.held = self.held | set(calls) if what == "hold" else self.held - set(calls)
            case Attempt(during=during):
                for inner in during:
                    asked |= self.outside(inner, log)
            case _:
                pass
        self.let_go()
        return asked

    def stored(self, obj: Object) -> Cluster:
        """The cluster with the object; one that is stored anew keeps what is not its author's."""
        now = self.cluster
        match obj:
            case Pod():
                old = now.pods.get(obj.key)
                if old is not None:
                    return now.put(
                        evolve(
                            obj,
                            uid=old.uid,
                            node_name=old.node_name,
                            terminating=old.terminating,
                            phase=old.phase,
                            nominated_node_name=old.nominated_node_name,
                            start_time=old.start_time,
                        )
                    )
                self.made += 1
                return now.put(evolve(obj, uid=self.made))
            case Node():
                return evolve(now, nodes=now.nodes.put(obj.key, obj))
            case PodGroup():
                old = now.groups.get(obj.key)
                self.made += old is None
                uid, leaving = (self.made, False) if old is None else (old.uid, old.terminating)
                group = evolve(obj, uid=uid, terminating=leaving)
                return evolve(now, groups=now.groups.put(obj.key, group))
            case PodDisruptionBudget():
                return evolve(now, budgets=True)
            case _:
                return now

    def without(self, ref: Ref) -> Cluster:
        now = self.cluster
        match ref.kind:
            case "node":
                return evolve(now, nodes=now.nodes.drop(ref.key))
            case "pod":
                return self.deleted(ref.key)
            case "podGroup" if ref.key in now.groups:
                group = now.groups[ref.key]
                if group.finalizers:
                    leaving = evolve(group, terminating=True)
                    return evolve(now, groups=now.groups.put(ref.key, leaving))
                return self.ungrouped(ref.key)
            case _:
                return now

    def ungrouped(self, group: str) -> Cluster:
        now = self.cluster
        return evolve(now, groups=now.groups.drop(group), conditions=now.conditions.drop(group))

    def let_go(self) -> None:
        """A group that only its protection keeps goes with its last pod that has not ended (GC-02)."""
        for group in self.cluster.groups.values():
            protected = group.terminating and group.finalizers == (PROTECTION_FINALIZER,)
            used = any(p.group == group.key and not p.terminal for p in self.cluster.pods.values())
            if protected and not used:
                self.add(Gone("podGroup", group.key), self.ungrouped(group.key))

    def deleted(self, key: str) -> Cluster:
        """The cluster after somebody asks for the deletion of the pod."""
        pod = self.cluster.pods.get(key)
        if pod is None:
            return self.cluster
        lasts = bool(pod.finalizers) or (
            pod.node_name is not None and pod.termination_grace_period_seconds > 0
        )
        if lasts:
            return self.cluster.put(evolve(pod, terminating=True))
        return evolve(self.cluster, pods=self.cluster.pods.drop(key))

    def seen(self, event: Observed) -> Cluster:
        """The cluster after an event of the log."""
        now = self.cluster
        match event:
            case Bound(pod=key, node=node) if key in now.pods:
                pod = evolve(now.pods[key], node_name=node, nominated_node_name=None, phase="Running")
                return now.put(pod)
            case Nominated(pod=key, node=node) if key in now.pods:
                return now.put(evolve(now.pods[key], nominated_node_name=node))
            case Conditioned(group=group):
                return evolve(now, conditions=now.conditions.put(group, event))
            case Deleted(pod=key):
                return self.deleted(key)
            case _:
                return now

    def look(self, look: Look) -> None:
        """What a look shows holds, whatever the log told: who is where, nominated to what, and still there."""
        self.time = look.time
        now = self.cluster
        for pod in now.pods.values():
            seen = look.pods.get(pod.key)
            if seen is None:
                now = evolve(now, pods=now.pods.drop(pod.key)) if not pod.terminal else now
            else:
                now = now.put(
                    evolve(
                        pod,
                        node_name=seen.node,
                        nominated_node_name=seen.nominated,
                        terminating=seen.terminating,
                    )
                )
        for group, condition in look.groups.items():
            if condition is not None:
                now = evolve(now, conditions=now.conditions.put(group, condition))
        self.cluster = now
        self.moments[-1] = evolve(self.moments[-1], time=look.time, after=now)
        if self.settled and not self.held:
            since = self.rests[-1].at + 1 if self.rests else 0
            self.rests.append(Rest(len(self.moments) - 1, since, self.quiet, look, now))
