"""What is said of pods and nodes beside the scheduler: what is unseen, a sync under way, who comes again."""

from __future__ import annotations

from collections.abc import Hashable

from gangproof.impl.control import Control, Revision, Sync
from gangproof.impl.objects import Node, Pod
from gangproof.properties.symmetry.outlook import anonymous
from gangproof.properties.symmetry.reading import Reading
from gangproof.properties.symmetry.shapes import (
    bag_of,
)


def read_control(reading: Reading, control: Control) -> None:
    """What is left to do beside the scheduler, and what somebody has not seen yet."""
    reading.whole.append((control.due, control.retrying, control.resting, control.behind))
    for name in control.orphans:
        kind, _, key = name.partition("/")
        reading.about(kind, key, "orphan")
    for number, sent in enumerate(control.sent):
        reading.say(sent.pod, ("sent", number, sent.call, sent.uid == reading.uids.get(sent.pod)))
        if sent.node:
            reading.link(sent.pod, sent.node, ("sent", number))
    for kind, log in control.log.items():
        for number, revision in enumerate(log):
            reading.about(kind, revision.key, ("changed", number, revision.by), _waits(revision))
            reading.other(revision.old, ("was", kind, number))
            reading.other(revision.new, ("is", kind, number))
    if control.sync is not None:
        read_sync(reading, control.sync)


def read_sync(reading: Reading, sync: Sync) -> None:
    held = (sync.workload and sync.workload.key, sync.group and sync.group.key)
    reading.whole.append((sync.job.key, sync.stage, held, sync.batch, sync.left, sync.failed))
    reading.other(sync.job, "synced")
    for number, pod in enumerate(sync.pods):
        reading.say(pod.key, ("listed", number))
        reading.version(pod, "listed")
    if sync.plan is not None:
        reading.other(sync.plan.job, "planned")
        reading.whole.append((sync.plan.create, sync.plan.forgiven, sync.plan.rests))
        for what, pods in (("to go", sync.plan.delete), ("counted", sync.plan.counted)):
            for number, key in enumerate(pods):
                reading.say(key, (what, number))


def read_again(reading: Reading) -> None:
    """What users will create again: said of what bears the name still, if anything does."""
    settings = reading.world.settings
    named = settings.rank or settings.node_scores is not None
    nameless: list[Hashable] = []
    for obj in reading.world.environment.again:
        known = reading.pods if isinstance(obj, Pod) else reading.nodes if isinstance(obj, Node) else {}
        if obj.key in known:
            known[obj.key].append(("again", anonymous(obj, named)))
        else:
            nameless.append(anonymous(obj, named or obj.key in reading.kept))
    reading.whole.append(("again", bag_of(nameless)))


def _waits(revision: Revision) -> bool:
    """Whether somebody may yet take the pod for one that waits, so that its age matters."""
    versions = (revision.old, revision.new)
    return any(isinstance(obj, Pod) and obj.node_name is None for obj in versions)
