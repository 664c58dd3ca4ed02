"""Deviations that take a name for an identity: another object of the name is treated as the one that was meant."""

from __future__ import annotations

from gangproof.impl.control import Sent
from gangproof.impl.controllers.job_sync import names
from gangproof.impl.deviations.deviation import Deviation
from gangproof.impl.objects import Pod
from gangproof.impl.rules import Change
from gangproof.impl.steps import ConcernsStep, MootStep, TargetStep
from gangproof.impl.world import World


def by_name(old: ConcernsStep) -> ConcernsStep:
    """Whatever names the Job counts, also what belongs to an earlier Job of that name (CTRL-03)."""
    return names


def whoever_is_called_so(old: TargetStep) -> TargetStep:
    """An eviction call deletes by name, without the victim's uid as a precondition (PREEMPT-30)."""

    def target(pod: Pod | None, uid: int) -> bool:
        return pod is not None

    return target


def never_for_an_eviction(old: MootStep) -> MootStep:
    """An eviction call that was sent by name may strike whoever is called so later."""

    def moot(world: World, sent: Sent) -> bool:
        return sent.call == "bind" and old(world, sent)

    return moot


DEVIATIONS = (
    Deviation(
        Change(
            "DEV-58",
            "a Job that takes the name of one whose Workload is still there goes on without a group",
            {"concerns": by_name},
        ),
        promise="every new eligible Job works",
        intended="a Workload that another Job of the name controls does not count for the Job",
        breaks=("LIVE-15",),
        rules=("CTRL-03", "CTRL-23"),
    ),
    Deviation(
        Change(
            "DEV-59",
            "an eviction deletes whatever pod has the victim's name by then",
            {"target": whoever_is_called_so, "moot": never_for_an_eviction},
        ),
        promise="the victims of the decision are evicted, and nobody else",
        intended="a call whose victim is gone counts as done, whoever has its name",
        breaks=("INV-18",),
        rules=("PREEMPT-30",),
        scenario="DEV-59-shipped",
    ),
)
